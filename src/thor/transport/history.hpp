#pragma once
#include "thor/distributions/exponential.hpp"
#include "thor/generators/emitter_view.hpp"
#include "thor/transport/lane.hpp"
#include "thor/transport/photon.hpp"

/// How a history begins and ends; what lies between is step().
namespace thor {

/// What is kept of a photon's birth, beside its lane: no step needs it.
struct Origin {
  std::uint64_t id;
  double weight;          ///< luminosity that it stands for [erg/s]
  double weight_initial;  ///< and at emission
  double frequency;       ///< c ln(nu/nu_0)
  double position[3];
  std::uint64_t source;  ///< which one of its generator
  int generator;
};

inline namespace THOR_ISA {

/// From cells to coordinates; in a periodic box it is the place in the box, not that of an image.
template <class Real>
THOR_FN void to_coordinates(const UniformGrid<Real>& grid, const Lane<Real>& lane, double (&position)[3]) {
  const IntOf<Real> cells[3] = {lane.cell, lane.cell_y, lane.cell_z};
  for (int k = 0; k < 3; ++k) {
    double place = position[k] + double(cells[k]);
    if (grid.periodic) {
      const double turns = place / double(grid.shape[k]);
      const double whole = double(std::int64_t(turns)) - (turns < 0 ? 1 : 0);
      place -= whole * double(grid.shape[k]);
    }
    position[k] = place - double(grid.zero[k]);
  }
}

/// Where a lane was `back` ago along its direction, in coordinates.
template <class Real, class D>
THOR_FN void place_of_lane(const D& data, const Lane<Real>& lane, double back, double (&position)[3]) {
  constexpr bool grid = decltype(view<Real>(data))::grid;
  const double place[3] = {lane.px, lane.py, lane.pz}, slope[3] = {lane.dx, lane.dy, lane.dz};
  for (int k = 0; k < 3; ++k) position[k] = (grid ? from_lower_face(place[k]) : place[k]) - back * slope[k];
  if constexpr (grid) to_coordinates(data, lane, position);
}

/// Photon `id` at the start of its first flight. One that never meets the medium has escaped.
template <class Real, class P>
THOR_FN Lane<Real> start_photon(const P& problem, const EmitterView<Real>& emitter, std::uint64_t id, Origin& origin) {
  const Place place = place_of(emitter, id);
  auto random = schemes(problem.numerics).template start<Real>(stream_key(emitter.seed, id));
  const Birth<Real> b = emit(emitter.sources[place.generator], problem.dataset, place.index, random);
  Lane<Real> lane;
  lane.px = b.position.x, lane.py = b.position.y, lane.pz = b.position.z;
  lane.dx = b.direction.x, lane.dy = b.direction.y, lane.dz = b.direction.z;
  lane.frequency = b.frequency;
  lane.tau = max(sample_exponential<Real>(random.next()), least_tau<Real>);
  lane.flown = lane.column = lane.column_low = 0;
  lane.phase = b.misses ? Phase::escaped : Phase::fly;
  lane.cell = b.cell, lane.cell_y = b.cell_y, lane.cell_z = b.cell_z;
  lane.depth = b.depth;
  lane.scatterings = lane.steps = 0;
  const auto words = words_of(random);
  lane.s0 = words.s0, lane.s1 = words.s1, lane.s2 = words.s2, lane.s3 = words.s3;
  origin.id = id, origin.source = place.index, origin.generator = place.generator;
  origin.weight_initial = place.weight, origin.weight = place.weight * place.escape_fraction;
  origin.frequency = double(b.frequency);
  place_of_lane(problem.dataset, lane, 0, origin.position);
  return lane;
}

/// The photon of a lane, whether its life is over or not.
template <class Real, class P>
THOR_FN Photon end_photon(const P& problem, Lane<Real> lane, const Origin& origin) {
  const auto dataset = view<Real>(problem.dataset);
  if constexpr (decltype(dataset)::uniform) {
    if (lane.phase == Phase::escaped && lane.steps > 0) {  // the way out, which the steps leave to be flown
      const Vec3<Real> p{lane.px, lane.py, lane.pz}, d{lane.dx, lane.dy, lane.dz};
      const auto here = dataset.here(lane);
      add_column(lane, dataset.segment(here, p, d).length() * dataset.opacity(here, p));
    }
  }
  const double flown = lane.flown;
  Photon p;
  p.id = origin.id, p.source = origin.source, p.generator = origin.generator;
  p.weight = origin.weight, p.weight_initial = origin.weight_initial;
  for (int k = 0; k < 3; ++k) p.position_initial[k] = origin.position[k];
  p.frequency_initial = origin.frequency, p.frequency_final = p.frequency_scattered = lane.frequency;
  p.direction[0] = lane.dx, p.direction[1] = lane.dy, p.direction[2] = lane.dz;
  place_of_lane(problem.dataset, lane, flown, p.position);
  if constexpr (decltype(dataset)::grid) {
    p.frequency_scattered = p.frequency_final + double(problem.dataset.hubble) * flown;
  }
  p.column = double(lane.column) - double(lane.column_low);
  p.scatterings = lane.scatterings, p.steps = lane.steps;
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
