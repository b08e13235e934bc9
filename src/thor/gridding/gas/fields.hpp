#pragma once
#include <string>
#include <utility>
#include <vector>

#include "thor/core/constants.hpp"

namespace thor::gridding {

inline constexpr double hydrogen_mass = 1.00782503 * constants::m_u;  ///< mass of an atom [g]

/// Fields of every gas element, in cgs: mass, momentum, thermal energy, numbers of atoms, ions and electrons. All are
/// extensive, so they can be summed over elements. The fields of FieldList follow these.
enum Field : int { mass, momentum_x, momentum_y, momentum_z, energy, HI, HII, electrons, fixed_fields };

/// Sums over the atoms of a species, which give a cell the temperature and the velocity that the line sees: N T [K],
/// N v [cm/s].
enum Moment : int { moment_T, moment_vx, moment_vy, moment_vz, moments };

/// The fields of a grid: the fixed ones, then the optional ones; the index of a field that is not used is -1.
struct FieldList {
  int metals = -1;         ///< mass of metals [g]
  int dust = -1;           ///< (N_HI + f_ion N_HII) Z/Z_sun
  int recombination = -1;  ///< luminosities [erg/s]
  int collisional = -1;
  std::vector<std::string> ions, lines;  ///< ions (numbers) and lines (luminosities)
  int first_ion = fixed_fields, first_moment = fixed_fields, first_line = fixed_fields;
  int count = fixed_fields;
  bool mass_weighted = false;  ///< also write temperature and velocity of all gas

  FieldList() : FieldList(false, false) {}
  FieldList(bool with_metals, bool with_emission, std::vector<std::string> with_ions = {},
            std::vector<std::string> with_lines = {})
      : ions(std::move(with_ions)), lines(std::move(with_lines)) {
    if (with_metals) metals = count++, dust = count++;
    if (with_emission) recombination = count++, collisional = count++;
    first_ion = count, count += int(ions.size());
    first_moment = count, count += moments * species();
    first_line = count, count += int(lines.size());
  }

  /// Absorbing species: HI, then the ions.
  int species() const { return 1 + int(ions.size()); }
  std::string species_name(int s) const { return s == 0 ? "HI" : ions[std::size_t(s - 1)]; }
  int number_of(int s) const { return s == 0 ? int(HI) : first_ion + s - 1; }  ///< field with the number of its atoms
  int moment(int s, int m) const { return first_moment + moments * s + m; }

  bool is_luminosity(int field) const {
    return (recombination >= 0 && (field == recombination || field == collisional)) || field >= first_line;
  }
  /// Unit of the sums, per cm^3, chosen to fit the range of single precision, which ends at 1e-38.
  double unit(int field) const {
    if (field == mass || field == metals || (field >= momentum_x && field <= momentum_z)) return hydrogen_mass;
    return is_luminosity(field) ? 1e-20 : 1;
  }
};

}  // namespace thor::gridding
