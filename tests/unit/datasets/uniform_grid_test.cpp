#include "thor/datasets/uniform_grid.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/grid.hpp"
#include "support/stream.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/datasets/grid_file.hpp"
#include "thor/datasets/grid_partition.hpp"
#include "thor/datasets/medium.hpp"
#include "thor/datasets/neighbourhood.hpp"
#include "thor/random/seed.hpp"
#include "thor/random/uniform.hpp"
#include "thor/transport/lane.hpp"

namespace thor {
namespace {

TEST(PackedCell, KeepsItsBounds) {
  double wide = 0, narrow = 0, units = 0;
  for (double e = -69.9; e < 56.9; e += 0.00137) {
    const auto v = float(std::exp2(e));
    wide = std::max(wide, std::abs(double(unpack_wide(pack_wide(v))) / v - 1));
  }
  for (double e = -15.9; e < 15.9; e += 0.00037) {
    const auto v = float(std::exp2(e));
    narrow = std::max(narrow, std::abs(double(unpack_narrow(pack_narrow(v))) / v - 1));
  }
  for (double v = -32767; v <= 32767; v += 0.37) {
    units = std::max(units, std::abs(double(unpack_signed(pack_signed(float(v)))) - v));
  }
  EXPECT_LT(wide, 0x1p-10);
  EXPECT_GT(wide, 0x1p-11) << "the bound is tight";
  EXPECT_LT(narrow, 0x1p-12);
  EXPECT_GT(narrow, 0x1p-13);
  EXPECT_LE(units, 0.503);
}

TEST(PackedCell, EndsOfTheRange) {
  EXPECT_LT(unpack_wide(pack_wide(0)), 1e-21f);
  EXPECT_LT(unpack_wide(pack_wide(1e-30f)), 1e-21f);
  EXPECT_GT(unpack_wide(pack_wide(1e30f)), 1e17f);
  EXPECT_FLOAT_EQ(unpack_signed(pack_signed(-32767)), -32767);
}

GridShape cube(std::int64_t n) {
  GridShape s;
  s.count = {n, n, n};
  s.cell_size = 1;
  return s;
}

/// Gas with v_th = 1 at T = 1, sigma_0 = 1 per cell.
constexpr CellUnits plain{1, 1, 0, 1, 1, 1e-3};

TEST(Cells, KeepWhatIsPutIn) {
  for (const bool packed : {false, true}) {
    Cells cells(cube(3), {packed, true, false}, plain, 50);
    for (std::int64_t i = 0; i < 27; ++i) {
      cells.set_density(i, 2. + double(i));
      cells.set_temperature(i, 1 + 0.5 * double(i));
      for (int k = 0; k < 3; ++k) cells.set_velocity(i, k, double(k + 1) * double(i - 13));
      cells.set_dust(i, 0.01 * double(i));
    }
    cells.finish(2);
    const double tolerance = packed ? 2e-3 : 1e-6;
    for (std::int64_t i = 0; i < 27; ++i) {
      const CellGas<double> g = cells.gas(i);
      const double w = std::sqrt(1 + 0.5 * double(i));
      EXPECT_NEAR(g.inverse_width * w, 1, tolerance);
      EXPECT_NEAR(g.opacity * w / (2. + double(i)), 1, tolerance) << "sigma_0 is proportional to 1/w";
      EXPECT_NEAR(g.velocity.x, double(i - 13), packed ? 50. / 65534 * 1.01 : 1e-6);
      EXPECT_NEAR(g.velocity.y, 2. * double(i - 13), packed ? 50. / 65534 * 1.01 : 1e-5);
      EXPECT_NEAR(g.velocity.z, 3. * double(i - 13), packed ? 50. / 65534 * 1.01 : 1e-5);
      EXPECT_NEAR(g.dust_ratio * g.opacity, 0.01 * double(i), tolerance * 0.3 + 1e-7);
    }
    EXPECT_EQ(cells.layout().bytes(), packed ? 12 : 24);
    EXPECT_GT(cells.statistics().share_of_jumps(), 0.5);
  }
  EXPECT_EQ((CellLayout{false, false, false}.bytes()), 20);
}

TEST(Cells, PackedDustNeedsNoGas) {
  Cells cells(cube(2), {true, true, false}, plain, 1);
  for (std::int64_t i = 0; i < 8; ++i) {
    cells.clear(i);
    cells.set_dust(i, 1.4 * double(i));
  }
  for (std::int64_t i = 0; i < 8; ++i) {
    const CellGas<double> g = cells.gas(i);
    EXPECT_NEAR(g.dust_ratio * g.opacity, 1.4 * double(i), 2.8e-3 * double(i) + 1e-20);
    EXPECT_LT(g.opacity, 1e-15);
  }
}

TEST(Cells, TooManyAreAnErrorThatSaysHowMuch) {
  GridShape huge = cube(100000);
  try {
    const Cells cells(huge, {}, plain, 0);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::input);
    EXPECT_NE(std::string(e.what()).find("20 PB"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("packed"), std::string::npos) << e.what();
  }
}

/// Follows a ray through cells of a given side in long double, and the lane along with it.
template <class V>
void follow_rays(bool periodic) {
  Cells cells(cube(7), {}, plain, 0);
  for (std::int64_t i = 0; i < 343; ++i) cells.clear(i);
  cells.finish(1);
  UniformGrid<double> data = cells.dataset();
  data.periodic = periodic;
  const UniformGrid<RealOf<V>> converted = convert<RealOf<V>>(data);
  const auto grid = view<V>(converted);
  const double tolerance = sizeof(RealOf<V>) == 4 ? 2e-5 : 1e-12;
  auto random = xoshiro<double>(stream_key(5, 1));
  for (int ray = 0; ray < 300; ++ray) {
    const auto d = isotropic_direction<double>(random.next(), random.next());
    double start[3];
    Lane<V, GridPlace<V, IntOf<V>>> lane{};
    for (double& s : start) s = 3 + double(uniform<V>(random.next()));
    lane.place = {3, 3, 3};
    lane.px = from_nearer_face(V(start[0] - 3)), lane.py = from_nearer_face(V(start[1] - 3));
    lane.pz = from_nearer_face(V(start[2] - 3));
    lane.dx = V(d.x), lane.dy = V(d.y), lane.dz = V(d.z);
    double way = 0;
    bool out = false;
    for (int step = 0; step < 100 && !out; ++step) {
      const Vec3<V> p{lane.px, lane.py, lane.pz}, n{lane.dx, lane.dy, lane.dz};
      const auto segment = grid.segment(lane.place, p, n);
      const V s = segment.length();
      grid.advance(lane, s, NoSegment());
      way += double(s);
      out = grid.cross(lane, true, segment).leaves;
      const double offsets[3] = {double(lane.px), double(lane.py), double(lane.pz)};
      const std::int64_t cell[3] = {lane.place.x, lane.place.y, lane.place.z};
      const double slope[3] = {d.x, d.y, d.z};
      for (int k = 0; k < 3; ++k) {
        ASSERT_GE(cell[k], 0);
        ASSERT_LT(cell[k], 7);
        double gap = double(cell[k]) + from_lower_face(offsets[k]) - (start[k] + way * slope[k]);
        if (periodic) gap -= 7 * std::round(gap / 7);
        ASSERT_NEAR(gap, 0, tolerance * (1 + way)) << "step " << step;
      }
      ASSERT_FALSE(periodic && out);
    }
    EXPECT_EQ(out, !periodic);
  }
}
TEST(UniformGrid, ARayGoesStraight) {
  follow_rays<float>(false), follow_rays<double>(false);
  follow_rays<float>(true), follow_rays<double>(true);
}

/// Flies 1e-10 cells inward from a face and half of that back, from both sides of each axis.
template <class V>
void fly_below_faces() {
  Cells cells(cube(3), {}, plain, 0);
  for (std::int64_t i = 0; i < 27; ++i) cells.clear(i);
  cells.finish(1);
  const UniformGrid<V> data = convert<V>(cells.dataset());
  const auto grid = view<V>(data);
  for (int axis = 0; axis < 3; ++axis) {
    for (const V side : {V(0), V(1)}) {
      Lane<V, GridPlace<V, IntOf<V>>> lane{};
      lane.place = {1, 1, 1};
      V* const offset[3] = {&lane.px, &lane.py, &lane.pz};
      V* const slope[3] = {&lane.dx, &lane.dy, &lane.dz};
      const auto way = [&] {
        return grid.segment(lane.place, {lane.px, lane.py, lane.pz}, {lane.dx, lane.dy, lane.dz}).length();
      };
      for (V* o : offset) *o = from_nearer_face(V(0.5));
      *offset[axis] = from_nearer_face(side);
      const V inward = side > 0 ? V(-1) : V(1);
      *slope[axis] = inward, grid.advance(lane, V(1e-10), NoSegment());
      *slope[axis] = -inward;
      EXPECT_NEAR(way(), 1e-10, 1e-15);
      grid.advance(lane, V(0.5e-10), NoSegment());
      EXPECT_NEAR(way(), 0.5e-10, 1e-15);
      *slope[axis] = inward;
      EXPECT_NEAR(way(), 1, 1e-6);
      grid.advance(lane, V(0.75), NoSegment());
      EXPECT_NEAR(way(), 0.25, 1e-6) << "nearer to the other face now";
      EXPECT_EQ(*offset[axis] < 0, side == 0);
    }
  }
}
TEST(UniformGrid, BothSidesOfACellAreResolvedAlike) { fly_below_faces<float>(), fly_below_faces<double>(); }

/// Photons only leave their cell through a face, whatever the rounding of a flight.
TEST(UniformGrid, AFlightInACellKeepsItsSide) {
  Cells cells(cube(3), {}, plain, 0);
  for (std::int64_t i = 0; i < 27; ++i) cells.clear(i);
  cells.finish(1);
  const UniformGrid<float> data = convert<float>(cells.dataset());
  const auto grid = view<float>(data);
  auto random = xoshiro<float>(stream_key(5, 1));
  for (int i = 0; i < 200000; ++i) {
    const auto d = isotropic_direction<float>(random.next(), random.next());
    Lane<float, GridPlace<float, std::int32_t>> lane{};
    lane.place = {1, 1, 1};
    lane.dx = d.x, lane.dy = d.y, lane.dz = d.z;
    const float scale = 0.5f * exp(-30 * uniform<float>(random.next()));
    lane.px = scale, lane.py = -scale * uniform_positive<float>(random.next()), lane.pz = scale / 3;
    const Vec3<float> p{lane.px, lane.py, lane.pz};
    const float length = grid.segment(lane.place, p, d).length();
    grid.advance(lane, length, NoSegment());
    const double end[3] = {from_lower_face(double(lane.px)), from_lower_face(double(lane.py)),
                           from_lower_face(double(lane.pz))};
    const double start[3] = {from_lower_face(double(p.x)), from_lower_face(double(p.y)), from_lower_face(double(p.z))};
    const double slope[3] = {d.x, d.y, d.z};
    for (int k = 0; k < 3; ++k) ASSERT_NEAR(end[k], start[k] + double(length) * slope[k], 1e-6) << i;
  }
}

TEST(Neighbourhood, IsTheWayToTheEdgeOfABall) {
  constexpr int n = 33;
  Cells cells(cube(n), {false, false, true}, plain, 0);
  for (std::int64_t i = 0; i < n * n * n; ++i) {
    const double x = double(i / (n * n)) - 16, y = double(i / n % n) - 16, z = double(i % n) - 16;
    cells.clear(i);
    cells.set_density(i, x * x + y * y + z * z < 144 ? 1 : 0);
    cells.set_temperature(i, 1);
  }
  const auto scale = neighbourhood_scale(cells, 2);
  const auto at = [&](int x, int y, int z) { return double(scale[std::size_t((x * n + y) * n + z)]); };
  EXPECT_NEAR(at(16, 16, 16), 12, 1.5);
  EXPECT_NEAR(at(22, 16, 16), 6, 1.5);
  EXPECT_NEAR(at(16, 16, 26), 2, 1.5);
  EXPECT_NEAR(at(20, 20, 20), 12 - 4 * std::sqrt(3.), 1.5);
  cells.finish(2);
  EXPECT_NEAR(cells.gas((16 * n + 16) * n + 16).core_scale, 12, 1.5);
  const auto grid = view<double>(cells.dataset());
  const decltype(grid)::Place cell{16, 16, 16};
  const auto scale_at = [&](Vec3<double> p) { return grid.core_scale(cell, grid.at(cell), p, {}); };
  EXPECT_NEAR(scale_at({0.5, 0.5, 0.5}) - scale_at({0.5, -0.1, 0.5}), 0.4, 1e-12);
}

/// Gas that hardly changes but in some places, so that lengths are long.
void fill_at_random(Cells& cells, const CellBox& box, const GridShape& whole) {
  for (std::int64_t i = 0; i < cells.shape().cells(); ++i) {
    const auto [nx, ny, nz] = cells.shape().count;
    std::uint64_t place = 0;
    const std::int64_t index[3] = {i / (ny * nz), i / nz % ny, i % nz};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t n = whole.count[k];
      place = place * std::uint64_t(n) + std::uint64_t(((index[k] + box.first[k]) % n + n) % n);
    }
    const std::uint64_t random = mix64(place);
    cells.clear(i);
    cells.set_density(i, 1 + (random % 20 == 0 ? 1e-3 * double(random % 1000) : 0));
    cells.set_temperature(i, 1);
    cells.set_velocity(i, 0, 1e-3 * double(random % 64));
  }
}

/// Lowers every length by those of all 26 neighbours until none changes.
std::vector<double> shortest_ways(const Cells& cells, std::vector<double> length) {
  const GridShape& shape = cells.shape();
  const auto [nx, ny, nz] = shape.count;
  for (bool lowered = true; lowered;) {
    lowered = false;
    for (std::int64_t i = 0; i < shape.cells(); ++i) {
      for (int k = 0; k < 27; ++k) {
        const int step[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
        std::int64_t next[3] = {i / (ny * nz) + step[0], i / nz % ny + step[1], i % nz + step[2]};
        bool there = true;
        for (std::size_t a = 0; a < 3; ++a) {
          if (shape.periodic) next[a] = (next[a] + shape.count[a]) % shape.count[a];
          there = there && next[a] >= 0 && next[a] < shape.count[a];
        }
        if (!there) continue;
        const double way = std::sqrt(double(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]));
        const double other = length[std::size_t((next[0] * ny + next[1]) * nz + next[2])] + way;
        if (other < length[std::size_t(i)] - 1e-9) length[std::size_t(i)] = other, lowered = true;
      }
    }
  }
  return length;
}

TEST(Neighbourhood, PartsHaveThatOfTheWholeGrid) {
  std::mt19937 random(3);
  const comm::World alone{comm::World::Alone{}};
  double longest = 0;
  for (int run = 0; run < 40; ++run) {
    GridShape shape = cube(1);
    for (auto& n : shape.count) n = 1 + std::int64_t(random() % 14);
    shape.periodic = random() % 2 == 0;
    Cells cells(shape, {false, false, true}, plain, 0);
    fill_at_random(cells, shape.box(), shape);
    const std::vector<float> scale = neighbourhood_scale(cells, 1);
    std::vector<double> start;  // a length of one cell is lowered by its neighbours' alone
    for (const float s : scale) start.push_back(s), longest = std::max(longest, double(s));
    const std::vector<double> ways = shortest_ways(cells, start);
    for (std::size_t i = 0; i < ways.size(); ++i) ASSERT_NEAR(ways[i], start[i], 1e-3) << "it is lower than a way";

    const int count = 1 + int(random() % std::uint64_t(std::min<std::int64_t>(shape.cells(), 20)));
    const std::int64_t margin = 1 + std::int64_t(random() % 3);
    const GridPartition partition(shape, Domains(shape.count, shape.periodic, count, margin));
    const Domains& domains = partition.domains();
    std::vector<std::unique_ptr<Cells>> parts;
    std::vector<HeldCells> held;
    for (int d = 0; d < count; ++d) {
      const CellBox box = domains.padded(d);
      parts.push_back(std::make_unique<Cells>(shape.part(box), CellLayout{false, false, true}, plain, 0));
      fill_at_random(*parts.back(), box, shape);
      held.push_back({d, parts.back().get()});
    }
    const auto scales = neighbourhood_scales(alone, partition, shape, held, 2);
    for (int d = 0; d < count; ++d) {
      const CellBox box = domains.padded(d);
      for (std::int64_t i = 0; i < box.cells(); ++i) {
        std::int64_t cell = 0;
        const std::int64_t index[3] = {i / (box.count[1] * box.count[2]), i / box.count[2] % box.count[1],
                                       i % box.count[2]};
        for (std::size_t k = 0; k < 3; ++k) {
          const std::int64_t n = shape.count[k];
          cell = cell * n + ((box.first[k] + index[k]) % n + n) % n;
        }
        ASSERT_EQ(scales[std::size_t(d)][std::size_t(i)], scale[std::size_t(cell)]) << run << " " << d << " " << i;
      }
    }
  }
  EXPECT_GT(longest, 3);
}

TEST(Neighbourhood, DenserGasDoesNot) {
  constexpr int n = 17;
  const auto centre = [&](double middle) {
    Cells cells(cube(n), {false, false, true}, plain, 0);
    for (std::int64_t i = 0; i < n * n * n; ++i) {
      cells.clear(i);
      cells.set_density(i, i == (8 * n + 8) * n + 8 ? middle : 1);
      cells.set_temperature(i, 1);
    }
    return neighbourhood_scale(cells, 1)[std::size_t((8 * n + 8) * n + 8)];
  };
  EXPECT_NEAR(centre(1e-3), 1.5, 0.01) << "its neighbours are at an edge";
  EXPECT_NEAR(centre(1), 8.5, 0.01);
  EXPECT_NEAR(centre(1e3), 0.5, 0.01);
}

TEST(Neighbourhood, AVelocityGradientLimitsIt) {
  Cells cells(cube(9), {false, false, true}, plain, 0);
  for (std::int64_t i = 0; i < 729; ++i) {
    cells.clear(i);
    cells.set_density(i, 1);
    cells.set_temperature(i, 4);  // v_th = 2
    cells.set_velocity(i, 0, double(i / 81));
  }
  float longest = 0;
  for (const float s : neighbourhood_scale(cells, 1)) longest = std::max(longest, s);
  EXPECT_NEAR(longest, 1.5, 0.01) << "v_th/|grad v| is two cells";
}

TEST(Neighbourhood, SoDoesTheHubbleFlow) {
  GridShape shape = cube(9);
  shape.periodic = true, shape.hubble = 0.1;  // v_th = 2 takes 20 cells; without it the gas is the same everywhere
  Cells cells(shape, {false, false, true}, plain, 0);
  for (std::int64_t i = 0; i < 729; ++i) {
    cells.clear(i);
    cells.set_density(i, 1e6);
    cells.set_temperature(i, 4);
  }
  cells.finish(1);
  UniformGrid<double> data = cells.dataset();
  const auto scale = [&](double hubble) {
    data.physics.hubble = hubble;
    const auto grid = view<double>(data);
    const GridPlace<double, std::int64_t> cell{4, 4, 4};
    return grid.core_scale(cell, grid.at(cell), {0.5, 0.5, 0.5}, {});
  };
  EXPECT_GT(scale(0), 6e4);
  EXPECT_NEAR(scale(0.1), 20, 1e-6);
  EXPECT_NEAR(scale(10), 0.2, 1e-6) << "also within a cell";
  EXPECT_NEAR(cells.statistics().largest_x_crit, 0.2 * std::cbrt(1e-3 / 2 * 1e6 / 2 * 20), 1e-5);
}

std::string problem_of(const std::function<void(test::GridOptions&)>& change, const std::string& dataset = "") {
  test::GridOptions o;
  o.shape = {4, 4, 4};
  o.gas = [](int, int, int) { return test::GridCell{1, 1e4, {}, 0, 0}; };
  change(o);
  const test::GridFile file(o);
  config::Dataset d;
  d.type = "uniform_grid";
  d.path = file.path();
  d.step_limiter = 0.1;
  if (dataset == "drop") d.bad_cells = config::BadCells::drop;
  const Line line = *find_line(lines(), "Lya");
  try {
    Medium m = build_medium(outline_medium(d, line), d, line, {false, 2});
    return "none";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::input);
    return e.what();
  }
}

