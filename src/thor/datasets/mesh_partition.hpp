#pragma once
#include <deque>
#include <mutex>

#include "thor/datasets/dataset_type.hpp"
#include "thor/datasets/mesh_part.hpp"

namespace thor {

/// The cells that a domain of a mesh has, by their numbers in the whole.
struct MeshPart {
  std::int64_t first = 0, end = 0;         ///< its own
  std::int64_t own = 0;                    ///< the number of the first of them among those held
  std::vector<std::int32_t> held, border;  ///< its own and those of its margin; what is behind these. Ascending

  CellsHeld cells() const { return {held.data(), std::int32_t(held.size())}; }
  /// The number of a cell among those held; -1: it is not held.
  std::int64_t to_part(std::int64_t whole) const {
    if (whole >= first && whole < end) return own + whole - first;
    const std::int32_t found = cells().to_part(std::int32_t(whole));
    return found < cells().count ? found : -1;
  }
};

/// A mesh whose cells are numbered along a space-filling curve, cut into ranges of it, each with a margin.
class MeshPartition : public Partition {
 public:
  /// Calls take(cell) for what is behind the faces of a cell, maybe more than once, but for cells from `first` to
  /// before `end`.
  using Neighbours = std::function<void(std::int64_t cell, std::int64_t first, std::int64_t end,
                                        const std::function<void(std::int64_t)>& take)>;

  /// `integers`: how many integers of a place, from the first, are numbers of cells; those below 0 are something else.
  MeshPartition(std::shared_ptr<const HostMesh> mesh, const Cut& cut, std::size_t integers, Neighbours neighbours);

  /// Found when it is asked for first.
  const MeshPart& part(int domain) const;

  int count() const override { return int(parts_.size()); }
  int owner(const CellIndex& whole) const override;
  CellIndex to_whole(int domain, const CellIndex& here) const override;
  std::optional<CellIndex> to_part(int domain, const CellIndex& whole) const override;
  std::unique_ptr<const HostMesh> mesh(int domain) const override;
  std::vector<std::pair<std::int64_t, std::int64_t>> own_cells(int domain) const override;
  void for_each_run(const std::function<void(std::int64_t, std::int64_t, int)>& take) const override;

 private:
  void find_cells(MeshPart& part) const;

  std::shared_ptr<const HostMesh> mesh_;
  std::int64_t margin_;
  std::size_t integers_;
  Neighbours neighbours_;
  std::vector<std::int64_t> firsts_;  ///< of each domain, and the end of all
  mutable std::deque<MeshPart> parts_;
  mutable std::deque<std::once_flag> found_;
};

}  // namespace thor
