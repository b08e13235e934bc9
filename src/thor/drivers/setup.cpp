#include "thor/drivers/setup.hpp"

#include <cmath>
#include <thread>

#include "thor/core/message.hpp"
#include "thor/interactors/build.hpp"

namespace thor {
namespace {

/// What is hidden is made up for only on average (hidden_path in transport/step.hpp), which is good up to here.
double cap_of(const Medium& m) { return m.dust.tau > 0 ? 2 : 1e10; }

template <class Real>
CoreSkip<Real> build_core_skip(const config::CoreSkip& skip, const Medium& m) {
  if (skip.mode == config::CoreSkipMode::local) return {true, 0, Real(cap_of(m))};
  return {false, Real(largest_critical_frequency(skip, m.a * m.tau0, m)), 0};
}

}  // namespace

double largest_critical_frequency(const config::CoreSkip& skip, double a_tau, const Medium& m) {
  switch (skip.mode) {
    case config::CoreSkipMode::none:
      return 0;
    case config::CoreSkipMode::fixed:
      return skip.x_crit;
    case config::CoreSkipMode::local:
    case config::CoreSkipMode::global:
      return a_tau >= 1 ? std::min(0.2 * std::cbrt(a_tau), cap_of(m)) : 0;
  }
  return 0;
}

Setup build_setup(const config::Config& config) {
  Line line = choose_line(config);
  Medium medium = build_medium(config.dataset, line);
  load_cells(medium, config.dataset, line, config.acceleration.core_skip.mode == config::CoreSkipMode::local,
             std::max(1, int(std::thread::hardware_concurrency())));
  Emitter<double> emitter = build_emitter(config.generators, config.seed, medium, line);
  double farthest = 0;  // of all transitions, in thermal widths
  for (const AtomicTransition& t : line.transitions) {
    farthest = std::max(farthest, std::abs(frequency_offset(t, line, medium)));
  }
  if (config.precision == config::Precision::single_ && farthest > 1e5) {
    warning(
        "the lines of {} lie up to {:.1g} thermal widths apart, where single precision resolves {:.1g} of a width: "
        "precision: double does better",
        line.name, farthest, farthest * 0x1p-24);
  }
  const config::Numerics numerics = build_numerics(config.numerics, line, medium);
  return {std::move(line), medium, std::move(emitter), numerics};
}

FrequencyAxis frequency_axis(const Setup& setup, const std::string& reference) {
  const AtomicTransition* found = setup.line.find(reference);
  const AtomicTransition& t = found ? *found : setup.line.first();
  return {setup.medium.thermal_speed, t.wavelength, frequency_offset(t, setup.line, setup.medium)};
}

template <class P, class D>
P build_problem(const config::Config& config, const Setup& setup, const D& dataset) {
  using Real = typename D::Real;
  const Medium& m = setup.medium;
  P problem{};
  problem.dataset = dataset;
  problem.core_skip = build_core_skip<Real>(config.acceleration.core_skip, m);
  if constexpr (P::Interactor::multiplet) {
    constexpr bool pair = std::is_same_v<typename P::Interactor, Multiplet<Real, true>>;
    problem.line = build_multiplet<Real, pair>(setup.line, m, config.physics);
    for (int i = 0; i < problem.line.transitions; ++i) {  // of the opacity of each
      auto& t = problem.line.transition[i];
      const double a_tau = double(t.a) * double(t.strength) * m.tau0;
      t.x_crit = Real(largest_critical_frequency(config.acceleration.core_skip, a_tau, m));
    }
  } else {
    problem.line = build_resonant_line<Real>(setup.line, m, config.physics);
  }
  problem.dust = build_dust<Real>(m);
  if constexpr (std::is_same_v<typename P::Numerics, SelectedNumerics>) problem.numerics.choice = setup.numerics;
  problem.caps = {std::int32_t(config.limits.max_scatterings), std::int32_t(config.limits.max_steps)};
  return problem;
}

Tally build_tally(const config::Config& config, const Setup& setup) {
  return {config.outputs,
          {[&](const std::string& reference) { return frequency_axis(setup, reference); }, setup.medium.size},
          setup.emitter.luminosity(),
          setup.emitter.luminosity_squared(),
          int(setup.emitter.sources.size())};
}

void run_problem(const config::Config& config, const Setup& setup, Pool& pool, const Compute& compute, Control& control,
                 Tally& tally, const Sink& sink) {
  const auto run = [&]<class Real>(Real) {
    const Emitter<Real> emitter = convert<Real>(setup.emitter);
    const auto transport = [&]<class P>(const P& problem) {
      if (compute.device) {
        device::transport(*compute.device, problem, emitter, pool, compute.options, compute.cpu, control, tally, sink);
      } else {
        cpu::transport<P>(problem, emitter, pool, compute.cpu, control, tally, sink);
      }
    };
    const auto any_line = [&]<class D>(const D& dataset) {
      if (setup.numerics != config::Numerics{}) {
        transport(build_problem<SelectedProblem<D>>(config, setup, dataset));
      } else {
        transport(build_problem<MultipletProblem<D>>(config, setup, dataset));
      }
    };
    std::visit(
        [&](const auto& data) {
          const auto dataset = convert<Real>(data);
          using D = std::remove_const_t<decltype(dataset)>;
          const bool selected = setup.numerics != config::Numerics{};
          if (!selected && is_single(setup.line)) {
            return transport(build_problem<LineProblem<D>>(config, setup, dataset));
          }
          if constexpr (std::is_same_v<D, Sphere<Real>> || std::is_same_v<D, Shell<Real>>) {
            if (!selected && is_pair(setup.line, config.physics)) {
              return transport(build_problem<DoubletProblem<D>>(config, setup, dataset));
            }
          }
          if constexpr (std::is_same_v<D, UniformGrid<Real>>) {
            transport(build_problem<MultipletProblem<D>>(config, setup, dataset));
          } else if constexpr (std::is_same_v<D, Sphere<Real>>) {  // the shell's simplest case
            Shell<Real> shell{};
            shell.profile.opacity = dataset.kappa;
            any_line(shell);
          } else {
            any_line(dataset);
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
