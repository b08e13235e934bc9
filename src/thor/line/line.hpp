#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace thor {

/// A transition between two levels of an ion (cgs).
struct AtomicTransition {
  std::string name;
  std::string lower, upper;        ///< levels
  double wavelength = 0;           ///< in vacuum, lambda [cm]
  double einstein_A = 0;           ///< A [1/s]
  double oscillator_strength = 0;  ///< of absorption, f
  double branching = 1;            ///< fraction of the decays of the upper level
  std::string ion;                 ///< ion that it belongs to
  double mass = 0;                 ///< mass of that ion [g]
  double population = 1;           ///< ions in the lower level, over all ions of the line; 0: seen only in emission
  double damping = 0;              ///< Gamma: all decays of the upper level [1/s]
  double core = 0;                 ///< E of the phase function for the decay back, see phase_function.hpp
  double wing = 0;                 ///< the same for |x| > 0.2 in the atom's frame

  double frequency() const;                                       ///< nu = c/lambda [Hz]
  double photon_energy() const;                                   ///< h nu [erg]
  double thermal_speed(double temperature, double b_turb) const;  ///< sqrt(2 k T/m + b_turb^2) [cm/s]
  double voigt_parameter(double speed) const;                     ///< a = Gamma/(4 pi nu) c/v
  double cross_section(double speed) const;                       ///< at line centre, sigma_0 [cm^2], H(a,0) = 1
  double recoil(double speed) const;                              ///< h nu/(m c v), in units of x
};

/// A decay of a transition's upper level to another lower level.
struct Fluorescence {
  const AtomicTransition* transition;
  double E;  ///< E of its phase function
};

struct Level {
  std::string name;
  std::optional<double> J;
  double energy = 0;      ///< [1/cm]
  double population = 0;  ///< fraction of the ions
};

/// Limits of the kernel: absorbing transitions of a line, and decays of their upper levels to other levels.
inline constexpr int most_transitions = 8, most_channels = 32;

/// A line: the transitions that absorb together, and those into which they decay. The first is the zero point of
/// frequencies and velocities, and it absorbs.
struct Line {
  std::string name;
  std::string description;
  std::string source;  ///< origin of the numbers
  std::vector<Level> levels;
  std::vector<AtomicTransition> transitions;

  const AtomicTransition& first() const { return transitions.front(); }
  /// Transition of this name; nullptr if there is none.
  const AtomicTransition* find(const std::string& transition) const;
  std::vector<const AtomicTransition*> absorbing() const;
  std::vector<Fluorescence> fluorescence(const AtomicTransition& absorbing) const;
  /// Sets the number of deuterium atoms per hydrogen atom; false if the line has no deuterium transition.
  bool set_deuterium(double ratio);
};

/// Dipole fraction E of the phase function p(mu) = 1/2 (1 + E/2 P_2(mu)) for an absorption J_l -> J_u and a decay J_u
/// -> J_f: the product w(J_u, J_l) w(J_u, J_f) of the alignment factors of both (Hamilton 1947, ApJ 106, 457; Landi
/// Degl'Innocenti & Landolfi 2004, table 10.1). For J_f = J_l it is the E_1 of Chandrasekhar (1960, section 19); in
/// fluorescence it may be negative.
double dipole_share(double J_lower, double J_upper, double J_final);

/// The built-in lines: lines.yaml.
const std::vector<Line>& lines();
/// Text of that file.
const std::string& lines_text();

/// Lines of a file, added to the built-in ones or replacing those of the same name. Throws Error(input) that names
/// file, line and key of every error.
std::vector<Line> read_lines(const std::string& path);
/// The same for text; `name` is the file name in messages. The ions of `known` need not be declared again.
std::vector<Line> parse_lines(const std::string& yaml_text, const std::string& name, const std::vector<Line>& known);

/// Message for a transition that a line does not have.
std::string unknown_transition(const Line& line, const std::string& name);

/// Line of this name, or nullptr.
const Line* find_line(std::span<const Line> list, const std::string& name);
/// The built-in line of this name; throws Error(usage) with the known names.
const Line& find_line(const std::string& name);

}  // namespace thor
