#include "thor/generators/light_map.hpp"

#include <gtest/gtest.h>

#include "thor/datasets/grid_mesh.hpp"

namespace thor {
namespace {

/// A generator of two points, and one of cells that shine by their number along z.
struct Lights {
  SourceList cells;
  Emitter<double> emitter{1, {}, {}, {}};

  explicit Lights(const CellIndex& shape) {
    std::uint64_t end = 0;
    for (std::int64_t i = 0; i < shape[0] * shape[1] * shape[2]; ++i) {
      cells.end.push_back(end += std::uint64_t(i % shape[2]));
    }
    cells.slots = end;
    Source<double> gas{}, point{};
    gas.shape = BirthPlace::table, gas.table = cells.table();
    point.shape = BirthPlace::point, point.place[0] = 1, point.place[1] = int(shape[1] / 2), point.place[2] = 0;
    emitter.sources = {gas, point};
    emitter.light.resize(2);
    emitter.light[0].share(1, 300), emitter.light[1].share(1, 100);
  }
};

/// Of a grid, and of boxes of its cells.
struct MapOfGrid {
  GridMesh mesh;
  LightMap map;
  CellIndex count;
  explicit MapOfGrid(const CellIndex& shape) : mesh(of_cells(shape)), map(Lights(shape).emitter, mesh), count(shape) {}

  static GridShape of_cells(const CellIndex& shape) {
    GridShape grid;
    grid.count = shape, grid.cell_size = 1;
    return grid;
  }
  double operator()(const CellBox& box) const {
    LightMap::Place low{}, high{};
    for (std::size_t k = 0; k < 3; ++k) {
      low[k] = double(box.first[k]) / double(count[k]), high[k] = low[k] + double(box.count[k]) / double(count[k]);
    }
    return map(low, high);
  }
};

TEST(LightMap, CountsWhereThereIsABlockForEachCell) {
  const CellIndex shape{3, 4, 5};
  const MapOfGrid map(shape);
  EXPECT_NEAR(map({{}, shape}), 1, 1e-12);
  EXPECT_NEAR(map({{1, 2, 0}, {1, 1, 1}}), 0.25, 1e-12) << "the point";
  EXPECT_NEAR(map({{0, 0, 4}, {3, 4, 1}}), 0.75 * 0.4, 1e-12) << "the last layer";
  EXPECT_NEAR(map({{0, 0, 0}, {1, 4, 1}}), 0, 1e-12);
}

TEST(LightMap, IsLinearInsideBlocks) {
  const CellIndex shape{200, 2, 2};
  const MapOfGrid map(shape);
  EXPECT_NEAR(map({{}, shape}), 1, 1e-12);
  EXPECT_NEAR(map({{100, 0, 0}, {100, 2, 2}}), 0.375, 0.01);
  EXPECT_NEAR(map({{101, 0, 0}, {33, 2, 2}}), 0.75 * 33 / 200, 0.01);
}

}  // namespace
}  // namespace thor
