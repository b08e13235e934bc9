#include "thor/line/line.hpp"

#include <algorithm>
#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"

namespace thor {

using namespace constants;

double AtomicTransition::frequency() const { return c / wavelength; }

double AtomicTransition::photon_energy() const { return h * frequency(); }

double AtomicTransition::thermal_speed(double temperature, double b_turb) const {
  return std::sqrt(2 * k_B * temperature / mass + b_turb * b_turb);
}

double AtomicTransition::voigt_parameter(double speed) const { return damping / (4 * pi * frequency()) * c / speed; }

// sigma(x) = sigma_0 H(a, x), sigma_0 = sqrt(pi) e^2 f/(m_e c Delta nu_D) (e.g. Dijkstra 2014, PASA 31, 40)
double AtomicTransition::cross_section(double speed) const {
  return std::sqrt(pi) * e * e * oscillator_strength / (m_e * c * frequency() * speed / c);
}

double AtomicTransition::recoil(double speed) const { return photon_energy() / (mass * c * speed); }

const AtomicTransition* Line::find(const std::string& transition) const {
  const auto found = std::ranges::find(transitions, transition, &AtomicTransition::name);
  return found == transitions.end() ? nullptr : &*found;
}

std::vector<const AtomicTransition*> Line::absorbing() const {
  std::vector<const AtomicTransition*> list;
  for (const auto& t : transitions) {
    if (t.population > 0) list.push_back(&t);
  }
  return list;
}

std::vector<Fluorescence> Line::fluorescence(const AtomicTransition& absorbing) const {
  const auto J = [&](const std::string& level) { return std::ranges::find(levels, level, &Level::name)->J; };
  std::vector<Fluorescence> list;
  for (const auto& t : transitions) {
    if (t.upper != absorbing.upper || t.lower == absorbing.lower || t.ion != absorbing.ion) continue;
    const auto from = J(absorbing.lower), by = J(absorbing.upper), to = J(t.lower);
    list.push_back({&t, from && by && to ? dipole_share(*from, *by, *to) : 0});
  }
  return list;
}

bool Line::set_deuterium(double ratio) {
  bool found = false;
  for (auto& t : transitions) {
    if (t.ion != "D I") continue;
    t.population = ratio;
    found = true;
  }
  return found;
}

namespace {

/// w^(2)(J_u, J_l); its square is E_1, here in terms of the lower level's j.
double orientation(double J_upper, double j) {
  const double step = J_upper - j;
  if (step == 1) return std::sqrt((2 * j + 5) * (j + 2) / (10 * (j + 1) * (2 * j + 1)));
  if (step == 0 && j > 0) return -std::sqrt(std::max(0., (2 * j - 1) * (2 * j + 3) / (10 * j * (j + 1))));
  if (step == -1) return std::sqrt(std::max(0., (2 * j - 3) * (j - 1) / (10 * j * (2 * j + 1))));
  return 0;
}

}  // namespace

double dipole_share(double J_lower, double J_upper, double J_final) {
  return orientation(J_upper, J_lower) * orientation(J_upper, J_final);
}

const Line* find_line(std::span<const Line> list, const std::string& name) {
  const auto found = std::ranges::find(list, name, &Line::name);
  return found == list.end() ? nullptr : &*found;
}

const Line& find_line(const std::string& name) {
  if (const Line* line = find_line(lines(), name)) return *line;
  std::string known;
  for (const Line& line : lines()) known += (known.empty() ? "" : ", ") + line.name;
  throw Error(ExitCode::usage, "unknown line \"" + name + "\"; known lines: " + known);
}

}  // namespace thor
