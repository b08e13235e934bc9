#pragma once
#include <optional>
#include <vector>

#include "thor/gridding/deposit/cell_sums.hpp"
#include "thor/gridding/deposit/deposit.hpp"
#include "thor/math/kd_tree.hpp"

/// The method `nearest`: a cell takes the densities of the gas element whose centre is nearest to its own, as in a
/// Voronoi tessellation. It keeps edges sharp but does not conserve mass.
namespace thor::gridding {

/// For each particle, 1 if its centre is inside the grid and 0 otherwise.
std::vector<double> centres_inside(const Lattice& lattice, const Particles& particles);

/// Keeps all elements, from which any number of slabs is filled.
class NearestSampler {
 public:
  explicit NearestSampler(int fields) : fields_(std::size_t(fields)) {}
  void add(const Particles& particles);

  /// Fills the cells; elements that are added after the first time are not seen.
  template <class T>
  void fill(CellSums<T>& sums, int threads);

  /// Memory per element [bytes].
  static std::size_t bytes(int fields) { return 9 * sizeof(double) + 16 + std::size_t(fields) * sizeof(float); }

 private:
  void plant(const Lattice& lattice, int threads);

  std::size_t fields_;
  std::vector<Vector> position_;
  std::optional<KdTree> tree_;
  std::vector<float> density_;
};

}  // namespace thor::gridding
