#pragma once
#include "thor/operators/list.hpp"

/// Sightlines: what an operator finds along the rays that make one up.
namespace thor {

/// The numbers of sightlines, such as the bins of spectra, that one operator has; the same for all lanes.
struct SightlineJob {
  RayPlan plan;
  int numbers = 0;  ///< of a sightline

  template <class Plan>
  explicit SightlineJob(const Plan& p) : numbers(p.numbers()) {
    plan.set(SightlineOperators(), p);
  }
};

inline namespace THOR_ISA {

/// Adds what one ray finds to the numbers of its sightline, and returns what it adds to its sum.
template <class Real, class S, class Numbers>
THOR_FN double trace_sightline(const S& scene, const StraightRay& ray, const SightlineJob& job,
                               const Numbers& numbers) {
  double sum = 0;
  job.plan.visit(SightlineOperators(),
                 [&](const auto& plan) THOR_INLINE_LAMBDA { sum = follow_sightline<Real>(scene, ray, plan, numbers); });
  return sum;
}

}  // namespace THOR_ISA
}  // namespace thor
