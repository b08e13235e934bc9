#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "thor/datasets/cell_gas.hpp"

namespace thor {

/// The numbers of a cell that a run needs.
struct CellLayout {
  bool packed = false, dust = false, core_skip = false;
  bool joined = false;  ///< equal neighbours are known (equal_cells.hpp); they need no room beside the others
  int dust_at() const { return dust && !packed ? 5 : 0; }
  int core_scale_at() const { return core_skip ? (packed ? 3 : 5 + int(dust)) : 0; }
  int stride() const { return packed ? 3 + int(core_skip) : 5 + int(dust) + int(core_skip); }
  double bytes() const { return 4. * (stride() + int(joined)); }            ///< of a cell
  double bytes_at_most() const { return bytes() + (core_skip ? 4. : 0.); }  ///< while the lengths are computed
};

/// The gas in units of a run: see GasRecords.
struct CellUnits {
  double reference_speed;        ///< thermal speed of the run [cm/s]
  double speed_per_root_kelvin;  ///< thermal speed at 1 K [cm/s]
  double b_turb;                 ///< [cm/s]
  double opacity;                ///< of one atom per cm^3 at the reference speed, per unit length
  double dust;                   ///< extinction of dust = 1 cm^-3, per unit length
  double a;                      ///< Voigt parameter at the reference speed
};

/// The numbers of a cell that stands for all, where only places are looked for.
inline constexpr float blank_cell[8] = {1, 1};

/// No cell is emptier: dust is counted relative to the gas.
inline constexpr float least_opacity = 1e-20f;

/// Photons pass through a cell of less optical depth.
inline constexpr double thick_cell = 1e-3;

/// Statistics of cells, which those of other parts can be added to.
struct CellStatistics {
  double density = 0;          ///< of the absorber, summed over cells [cm^-3]
  double cells = 0;            ///< number of them
  double largest_opacity = 0;  ///< line-centre optical depth of one cell
  double largest_a = 0;        ///< Voigt parameter
  double faces = 0;            ///< number of faces between cells with gas
  double jumps = 0;            ///< number of those across which v differs by more than v_th
  double largest_jump = 0;     ///< in units of v_th
  double largest_x_crit = 0;
  double velocity_step = 0;  ///< of a packed grid, in units of the smallest v_th
  double fastest = 0;        ///< speed of gas, and 4 of its widths, in units of the thermal speed of the run

  /// In single precision: the same in whatever order cells were summed.
  double mean_density() const { return double(float(density / cells)); }
  double share_of_jumps() const { return faces > 0 ? jumps / faces : 0; }
  void add(const CellStatistics& other);
  void add_cell(const CellGas<double>& gas);
  void add_face(const CellGas<double>& here, const CellGas<double>& behind);
};

/// The gas of cells in memory, whatever the mesh. Filled field by field, each cell by one thread: density, temperature,
/// velocities, dust. Turbulence, where there is some, comes between density and temperature.
class CellRecords {
 public:
  /// So many records, in which largest_velocity [cm/s] has room if they are packed.
  CellRecords(std::size_t records, const CellLayout& layout, const CellUnits& units, double largest_velocity);
  virtual ~CellRecords() = default;

  void set_density(std::int64_t i, double n);     ///< [cm^-3]
  void set_turbulence(std::int64_t i, double b);  ///< [cm/s]
  double turbulence(std::int64_t i) const;        ///< [cm/s]; until the temperature is set
  /// [K] and [cm/s]; after the density. `turbulence` adds in quadrature to that of all cells.
  void set_temperature(std::int64_t i, double temperature, double turbulence = 0);
  void set_velocity(std::int64_t i, int axis, double velocity);  ///< [cm/s]
  void set_dust(std::int64_t i, double dust);                    ///< [cm^-3]; after the temperature
  void clear(std::int64_t i);                                    ///< an empty cell
  void set_dropped(std::vector<std::int64_t> cells) { dropped_ = std::move(cells); }
  /// The lengths of core skipping, in order of the cells, where the layout has them. `to_face`: distance from a face of
  /// the place that they hold for [cells]; 0.5: the centre, 0: as stored.
  void set_core_scale(const std::vector<float>& scale, int threads, float to_face = 0.5f);

  virtual std::int64_t cells() const = 0;
  virtual double side(std::int64_t) const { return 1; }  ///< in units of the dataset
  /// The middle of a cell, as an offset along each axis.
  virtual double middle(std::int64_t i) const { return 0.5 * side(i); }
  CellGas<double> gas(std::int64_t i) const;
  bool same(std::int64_t i, std::int64_t j) const;  ///< the same gas, bit for bit
  const GasRecords& records() const { return records_; }
  const CellLayout& layout() const { return layout_; }
  const CellUnits& units() const { return units_; }
  const CellStatistics& statistics() const { return statistics_; }
  /// Cells that were bad, and are empty now, in their order.
  const std::vector<std::int64_t>& dropped() const { return dropped_; }

 protected:
  /// The number of the record of a cell.
  virtual std::int64_t record(std::int64_t cell) const = 0;
  /// Of all cells, from those of each thread.
  void finish_statistics(const CellStatistics& sums, double cells);
  /// x_crit of core skipping over a length in a cell, where the Hubble flow is H per unit length.
  double critical_frequency(const CellGas<double>& gas, double length, double hubble) const;

  CellLayout layout_;

 private:
  float* numbers(std::int64_t i) const { return numbers_.get() + record(i) * layout_.stride(); }

  CellUnits units_;
  std::unique_ptr<float[]> numbers_;
  GasRecords records_{};
  std::vector<std::int64_t> dropped_;
  CellStatistics statistics_;
};

}  // namespace thor
