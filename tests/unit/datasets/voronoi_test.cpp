// Rays through Voronoi meshes, against the stretches on which each site is the nearest; places and births. Photons:
// tests/e2e/test_voronoi.py.
#include "thor/datasets/voronoi.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "support/run.hpp"
#include "thor/core/error.hpp"
#include "thor/datasets/voronoi_mesh.hpp"
#include "thor/interactors/build.hpp"
#include "thor/transport/history.hpp"
#include "thor/transport/march.hpp"
#include "thor/transport/step.hpp"

namespace thor {
namespace {

static_assert(MeshFor<VoronoiView<double>, double, Lane<double, VoronoiPlace<double, std::int64_t>>>);

using Points = std::vector<std::array<double, 3>>;

/// In a box of side 1 about the origin: half of them in a clump.
Points random_sites(std::mt19937& random, int count) {
  std::uniform_real_distribution<double> u(-0.5, 0.5);
  std::normal_distribution<double> normal(0, 0.02);
  Points sites;
  for (int i = 0; i < count; ++i) {
    if (i % 2 == 0) {
      sites.push_back({u(random), u(random), u(random)});
    } else {
      sites.push_back({0.1 + normal(random), normal(random), -0.2 + normal(random)});
    }
  }
  return sites;
}

Points lattice(int n) {
  Points sites;
  for (int i = 0; i < n * n * n; ++i) {
    sites.push_back({(i / (n * n) + 0.5) / n - 0.5, (i / n % n + 0.5) / n - 0.5, (i % n + 0.5) / n - 0.5});
  }
  return sites;
}

/// A mesh with random opacities, of hydrogen at 1e4 K and at rest.
template <class Real>
struct Foam {
  Points sites;  ///< in units, from the origin, as cells are numbered
  VoronoiMesh mesh;
  std::vector<float> numbers;
  LineProblem<Voronoi<Real>> problem{};

  Foam(std::mt19937& random, const Points& given, bool periodic = false, bool compact = false)
      : mesh("test", given, {1, {-0.5, -0.5, -0.5}, periodic, 0, 0}, compact, 2) {
    const auto config = config::parse(
        "line: Lya\ndataset: {type: slab, half_thickness: 1 kpc, temperature: 1e4 K, tau0: 1}\n"
        "generators: [{type: point, photons: 1}]\noutput: {path: x.h5}\n",
        "test");
    const auto setup = build_setup(config);
    numbers.resize(5 * std::size_t(mesh.cells()) + 3);
    for (std::int64_t i = 0; i < mesh.cells(); ++i) {
      numbers[5 * std::size_t(i)] = std::exp2f(float(random() % 8) - 8), numbers[5 * std::size_t(i) + 1] = 1;
      sites.push_back(mesh.centre(mesh.place(i)));
    }
    problem.dataset = convert<Real>(mesh.view());
    problem.dataset.gas = {{numbers.data(), numbers.size()}, 5, 0, 0, false, 1};
    problem.line = build_resonant_line<Real>(setup.line, setup.medium, config.physics);
    problem.dust = build_dust<Real>(setup.medium);
    problem.limits = {1 << 30, 1 << 30};
  }

  double half() const { return 0.5 * mesh.sides()[0]; }
  std::size_t nearest(const double (&p)[3]) const {
    const auto square = [&](const auto& s) {
      return std::pow(s[0] - p[0], 2) + std::pow(s[1] - p[1], 2) + std::pow(s[2] - p[2], 2);
    };
    return std::size_t(std::ranges::min_element(sites, {}, square) - sites.begin());
  }
  /// The sum over cells of opacity times the path in them, from |p + t d - s|^2, which is linear in t but for what all
  /// sites have in common.
  double depth_along(const double (&p)[3], const double (&d)[3]) const {
    double leaves = 1e300, sum = 0;
    for (int k = 0; k < 3; ++k) leaves = std::min(leaves, std::max((half() - p[k]) / d[k], (-half() - p[k]) / d[k]));
    for (std::size_t i = 0; i < sites.size(); ++i) {
      double from = 0, to = leaves;
      for (std::size_t j = 0; j < sites.size() && to > from; ++j) {
        double towards = 0, here = 0;  // (s_j - s_i).d t <= |s_j - p|^2/2 - |s_i - p|^2/2
        for (std::size_t k = 0; k < 3; ++k) {
          towards += (sites[j][k] - sites[i][k]) * d[k];
          here += 0.5 * (std::pow(sites[j][k] - p[k], 2) - std::pow(sites[i][k] - p[k], 2));
        }
        if (towards > 0) to = std::min(to, here / towards);
        if (towards < 0) from = std::max(from, here / towards);
      }
      if (to > from) sum += double(numbers[5 * i]) * (to - from);
    }
    return sum;
  }

