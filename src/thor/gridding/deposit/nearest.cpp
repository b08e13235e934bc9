#include "thor/gridding/deposit/nearest.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "thor/core/error.hpp"
#include "thor/core/parallel_for.hpp"

namespace thor::gridding {
namespace {

constexpr std::size_t leaf = 8;

using Point = std::array<double, 3>;

double distance2(const Point& a, const Point& b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

/// Wraps a position into the grid [0, n).
double distance2_to_grid(const Point& place, const Lattice& lattice) {
  Point inside = place;
  for (std::size_t a = 0; a < 3; ++a) inside[a] = std::clamp(place[a], 0., double(lattice.cells[a]));
  return distance2(place, inside);
}

}  // namespace

Tree::Tree(std::vector<Point> points, int threads)
    : points_(std::move(points)), number_(points_.size()), axis_(points_.size(), 0) {
  std::iota(number_.begin(), number_.end(), 0u);
  build(0, points_.size(), threads);  // sorts the indices
  std::vector<Point> sorted(points_.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = points_[number_[i]];
  points_ = std::move(sorted);
}

void Tree::build(std::size_t begin, std::size_t end, int threads) {
  if (end - begin <= leaf) return;
  Point low, high;
  low.fill(1e300), high.fill(-1e300);
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = std::min(low[a], points_[number_[i]][a]);
      high[a] = std::max(high[a], points_[number_[i]][a]);
    }
  }
  std::size_t axis = 0;
  for (std::size_t a = 1; a < 3; ++a) {
    if (high[a] - low[a] > high[axis] - low[axis]) axis = a;
  }
  const std::size_t middle = begin + (end - begin) / 2;
  const auto at = [&](std::size_t i) { return number_.begin() + std::ptrdiff_t(i); };
  std::nth_element(at(begin), at(middle), at(end),
                   [&](std::uint32_t a, std::uint32_t b) { return points_[a][axis] < points_[b][axis]; });
  axis_[middle] = static_cast<unsigned char>(axis);
  if (threads > 1) {
    const std::jthread other([&] { build(begin, middle, threads / 2); });
    build(middle + 1, end, threads - threads / 2);
  } else {
    build(begin, middle, 1);
    build(middle + 1, end, 1);
  }
}

void Tree::search(std::size_t begin, std::size_t end, const Point& place, Found& best) const {
  const auto look = [&](std::size_t i) {
    const double d = distance2(points_[i], place);
    if (d < best.distance2 || (d == best.distance2 && number_[i] < best.point)) best = {number_[i], d};
  };
  if (end - begin <= leaf) {
    for (std::size_t i = begin; i < end; ++i) look(i);
    return;
  }
  const std::size_t middle = begin + (end - begin) / 2;
  const double beyond = place[axis_[middle]] - points_[middle][axis_[middle]];
  look(middle);
  if (beyond < 0) {
    search(begin, middle, place, best);
    if (beyond * beyond <= best.distance2) search(middle + 1, end, place, best);
  } else {
    search(middle + 1, end, place, best);
    if (beyond * beyond <= best.distance2) search(begin, middle, place, best);
  }
}

Tree::Found Tree::nearest(const Point& place, Found known) const {
  search(0, points_.size(), place, known);
  return known;
}

std::vector<double> centres_inside(const Lattice& lattice, const Particles& particles) {
  std::vector<double> out(particles.count(), 1.);
  for (std::size_t p = 0; p < particles.count() && !lattice.periodic; ++p) {
    for (std::size_t a = 0; a < 3; ++a) {
      const double x = particles.position[3 * p + a];
      if (!(x >= 0 && x < double(lattice.cells[a]))) out[p] = 0;
    }
  }
  return out;
}

void NearestSampler::add(const Particles& particles) {
  for (std::size_t p = 0; p < particles.count(); ++p) {
    position_.push_back({particles.position[3 * p], particles.position[3 * p + 1], particles.position[3 * p + 2]});
    for (std::size_t f = 0; f < fields_; ++f) {
      density_.push_back(float(particles.amount[p * fields_ + f] / particles.volume[p]));
    }
  }
  if (position_.size() >= 0xffffffffu) {
    throw Error(ExitCode::input, "--method nearest: more than 4294967295 gas elements; use --method kernel");
  }
}

template <class T>
void NearestSampler::fill(CellSums<T>& sums, int threads) {
  const Lattice& lattice = sums.lattice();
  if (position_.empty()) throw Error(ExitCode::input, "there is no gas in the region");
  if (lattice.periodic) {
    for (auto& p : position_) {
      for (std::size_t a = 0; a < 3; ++a)
        p[a] -= double(lattice.cells[a]) * std::floor(p[a] / double(lattice.cells[a]));
    }
  }
  const Tree tree(std::move(position_), threads);
  const auto columns = std::size_t(lattice.cells[0] * lattice.cells[1]);
  parallel_for(threads, columns, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t column = begin; column < end; ++column) {
      const auto x = std::int64_t(column) / lattice.cells[1], y = std::int64_t(column) % lattice.cells[1];
      T* cell = sums.row(x, y);
      for (std::int64_t z = 0; z < lattice.cells[2]; ++z, cell += fields_) {
        const Point centre{double(x) + 0.5, double(y) + 0.5, double(z) + 0.5};
        Tree::Found found = tree.nearest(centre, {});
        for (int image = 0; lattice.periodic && image < 27; ++image) {
          const int shift[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
          Point other = centre;
          for (std::size_t a = 0; a < 3; ++a) other[a] += shift[a] * double(lattice.cells[a]);
          if (image != 13 && distance2_to_grid(other, lattice) <= found.distance2) found = tree.nearest(other, found);
        }
        const float* density = density_.data() + found.point * fields_;
        for (std::size_t f = 0; f < fields_; ++f) cell[f] = T(density[f]);
      }
    }
  });
  density_.clear();
}

template void NearestSampler::fill(CellSums<float>&, int);
template void NearestSampler::fill(CellSums<double>&, int);

}  // namespace thor::gridding
