#pragma once
#include "thor/generators/emitter.hpp"
#include "thor/outputs/tally.hpp"
#include "thor/parallel/control.hpp"
#include "thor/transport/any_problem.hpp"
#include "thor/transport/observers.hpp"
#include "thor/transport/pool.hpp"

namespace thor {

/// Where histories take place: the gas and its line, what emits, and who looks. It refers to what outlives it.
template <class Real>
struct Setting {
  const AnyProblem<Real>& problem;
  const Emitter<Real>& emitter;
  const Observers& observers;
};

/// Photons to follow, who may stop them, what counts them, and who gets them.
struct Batch {
  Pool& pool;
  Control& control;
  Tally& tally;
  const Sink& sink;
};

}  // namespace thor
