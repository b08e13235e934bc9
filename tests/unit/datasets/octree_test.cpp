// Rays through octrees, against the sums over all leaves that they meet. Photons: tests/e2e/test_octree.py.
#include "thor/datasets/octree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "support/run.hpp"
#include "thor/core/error.hpp"
#include "thor/datasets/octree_tree.hpp"
#include "thor/interactors/build.hpp"
#include "thor/transport/history.hpp"
#include "thor/transport/march.hpp"
#include "thor/transport/step.hpp"

namespace thor {
namespace {

static_assert(MeshFor<OctreeView<double>, double, Lane<double, OctreePlace<double, std::int64_t>>>);

/// Leaves of several levels, of which a random share is split.
std::vector<OctreeLeaf> random_leaves(std::mt19937& random, int depth) {
  std::vector<OctreeLeaf> todo{{0, {0, 0, 0}}}, leaves;
  while (!todo.empty()) {
    const OctreeLeaf leaf = todo.back();
    todo.pop_back();
    if (leaf.level == depth || (leaf.level > 0 && random() % 10 < (depth < 8 ? 5 : 8))) {
      leaves.push_back(leaf);
      continue;
    }
    for (int k = 0; k < 8; ++k) {
      todo.push_back(
          {leaf.level + 1, {2 * leaf.at[0] + (k >> 2 & 1), 2 * leaf.at[1] + (k >> 1 & 1), 2 * leaf.at[2] + (k & 1)}});
    }
  }
  std::ranges::shuffle(leaves, random);
  return leaves;
}

/// An octree with random opacities, of hydrogen at 1e4 K and at rest.
template <class Real>
struct Clouds {
  OctreeTree tree;
  std::vector<float> numbers;
  LineProblem<Octree<Real>> problem{};

  Clouds(std::mt19937& random, int depth) : tree("test", random_leaves(random, depth)) {
    const auto config = config::parse(
        "line: Lya\ndataset: {type: slab, half_thickness: 1 kpc, temperature: 1e4 K, tau0: 1}\n"
        "generators: [{type: point, photons: 1}]\noutput: {path: x.h5}\n",
        "test");
    const auto setup = build_setup(config);
    numbers.resize(5 * std::size_t(tree.leaves()) + 3);
    for (std::int64_t i = 0; i < tree.leaves(); ++i) {
      numbers[5 * std::size_t(i)] = std::exp2f(float(random() % 8) - 8), numbers[5 * std::size_t(i) + 1] = 1;
    }
    problem.dataset = convert<Real>(tree.view());
    problem.dataset.gas = {{numbers.data(), numbers.size()}, 5, 0, 0, false, 1};
    problem.line = build_resonant_line<Real>(setup.line, setup.medium, config.physics);
    problem.dust = build_dust<Real>(setup.medium);
    problem.limits = {1 << 30, 1 << 30};
  }

  /// The sum over leaves of opacity times the path in them.
  double depth_along(const double (&p)[3], const double (&d)[3]) const {
    double sum = 0;
    for (std::int64_t i = 0; i < tree.leaves(); ++i) {
      double from = 0, to = 1e300;
      for (std::size_t k = 0; k < 3; ++k) {
        const double a = (tree.corner(i)[k] - p[k]) / d[k], b = (tree.corner(i)[k] + tree.width(i) - p[k]) / d[k];
        from = std::max(from, std::min(a, b)), to = std::min(to, std::max(a, b));
      }
      if (to > from) sum += double(numbers[5 * std::size_t(i)]) * (to - from);
    }
    return sum;
  }

