#pragma once
#include <span>
#include <string_view>

#include "thor/datasets/medium.hpp"

namespace thor {

/// How many parts a mesh is cut into, and how.
struct Cut {
  int count;
  std::int64_t margin;  ///< cells by which each domain is padded
  /// The share of all photons that begin in a box, between fractions of the sides of the mesh; none: it is not known.
  std::function<double(const std::array<double, 3>& low, const std::array<double, 3>& high)> light{};
};

/// The mesh of a file without its gas, for rays.
struct RayMesh {
  std::shared_ptr<const HostMesh> mesh;
  AnyDataset dataset;               ///< in which rays end at the faces of the box
  double unit;                      ///< of length [cm]
  double redshift, hubble;          ///< H(z) [1/s]; 0: no expansion
  std::vector<std::string> fields;  ///< arrays with a number for each cell
};

/// A type of dataset, as the host sees it: its keys, and how it becomes the medium of a run. Which kernel a medium
/// needs is the matter of its AnyDataset.
struct DatasetType {
  const char* name;
  const char* meaning;
  bool model;    ///< the configuration says what the gas is; otherwise a file does
  bool flows;    ///< takes `velocity`
  bool gridded;  ///< the gas always lies in cells
  double peak;   ///< maxima of the spectrum of static gas, in units of (a tau0)^(1/3); 0: not known
  void (*add_keys)(config::Section<config::Dataset>& section);
  MediumOutline (*outline)(const config::Dataset& dataset, const Line& line, const Refuse& refuse);
  /// Reads or makes the cells of the medium; null for types without cells.
  void (*add_cells)(Medium& medium, const config::Dataset& dataset, const Line& line, const CellOptions& options);
  /// Cuts the mesh into domains that several processes can hold together; null where they cannot.
  std::shared_ptr<const Partition> (*divide)(const MediumOutline& outline, const Cut& cut) = nullptr;
  /// Bad cells that are to be dropped, among those that this process looks at: all processes together look at each
  /// once.
  std::vector<std::int64_t> (*find_dropped)(const MediumOutline& outline, const config::Dataset& dataset,
                                            const Line& line, const comm::World& world, int threads) = nullptr;
  /// Whether a file is one of this type; null for uniform grids, which all other files may be, and for models.
  bool (*is_in)(const io::Input& file) = nullptr;
  /// Reads the mesh of a file; null for the same.
  RayMesh (*mesh_of_rays)(const config::Dataset& dataset) = nullptr;
};

/// All types, in the order of types.list.
std::span<const DatasetType* const> dataset_types();

/// The name of the type of which a file is.
std::string type_of_file(const std::string& path);

/// The type of this name, which the configuration has checked.
const DatasetType& dataset_type(std::string_view name);

}  // namespace thor
