#include "thor/outputs/trust.hpp"

#include <algorithm>
#include <cmath>

namespace thor {

BinError error_of(const BinSums& sums, double photons) {
  constexpr double least = 64;
  const auto number = [&](std::uint64_t low, std::uint64_t part, int at) {
    return double(low) + double((sums.high & part) >> at) * 0x1p64;
  };
  // 2^-44 w^2 and 2^-52 w^4 in powers of 2^-32 w.
  const double light = number(sums.light, high_light, 54);
  const double squares = number(sums.square, high_square, 32), fourths = number(sums.fourth, high_fourth, 0);
  const bool knows_error = squares >= least && (sums.high & (full_light | full_square)) == 0;
  const bool knows_vov = knows_error && fourths >= least && (sums.high & full_fourth) == 0;
  return {light, knows_error ? std::sqrt(squares) * 0x1p10 : light,
          knows_vov ? std::clamp(fourths * 0x1p36 / (squares * squares) - 1 / photons, 0., 1.) : 1};
}

double trusted_share(const BinnedLight& binned) {
  double all = 0, trusted = 0;
  for (std::size_t i = 0; i < binned.light.size(); ++i) {
    all += binned.light[i];
    if (double(binned.vov[i]) <= most_vov && double(binned.relative_error[i]) <= most_relative_error) {
      trusted += binned.light[i];
    }
  }
  return all > 0 ? trusted / all : 0;
}

}  // namespace thor
