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
  if (!sky.escaped) light.frequency += to_rest(sky, seen.position, sky.towards);
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
/// Omega = 2 pi (1 - cos within) stand for all directions, so their light is that of 4 pi/Omega as many. `use(seen)`.
///
/// The object is turned about the centre of the output, the shortest way that takes the photon's direction n to that of
/// the observer k: then it is at the distance from the centre at which it would be seen from its own direction, and a
/// spherical model is exact for any cone. With w = n x k, v becomes v + w x v + w x (w x v)/(1 + n k) (Rodrigues).
///
/// A photon has the frequency with which it left its last scattering, as a ray has that of its start.
template <class Use>
THOR_FN void look_at(const SkyFrame& sky, const Photon& photon, const Use& use) {
  if (sky.observer < 0 || !sky.escaped || (photon.fate != Phase::escaped && photon.fate != Phase::stopped)) return;
  const Vec3<double> n{photon.direction[0], photon.direction[1], photon.direction[2]};
  const Vec3<double> k{sky.towards[0], sky.towards[1], sky.towards[2]};
  // Not dot(), which takes fused products where a processor has them: the stream of record() has the last bit as a key.
  const double cosine = n.x * k.x + n.y * k.y + n.z * k.z;
  if (cosine < sky.cosine && sky.cosine > -1) return;  // of all directions none is left out by rounding
  const auto cross = [](const Vec3<double>& a, const Vec3<double>& b) {
    return Vec3<double>{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  };
  double place[3], far[3];  // from the centre; in a periodic box of the nearest image, which is as far from the photon
  for (int i = 0; i < 3; ++i) {
    const double here = photon.position[i] - sky.centre[i] / sky.size;
    place[i] = sky.box[i] > 0 ? nearest(sky, i, here * sky.size) / sky.size : here;
    far[i] = place[i] - here;
  }
  const Vec3<double> v{place[0], place[1], place[2]}, w = cross(n, k), once = cross(w, v);
  const Vec3<double> twice = cross(w, once);
  const double part = 1 / max(1 + cosine, 1e-12);  // backward, any way is the shortest, and this one stays put
  use(Seen{
      photon.id,
      sky.observer,
      false,
      photon.weight * 2 / (1 - sky.cosine),
      photon.frequency_scattered + to_rest(sky, photon.position, photon.direction),
      {photon.position[0] + far[0] + once.x + part * twice.x, photon.position[1] + far[1] + once.y + part * twice.y,
       photon.position[2] + far[2] + once.z + part * twice.z},
      photon.generator});
}

}  // namespace THOR_ISA
}  // namespace thor
