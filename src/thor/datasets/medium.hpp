#pragma once
#include <memory>
#include <variant>

#include "thor/core/error.hpp"
#include "thor/datasets/cells.hpp"
#include "thor/datasets/parameters.hpp"
#include "thor/datasets/shell.hpp"
#include "thor/datasets/slab.hpp"
#include "thor/datasets/sphere.hpp"
#include "thor/line/line.hpp"

namespace thor {

/// The gas of a run: its normalisation in cgs and the dataset that the kernel sees.
struct Medium {
  double size;            ///< outer radius, half-thickness or cell, the unit of length [cm]
  double temperature;     ///< [K]; in a grid that of the unit of velocity
  double b_turb;          ///< [cm/s]
  double thermal_speed;   ///< incl. turbulence, of the first transition: the unit of velocity [cm/s]
  double a;               ///< Voigt parameter of the first transition
  double cross_section;   ///< its sigma_0 [cm^2]
  double tau0;            ///< its line-centre optical depth along a radius; in a grid along z, the mean
  double column_density;  ///< along the same path [cm^-2]
  double number_density;  ///< at the outer edge; in a grid the mean [cm^-3]
  struct {
    double tau, albedo, g;
  } dust;  ///< extinction along the same path, share of scattering, mean cosine
  std::variant<Sphere<double>, Shell<double>, Slab<double>, UniformGrid<double>> dataset;
  GridShape grid;                      ///< of a grid
  std::shared_ptr<const Cells> cells;  ///< what its dataset looks at; none before load_cells()
};

/// Normalises the profiles. What has no finite normalisation or cannot be resolved is refused; the medium is then not
/// to be used. Of a grid only the header is read: nothing can be transported before load_cells().
Medium build_medium(const config::Dataset& dataset, const Line& line, const Refuse& refuse = refuse_at_once);

/// Reads or makes the cells of a grid; does nothing for other datasets. `core_skip`: with lengths for core skipping.
void load_cells(Medium& medium, const config::Dataset& dataset, const Line& line, bool core_skip, int threads);

/// The shell of a medium on a grid of `count` cells along its diameter.
std::shared_ptr<const Cells> realise_shell(const Medium& medium, std::int64_t count, bool core_skip, int threads);

/// The same dataset in another precision.
template <class Real>
Profile<Real> convert(const Profile<double>& p) {
  return {Real(p.opacity),
          Real(p.density_exponent),
          Real(p.speed),
          Real(p.velocity_exponent),
          Real(p.step_limiter),
          p.graded,
          p.moving,
          p.linear};
}
template <class Real>
Sphere<Real> convert(const Sphere<double>& d) {
  return {Real(d.kappa)};
}
template <class Real>
Shell<Real> convert(const Shell<double>& d) {
  return {Real(d.inner), convert<Real>(d.profile), Real(d.thickness)};
}
template <class Real>
Slab<Real> convert(const Slab<double>& d) {
  return {convert<Real>(d.profile)};
}
template <class Real>
UniformGrid<Real> convert(const UniformGrid<double>& d) {
  UniformGrid<Real> r{};
  r.cells = d.cells;
  for (int k = 0; k < 3; ++k) r.shape[k] = d.shape[k], r.tiles[k] = d.tiles[k], r.zero[k] = Real(d.zero[k]);
  r.tile = d.tile, r.stride = d.stride, r.dust = d.dust, r.core_scale = d.core_scale;
  r.packed = d.packed, r.periodic = d.periodic, r.velocity_step = d.velocity_step;
  r.hubble = Real(d.hubble), r.step_scale = Real(d.step_scale), r.stop = Real(d.stop),
  r.stop_flight = Real(d.stop_flight);
  return r;
}

/// Calls f(pointer, count) on every array that a dataset points to: a device has its own copies.
template <class D, class F>
void for_each_array(D&, F) {}
template <class Real, class F>
void for_each_array(UniformGrid<Real>& grid, F f) {
  const std::size_t tiles = std::size_t(grid.tiles[0]) * std::size_t(grid.tiles[1]) * std::size_t(grid.tiles[2]);
  f(grid.cells, (tiles << (3 * grid.tile)) * std::size_t(grid.stride));
}

}  // namespace thor
