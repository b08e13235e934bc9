#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "thor/gridding/plan/frame.hpp"
#include "thor/io/snapshot/snapshot.hpp"

/// Region of the snapshot to grid, its orientation and resolution.
namespace thor::gridding {

enum class Centre { box, densest };
enum class Orientation { as_is, face_on, edge_on };
enum class Bulk { keep, subtract };

struct RegionOptions {
  std::variant<Centre, Vector> centre = Centre::box;  ///< or a position [cm], from the corner of the box
  std::vector<double> size;                           ///< one side of a cube or three sides [cm]; empty: the box
  std::vector<std::int64_t> cells = {128};            ///< along the first side, or along each
  Matrix rotation = unit_matrix;                      ///< after the orientation
  Orientation orientation = Orientation::as_is;
  std::variant<Bulk, Vector> velocity =
      Bulk::keep;                ///< Bulk::subtract: subtract that of the gas inside; or a velocity [cm/s]
  std::optional<bool> periodic;  ///< periodic box; std::nullopt: if cosmological
  bool allow_outside = false;

  bool is_rotated() const { return orientation != Orientation::as_is || rotation != unit_matrix; }
};

struct Region {
  Lattice lattice;
  Frame frame;
};

/// Parses "1 Mpc, 2 Mpc, 3 Mpc" or "1, 2, 3 Mpc" as three lengths (or velocities); otherwise Error(usage) that names
/// `option`.
Vector parse_vector(const std::string& text, bool velocity, const std::string& option);
/// Parses one length or three.
std::vector<double> parse_lengths(const std::string& text, const std::string& option);
/// Parses "x:30,z:-90": rotations about the axes, in degrees, applied in this order.
Matrix parse_rotation(const std::string& text, const std::string& option);

Lattice choose_lattice(const io::SnapshotHeader& header, const RegionOptions& options);

/// Finds the centre, the bulk velocity and the orientation (reading the snapshot if necessary), and refuses a region
/// that does not fit in the box: Error(input).
Region choose_region(const io::Snapshot& snapshot, const RegionOptions& options);

/// The same without reading the snapshot; `centre` is used if the options say "densest".
Region choose_region(const io::SnapshotHeader& header, const RegionOptions& options, const Vector& centre);

}  // namespace thor::gridding
