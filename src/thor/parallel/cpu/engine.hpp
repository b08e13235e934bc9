#pragma once
#include <functional>

#include "thor/parallel/cpu/ray_sender.hpp"

namespace thor::cpu {

struct Options {
  int threads = 1;
  bool one_lane = false;
  std::string isa;  ///< empty: the best
};

/// Runs every photon of a batch to its end (or, after pool.close() or control.abort, as far as that lets it), and
/// before them those that are `flying` already. All are counted in the tally, with what the observers see of them; the
/// sink, if there is one, gets them too.
template <class Real>
void transport(const Setting<Real>& setting, const Batch& batch, const Options& options,
               std::span<const Flying<Real>> flying = {});

/// What moves the lanes of a thread.
template <class Real>
struct Mover {
  int lanes;
  /// Advances those that are in flight in the gas of a problem, and leaves the others alone. Whether any has ended.
  std::function<bool(const LaneArrays<Real>& lanes, const AnyProblem<Real>& problem, EventLog<Real>* log)> advance;
  int fewest = 0;  ///< at a border: fewer of them wait where they are, if there are others to move
  /// Makes what sends their rays, from a RaySender::Thread; none: that of this machine.
  std::function<std::unique_ptr<RaySender<Real>>(const typename RaySender<Real>::Thread&)> rays{};
};

/// The kernel of this machine.
template <class Real>
Mover<Real> mover(ProblemKind kind, const Options& options);

/// The same for the parts of a grid that this process holds, where photons come and go across the border until those of
/// all ranks have ended. Ids that were not started are given back to the pool.
template <class Real>
void transport(const Setting<Real>& setting, Border<Real>& border, const Batch& batch, const Options& options,
               const Mover<Real>& mover);

}  // namespace thor::cpu
