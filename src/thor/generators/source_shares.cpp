#include "thor/generators/source_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "thor/core/message.hpp"
#include "thor/generators/source_file.hpp"
#include "thor/random/seed.hpp"

namespace thor {
namespace {

/// The number nearest to n/golden ratio, from there upward, that has no divisor in common with n.
std::uint64_t coprime(std::uint64_t n) {
  auto s = std::uint64_t(double(n) * 0.6180339887498949);
  while (std::gcd(s, n) != 1) ++s;
  return s;
}

}  // namespace

std::uint64_t SourceShares::slots(double luminosity) const {
  if (!shines(luminosity)) return 0;
  if (generator.photons > 0) return std::uint64_t(luminosity / sum * 0x1p63 + 0.5);
  const double n = std::round(generator.photons_per_1e42 * luminosity / 1e42);
  return std::uint64_t(std::clamp(n, double(generator.min_photons), double(generator.max_photons)));
}

SourceTable order_of_slots(const config::Generator& generator, std::uint64_t seed, std::uint64_t count) {
  const std::uint64_t random = mix64(seed ^ 0x5851f42d4c957f2dull);
  SourceTable table{};
  table.slots = count;
  if (generator.photons > 0) {
    table.start = random;
    table.step = 0x9e3779b97f4a7c15ull;
  } else {  // each slot once before any comes twice
    table.start = fraction64(multiply_high(random, count, 0), count);
    table.step = count > 1 ? fraction64(coprime(count), count) : 0;
  }
  return table;
}

void check_sources(const SourceShares& shares, const char* what, const LeftOut& cut, std::uint64_t slots, bool silent) {
  const config::Generator& g = shares.generator;
  if (cut.sources > 0 && !silent) {
    message("thor: {}: left out {} sources below {:.3g} erg/s, with {:.3g} of {:.3g} erg/s\n", what, cut.sources,
            g.minimum_luminosity, cut.luminosity, cut.luminosity + shares.sum);
  }
  if (slots == 0) refuse_source(g.path, fmt::format("{}: nothing shines{}", what, cut.sources > 0 ? " so bright" : ""));
}

}  // namespace thor
