#pragma once
#include "thor/distributions/exponential.hpp"
#include "thor/generators/emitter_view.hpp"
#include "thor/transport/lane.hpp"
#include "thor/transport/photon.hpp"

/// How a history begins and ends; what lies between is step().
namespace thor {

/// The birth of a photon, stored apart from its lane because no step needs it.
struct Origin {
  std::uint64_t id;
  double weight;          ///< luminosity that it stands for [erg/s]
  double weight_initial;  ///< luminosity at emission [erg/s]
  double frequency;       ///< c ln(nu/nu_0)
  double position[3];
  std::uint64_t source;  ///< index among the sources of its generator
  int generator;
};

inline namespace THOR_ISA {

/// Photon `id` at the start of its first flight, which may be `towards` an observer. One that never meets the medium
/// has escaped.
template <class Real, class D, class N>
THOR_FN auto start_photon(const D& data, const N& numerics, const EmitterView<Real>& emitter, std::uint64_t id,
                          Origin& origin, const Vec3<Real>* towards = nullptr) {
  const PhotonSource source = source_of_photon(emitter, id);
  auto random = schemes(numerics).template start<Real>(stream_key(emitter.seed, id));
  const auto b = emit(emitter.sources[source.generator], data, source.index, random, towards);
  using L = Lane<Real, PlaceIn<D>>;
  using View = std::remove_const_t<decltype(view<Real>(data))>;
  static_assert(PlaceableIn<View, Real, L, std::remove_const_t<decltype(b)>, SourceTable>);
  L lane;
  lane.px = b.position.x, lane.py = b.position.y, lane.pz = b.position.z;
  lane.dx = b.direction.x, lane.dy = b.direction.y, lane.dz = b.direction.z;
  lane.frequency = b.frequency;
  lane.tau = max(sample_exponential<Real>(random.next()), least_tau<Real>);
  if (emitter.sources[source.generator].spectrum == SourceSpectrum::absorbed) lane.tau = least_tau<Real>;
  lane.flown = lane.column = lane.column_low = 0;
  lane.phase = b.misses ? Phase::escaped : Phase::fly;
  lane.place = b.place;
  lane.scatterings = lane.steps = lane.jumps = 0;
  lane.tabulated = 0;
  const auto words = words_of(random);
  lane.s0 = words.s0, lane.s1 = words.s1, lane.s2 = words.s2, lane.s3 = words.s3;
  origin.id = id, origin.source = source.index, origin.generator = source.generator;
  origin.weight_initial = source.weight, origin.weight = source.weight * source.escape_fraction;
  origin.frequency = double(b.frequency);
  view<Real>(data).coordinates(lane, 0, origin.position);
  return lane;
}

/// The photon of a lane, whether its life is over or not.
template <class Real, class D>
THOR_FN Photon end_photon(const D& data, Lane<Real, PlaceIn<D>> lane, const Origin& origin) {
  const auto dataset = view<Real>(data);
  if constexpr (!decltype(dataset)::substeps) {
    if (lane.phase == Phase::escaped && lane.steps > 0) {  // the final flight to the boundary, which step() omits
      const Vec3<Real> p{lane.px, lane.py, lane.pz}, d{lane.dx, lane.dy, lane.dz};
      const auto here = dataset.here(lane);
      add_column(lane, dataset.segment(lane.place, p, d).length() * dataset.opacity(here, p));
    }
  }
  Photon p;
  p.id = origin.id, p.source = origin.source, p.generator = origin.generator;
  p.weight = origin.weight, p.weight_initial = origin.weight_initial;
  for (int k = 0; k < 3; ++k) p.position_initial[k] = origin.position[k];
  p.frequency_initial = origin.frequency, p.frequency_final = lane.frequency;
  p.frequency_scattered = dataset.frequency_scattered(lane);
  p.direction[0] = lane.dx, p.direction[1] = lane.dy, p.direction[2] = lane.dz;
  dataset.coordinates(lane, double(lane.flown), p.position);
  p.column = double(lane.column) - double(lane.column_low);
  p.scatterings = lane.scatterings + std::int64_t(double(lane.tabulated) + 0.5), p.steps = lane.steps;
  p.followed = lane.scatterings, p.jumps = lane.jumps;
  p.fate = static_cast<Phase>(lane.phase < 0 ? int(lane.phase) : int(lane.phase) % (1 << phase_bits));
  return p;
}

/// A photon in flight that moves from one engine to another.
template <class Real>
struct Flying {
  Lane<Real> lane;
  Origin origin;
};

}  // namespace THOR_ISA
}  // namespace thor
