#include "thor/datasets/equal_cells.hpp"

#include <gtest/gtest.h>

#include <random>

#include "thor/math/functions.hpp"
#include "thor/transport/lane.hpp"

namespace thor {
namespace equal_cells_test {

/// Gas with v_th = 1 at T = 1, sigma_0 = 1 per cell.
constexpr CellUnits gas_units{1, 1, 0, 1, 1, 1e-3};

using Density = std::function<double(std::int64_t, std::int64_t, std::int64_t)>;

GridShape shape_of(const CellIndex& count) {
  GridShape s;
  s.count = count, s.cell_size = 1;
  return s;
}
std::unique_ptr<Cells> make_cells(const CellIndex& count, const Density& density, const CellIndex& first = {},
                                  bool packed = false) {
  auto cells = std::make_unique<Cells>(shape_of(count), CellLayout{packed, false, false}, gas_units, 1);
  for (std::int64_t i = 0; i < cells->shape().cells(); ++i) {
    const std::int64_t x = i / (count[1] * count[2]), y = i / count[2] % count[1], z = i % count[2];
    cells->set_density(i, density(first[0] + x, first[1] + y, first[2] + z));
    cells->set_temperature(i, 1);
    for (int k = 0; k < 3; ++k) cells->set_velocity(i, k, 0);
  }
  return cells;
}

/// Coarse cells of some sizes, thin gas, and a large part that is all alike.
double blocks(std::int64_t x, std::int64_t y, std::int64_t z) {
  if (x < 2) return 1e-3;
  if (x > 12) return 5;
  const std::int64_t side = y < 4 ? 1 : y < 8 ? 2 : 4;
  return 1 + double((x / side * 7 + y / side * 13 + z / side * 29) % 11);
}

std::vector<float> around_all(const CellsOfGrid& known, const CellBox& box) {
  std::vector<float> around(std::size_t(box.cells()));
  equal_cells_around(known, box, 2, [&](std::int64_t i, float digits) { around[std::size_t(i)] = digits; });
  return around;
}

std::array<int, 6> digits_of(float around) {
  std::array<int, 6> digits{};
  auto rest = int(around);
  for (int& digit : digits) digit = rest % around_base, rest /= around_base;
  return digits;
}

TEST(EqualCells, CuboidsAreHomogeneousAndCannotGrow) {
  const CellIndex count{37, 12, 34};
  const auto cells = make_cells(count, blocks);
  ASSERT_TRUE(has_equal_cells(*cells, 2));
  const auto around = around_all({*cells, cells->shape().box(), count}, cells->shape().box());
  const auto homogeneous = [&](const std::int64_t(&low)[3], const std::int64_t(&high)[3]) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (low[k] < 0 || high[k] >= count[k]) return false;
    }
    for (std::int64_t x = low[0]; x <= high[0]; ++x) {
      for (std::int64_t y = low[1]; y <= high[1]; ++y) {
        for (std::int64_t z = low[2]; z <= high[2]; ++z) {
          if (blocks(x, y, z) != blocks(low[0], low[1], low[2])) return false;
        }
      }
    }
    return true;
  };
  int joined = 0;
  for (std::int64_t i = 0; i < cells->shape().cells(); i += 3) {
    const std::int64_t cell[3] = {i / (count[1] * count[2]), i / count[2] % count[1], i % count[2]};
    const auto grown = digits_of(around[std::size_t(i)]);
    if (blocks(cell[0], cell[1], cell[2]) < 0.1) {
      ASSERT_EQ(around[std::size_t(i)], 0) << "thin gas";
      continue;
    }
    std::int64_t low[3], high[3];
    for (std::size_t k = 0; k < 3; ++k) low[k] = cell[k] - grown[2 * k], high[k] = cell[k] + grown[2 * k + 1];
    ASSERT_TRUE(homogeneous(low, high)) << i;
    for (std::size_t side = 0; side < 6; ++side) {
      if (grown[side] == equal_cells_reach) continue;
      std::int64_t& face = side % 2 == 0 ? low[side / 2] : high[side / 2];
      face += side % 2 == 0 ? -1 : 1;
      ASSERT_FALSE(homogeneous(low, high)) << i << ", side " << side << " could grow";
      face -= side % 2 == 0 ? -1 : 1;
    }
    joined += around[std::size_t(i)] > 0;
  }
  EXPECT_GT(joined, 3000);
  EXPECT_EQ(digits_of(around[std::size_t((24 * 12 + 6) * 34 + 20)]), (std::array<int, 6>{7, 7, 6, 5, 7, 7}));
}

