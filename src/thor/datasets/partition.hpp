#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "thor/datasets/host_mesh.hpp"

namespace thor {

/// The integers of a place, as the host has them: three indices in a uniform grid, the number of a cell elsewhere.
using CellIndex = std::array<std::int64_t, 3>;

/// The ranks that hold a domain at first: each rank has one or, if there are fewer ranks than domains, several.
std::vector<int> holders_of(int domain, int domains, int ranks);

/// How the cells of a mesh are shared out among domains, of which each process holds some as parts (paper, section
/// 3.6). A kernel sees a part in the part's own cells. A photon that leaves it ends its visit (Phase::departs) with a
/// cell that the part does not have: the part's name for what is behind its border, of which the partition makes a cell
/// of the whole mesh. Cells of the whole travel, with an offset in the cell, so that nothing is rounded on the way.
///
/// A uniform grid is cut into cuboids (grid_partition.hpp), and counts its cells on beyond a border.
class Partition {
 public:
  virtual ~Partition() = default;

  virtual int count() const = 0;
  /// The domain that a cell of the whole belongs to.
  virtual int owner(const CellIndex& whole) const = 0;
  /// The cell of the whole that the part of a domain has, or that is behind its border.
  virtual CellIndex to_whole(int domain, const CellIndex& here) const = 0;
  /// The name that the part of a domain has for a cell of the whole, which it may hold in its margin; none: it does
  /// not.
  virtual std::optional<CellIndex> to_part(int domain, const CellIndex& whole) const = 0;

  /// The cells that belong to a domain, as the host sees them.
  virtual std::unique_ptr<const HostMesh> mesh(int domain) const = 0;
  /// The cells that belong to a domain, by their numbers in its part: runs from the first to before the second.
  virtual std::vector<std::pair<std::int64_t, std::int64_t>> own_cells(int domain) const = 0;
  /// Calls take(first, end, domain) for the runs of cells that belong to one domain, in the order of their numbers.
  virtual void for_each_run(
      const std::function<void(std::int64_t first, std::int64_t end, int domain)>& take) const = 0;

  std::vector<int> holders(int domain, int ranks) const { return holders_of(domain, count(), ranks); }
  /// Whether a rank counts the cells of a domain where all ranks add up theirs: the first of its holders.
  bool counts(int domain, int rank, int ranks) const { return holders(domain, ranks).front() == rank; }
  /// The domains that a rank holds at first.
  std::vector<int> held_by(int rank, int ranks) const;
};

}  // namespace thor
