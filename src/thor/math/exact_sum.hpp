#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace thor {

/// A sum of positive numbers that is the same in whatever order they are added, and on however many processes: the
/// mantissas of each exponent are summed as whole numbers, in three pieces that have room for 2^46 of them.
class ExactSum {
 public:
  void add(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t exponent = bits >> 52, fraction = bits & ((1ull << 52) - 1);
    const std::uint64_t mantissa = exponent > 0 ? fraction | 1ull << 52 : fraction;
    std::uint64_t* const pieces = words_.data() + std::size_t(3 * (exponent % exponents));
    for (int k = 0; k < 3; ++k) pieces[k] += mantissa >> (18 * k) & ((1u << 18) - 1);
  }
  /// For sums of several processes: to be added one by one.
  std::span<std::uint64_t> words() { return words_; }

  /// From the smallest exponent on, with compensation (Neumaier 1974).
  double value() const {
    double sum = 0, rest = 0;
    for (int i = 0; i < 3 * exponents; ++i) {
      if (words_[std::size_t(i)] == 0) continue;
      const int exponent = std::max(i / 3, 1) - 1075 + 18 * (i % 3);
      const double term = std::ldexp(double(words_[std::size_t(i)]), exponent), next = sum + term;
      rest += sum >= term ? (sum - next) + term : (term - next) + sum;
      sum = next;
    }
    return sum + rest;
  }

 private:
  static constexpr int exponents = 2047;
  std::array<std::uint64_t, std::size_t(3) * exponents> words_{};
};

}  // namespace thor