  Lane<Real, VoronoiPlace<Real, IntOf<Real>>> ray(const double (&p)[3], const double (&d)[3]) const {
    Birth<Real, VoronoiPlace<Real, IntOf<Real>>> birth{};
    birth.position = {Real(p[0]), Real(p[1]), Real(p[2])};
    const auto gas = view<Real>(problem.dataset);
    gas.place_on_surface(birth), gas.settle(birth, false);
    Lane<Real, VoronoiPlace<Real, IntOf<Real>>> ray{};
    ray.px = birth.position.x, ray.py = birth.position.y, ray.pz = birth.position.z;
    ray.dx = Real(d[0]), ray.dy = Real(d[1]), ray.dz = Real(d[2]);
    ray.place = birth.place;
    ray.phase = Phase::fly;
    ray.s0 = ray.s1 = ray.s2 = ray.s3 = 1;  // never drawn from
    return ray;
  }
};

template <class Real>
struct Foams : testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Foams, Reals);

TYPED_TEST(Foams, RaysMeetTheCellsOnTheirWay) {
  using Real = TypeParam;
  std::mt19937 random(7);
  // With sites that are so close to each other that planes in single precision cannot tell them apart from afar.
  for (const auto& [count, apart] : {std::pair(1, 0.), {2, 0.}, {30, 0.}, {300, 0.}, {100, 1e-6}, {100, 1e-8}}) {
    Points sites = random_sites(random, count);
    for (std::size_t i = 0; apart > 0 && i < std::size_t(count); i += 3) {
      sites.push_back({sites[i][0] + 0.6 * apart, sites[i][1] - 0.8 * apart, sites[i][2]});
    }
    const Foam<Real> foam(random, sites);
    const double centre = 1 - 2 * double(foam.problem.line.a) / std::sqrt(std::numbers::pi);
    std::uniform_real_distribution<double> u(0, 1);
    for (int i = 0; i < 1000; ++i) {
      const double half = foam.half();
      const double p[3] = {half * (2 * u(random) - 1), half * (2 * u(random) - 1), half * (2 * u(random) - 1)};
      const double mu = 2 * u(random) - 1, phi = 6.283 * u(random), s = std::sqrt(1 - mu * mu);
      const double d[3] = {s * std::cos(phi), s * std::sin(phi), mu};
      auto ray = foam.ray(p, d);
      while (!march(ray, foam.problem, Real(1e30))) {
        ASSERT_LT(ray.steps, 10000);
      }
      const double expected = centre * foam.depth_along(p, d);
      ASSERT_NEAR(double(ray.tau), expected, 3e-5 * (1 + expected)) << count << " sites, " << apart << ", ray " << i;
    }
  }
}

/// In lattices, whose corners belong to eight cells, along faces, edges and diagonals.
TYPED_TEST(Foams, RaysInFacesLeave) {
  using Real = TypeParam;
  std::mt19937 random(8);
  const int n = 7;
  const Foam<Real> foam(random, lattice(n));
  for (const double along : {0., 1., -1., 1e-9}) {
    for (const double across : {0., 1., -1.}) {
      for (const double up : {0., 1., -1., -1e-7}) {
        const double norm = std::sqrt(along * along + across * across + up * up);
        if (norm < 0.5) continue;
        for (int i = 0; i < 200; ++i) {
          const double p[3] = {double(random() % 8) - 3.5, double(random() % 8) - 3.5,
                               0.5 * double(random() % 15) - 3.5};
          auto ray = foam.ray(p, {along / norm, across / norm, up / norm});
          while (!march(ray, foam.problem, Real(1e30))) {
            ASSERT_LT(ray.steps, 200);
          }
          ASSERT_EQ(Phase(int(ray.phase)), Phase::escaped);
          ASSERT_LE(double(ray.tau), 13.);
        }
      }
    }
  }
}

/// The depth below a face is followed to far less than what an offset in single precision can tell.
TEST(Foam, DepthsAreExactBesideAFace) {
  std::mt19937 random(9);
  const Foam<float> foam(random, random_sites(random, 100));
  const auto gas = view<float>(foam.problem.dataset);
  for (int i = 0; i < 300; ++i) {
    const double p[3] = {0.01 * double(random() % 200) - 1, 0.01 * double(random() % 200) - 1, 0.3};
    const double s = std::sqrt(1 / 3.);
    auto lane = foam.ray(p, {s, s, s});
    auto segment = gas.segment(lane.place, {lane.px, lane.py, lane.pz}, {lane.dx, lane.dy, lane.dz});
    gas.advance(lane, segment.length(), segment);
    if (gas.cross(lane, true, segment).leaves) continue;
    // Away from the face in ten steps of 1e-9 each, and back in one of 1e-8: it is met where it was left.
    const float start = lane.place.depth;
    ASSERT_EQ(start, 0x1p-50f);
    for (int k = 0; k < 10; ++k) {
      segment = gas.segment(lane.place, {lane.px, lane.py, lane.pz}, {lane.dx, lane.dy, lane.dz});
      gas.advance(lane, 1e-9f, segment);
    }
    const auto behind = lane.place.behind;
    lane.dx = -lane.dx, lane.dy = -lane.dy, lane.dz = -lane.dz;
    segment = gas.segment(lane.place, {lane.px, lane.py, lane.pz}, {lane.dx, lane.dy, lane.dz});
    ASSERT_EQ(foam.problem.dataset.cells.lines.data[segment.ahead / 4].behind[segment.ahead % 4], behind);
    ASSERT_NEAR(segment.length(), 1e-8, 1e-13);
  }
}

/// Light of a cell is anywhere in it, however long or flat the cell, and wherever its site.
TEST(Foam, BirthsFillLongAndFlatCells) {
  struct Case {
    const char* name;
    std::array<int, 3> cells;  // of the box, along each axis
  };
  struct {
    const std::int32_t* place = nullptr;
    const float* offset = nullptr;
  } table;
  for (const Case& c : {Case{"cube", {3, 3, 3}}, Case{"needle", {9, 9, 1}}, Case{"long needle", {31, 31, 1}},
                        Case{"plate", {1, 1, 31}}, Case{"lath", {1, 5, 31}}}) {
    Points sites;
    for (int x = 0; x < c.cells[0]; ++x) {
      for (int y = 0; y < c.cells[1]; ++y) {
        for (int z = 0; z < c.cells[2]; ++z) {
          const auto at = [&](int i, std::size_t k) {  // off the middle where that is a whole side of the box
            return c.cells[k] == 1 ? -0.4 : (i + 0.5) / c.cells[k] - 0.5;
          };
          sites.push_back({at(x, 0), at(y, 1), at(z, 2)});
        }
      }
    }
    std::mt19937 random(11);
    const Foam<float> foam(random, sites);
    const auto gas = view<float>(foam.problem.dataset);
    const auto cell = std::uint64_t(sites.size() / 2);
    std::uniform_real_distribution<float> u(0, 1);
    constexpr int count = 20000;
    double sum[3] = {}, square[3] = {};
    for (int i = 0; i < count; ++i) {
      Birth<float, VoronoiPlace<float, std::int32_t>> birth{};
      gas.place_source(birth, table, cell, {u(random), u(random), u(random)});
      const double at[3] = {double(birth.position.x), double(birth.position.y), double(birth.position.z)};
      for (std::size_t k = 0; k < 3; ++k) {
        const double side = foam.mesh.sides()[0] / c.cells[k], middle = c.cells[k] == 1 ? 0.4 * side : 0;
        const double share = (at[k] - middle) / side;
        ASSERT_LE(std::abs(share), 0.5001) << c.name;
        sum[k] += share, square[k] += share * share;
      }
    }
    for (std::size_t k = 0; k < 3; ++k) {  // 0 and 1/12 where it is uniform
      EXPECT_NEAR(sum[k] / count, 0, 4 * std::sqrt(1 / 12. / count)) << c.name << ", axis " << k;
      EXPECT_NEAR(square[k] / count, 1 / 12., 4 * std::sqrt(1 / 180. / count)) << c.name << ", axis " << k;
    }
  }
}

TEST(Foam, FindsItsCells) {
  std::mt19937 random(10);
  const Foam<double> foam(random, random_sites(random, 400));
  std::uniform_real_distribution<double> u(-foam.half(), foam.half());
  for (int i = 0; i < 2000; ++i) {
    const double p[3] = {u(random), u(random), u(random)};
    const auto site = foam.mesh.locate({p[0], p[1], p[2]});
    ASSERT_TRUE(site);
    ASSERT_EQ(std::size_t(site->place[0]), foam.nearest(p));
    for (std::size_t k = 0; k < 3; ++k) {
      ASSERT_NEAR(foam.sites[std::size_t(site->place[0])][k] + site->offset[k], p[k], 1e-6);
    }
  }
  EXPECT_FALSE(foam.mesh.locate({1.01 * foam.half(), 0, 0}));
  double volume = 0;
  for (std::int64_t i = 0; i < foam.mesh.cells(); ++i) volume += foam.mesh.volume(i);
  EXPECT_NEAR(volume, 1, 1e-10);
}

/// The largest difference of the distributions of two samples.
double distance_of(std::vector<double> a, std::vector<double> b) {
  std::ranges::sort(a), std::ranges::sort(b);
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto below = double(std::ranges::upper_bound(b, a[i]) - b.begin());
    most = std::max(most, std::abs(double(i + 1) / double(a.size()) - below / double(b.size())));
  }
  return most;
}

