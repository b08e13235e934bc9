#pragma once
#include <fmt/format.h>

#include <chrono>

#include "thor/core/parallel_for.hpp"
#include "thor/drivers/mcrt/config.hpp"
#include "thor/drivers/mcrt/mcrt.hpp"
#include "thor/drivers/mcrt/setup.hpp"

/// One transport, timed; no file is written.
namespace benchmark {

struct Case {
  std::string name, precision, tau0, skip;
  int threads = 1;
  bool one_lane = false;
  double share = 1;  ///< fraction of the requested photons
  std::string dataset = "";
  std::string cap = "2000000000";  ///< limit on the scatterings of a photon
  std::string line = "Lya";
  std::string numerics = "";  ///< keys of `numerics`
};

struct Rate {
  double photons, scatterings, steps, longest, seconds;
  double per_second() const { return scatterings / seconds; }
};

/// A static sphere of T = 2e4 K with a source at its centre, unless `c.dataset` says more.
inline Rate measure(const Case& c, double photons, const thor::Compute& compute) {
  using namespace thor;
  const auto count = std::uint64_t(std::max(1., photons));
  const std::string yaml = fmt::format(
      "line: {}\nnumerics: {{{}}}\nprecision: {}\ndataset: {{type: shell, outer_radius: 1 kpc, temperature: 2e4 K, "
      "tau0: {}{}}}\n"
      "generators: [{{type: point, photons: {}}}]\nacceleration: {{core_skip: {}}}\n"
      "limits: {{max_scatterings: {}}}\n"
      "outputs: [{{type: spectrum, name: s, axis: x, range: [-200, 200], bins: 400}}]\noutput: {{path: none.h5}}\n",
      c.line, c.numerics, c.precision, c.tau0, c.dataset, count, c.skip, c.cap);
  const config::Config config = config::parse(yaml, "benchmark");
  const Setup setup = build_setup(config);
  Pool pool(0, count, std::uint64_t(compute.cpu.threads) * 16);
  Control control;
  Tally tally = build_tally(config, setup);
  const auto start = std::chrono::steady_clock::now();
  run_problem(config, setup, pool, compute, control, tally, {});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!tally.conserves() || tally.photons() != count) fmt::print(stderr, "photons are not conserved\n"), std::exit(1);
  return {double(count), double(tally[Counter::scatterings]), double(tally[Counter::steps]),
          double(tally[Counter::longest]), seconds};
}

}  // namespace benchmark
