#pragma once
#include "thor/random/seed.hpp"
#include "thor/transport/event.hpp"

/// Fusing (paper, section 3.4.1). Scatterings of one photon whose rays towards an observer may leave the gas around
/// them make up groups: a group is a run of such scatterings, in the order of the photon's steps, that lie within both
/// limits of its first one, in frequency towards the observer and in place. One member J, drawn with equal chances,
/// sends a ray with n times its own light: the mean over J of n w_J is the sum of all w, whatever they are. The paper
/// sends the mean place and frequency of a group instead, which is biased, as e^-tau is convex. Jumps and the end of a
/// photon close its groups. A group depends on its photon alone, and stays open from one log to the next.
namespace thor {

/// An open group of a photon for one observer.
template <class Real>
struct FuseGroup {
  Event<Real> drawn;    ///< the ray's event
  Real frequency;       ///< of the first ray
  double place[3];      ///< of the first ray, in the lanes' unit of length
  std::uint64_t id;     ///< of the photon
  double weight;        ///< of the photon [erg/s]
  std::uint32_t count;  ///< number of members; 0: no group is open

  static constexpr std::uint32_t most = 1024;  ///< members, as the largest peel.thin
};

inline namespace THOR_ISA {

/// Whether the n-th member takes the place of the one drawn so far, with a chance of 1/n: every member is drawn with
/// the same chance (reservoir sampling).
THOR_FN bool replaces(const RayKey& key, std::uint32_t n) {
  const std::uint64_t observer = mix64(key.seed ^ 0x66757365642e2e2eull) + std::uint64_t(key.observer);
  const std::uint64_t word = mix64(mix64(observer ^ mix64(key.id)) + key.event);
  return (word >> 32) * n < (1ull << 32);
}

/// Lets the ray of an event join a group. False: it is not like the first of them, and the group is as before.
template <class Real>
THOR_FN bool join_group(FuseGroup<Real>& group, const FuseRules& rules, const Event<Real>& event, Real frequency,
                        const double (&place)[3], const RayKey& key) {
  if (group.count == 0 || group.count == FuseGroup<Real>::most || group.id != key.id) return false;
  const double shift = double(frequency) - double(group.frequency);
  const double x = place[0] - group.place[0], y = place[1] - group.place[1], z = place[2] - group.place[2];
  if (!(shift * shift < rules.velocity * rules.velocity)) return false;
  if (!(x * x + y * y + z * z < rules.distance * rules.distance)) return false;
  if (replaces(key, ++group.count)) group.drawn = event;
  return true;
}

/// Opens a group with its first member.
template <class Real>
THOR_FN void open_group(FuseGroup<Real>& group, const Event<Real>& event, Real frequency, const double (&place)[3],
                        std::uint64_t id, double weight) {
  group = {event, frequency, {place[0], place[1], place[2]}, id, weight, 1};
}

/// Lets the ray of an event join a group, or open another one after close().
template <class Real>
THOR_FN void join_or_open(FuseGroup<Real>& group, const FuseRules& rules, const Event<Real>& event, Real frequency,
                          const double (&place)[3], const RayKey& key, double weight, const auto& close) {
  if (join_group(group, rules, event, frequency, place, key)) return;
  close();
  open_group(group, event, frequency, place, key.id, weight);
}

/// The weight of the ray of a group: the light of all members.
template <class Real>
THOR_FN double weight_of(const FuseGroup<Real>& group) {
  return group.weight * group.count;
}

}  // namespace THOR_ISA
}  // namespace thor
