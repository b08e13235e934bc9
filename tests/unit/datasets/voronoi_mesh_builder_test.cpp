// Voronoi meshes against what defines them: the nearest site of each place.
#include "thor/datasets/voronoi_mesh_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "thor/core/error.hpp"
#include "thor/datasets/voronoi_cell.hpp"
#include "thor/datasets/voronoi_exact.hpp"

namespace thor {
namespace {

using Point = std::array<double, 3>;
using Points = std::vector<Point>;

/// Sites and the box that they are in.
struct Case {
  std::string what;
  Points sites;
  Point low{0, 0, 0}, size{1, 1, 1};
};

VoronoiFaces build(const Case& c, bool periodic, int threads = 2) {
  return build_voronoi("test", c.sites, c.low, c.size, periodic, threads);
}

double uniform(std::mt19937& random) { return std::uniform_real_distribution<double>()(random); }

Point in_box(std::mt19937& random, const Case& c) {
  Point p{};
  for (std::size_t k = 0; k < 3; ++k) p[k] = c.low[k] + c.size[k] * uniform(random);
  return p;
}

Case uniform_sites(std::size_t count, const Point& low = {0, 0, 0}, const Point& size = {1, 1, 1}) {
  Case c{"uniform " + std::to_string(count), {}, low, size};
  std::mt19937 random(11);
  while (c.sites.size() < count) c.sites.push_back(in_box(random, c));
  return c;
}

/// Around a few centres, with distances of six decades.
Case clumped_sites(std::size_t count) {
  Case c{"clumps", {}};
  std::mt19937 random(12);
  const Points centres{{0.5, 0.5, 0.5}, {0.1, 0.7, 0.3}, {0.999999, 0.2, 0}};
  for (std::size_t i = 0; i < count; ++i) {
    Point p = in_box(random, c);
    if (i % 10 != 0) {
      const double scale = std::pow(10., -1 - 6 * uniform(random));
      for (std::size_t k = 0; k < 3; ++k) {
        p[k] = centres[i % 3][k] + scale * (p[k] - 0.5);
        p[k] -= std::floor(p[k]);
      }
    }
    c.sites.push_back(p);
  }
  return c;
}

/// `side`^3 cubes, with sites at their corners and, if asked for, at their centres or the centres of their faces.
Case lattice(int side, const Points& basis, const std::string& what) {
  Case c{what + " " + std::to_string(side), {}};
  for (int x = 0; x < side; ++x) {
    for (int y = 0; y < side; ++y) {
      for (int z = 0; z < side; ++z) {
        for (const Point& b : basis) c.sites.push_back({(x + b[0]) / side, (y + b[1]) / side, (z + b[2]) / side});
      }
    }
  }
  return c;
}

const Points sc{{0.25, 0.25, 0.25}}, bcc{{0, 0, 0}, {0.5, 0.5, 0.5}},
    fcc{{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}};

/// The centres of cells that are split again and again towards a corner, a ball and a plane.
Case refined_sites(int depth, double rounding) {
  Case c{"refined", {}};
  const auto split = [&](const auto& self, const Point& low, double side, int level) -> void {
    double r2 = 0;
    for (const double x : low) r2 += (x + side / 2 - 0.4) * (x + side / 2 - 0.4);
    const bool is_deeper =
        level < 2 || (level < depth && (std::abs(std::sqrt(r2) - 0.3) < side || low[0] + low[1] == 0));
    if (!is_deeper) {
      c.sites.push_back({});
      for (std::size_t k = 0; k < 3; ++k) c.sites.back()[k] = (low[k] + side / 2) * (1 - rounding);
      return;
    }
    for (int k = 0; k < 8; ++k) {
      self(self, {low[0] + (k & 1) * side / 2, low[1] + (k >> 1 & 1) * side / 2, low[2] + (k >> 2) * side / 2},
           side / 2, level + 1);
    }
  };
  split(split, {0, 0, 0}, 1, 0);
  return c;
}

/// From cell i to the site behind its face k, or for walls to the mirror image.
Point towards(const Case& c, const VoronoiFaces& mesh, std::size_t i, std::uint64_t k) {
  const VoronoiFaces::Face& face = mesh.faces[k];
  Point d{};
  if (face.cell < 0) {
    const auto wall = std::size_t(-1 - face.cell);
    const std::size_t axis = wall / 2;
    d[axis] = 2 * (c.low[axis] + (wall % 2 != 0 ? c.size[axis] : 0) - mesh.sites[i][axis]);
    return d;
  }
  const auto shift = shift_of(face.image);
  for (std::size_t a = 0; a < 3; ++a) {
    d[a] = mesh.sites[std::size_t(face.cell)][a] + shift[a] * c.size[a] - mesh.sites[i][a];
  }
  return d;
}

/// The first thing that is wrong with the numbers of a mesh, or nothing.
std::string find_fault(const Case& c, const VoronoiFaces& mesh) {
  const std::size_t count = mesh.sites.size();
  if (mesh.begin.size() != count + 1 || mesh.begin[count] != mesh.faces.size()) return "rows";
  if (mesh.areas.size() != mesh.faces.size() || mesh.volumes.size() != count) return "sizes";
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint64_t k = mesh.begin[i]; k < mesh.begin[i + 1]; ++k) {
      const VoronoiFaces::Face& face = mesh.faces[k];
      if (!(mesh.areas[k] >= 0)) return "area of cell " + std::to_string(i);
      if (face.cell < 0) continue;
      const auto j = std::size_t(face.cell);
      int found = 0;
      for (std::uint64_t m = mesh.begin[j]; m < mesh.begin[j + 1]; ++m) {
        if (mesh.faces[m].cell == std::int32_t(i) && mesh.faces[m].image == -face.image) {
          found += mesh.areas[m] == mesh.areas[k];
        }
      }
      if (found != 1) return "face of cells " + std::to_string(i) + " and " + std::to_string(j);
    }
  }
  const double volume = std::accumulate(mesh.volumes.begin(), mesh.volumes.end(), 0.);
  if (std::abs(volume / (c.size[0] * c.size[1] * c.size[2]) - 1) > 1e-10) return "sum of volumes";
  if (!(mesh.closure < 1e-7) || !(mesh.one_sided_area < 1e-9)) return "closure";
  return "";
}

