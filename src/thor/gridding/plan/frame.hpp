#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "thor/gridding/deposit/lattice.hpp"

/// Transformation from the coordinates of the simulation to those of the grid.
namespace thor::gridding {

using Matrix = std::array<Vector, 3>;
inline constexpr Matrix unit_matrix{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

inline Vector operator-(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Vector operator*(double s, const Vector& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline Vector operator*(const Matrix& m, const Vector& a) { return {dot(m[0], a), dot(m[1], a), dot(m[2], a)}; }
Matrix operator*(const Matrix& a, const Matrix& b);

/// Rotation about axis 0, 1 or 2, by the right-hand rule.
Matrix rotation_about(int axis, double angle);

/// Rotation of `direction` to axis `to`: 2 shows a disc face-on to an observer on the z axis, 0 edge-on.
Matrix rotation_towards(const Vector& direction, int to);

struct Frame {
  Vector centre{};                ///< centre of the region, in the coordinates of the simulation [cm]
  Vector velocity{};              ///< subtracted from all velocities [cm/s]
  Matrix rotation = unit_matrix;  ///< about the centre
  Vector box{};                   ///< sides of the box [cm]; 0 if unknown
  bool wraps = false;             ///< the box is periodic

  /// Vector from the centre to the nearest image of a position, not rotated.
  Vector from_centre(const Vector& position) const {
    Vector d = position - centre;
    for (std::size_t a = 0; wraps && a < 3; ++a) d[a] -= box[a] * std::round(d[a] / box[a]);
    return d;
  }
  Vector turned(const Vector& velocity_of_gas) const { return rotation * (velocity_of_gas - velocity); }

  /// Calls take(position in the grid) for every image of a position whose sphere of radius `reach` touches the cube of
  /// one box about the centre.
  template <class Take>
  void for_each_image(const Vector& position, double reach, Take&& take) const {
    const Vector d = from_centre(position);
    if (!wraps) return take(rotation * d);
    std::array<int, 3> first{}, last{};
    for (std::size_t a = 0; a < 3; ++a) {
      first[a] = std::min(0, int(std::ceil((-reach - d[a]) / box[a] - 0.5)));
      last[a] = std::max(0, int(std::floor((reach - d[a]) / box[a] + 0.5)));
    }
    for (int i = first[0]; i <= last[0]; ++i) {
      for (int j = first[1]; j <= last[1]; ++j) {
        for (int k = first[2]; k <= last[2]; ++k) {
          take(rotation * Vector{d[0] + i * box[0], d[1] + j * box[1], d[2] + k * box[2]});
        }
      }
    }
  }
};

}  // namespace thor::gridding
