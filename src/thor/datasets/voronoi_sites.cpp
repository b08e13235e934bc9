#include "thor/datasets/voronoi_sites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "thor/core/error.hpp"
#include "thor/core/parallel_for.hpp"

namespace thor {
namespace {

using Point = std::array<double, 3>;
using Whole = std::array<std::uint64_t, 3>;
constexpr std::size_t piece = 1 << 16;
constexpr std::size_t sites_of_leaf = 8, sites_of_group = 128;

Whole whole(const Point& p) { return {std::uint64_t(p[0]), std::uint64_t(p[1]), std::uint64_t(p[2])}; }

/// The axis on which two sites differ in the highest bit, x before y before z.
std::size_t highest_axis(const Whole& a, const Whole& b) {
  std::size_t found = 0;
  std::uint64_t most = a[0] ^ b[0];
  for (std::size_t k = 1; k < 3; ++k) {
    const std::uint64_t bits = a[k] ^ b[k];
    if (most < bits && most < (most ^ bits)) found = k, most = bits;
  }
  return found;
}

/// A site and the first 63 bits of its place in Morton order.
struct Key {
  std::uint64_t bits;
  std::uint32_t number;
};

/// 21 bits, with two zeros behind each.
std::uint64_t spread(std::uint64_t bits) {
  bits = (bits | bits << 32) & 0x1f00000000ffffu;
  bits = (bits | bits << 16) & 0x1f0000ff0000ffu;
  bits = (bits | bits << 8) & 0x100f00f00f00f00fu;
  bits = (bits | bits << 4) & 0x10c30c30c30c30c3u;
  return (bits | bits << 2) & 0x1249249249249249u;
}

/// The highest 21 of 52 bits of each axis.
std::uint64_t key_of(const Point& p) {
  const Whole w = whole(p);
  return spread(w[0] >> 31) << 2 | spread(w[1] >> 31) << 1 | spread(w[2] >> 31);
}

void check_box(const std::string& name, const Point& low, const Point& size) {
  constexpr double least = 1e-90, most = 1e90, flattest = 1e6;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!(size[k] >= least && size[k] <= most && std::abs(low[k]) <= most)) {
      throw Error(ExitCode::input, fmt::format("{}: along {} the box begins at {} and is {} wide; expected {} to {}",
                                               name, "xyz"[k], low[k], size[k], least, most));
    }
  }
  const auto [short_side, long_side] = std::ranges::minmax(size);
  if (long_side > flattest * short_side) {
    throw Error(ExitCode::input, fmt::format("{}: the sides of the box are {} to {}; one may be {} times another", name,
                                             short_side, long_side, flattest));
  }
}

void check_sites(const std::string& name, const std::vector<Point>& sites, const Point& low, const Point& size) {
  constexpr std::size_t most = (std::size_t(1) << 31) - 8;
  if (sites.empty()) throw Error(ExitCode::input, name + ": there are no sites");
  if (sites.size() > most) {
    throw Error(ExitCode::input, fmt::format("{}: {} sites; at most {} are possible", name, sites.size(), most));
  }
  std::size_t bad = 0, first = 0;
  for (std::size_t i = sites.size(); i-- > 0;) {
    bool is_inside = true;
    for (std::size_t k = 0; k < 3; ++k) is_inside &= sites[i][k] >= low[k] && sites[i][k] <= low[k] + size[k];
    if (!is_inside) ++bad, first = i;
  }
  if (bad == 0) return;
  const Point& p = sites[first];
  throw Error(ExitCode::input,
              fmt::format("{}: site {} at {} {} {} is not inside the box, which is from {} {} {} to {} {} {}; {} of {} "
                          "sites are not: check their units, box_size and origin_x, _y and _z",
                          name, first, p[0], p[1], p[2], low[0], low[1], low[2], low[0] + size[0], low[1] + size[1],
                          low[2] + size[2], bad, sites.size()));
}

