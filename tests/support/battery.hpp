#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

/// Randomness tests: each returns the p-value of a sequence of 2^20 random 32-bit words, which is small if it is too
/// irregular or too regular. Knuth: The Art of Computer Programming 2 (1997), section 3.3.2.
namespace test::battery {

using Words = std::vector<std::uint32_t>;
constexpr std::size_t size = 1u << 20;

// ---- p-values -------------------------------------------------------------------------------------------------------

/// The regularised lower incomplete gamma function P(a, x) = x^a e^-x sum_k x^k / Gamma(a + k + 1).
inline double gamma_p(double a, double x) {
  if (x <= 0) return 0;
  if (x > a + 12 * std::sqrt(a) + 100) return 1;
  double term = std::exp(a * std::log(x) - x - std::lgamma(a + 1)), sum = term;
  for (double k = 1; term > 1e-17 * sum; ++k) sum += term *= x / (a + k);
  return std::min(sum, 1.);
}

inline double two_sided(double below, double above) { return std::min(1., 2 * std::min(below, above)); }

/// Counts against probabilities that sum to one.
inline double chi_square(const std::vector<double>& seen, const std::vector<double>& probability) {
  double n = 0, chi2 = 0;
  for (const double s : seen) n += s;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double expected = n * probability[i];
    chi2 += (seen[i] - expected) * (seen[i] - expected) / expected;
  }
  const double p = gamma_p(double(seen.size() - 1) / 2, chi2 / 2);
  return two_sided(p, 1 - p);
}
inline double chi_square(const std::vector<double>& seen) {
  return chi_square(seen, std::vector<double>(seen.size(), 1 / double(seen.size())));
}

/// A count against a Poisson distribution: P(K >= k) = P(k, lambda).
inline double poisson(double seen, double lambda) {
  return two_sided(1 - gamma_p(seen + 1, lambda), seen > 0 ? gamma_p(seen, lambda) : 1);
}

// ---- equidistribution -----------------------------------------------------------------------------------------------

/// Tuples of words, `bits` bits of each from bit `shift` on, fill a cube evenly. Knuth's frequency (tuple = 1) and
/// serial test.
inline double serial(const Words& words, std::size_t tuple, int bits, int shift) {
  std::vector<double> seen(std::size_t(1) << (tuple * std::size_t(bits)));
  for (std::size_t i = 0; i + tuple <= words.size(); i += tuple) {
    std::size_t cell = 0;
    for (std::size_t k = 0; k < tuple; ++k) cell = cell << bits | ((words[i + k] >> shift) & ((1u << bits) - 1));
    ++seen[cell];
  }
  return chi_square(seen);
}

// ---- order ----------------------------------------------------------------------------------------------------------

/// Knuth's gap test: between two words in the lowest 16th of the range there are r others with P(r) = q (1 - q)^r,
/// q = 1/16.
inline double gaps(const Words& words) {
  constexpr std::size_t longest = 100;
  constexpr double q = 1. / 16;
  std::vector<double> seen(longest + 1), probability(longest + 1);
  for (std::size_t r = 0; r <= longest; ++r) probability[r] = (r < longest ? q : 1) * std::pow(1 - q, r);
  std::size_t gap = 0;
  for (const auto word : words) {
    if (word >> 28 == 0) {
      ++seen[std::min(gap, longest)], gap = 0;
    } else {
      ++gap;
    }
  }
  return gap == words.size() ? 0 : chi_square(seen, probability);
}

/// Knuth's poker test: r different values among 5 words of d = 16 values each have
/// P(r) = d (d-1) ... (d-r+1) S(5, r) / d^5 with Stirling's numbers S of the second kind. One and two different values
/// count as one class.
inline double poker(const Words& words, int shift) {
  std::vector<double> seen(4);
  for (std::size_t i = 0; i + 5 <= words.size(); i += 5) {
    unsigned values = 0;
    for (std::size_t k = 0; k < 5; ++k) values |= 1u << ((words[i + k] >> shift) & 15u);
    ++seen[std::size_t(std::max(std::popcount(values), 2) - 2)];
  }
  constexpr double d = 16, all = d * d * d * d * d;
  return chi_square(
      seen, {(d + 15 * d * (d - 1)) / all, 25 * d * (d - 1) * (d - 2) / all, 10 * d * (d - 1) * (d - 2) * (d - 3) / all,
             d * (d - 1) * (d - 2) * (d - 3) * (d - 4) / all});
}

