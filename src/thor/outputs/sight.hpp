#pragma once
#include "thor/outputs/observer.hpp"
#include "thor/random/seed.hpp"
#include "thor/random/uniform.hpp"
#include "thor/transport/photon.hpp"

/// Light on its way from the medium into the bins of an observer.
namespace thor {
inline namespace THOR_ISA {

/// Light as a telescope records it: its place on the sky [cm] and its frequency, both smeared.
struct Recorded {
  SkyPlace place;
  double frequency;
};

/// The point-spread and line-spread function displace each contribution at random, so that the errors of bins are those
/// of smeared light. The stream is keyed by the seed and by what is seen: photon, observer, place and frequency. It is
/// the same for every output that sees it, for any number of threads and lanes, and no stream of a photon.
THOR_FN Recorded record(const SkyFrame& sky, const Seen& seen) {
  Recorded light{project(sky, seen.position), seen.frequency};
  if (!(sky.blur > 0) && !(sky.broadening > 0)) return light;
  std::uint64_t key = mix64(seen.id) + std::uint64_t(seen.observer);
  for (int k = 0; k < 3; ++k) key = mix64(key ^ to_bits(seen.position[k]));
  key = mix64(key ^ to_bits(seen.frequency));
  const StreamKey words = stream_key(mix64(sky.seed ^ 0x736d656172696e67ull), key);
  const StreamKey more = stream_key(mix64(sky.seed ^ 0x62726f6164656e21ull), key);
  const auto across = gaussian_pair<double>(words.word[0], words.word[1]);
  const auto along = gaussian_pair<double>(more.word[0], more.word[1]);
  constexpr double root = 1.4142135623730951;  // each of the pair has a variance of 1/2
  light.place.right += root * sky.blur * across.first;
  light.place.up += root * sky.blur * across.second;
  light.frequency += root * sky.broadening * along.first;
  return light;
}

/// What an observer sees of a photon at its end, by the direction in which it left: photons in a cone of solid angle
/// Omega = 2 pi (1 - cos within) stand for all directions, so their light is that of 4 pi/Omega as many. A photon that
/// was stopped has the frequency with which it left its last scattering, as a ray that was stopped has. `use(seen)`.
template <class Use>
THOR_FN void look_at(const SkyFrame& sky, const Photon& photon, const Use& use) {
  if (sky.observer < 0 || !sky.escaped || (photon.fate != Phase::escaped && photon.fate != Phase::stopped)) return;
  const auto& n = photon.direction;
  const double cosine = n[0] * sky.towards[0] + n[1] * sky.towards[1] + n[2] * sky.towards[2];
  if (cosine < sky.cosine) return;
  const auto& r = photon.position;
  use(Seen{photon.id,
           sky.observer,
           false,
           photon.weight * 2 / (1 - sky.cosine),
           photon.fate == Phase::stopped ? photon.frequency_scattered : photon.frequency_final,
           {r[0], r[1], r[2]}});
}

}  // namespace THOR_ISA
}  // namespace thor
