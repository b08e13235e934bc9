#include "thor/datasets/grid_partition.hpp"

#include <algorithm>

namespace thor {

GridPartition::GridPartition(const GridShape& grid, Domains domains) : grid_(grid), domains_(std::move(domains)) {
  for (int domain = 0; domain < domains_.count(); ++domain) {
    frames_.push_back({domains_.padded(domain), grid.count, grid.periodic});
  }
}

std::vector<std::pair<std::int64_t, std::int64_t>> GridPartition::own_cells(int domain) const {
  const CellBox &own = domains_.box(domain), &part = frame(domain).box;
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  for (std::int64_t x = own.first[0]; x < own.first[0] + own.count[0]; ++x) {
    for (std::int64_t y = own.first[1]; y < own.first[1] + own.count[1]; ++y) {
      const std::int64_t row = (x - part.first[0]) * part.count[1] + (y - part.first[1]);
      const std::int64_t first = row * part.count[2] + own.first[2] - part.first[2];
      rows.emplace_back(first, first + own.count[2]);
    }
  }
  return rows;
}

void GridPartition::for_each_run(
    const std::function<void(std::int64_t first, std::int64_t end, int domain)>& take) const {
  // Between the cuts along z that any domain has, all cells of a row belong to one.
  std::vector<std::int64_t> cuts{0, grid_.count[2]};
  for (int domain = 0; domain < count(); ++domain) cuts.push_back(domains_.box(domain).first[2]);
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::int64_t first = 0, end = 0;
  int last = 0;
  for (std::int64_t x = 0; x < grid_.count[0]; ++x) {
    for (std::int64_t y = 0; y < grid_.count[1]; ++y) {
      for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
        const int domain = owner({x, y, cuts[k]});
        if (domain != last && end > first) take(first, end, last), first = end;
        last = domain, end += cuts[k + 1] - cuts[k];
      }
    }
  }
  take(first, end, last);
}

}  // namespace thor
