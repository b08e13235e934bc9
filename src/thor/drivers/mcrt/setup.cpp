#include "thor/drivers/mcrt/setup.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "thor/core/message.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/drivers/mcrt/jumps.hpp"
#include "thor/generators/light_map.hpp"
#include "thor/interactors/build.hpp"
#include "thor/parallel/device/parts.hpp"

namespace thor {
namespace {

/// Largest x_crit with dust: absorption on the hidden path is added only on average (hidden_path in
/// interactors/core_skip.hpp), which is accurate up to this value.
double cap_of(const Medium& m) { return m.dust.tau > 0 ? 2 : 1e10; }

template <class Real>
CoreSkip<Real> build_core_skip(const config::CoreSkip& skip, const Medium& m) {
  if (skip.mode == config::CoreSkipMode::local) return {true, 0, Real(cap_of(m))};
  return {false, Real(largest_critical_frequency(skip, m.a * m.tau0, m)), 0};
}

/// The sides of a periodic box [cm]; 0 for other gas.
std::array<double, 3> periodic_sides(const MediumOutline& m) {
  if (!m.mesh || !m.mesh->periodic()) return {};
  auto sides = m.mesh->sides();
  for (double& side : sides) side *= m.size;
  return sides;
}

/// Refuses what domains cannot do.
void require_parts(const config::Config& config, const char* option) {
  if (!dataset_type(config.dataset.type).in_parts) {
    throw Error(ExitCode::usage, fmt::format("{}: a {} has no grid file and cannot be divided; leave the option out",
                                             option, config.dataset.type));
  }
}

}  // namespace

const comm::World& world_of(const DomainOptions& domains) {
  static const comm::World alone{comm::World::Alone{}};
  return domains.world ? *domains.world : alone;
}

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
  MediumOutline medium = outline_medium(config.dataset, line);
  return build_setup(config, {std::move(line), medium}, available_threads());
}

