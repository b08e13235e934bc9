#pragma once
#include <exception>
#include <functional>
#include <optional>

#include "thor/comm/world.hpp"
#include "thor/gridding/deposit/cell_values.hpp"
#include "thor/gridding/plan/memory.hpp"
#include "thor/io/array/output.hpp"

namespace thor::gridding {

/// One grid file for the slabs of all ranks, which take them in turn: rank 0 the first, rank 1 the second, and so on.
/// The chunks of a .zarr directory are files, which each rank writes itself. Into an HDF5 file the first rank writes
/// what others send, an array of a slab at a time.
class SlabOutput {
 public:
  /// Collective.
  SlabOutput(const comm::World& world, const std::string& path, bool overwrite);

  /// Of the first rank: for all but the arrays of the slabs.
  io::ArrayOutput& file() { return *file_; }

  /// Collective: arrays of a lattice, all of them yet empty.
  void begin(const std::vector<CellArray>& arrays, const Lattice& lattice, const MemoryPlan& memory, int compression);
  /// Collective: the next slab of every rank; of none where there is no more. `fill` copies an array of that of this
  /// rank.
  void write(const std::function<void(const CellArray&, float*)>& fill);
  /// Collective: what ranks have written is on the disk.
  void finish();

  /// Collective: does work on every rank, and leaves nothing of the file where it fails on any.
  void together(const std::function<void()>& work);

 private:
  void write_own(const std::function<void(const CellArray&, float*)>& fill);
  void write_in_turns(const std::function<void(const CellArray&, float*)>& fill);
  /// Number of cells of the slab that a rank has now; 0: it has none.
  std::size_t cells_of(int rank) const;
  float* room();
  void send(std::span<const float> values) const;
  void receive(std::span<float> values) const;

  const comm::World& world_;
  const bool each_writes_;  ///< rather than the first
  std::optional<io::ArrayOutput> file_;
  std::vector<CellArray> arrays_;
  Lattice lattice_;
  std::int64_t layers_ = 0;  ///< of a slab
  std::int64_t slab_ = 0;    ///< that of the first rank
  std::unique_ptr<float[]> values_;
};

}  // namespace thor::gridding
