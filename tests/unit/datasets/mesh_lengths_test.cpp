// Lengths of core skipping in meshes, against the shortest of straight ways between all pairs of cells.
#include "thor/datasets/mesh_lengths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "thor/datasets/octree_mesh.hpp"
#include "thor/datasets/voronoi_mesh.hpp"

namespace thor {
namespace {

constexpr CellLayout layout_with_lengths{false, false, true};
constexpr CellUnits plain_units{1, 1, 0, 1, 1, 1e-3};

/// Thick gas at rest, of a density that a function of the place gives.
void fill(MeshCells& cells, const HostMesh& mesh, const std::function<double(const HostMesh::Position&)>& density) {
  for (std::int64_t i = 0; i < cells.cells(); ++i) {
    cells.set_density(i, density(mesh.centre(mesh.place(i)))), cells.set_temperature(i, 1);
    for (int k = 0; k < 3; ++k) cells.set_velocity(i, k, 0);
  }
}

/// The way from each cell to the nearest cell next to empty gas or to a wall, on which gas is as thick as there.
std::vector<double> straight_ways(const MeshCells& cells, const HostMesh& mesh) {
  std::vector<double> starts, found;
  for (std::int64_t i = 0; i < cells.cells(); ++i) {
    double least = 1e9;
    cells.for_each_behind(i, [&](const MeshCells::Behind& face) {
      if (face.cell < 0 || cells.gas(face.cell).opacity < cells.gas(i).opacity) least = std::min(least, face.to_face);
    });
    starts.push_back(std::max(least, cells.to_face(i)));
  }
  for (std::int64_t i = 0; i < cells.cells(); ++i) {
    const auto here = mesh.centre(mesh.place(i));
    double least = 1e9;
    for (std::int64_t j = 0; j < cells.cells(); ++j) {
      const auto there = mesh.centre(mesh.place(j));
      least = std::min(least,
                       starts[std::size_t(j)] + std::hypot(here[0] - there[0], here[1] - there[1], here[2] - there[2]));
    }
    found.push_back(least);
  }
  return found;
}

/// Thick inside of a sphere, nothing outside of it.
double ball(const HostMesh::Position& at, double radius) {
  return std::hypot(at[0], at[1], at[2]) < radius ? 1e6 : 1e-6;
}

void compare(const MeshCells& cells, const HostMesh& mesh, double low, double high, double most) {
  const MeshCells* const all[] = {&cells};
  const std::vector<float> lengths = mesh_lengths(nullptr, all, 3).front().at_middle;
  ASSERT_EQ(lengths, mesh_lengths(nullptr, all, 1).front().at_middle);
  const std::vector<double> straight = straight_ways(cells, mesh);
  double longest = 0;
  for (std::size_t i = 0; i < straight.size(); ++i) {
    if (cells.gas(std::int64_t(i)).opacity < 1) continue;
    ASSERT_GE(lengths[i], float(low * straight[i])) << i;
    ASSERT_LE(lengths[i], float(high * straight[i])) << i;
    longest = std::max(longest, double(lengths[i]));
  }
  EXPECT_NEAR(longest, most, 0.15 * most);
}

TEST(MeshLengths, OfSites) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-0.5, 0.5);
  std::vector<std::array<double, 3>> sites;
  for (int i = 0; i < 3000; ++i) {
    const double shrink = i % 2 == 0 ? 1 : 0.5;
    sites.push_back({shrink * u(random), shrink * u(random), shrink * u(random)});
  }
  const auto mesh =
      std::make_shared<const VoronoiMesh>("test", sites, MeshBox{1, {-0.5, -0.5, -0.5}, false, 0, 0}, false, 2);
  VoronoiCells cells(mesh, nullptr, layout_with_lengths, plain_units, 0);
  const double radius = 0.4 / mesh->unit();
  fill(cells, *mesh, [&](const auto& at) { return ball(at, radius); });
  compare(cells, *mesh, 0.8, 1.1, 0.8 * radius);
  fill(cells, *mesh, [](const auto&) { return 1e6; });  // to the walls
  compare(cells, *mesh, 0.8, 1.1, 0.4 / mesh->unit());
}

