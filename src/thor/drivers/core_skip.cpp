#include "thor/drivers/core_skip.hpp"

#include <algorithm>
#include <array>
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
    const Region<double> here{gas, dataset.depth_at(gas, p)};
    for (const double mu : {0., 0.5, 1.}) {
      const Vec3<double> d{std::sqrt(1 - mu * mu), 0, mu};
      largest = std::max(largest, critical(a * dataset.opacity(here, p) * dataset.core_scale(here, p, d)));
    }
  }
  return largest;
}

SupportedCoreSkip of_grid(const Medium& m, double x_crit, int threads) {
  constexpr double bin = 0.05;
  struct Part {
    double gas = 0, below = 0, absorbers = 0, absorbers_below = 0, largest = 0;
    std::array<double, 400> histogram{};  ///< of x, weighted by absorbers
  };
  const Cells& cells = *m.cells;
  const std::vector<float> scale = neighbourhood_scale(cells, threads);
  const double hubble = m.grid.hubble * m.grid.cell_size / m.thermal_speed;
  Part sum;
  std::mutex mutex;
  parallel_for(threads, scale.size(), 1 << 16, [&](std::size_t first, std::size_t end) {
    Part p;
    for (std::size_t i = first; i < end; ++i) {
      const CellGas<double> g = cells.gas(std::int64_t(i));
      if (!(g.opacity > 0)) continue;
      const double length = std::min(double(scale[i]), 1 / std::max(g.inverse_width * hubble, 1e-30));
      const double x = critical(m.a * g.inverse_width * g.opacity * length);
      const double absorbers = g.opacity / g.inverse_width;
      const bool thick = g.opacity > 1e-3, below = x < x_crit;
      p.gas += thick, p.below += thick && below;
      p.absorbers += absorbers, p.absorbers_below += below ? absorbers : 0;
      p.largest = std::max(p.largest, x);
      p.histogram[std::min(std::size_t(x / bin), p.histogram.size() - 1)] += absorbers;
    }
    const std::lock_guard lock(mutex);
    sum.gas += p.gas, sum.below += p.below, sum.absorbers += p.absorbers, sum.absorbers_below += p.absorbers_below;
    sum.largest = std::max(sum.largest, p.largest);
    for (std::size_t k = 0; k < sum.histogram.size(); ++k) sum.histogram[k] += p.histogram[k];
  });
  std::size_t middle = 0;
  for (double below = 0; middle < sum.histogram.size(); ++middle) {
    if ((below += sum.histogram[middle]) >= 0.5 * sum.absorbers) break;
  }
  return {sum.largest, bin * double(middle), sum.below / std::max(sum.gas, 1.),
          sum.absorbers_below / std::max(sum.absorbers, 1e-300)};
}

void warn(const config::CoreSkip& skip, double x_crit, const Medium& m, int threads) {
  const std::string name = skip.mode == config::CoreSkipMode::fixed ? fmt::format("fixed: {:g}", x_crit) : "global";
  if (m.cells && 4. * double(m.grid.cells()) > available_memory()) {
    return warning("core_skip {}: not enough memory to check whether the gas supports x_crit = {:.3g}", name, x_crit);
  }
  const SupportedCoreSkip gas = supported_core_skip(m, x_crit, threads);
  if (m.cells && gas.absorbers > 0.01) {
    warning(
        "core_skip {}: x_crit = {:.3g} is above what the gas supports, 0.2 (a tau_loc)^(1/3), in {:.3g} % of the cells "
        "with gas, which hold {:.3g} % of the absorbers (median {:.2g}, largest {:.2g}): the result is biased. Take "
        "core_skip: local.",
        name, x_crit, 100 * gas.cells, 100 * gas.absorbers, gas.median, gas.largest);
  } else if (!m.cells && x_crit > slack * gas.largest) {
    warning(
        "core_skip {}: x_crit = {:.3g} is above what the gas supports, 0.2 (a tau_loc)^(1/3) = {:.3g} where it is "
        "largest: the result is biased. Take core_skip: local{}.",
        name, x_crit, gas.largest, gas.largest > 0 ? fmt::format(", or {{fixed: {:.2g}}} or less", gas.largest) : "");
  }
}

}  // namespace

SupportedCoreSkip supported_core_skip(const Medium& m, double x_crit, int threads) {
  if (m.cells) return of_grid(m, x_crit, threads);
  return std::visit(
      [&]<class D>(const D& data) -> SupportedCoreSkip {
        if constexpr (std::is_same_v<D, UniformGrid<double>>)
          return {};
        else
          return {largest_of(data, m.a)};
      },
      m.dataset);
}

void warn_of_core_skip(const config::Config& config, const Setup& setup, int threads) {
  const config::CoreSkip& skip = config.acceleration.core_skip;
  if (skip.mode == config::CoreSkipMode::none || skip.mode == config::CoreSkipMode::local) return;
  const Medium& m = setup.medium;
  const double x_crit = largest_critical_frequency(skip, m.a * m.tau0, m);
  if (x_crit <= 0) return;
  warn(skip, x_crit, m, threads);
  if (m.dust.tau > 0 && x_crit > most_with_dust) {
    warning(
        "core_skip fixed: {:g}: with dust an x_crit above {:g} loses light, since absorption on the skipped path "
        "is added only on average. Take {{fixed: {:g}}} or less, or local.",
        x_crit, most_with_dust, most_with_dust);
  }
}

}  // namespace thor