double dot_of(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Shares of half-spaces: n.x of a place over half the square of n, at most 1 inside the cell.
double outermost(const Case& c, const VoronoiFaces& mesh, std::size_t i, const Point& x) {
  double found = -1;
  for (std::uint64_t k = mesh.begin[i]; k < mesh.begin[i + 1]; ++k) {
    const Point d = towards(c, mesh, i, k);
    const double d2 = dot_of(d, d);
    if (d2 > 0) found = std::max(found, 2 * dot_of(d, x) / d2);
  }
  return found;
}

/// From the site of the given cell or its nearest image to a place.
Point from_site(const Case& c, const VoronoiFaces& mesh, std::size_t i, const Point& place, bool periodic) {
  Point x{};
  for (std::size_t k = 0; k < 3; ++k) {
    x[k] = place[k] - mesh.sites[i][k];
    if (periodic) x[k] -= c.size[k] * std::nearbyint(x[k] / c.size[k]);
  }
  return x;
}

/// Random places have to be in the cell of the nearest site and in no other one: how many are not.
int count_misplaced(const Case& c, const VoronoiFaces& mesh, bool periodic, int places) {
  std::mt19937 random(13);
  int found = 0;
  for (int p = 0; p < places; ++p) {
    Point place = in_box(random, c);
    if (p % 2 != 0) {  // near a site, where they are dense
      const Point& site = mesh.sites[random() % mesh.sites.size()];
      const double scale = std::pow(10., -6 * uniform(random));
      for (std::size_t k = 0; k < 3; ++k) {
        place[k] = std::clamp(site[k] + scale * (place[k] - site[k]), c.low[k], c.low[k] + c.size[k]);
      }
    }
    std::vector<double> r2(mesh.sites.size());
    for (std::size_t i = 0; i < r2.size(); ++i) {
      const Point x = from_site(c, mesh, i, place, periodic);
      r2[i] = dot_of(x, x);
    }
    const double least = *std::ranges::min_element(r2);
    for (std::size_t i = 0; i < r2.size(); ++i) {
      const double out = outermost(c, mesh, i, from_site(c, mesh, i, place, periodic));
      if (r2[i] == least && out > 1 + 1e-6) ++found;
      if (r2[i] > least * (1 + 1e-6) + 1e-24 && out < 1 - 1e-6) ++found;
    }
  }
  return found;
}

void check(const Case& c, int places = 100) {
  for (const bool periodic : {false, true}) {
    const VoronoiFaces mesh = build(c, periodic);
    ASSERT_EQ(mesh.site_of.size(), c.sites.size());
    ASSERT_EQ(find_fault(c, mesh), "") << c.what << (periodic ? ", periodic" : ", open");
    ASSERT_EQ(count_misplaced(c, mesh, periodic, places), 0) << c.what << (periodic ? ", periodic" : ", open");
  }
}

/// A mesh without one of the faces of one cell, whose other faces stay.
VoronoiFaces without_face(VoronoiFaces mesh, std::uint64_t face) {
  mesh.faces.erase(mesh.faces.begin() + std::ptrdiff_t(face));
  mesh.areas.erase(mesh.areas.begin() + std::ptrdiff_t(face));
  for (std::uint64_t& begin : mesh.begin) begin -= begin > face;
  return mesh;
}

TEST(VoronoiMeshBuilder, CellsAreThePlacesNearestToTheirSites) {
  check(uniform_sites(300), 400);
  check(uniform_sites(200, {-3, 1e4, 5e-3}, {2, 300, 17}), 400);
  check(clumped_sites(500), 400);
}

/// The checks of this file find a face that is missing or not of its area.
TEST(VoronoiMeshBuilder, ChecksFindFaults) {
  const Case c = uniform_sites(200);
  VoronoiFaces mesh = build(c, true);
  ASSERT_EQ(find_fault(c, mesh), "");
  const auto largest = std::uint64_t(std::ranges::max_element(mesh.areas) - mesh.areas.begin());
  const VoronoiFaces less = without_face(mesh, largest);
  EXPECT_NE(find_fault(c, less), "");
  EXPECT_GT(count_misplaced(c, less, true, 4000), 0);
  mesh.volumes[7] *= 1.001;
  EXPECT_EQ(find_fault(c, mesh), "sum of volumes");
  mesh.volumes[7] /= 1.001, mesh.areas[largest] *= 1 + 1e-15;
  EXPECT_NE(find_fault(c, mesh), "");
}

/// The search for near sites leaves none out: a cell that is cut by all sites and images has the same faces.
TEST(VoronoiMeshBuilder, FacesAreThoseOfAllSites) {
  for (const bool periodic : {false, true}) {
    const Case c = clumped_sites(300);
    const VoronoiFaces mesh = build(c, periodic);
    const double unit = std::ldexp(1., -50);
    VoronoiCell cell;
    std::vector<VoronoiSide> sides;
    for (std::size_t i = 0; i < mesh.sites.size(); ++i) {
      Point low{}, high{};
      for (std::size_t k = 0; k < 3; ++k) low[k] = mesh.sites[i][k] / unit, high[k] = 1 / unit - low[k];
      if (periodic) cell.start_periodic(std::int32_t(i), {1 / unit, 1 / unit, 1 / unit});
      if (!periodic) cell.start_open(low, high);
      for (std::size_t j = 0; j < mesh.sites.size(); ++j) {
        for (int image = periodic ? -13 : 0; image <= (periodic ? 13 : 0); ++image) {
          const auto shift = shift_of(std::int8_t(image));
          Point d{};
          for (std::size_t k = 0; k < 3; ++k) d[k] = (mesh.sites[j][k] - mesh.sites[i][k] + shift[k]) / unit;
          const bool is_far = std::ranges::any_of(d, [&](double x) { return std::abs(x) > 1 / unit; });
          if (!is_far && (j != i || image != 0)) cell.clip(d, std::int32_t(j), std::int8_t(image));
        }
      }
      sides.clear();
      ASSERT_NEAR(cell.measure(sides) * unit * unit * unit, mesh.volumes[i], 1e-12 * mesh.volumes[i]);
      std::vector<std::pair<int, int>> expected, found;
      for (const VoronoiSide& side : sides) expected.emplace_back(side.cell, side.image);
      for (std::uint64_t k = mesh.begin[i]; k < mesh.begin[i + 1]; ++k) {
        found.emplace_back(mesh.faces[k].cell, mesh.faces[k].image);
      }
      std::ranges::sort(expected), std::ranges::sort(found);
      ASSERT_EQ(expected, found) << "cell " << i;
    }
  }
}

TEST(VoronoiMeshBuilder, LatticesHaveTheirFaces) {
  const struct {
    const Points& basis;
    std::size_t faces;
    std::string what;
  } lattices[]{{sc, 6, "sc"}, {bcc, 14, "bcc"}, {fcc, 12, "fcc"}};
  for (const auto& [basis, faces, what] : lattices) {
    for (const int side : {2, 3, 4, 7, 8}) {  // coordinates are rounded in some
      const Case c = lattice(side, basis, what);
      const VoronoiFaces mesh = build(c, true);
      ASSERT_EQ(find_fault(c, mesh), "") << c.what;
      ASSERT_EQ(mesh.faces.size(), faces * mesh.sites.size()) << c.what;
      ASSERT_EQ(mesh.most_faces, faces) << c.what;
      for (const double volume : mesh.volumes) ASSERT_NEAR(volume * double(mesh.sites.size()), 1, 1e-12);
      ASSERT_EQ(find_fault(c, build(c, false)), "") << c.what;
    }
  }
  check(lattice(5, sc, "sc")), check(lattice(4, fcc, "fcc"));
}

TEST(VoronoiMeshBuilder, RefinedLattices) {
  for (const double rounding : {0., 1e-15, 1e-7}) {
    const Case c = refined_sites(5, rounding);
    for (const bool periodic : {false, true}) ASSERT_EQ(find_fault(c, build(c, periodic)), "") << rounding;
  }
  check(refined_sites(4, 0));
}

/// Many sites at the same distance from one: a cell with many faces, and a point with many cells.
TEST(VoronoiMeshBuilder, Spheres) {
  std::mt19937 random(14);
  std::normal_distribution<double> normal;
  Case c{"sphere", {}};
  for (int i = 0; i < 400; ++i) {
    const Point d{normal(random), normal(random), normal(random)};
    const double norm = std::sqrt(dot_of(d, d));
    c.sites.push_back({0.5 + 0.25 * d[0] / norm, 0.5 + 0.25 * d[1] / norm, 0.5 + 0.25 * d[2] / norm});
  }
  check(c, 4);
  c.sites.push_back({0.5, 0.5, 0.5});
  const VoronoiFaces mesh = build(c, true);
  EXPECT_EQ(find_fault(c, mesh), "");
  EXPECT_EQ(mesh.most_faces, 400);
}

TEST(VoronoiMeshBuilder, LinesAndPlanes) {
  std::mt19937 random(15);
  Case line{"line", {}}, diagonal{"diagonal", {}}, plane{"plane", {}}, grid{"grid", {}}, circle{"circle", {}};
  for (int i = 0; i < 300; ++i) {
    const double u = uniform(random), v = uniform(random);
    line.sites.push_back({u, 0.5, 0.25}), diagonal.sites.push_back({u, u, u}), plane.sites.push_back({u, 0.3, v});
    grid.sites.push_back({double(i % 17) / 17, std::floor(i / 17.) / 18, 0});
    circle.sites.push_back({0.5 + 0.2 * std::cos(i), 0.5 + 0.2 * std::sin(i), 1 - 1e-3 * (i % 2)});
  }
  for (const Case& c : {line, diagonal, plane, grid, circle}) check(c, 30);
  line.sites.clear();
  for (int i = 0; i < 5000; ++i) line.sites.push_back({uniform(random), 0.5, 0.25});
  EXPECT_EQ(find_fault(line, build(line, false)), "");
  EXPECT_EQ(build(line, false).most_faces, 6);
}

TEST(VoronoiMeshBuilder, FewSites) {
  for (const Point& site : {Point{0.2, 0.5, 0.9}, Point{0, 0, 0}, Point{1, 1, 1}}) {
    const Case c{"one site", {site}, {0, 0, 0}, {1, 1, 1}};
    for (const bool periodic : {false, true}) {
      const VoronoiFaces mesh = build(c, periodic);
      ASSERT_EQ(find_fault(c, mesh), "");
      ASSERT_EQ(mesh.faces.size(), 6);
      for (std::size_t k = 0; k < 6; ++k) {
        ASSERT_DOUBLE_EQ(mesh.areas[k], 1);
        ASSERT_EQ(mesh.faces[k].cell, periodic ? 0 : -1 - int(k));
      }
    }
  }
  check({"two sites", {{0.25, 0.5, 0.5}, {0.75, 0.5, 0.5}}});
  check({"two sites askew", {{0.1, 0.2, 0.3}, {0.7, 0.4, 0.9}}});
  check({"two sites in a flat box", {{1, 2, 0.3}, {70, 40, 0.9}}, {0, 0, 0}, {100, 100, 1}});
  check({"two sites close to each other", {{0.5, 0.5, 0.5}, {0.5 + 1e-15, 0.5, 0.5}}});
  check({"two corners", {{0, 0, 0}, {1, 1, 0.5}}});
  check(uniform_sites(3)), check(uniform_sites(8)), check(lattice(2, sc, "sc"));
  check(uniform_sites(20, {0, 0, 0}, {1, 1, 1e-3}));
}

/// Between two sites of a periodic box there are two faces, at both of their distances.
TEST(VoronoiMeshBuilder, ImagesAreNeighbours) {
  const Case c{"two sites", {{0.2, 0.5, 0.5}, {0.6, 0.5, 0.5}}};
  const VoronoiFaces mesh = build(c, true);
  ASSERT_EQ(mesh.faces.size(), 12);
  int own = 0, others = 0;
  for (std::uint64_t k = 0; k < 6; ++k) {
    const Point d = towards(c, mesh, 0, k);
    own += mesh.faces[k].cell == 0 && std::abs(d[0]) < 1e-12 && std::abs(std::abs(d[1] + d[2]) - 1) < 1e-12;
    others += mesh.faces[k].cell == 1 && std::abs(d[0] - 0.4) * std::abs(d[0] + 0.6) < 1e-12;
  }
  EXPECT_EQ(own, 4);
  EXPECT_EQ(others, 2);
  EXPECT_EQ(shift_of(-13), (std::array{-1, -1, -1}));
  EXPECT_EQ(shift_of(9 - 1), (std::array{1, 0, -1}));
}

TEST(VoronoiMeshBuilder, DuplicatesAreOneCell) {
  Case c = uniform_sites(100);
  const std::size_t count = c.sites.size();
  for (std::size_t i = 0; i < count; i += 3) c.sites.push_back(c.sites[i]), c.sites.push_back(c.sites[i]);
  const VoronoiFaces mesh = build(c, true);
  EXPECT_EQ(find_fault(c, mesh), "");
  EXPECT_EQ(mesh.sites.size(), count);
  EXPECT_EQ(mesh.merged, 68);
  for (std::size_t i = 0; i < c.sites.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) ASSERT_NEAR(mesh.sites[mesh.site_of[i]][k], c.sites[i][k], 1e-15);
  }
  const Case same{"all the same", Points(50, {0.3, 0.4, 0.5})};
  for (const bool periodic : {false, true}) {
    EXPECT_EQ(build(same, periodic).merged, 49);
    EXPECT_EQ(find_fault(same, build(same, periodic)), "");
  }
  const Case edges{"both ends of a box", {{0, 0.5, 1}, {1, 0.5, 0}}};
  EXPECT_EQ(build(edges, true).merged, 1);
  EXPECT_EQ(build(edges, false).merged, 0);
}

