#include "thor/drivers/mcrt/kernels.hpp"

#include <algorithm>
#include <type_traits>

#include "thor/drivers/mcrt/jumps.hpp"
#include "thor/interactors/build.hpp"

namespace thor {
namespace {

template <class Real>
CoreSkip<Real> build_core_skip(const config::CoreSkip& skip, const Medium& m) {
  if (skip.mode == config::CoreSkipMode::local) return {true, 0, Real(largest_x_crit(m))};
  return {false, Real(largest_critical_frequency(skip, m.a * m.tau0, m)), 0};
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
    for (int i = 0; i < problem.line.transitions; ++i) {  // each by its own opacity
      auto& t = problem.line.transition[i];
      const double a_tau = double(t.a) * double(t.strength) * m.tau0;
      t.x_crit = Real(largest_critical_frequency(config.acceleration.core_skip, a_tau, m));
      const JumpClearance clear = jump_clearance(setup.line, m, i);
      t.clearance = Real(clear.distance);
      t.isotope = Real(clear.isotope), t.isotope_share = Real(clear.isotope_share);
    }
  } else {
    problem.line = build_resonant_line<Real>(setup.line, m, config.physics);
  }
  if (setup.jumps) problem.jumps = build_jumps<Real>(config, *setup.jumps);
  problem.dust = build_dust<Real>(m);
  if constexpr (std::is_same_v<typename P::Numerics, SelectedNumerics>) problem.numerics.choice = setup.numerics;
  problem.limits = {std::int32_t(config.limits.max_scatterings), std::int32_t(config.limits.max_steps)};
  return problem;
}

}  // namespace

template <class Real>
AnyProblem<Real> choose_problem(const config::Config& config, const Setup& setup, const AnyDataset& gas) {
  const bool selected = setup.numerics != config::Numerics{};
  const auto build = [&]<class P>(std::type_identity<P>, const auto& dataset) {
    return AnyProblem<Real>(build_problem<P>(config, setup, dataset));
  };
  return std::visit(
      [&]<template <class> class D>(const D<double>& data) {
        const D<Real> dataset = convert<Real>(data);
        if constexpr (has_kernel<SelectedProblem<D<Real>>>) {
          if (selected) return build(std::type_identity<SelectedProblem<D<Real>>>(), dataset);
        }
        if (!selected && is_single(setup.line)) return build(std::type_identity<LineProblem<D<Real>>>(), dataset);
        if constexpr (has_kernel<DoubletProblem<D<Real>>>) {
          if (!selected && is_pair(setup.line, config.physics)) {
            return build(std::type_identity<DoubletProblem<D<Real>>>(), dataset);
          }
        }
        if constexpr (has_kernel<MultipletProblem<D<Real>>>) {
          return build(std::type_identity<MultipletProblem<D<Real>>>(), dataset);
        } else {  // a special case has a general one
          const auto as_general = general(dataset);
          using G = std::remove_const_t<decltype(as_general)>;
          if (selected) return build(std::type_identity<SelectedProblem<G>>(), as_general);
          return build(std::type_identity<MultipletProblem<G>>(), as_general);
        }
      },
      gas);
}

Observers build_observers(const config::Config& config, const MediumOutline& medium) {
  Observers observers;
  observers.rules = {config.peel.cut, config.peel.roulette, 0, int(config.peel.thin_after), int(config.peel.thin)};
  if (config.peel.depth) observers.rules.depth = *config.peel.depth * std::ranges::max(medium.mesh->sides());
  if (const auto& fuse = config.peel.fuse) {
    observers.fuse = {fuse->velocity / medium.thermal_speed, fuse->distance / medium.size};
  }
  observers.memory = config.peel.memory;
  for (const auto& observer : config.observers) {
    if (!config.sends_rays_to(observer.name)) break;  // nor to those that follow
    if (config.peeled && config.peeled->observer == observer.name) observers.recorded = int(observers.towards.size());
    const SkyFrame sky = sky_of(config.observers, observer.name, 1);
    observers.towards.push_back({sky.towards[0], sky.towards[1], sky.towards[2]});
  }
  return observers;
}

template <class Real>
KernelsOf<Real>::KernelsOf(const config::Config& config, const Setup& setup) : emitter(convert<Real>(setup.emitter)) {
  if (!setup.medium.divided) problem.emplace(choose_problem<Real>(config, setup, setup.medium.dataset));
}

Kernels::Kernels(const config::Config& c, const Setup& s, const Compute& hardware)
    : config(c),
      setup(s),
      compute(hardware),
      observers_(build_observers(c, s.medium)),
      of_(c.precision == config::Precision::single_ ? decltype(of_)(std::in_place_type<KernelsOf<float>>, c, s)
                                                    : decltype(of_)(std::in_place_type<KernelsOf<double>>, c, s)) {}

void Kernels::run(const Batch& batch) const {
  const auto run = [&]<class Real>(const KernelsOf<Real>& of) {
    const Setting<Real> setting{*of.problem, of.emitter, observers_};
    if (compute.device) {
      if (!of.session) of.session.emplace(*compute.device, setting);
      device::transport(*of.session, batch, compute.options, compute.cpu);
    } else {
      cpu::transport(setting, batch, compute.cpu);
    }
  };
  std::visit(run, of_);
}

BorderTimes Kernels::run(comm::Dealer& dealer, const DomainOptions& domains, const Batch& batch) const {
  const auto run = [&]<class Real>(const KernelsOf<Real>& of) {
    const auto build = [&](const AnyDataset& gas) { return choose_problem<Real>(config, setup, gas); };
    const int workers = compute.device ? 1 : compute.cpu.threads;
    Border<Real> border(world_of(domains), dealer, setup.medium, of.emitter, build, batch.pool, domains.border, workers,
                        compute.cpu.isa);
    const Setting<Real> setting{border.whole(), of.emitter, observers_};
    if (compute.device) {
      if (!of.parts) of.parts.emplace(*compute.device);
      device::transport(*of.parts, setting, border, batch, compute.options, compute.cpu);
    } else {
      cpu::transport(setting, border, batch, compute.cpu, cpu::mover<Real>(setting.problem.kind(), compute.cpu));
    }
    return border.times();
  };
  return std::visit(run, of_);
}

void run_problem(const config::Config& config, const Setup& setup, Pool& pool, const Compute& compute, Control& control,
                 Tally& tally, const Sink& sink) {
  Kernels(config, setup, compute).run({pool, control, tally, sink});
}

template AnyProblem<float> choose_problem(const config::Config&, const Setup&, const AnyDataset&);
template AnyProblem<double> choose_problem(const config::Config&, const Setup&, const AnyDataset&);

}  // namespace thor
