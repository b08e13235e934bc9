#pragma once
#include <string>
#include <vector>

#include "thor/gridding/cell_sums.hpp"
#include "thor/gridding/fields.hpp"

/// From sums of extensive quantities to what a grid file holds.
namespace thor::gridding {

inline constexpr double empty_temperature = 1e4;  ///< of cells without gas [K]; their density and velocity are 0

struct CellArray {
  std::string name, units, description;
};

/// The arrays of a grid with these fields: as many, and in an order in which finish() makes them.
std::vector<CellArray> cell_arrays(const FieldList& fields);

/// Sum over all cells of each field, in cgs.
template <class T>
std::vector<double> sum_cells(const CellSums<T>& sums, const FieldList& fields, int threads);

/// The arrays of one cell, from its sums:
///   rho = M/V, v = P/M, n = N/V, T = (gamma - 1) E/(k_B N_all), Z = M_Z/M,
/// with the number of all particles N_all = (M + 3 m_H N_H)/(4 m_H) + N_e. Thermal energy, and for gas of one
/// temperature that temperature, are conserved.
void cell_values(const double* sums, const FieldList& fields, double solar_metallicity, float* values);

/// Makes arrays of the sums, in their place: of each row of cells along z one array after the other. Comes back with
/// the number of empty cells.
template <class T>
std::uint64_t finish(CellSums<T>& sums, const FieldList& fields, double solar_metallicity, int threads);

/// One array of a finished grid, into memory for all its cells.
template <class T>
void copy_array(const CellSums<T>& sums, int array, float* out, int threads);

}  // namespace thor::gridding
