#pragma once
#include <algorithm>
#include <array>
#include <string>

#include "thor/datasets/cells.hpp"
#include "thor/operators/scene.hpp"

namespace thor {

struct Line;

namespace config {
enum class FieldScale;
}

/// A quantity as an operator reads it, and what its numbers are.
struct FieldUse {
  FieldProduct quantity;
  double unit = 1;      ///< of the numbers
  std::string units{};  ///< that unit is in: "g cm-3"
};

/// The ion that absorbs in a line: number density, temperature and velocity in cgs.
struct Absorber {
  FieldUse density, temperature, velocity;
};

/// Where the gas is, as rays see it from outside.
struct GasOutline {
  double length = 1;                  ///< unit of length of the dataset [cm]
  std::array<double, 3> centre{};     ///< [cm]
  std::array<double, 3> size{};       ///< of the whole gas [cm]
  std::array<bool, 3> is_infinite{};  ///< along an axis
  bool is_round = false;              ///< a sphere; else a cuboid
  bool has_cells = false;             ///< fields are arrays of numbers, one for each cell, in a box:
  std::array<double, 3> corner{};     ///< the lower one [cm],
  std::array<double, 3> sides{};      ///< and its sides, in units of length
  double cells_per_length = 1;        ///< about, in units of length
  bool periodic = false;
  double redshift = 0, hubble = 0;  ///< of the snapshot; H(z) [1/s], 0: no expansion
  GridShape grid{};                 ///< of a uniform grid

  double longest() const { return *std::ranges::max_element(size); }  ///< side [cm]
  bool is_lattice() const { return grid.cells() > 0; }
  /// A periodic box in the Hubble flow: its images are at other velocities.
  bool repeats() const { return periodic && hubble > 0; }
};

/// The gas as operators know it when they make their plans. What they use is read, and stays in memory.
class FieldSource {
 public:
  virtual ~FieldSource() = default;
  /// A product of fields, in the units of the file. Errors name the fields that there are.
  virtual FieldUse use(const std::string& product) = 0;
  /// The same as the place in a range, 0 to 1.
  virtual FieldUse place(const std::string& product, config::FieldScale scale, double low, double high) = 0;
  /// The same over its mean in all of the gas.
  virtual FieldUse over_mean(const std::string& product) = 0;

  virtual Absorber absorber(const Line& line, const std::string& density_field) = 0;
  virtual double coldest(const FieldUse& temperature) const = 0;  ///< lowest temperature of this part of the gas [K]
  virtual double hottest(const FieldUse& temperature) const = 0;
  virtual double fastest(const FieldUse& velocity) const = 0;  ///< largest speed in this part of a grid [cm/s]

  const GasOutline& outline() const { return outline_; }
  double b_turb() const { return b_turb_; }  ///< of all of the gas [cm/s]

 protected:
  GasOutline outline_;
  double b_turb_ = 0;
};

}  // namespace thor