/// Knuth's test of runs up, omitting the word after each run, which makes them independent (exercise 14): the
/// length r has P(r) = 1/r! - 1/(r+1)!.
inline double runs(const Words& words) {
  constexpr std::size_t longest = 7;
  std::vector<double> seen(longest), probability;
  double factorial = 1;
  for (std::size_t r = 1; r <= longest; ++r, factorial *= double(r))
    probability.push_back(r < longest ? 1 / factorial - 1 / (factorial * double(r + 1)) : 1 / factorial);
  std::size_t length = 1;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] > words[i - 1]) {
      ++length;
    } else {
      ++seen[std::min(length, longest) - 1];
      length = 1, ++i;
    }
  }
  return chi_square(seen, probability);
}

// ---- coincidences ---------------------------------------------------------------------------------------------------

/// Birthday spacings (Marsaglia & Tsang 2002, J. Stat. Software 7, 3): n birthdays in a year of m = 2^32 days; among
/// the sorted differences of neighbours the repeated ones are Poisson with n^3 / 4m. Here n = 2^12, so 4 for a year,
/// and the sum over all years.
inline double birthday_spacings(Words words) {
  constexpr std::ptrdiff_t n = 1 << 12;
  double repeated = 0, years = 0;
  for (auto day = words.begin(); words.end() - day >= n; day += n, ++years) {
    std::sort(day, day + n);
    std::adjacent_difference(day, day + n, day);
    std::sort(day + 1, day + n);
    for (auto d = day + 2; d != day + n; ++d) repeated += *d == d[-1];
  }
  return poisson(repeated, 4 * years);
}

/// Knuth's collision test: n words in m = 2^32 urns; n^2 / 2m find their urn taken (128).
inline double collisions(Words words) {
  std::sort(words.begin(), words.end());
  double seen = 0;
  for (std::size_t i = 1; i < words.size(); ++i) seen += words[i] == words[i - 1];
  const double n = double(words.size());
  return poisson(seen, n * n / 2 * 0x1p-32);
}

// ---- bits -----------------------------------------------------------------------------------------------------------

/// Correlation of each bit of a word with each of the word `lag` later (of other bits of the same word for 0). Each of
/// the z = sum of +-1 / sqrt(n) is normal and they are uncorrelated: both the sum of z^2 and the largest |z| are
/// tested.
inline double bit_correlation(const Words& words, std::size_t lag) {
  const auto plane = [&](std::size_t first) {  // 64 words: one word of 64 for each bit
    std::array<std::uint64_t, 32> bits{};
    for (std::size_t i = 0; i < 64; ++i)
      for (std::size_t b = 0; b < 32; ++b) bits[b] |= std::uint64_t(words[first + i] >> b & 1u) << i;
    return bits;
  };
  constexpr std::size_t used = 1u << 18;
  std::array<std::array<int, 32>, 32> different{};
  for (std::size_t i = 0; i < used; i += 64) {
    const auto a = plane(i), b = plane(i + lag);
    for (std::size_t j = 0; j < 32; ++j)
      for (std::size_t k = lag == 0 ? j + 1 : 0; k < 32; ++k) different[j][k] += std::popcount(a[j] ^ b[k]);
  }
  double chi2 = 0, largest = 0;
  for (std::size_t j = 0; j < 32; ++j)
    for (std::size_t k = lag == 0 ? j + 1 : 0; k < 32; ++k) {
      const double z = (double(used) - 2 * different[j][k]) / std::sqrt(double(used));
      chi2 += z * z, largest = std::max(largest, std::abs(z));
    }
  const double pairs = lag == 0 ? 31 * 16 : 32 * 32, below = gamma_p(pairs / 2, chi2 / 2);
  const double p_largest = -std::expm1(pairs * std::log1p(-std::erfc(largest / std::sqrt(2.))));
  const double p = std::min(two_sided(below, 1 - below), p_largest);
  return p * (2 - p);  // p-value of the smaller of two
}

