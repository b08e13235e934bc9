#pragma once
#include <memory>

#include "thor/core/error.hpp"
#include "thor/datasets/any_dataset.hpp"
#include "thor/datasets/cells.hpp"
#include "thor/datasets/parameters.hpp"
#include "thor/line/line.hpp"

namespace thor {

/// The gas of a run: its normalisation in cgs and the dataset that the kernel sees.
struct Medium {
  double size;            ///< outer radius, half-thickness or cell, the unit of length [cm]
  double temperature;     ///< [K]; in a grid that of the unit of velocity
  double b_turb;          ///< [cm/s]
  double thermal_speed;   ///< incl. turbulence, of the first transition: the unit of velocity [cm/s]
  double a;               ///< Voigt parameter of the first transition
  double cross_section;   ///< its sigma_0 [cm^2]
  double tau0;            ///< its line-centre optical depth along a radius; in a grid along z, the mean
  double column_density;  ///< along the same path [cm^-2]
  double number_density;  ///< at the outer edge; in a grid the mean [cm^-3]
  struct {
    double tau, albedo, g;
  } dust;  ///< extinction along the same path, share of scattering, mean cosine
  AnyDataset dataset;
  GridShape grid;                      ///< of a grid
  std::shared_ptr<const Cells> cells;  ///< the cells that its dataset points to; null before load_cells()
};

/// Normalises the profiles. What has no finite normalisation or cannot be resolved is refused; the medium is then not
/// to be used. Of a grid only the header is read: nothing can be transported before load_cells().
Medium build_medium(const config::Dataset& dataset, const Line& line, const Refuse& refuse = refuse_at_once);

/// Reads or makes the cells of a grid; does nothing for other datasets. `core_skip`: with lengths for core skipping.
void load_cells(Medium& medium, const config::Dataset& dataset, const Line& line, bool core_skip, int threads);

}  // namespace thor
