#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "thor/gridding/plan/frame.hpp"
#include "thor/io/snapshot/snapshot.hpp"

/// Which part of the snapshot becomes a grid, from where it is seen, and how finely.
namespace thor::gridding {

enum class Centre { box, densest };
enum class Orientation { as_is, face_on, edge_on };
enum class Bulk { keep, subtract };

struct RegionOptions {
  std::variant<Centre, Vector> centre = Centre::box;  ///< or a place [cm], from the corner of the box
  std::vector<double> size;                           ///< one side of a cube or three sides [cm]; empty: the box
  std::vector<std::int64_t> cells = {128};            ///< along the first side, or along each
  Matrix rotation = unit_matrix;                      ///< after the orientation
  Orientation orientation = Orientation::as_is;
  std::variant<Bulk, Vector> velocity = Bulk::keep;  ///< Bulk::subtract: that of the gas within; or a velocity [cm/s]
  std::optional<bool> periodic;                      ///< the box; std::nullopt: if it is cosmological
  bool allow_outside = false;

  bool is_rotated() const { return orientation != Orientation::as_is || rotation != unit_matrix; }
};

struct Region {
  Lattice lattice;
  Frame frame;
};

/// "1 Mpc, 2 Mpc, 3 Mpc" or "1, 2, 3 Mpc" as three lengths (or velocities); Error(usage) otherwise, which names
/// `option`.
Vector parse_vector(const std::string& text, bool velocity, const std::string& option);
/// One length or three.
std::vector<double> parse_lengths(const std::string& text, const std::string& option);
/// "x:30,z:-90": turns about the axes, in degrees, the first one first.
Matrix parse_rotation(const std::string& text, const std::string& option);

Lattice choose_lattice(const io::SnapshotHeader& header, const RegionOptions& options);

/// Finds the centre, the bulk velocity and the orientation (passes through the snapshot where they need one), and
/// refuses a region that the box does not hold: Error(input).
Region choose_region(const io::Snapshot& snapshot, const RegionOptions& options);

/// The same without a snapshot, for those that need none; `centre` where the options say "densest".
Region choose_region(const io::SnapshotHeader& header, const RegionOptions& options, const Vector& centre);

}  // namespace thor::gridding