TEST(VoronoiMeshBuilder, ThreadsDoNotMatter) {
  const Case c = clumped_sites(6000);
  const VoronoiFaces one = build(c, true, 1), four = build(c, true, 4);
  EXPECT_EQ(find_fault(c, one), "");
  EXPECT_EQ(one.sites, four.sites);
  EXPECT_EQ(one.site_of, four.site_of);
  EXPECT_EQ(one.begin, four.begin);
  EXPECT_EQ(one.areas, four.areas);
  EXPECT_EQ(one.volumes, four.volumes);
  const auto is_same = [](const auto& a, const auto& b) { return a.cell == b.cell && a.image == b.image; };
  EXPECT_TRUE(std::ranges::equal(one.faces, four.faces, is_same));
}

std::string error_of(const Case& c, bool periodic = false) {
  try {
    build(c, periodic);
  } catch (const Error& error) {
    return error.code() == ExitCode::input ? error.what() : "another error";
  }
  return "none";
}

TEST(VoronoiMeshBuilder, RefusesBadInput) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const Points good{{0.5, 0.5, 0.5}};
  EXPECT_EQ(error_of({"", good}), "none");
  EXPECT_EQ(error_of({"", {}}), "test: there are no sites");
  EXPECT_EQ(error_of({"", {{0.5, 0.5, 0.5}, {0.5, 1.5, 0.5}, {-1, 0, 0}}}),
            "test: site 1 at 0.5 1.5 0.5 is not inside the box, which is from 0 0 0 to 1 1 1; 2 of 3 sites are not: "
            "check their units, box_size and "
            "origin_x, _y and _z");
  for (const double bad : {nan, infinity, -infinity, -1e-9, 1 + 1e-9}) {
    EXPECT_NE(error_of({"", {{0.5, 0.5, bad}}}).find("site 0 "), std::string::npos) << bad;
    EXPECT_NE(error_of({"", {{0.5, 0.5, bad}}}, true).find("site 0 "), std::string::npos) << bad;
  }
  for (const double bad : {nan, infinity, 0., -1., 1e-300, 1e300}) {
    EXPECT_NE(error_of({"", good, {0, 0, 0}, {1, bad, 1}}).find("test: along y the box begins at 0 and is"),
              std::string::npos);
  }
  EXPECT_NE(error_of({"", good, {0, nan, 0}, {1, 1, 1}}).find("test: along y the box begins at nan"),
            std::string::npos);
  EXPECT_NE(error_of({"", good, {0, 0, 0}, {1, 1, 1e-8}}).find("test: the sides of the box are"), std::string::npos);
}

