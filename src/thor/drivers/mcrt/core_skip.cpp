#include "thor/drivers/mcrt/core_skip.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <mutex>

#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/datasets/neighbourhood.hpp"

namespace thor {
namespace {

constexpr double most_with_dust = 2;  ///< docs/validation.md, dusty slab
constexpr double slack = 1.01;        ///< tolerance, since a medium is sampled in a finite number of places

double critical(double a_tau) { return a_tau >= 1 ? 0.2 * std::cbrt(a_tau) : 0; }

/// Largest x of the local criterion in a shell or slab, along a radius and over the directions of a photon.
template <class D>
double largest_of(const D& data, double a) {
  const auto dataset = view<double>(data);
  double largest = 0, inner = 0;
  if constexpr (requires { data.inner; }) inner = data.inner;
  constexpr int places = 1001;
  for (int i = 0; i < places; ++i) {
    const Vec3<double> p{0, 0, inner + (1 - inner) * (i + 0.5) / places};
    if (dataset.locate(p) != gas) continue;
    const Region<double, std::int64_t> here{gas, dataset.depth_at(gas, p)};
    for (const double mu : {0., 0.5, 1.}) {
      const Vec3<double> d{std::sqrt(1 - mu * mu), 0, mu};
      largest = std::max(largest, critical(a * dataset.opacity(here, p) * dataset.core_scale(here, here, p, d)));
    }
  }
  return largest;
}

constexpr double bin = 0.05;

/// Sums over cells.
struct CellSums {
  double gas = 0, below = 0, absorbers = 0, absorbers_below = 0, largest = 0;
  std::array<double, 400> histogram{};  ///< of x, weighted by absorbers

