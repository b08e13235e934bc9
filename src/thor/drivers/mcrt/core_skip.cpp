#include "thor/drivers/mcrt/core_skip.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "thor/comm/together.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/datasets/counted_cells.hpp"
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

/// Collective: over the cells of all ranks.
CellSums sums_over_cells(const comm::World& world, const Medium& m, double x_crit, int threads) {
  const double hubble = m.hubble * m.size / m.thermal_speed;
  const std::vector<CountedCells> counted = counted_cells(m, world);
  const std::vector<std::vector<float>> scales = core_lengths(world, m, threads);
  CellSums own;
  for (std::size_t part = 0; part < counted.size(); ++part) {
    own.add(counted[part].sum<CellSums>(threads, [&](CellSums& p, std::int64_t i, const CellGas<double>& g) {
      if (!(g.opacity > 0)) return;
      const double scale = scales[part][std::size_t(i)];
      const double length = std::min(scale, 1 / std::max(g.inverse_width * hubble, 1e-30));
      const double x_here = critical(m.a * g.inverse_width * g.opacity * length);
      const double side = counted[part].cells->side(i), absorbers = g.opacity / g.inverse_width * std::pow(side, 3);
      const bool thick = g.opacity * side > 1e-3, below = x_here < x_crit;
      p.gas += thick, p.below += thick && below;
      p.absorbers += absorbers, p.absorbers_below += below ? absorbers : 0;
      p.largest = std::max(p.largest, x_here);
      p.histogram[std::min(std::size_t(x_here / bin), p.histogram.size() - 1)] += absorbers;
    }));
  }
  CellSums all;
  for (const CellSums& sums : comm::of_all(world, own)) all.add(sums);
  return all;
}

SupportedCoreSkip of_grid(const comm::World& world, const Medium& m, double x_crit, int threads) {
  const CellSums sum = sums_over_cells(world, m, x_crit, threads);
  std::size_t middle = 0;
  for (double below = 0; middle < sum.histogram.size(); ++middle) {
    if ((below += sum.histogram[middle]) >= 0.5 * sum.absorbers) break;
  }
  return {sum.largest, bin * double(middle), sum.below / std::max(sum.gas, 1.),
          sum.absorbers_below / std::max(sum.absorbers, 1e-300)};
}

/// Collective where ranks hold parts: whether the lengths of the cells have room in memory.
bool have_room(const comm::World& world, const Medium& m) {
  double cells = m.cells ? double(m.cells->cells()) : 0;
  const int ranks = world.ranks_on_node();
  if (!m.divided) return 4 * cells <= available_memory(ranks);
  cells = 0;
  for (const GasPart& part : m.divided->parts) cells += double(part.cells->cells());
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
