#include "thor/drivers/setup.hpp"

#include <cmath>

namespace thor {
namespace {

/// E/4 of the dipole share E in core and wing.
struct DipoleShare {
  double core, wing;
};
DipoleShare dipole_share(config::PhaseFunction phase) {
  switch (phase) {
    case config::PhaseFunction::default_:
      return {1. / 12, 1. / 4};
    case config::PhaseFunction::isotropic:
      return {0, 0};
    case config::PhaseFunction::dipole:
      return {1. / 4, 1. / 4};
  }
  return {};
}

template <class Real>
CoreSkip<Real> build_core_skip(const config::CoreSkip& skip, const Medium& m) {
  // What is hidden is made up for only on average (hidden_path in transport/step.hpp), which is good up to here.
  const double cap = m.dust.tau > 0 ? 2 : 1e10;
  switch (skip.mode) {
    case config::CoreSkipMode::none:
      return {false, 0, 0};
    case config::CoreSkipMode::local:
      return {true, 0, Real(cap)};
    case config::CoreSkipMode::global: {
      const double a_tau = m.a * m.tau0;
      return {false, Real(a_tau >= 1 ? std::min(0.2 * std::cbrt(a_tau), cap) : 0), 0};
    }
    case config::CoreSkipMode::fixed:
      return {false, Real(skip.x_crit), 0};
  }
  return {};
}

}  // namespace

Setup build_setup(const config::Config& config) {
  const Line& line = find_line(config.line);
  const Medium medium = build_medium(config.dataset, line);
  Emitter<double> emitter = build_emitter(config.generators, config.seed, medium, line);
  return {line, medium, std::move(emitter)};
}

template <class D>
Problem<D> build_problem(const config::Config& config, const Setup& setup, const D& dataset) {
  using Real = typename D::Real;
  const Medium& m = setup.medium;
  const DipoleShare share = dipole_share(config.physics.phase_function);
  const double reach = ParallelVelocity<Real>::log_reach;
  ResonantLine<Real> line{};
  line.a = Real(m.a);
  line.inv_a = Real(1 / m.a);
  line.log_envelope = Real(std::log1p(reach * reach / (m.a * m.a)));
  line.recoil = Real(config.physics.recoil ? setup.line.recoil(m.thermal_speed) : 0);
  line.core = dipole_mixture<Real>(share.core);
  line.wing = dipole_mixture<Real>(share.wing);
  line.dust_ratio = Real(m.dust.tau / m.tau0);
  line.albedo = Real(m.dust.albedo);
  line.g = Real(m.dust.g);
  const Caps caps{std::int32_t(config.limits.max_scatterings), std::int32_t(config.limits.max_steps)};
  return {dataset, line, build_core_skip<Real>(config.acceleration.core_skip, m), caps};
}

Tally build_tally(const config::Config& config, const Setup& setup) {
  return {config.spectra,
          {setup.medium.thermal_speed, setup.line.wavelength},
          setup.emitter.luminosity(),
          setup.emitter.luminosity_squared()};
}

void run_problem(const config::Config& config, const Setup& setup, Pool& pool, const Compute& compute, Control& control,
                 Tally& tally, const Sink& sink) {
  const auto run = [&]<class Real>(Real) {
    const Emitter<Real> emitter = convert<Real>(setup.emitter);
    std::visit(
        [&](const auto& dataset) {
          const auto problem = build_problem(config, setup, convert<Real>(dataset));
          if (compute.device) {
            device::transport(*compute.device, problem, emitter, pool, compute.options, compute.cpu, control, tally,
                              sink);
          } else {
            cpu::transport<std::remove_const_t<decltype(problem)>>(problem, emitter, pool, compute.cpu, control, tally,
                                                                   sink);
          }
        },
        setup.medium.dataset);
  };
  if (config.precision == config::Precision::single_)
    run(0.f);
  else
    run(0.);
}

}  // namespace thor
