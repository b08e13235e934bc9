#pragma once
#include <array>
#include <cmath>

/// Vectors of the host: places, directions, axes of cameras. Those of kernels are in vec3.hpp.
namespace thor {

using Vector = std::array<double, 3>;

inline double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Vector times(double s, const Vector& v) { return {s * v[0], s * v[1], s * v[2]}; }
inline Vector plus(const Vector& a, const Vector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline double length(const Vector& a) { return std::hypot(a[0], a[1], a[2]); }
inline Vector unit(const Vector& a) { return {a[0] / length(a), a[1] / length(a), a[2] / length(a)}; }
inline Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Upwards in an image along `direction`: `up`, or where that is along the line of sight z, or y.
inline Vector upward(const Vector& direction, const Vector& up) {
  if (length(cross(unit(direction), unit(up))) >= 1e-3) return up;
  return std::abs(direction[2]) > 0.9 * length(direction) ? Vector{0, 1, 0} : Vector{0, 0, 1};
}

}  // namespace thor