/// Also where the site is in a narrow wedge, and where cells are flat and tilted. Against random points of the box that
/// belong to such a cell.
TEST(Foam, BirthsFillCellsOfTiltedPairs) {
  constexpr double way[3] = {0.6, 0.64, 0.48};
  struct {
    const std::int32_t* place = nullptr;
    const float* offset = nullptr;
  } table;
  struct Case {
    double apart, from_wall;  // of sites, of the box
    int sites;
  };
  for (const auto& [apart, from_wall, count] :
       {Case{1e-4, 1e-3, 2}, {1e-6, 1e-4, 2}, {1e-3, 0.4, 2}, {2e-4, 0.5, 101}}) {
    Points given;
    for (int i = 0; i < count; ++i) {
      const double along = apart * (i - 0.5 * (count - 1));
      given.push_back({from_wall - 0.5 + along * way[0], 0.05 + along * way[1], along * way[2] - 0.03});
    }
    std::mt19937 random(14);
    const Foam<float> foam(random, given);
    const auto gas = view<float>(foam.problem.dataset);
    const double side = foam.mesh.sides()[0];
    const std::size_t cell = foam.sites.size() / 2;
    std::uniform_real_distribution<double> u(0, 1);
    std::vector<double> found[3], expected[3];
    for (int i = 0; i < 5000; ++i) {
      Birth<float, VoronoiPlace<float, std::int32_t>> birth{};
      gas.place_source(birth, table, cell, {float(u(random)), float(u(random)), float(u(random))});
      const double at[3] = {double(birth.position.x), double(birth.position.y), double(birth.position.z)};
      for (std::size_t k = 0; k < 3; ++k) found[k].push_back(foam.sites[cell][k] + at[k]);
    }
    // Flat cells are all alike: those around stand for one.
    while (expected[0].size() < 5000) {
      double at[3], along = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        at[k] = side * (u(random) - 0.5), along += (at[k] - foam.sites[cell][k]) * way[k];
      }
      if (count == 2 ? foam.nearest(at) != cell : std::abs(along) > 0.01 * side) continue;
      for (std::size_t k = 0; k < 3; ++k) expected[k].push_back(at[k]);
    }
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_LT(distance_of(found[k], expected[k]), 1.95 * std::sqrt(2. / 5000))
          << apart << " " << from_wall << " " << k;
    }
    for (double& x : found[0]) x = 0.9 * x - 0.05 * side;  // the twin
    EXPECT_GT(distance_of(found[0], expected[0]), 1.95 * std::sqrt(2. / 5000));
  }
}

