#pragma once
#include "thor/datasets/grid_mesh.hpp"

namespace thor {

/// A uniform grid that is cut into cuboids, each with a margin.
class GridPartition : public Partition {
 public:
  GridPartition(const GridShape& grid, Domains domains);

  const Domains& domains() const { return domains_; }
  /// The cells of a part, with its margin.
  const PartFrame& frame(int domain) const { return frames_[std::size_t(domain)]; }

  int count() const override { return domains_.count(); }
  int owner(const CellIndex& whole) const override { return domains_.owner(whole); }
  CellIndex to_whole(int domain, const CellIndex& here) const override { return frame(domain).to_whole(here); }
  std::optional<CellIndex> to_part(int domain, const CellIndex& whole) const override {
    if (!frame(domain).holds(whole)) return {};
    return frame(domain).to_part(whole);
  }
  std::unique_ptr<const HostMesh> mesh(int domain) const override {
    return std::make_unique<GridMesh>(grid_, domains_.box(domain));
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> own_cells(int domain) const override;
  void for_each_run(const std::function<void(std::int64_t first, std::int64_t end, int domain)>& take) const override;

 private:
  GridShape grid_;
  Domains domains_;
  std::vector<PartFrame> frames_;
};

}  // namespace thor
