#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "thor/datasets/domains.hpp"
#include "thor/datasets/uniform_grid.hpp"

namespace thor {

/// Geometry of a grid.
struct GridShape {
  CellIndex count{};
  CellIndex tiles{1, 1, 1};        ///< copies of what the file holds along each axis, of which all cells are made
  double cell_size = 0;            ///< [cm]
  std::array<double, 3> origin{};  ///< of the lower corner [cm]
  bool periodic = false;
  double redshift = 0, hubble = 0;  ///< H(z) [1/s]; 0: no expansion

  std::int64_t cells() const { return count[0] * count[1] * count[2]; }
  CellBox box() const { return {{}, count}; }
  /// A part of the grid as a grid of its own, without the faces of the whole.
  GridShape part(const CellBox& box) const;
};

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

/// The gas in units of a run: see UniformGrid.
struct CellUnits {
  double reference_speed;        ///< thermal speed of the run [cm/s]
  double speed_per_root_kelvin;  ///< thermal speed at 1 K [cm/s]
  double b_turb;                 ///< [cm/s]
  double opacity;                ///< of one atom per cm^3 at the reference speed, per cell
  double dust;                   ///< extinction of dust = 1 cm^-3, per cell
  double a;                      ///< Voigt parameter at the reference speed
};

/// No cell is emptier: dust is counted relative to the gas.
inline constexpr float least_opacity = 1e-20f;

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
};

/// Error(input) if so many cells of a grid take more memory than there is for each of several processes of this
/// machine.
void require_memory(const GridShape& shape, double cells, const CellLayout& layout, int processes);

struct CellsOfGrid;

/// The cells of a grid in memory. Filled field by field, each cell by one thread: density, temperature, velocities,
/// dust; then finish(). Turbulence, where there is some, comes between density and temperature.
class Cells {
 public:
  /// Throws an error if there is not enough memory.
  Cells(const GridShape& shape, const CellLayout& layout, const CellUnits& units, double largest_velocity);

  void set_density(std::int64_t i, double n);     ///< [cm^-3]
  void set_turbulence(std::int64_t i, double b);  ///< [cm/s]
  double turbulence(std::int64_t i) const;        ///< [cm/s]; until the temperature is set
  /// [K] and [cm/s]; after the density. `turbulence` adds in quadrature to that of all cells.
  void set_temperature(std::int64_t i, double temperature, double turbulence = 0);
  void set_velocity(std::int64_t i, int axis, double velocity);  ///< [cm/s]
  void set_dust(std::int64_t i, double dust);                    ///< [cm^-3]; after the temperature
  void clear(std::int64_t i);                                    ///< an empty cell
  void set_dropped(std::vector<std::int64_t> cells) { dropped_ = std::move(cells); }

  /// Core skipping's lengths, where the layout has them, equal neighbours if they are asked for, and the statistics, of
  /// a whole grid.
  void finish(int threads, bool join = false);
  /// The same of a part, step by step: lengths that are known, and the statistics of some of the cells.
  void set_core_scale(const std::vector<float>& scale, int threads);
  void survey(int threads, const CellBox& counted);
  /// Finds equal neighbours among all that are `known` of a grid in which these cells are a box. Error(input) if there
  /// is not enough memory.
  void join(const CellsOfGrid& known, const CellBox& box, int threads);

  /// Cells that were bad, and are empty now, in their order.
  const std::vector<std::int64_t>& dropped() const { return dropped_; }
  const GridShape& shape() const { return shape_; }
  const CellLayout& layout() const { return layout_; }
  const CellStatistics& statistics() const { return statistics_; }
  CellGas<double> gas(std::int64_t i) const;
  bool same(std::int64_t i, std::int64_t j) const;  ///< the same gas, bit for bit
  /// The kernel's view; `zero` and the physics of a run are set by the caller.
  const UniformGrid<double>& dataset() const { return dataset_; }

 private:
  float* record(std::int64_t i) const;

  GridShape shape_;
  CellLayout layout_;
  CellUnits units_;
  UniformGrid<double> dataset_{};
  std::unique_ptr<float[]> numbers_, around_;
  std::vector<std::int64_t> dropped_;
  CellStatistics statistics_;
};

}  // namespace thor