/// Planes are as exact across a side of a periodic box as inside of it.
TEST(Foam, PlanesAcrossSidesAreExact) {
  for (const double apart : {1e-4, 1e-6}) {
    std::mt19937 random(13);
    std::uniform_real_distribution<double> u(-0.5, 0.5);
    Points sites;
    for (int i = 0; i < 300; ++i) sites.push_back({u(random), u(random), u(random)});
    for (int i = 0; i < 60; ++i) {  // around a corner of the box
      std::array<double, 3>& at = sites.emplace_back();
      for (double& x : at) x = apart * u(random), x += x < 0 ? 0.5 : -0.5;
    }
    const Foam<double> foam(random, sites, true);
    const auto mesh = view<double>(foam.problem.dataset);
    const double side = foam.mesh.sides()[0];
    int across = 0;
    for (std::int64_t cell = 0; cell < foam.mesh.cells(); ++cell) {
      mesh.for_each_face(cell, [&](Vec3<double> m, std::int64_t behind) {
        if (behind < 0) return;
        const auto &here = foam.sites[std::size_t(cell)], &there = foam.sites[std::size_t(behind)];
        double way[3], square = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          way[k] = there[k] - here[k];
          if (std::abs(way[k]) > 0.5 * side) way[k] -= std::copysign(side, way[k]), ++across;
          square += way[k] * way[k];
        }
        const double half = 0.5 * std::sqrt(square), found[3] = {m.x, m.y, m.z};
        for (std::size_t k = 0; k < 3; ++k) ASSERT_NEAR(found[k] * half, way[k] / (2 * half), 1e-6);
      });
    }
    EXPECT_GT(across, 100);
  }
}

