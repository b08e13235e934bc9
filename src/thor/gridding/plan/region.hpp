#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "thor/gridding/plan/frame.hpp"
#include "thor/io/snapshot/snapshot.hpp"

/// The part of the snapshot that is gridded, its orientation and its resolution.
namespace thor::gridding {

enum class Centre { box, densest };
enum class Orientation { as_is, face_on, edge_on };
enum class Bulk { keep, subtract };

struct RegionOptions {
  std::variant<Centre, Vector> centre = Centre::box;  ///< or a position relative to the corner of the box [cm]
  std::vector<double> size;                           ///< one side of a cube or three sides [cm]; empty: the box
  std::vector<std::int64_t> cells = {128};            ///< number along the first side, or along each side
  Matrix rotation = unit_matrix;                      ///< applied after the orientation
  Orientation orientation = Orientation::as_is;
  std::variant<Bulk, Vector> velocity =
      Bulk::keep;                ///< velocity to subtract: none, that of the gas in the region, or this one [cm/s]
  std::optional<bool> periodic;  ///< whether the box is periodic; std::nullopt: if it is cosmological
  bool allow_outside = false;

  bool is_rotated() const { return orientation != Orientation::as_is || rotation != unit_matrix; }
};

struct GridRegion {
  Lattice lattice;
  Frame frame;
};

/// Parses "1 Mpc, 2 Mpc, 3 Mpc" or "1, 2, 3 Mpc" as three lengths or velocities; otherwise Error(usage), which names
/// `option`.
Vector parse_vector(const std::string& text, bool velocity, const std::string& option);
/// Parses one length or three.
std::vector<double> parse_lengths(const std::string& text, const std::string& option);
/// Parses "x:30,z:-90": rotations about the axes in degrees, applied in this order.
Matrix parse_rotation(const std::string& text, const std::string& option);

Lattice choose_lattice(const io::SnapshotHeader& header, const RegionOptions& options);

/// Finds the centre, the bulk velocity and the orientation, reading the gas if they depend on it. A region that extends
/// beyond the box is an Error(input).
GridRegion choose_region(const io::Snapshot& snapshot, const RegionOptions& options);

/// The same without reading gas, for options that do not depend on it; `centre` is used for "densest".
GridRegion choose_region(const io::SnapshotHeader& header, const RegionOptions& options, const Vector& centre);

}  // namespace thor::gridding
