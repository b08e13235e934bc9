// Rays in step with cells: mass from all directions, pixels as averages over their areas.
#include "thor/operators/ray_lattice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>

#include "thor/datasets/field_array.hpp"
#include "thor/parallel/ray_engine.hpp"

namespace {

using namespace thor;
using Vector = std::array<double, 3>;

/// A grid in which a few cells have most of the mass.
struct Lumps {
  GridShape shape;
  std::optional<GridFieldCells> cells;
  FieldArray field;
  double mass = 0;

  Lumps(CellIndex count, unsigned seed) {
    shape.count = count, shape.cell_size = 1, shape.origin = {-1.5, 0.25, 3};
    cells.emplace(shape, shape.box());
    field = new_field(*cells);
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (std::int64_t i = 0; i < shape.cells(); ++i) {
      const float value = float(std::exp(3 * normal(random)));
      field.numbers[cells->index(i)] = value, mass += double(value);
    }
  }
  template <class Real>
  std::unique_ptr<RayEngine> engine() const {
    Scene<UniformGrid<Real>> s{};
    s.dataset = convert<Real>(cells->layout());
    for (int k = 0; k < 3; ++k) s.zero[k] = cells->layout().zero[k];
    s.fields[0] = {field.numbers.get(), field.count};
    return make_ray_engine(AnyScene<Real>(s), cpu::Options{1, false, ""});
  }
  double value(int x, int y, int z) const {
    return double(field.numbers[cells->index((x * shape.count[1] + y) * shape.count[2] + z)]);
  }
};

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector unit(const Vector& v) {
  const double length = std::hypot(v[0], v[1], v[2]);
  return {v[0] / length, v[1] / length, v[2] / length};
}

/// It looks at a place of the grid, given as a share of its sides.
Camera camera_of(const Lumps& grid, const Vector& direction, double turned, double width, int columns, int rows,
                 const Vector& at = {0.5, 0.5, 0.5}) {
  Camera c{};
  c.type = CameraType::orthographic, c.columns = columns, c.rows = rows, c.near = -1e9, c.far = 1e9;
  const Vector forward = unit(direction), hint = std::abs(forward[1]) < 0.9 ? Vector{0, 1, 0} : Vector{1, 0, 0};
  const Vector right = unit(cross(forward, hint)), up = cross(right, forward);
  for (std::size_t k = 0; k < 3; ++k) {
    c.forward[k] = forward[k];
    c.right[k] = std::cos(turned) * right[k] + std::sin(turned) * up[k];
    c.up[k] = std::cos(turned) * up[k] - std::sin(turned) * right[k];
    c.position[k] = grid.shape.origin[k] + at[k] * double(grid.shape.count[k]);
  }
  c.half_width = 0.5 * width, c.half_height = c.half_width * rows / columns;
  return c;
}

ImageJob projection_of(const Camera& camera) {
  ImageJob job{};
  job.camera = camera;
  Projection projection;
  projection.value.field = 0;
  job.set(projection);
  return job;
}

/// The image, in pieces of so many rows and tiles.
std::vector<double> image_of(const Lumps& grid, RayEngine& engine, const Camera& camera, int samples,
                             int rows = 1 << 20, std::size_t tiles_at_once = 100) {
  const RayLattice rays(camera, grid.shape, samples);
  const ImageJob job = rays.job_of(projection_of(camera));
  std::vector<double> image;
  for (int row = 0; row < camera.rows; row += rows) {
    const int some = std::min(rows, camera.rows - row);
    std::vector<double> pixels(std::size_t(camera.columns) * std::size_t(some));
    const std::vector<ImageTile> all = rays.tiles(row, some);
    for (std::size_t i = 0; i < all.size(); i += tiles_at_once) {
      const std::span tiles(all.begin() + std::ptrdiff_t(i), std::min(tiles_at_once, all.size() - i));
      std::size_t count = 0;
      for (const ImageTile& tile : tiles) count += tile.pixels();
      std::vector<double> found(count);
      engine.image(job, tiles, found);
      rays.average(tiles, found, row, some, pixels, 2);
    }
    image.insert(image.end(), pixels.begin(), pixels.end());
  }
  return image;
}

double sum_of(const std::vector<double>& image) { return std::accumulate(image.begin(), image.end(), 0.); }
double area_of(const Camera& c) { return c.pixel() * 2 * c.half_height / c.rows; }

template <class Real>
class Lattice : public testing::Test {
 public:
  static constexpr double rounding = sizeof(Real) == 4 ? 3e-7 : 1e-13;
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Lattice, Reals);

std::vector<Vector> directions() {
  std::vector<Vector> list{{0, 0, 1},    {0, -1, 0},       {1, 0, 0},       {1, 1, 0},          {0, -1, 1}, {1, 1, -1},
                           {1e-3, 0, 1}, {1e-4, 2e-5, -1}, {1, 3e-8, 1e-8}, {1e-12, 1, -1e-14}, {2, 1, 0},  {-3, 2, 1}};
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 24; ++i) list.push_back({normal(random), normal(random), normal(random)});
  return list;
}