/// The compact form has the same planes, to the last bit; of periodic boxes of few cells there is none.
TEST(Foam, CompactFormHasTheSamePlanes) {
  std::mt19937 random(12);
  Points in_walls = random_sites(random, 60);
  for (std::size_t i = 0; i < in_walls.size(); i += 4) in_walls[i][i / 4 % 3] = i % 8 == 0 ? -0.5 : 0.5;
  struct Case {
    const char* name;
    Points sites;
    bool periodic, is_compact;
  };
  for (const Case& c :
       {Case{"open", random_sites(random, 300), false, true}, Case{"in walls", in_walls, false, true},
        Case{"one", random_sites(random, 1), false, true}, Case{"periodic", random_sites(random, 300), true, true},
        Case{"few", random_sites(random, 3), true, false}, Case{"lattice", lattice(4), true, true},
        Case{"half a box", lattice(2), true, false}}) {
    const Foam<double> full(random, c.sites, c.periodic), compact(random, c.sites, c.periodic, true);
    EXPECT_EQ(compact.problem.dataset.cells.behind.count > 0, c.is_compact) << c.name;
    EXPECT_EQ(compact.problem.dataset.cells.lines.count == 0, c.is_compact) << c.name;
    const auto one = view<double>(full.problem.dataset), two = view<double>(compact.problem.dataset);
    for (std::int64_t cell = 0; cell < full.mesh.cells(); ++cell) {
      std::vector<std::array<double, 4>> planes[2];
      const auto keep = [](std::vector<std::array<double, 4>>& list) {
        return [&list](Vec3<double> m, std::int64_t behind) {
          if (behind == no_face) return;
          list.push_back({m.x, m.y, m.z, double(behind)});
          for (const double k : list.back()) ASSERT_TRUE(std::isfinite(k));
        };
      };
      one.for_each_face(cell, keep(planes[0])), two.for_each_face(cell, keep(planes[1]));
      ASSERT_EQ(planes[0], planes[1]) << c.name << ", cell " << cell;
      ASSERT_GE(planes[0].size(), 4u);
    }
  }
}

}  // namespace
}  // namespace thor
