#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "thor/core/constants.hpp"
#include "thor/math/vector.hpp"
#include "thor/random/uniform.hpp"
#include "thor/random/xoshiro.hpp"

/// Random numbers for a mock: every object (a particle, a cloud, a wave) has its own stream, so that it depends only on
/// the seed and its own number, not on the number of other objects or the order of draws.
namespace thor::mock {

/// Purpose of a stream.
enum class Use : std::uint64_t {
  mode = 1,
  clump,
  disc,
  outflow,
  outflow_cloud,
  halo,
  halo_cloud,
  cloud_member,
  star,
  galaxy,
  galaxy_member
};

class Draw {
 public:
  Draw(std::uint64_t seed, Use use, std::uint64_t index)
      : words_(xoshiro<double>(stream_key(mix64(seed ^ (static_cast<std::uint64_t>(use) << 56)), index))) {}

  /// Uniform between 0 and 1, both excluded.
  double uniform() { return uniform_positive<double>(words_.next()); }

  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Density e^{-x}.
  double exponential() { return -std::log(uniform()); }

  /// Gaussian with mean 0 and variance 1 (Box & Muller 1958).
  double gaussian() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * constants::pi * uniform());
  }
  Vector gaussians(double sigma) {
    const double x = gaussian(), y = gaussian(), z = gaussian();
    return {sigma * x, sigma * y, sigma * z};
  }

  /// Density sech^2(z), with scale 1.
  double sech2() { return std::atanh(2 * uniform() - 1); }

  /// Direction uniform on the sphere.
  Vector direction() {
    const double mu = uniform(-1, 1), phi = uniform(0, 2 * constants::pi), s = std::sqrt(1 - mu * mu);
    return {s * std::cos(phi), s * std::sin(phi), mu};
  }

 private:
  Xoshiro128<double> words_;
};

/// Sampler of a density on [low, high], by inversion of its tabulated integral.
class Inversion {
 public:
  Inversion(double low, double high, const std::function<double(double)>& density);
  double operator()(double share) const;

 private:
  double low_, step_;
  std::vector<double> integral_;
};

}  // namespace thor::mock