TYPED_TEST(Lattice, MassIsTheSameFromAllDirections) {
  double worst_of_middles = 0;
  int turn = 0;
  for (const CellIndex& count : {CellIndex{8, 8, 8}, {13, 5, 21}, {1, 1, 1}, {40, 1, 3}}) {
    const Lumps grid(count, 9);
    const auto engine = grid.engine<TypeParam>();
    // Rays at the edge stand for squares that reach beyond the grid.
    const double across = 3 + std::hypot(double(count[0]), double(count[1]), double(count[2]));
    for (const Vector& direction : directions()) {
      const int pixels = std::array{1, 2, 7, 37, 96}[std::size_t(++turn % 5)];
      const double turned = turn % 3 == 0 ? 0 : turn % 3 == 1 ? 0.6 : 0.5 * std::numbers::pi;
      const Camera camera = camera_of(grid, direction, turned, across, pixels, turn % 4 == 0 ? pixels + 3 : pixels);
      const int samples = turn % 7 == 0 ? 3 : 1;
      const double mass = sum_of(image_of(grid, *engine, camera, samples)) * area_of(camera);
      EXPECT_NEAR(mass / grid.mass, 1, this->rounding)
          << direction[0] << " " << direction[1] << " " << direction[2] << ", " << pixels << " pixels";
      // The twin: one ray through the middle of each pixel.
      std::vector<double> middles(std::size_t(camera.columns) * std::size_t(camera.rows));
      engine->image(projection_of(camera), middles);
      worst_of_middles = std::max(worst_of_middles, std::abs(sum_of(middles) * area_of(camera) / grid.mass - 1));
    }
  }
  EXPECT_GT(worst_of_middles, 0.1);
}

TYPED_TEST(Lattice, PixelsAreAveragesOverTheirAreas) {
  const Lumps grid({5, 4, 6}, 3);
  const auto engine = grid.engine<TypeParam>();
  std::mt19937 random(2);
  std::uniform_real_distribution<double> share(0.2, 0.8);
  for (const Vector& direction : {Vector{0.3, -0.5, 0.8}, {1, 0.02, -0.4}, {0.5, 0, 1}, {0, 0, 1}}) {
    for (const double width : {0.7, 4., 11.}) {  // in one cell, in some, and all of the grid
      const Camera camera = camera_of(grid, direction, 0.4, width, 5, 4, {share(random), share(random), share(random)});
      const std::vector<double> image = image_of(grid, *engine, camera, 40);
      // The mean of many rays, which knows nothing of cells.
      constexpr int many = 61;
      ImageJob job = projection_of(camera);
      job.samples = many;
      std::vector<double> means(image.size());
      engine->image(job, means);
      const double brightest = *std::ranges::max_element(means);
      for (std::size_t i = 0; i < image.size(); ++i) EXPECT_NEAR(image[i], means[i], 0.002 * brightest) << i;
      // The twin: a camera that is moved by a tenth of a pixel.
      Camera moved = camera;
      for (std::size_t k = 0; k < 3; ++k) moved.position[k] += 0.1 * camera.pixel() * camera.right[k];
      if (width < 1) continue;  // all of it is nearly even
      const std::vector<double> other = image_of(grid, *engine, moved, 40);
      double largest = 0;
      for (std::size_t i = 0; i < image.size(); ++i) largest = std::max(largest, std::abs(other[i] - means[i]));
      EXPECT_GT(largest, 0.008 * brightest);
    }
  }
}

