#include "thor/gridding/deposit/deposit.hpp"

#include <algorithm>
#include <numeric>

#include "thor/core/parallel_for.hpp"
#include "thor/gridding/deposit/footprint.hpp"

namespace thor::gridding {
namespace {

std::int64_t wrapped(std::int64_t i, std::int64_t n) {
  const std::int64_t r = i % n;
  return r < 0 ? r + n : r;
}

/// Wraps positions into a periodic grid. For an open grid, particles far away are sorted out first, since the indices
/// of their cells may overflow.
bool place(const Lattice& lattice, const Particles& particles, std::size_t p, Footprint& f) {
  double position[3];
  const double radius = particles.radius[p];
  for (std::size_t a = 0; a < 3; ++a) {
    position[a] = particles.position[3 * p + a];
    const double n = double(lattice.cells[a]);
    if (lattice.periodic) {
      position[a] -= n * std::floor(position[a] / n);
    } else if (!(position[a] + radius > 0 && position[a] - radius < n)) {
      return false;
    }
  }
  f = footprint(position, radius);
  if (lattice.periodic) return true;
  for (std::size_t a = 0; a < 3; ++a) {
    if (f.last[a] <= 0 || f.first[a] >= lattice.cells[a]) return false;
  }
  return true;
}

/// The cells of the footprint to visit along an axis: all in a periodic grid, those inside in an open one.
Range visited(const Lattice& lattice, const Footprint& f, std::size_t axis) {
  const std::int64_t length = f.last[axis] - f.first[axis];
  if (lattice.periodic) return {0, int(length)};
  return {int(std::max<std::int64_t>(0, -f.first[axis])), int(std::min(length, lattice.cells[axis] - f.first[axis]))};
}

struct Sum {
  double all = 0, inside = 0;
};

/// Sum over the whole footprint, or over the part inside the grid.
Sum sum_weights(const Lattice& lattice, const Footprint& f, bool whole, std::vector<float>& weight) {
  const Range x = visited(lattice, f, 0), y = visited(lattice, f, 1), z = visited(lattice, f, 2);
  const auto all = [&](std::size_t axis, Range inside) {
    return whole ? Range{0, int(f.last[axis] - f.first[axis])} : inside;
  };
  const Range all_x = all(0, x), all_y = all(1, y), all_z = all(2, z);
  weight.resize(std::size_t(all_z.end - all_z.begin));
  Sum sum;
  for (int i = all_x.begin; i < all_x.end; ++i) {
    for (int j = all_y.begin; j < all_y.end; ++j) {
      const Range r = row_weights(f, i, j, all_z, weight.data());
      double row = 0, inside = 0;
      const auto at = [&](int k) { return double(weight[std::size_t(k - all_z.begin)]); };
      for (int k = r.begin; k < r.end; ++k) row += at(k);
      if (i >= x.begin && i < x.end && j >= y.begin && j < y.end) {
        const int begin = std::max(r.begin, z.begin), end = std::min(r.end, z.end);
        if (begin == r.begin && end == r.end) {
          inside = row;
        } else {
          for (int k = begin; k < end; ++k) inside += at(k);
        }
      }
      sum.all += row, sum.inside += inside;
    }
  }
  return sum;
}

bool within(const Lattice& lattice, const Footprint& f) {
  if (lattice.periodic) return true;
  for (std::size_t a = 0; a < 3; ++a) {
    if (f.first[a] < 0 || f.last[a] > lattice.cells[a]) return false;
  }
  return true;
}

/// The planes of the grid that a particle reaches, starting inside the grid; none if first = last.
struct Planes {
  std::int64_t first = 0, last = 0;