TEST(EqualCells, OfAPartAreThoseOfTheWhole) {
  const CellIndex count{37, 12, 34};
  const auto cells = make_cells(count, blocks);
  const auto whole = around_all({*cells, cells->shape().box(), count}, cells->shape().box());
  for (const bool periodic : {false, true}) {
    const Domains domains(count, periodic, 7, 2);
    for (int domain = 0; domain < domains.count(); ++domain) {
      const CellBox box = domains.padded(domain), known = domains.grown(box, equal_cells_reach);
      const auto wrapped = [&](std::int64_t cell, std::size_t k) { return ((cell % count[k]) + count[k]) % count[k]; };
      const auto part = make_cells(
          known.count,
          [&](std::int64_t x, std::int64_t y, std::int64_t z) {
            return blocks(wrapped(x, 0), wrapped(y, 1), wrapped(z, 2));
          },
          known.first);
      const auto around = around_all({*part, known, count}, box);
      for (std::int64_t i = 0; i < box.cells(); ++i) {
        const std::int64_t x = wrapped(box.first[0] + i / (box.count[1] * box.count[2]), 0);
        const std::int64_t y = wrapped(box.first[1] + i / box.count[2] % box.count[1], 1);
        const std::int64_t z = wrapped(box.first[2] + i % box.count[2], 2);
        ASSERT_EQ(around[std::size_t(i)], whole[std::size_t((x * count[1] + y) * count[2] + z)])
            << periodic << " " << domain << " " << i;
      }
    }
  }
}

TEST(EqualCells, NoneInGasThatDiffers) {
  const CellIndex count{9, 8, 10};
  const auto differs = [](std::int64_t x, std::int64_t y, std::int64_t z) { return 1 + double(x + 10 * y + 100 * z); };
  EXPECT_FALSE(has_equal_cells(*make_cells(count, differs), 2));
  EXPECT_FALSE(has_equal_cells(*make_cells(count, [](auto...) { return 1e-4; }), 2)) << "too thin to jump";
  EXPECT_TRUE(has_equal_cells(*make_cells(
                                  count, [](auto...) { return 1; }, {}, true),
                              2));
  const auto cells = make_cells(count, differs);
  cells->finish(1, true);
  EXPECT_EQ(cells->dataset().around.count, 0u) << "nothing is kept";
  EXPECT_EQ(cells->layout().bytes(), 20);
}

/// From any place, a sphere of room() ends in equal cells, in the cell and at the offset where it should.
template <class Real>
void check_leaps(double error) {
  const CellIndex count{37, 12, 34};
  const auto cells = make_cells(count, blocks);
  cells->finish(2, true);
  ASSERT_GT(cells->dataset().around.count, 0u);
  EXPECT_EQ(cells->layout().bytes(), 24);
  const UniformGrid<Real> data = convert<Real>(cells->dataset());
  const auto grid = view<Real>(data);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(0, 1);
  struct {
    Real shear = 1;
  } limits;
  int far = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t cell[3] = {2 + std::int64_t(35 * u(random)), std::int64_t(12 * u(random)),
                                  std::int64_t(34 * u(random))};
    Lane<Real, GridPlace<Real, IntOf<Real>>> lane{};
    double p[3], n[3] = {u(random) - 0.5, u(random) - 0.5, u(random) - 0.5};
    const double length = std::hypot(n[0], n[1], n[2]);
    Real* const offset[3] = {&lane.px, &lane.py, &lane.pz};
    for (int k = 0; k < 3; ++k) {
      const double at = i % 7 == k ? 1e-9 + (i % 2) * (1 - 2e-9) : u(random);
      *offset[k] = from_nearer_face(Real(at));
      p[k] = double(cell[k]) + from_lower_face(double(*offset[k]));
    }
    lane.place = {IntOf<Real>(cell[0]), IntOf<Real>(cell[1]), IntOf<Real>(cell[2])};
    lane.dx = Real(n[0] / length), lane.dy = Real(n[1] / length), lane.dz = Real(n[2] / length);
    const Real room = grid.room(lane, grid.here(lane), limits);
    ASSERT_GE(room, 0);
    // The nearest other gas is as far as one sees by going along the axes, or farther than cuboids reach.
    for (std::size_t k = 0; k < 3; ++k) {
      for (const int side : {-1, 1}) {
        std::int64_t at[3] = {cell[0], cell[1], cell[2]};
        for (at[k] += side; at[k] >= 0 && at[k] < count[k]; at[k] += side) {
          if (blocks(at[0], at[1], at[2]) != blocks(cell[0], cell[1], cell[2])) break;
        }
        const double face = double(at[k]) + (side < 0 ? 1 : 0);
        ASSERT_LE(double(room), std::abs(face - p[k]) + error);
      }
    }
    const Real s = Real(1 - 1e-5) * room;
    const double before = blocks(cell[0], cell[1], cell[2]);
    const Real d[3] = {lane.dx, lane.dy, lane.dz};
    ASSERT_FALSE(grid.leap(lane, s));
    ASSERT_EQ(blocks(lane.place.x, lane.place.y, lane.place.z), before) << i;
    const IntOf<Real> now[3] = {lane.place.x, lane.place.y, lane.place.z};
    for (int k = 0; k < 3; ++k) {
      ASSERT_NE(*offset[k], Real(0));
      ASSERT_LE(std::abs(*offset[k]), Real(0.5));
      ASSERT_NEAR(double(now[k]) + from_lower_face(double(*offset[k])), p[k] + double(s) * double(d[k]), error);
      far += now[k] != cell[k];
    }
  }
  EXPECT_GT(far, 2000);
}
TEST(EqualCells, LeapsEndInThem) {
  check_leaps<float>(2e-6);
  check_leaps<double>(1e-14);
}

}  // namespace equal_cells_test
}  // namespace thor
