#include "thor/datasets/voronoi_exact.hpp"

namespace thor {
namespace {

constexpr int bits = 56;
constexpr std::int64_t mask = (std::int64_t(1) << bits) - 1;

/// A whole number as digits of 56 bits, all of them positive but the highest.
using Digits = std::array<std::int64_t, 3>;

/// The sum of columns[k] 2^(56 k). Products of two digits have less than 2^113, so that sums of some of them fit.
using Columns = std::array<Int128, 4>;

Digits digits_of(Int128 value) {
  return {std::int64_t(value) & mask, std::int64_t(value >> bits) & mask, std::int64_t(value >> (2 * bits))};
}

/// sum += a h, where h has two digits and is not negative
void add_product(Columns& sum, const Digits& a, Int128 h) {
  const Int128 low = h & mask, high = h >> bits;
  sum[0] += a[0] * low;
  sum[1] += a[0] * high + a[1] * low;
  sum[2] += a[1] * high + a[2] * low;
  sum[3] += a[2] * high;
}

void subtract_product(Columns& sum, const Digits& a, Int128 h) {
  Columns product{};
  add_product(product, a, h);
  for (std::size_t k = 0; k < 4; ++k) sum[k] -= product[k];
}

/// Makes all columns digits, positive but for the highest.
void carry(Columns& sum) {
  for (std::size_t k = 0; k < 3; ++k) sum[k + 1] += sum[k] >> bits, sum[k] &= mask;
}

int sign_of(Columns sum) {
  carry(sum);
  if (sum[3] < 0) return -1;
  return (sum[0] | sum[1] | sum[2] | sum[3]) != 0 ? 1 : 0;
}

double to_double(Columns sum) {
  const bool is_negative = sign_of(sum) < 0;
  if (is_negative) {
    for (Int128& column : sum) column = -column;
  }
  carry(sum);
  double found = 0;
  for (std::size_t k = 4; k-- > 0;) found = found * 0x1p56 + double(sum[k]);
  return is_negative ? -found : found;
}

using Cross = std::array<Int128, 3>;

Cross cross(const ExactPlane& a, const ExactPlane& b) {
  const auto minor = [&](std::size_t i, std::size_t j) { return Int128(a.n[i]) * b.n[j] - Int128(a.n[j]) * b.n[i]; };
  return {minor(1, 2), minor(2, 0), minor(0, 1)};
}

Digits dot(const Cross& a, const ExactPlane& b) {
  Int128 low = 0, high = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    low += (a[k] & mask) * b.n[k];
    high += (a[k] >> bits) * b.n[k];
  }
  high += low >> bits;
  return {std::int64_t(low) & mask, std::int64_t(high) & mask, std::int64_t(high >> bits)};
}

}  // namespace

// Cramer's rule: v = (h_a (n_b x n_c) + h_b (n_c x n_a) + h_c (n_a x n_b)) / (2 n_a.(n_b x n_c)). Normals have 52 bits
// and a sign, their cross products 105, those times a normal 159, and h has 106.
int exact_side(const ExactPlane& a, const ExactPlane& b, const ExactPlane& c, const ExactPlane& p) {
  const Cross bc = cross(b, c);
  Columns sum{};
  add_product(sum, dot(bc, p), a.h);
  add_product(sum, dot(cross(c, a), p), b.h);
  add_product(sum, dot(cross(a, b), p), c.h);
  subtract_product(sum, dot(bc, a), p.h);
  return sign_of(sum);
}

std::array<double, 3> exact_vertex(const ExactPlane& a, const ExactPlane& b, const ExactPlane& c) {
  const Cross bc = cross(b, c), ca = cross(c, a), ab = cross(a, b);
  Columns determinant{};
  add_product(determinant, dot(bc, a), 2);
  const double twice = to_double(determinant);
  std::array<double, 3> found{};
  for (std::size_t k = 0; k < 3; ++k) {
    Columns sum{};
    add_product(sum, digits_of(bc[k]), a.h);
    add_product(sum, digits_of(ca[k]), b.h);
    add_product(sum, digits_of(ab[k]), c.h);
    found[k] = to_double(sum) / twice;
  }
  return found;
}

}  // namespace thor