TEST(MeshLengths, OfLeaves) {
  std::mt19937 random(4);
  std::vector<OctreeLeaf> leaves;
  const std::function<void(int, std::array<std::int64_t, 3>)> split = [&](int level, std::array<std::int64_t, 3> at) {
    if (level == 5 || (level > 2 && random() % 4 != 0)) return leaves.push_back({level, at});
    for (int k = 0; k < 8; ++k) split(level + 1, {2 * at[0] + (k >> 2), 2 * at[1] + (k >> 1 & 1), 2 * at[2] + (k & 1)});
  };
  split(0, {0, 0, 0});
  const auto tree = std::make_shared<const OctreeTree>("test", leaves);
  const auto mesh = std::make_shared<const OctreeMesh>(tree, MeshBox{1, {-0.5, -0.5, -0.5}, false, 0, 0});
  OctreeCells cells(mesh, nullptr, layout_with_lengths, plain_units, 0);
  fill(cells, *mesh, [&](const auto& at) { return ball(at, 0.4 * 32); });
  compare(cells, *mesh, 0.55, 1.3, 0.6 * 0.4 * 32);
  fill(cells, *mesh, [](const auto&) { return 1e6; });
  compare(cells, *mesh, 0.55, 1.3, 0.6 * 16);
}

/// Gas that becomes thinner outwards, or moves at different speeds, ends lengths where it does.
TEST(MeshLengths, OfGradients) {
  std::vector<OctreeLeaf> leaves;
  for (std::int64_t i = 0; i < 4096; ++i) leaves.push_back({4, {i / 256, i / 16 % 16, i % 16}});
  const auto tree = std::make_shared<const OctreeTree>("test", leaves);
  const auto mesh = std::make_shared<const OctreeMesh>(tree, MeshBox{1, {-0.5, -0.5, -0.5}, true, 0, 0});
  OctreeCells cells(mesh, nullptr, layout_with_lengths, plain_units, 0);
  const MeshCells* const all[] = {&cells};
  fill(cells, *mesh, [](const auto&) { return 1e6; });
  EXPECT_GT(mesh_lengths(nullptr, all, 2).front().at_middle[0], 1e8f);
  // A tenth less in one cell: 10 cells from its neighbours, less the half that is theirs.
  const std::int64_t cell = 2048;
  cells.set_density(cell, 9e5), cells.set_temperature(cell, 1);
  const std::vector<float> falls = mesh_lengths(nullptr, all, 2).front().at_middle;
  EXPECT_NEAR(*std::ranges::min_element(falls), 9.5, 1e-4);
  EXPECT_NEAR(falls[std::size_t(cell)], 9.5 + 0.577, 1e-4);
  // Half a thermal width: 2 cells, less a half, from either side.
  cells.set_velocity(cell, 1, 0.5);
  const std::vector<float> moves = mesh_lengths(nullptr, all, 2).front().at_middle;
  EXPECT_NEAR(moves[std::size_t(cell)], 1.5, 1e-4);
  EXPECT_NEAR(*std::ranges::min_element(moves), 1.5, 1e-4);
}

/// Beside a face behind which gas ends there is no length but the way to it, however near another face of the cell is.
TEST(MeshLengths, EndWhereGasDoes) {
  std::vector<std::array<double, 3>> sites;
  for (int i = 0; i < 512; ++i) {  // pairs of sites along z, next to each other
    const double x = (i / 64 + 0.5) / 8 - 0.5, y = (i / 8 % 8 + 0.5) / 8 - 0.5, z = (i % 8 + 0.5) / 8 - 0.5;
    sites.push_back({x, y, z - 1e-4}), sites.push_back({x, y, z + 1e-4});
  }
  const auto mesh =
      std::make_shared<const VoronoiMesh>("test", sites, MeshBox{1, {-0.5, -0.5, -0.5}, true, 0, 0}, false, 2);
  VoronoiCells cells(mesh, nullptr, layout_with_lengths, plain_units, 0);
  fill(cells, *mesh, [](const auto& at) { return at[0] > 0 ? 1e6 : 1e-6; });
  const MeshCells* const all[] = {&cells};
  const ::thor::MeshLengths found = mesh_lengths(nullptr, all, 2).front();
  const double side = mesh->sides()[0] / 8;
  for (std::int64_t i = 0; i < cells.cells(); ++i) {
    if (cells.gas(i).opacity < 1) continue;
    const double x = mesh->centre(mesh->place(i))[0], to_step = std::min(x, 4 * side - x) - 0.5 * side;
    // Cells beside the step have none; others at most the way from their nearest face to the step.
    ASSERT_LE(found.at_face[std::size_t(i)], 1.1 * to_step + 1e-3 * side);
    ASSERT_GE(found.at_middle[std::size_t(i)], 0.5 * side * (1 - 1e-3));
  }
}

}  // namespace
}  // namespace thor
