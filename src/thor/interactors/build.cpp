#include "thor/interactors/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/core/message.hpp"
#include "thor/line/voigt.hpp"

namespace thor {
namespace {

/// The dipole share E that a run uses for one of the line list.
double chosen_share(config::PhaseFunction phase, double share) {
  switch (phase) {
    case config::PhaseFunction::default_:
      return share;
    case config::PhaseFunction::isotropic:
      return 0;
    case config::PhaseFunction::dipole:
      return 1;
  }
  return share;
}

double log_envelope(double a) {
  const double reach = ParallelVelocity<double>::log_reach;
  return std::log1p(reach * reach / (a * a));
}

}  // namespace

bool is_single(const Line& line) {
  const auto absorbing = line.absorbing();
  return absorbing.size() == 1 && line.fluorescence(*absorbing[0]).empty();
}

bool is_pair(const Line& line, const config::Physics& physics) {
  const auto absorbing = line.absorbing();
  if (absorbing.size() != 2 || absorbing[0]->ion != absorbing[1]->ion || physics.recoil) return false;
  return std::ranges::all_of(
      absorbing, [&](const AtomicTransition* t) { return t->core == t->wing && line.fluorescence(*t).empty(); });
}

double frequency_offset(const AtomicTransition& transition, const Line& line, const MediumOutline& medium) {
  return constants::c * std::log(line.first().wavelength / transition.wavelength) / medium.thermal_speed;
}

template <class Real>
ResonantLine<Real> build_resonant_line(const Line& line, const Medium& m, const config::Physics& physics) {
  const AtomicTransition& t = line.first();
  ResonantLine<Real> r{};
  r.a = Real(m.a);
  r.inv_a = Real(1 / m.a);
  r.log_envelope = Real(log_envelope(m.a));
  r.recoil = Real(physics.recoil ? t.recoil(m.thermal_speed) : 0);
  r.core = dipole_mixture<Real>(chosen_share(physics.phase_function, t.core) / 4);
  r.wing = dipole_mixture<Real>(chosen_share(physics.phase_function, t.wing) / 4);
  return r;
}

template <class Real, bool Pair>
Multiplet<Real, Pair> build_multiplet(const Line& line, const Medium& m, const config::Physics& physics) {
  Multiplet<Real, Pair> r{};
  for (const AtomicTransition* t : line.absorbing()) {
    const double speed = t->thermal_speed(m.temperature, m.b_turb), a = t->voigt_parameter(speed);
    Transition<Real>& k = r.transition[r.transitions];
    k.offset = Real(frequency_offset(*t, line, m));
    k.width = Real(speed / m.thermal_speed);
    k.inverse_width = Real(m.thermal_speed / speed);
    k.strength = Real(t->population * t->cross_section(speed) / m.cross_section);
    k.a = Real(a);
    k.inv_a = Real(1 / a);
    k.log_envelope = Real(log_envelope(a));
    k.recoil = Real(physics.recoil ? t->recoil(speed) : 0);
    k.core = dipole_mixture<Real>(chosen_share(physics.phase_function, t->core) / 4);
    k.wing = dipole_mixture<Real>(chosen_share(physics.phase_function, t->wing) / 4);
    r.isotopes = r.isotopes || t->ion != line.first().ion;
    r.recoils = physics.recoil;
    r.core_wing = r.core_wing || k.core.quarter_E != k.wing.quarter_E;
    double from = 0;  // what no channel takes goes back
    for (const Fluorescence& f : line.fluorescence(*t)) {
      Channel<Real>& c = r.channel[r.channels++];
      c.transition = r.transitions;
      c.from = Real(from);
      from += f.transition->branching;
      c.to = Real(from);
      c.shift = Real(frequency_offset(*f.transition, line, m) - frequency_offset(*t, line, m));
      c.stretch = Real(f.transition->wavelength / t->wavelength);
      c.phase = dipole_mixture<Real>(chosen_share(physics.phase_function, f.E) / 4);
    }
    ++r.transitions;
  }
  return r;
}

namespace {

/// The largest relative error of a scheme at a Voigt parameter: docs/contributing/critical-functions.md.
double voigt_error(config::VoigtScheme scheme, double a) {
  switch (scheme) {
    case config::VoigtScheme::default_:
    case config::VoigtScheme::thor:
      return a <= VoigtThor::largest_a ? 2.2e-5 : 0.15 * std::pow(a, 4);
    case config::VoigtScheme::s15:
      return 1e-4 + 4 * a * a;
    case config::VoigtScheme::t06:
      return 1.2e-2 + 1.1 * a;
    case config::VoigtScheme::h82:
    case config::VoigtScheme::s18:
      return 4e-4;
  }
  return 0;
}

/// The largest Voigt parameter of a line at the temperature of the medium.
double largest_a(const Line& line, const MediumOutline& m) {
  double a = 0;
  for (const AtomicTransition* t : line.absorbing()) {
    a = std::max(a, t->voigt_parameter(t->thermal_speed(m.temperature, m.b_turb)));
  }
  return a;
}

}  // namespace

void warn_of_cold_cells(const Line& line, const Medium& m) {
  if (!m.cells) return;
  const double a = largest_a(line, m) * m.statistics.largest_a / m.a;
  const double error = 8.4e-5 * std::pow(std::max(a / Voigt::largest_a, 1.), 4);
  if (error > 1e-3) {
    warning("line profile: errors of up to {1:.1g} % in the coldest cells, with a Voigt parameter of {0:.2g}", a,
            100 * error);
  }
}

config::Numerics build_numerics(const config::Numerics& numerics, const Line& line, const MediumOutline& m,
                                const Refuse& refuse) {
  if (m.mesh) {
    if (numerics != config::Numerics{}) refuse("numerics", "not possible in a uniform_grid: leave the section out");
    return config::Numerics{};
  }
  const double a = largest_a(line, m);
  config::Numerics chosen = numerics;
  if (chosen.voigt == config::VoigtScheme::default_ && a > Voigt::largest_a) {
    chosen.voigt = a > VoigtThor::largest_a ? config::VoigtScheme::s18 : config::VoigtScheme::thor;
  }
  const double error = voigt_error(chosen.voigt, a);
  if (a > 1) {
    refuse(
        "dataset.temperature",
        fmt::format("the Voigt parameter is a = {:.3g}; expected at most 1: raise the temperature, or set b_turb", a));
  } else if (error > 0.04) {
    refuse("numerics.voigt",
           fmt::format("the Voigt parameter is a = {:.3g}, where this profile has errors of {:.0f} %: use S18 or H82",
                       a, 100 * error));
  } else if (error > 1e-3) {
    warning("line profile: errors of up to {1:.1g} % at the Voigt parameter a = {0:.2g}. Use another numerics.voigt.",
            a, 100 * error);
  }
  return chosen;
}

template ResonantLine<float> build_resonant_line(const Line&, const Medium&, const config::Physics&);
template ResonantLine<double> build_resonant_line(const Line&, const Medium&, const config::Physics&);
template Multiplet<float, true> build_multiplet(const Line&, const Medium&, const config::Physics&);
template Multiplet<float, false> build_multiplet(const Line&, const Medium&, const config::Physics&);
template Multiplet<double, true> build_multiplet(const Line&, const Medium&, const config::Physics&);
template Multiplet<double, false> build_multiplet(const Line&, const Medium&, const config::Physics&);

}  // namespace thor
