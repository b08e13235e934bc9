#include "thor/datasets/domains.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "thor/core/error.hpp"

namespace thor {

Domains::Domains(const CellIndex& shape, bool periodic, int count, std::int64_t margin, const Work& work)
    : shape_(shape), periodic_(periodic), margin_(margin) {
  const CellBox whole{{}, shape};
  if (whole.cells() < count) {
    throw Error(ExitCode::usage, fmt::format("--domains {}: the grid has {} cells; take fewer", count, whole.cells()));
  }
  cut(whole, count, work);
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<std::int64_t> cuts;
    for (const CellBox& box : boxes_) cuts.push_back(box.first[k]);
    std::ranges::sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    slabs_[k] = std::int64_t(cuts.size());
    slab_[k].resize(std::size_t(shape[k]));
    for (std::int64_t cell = 0; cell < shape[k]; ++cell) {
      slab_[k][std::size_t(cell)] = std::int32_t(std::ranges::upper_bound(cuts, cell) - cuts.begin() - 1);
    }
  }
  owner_.resize(std::size_t(slabs_[0] * slabs_[1] * slabs_[2]));
  for (int domain = 0; domain < this->count(); ++domain) {
    const CellBox& b = box(domain);
    std::array<std::int64_t, 3> low{}, high{};
    for (std::size_t k = 0; k < 3; ++k) {
      low[k] = slab_[k][std::size_t(b.first[k])], high[k] = slab_[k][std::size_t(b.first[k] + b.count[k] - 1)];
    }
    for (std::int64_t x = low[0]; x <= high[0]; ++x) {
      for (std::int64_t y = low[1]; y <= high[1]; ++y) {
        for (std::int64_t z = low[2]; z <= high[2]; ++z) {
          owner_[std::size_t((x * slabs_[1] + y) * slabs_[2] + z)] = domain;
        }
      }
    }
  }
}

void Domains::cut(const CellBox& box, int count, const Work& work) {
  if (count == 1) {
    boxes_.push_back(box);
    return;
  }
  const auto axis = std::size_t(std::ranges::max_element(box.count) - box.count.begin());
  const std::int64_t length = box.count[axis], layer = box.cells() / length;
  int below = count / 2;
  const auto part = [&](std::int64_t cells) {
    CellBox low = box;
    low.count[axis] = cells;
    return low;
  };
  std::int64_t cells = length * below / count;
  if (work) {
    const double aim = work(box) * below / count;
    std::int64_t low = 1, high = length - 1;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (work(part(middle)) < aim)
        low = middle + 1;
      else
        high = middle;
    }
    cells = low;
  }
  cells = std::clamp<std::int64_t>(cells, 1, length - 1);
  // Both sides need a cell for each of their domains.
  const std::int64_t least = std::max<std::int64_t>(count - (length - cells) * layer, 1);
  below = int(std::clamp<std::int64_t>(below, least, std::min<std::int64_t>(cells * layer, count - 1)));
  CellBox rest = box;
  rest.first[axis] += cells, rest.count[axis] -= cells;
  cut(part(cells), below, work);
  cut(rest, count - below, work);
}

CellBox Domains::grown(CellBox box, std::int64_t margin) const {
  for (std::size_t k = 0; k < 3; ++k) {
    std::int64_t low = box.first[k] - margin, high = box.first[k] + box.count[k] + margin;
    if (periodic_ && high - low >= shape_[k]) low = 0, high = shape_[k];
    if (!periodic_) low = std::max<std::int64_t>(low, 0), high = std::min(high, shape_[k]);
    box.first[k] = low, box.count[k] = high - low;
  }
  return box;
}

int Domains::owner(const CellIndex& cell) const {
  std::int64_t place = 0;
  for (std::size_t k = 0; k < 3; ++k) place = place * slabs_[k] + slab_[k][std::size_t(cell[k])];
  return owner_[std::size_t(place)];
}

}  // namespace thor
