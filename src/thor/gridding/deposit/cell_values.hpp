#pragma once
#include <string>
#include <utility>
#include <vector>

#include "thor/gridding/deposit/cell_sums.hpp"
#include "thor/gridding/gas/fields.hpp"

/// Converts sums of extensive quantities to the arrays of a grid file.
namespace thor::gridding {

inline constexpr double empty_temperature =
    1e4;  ///< temperature of cells without gas [K]; their density and velocity are 0

struct CellArray {
  std::string name, units, description;
  int field = 0;  ///< index of the field that finish() fills
};

/// The arrays written for a grid with these fields. Temperature and velocity are those of each species; those of all
/// gas are written only on request.
std::vector<CellArray> cell_arrays(const FieldList& fields);

/// The sum of each field over the cells of each layer.
template <class T>
std::vector<double> sum_layers(const CellSums<T>& sums, int threads);

/// Adds them, layer by layer, so that the total does not depend on how the grid is cut into slabs.
void add_layers(const std::vector<double>& layers, std::vector<double>& total);

/// A total of all layers in cgs.
std::vector<double> in_cgs(std::vector<double> total, const FieldList& fields, const Lattice& lattice);

/// Sum of each field over all cells, in cgs.
template <class T>
std::vector<double> sum_cells(const CellSums<T>& sums, const FieldList& fields, int threads) {
  std::vector<double> total(std::size_t(fields.count), 0.);
  add_layers(sum_layers(sums, threads), total);
  return in_cgs(std::move(total), fields, sums.lattice());
}

/// Values of every field in one cell, from its sums:
///   rho = M/V, v = P/M, n = N/V, T = (gamma - 1) E/(k_B N_all), Z = M_Z/M,
/// with the number of all particles N_all = (M + 3 m_H N_H)/(4 m_H) + N_e. Thermal energy, and for gas of one
/// temperature that temperature, are conserved. A species has T = sum N T/N and v = sum N v/N, or
/// those of all gas in a cell without it.
void cell_values(const double* sums, const FieldList& fields, double solar_metallicity, float* values);

/// Replaces the sums by values, which are stored one field after the other in each row of cells along z. Returns the
/// number of empty cells.
template <class T>
std::uint64_t finish(CellSums<T>& sums, const FieldList& fields, double solar_metallicity, int threads);

/// Copies one field of finished cells.
template <class T>
void copy_array(const CellSums<T>& sums, int field, float* out, int threads);

}  // namespace thor::gridding
