#include "thor/gridding/deposit/tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "thor/core/parallel_for.hpp"
#include "thor/gridding/deposit/spline.hpp"
#include "thor/random/seed.hpp"

namespace thor::gridding {
namespace {

constexpr int deepest = 21;  // three times that are the bits of a key

/// The place of a point along the curve of the tree: 3 bits a level.
std::uint64_t key_of(const std::array<double, 3>& place) {
  std::uint64_t key = 0, at[3];
  for (std::size_t k = 0; k < 3; ++k) {
    at[k] = std::uint64_t(std::clamp(std::ldexp(place[k], deepest), 0., std::ldexp(1., deepest) - 1));
  }
  for (int bit = deepest; bit-- > 0;) {
    for (const std::uint64_t k : at) key = key << 1 | (k >> bit & 1);
  }
  return key;
}

/// Particles in the order of their keys, and their masses summed up.
struct Sorted {
  std::vector<std::uint64_t> keys;
  std::vector<double> mass_before;
};

void split(const Sorted& sorted, const Refinement& rule, std::size_t first, std::size_t end, std::int32_t level,
           const std::array<std::int64_t, 3>& at, std::vector<OctreeLeaf>& leaves) {
  const bool many = end - first > rule.number || sorted.mass_before[end] - sorted.mass_before[first] > rule.mass;
  if (level == deepest || end - first < 2 || !many) return leaves.push_back({level, at});
  const int shift = 3 * (deepest - level - 1);
  for (std::uint64_t child = 0; child < 8; ++child) {
    const auto begin = sorted.keys.begin() + std::ptrdiff_t(first), last = sorted.keys.begin() + std::ptrdiff_t(end);
    const auto next = std::partition_point(begin, last, [&](std::uint64_t k) { return (k >> shift & 7) <= child; });
    const auto stop = std::size_t(next - sorted.keys.begin());
    const auto bit = [&](int k) { return std::int64_t(child >> k & 1); };
    split(sorted, rule, first, stop, level + 1, {2 * at[0] + bit(2), 2 * at[1] + bit(1), 2 * at[2] + bit(0)}, leaves);
    first = stop;
  }
}

constexpr std::size_t most_places = 4096;

/// Places from 0 to 1 along each axis, of which any number one after the other are spread evenly: the additive sequence
/// of Roberts (2018), whose steps are the powers of the inverse of the root of x^4 = x + 1.
std::vector<std::array<double, 3>> places_of_cube() {
  constexpr double root = 1.2207440846057596;
  std::vector<std::array<double, 3>> places(most_places);
  for (std::size_t i = 0; i < most_places; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double x = 0.5 + double(i + 1) * std::pow(root, -double(k + 1));
      places[i][k] = x - std::floor(x);
    }
  }
  return places;
}

/// The same, of the spline of radius 1: they follow it, and have equal shares.
std::vector<std::array<float, 3>> places_of_spline() {
  constexpr std::size_t steps = 4096;
  std::vector<double> within(steps + 1, 0.);
  for (std::size_t i = 0; i < steps; ++i) {
    const double q = (double(i) + 0.5) / steps;
    within[i + 1] = within[i] + spline(q) * q * q;
  }
  std::vector<std::array<float, 3>> places;
  for (const std::array<double, 3>& number : places_of_cube()) {
    const double share = number[0] * within[steps];
    const auto above = std::upper_bound(within.begin(), within.end() - 1, share);
    const double step = *above - *(above - 1);
    const double q = (double(above - within.begin()) - (step > 0 ? (*above - share) / step : 0)) / steps;
    const double mu = 2 * number[1] - 1, phi = 2 * constants::pi * number[2], s = std::sqrt(1 - mu * mu);
    places.push_back({float(q * s * std::cos(phi)), float(q * s * std::sin(phi)), float(q * mu)});
  }
  return places;
}

}  // namespace

std::vector<OctreeLeaf> refine(const std::vector<std::array<double, 3>>& places, const std::vector<double>& masses,
                               const Refinement& rule) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) order[i] = {key_of(places[i]), std::uint32_t(i)};
  std::ranges::sort(order);
  Sorted sorted;
  sorted.mass_before.push_back(0);
  for (const auto& [key, i] : order) {
    sorted.keys.push_back(key);
    sorted.mass_before.push_back(sorted.mass_before.back() + masses[i]);
  }
  std::vector<OctreeLeaf> leaves;
  split(sorted, rule, 0, places.size(), 0, {0, 0, 0}, leaves);
  return leaves;
}

TreeSums::TreeSums(const OctreeTree& tree, int fields, bool periodic)
    : tree_(tree),
      view_(tree.view()),
      fields_(std::size_t(fields)),
      periodic_(periodic),
      sums_(std::size_t(tree.leaves()) * std::size_t(fields), 0.) {}

/// -1: outside.
std::int64_t TreeSums::leaf_at(const std::array<double, 3>& place) const {
  const std::int64_t last = (std::int64_t(1) << tree_.depth()) - 1;
  std::int64_t at[3];
  for (std::size_t k = 0; k < 3; ++k) {
    const double x = periodic_ ? place[k] - std::floor(place[k]) : place[k];
    if (!(x >= 0 && x <= 1)) return -1;
    at[k] = std::min(std::int64_t(std::ldexp(x, tree_.depth())), last);
  }
  return thor::view<double>(view_).find<double>(at[0], at[1], at[2]).leaf;
}

