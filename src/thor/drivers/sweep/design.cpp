#include "thor/drivers/sweep/design.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "thor/core/units.hpp"
#include "thor/random/seed.hpp"

namespace thor::sweep {
namespace {

/// Polynomials and first direction numbers of Joe & Kuo (2008), new-joe-kuo-6; the first dimension has none.
struct Direction {
  int degree;
  std::uint32_t polynomial;
  std::array<std::uint32_t, 6> first;
};
constexpr std::array<Direction, Models::most_sobol - 1> directions{{{1, 0, {1}},
                                                                    {2, 1, {1, 3}},
                                                                    {3, 1, {1, 3, 1}},
                                                                    {3, 2, {1, 1, 1}},
                                                                    {4, 1, {1, 1, 3, 3}},
                                                                    {4, 4, {1, 3, 5, 13}},
                                                                    {5, 2, {1, 1, 5, 5, 17}},
                                                                    {5, 4, {1, 1, 5, 5, 5}},
                                                                    {5, 7, {1, 1, 7, 11, 19}},
                                                                    {5, 11, {1, 1, 5, 1, 1}},
                                                                    {5, 13, {1, 1, 1, 3, 11}},
                                                                    {5, 14, {1, 3, 5, 5, 31}},
                                                                    {6, 1, {1, 3, 3, 9, 7, 49}},
                                                                    {6, 13, {1, 1, 1, 15, 21, 21}},
                                                                    {6, 16, {1, 3, 1, 13, 27, 49}}}};

/// Coordinate of point `index` of the Sobol sequence, in 2^-32 (Bratley & Fox 1988).
std::uint32_t sobol(std::uint64_t index, std::size_t dimension) {
  std::array<std::uint32_t, 32> v{};
  if (dimension == 0) {
    for (std::size_t i = 0; i < 32; ++i) v[i] = 1u << (31 - i);
  } else {
    const Direction& d = directions[dimension - 1];
    const auto s = std::size_t(d.degree);
    for (std::size_t i = 0; i < s; ++i) v[i] = d.first[i] << (31 - i);
    for (std::size_t i = s; i < 32; ++i) {
      v[i] = v[i - s] ^ (v[i - s] >> s);
      for (std::size_t k = 1; k < s; ++k) v[i] ^= ((d.polynomial >> (s - 1 - k)) & 1) * v[i - k];
    }
  }
  std::uint32_t x = 0;
  for (std::size_t i = 0; i < 32 && index != 0; ++i, index >>= 1) x ^= (index & 1) * v[i];
  return x;
}

/// A random word for a thing that has these two numbers.
std::uint64_t word(std::uint64_t seed, std::uint64_t a, std::uint64_t b) { return mix64(mix64(mix64(seed) + a) + b); }

std::string text_of(double value, const std::string& unit) {
  return unit.empty() ? fmt::format("{}", value) : fmt::format("{} {}", value, unit);
}

}  // namespace

std::optional<Number> number_of(const std::string& text) {
  Number number;
  try {
    const Quantity quantity = parse_quantity(text);
    number.cgs = quantity.value, number.dimension = quantity.dimension;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  const char* const begin =
      text.data() + (text.find_first_not_of(" +") == std::string::npos ? 0 : text.find_first_not_of(" +"));
  const auto [rest, error] = std::from_chars(begin, text.data() + text.size(), number.value);
  if (error != std::errc() || !std::isfinite(number.value)) return std::nullopt;
  const auto unit = text.find_first_not_of(' ', std::size_t(rest - text.data()));
  if (unit != std::string::npos) number.unit = text.substr(unit);
  return number;
}

std::string Range::at(double part) const {
  const double value = part <= 0   ? low
                       : part >= 1 ? high
                       : log       ? low * std::pow(high / low, part)
                                   : low + (high - low) * part;
  return text_of(value, unit);
}

std::string Range::value(std::uint64_t i) const { return at(count > 1 ? double(i) / double(count - 1) : 0); }

Models::Models(Design design, std::vector<Axis> axes, std::uint64_t count, std::uint64_t seed)
    : design_(design), axes_(std::move(axes)), count_(count), seed_(seed) {
  if (design_ == Design::grid) {
    count_ = 1;
    for (const Axis& axis : axes_) count_ *= axis.count();
  }
  for (std::size_t k = 0; design_ == Design::latin && k < axes_.size(); ++k) {
    std::vector<std::uint32_t>& order = orders_.emplace_back(count_);
    std::iota(order.begin(), order.end(), 0u);
    for (std::uint64_t i = count_; i-- > 1;) std::swap(order[i], order[word(seed_, k, i) % (i + 1)]);
  }
}

double Models::part(std::uint64_t model, std::size_t axis) const {
  if (design_ == Design::sobol) {
    const auto shift = std::uint32_t(word(seed_, axis, ~0ull) >> 32);
    return (double(sobol(model, axis) ^ shift) + 0.5) * 0x1p-32;
  }
  const double within = double(word(seed_, axis, count_ + model) >> 11) * 0x1p-53;
  return (double(orders_[axis][model]) + within) / double(count_);
}

std::vector<std::string> Models::values(std::uint64_t model) const {
  std::vector<std::string> values(axes_.size());
  std::uint64_t rest = model;
  for (std::size_t k = axes_.size(); k-- > 0;) {
    const Axis& axis = axes_[k];
    if (design_ == Design::grid) {
      const std::uint64_t i = rest % axis.count();
      rest /= axis.count();
      values[k] = axis.range ? axis.range->value(i) : axis.values[i];
    } else if (design_ == Design::list) {
      values[k] = axis.values[model];
    } else {
      const double u = part(model, k);
      values[k] = axis.range ? axis.range->at(u) : axis.values[std::size_t(u * double(axis.values.size()))];
    }
  }
  return values;
}

std::uint64_t Models::seed(std::uint64_t model) const { return word(seed_, ~0ull, model) >> 11; }

}  // namespace thor::sweep