  Lane<Real, OctreePlace<Real, IntOf<Real>>> ray(const double (&p)[3], const double (&d)[3]) const {
    Birth<Real, OctreePlace<Real, IntOf<Real>>> birth{};
    birth.position = {Real(p[0]), Real(p[1]), Real(p[2])};
    const auto gas = view<Real>(problem.dataset);
    gas.place_on_surface(birth), gas.settle(birth, false);
    Lane<Real, OctreePlace<Real, IntOf<Real>>> ray{};
    ray.px = birth.position.x, ray.py = birth.position.y, ray.pz = birth.position.z;
    ray.dx = Real(d[0]), ray.dy = Real(d[1]), ray.dz = Real(d[2]);
    ray.place = birth.place;
    ray.phase = Phase::fly;
    ray.s0 = ray.s1 = ray.s2 = ray.s3 = 1;  // never drawn from
    return ray;
  }
};

template <class Real>
struct Octrees : testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Octrees, Reals);

TYPED_TEST(Octrees, RaysMeetTheLeavesOnTheirWay) {
  using Real = TypeParam;
  constexpr bool is_single = sizeof(Real) == 4;
  std::mt19937 random(7);
  for (const int depth : {0, 1, 3, 6, 12}) {
    const Clouds<Real> clouds(random, depth);
    const double side = double(1 << clouds.tree.depth());
    const double centre = 1 - 2 * double(clouds.problem.line.a) / std::sqrt(std::numbers::pi);
    std::uniform_real_distribution<double> u(0, 1);
    const int rays = clouds.tree.leaves() > 20000 ? 200 : 2000;
    for (int i = 0; i < rays; ++i) {
      const double p[3] = {side * u(random), side * u(random), side * u(random)};
      const double mu = 2 * u(random) - 1, phi = 6.283 * u(random), s = std::sqrt(1 - mu * mu);
      const double d[3] = {s * std::cos(phi), s * std::sin(phi), mu};
      auto ray = clouds.ray(p, d);
      while (!march(ray, clouds.problem, Real(1e30))) {
        ASSERT_LT(ray.steps, 100000);
      }
      const double expected = centre * clouds.depth_along(p, d);
      ASSERT_NEAR(double(ray.tau), expected, (is_single ? 3e-4 : 1e-6) * expected + (is_single ? 2e-5 : 1e-9) * side)
          << "depth " << depth << ", ray " << i;
    }
  }
}

/// Along edges and diagonals, where it is open which leaf a point belongs to, rays leave all the same.
TYPED_TEST(Octrees, RaysInFacesLeave) {
  using Real = TypeParam;
  std::mt19937 random(8);
  const Clouds<Real> clouds(random, 5);
  for (const double along : {0., 1., -1.}) {
    for (const double across : {0., 1., -1.}) {
      for (const double up : {0., 1., -1.}) {
        const double norm = std::sqrt(along * along + across * across + up * up);
        if (norm == 0) continue;
        for (int i = 0; i < 300; ++i) {
          const double p[3] = {double(random() % 33), double(random() % 33), double(random() % 33)};
          auto ray = clouds.ray(p, {along / norm, across / norm, up / norm});
          while (!march(ray, clouds.problem, Real(1e30))) {
            ASSERT_LT(ray.steps, 1000);
          }
          ASSERT_LE(double(ray.tau), 56.);
        }
      }
    }
  }
}

TEST(Octree, FindsItsLeaves) {
  std::mt19937 random(9);
  const OctreeTree tree("test", random_leaves(random, 7));
  const Octree<double> data = tree.view();
  const auto gas = view<double>(data);
  EXPECT_LT(double(tree.bytes()), 8. * double(tree.leaves()));
  for (std::int64_t i = 0; i < tree.leaves(); ++i) {
    for (const int part : {0, 1}) {
      std::int64_t at[3];
      for (std::size_t k = 0; k < 3; ++k) at[k] = tree.corner(i)[k] + part * (tree.width(i) - 1);
      const auto found = gas.find<double>(at[0], at[1], at[2]);
      ASSERT_EQ(found.leaf, i);
      ASSERT_EQ(found.width, tree.width(i));
    }
    Birth<double, OctreePlace<double, std::int64_t>> birth{};
    struct {
      const std::int32_t* place = nullptr;
      const float* offset = nullptr;
    } table;
    gas.place_source(birth, table, std::uint64_t(i), {0.25, 0.5, 0.75});
    ASSERT_EQ(birth.place.leaf, i);
    ASSERT_EQ(birth.place.y, tree.centre(i)[1]);
    ASSERT_EQ(birth.position.z, 0.75 * tree.width(i));
  }
}

}  // namespace
}  // namespace thor