void TreeSums::spread(const Particles& particles, std::size_t i, Found& found, std::vector<Share>& shares) const {
  const double radius = particles.radius[i];
  std::array<double, 3> centre{}, near{};
  for (std::size_t k = 0; k < 3; ++k) {
    centre[k] = particles.position[3 * i + k];
    if (periodic_) centre[k] -= std::floor(centre[k]);
    near[k] = std::clamp(centre[k], 0., 1.);
  }
  const std::int64_t leaf = leaf_at(near);
  const double width = std::ldexp(double(tree_.width(leaf)), -tree_.depth());
  bool within = true;
  for (std::size_t k = 0; k < 3; ++k) {
    const double low = std::ldexp(double(tree_.corner(leaf)[k]), -tree_.depth());
    within = within && centre[k] - radius >= low && centre[k] + radius <= low + width;
  }
  const auto particle = std::uint32_t(i);
  if (within) return shares.push_back({std::uint32_t(leaf), particle, 1});
  found.clear();
  if (!is_mostly_outside(centre, radius, found)) {
    // So many for each leaf of this size that fits in the kernel.
    constexpr std::size_t fewest = 256, of_leaf = 96;
    const double wanted = of_leaf * 4.2 * std::pow(radius / width, 3);
    const std::size_t count = std::bit_ceil(std::size_t(std::clamp(wanted, double(fewest), double(most_places))));
    static const std::vector<std::array<float, 3>> all = places_of_spline();
    const std::size_t start =
        mix64(std::bit_cast<std::uint64_t>(centre[0]) ^ mix64(std::bit_cast<std::uint64_t>(centre[1])));
    for (std::size_t n = 0; n < count; ++n) {
      const std::array<float, 3>& way = all[(start + n) % most_places];
      std::array<double, 3> place{};
      for (std::size_t k = 0; k < 3; ++k) place[k] = centre[k] + radius * double(way[k]);
      if (const std::int64_t there = leaf_at(place); there >= 0) found.emplace_back(there, 1 / double(count));
    }
  }
  std::ranges::sort(found);
  for (std::size_t n = 0; n < found.size();) {
    Share share{std::uint32_t(found[n].first), particle, 0};
    for (; n < found.size() && std::uint32_t(found[n].first) == share.leaf; ++n) share.share += found[n].second;
    shares.push_back(share);
  }
}

/// Whether most of the cube around a kernel is outside of an open box; then places are spread over what is inside, each
/// with the mean of the kernel there.
bool TreeSums::is_mostly_outside(const std::array<double, 3>& centre, double radius, Found& found) const {
  std::array<double, 3> low{}, side{};
  for (std::size_t k = 0; k < 3; ++k) {
    low[k] = std::max(centre[k] - radius, 0.), side[k] = std::max(std::min(centre[k] + radius, 1.) - low[k], 0.);
  }
  const double overlap = side[0] * side[1] * side[2];
  if (periodic_ || overlap > 0.25 * std::pow(2 * radius, 3)) return false;
  static const std::vector<std::array<double, 3>> all = places_of_cube();
  const double each = overlap / double(most_places) / (spline_integral * std::pow(radius, 3));
  double sum = 0;
  for (const std::array<double, 3>& way : all) {
    std::array<double, 3> place{};
    double square = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      place[k] = low[k] + side[k] * way[k];
      square += std::pow((place[k] - centre[k]) / radius, 2);
    }
    const double share = each * spline(std::min(std::sqrt(square), 1.));
    const std::int64_t there = share > 0 ? leaf_at(place) : -1;
    if (there >= 0) found.emplace_back(there, share), sum += share;
  }
  for (auto& [leaf, share] : found) share /= std::max(sum, 1.);
  return true;
}

std::vector<double> TreeSums::add(const Particles& particles, int threads) {
  constexpr std::size_t piece = 1024;
  std::vector<std::vector<Share>> pieces((particles.count() + piece - 1) / piece);
  std::vector<double> inside(particles.count(), 0.);
  parallel_for(threads, particles.count(), piece, [&](std::size_t begin, std::size_t end) {
    stop_if_interrupted();
    Found found;
    std::vector<Share>& shares = pieces[begin / piece];
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t first = shares.size();
      spread(particles, i, found, shares);
      for (std::size_t k = first; k < shares.size(); ++k) inside[i] += shares[k].share;
    }
  });
  // Each leaf is added to by one thread, in the order of the particles.
  const std::size_t parts = 4 * std::size_t(threads), leaves = std::size_t(tree_.leaves());
  parallel_for(threads, parts, 1, [&](std::size_t part, std::size_t) {
    const std::size_t low = leaves * part / parts, high = leaves * (part + 1) / parts;
    for (const std::vector<Share>& shares : pieces) {
      for (const Share& s : shares) {
        if (s.leaf < low || s.leaf >= high) continue;
        double* const sum = sums_.data() + s.leaf * fields_;
        const double* const amount = particles.amount.data() + s.particle * fields_;
        for (std::size_t f = 0; f < fields_; ++f) sum[f] += s.share * amount[f];
      }
    }
  });
  return inside;
}

std::vector<double> TreeSums::total() const {
  std::vector<double> total(fields_, 0.);
  for (std::size_t i = 0; i < sums_.size(); ++i) total[i % fields_] += sums_[i];
  return total;
}

}  // namespace thor::gridding