TYPED_TEST(Lattice, AlongAnAxisPixelsHaveTheirShareOfEachColumn) {
  const Lumps grid({6, 5, 7}, 8);
  const auto engine = grid.engine<TypeParam>();
  for (const int columns : {1, 3, 11, 50}) {
    const Camera camera = camera_of(grid, {0, 0, 1}, 0, 7.3, columns, columns, {0.47, 0.55, 0.5});
    const std::vector<double> image = image_of(grid, *engine, camera, 1);
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < columns; ++i) {
        // The camera looks along z, and x is to its left.
        const double x1 = 0.47 * 6 + 3.65 - i * camera.pixel(), x0 = x1 - camera.pixel();
        const double y0 = 0.55 * 5 - 3.65 + j * camera.pixel(), y1 = y0 + camera.pixel();
        double expected = 0;
        for (int x = 0; x < 6; ++x) {
          for (int y = 0; y < 5; ++y) {
            const double wide = std::max(std::min(x1, x + 1.) - std::max(x0, double(x)), 0.);
            const double high = std::max(std::min(y1, y + 1.) - std::max(y0, double(y)), 0.);
            for (int z = 0; z < 7; ++z) expected += wide * high * grid.value(x, y, z) / area_of(camera);
          }
        }
        EXPECT_NEAR(image[std::size_t(j * columns + i)], expected, this->rounding * (1 + 4 * expected));
      }
    }
  }
}

TYPED_TEST(Lattice, RowsAndRaysCanBeTakenInPieces) {
  const Lumps grid({9, 12, 10}, 5);
  const auto engine = grid.engine<TypeParam>();
  for (const double width : {3., 25., 400.}) {
    const Camera camera = camera_of(grid, {0.4, 0.7, -0.5}, 0.9, width, 19, 23);
    const std::vector<double> whole = image_of(grid, *engine, camera, 1);
    EXPECT_GT(*std::ranges::max_element(whole), 0);
    for (const int rows : {1, 4, 10, 23}) {
      for (const std::size_t tiles : {1, 2, 7}) {
        const std::vector<double> pieces = image_of(grid, *engine, camera, 1, rows, tiles);
        for (std::size_t i = 0; i < whole.size(); ++i) {
          EXPECT_EQ(whole[i], pieces[i]) << "pixel " << i << ", width " << width << ", " << rows << ", " << tiles;
        }
      }
    }
  }
}

TEST(LatticeTiles, AreNeitherTooLargeNorTooMany) {
  const Lumps grid({8, 6, 8}, 5);
  struct Case {
    int columns, rows, samples;
    double turned;
  };
  for (const Case& c : {Case{65536, 1, 16, 0.9}, {3000, 3000, 16, 0.4}, {1, 40000, 4, 0.7}, {512, 512, 1, 0}}) {
    const Camera camera = camera_of(grid, {1, -2, 1.5}, c.turned, 40, c.columns, c.rows);
    double rays = 0, most = 0;
    for (const ImageTile& tile : RayLattice(camera, grid.shape, c.samples).tiles(0, c.rows)) {
      const auto count = double(tile.pixels());
      rays += count, most = std::max(most, tile.rows == 1 ? 0 : count);
    }
    EXPECT_LE(most, RayLattice::most_rays);
    EXPECT_LT(rays, 6. * c.columns * c.rows * c.samples * c.samples) << c.columns << " x " << c.rows;
  }
}

TYPED_TEST(Lattice, WhatIsOutsideIsNothing) {
  const Lumps grid({4, 4, 4}, 5);
  const auto engine = grid.engine<TypeParam>();
  const Camera beside = camera_of(grid, {0.4, 0.7, -0.5}, 0.9, 3, 8, 8, {9, -9, 9});
  EXPECT_TRUE(RayLattice(beside, grid.shape, 1).tiles(0, 8).empty());
  EXPECT_EQ(sum_of(image_of(grid, *engine, beside, 1)), 0);
  // Pixels that see nothing are exactly 0, however bright their neighbours are.
  const Camera around = camera_of(grid, {0.4, 0.7, -0.5}, 0.9, 40, 64, 64);
  int empty = 0;
  for (const double value : image_of(grid, *engine, around, 1)) {
    EXPECT_TRUE(value == 0 || value > 1e-9);
    empty += value == 0;
  }
  EXPECT_GT(empty, 3000);
  // A pixel much larger than the grid, and one much smaller than a cell.
  const Camera far = camera_of(grid, {0.4, 0.7, -0.5}, 0.9, 1e6, 1, 1);
  EXPECT_NEAR(image_of(grid, *engine, far, 1)[0] * area_of(far) / grid.mass, 1, this->rounding);
  const Camera near = camera_of(grid, {0, 0, 1}, 0.9, 2e-6, 2, 2, {0.3, 0.3, 0.5});
  double column = 0;
  for (int z = 0; z < 4; ++z) column += grid.value(1, 1, z);
  for (const double value : image_of(grid, *engine, near, 1)) EXPECT_NEAR(value / column, 1, 1e-6);
}

}  // namespace