  bool meet(std::int64_t low, std::int64_t high, std::int64_t around) const {
    return (first < high && last > low) || (first - around < high && last - around > low);
  }
};

std::vector<Planes> planes_of(const Lattice& lattice, const Particles& particles, const Shares& shares, int threads) {
  std::vector<Planes> out(particles.count());
  parallel_for(threads, particles.count(), 16384, [&](std::size_t begin, std::size_t end) {
    Footprint f;
    for (std::size_t p = begin; p < end; ++p) {
      if (shares.scale[p] == 0 || !place(lattice, particles, p, f)) continue;
      const Range x = visited(lattice, f, 0);
      const std::int64_t first = f.first[0] + x.begin;
      out[p].first = lattice.periodic ? wrapped(first, lattice.cells[0]) : first;
      out[p].last = out[p].first + x.end - x.begin;
    }
  });
  return out;
}

/// Divides layers of the grid into pieces with similar numbers of weights to evaluate.
std::vector<std::int64_t> divide(const Lattice& lattice, const Layers& layers, const Particles& particles,
                                 const std::vector<Planes>& planes, int pieces) {
  const std::int64_t n = lattice.cells[0];
  std::vector<double> cost(std::size_t(n), 0.);
  for (std::size_t p = 0; p < planes.size(); ++p) {
    const double radius = particles.radius[p];
    for (std::int64_t i = planes[p].first; i < planes[p].last; ++i) cost[std::size_t(i % n)] += 1 + radius * radius;
  }
  const double total = std::accumulate(cost.begin() + layers.first, cost.begin() + layers.last, 0.);
  std::vector<std::int64_t> bounds{layers.first};
  double sum = 0;
  for (std::int64_t i = layers.first; i < layers.last; ++i) {
    const double part = total * double(bounds.size()) / pieces, here = cost[std::size_t(i)];
    if (sum + 0.5 * here >= part && bounds.size() < std::size_t(pieces)) bounds.push_back(i);
    sum += here;
  }
  bounds.push_back(layers.last);
  return bounds;
}

/// Order of the particles along a space-filling (Morton) curve of blocks of cells. Neighbours share the cache, which is
/// about twice as fast as no order.
std::vector<std::uint32_t> order_in_space(const Lattice& lattice, const Particles& particles, int threads) {
  const std::size_t count = particles.count();
  std::vector<std::uint64_t> key(count);
  parallel_for(threads, count, 16384, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      for (std::size_t a = 0; a < 3; ++a) {
        const double n = double(lattice.cells[a]), x = particles.position[3 * p + a];
        const auto block = std::uint64_t(lattice.periodic ? x - n * std::floor(x / n) : std::clamp(x, 0., n)) / 8;
        for (std::uint64_t bit = 0; bit < 20; ++bit) key[p] |= (block >> bit & 1) << (3 * bit + a);
      }
    }
  });
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
  return order;
}

template <class T>
void add(T* __restrict cell, int fields, double weight, const double* __restrict amount) {
  for (int f = 0; f < fields; ++f) cell[f] += T(weight * amount[f]);
}

/// Deposits one particle in the planes [low, high).
template <class T>
void deposit_one(CellSums<T>& sums, const Footprint& f, double scale, const double* amount, std::int64_t low,
                 std::int64_t high, std::vector<float>& weight) {
  const Lattice& lattice = sums.lattice();
  const Range x = visited(lattice, f, 0), y = visited(lattice, f, 1), z = visited(lattice, f, 2);
  weight.resize(std::size_t(z.end - z.begin));
  const auto index = [&](std::size_t axis, int i) {
    const std::int64_t cell = f.first[axis] + i;
    return lattice.periodic ? wrapped(cell, lattice.cells[axis]) : cell;
  };
  const int fields = sums.fields();
  for (int i = x.begin; i < x.end; ++i) {
    const std::int64_t plane = index(0, i);
    if (plane < low || plane >= high) continue;
    for (int j = y.begin; j < y.end; ++j) {
      const Range r = row_weights(f, i, j, z, weight.data());
      T* row = sums.row(plane, index(1, j));
      for (int k = r.begin; k < r.end;) {
        const std::int64_t cell = index(2, k);
        const int stop = int(std::min<std::int64_t>(r.end, k + lattice.cells[2] - cell));
        for (T* to = row + cell * fields; k < stop; ++k, to += fields) {
          add(to, fields, double(weight[std::size_t(k - z.begin)]) * scale, amount);
        }
      }
    }
  }
}

}  // namespace

Shares shares(const Lattice& lattice, const Particles& particles, int threads) {
  Shares out;
  out.scale.resize(particles.count());
  out.inside.resize(particles.count());
  parallel_for(threads, particles.count(), 256, [&](std::size_t begin, std::size_t end) {
    Footprint f;
    std::vector<float> weight;
    for (std::size_t p = begin; p < end; ++p) {
      if (!place(lattice, particles, p, f)) continue;
      const bool all_within = within(lattice, f);
      const bool whole = all_within || particles.radius[p] < wide;
      const Sum sum = sum_weights(lattice, f, whole, weight);
      const double radius = double(f.radius);
      out.scale[p] = 1 / (whole ? sum.all : spline_integral * radius * radius * radius);
      out.inside[p] = all_within ? 1 : sum.inside * out.scale[p];
    }
  });
  return out;
}

template <class T>
void deposit(CellSums<T>& sums, const Particles& particles, const Shares& shares, int threads) {
  const Lattice& lattice = sums.lattice();
  const auto planes = planes_of(lattice, particles, shares, threads);
  const auto bounds = divide(lattice, sums.layers(), particles, planes, 4 * threads);
  const auto order = order_in_space(lattice, particles, threads);
  parallel_for(threads, bounds.size() - 1, 1, [&](std::size_t piece, std::size_t) {
    Footprint f;
    std::vector<float> weight;
    const std::int64_t low = bounds[piece], high = bounds[piece + 1];
    for (const std::size_t p : order) {
      stop_if_interrupted();
      if (!planes[p].meet(low, high, lattice.cells[0]) || !place(lattice, particles, p, f)) continue;
      const double* amount = particles.amount.data() + p * std::size_t(particles.fields);
      deposit_one(sums, f, shares.scale[p], amount, low, high, weight);
    }
  });
}

template void deposit(CellSums<float>&, const Particles&, const Shares&, int);
template void deposit(CellSums<double>&, const Particles&, const Shares&, int);

}  // namespace thor::gridding