  void add(const CellSums& p) {
    gas += p.gas, below += p.below, absorbers += p.absorbers, absorbers_below += p.absorbers_below;
    largest = std::max(largest, p.largest);
    for (std::size_t k = 0; k < histogram.size(); ++k) histogram[k] += p.histogram[k];
  }
};

/// Over some of the cells, which have these lengths.
CellSums sums_over(const CellBox& box, const Cells& cells, const std::vector<float>& scale, const Medium& m,
                   double x_crit, int threads) {
  const double hubble = m.hubble * m.size / m.thermal_speed;
  const CellIndex& count = cells.shape().count;
  CellSums sum;
  std::mutex mutex;
  const std::size_t rows_at_a_time = std::max<std::size_t>((1 << 16) / std::size_t(box.count[2]), 1);
  parallel_for(threads, std::size_t(box.count[0] * box.count[1]), rows_at_a_time,
               [&](std::size_t first, std::size_t end) {
                 CellSums p;
                 for (auto row = std::int64_t(first); row < std::int64_t(end); ++row) {
                   const std::int64_t x = box.first[0] + row / box.count[1], y = box.first[1] + row % box.count[1];
                   const std::int64_t start = (x * count[1] + y) * count[2] + box.first[2];
                   for (std::int64_t i = start; i < start + box.count[2]; ++i) {
                     const CellGas<double> g = cells.gas(i);
                     if (!(g.opacity > 0)) continue;
                     const double length =
                         std::min(double(scale[std::size_t(i)]), 1 / std::max(g.inverse_width * hubble, 1e-30));
                     const double x_here = critical(m.a * g.inverse_width * g.opacity * length);
                     const double absorbers = g.opacity / g.inverse_width;
                     const bool thick = g.opacity > 1e-3, below = x_here < x_crit;
                     p.gas += thick, p.below += thick && below;
                     p.absorbers += absorbers, p.absorbers_below += below ? absorbers : 0;
                     p.largest = std::max(p.largest, x_here);
                     p.histogram[std::min(std::size_t(x_here / bin), p.histogram.size() - 1)] += absorbers;
                   }
                 }
                 const std::lock_guard lock(mutex);
                 sum.add(p);
               });
  return sum;
}

/// Collective: over the cells of all ranks.
CellSums sums_over_parts(const comm::World& world, const Medium& m, double x_crit, int threads) {
  const Domains& domains = m.divided->domains;
  std::vector<HeldCells> held;
  for (const GridPart& part : m.divided->parts) held.push_back({part.domain, part.cells.get()});
  const auto scales = neighbourhood_scales(world, domains, m.grid, held, threads);
  CellSums own;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (domains.holders(held[i].domain, world.ranks()).front() != world.rank()) continue;
    CellBox box = domains.box(held[i].domain);
    for (std::size_t k = 0; k < 3; ++k) box.first[k] -= m.divided->parts[i].box.first[k];
    own.add(sums_over(box, *held[i].cells, scales[i], m, x_crit, threads));
  }
  using Words = std::array<std::uint64_t, sizeof(CellSums) / sizeof(std::uint64_t)>;
  const auto words = std::bit_cast<Words>(own);
  const std::vector<std::uint64_t> all = world.from_first(world.at_first({words.begin(), words.end()}));
  CellSums sum;
  for (std::size_t i = 0; i < all.size(); i += words.size()) {
    Words one;
    std::copy_n(all.begin() + std::ptrdiff_t(i), words.size(), one.begin());
    sum.add(std::bit_cast<CellSums>(one));
  }
  return sum;
}

SupportedCoreSkip of_grid(const comm::World& world, const Medium& m, double x_crit, int threads) {
  const CellSums sum =
      m.divided ? sums_over_parts(world, m, x_crit, threads)
                : sums_over(m.grid.box(), *m.cells, neighbourhood_scale(*m.cells, threads), m, x_crit, threads);
  std::size_t middle = 0;
  for (double below = 0; middle < sum.histogram.size(); ++middle) {
    if ((below += sum.histogram[middle]) >= 0.5 * sum.absorbers) break;
  }
  return {sum.largest, bin * double(middle), sum.below / std::max(sum.gas, 1.),
          sum.absorbers_below / std::max(sum.absorbers, 1e-300)};
}

/// Collective where ranks hold parts: whether the lengths of the cells have room in memory.
bool have_room(const comm::World& world, const Medium& m) {
  double cells = m.cells ? double(m.cells->shape().cells()) : 0;
  const int ranks = world.ranks_on_node();
  if (!m.divided) return 4 * cells <= available_memory(ranks);
  cells = 0;
  for (const GridPart& part : m.divided->parts) cells += double(part.box.cells());
  return world.largest(8 * cells > available_memory(ranks)) == 0;  // while they are converted
}

void warn(const config::CoreSkip& skip, double x_crit, const comm::World& world, const Medium& m, int threads) {
  const std::string name = skip.mode == config::CoreSkipMode::fixed ? fmt::format("fixed: {:g}", x_crit) : "global";
  if (!have_room(world, m)) {
    return warning("acceleration.core_skip {}: x_crit = {:.3g} is unchecked (not enough memory). Use core_skip: local.",
                   name, x_crit);
  }
  const SupportedCoreSkip gas = supported_core_skip(world, m, x_crit, threads);
  if (m.cells && gas.absorbers > 0.01) {
    warning(
        "core_skip {}: the result is biased, x_crit = {:.3g} is too large in {:.3g} % of the cells with {:.3g} % of "
        "the absorbers (0.2 (a tau_loc)^(1/3): median {:.2g}, largest {:.2g}). Use core_skip: local.",
        name, x_crit, 100 * gas.cells, 100 * gas.absorbers, gas.median, gas.largest);
  } else if (!m.cells && x_crit > slack * gas.largest) {
    warning(
        "core_skip {}: the result is biased, x_crit = {:.3g} exceeds 0.2 (a tau_loc)^(1/3), which is at most {:.3g} "
        "here. Use core_skip: local{}.",
        name, x_crit, gas.largest, gas.largest > 0 ? fmt::format(", or {{fixed: {:.2g}}} or less", gas.largest) : "");
  }
}

}  // namespace

SupportedCoreSkip supported_core_skip(const comm::World& world, const Medium& m, double x_crit, int threads) {
  if (m.cells) return of_grid(world, m, x_crit, threads);
  return std::visit(
      [&]<class D>(const D& data) -> SupportedCoreSkip {
        if constexpr (requires { view<double>(data).locate(Vec3<double>()); })
          return {largest_of(data, m.a)};
        else
          return {};
      },
      m.dataset);
}

void warn_of_core_skip(const config::Config& config, const Setup& setup, const comm::World& world, int threads) {
  const config::CoreSkip& skip = config.acceleration.core_skip;
  if (skip.mode == config::CoreSkipMode::none || skip.mode == config::CoreSkipMode::local) return;
  const Medium& m = setup.medium;
  const double x_crit = largest_critical_frequency(skip, m.a * m.tau0, m);
  if (x_crit <= 0) return;
  warn(skip, x_crit, world, m, threads);
  if (m.dust.tau > 0 && x_crit > most_with_dust) {
    warning(
        "core_skip fixed: {:g}: with dust, an x_crit above {:g} loses light. Use {{fixed: {:g}}} or less, or local.",
        x_crit, most_with_dust, most_with_dust);
  }
}

}  // namespace thor
