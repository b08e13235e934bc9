#pragma once
#include <functional>
#include <vector>

#include "thor/datasets/partition.hpp"

namespace thor {

/// A cuboid of cells. In a periodic grid it may begin before the first cell, or end after the last.
struct CellBox {
  CellIndex first{}, count{};
  std::int64_t cells() const { return count[0] * count[1] * count[2]; }
  bool operator==(const CellBox&) const = default;
};

/// The cells of a part, and those of the whole grid. A kernel sees a part in cells that are counted from its own
/// corner.
struct PartFrame {
  CellBox box;  ///< of the part
  CellIndex whole;
  bool periodic;

  CellIndex to_whole(CellIndex cell) const {
    for (std::size_t k = 0; k < 3; ++k) cell[k] = wrapped(cell[k] + box.first[k], k);
    return cell;
  }
  /// Not in the part, if it is not there.
  CellIndex to_part(CellIndex cell) const {
    for (std::size_t k = 0; k < 3; ++k) cell[k] = wrapped(cell[k] - box.first[k], k);
    return cell;
  }
  bool holds(const CellIndex& cell) const {
    const CellIndex there = to_part(cell);
    return there[0] >= 0 && there[0] < box.count[0] && there[1] >= 0 && there[1] < box.count[1] && there[2] >= 0 &&
           there[2] < box.count[2];
  }
  /// The faces behind which the grid goes on, as UniformGrid has them.
  int borders() const {
    int bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      if (periodic || box.first[k] > 0) bits |= 1 << (2 * k);
      if (periodic || box.first[k] + box.count[k] < whole[k]) bits |= 2 << (2 * k);
    }
    return bits;
  }

 private:
  std::int64_t wrapped(std::int64_t cell, std::size_t k) const {
    if (!periodic) return cell;
    const std::int64_t rest = cell % whole[k];
    return rest < 0 ? rest + whole[k] : rest;
  }
};

/// A grid that is cut into cuboids, so that each process needs only a part of it (paper, section 3.6).
class Domains {
 public:
  /// The work in a box, for cuts that leave as much of it on each side; none: the number of cells.
  using Work = std::function<double(const CellBox&)>;

  /// Halves, halves of these, and so on, across the longest side. `margin`: cells by which each domain is padded, so
  /// that a photon at a border does not go to and fro. Throws an Error if there are not enough cells.
  Domains(const CellIndex& shape, bool periodic, int count, std::int64_t margin, const Work& work = {});

  int count() const { return int(boxes_.size()); }
  const CellBox& box(int domain) const { return boxes_[std::size_t(domain)]; }
  /// The box with its margin.
  CellBox padded(int domain) const { return grown(box(domain), margin_); }
  /// A box with a margin, as far as there are other cells.
  CellBox grown(CellBox box, std::int64_t margin) const;
  /// The domain that a cell belongs to.
  int owner(const CellIndex& cell) const;

 private:
  void cut(const CellBox& box, int count, const Work& work);

  CellIndex shape_;
  bool periodic_;
  std::int64_t margin_;
  std::vector<CellBox> boxes_;
  std::array<std::vector<std::int32_t>, 3> slab_;  ///< of every cell along an axis, between cuts of any domain
  std::array<std::int64_t, 3> slabs_{};
  std::vector<std::int32_t> owner_;  ///< of every box between cuts
};

}  // namespace thor
