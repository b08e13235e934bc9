#include "thor/gridding/plan/frame.hpp"

namespace thor::gridding {

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix out{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) out[i][j] += a[i][k] * b[k][j];
    }
  }
  return out;
}

Matrix rotation_about(int axis, double angle) {
  const std::size_t i = std::size_t(axis + 1) % 3, j = std::size_t(axis + 2) % 3;
  Matrix out = unit_matrix;
  out[i][i] = out[j][j] = std::cos(angle);
  out[j][i] = std::sin(angle);
  out[i][j] = -out[j][i];
  return out;
}

Matrix rotation_towards(const Vector& direction, int to) {
  const Vector n = 1 / std::sqrt(dot(direction, direction)) * direction;
  const std::size_t flattest = std::size_t(
      std::min_element(n.begin(), n.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }) - n.begin());
  Vector other{};
  other[flattest] = 1;
  Vector p = cross(other, n);
  p = 1 / std::sqrt(dot(p, p)) * p;
  Matrix out;
  out[std::size_t(to)] = n;
  out[std::size_t(to + 1) % 3] = p;
  out[std::size_t(to + 2) % 3] = cross(n, p);
  return out;
}

}  // namespace thor::gridding
