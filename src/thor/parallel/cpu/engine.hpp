#pragma once
#include <atomic>
#include <functional>
#include <span>

#include "thor/generators/emitter.hpp"
#include "thor/parallel/cpu/kernel.hpp"
#include "thor/transport/photon.hpp"
#include "thor/transport/pool.hpp"

namespace thor::cpu {

/// What a run may change or watch while it goes on.
struct Control {
  std::atomic<bool> abort{false};  ///< leave what is in flight
  std::atomic<std::uint64_t> finished{0}, started{0}, scatterings{0}, longest{0};
};

/// Finished photons of one worker, some hundred at a time; called in the worker's thread.
using Sink = std::function<void(int worker, std::span<const Photon>)>;

struct Options {
  int threads = 1;
  bool one_lane = false;
  std::string isa;  ///< empty: the best
};

/// Runs every photon of the emitter to its end (or, after pool.close() or control.abort, as far as that lets it).
template <class P>
void transport(const P& problem, const Emitter<typename P::Real>& emitter, Pool& pool, const Options& options,
               Control& control, const Sink& sink);

}  // namespace thor::cpu
