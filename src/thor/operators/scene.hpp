#pragma once
#include "thor/datasets/fields.hpp"
#include "thor/datasets/uniform_grid.hpp"

/// What rays go through, as the kernels see it: plain data, copied to a device as it is.
namespace thor {

/// Cells of a grid that single precision has integers for; larger grids are traced in double precision.
inline constexpr std::size_t most_single_cells = std::size_t(1) << 31;

/// Arrays of numbers that the operators of a run read along their rays.
inline constexpr int most_fields = 16;

/// What an operator reads: the product of a field and the velocity along the ray, each if there is one.
struct FieldProduct {
  int field = -1;     ///< -1: 1
  int velocity = -1;  ///< the first of three fields, the components; -1: none
};

/// A field of a model: offset + scale (n sigma_0)^power, or offset + scale ln(n sigma_0).
template <class Real>
struct ModelField {
  Real scale;
  int power;
  Real offset;
  bool logarithmic;
};

/// A dataset whose gas is given by formulas; else it is in cells.
template <class D>
concept IsModel = requires(const D& dataset) {
  shape_of_model(dataset);
};

/// Whether a dataset has a walk of its own, and lattices of rays in step with its cells.
template <class D>
inline constexpr bool is_lattice = false;
template <class R>
inline constexpr bool is_lattice<UniformGrid<R>> = true;

/// Cells, whose fields are arrays with one number for each, in the order in which `dataset` has them. Each is in a unit
/// of its own, a power of two. Lengths are in units of the dataset.
template <class D>
struct Scene {
  using Dataset = D;
  using Real = typename D::Real;
  Dataset dataset;  ///< without gas; of a part of a grid, its own cells
  double zero[3];   ///< where the origin of the coordinates lies, from the corner of the whole mesh
  int first[3];     ///< of a grid: the cell of the whole that is the first one here
  Array<float> fields[most_fields];
};

/// A model. Lengths are in units of its size.
template <IsModel D>
struct Scene<D> {
  using Dataset = D;
  using Real = typename D::Real;
  D dataset;
  ModelField<Real> fields[most_fields];
  Real speed;  ///< unit of velocity of the dataset, in that of the operators
};

/// A straight ray in units of the dataset: the points position + t direction with t between `from` and `to`, where
/// `direction` has unit length.
struct StraightRay {
  double position[3], direction[3];
  double from, to;
};

}  // namespace thor