/// Binomial probabilities of 0 ... 32 ones among 32 bits; the rare ones below 8 and above 24 with those.
inline std::vector<double> weights() {
  std::vector<double> p(17);
  double binomial = 0x1p-32;
  for (int k = 0; k <= 32; binomial *= double(32 - k) / (k + 1), ++k)
    p[std::size_t(std::clamp(k - 8, 0, 16))] += binomial;
  return p;
}
inline std::size_t weight(std::uint32_t word) { return std::size_t(std::clamp(std::popcount(word) - 8, 0, 16)); }

/// The number of bits in which neighbours differ.
inline double hamming_distance(const Words& words) {
  std::vector<double> seen(17);
  for (std::size_t i = 0; i + 2 <= words.size(); i += 2) ++seen[weight(words[i] ^ words[i + 1])];
  return chi_square(seen, weights());
}

/// Independence of the numbers of ones in two neighbours (L'Ecuyer & Simard 2007, ACM TOMS 33, 22: HammingIndep).
inline double hamming_weights(const Words& words) {
  std::vector<double> seen(17 * 17), probability;
  for (std::size_t i = 0; i + 2 <= words.size(); i += 2) ++seen[17 * weight(words[i]) + weight(words[i + 1])];
  for (const double p : weights())
    for (const double q : weights()) probability.push_back(p * q);
  return chi_square(seen, probability);
}

/// Rank of n x n matrices of bits over the field of two elements, made of all bits of each word or of bit `bit` alone
/// (Marsaglia & Tsay 1985): P(n - d) = 2^(-d^2) prod_{i > d} (1 - 2^-i) / prod_{i <= d} (1 - 2^-i), which is 0.289,
/// 0.578, 0.128 for d = 0, 1, 2. The rank of a linear generator is at most the number of bits of its state. With few
/// matrices those with d > 1 are compared with a Poisson distribution, which has wider tails.
template <std::size_t n>
double matrix_rank(const Words& words, int bit = -1) {
  using Row = std::array<std::uint64_t, (n + 63) / 64>;
  const std::size_t per_row = bit < 0 ? n / 32 : n;
  std::vector<Row> matrix;
  std::vector<double> seen(4);
  double matrices = 0;
  for (std::size_t first = 0; first + n * per_row <= words.size(); first += n * per_row, ++matrices) {
    matrix.assign(n, Row{});
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t k = 0; k < per_row; ++k) {
        const std::uint64_t word = words[first + r * per_row + k];
        if (bit < 0) {
          matrix[r][k / 2] |= word << 32 * (k % 2);
        } else {
          matrix[r][k / 64] |= (word >> bit & 1u) << k % 64;
        }
      }
    std::size_t rank = 0;
    for (std::size_t column = 0; column < n && rank < n; ++column) {
      const auto has = [&](const Row& row) { return (row[column / 64] >> column % 64 & 1u) != 0; };
      const auto pivot = std::find_if(matrix.begin() + std::ptrdiff_t(rank), matrix.end(), has);
      if (pivot == matrix.end()) continue;
      std::swap(*pivot, matrix[rank]);
      for (std::size_t r = rank + 1; r < n; ++r) {
        const std::uint64_t mask = has(matrix[r]) ? ~std::uint64_t(0) : 0;
        for (std::size_t k = 0; k < Row{}.size(); ++k) matrix[r][k] ^= matrix[rank][k] & mask;
      }
      ++rank;
    }
    ++seen[std::min<std::size_t>(n - rank, 3)];
  }
  constexpr double p0 = 0.2887880950866024, p1 = 2 * p0, p2 = p0 / 2.25, rest = 1 - p0 - p1 - p2;
  if (matrices * rest < 20) return poisson(seen[2] + seen[3], matrices * (p2 + rest));
  return chi_square(seen, {p0, p1, p2, rest});
}

}  // namespace test::battery
