#pragma once
#include <string>
#include <vector>

#include "thor/gridding/deposit/cell_sums.hpp"
#include "thor/gridding/gas/fields.hpp"

/// From sums of extensive quantities to what a grid file holds.
namespace thor::gridding {

inline constexpr double empty_temperature = 1e4;  ///< of cells without gas [K]; their density and velocity are 0

struct CellArray {
  std::string name, units, description;
  int field = 0;  ///< where finish() puts it
};

/// The arrays of a grid with these fields that are written. Temperature and velocity are those of each species; those
/// of all gas only where they are asked for.
std::vector<CellArray> cell_arrays(const FieldList& fields);

/// Sum over all cells of each field, in cgs.
template <class T>
std::vector<double> sum_cells(const CellSums<T>& sums, const FieldList& fields, int threads);

/// The values of one cell, of every field, from its sums:
///   rho = M/V, v = P/M, n = N/V, T = (gamma - 1) E/(k_B N_all), Z = M_Z/M,
/// with the number of all particles N_all = (M + 3 m_H N_H)/(4 m_H) + N_e. Thermal energy, and for gas of one
/// temperature that temperature, are conserved. Of each species T = sum N T/N and v = sum N v/N, and where there is
/// none of it those of all gas.
void cell_values(const double* sums, const FieldList& fields, double solar_metallicity, float* values);

/// Makes values of the sums, in their place: of each row of cells along z one field after the other. Comes back with
/// the number of empty cells.
template <class T>
std::uint64_t finish(CellSums<T>& sums, const FieldList& fields, double solar_metallicity, int threads);

/// One field of a finished grid, into memory for all its cells.
template <class T>
void copy_array(const CellSums<T>& sums, int field, float* out, int threads);

}  // namespace thor::gridding
