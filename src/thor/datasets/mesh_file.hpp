#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "thor/datasets/mesh_partition.hpp"

/// What files of octrees and of sites have in common: a box, arrays with a number for each cell, and their gas. Every
/// failure is an Error(input) that names file, array and cell.
namespace thor {

/// What a mesh calls itself, in messages.
struct MeshWords {
  const char* mesh;                            ///< "an octree"
  const char* cell;                            ///< "leaf"
  const char* cells;                           ///< "leaves"
  const char* page;                            ///< of the manual
  bool (*is_place)(const std::string& array);  ///< says where cells are, and is no gas
  bool whole_numbers;                          ///< such arrays are whole numbers
};

/// The box, as the file has it and the configuration overrides it.
struct MeshBox {
  double size = 0;  ///< of a side [cm]
  std::array<double, 3> origin{};
  bool periodic = false;
  double redshift = 0, hubble = 0;
};
MeshBox read_box(const io::Input& file, const config::Dataset& dataset, const MeshWords& words);
/// The attributes of a result.
void write_box(io::ArrayOutput& file, const MeshBox& box);
/// For `thor check`.
std::vector<Derived> derived_of_box(const MeshBox& box);

/// The number of cells, which all these arrays have.
std::uint64_t count_cells(const io::Input& file, const std::vector<std::string>& arrays, const MeshWords& words);
/// The same, with the arrays of the gas that a run needs.
std::uint64_t count_cells(const io::Input& file, const config::Dataset& dataset, const Line& line,
                          const MeshWords& words);
/// Arrays with a number for each cell, but those of places.
std::vector<std::string> fields_of(const io::Input& file, std::uint64_t cells, const MeshWords& words);
/// Error(input) if an array has not one number for each of so many cells.
void require_one_a_cell(const io::Input& file, const std::string& field, std::uint64_t cells, const MeshWords& words);
/// Error(input) if so many bytes are not free.
void require_free(const std::string& path, std::uint64_t cells, double bytes, const char* what, const MeshWords& words);

/// Cells of a mesh in the order of its HostMesh: all, or those that a part holds.
class MeshCells : public CellRecords {
 public:
  /// `part`: null for all of so many cells.
  MeshCells(std::int64_t whole, std::shared_ptr<const MeshPart> part, const CellLayout& layout, const CellUnits& units,
            double largest_velocity, const MeshWords& words);

  std::int64_t cells() const override { return part_ ? std::int64_t(part_->held.size()) : whole_; }
  const MeshPart* part() const { return part_.get(); }
  std::int64_t to_whole(std::int64_t cell) const { return part_ ? part_->held[std::size_t(cell)] : cell; }
  /// The kernels' view, without the physics of a run.
  virtual AnyDataset dataset() const = 0;
  /// The statistics of all cells or a part's own; with those of core skipping, where the Hubble flow is H per unit
  /// length.
  virtual void survey(int threads, bool core_skip, double hubble) = 0;

  // Of the whole mesh, by its numbers: what lengths of core skipping follow from (mesh_lengths.hpp).

  /// A cell behind a face; below 0: nothing, at an open side of the box.
  struct Behind {
    std::int64_t cell;
    double apart, to_face;  ///< from middle to middle, across the face, and to the face
  };
  std::int64_t cells_of_whole() const { return whole_; }
  /// Cells of the whole that are this one's own.
  std::pair<std::int64_t, std::int64_t> own_in_whole() const {
    return part_ ? std::pair{part_->first, part_->end} : std::pair{std::int64_t(0), whole_};
  }
  virtual void for_each_behind(std::int64_t whole, const std::function<void(const Behind&)>& take) const = 0;
  /// From the middle of a cell to its nearest face.
  virtual double to_face(std::int64_t whole) const = 0;
  /// The share of the way from cell to cell, by `apart`, that a straight one is at least, or nearly so.
  virtual double straightness() const = 0;

 protected:
  std::int64_t first_own() const { return part_ ? part_->own : 0; }
  std::int64_t own_cells() const { return part_ ? part_->end - part_->first : whole_; }

 private:
  std::int64_t record(std::int64_t cell) const override { return cell; }

  std::int64_t whole_;
  std::shared_ptr<const MeshPart> part_;
};

/// The cells of a mesh or a part of it, empty; null: all.
using MakeCells = std::function<std::shared_ptr<MeshCells>(std::shared_ptr<const MeshPart> part, const CellLayout&,
                                                           const CellUnits&, double fastest)>;
/// Reads the gas of a mesh, or of the parts that this process holds.
void add_mesh_cells(Medium& m, const config::Dataset& dataset, const Line& line, const CellOptions& options,
                    const MeshWords& words, const MakeCells& make);
/// DatasetType::find_dropped of a mesh.
std::vector<std::int64_t> find_dropped_of_mesh(const MediumOutline& m, const config::Dataset& dataset, const Line& line,
                                               const comm::World& world, int threads, const MeshWords& words);

}  // namespace thor