TEST(GridFileOnDisk, BadCellsAreNamedOrDropped) {
  EXPECT_EQ(problem_of([](auto&) {}), "none");
  const auto with = [](double density, double temperature, double velocity) {
    return [=](test::GridOptions& o) {
      o.gas = [=](int x, int y, int z) {
        const bool bad = x == 1 && y == 2 && z == 3;
        return test::GridCell{bad ? density : 1, bad ? temperature : 1e4, {0, bad ? velocity : 0, 0}, 0, 0};
      };
    };
  };
  const struct {
    double density, temperature, velocity;
    const char* says;
  } cases[] = {{NAN, 1e4, 0, "density = nan"},     {-1, 1e4, 0, "density = -1"},     {1, 0, 0, "temperature = 0"},
               {1, -5, 0, "temperature = -5"},     {1, NAN, 0, "temperature = nan"}, {1, 1e4, NAN, "velocity_y = nan"},
               {1, 1e4, 4e4, "velocity_y = 40000"}};
  for (const auto& c : cases) {
    const std::string text = problem_of(with(c.density, c.temperature, c.velocity));
    EXPECT_NE(text.find("1 of 64 cells are bad, the first is [1, 2, 3]"), std::string::npos) << text;
    EXPECT_NE(text.find(c.says), std::string::npos) << text;
    EXPECT_EQ(problem_of(with(c.density, c.temperature, c.velocity), "drop"), "none");
  }
}

