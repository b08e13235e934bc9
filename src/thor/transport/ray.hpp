#pragma once
#include "thor/transport/history.hpp"
#include "thor/transport/peel.hpp"

/// Rays towards observers, on processors and devices alike: which events send them, what they carry, and what is seen
/// of them. Between that is march().
namespace thor {

/// A ray, beside its lane.
template <class Real>
struct Ray {
  std::uint64_t id;    ///< of its photon
  double light;        ///< at its start [erg/s]
  double end;          ///< optical depth at which it ends
  double position[3];  ///< of its start
  Real frequency;      ///< at its start: what the Hubble flow does is up to the observer
  Real before;         ///< what its sum starts with, so that it ends at the cut of all rays
  int observer;
};

inline namespace THOR_ISA {

/// Whether an event sends rays; thinning() is that of its photon (thinning_of).
template <class Real>
THOR_FN bool sends_rays(const RayRules& rules, std::int64_t kind, Real x, std::int64_t steps, const auto& thinning) {
  const int many = events_of(rules, event_kind(kind), x, steps);
  return many <= 1 || is_drawn(thinning(), steps, many);
}

/// The light [erg/s] of the ray of a scattering or jump, which sends a share of that of a photon with a weight.
template <class Real>
THOR_FN double light_of_ray(const RayRules& rules, double weight, Real share, std::int64_t kind, Real x,
                            std::int64_t steps) {
  return weight * (double(share) * events_of(rules, event_kind(kind), x, steps));
}

/// The ray of a birth, which sends `sent` times the light of a source that shines into all directions. `end`: optical
/// depth at which it ends.
template <class Real>
THOR_FN Ray<Real> ray_of_birth(const Origin& birth, int observer, double sent, Real frequency, double end,
                               const RayRules& rules) {
  const double(&p)[3] = birth.position;
  return {birth.id, birth.weight * sent, end, {p[0], p[1], p[2]}, frequency, Real(rules.cut - end), observer};
}
/// What the observer would see of a birth without gas.
template <class Real>
THOR_FN Seen seen_at_birth(const Origin& birth, int observer, double sent, Real frequency) {
  const double(&p)[3] = birth.position;
  return {birth.id,          observer,           true,           birth.weight_initial * sent,
          double(frequency), {p[0], p[1], p[2]}, birth.generator};
}

/// The end of a ray, of which march() says `end`.
template <class Real>
THOR_FN Phase end_of(const Ray<Real>& ray, double optical_depth, Phase end) {
  return optical_depth > ray.end ? Phase::absorbed : end;  // in the segment in which it leaves the gas, too
}
THOR_FN bool is_seen(Phase end) { return end == Phase::escaped || end == Phase::stopped; }
/// What is seen of a ray with a share of its light left.
template <class Real>
THOR_FN Seen seen_of(const Ray<Real>& ray, double left, const EmitterView<Real>& emitter) {
  const double(&p)[3] = ray.position;
  return {ray.id,
          ray.observer,
          false,
          ray.light * left,
          double(ray.frequency),
          {p[0], p[1], p[2]},
          number_of(emitter, ray.id).generator};
}

}  // namespace THOR_ISA
}  // namespace thor
