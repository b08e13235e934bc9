#include "thor/drivers/mcrt/jump_histories.hpp"

#include <fmt/format.h>

#include <cmath>

namespace thor {
namespace {

/// Where the photon left, from its last scattering on: b = p.d, and r = 1 there.
SphereExit exit_of(const Photon& photon) {
  const auto& p = photon.position;
  const auto& d = photon.direction;
  const double b = p[0] * d[0] + p[1] * d[1] + p[2] * d[2], r2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
  const double mu = std::sqrt(std::max(b * b + 1 - r2, 0.));
  return {float(photon.frequency_final), float(std::min(mu, 1.)), float(photon.column), float(photon.scatterings),
          float(mu - b)};
}

std::vector<SphereExit> exits_from(double a, double depth, std::uint64_t count, std::uint64_t seed,
                                   const Compute& compute, const char* acceleration, auto prepare, auto exit) {
  const auto text = [&](double temperature) {
    return fmt::format(
        "line: Lya\nseed: {}\ndataset: {{type: shell, outer_radius: 1 kpc, temperature: {:.17g} K, tau0: {:.17g}}}\n"
        "generators: [{{type: point, photons: {}}}]\nacceleration: {}\n"
        "outputs: [{{type: spectrum, name: s, axis: x, range: [-1, 1], bins: 1}}]\noutput: {{path: none.h5}}\n",
        seed, temperature, depth, count, acceleration);
  };
  constexpr double temperature = 1e4;
  const double a_there = build_setup(config::parse(text(temperature), "sphere")).medium.a;
  const config::Config config = config::parse(text(temperature * std::pow(a_there / a, 2)), "sphere");
  Setup setup = build_setup(config);
  prepare(setup);
  Pool pool(0, count, std::uint64_t(compute.cpu.threads) * 16);
  Control control;
  Tally tally = build_tally(config, setup);
  std::vector<SphereExit> exits;
  exits.reserve(count);
  run_problem(config, setup, pool, compute, control, tally, [&](std::span<const Photon> batch) {
    for (const Photon& photon : batch) exits.push_back(exit(photon));
  });
  return exits;
}

void begin_in_core(Source<double>& source) {
  source.spectrum = SourceSpectrum::absorbed;
  source.width = jump_trigger;
}

}  // namespace

std::vector<SphereExit> sphere_exits(double a, double depth, std::uint64_t count, std::uint64_t seed,
                                     const Compute& compute) {
  const auto prepare = [](Setup& setup) {
    for (auto& source : setup.emitter.sources) begin_in_core(source);
  };
  return exits_from(a, depth, count, seed, compute, "{core_skip: none}", prepare, exit_of);
}

std::vector<SphereExit> deep_exits(double a, double depth, double x, std::uint64_t count, std::uint64_t seed,
                                   const Compute& compute) {
  const auto prepare = [&](Setup& setup) {
    for (auto& source : setup.emitter.sources) {
      if (x == 0)
        begin_in_core(source);
      else
        source.spectrum = SourceSpectrum::delta, source.centre = x;
    }
    if (setup.jumps && setup.jumps->has_deep()) {
      auto tables = std::make_shared<JumpTables>(*setup.jumps);
      tables->drop_deep();
      setup.jumps = tables;
    }
  };
  return exits_from(a, depth, count, seed, compute, "{jumps: true}", prepare, [](const Photon& photon) {
    SphereExit exit = exit_of(photon);
    exit.scatterings = float(photon.scatterings - photon.followed);
    return exit;
  });
}

}  // namespace thor