TEST(GridFileOnDisk, SpeedsAreCheckedByTheirLength) {
  for (const double v : {0.05, 0.07}) {  // times the speed of light, along each axis
    const auto grid = [&](test::GridOptions& o) {
      const double speed = v * constants::c / constants::km;
      o.gas = [=](int x, int y, int z) {
        const double s = x == 1 && y == 2 && z == 3 ? speed : 0;
        return test::GridCell{1, 1e4, {s, -s, s}, 0, 0};
      };
    };
    const std::string text = problem_of(grid);
    if (v < 0.06) {
      EXPECT_EQ(text, "none");
    } else {
      EXPECT_NE(text.find("1 of 64 cells are bad, the first is [1, 2, 3] with speed"), std::string::npos) << text;
      EXPECT_EQ(problem_of(grid, "drop"), "none");
    }
  }
}

TEST(GridFileOnDisk, NewerFormatsAreRefused) {
  for (const int version : {0, 1, 2})
    EXPECT_EQ(problem_of([&](test::GridOptions& o) { o.format_version = version; }), "none");
  EXPECT_NE(problem_of([](test::GridOptions& o) { o.format_version = 3; }).find("format_version is 3"),
            std::string::npos);
}

// Temperature and velocity are those of the line's ion, if the file has them.
TEST(GridFileOnDisk, TheLineSeesItsAbsorbers) {
  test::GridOptions o;
  o.shape = {4, 4, 4};
  o.gas = [](int, int, int) { return test::GridCell{1, 1e6, {100, 0, 0}, 0, 0}; };
  o.ion = [](int, int, int) { return test::GridCell{0, 2.5e3, {0, -40, 0}, 0, 0}; };
  const test::GridFile file(o);
  config::Dataset d;
  d.type = "uniform_grid";
  d.path = file.path();
  d.step_limiter = 0.1;
  for (const char* name : {"Lya", "MgII"}) {
    const Line line = *find_line(lines(), name);
    Medium m = build_medium(outline_medium(d, line), d, line, {false, 1});
    const CellGas<double> gas = m.cells->gas(5);
    const bool hydrogen = std::string(name) == "Lya";
    EXPECT_NEAR(gas.inverse_width, std::sqrt(1e4 / (hydrogen ? 2.5e3 : 1e6)), 1e-4) << name;
    EXPECT_NEAR(gas.velocity.x * m.thermal_speed / constants::km, hydrogen ? 0 : 100, 1e-3) << name;
    EXPECT_NEAR(gas.velocity.y * m.thermal_speed / constants::km, hydrogen ? -40 : 0, 1e-3) << name;
  }
  d.density_field = "MgII_density";
  const Line line = *find_line(lines(), "Lya");
  Medium m = build_medium(outline_medium(d, line), d, line, {false, 1});
  EXPECT_NEAR(m.cells->gas(5).inverse_width, 0.1, 1e-4) << "the temperature goes with the density";
}

TEST(GridFileOnDisk, UnitsAreThoseOfTheArrays) {
  EXPECT_EQ(problem_of([](test::GridOptions& o) { o.units["HI_density"] = "1/cm^3"; }), "none");
  EXPECT_EQ(problem_of([](test::GridOptions& o) { o.units["velocity_x"] = "m/s"; }), "none");
  for (const auto& [field, units] : {std::pair("HI_density", "m-3"), {"temperature", "keV"}, {"velocity_y", "kpc"}}) {
    const std::string text = problem_of([&](test::GridOptions& o) { o.units[field] = units; });
    EXPECT_NE(text.find(fmt::format("array {}: its attribute units is \"{}\"", field, units)), std::string::npos)
        << text;
  }
  EXPECT_NE(
      problem_of([](test::GridOptions& o) { o.units["velocity_z"] = ""; }).find("velocity_z has no attribute units"),
      std::string::npos);
}

}  // namespace
}  // namespace thor
