#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "thor/comm/world.hpp"
#include "thor/core/error.hpp"
#include "thor/datasets/any_dataset.hpp"
#include "thor/datasets/cells.hpp"
#include "thor/datasets/file_stamp.hpp"
#include "thor/datasets/host_mesh.hpp"
#include "thor/datasets/parameters.hpp"
#include "thor/line/line.hpp"

namespace thor {

/// Normalisation of the gas in cgs and its geometry, as the configuration and the header of its file give them: enough
/// to check a run and to place its sources.
struct MediumOutline {
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
  std::shared_ptr<const HostMesh> mesh;  ///< of gas in cells
  double redshift, hubble;               ///< of a snapshot; H(z) [1/s], 0: no expansion
  GridShape grid;                        ///< of a uniform grid
  std::optional<FileStamp> stamp;        ///< of the file of the gas, before it was read
};

/// A part of a mesh in the memory of this process: a domain and its margin.
struct GasPart {
  int domain;
  std::shared_ptr<const CellRecords> cells;
  AnyDataset dataset;  ///< in the part's own cells
};

/// Gas that several processes hold together, each some of its domains.
struct DividedGas {
  std::shared_ptr<const Partition> partition;
  std::vector<GasPart> parts;  ///< those of this process
  /// Reads another one; `core_scale`: that of its cells, which those who hold it know.
  std::function<GasPart(int domain, const std::vector<float>& core_scale)> read;
};

/// The gas of a run, whose dataset is what the kernel sees.
struct Medium : MediumOutline {
  std::shared_ptr<const CellRecords> cells;   ///< the cells that the dataset points to; null where it has none
  CellStatistics statistics{};                ///< of all of them
  std::shared_ptr<const DividedGas> divided;  ///< null: this process holds all cells. Else `dataset` is the whole mesh
                                              ///< with the gas of one cell, for births that look for their place in
                                              ///< it, and `cells` are those of the first part
  std::vector<std::int64_t> dropped{};  ///< cells of the whole grid that were bad, and are empty now, in their order
};

/// Normalises the profiles; reads the header of a grid. What has no finite normalisation or cannot be resolved is
/// refused; the outline is then not to be used.
MediumOutline outline_medium(const config::Dataset& dataset, const Line& line, const Refuse& refuse = refuse_at_once);

/// Options for reading or making cells.
struct CellOptions {
  bool core_skip;  ///< compute the lengths for core skipping
  int threads;
  const comm::World* world = nullptr;            ///< processes of the run; null: this one alone
  std::shared_ptr<const Partition> partition{};  ///< by which they share the cells; null: each has all
  bool join = false;                             ///< find equal neighbours, for sphere jumps
  double dust_depth = 1;  ///< path since a scattering on which dust of a periodic box counts, in its longest sides
};

/// Collective: the cells that are to be dropped as bad from a grid that ranks will hold together; none where bad cells
/// are an error.
std::vector<std::int64_t> find_dropped(const MediumOutline& outline, const config::Dataset& dataset, const Line& line,
                                       const comm::World& world, int threads);

/// Reads or makes the cells of a grid; other gas is that of its outline.
Medium build_medium(const MediumOutline& outline, const config::Dataset& dataset, const Line& line,
                    const CellOptions& options);

}  // namespace thor
