#pragma once
#include "thor/datasets/dataset.hpp"
#include "thor/math/functions.hpp"
#include "thor/random/uniform.hpp"

namespace thor {

/// Where photons start, as plain data: lengths in units of the dataset's size, velocities in thermal units.
enum class SourceShape : int { point, medium, surface, beam };
enum class SourceSpectrum : int { delta, gaussian, continuum, line_and_continuum };

template <class R>
struct Source {
  using Real = R;
  SourceShape shape;
  Real position[3];   ///< point
  Real radius;        ///< surface, beam
  Real direction[3];  ///< beam
  Real distance;      ///< beam: how far upstream it starts, outside the medium
  Real velocity[3];   ///< of the source
  SourceSpectrum spectrum;
  Real centre;       ///< c ln(nu/nu_0) of the line
  Real width;        ///< sigma of the line
  Real range[2];     ///< of the continuum, as c (lambda/lambda_0 - 1)
  Real line_share;   ///< probability of the line in line_and_continuum
  Real light_speed;  ///< c
};

inline namespace THOR_ISA {

/// A photon at birth.
template <class V>
struct Birth {
  Vec3<V> position, direction;
  V frequency;
  IntOf<V> cell;
  bool misses;  ///< never meets the medium
};

/// c ln(nu/nu_0) of a Doppler velocity v = c (lambda/lambda_0 - 1): -c ln(1 + v/c), by its series where v << c.
template <class V>
THOR_FN V log_frequency(V v, V c) {
  using Real = RealOf<V>;
  const V beta = v / c;
  const V series = -v * polynomial(beta, 1., -1. / 2, 1. / 3, -1. / 4, 1. / 5);
  const V full = -c * log(max(V(Real(1)) + beta, V(Real(1e-30))));
  return select(abs(beta) < V(Real(0.01)), series, full);
}

template <class V, class Random>
THOR_FN V sample_spectrum(const Source<V>& s, Random& random) {
  const auto choice = random.next(), first = random.next(), second = random.next();
  const V gauss = s.centre + s.width * V(1.4142135623730951) * gaussian_pair<V>(first, second).first;
  const V flat = log_frequency(s.range[0] + uniform<V>(first) * (s.range[1] - s.range[0]), s.light_speed);
  switch (s.spectrum) {
    case SourceSpectrum::delta:
      return s.centre;
    case SourceSpectrum::gaussian:
      return gauss;
    case SourceSpectrum::continuum:
      return flat;
    case SourceSpectrum::line_and_continuum:
      return uniform<V>(choice) < s.line_share ? gauss : flat;
  }
  return s.centre;
}

/// A photon from this source; V is a single value, on a CPU too. Emission from the medium is in the frame of the gas.
template <class V, class D, class Random>
THOR_FN Birth<V> emit(const Source<V>& s, const D& data, Random& random) {
  const auto dataset = view<V>(data);
  const auto place = random.next(), mu = random.next(), phi = random.next();
  const Vec3<V> n = isotropic_direction<V>(mu, phi);
  const auto out_mu = random.next(), out_phi = random.next();
  Birth<V> birth;
  birth.direction = isotropic_direction<V>(out_mu, out_phi);
  birth.frequency = sample_spectrum(s, random);
  birth.misses = false;
  switch (s.shape) {
    case SourceShape::point:
      birth.position = {s.position[0], s.position[1], s.position[2]};
      break;
    case SourceShape::medium:
      birth.position = dataset.sample_position(uniform<V>(place), n);
      break;
    case SourceShape::surface:
      birth.position = s.radius * n;
      break;
    case SourceShape::beam: {
      birth.direction = {s.direction[0], s.direction[1], s.direction[2]};
      const SinCos<V> azimuth = random_angle<V>(phi);
      const Vec3<V> across = turn(birth.direction, V(0), V(1), azimuth.cos, azimuth.sin);
      birth.position = along(s.radius * sqrt(uniform<V>(place)) * across, -s.distance, birth.direction);
      break;
    }
  }
  birth.frequency = birth.frequency + dot({s.velocity[0], s.velocity[1], s.velocity[2]}, birth.direction);
  birth.cell = gas;
  if (s.shape == SourceShape::medium) {
    birth.frequency = birth.frequency + dataset.velocity_along(birth.position, birth.direction);
  } else {
    birth.cell = dataset.locate(birth.position);
    if (birth.cell == outside) {
      const V distance = dataset.distance_from_outside(birth.position, birth.direction);
      birth.misses = distance < V(0);
      birth.position = along(birth.position, max(distance, V(0)), birth.direction);
      birth.cell = gas;
    }
  }
  return birth;
}

}  // namespace THOR_ISA
}  // namespace thor
