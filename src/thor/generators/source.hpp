#pragma once
#include "thor/datasets/cell_numbers.hpp"
#include "thor/datasets/dataset.hpp"
#include "thor/distributions/cone.hpp"
#include "thor/distributions/lorentzian.hpp"
#include "thor/math/functions.hpp"
#include "thor/random/uniform.hpp"

namespace thor {

/// Where photons start, as plain data: lengths in units of the dataset's size, velocities in thermal units.
/// `table`: many points or cells, see SourceTable.
enum class BirthPlace : int { point, medium, surface, beam, table };
/// `gas`: by the motion of the atoms of the gas there. `absorbed`: a photon that was just absorbed within |x| < width,
/// as the tables of sphere jumps need it (drivers/mcrt/jump_histories.hpp); no configuration has it.
enum class SourceSpectrum : int { delta, gaussian, lorentzian, continuum, line_and_continuum, gas, absorbed };

/// Many sources that differ in place, light and velocity alone: cells of a grid, stars, galaxies. How photons are dealt
/// to them: source_of in emitter_view.hpp. Where processes hold gas in parts, each has the table of its own cells.
struct SourceTable {
  std::uint64_t count;
  const std::uint64_t* end;   ///< first slot after each, among those of all tables: it has its share of the slots
  std::uint64_t slots;        ///< of all sources, whether they are in this table or not
  std::uint64_t start, step;  ///< of the sequence of slots
  CellNumbers number;         ///< of source i of this table among all
  const double* weight;       ///< luminosity per photon, in units of that of the generator; none: 1
  const std::int32_t* place;  ///< integers of their places, `integers` each; none: source number i is cell i
  const float* offset;        ///< in the cell, else from the origin, three each; none: anywhere in the cell
  const float* velocity;      ///< three each; none: that of all
  int integers;               ///< that name a place: 3 in a grid
};

template <class R>
struct Source {
  using Real = R;
  std::uint64_t photon_share;  ///< of the photons of this generator and those after it, times 2^64
  double weight;               ///< luminosity per photon [erg/s]
  double escape_fraction;      ///< what is left of it after absorption on scales that are not resolved
  BirthPlace shape;
  Real position[3];   ///< point; in a grid the offset in its cell
  int place[3];       ///< point: the integers of its place
  Real radius;        ///< surface, beam
  Real direction[3];  ///< axis of the cone, or of the beam
  double cone = 1;    ///< its share of all directions, (1 - cos theta)/2; 1: light into all directions, 0: parallel
  Real distance;      ///< beam: how far upstream it starts, outside the medium
  Real velocity[3];   ///< of the source
  SourceSpectrum spectrum;
  Real centre;       ///< c ln(nu/nu_0) of the line
  Real width;        ///< of the line: sigma, or half the full width of a Lorentzian at half maximum
  Real tail;         ///< share of a Lorentzian that is cut off
  Real range[2];     ///< of the continuum, as c (lambda/lambda_0 - 1)
  Real line_share;   ///< probability of the line in line_and_continuum
  Real light_speed;  ///< c
  bool in_gas;       ///< in the frame of the gas there
  int members;       ///< of a multiplet that emit, by their oscillator strengths; 0: the one of `centre`
  Real member[8];    ///< c ln(nu/nu_0) of each
  Real share[8];     ///< of this one and those before it
  SourceTable table;
};

/// Calls f(pointer, count) on every array that a source points to: a device has its own copies.
template <class Real, class F>
void for_each_array(Source<Real>& source, F f) {
  SourceTable& t = source.table;
  if (t.count == 0) return;
  f(t.end, t.count);
  if (t.weight) f(t.weight, t.count);
  if (t.place) f(t.place, std::uint64_t(t.integers) * t.count);
  if (t.offset) f(t.offset, 3 * t.count);
  if (t.velocity) f(t.velocity, 3 * t.count);
}

inline namespace THOR_ISA {

/// A photon at birth.
template <class V, class P>
struct Birth {
  Vec3<V> position, direction;
  V frequency;
  P place;
  bool misses;  ///< never meets the medium
};

/// The first of `count` ends that lies beyond a number, by bisection.
template <class Index>
THOR_FN Index first_beyond(const std::uint64_t* end, Index count, std::uint64_t number) {
  Index low = 0, high = count - 1;
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (end[middle] > number)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// c ln(nu/nu_0) of a Doppler velocity v = c (lambda/lambda_0 - 1): -c ln(1 + v/c), by its series where v << c.
template <class V>
THOR_FN V log_frequency(V v, V c) {
  using Real = RealOf<V>;
  const V beta = v / c;
  const V series = -v * polynomial(beta, 1., -1. / 2, 1. / 3, -1. / 4, 1. / 5);
  const V full = -c * log(max(V(Real(1)) + beta, V(Real(1e-30))));
  return select(abs(beta) < V(Real(0.01)), series, full);
}

/// Density ~ e^{-x^2} within |x| < limit, which is at most 1: the first of 64 proposals that is accepted, and none is
/// with a probability of 1e-36.
template <class V, class Random>
THOR_FN V sample_truncated_gaussian(V limit, Random& random) {
  V x(0);
  for (int i = 0; i < 64; ++i) {
    x = limit * (V(2) * uniform<V>(random.next()) - V(1));
    if (uniform<V>(random.next()) < exp(-x * x)) break;
  }
  return x;
}

/// `gas_width`: thermal speed of the gas there.
template <class V, class Random>
THOR_FN V sample_spectrum(const Source<V>& s, V gas_width, Random& random) {
  const auto choice = random.next(), first = random.next(), second = random.next();
  V centre = s.centre;
  if (s.members > 0) {
    const V r = uniform<V>(random.next());
    for (int i = s.members - 1; i >= 0; --i) {
      if (r < s.share[i]) centre = s.member[i] + s.centre;
    }
  }
  const V width = s.spectrum == SourceSpectrum::gas ? gas_width * V(0.7071067811865476) : s.width;
  const V gauss = centre + width * V(1.4142135623730951) * gaussian_pair<V>(first, second).first;
  const V flat = log_frequency(s.range[0] + uniform<V>(first) * (s.range[1] - s.range[0]), s.light_speed);
  switch (s.spectrum) {
    case SourceSpectrum::delta:
      return centre;
    case SourceSpectrum::gaussian:
    case SourceSpectrum::gas:
      return gauss;
    case SourceSpectrum::lorentzian:
      return centre + width * sample_lorentzian<V>(s.tail, first);
    case SourceSpectrum::continuum:
      return flat;
    case SourceSpectrum::line_and_continuum:
      return uniform<V>(choice) < s.line_share ? gauss : flat;
    case SourceSpectrum::absorbed:
      return centre + sample_truncated_gaussian(s.width, random);
  }
  return centre;
}

/// What a source sends into a direction n, over what it would send if it shone into all directions: 1/cone inside its
/// cone. With the axis a, |n - a|^2 = 4 sin^2(angle/2), and the cone ends where that is 4 cone. Parallel light has no
/// density in direction.
template <class Real>
THOR_FN double sent_towards(const Source<Real>& s, const double (&n)[3]) {
  if (s.cone >= 1) return 1;
  double apart = 0;
  for (int k = 0; k < 3; ++k) apart += (n[k] - double(s.direction[k])) * (n[k] - double(s.direction[k]));
  return s.cone > 0 && apart <= 4 * s.cone ? 1 / s.cone : 0;
}

/// A direction of light that is drawn.
template <class V>
THOR_FN Vec3<V> emitted_direction(const Source<V>& s, WordOf<V> mu, WordOf<V> phi) {
  if (s.cone >= 1) return isotropic_direction<V>(mu, phi);
  const Vec3<V> axis{s.direction[0], s.direction[1], s.direction[2]};
  if (!(s.cone > 0)) return axis;
  const Deflection<V> deflection = sample_cone<V>(V(s.cone), mu);
  const SinCos<V> azimuth = random_angle<V>(phi);
  return turn(axis, deflection.mu, deflection.sine, azimuth.cos, azimuth.sin);
}

/// A photon from this source, number `index` of those that it has; V is a single value, on a CPU too. Emission from the
/// medium is in the frame of the gas. A direction `towards` replaces the one that is drawn. A beam crosses a disc
/// around the origin, across its axis.
template <class V, class D, class Random>
THOR_FN auto emit(const Source<V>& s, const D& data, std::uint64_t index, Random& random,
                  const Vec3<V>* towards = nullptr) {
  const auto dataset = view<V>(data);
  const auto place = random.next(), mu = random.next(), phi = random.next();
  const Vec3<V> n = isotropic_direction<V>(mu, phi);
  const auto out_mu = random.next(), out_phi = random.next();
  Birth<V, typename decltype(dataset)::Place> birth{};
  birth.direction = towards ? *towards : emitted_direction<V>(s, out_mu, out_phi);
  switch (s.shape) {
    case BirthPlace::point:
      dataset.place_point(birth, s.position, s.place);
      break;
    case BirthPlace::medium:
      dataset.place_in_medium(birth, uniform<V>(place), n);
      break;
    case BirthPlace::table:
      dataset.place_source(birth, s.table, index, Vec3<V>{uniform<V>(place), uniform<V>(mu), uniform<V>(phi)});
      break;
    case BirthPlace::surface:
      birth.position = s.radius * n;
      dataset.place_on_surface(birth);
      break;
    case BirthPlace::beam: {
      const SinCos<V> azimuth = random_angle<V>(phi);
      const Vec3<V> axis{s.direction[0], s.direction[1], s.direction[2]};
      const Vec3<V> across = turn(axis, V(0), V(1), azimuth.cos, azimuth.sin);
      birth.position = along(s.radius * sqrt(uniform<V>(place)) * across, -s.distance, birth.direction);
      dataset.enter(birth);
      break;
    }
  }
  dataset.settle(birth, s.shape == BirthPlace::medium);
  const auto here = dataset.gas_at_birth(birth);
  birth.frequency = sample_spectrum(s, dataset.width(here).times(V(1)), random);
  birth.frequency = birth.frequency + dot({s.velocity[0], s.velocity[1], s.velocity[2]}, birth.direction);
  if (s.table.velocity) {
    const float* v = s.table.velocity + 3 * index;
    birth.frequency = birth.frequency + dot({V(v[0]), V(v[1]), V(v[2])}, birth.direction);
  }
  if (s.in_gas && dataset.has_gas(birth))
    birth.frequency = birth.frequency + dataset.velocity_along(here, birth.position, birth.direction);
  return birth;
}

}  // namespace THOR_ISA
}  // namespace thor
