#include "thor/mock/volumes.hpp"

#include "thor/core/parallel_for.hpp"
#include "thor/math/kd_tree.hpp"

namespace thor::mock {

std::vector<double> volumes(std::span<const Vector> points, double box, int k, int threads) {
  const KdTree tree({points.begin(), points.end()}, threads, {box, box, box});
  std::vector<double> result(points.size());
  parallel_for(threads, points.size(), 1024, [&](std::size_t begin, std::size_t end) {
    std::vector<double> scratch;
    for (std::size_t i = begin; i < end; ++i) {
      const double r2 = tree.kth_distance2(tree.points()[i], std::size_t(k) + 1, scratch);  // the first is the point
      result[tree.indices()[i]] = 4 * constants::pi / 3 * std::pow(r2, 1.5) / k;
    }
  });
  return result;
}

}  // namespace thor::mock
