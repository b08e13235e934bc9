#pragma once
#include <functional>

#include "thor/generators/emitter.hpp"
#include "thor/outputs/tally.hpp"
#include "thor/parallel/control.hpp"
#include "thor/parallel/cpu/kernel.hpp"
#include "thor/transport/any_problem.hpp"
#include "thor/transport/history.hpp"
#include "thor/transport/observers.hpp"
#include "thor/transport/pool.hpp"

namespace thor {
template <class Real>
class Border;
}

namespace thor::cpu {

struct Options {
  int threads = 1;
  bool one_lane = false;
  std::string isa;  ///< empty: the best
};

/// Runs every photon of the pool to its end (or, after pool.close() or control.abort, as far as that lets it), and
/// before them those that are `flying` already. All are counted in the tally, with what the observers see of them; the
/// sink, if there is one, gets them too.
template <class Real>
void transport(const AnyProblem<Real>& problem, const Emitter<Real>& emitter, Pool& pool, const Options& options,
               Control& control, Tally& tally, const Sink& sink, std::span<const Flying<Real>> flying = {},
               const Observers& observers = {});

/// Steps of lanes that are not done here, but on a device.
template <class Real>
struct Stepper {
  int lanes = 0;
  /// Advances those that are in flight in the gas of a problem, and leaves the others alone. `memory`: of
  /// lane_arrays(). Whether any has ended.
  std::function<bool(void* memory, const AnyProblem<Real>& problem)> advance{};
};

/// The same for the parts of a grid that this process holds, where photons come and go across the border until those of
/// all ranks have ended. Ids that were not started are given back to the pool.
template <class Real>
void transport(Border<Real>& border, const Emitter<Real>& emitter, Pool& pool, const Options& options, Control& control,
               Tally& tally, const Sink& sink, const Observers& observers, const Stepper<Real>& stepper = {});

}  // namespace thor::cpu
