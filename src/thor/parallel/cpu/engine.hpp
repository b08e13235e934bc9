#pragma once
#include "thor/generators/emitter.hpp"
#include "thor/outputs/tally.hpp"
#include "thor/parallel/control.hpp"
#include "thor/parallel/cpu/kernel.hpp"
#include "thor/transport/history.hpp"
#include "thor/transport/pool.hpp"

namespace thor::cpu {

struct Options {
  int threads = 1;
  bool one_lane = false;
  std::string isa;  ///< empty: the best
};

/// Runs every photon of the pool to its end (or, after pool.close() or control.abort, as far as that lets it), and
/// before them those that are `flying` already. All are counted in the tally; the sink, if there is one, sees them too.
template <class P>
void transport(const P& problem, const Emitter<typename P::Real>& emitter, Pool& pool, const Options& options,
               Control& control, Tally& tally, const Sink& sink, std::span<const Flying<typename P::Real>> flying = {});

}  // namespace thor::cpu
