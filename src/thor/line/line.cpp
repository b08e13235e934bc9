#include "thor/line/line.hpp"

#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"

namespace thor {

using namespace constants;

double Line::frequency() const { return c / wavelength; }

double Line::photon_energy() const { return h * frequency(); }

double Line::thermal_speed(double temperature, double b_turb) const {
  return std::sqrt(2 * k_B * temperature / mass + b_turb * b_turb);
}

double Line::voigt_parameter(double speed) const { return einstein_A / (4 * pi * frequency()) * c / speed; }

// sigma(x) = sigma_0 H(a, x), sigma_0 = sqrt(pi) e^2 f/(m_e c Delta nu_D) (e.g. Dijkstra 2014, PASA 31, 40)
double Line::cross_section(double speed) const {
  return std::sqrt(pi) * e * e * oscillator_strength / (m_e * c * frequency() * speed / c);
}

double Line::recoil(double speed) const { return photon_energy() / (mass * c * speed); }

std::span<const Line> lines() {
  // H I Lya, the 2p doublet taken together: NIST ASD (Wiese & Fuhr 2009, JPCRD 38, 565): 1215.6701 A, f = 0.41641,
  // A = 6.2649e8; mass of 1H: 1.00782503 u (AME 2016).
  static const Line list[] = {
      {"Lya", "H I Lyman alpha, 1s-2p", 1215.6701 * angstrom, 0.41641, 6.2649e8, 1.00782503 * m_u},
  };
  return list;
}

const Line& find_line(const std::string& name) {
  std::string known;
  for (const Line& line : lines()) {
    if (line.name == name) return line;
    known += (known.empty() ? "" : ", ") + line.name;
  }
  throw Error(ExitCode::usage, "line \"" + name + "\" is not known; known lines: " + known);
}

}  // namespace thor