Setup build_setup(const config::Config& config, Outline outline, int threads, const DomainOptions& domains) {
  Line& line = outline.line;
  const bool core_skip = config.acceleration.core_skip.mode == config::CoreSkipMode::local;
  CellOptions cells{core_skip, threads, &world_of(domains)};
  cells.join = config.acceleration.jumps;
  cells.dust_depth = config.peel.depth.value_or(1);
  const Refuse refuse = [&](const std::string& key, const std::string& why) {
    throw Error(ExitCode::usage, config.path + ": " + key + ": " + why);
  };
  const auto build_light = [&](const Medium& gas) {
    return build_emitter(config.generators, config.seed, gas, line, refuse);
  };
  Emitter<double> emitter{};
  if (domains.by_light) require_parts(config, "--by-light");
  if (domains.count > 1) {
    require_parts(config, "--domains");
    const GridShape& grid = outline.medium.grid;
    Medium gas{outline.medium, nullptr, {}, nullptr};
    gas.dropped = find_dropped(gas, config.dataset, line, world_of(domains), threads);
    emitter = build_light(gas);
    Domains::Work work;
    if (domains.by_light) {
      // Half of the work is thought to be where photons begin, and half to be everywhere.
      work = [light = LightMap(emitter, grid.count), all = double(grid.cells())](const CellBox& box) {
        return light(box) + double(box.cells()) / all;
      };
    }
    // Lengths of core skipping and jumps compare cells with their neighbours.
    const bool compares = config.acceleration.core_skip.mode != config::CoreSkipMode::none || cells.join;
    const std::int64_t margin = std::max<std::int64_t>(domains.margin, compares ? 1 : 0);
    cells.domains = std::make_shared<const Domains>(grid.count, grid.periodic, domains.count, margin, work);
  }
  Medium medium = build_medium(outline.medium, config.dataset, line, cells);
  if (domains.count == 1) emitter = build_light(medium);
  double farthest = 0;  // offset of a transition from the first, in thermal widths
  for (const AtomicTransition& t : line.transitions) {
    farthest = std::max(farthest, std::abs(frequency_offset(t, line, medium)));
  }
  if (config.precision == config::Precision::single_ && farthest > 1e5) {
    warning(
        "line {}: its transitions are up to {:.1g} thermal widths apart, where single precision resolves {:.1g} of a "
        "width. Set precision: double.",
        line.name, farthest, farthest * 0x1p-24);
  }
  const config::Numerics numerics = build_numerics(config.numerics, line, medium, refuse);
  warn_of_cold_cells(line, medium);
  auto jumps = build_jump_tables(config, line, medium, threads);
  return {std::move(line), std::move(medium), std::move(emitter), numerics, std::move(jumps)};
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

Tally build_tally(const config::Config& config, const Setup& setup) {
  return build_tally(config, setup, setup.emitter.luminosity(), setup.emitter.luminosity_squared());
}

OutputContext output_context(const config::Config& config, const Setup& setup) {
  std::vector<std::string> names;
  for (const config::Generator& generator : config.generators) names.push_back(generator.name);
  const double g = std::abs(setup.medium.dust.g);
  double peak = (1 + g) / ((1 - g) * (1 - g));  // Henyey and Greenstein's function for mu = 1; atoms have at most 3/2
  for (const Source<double>& s : setup.emitter.sources) {
    if (s.cone > 0) peak = std::max(peak, 1 / s.cone);
  }
  return {[&](const std::string& reference) { return frequency_axis(setup, reference); },
          setup.medium.size,
          config.observers,
          config.seed,
          distances_of_outputs(config.sky),
          setup.medium.hubble,
          periodic_sides(setup.medium),
          peak,
          std::move(names)};
}

Tally build_tally(const config::Config& config, const Setup& setup, double luminosity, double luminosity_squared) {
  return {config.outputs, output_context(config, setup), luminosity, luminosity_squared,
          int(setup.emitter.sources.size())};
}

template <class Real>
AnyProblem<Real> choose_problem(const config::Config& config, const Setup& setup) {
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
      setup.medium.dataset);
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

void run_problem(const config::Config& config, const Setup& setup, Pool& pool, const Compute& compute, Control& control,
                 Tally& tally, const Sink& sink) {
  const auto run = [&]<class Real>(Real) {
    const Emitter<Real> emitter = convert<Real>(setup.emitter);
    const AnyProblem<Real> problem = choose_problem<Real>(config, setup);
    const Observers observers = build_observers(config, setup.medium);
    if (compute.device) {
      device::transport(*compute.device, problem, emitter, pool, compute.options, compute.cpu, control, tally, sink,
                        observers);
    } else {
      cpu::transport(problem, emitter, pool, compute.cpu, control, tally, sink, {}, observers);
    }
  };
  if (config.precision == config::Precision::single_)
    run(0.f);
  else
    run(0.);
}

BorderTimes run_on_domains(const config::Config& config, const Setup& setup, comm::Dealer& dealer,
                           const DomainOptions& domains, Pool& pool, const Compute& compute, Control& control,
                           Tally& tally, const Sink& sink) {
  const auto run = [&]<class Real>(Real) {
    const Emitter<Real> emitter = convert<Real>(setup.emitter);
    const Observers observers = build_observers(config, setup.medium);
    const auto build = [&](const GridPart& part) {
      Setup local = setup;
      local.medium.dataset = part.dataset;
      return choose_problem<Real>(config, local);
    };
    const int workers = compute.device ? 1 : compute.cpu.threads;
    Border<Real> border(world_of(domains), dealer, setup.medium, emitter, build, pool, domains.border, workers,
                        compute.cpu.isa);
    if (compute.device) {
      device::transport(*compute.device, border, emitter, pool, compute.options, compute.cpu, control, tally, sink);
    } else {
      cpu::transport(border, emitter, pool, compute.cpu, control, tally, sink, observers);
    }
    return border.times();
  };
  return config.precision == config::Precision::single_ ? run(0.f) : run(0.);
}

template AnyProblem<float> choose_problem(const config::Config&, const Setup&);
template AnyProblem<double> choose_problem(const config::Config&, const Setup&);

}  // namespace thor