/// Sorts pieces, then merges pairs of them.
template <class Less>
void sort_in_parallel(std::vector<Key>& keys, int threads, const Less& less) {
  const auto at = [&](std::size_t i) { return keys.begin() + std::ptrdiff_t(std::min(i, keys.size())); };
  parallel_for(threads, keys.size(), piece,
               [&](std::size_t begin, std::size_t end) { std::sort(at(begin), at(end), less); });
  for (std::size_t width = piece; width < keys.size(); width *= 2) {
    parallel_for(threads, keys.size(), 2 * width, [&](std::size_t begin, std::size_t end) {
      std::inplace_merge(at(begin), at(begin + width), at(end), less);
    });
  }
}

}  // namespace

VoronoiSites::VoronoiSites(const std::string& name, const std::vector<Point>& sites, const Point& low,
                           const Point& size, bool is_periodic, int threads)
    : site_of(sites.size()), periodic(is_periodic) {
  check_box(name, low, size);
  check_sites(name, sites, low, size);
  int exponent = 0;
  std::frexp(*std::ranges::max_element(size), &exponent);
  unit = std::ldexp(1., exponent - 51);
  for (std::size_t k = 0; k < 3; ++k) sides[k] = std::nearbyint(size[k] / unit);
  std::vector<Point> given(sites.size());
  std::vector<Key> keys(sites.size());
  parallel_for(threads, sites.size(), piece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        const double x = std::clamp(std::nearbyint((sites[i][k] - low[k]) / unit), 0., sides[k]);
        given[i][k] = periodic && x == sides[k] ? 0 : x;
      }
      keys[i] = {key_of(given[i]), std::uint32_t(i)};
    }
  });
  sort_in_parallel(keys, threads, [&](const Key& a, const Key& b) {
    if (a.bits != b.bits) return a.bits < b.bits;
    const Whole p = whole(given[a.number]), q = whole(given[b.number]);
    const std::size_t axis = highest_axis(p, q);
    return p[axis] != q[axis] ? p[axis] < q[axis] : a.number < b.number;
  });
  at.reserve(sites.size());
  for (const Key& key : keys) {
    if (at.empty() || at.back() != given[key.number]) at.push_back(given[key.number]);
    site_of[key.number] = std::uint32_t(at.size() - 1);
  }
}

VoronoiTree::VoronoiTree(const VoronoiSites& sites) {
  nodes_.reserve(sites.at.size() / 2 + 1);
  build(sites, 0, sites.at.size(), false);
}

void VoronoiTree::build(const VoronoiSites& sites, std::size_t first, std::size_t end, bool is_in_group) {
  const std::size_t number = nodes_.size();
  nodes_.push_back({{}, {}, std::uint32_t(first), std::uint32_t(end - first), 0});
  if (!is_in_group && end - first <= sites_of_group) is_in_group = true, groups_.push_back(std::uint32_t(number));
  Point low = sites.at[first], high = low;
  const auto include = [&](const Point& p, const Point& q) {
    for (std::size_t k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], q[k]);
  };
  if (end - first <= sites_of_leaf) {
    for (std::size_t i = first; i < end; ++i) include(sites.at[i], sites.at[i]);
  } else {
    const Whole a = whole(sites.at[first]), b = whole(sites.at[end - 1]);
    const std::size_t axis = highest_axis(a, b);
    const std::uint64_t bit = std::bit_floor(a[axis] ^ b[axis]);
    const auto begin = sites.at.begin();
    const auto split = std::partition_point(begin + std::ptrdiff_t(first), begin + std::ptrdiff_t(end),
                                            [&](const Point& p) { return (std::uint64_t(p[axis]) & bit) == 0; });
    const auto middle = std::size_t(split - begin);
    build(sites, first, middle, is_in_group);
    const std::size_t right = nodes_.size();
    nodes_[number].right = std::uint32_t(right);
    build(sites, middle, end, is_in_group);
    for (const std::size_t child : {number + 1, right}) {
      const Node& n = nodes_[child];
      Point from{}, to{};
      for (std::size_t k = 0; k < 3; ++k) from[k] = n.centre[k] - n.half[k], to[k] = n.centre[k] + n.half[k];
      include(from, to);
    }
  }
  for (std::size_t k = 0; k < 3; ++k) {
    nodes_[number].centre[k] = 0.5 * (low[k] + high[k]), nodes_[number].half[k] = 0.5 * (high[k] - low[k]);
  }
}

}  // namespace thor