/// Decisions in whole numbers where double precision cannot tell, at the ends of their range.
TEST(VoronoiExact, Sides) {
  constexpr std::int64_t far = std::int64_t(1) << 51;
  const auto bisector = [](std::int64_t x, std::int64_t y, std::int64_t z) {
    return ExactPlane{{x, y, z}, Int128(x) * x + Int128(y) * y + Int128(z) * z};
  };
  const ExactPlane x = bisector(far, 0, 0), y = bisector(0, far, 0), z = bisector(0, 0, far);
  EXPECT_EQ(exact_side(x, y, z, bisector(far, far, far)), 0);
  EXPECT_EQ(exact_side(x, y, z, bisector(far, far, far - 1)), 1);
  EXPECT_EQ(exact_side(x, y, z, bisector(far, far, -1)), -1);
  EXPECT_EQ(exact_side(x, y, z, bisector(-far, -far, -far)), -1);
  EXPECT_EQ(exact_side(x, y, z, {{0, 0, 1}, far}), 0);
  EXPECT_EQ(exact_side(x, y, z, {{0, 0, 1}, far - 1}), 1);
  EXPECT_EQ(exact_side(x, y, z, {{0, 0, 1}, far + 1}), -1);
  EXPECT_EQ(exact_vertex(x, y, z), (Point{0x1p50, 0x1p50, 0x1p50}));
  const ExactPlane low{{-1, 0, 0}, 6};
  EXPECT_EQ(exact_vertex(low, z, y), (Point{-3, 0x1p50, 0x1p50}));
}

}  // namespace
}  // namespace thor
