#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "thor/gridding/deposit/cell_sums.hpp"
#include "thor/gridding/deposit/deposit.hpp"

/// Alternative to the kernel deposit: a cell takes the densities of the gas element whose centre is nearest to its own,
/// as in a Voronoi tessellation. Sharp, but not conservative.
namespace thor::gridding {

/// A k-d tree of points. Among several at the same distance, the one added first is found.
class Tree {
 public:
  explicit Tree(std::vector<std::array<double, 3>> points, int threads = 1);

  struct Found {
    std::uint32_t point = 0;  ///< index of the point as given
    double distance2 = 1e300;
  };
  /// Nearest point if closer than `known`, otherwise `known`.
  Found nearest(const std::array<double, 3>& place, Found known) const;
  std::size_t size() const { return points_.size(); }

 private:
  void build(std::size_t begin, std::size_t end, int threads);
  void search(std::size_t begin, std::size_t end, const std::array<double, 3>& place, Found& best) const;

  std::vector<std::array<double, 3>> points_;  ///< the median of a range splits it, along axis_ of the median
  std::vector<std::uint32_t> number_;
  std::vector<unsigned char> axis_;
};

/// For each particle: 1 if its centre is in the grid, else 0.
std::vector<double> centres_inside(const Lattice& lattice, const Particles& particles);

/// Keeps all elements until the cells are filled.
class NearestSampler {
 public:
  explicit NearestSampler(int fields) : fields_(std::size_t(fields)) {}
  void add(const Particles& particles);

  template <class T>
  void fill(CellSums<T>& sums, int threads);

  /// Memory for each element [bytes]
  static std::size_t bytes(int fields) { return 9 * sizeof(double) + 16 + std::size_t(fields) * sizeof(float); }

 private:
  std::size_t fields_;
  std::vector<std::array<double, 3>> position_;
  std::vector<float> density_;
};

}  // namespace thor::gridding
