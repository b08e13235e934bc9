#include "thor/gridding/plan/region.hpp"

#include <gtest/gtest.h>

#include <random>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/gridding/plan/survey.hpp"

namespace thor::gridding {
namespace region_test {

constexpr double kpc = 1e3 * constants::pc;

io::SnapshotHeader box(bool cosmological = true, Vector sides = {100 * kpc, 100 * kpc, 100 * kpc}) {
  io::SnapshotHeader h;
  h.cosmological = cosmological;
  h.box = sides;
  return h;
}

ExitCode code_of(const std::function<void()>& action, std::string* what = nullptr) {
  try {
    action();
  } catch (const Error& e) {
    if (what) *what = e.what();
    return e.code();
  }
  return ExitCode::done;
}

TEST(Region, ReadsLengthsWithUnits) {
  const Vector v = parse_vector("1 Mpc, 2e3 kpc, 3 Mpc", false, "--centre");
  EXPECT_DOUBLE_EQ(v[1], 2000 * kpc);
  EXPECT_DOUBLE_EQ(parse_vector("1,2,3e0 kpc", false, "--centre")[0], kpc);
  EXPECT_DOUBLE_EQ(parse_vector("1,-2,3 km/s", true, "--subtract-bulk")[1], -2e5);
  EXPECT_EQ(parse_lengths("5 kpc", "--size").size(), 1u);
  for (const char* bad : {"1,2,3", "1 kpc,2 kpc", "1 kpc,2 K,3 kpc", "", "a,b,c kpc"}) {
    EXPECT_EQ(code_of([&] { parse_vector(bad, false, "--centre"); }), ExitCode::usage) << bad;
  }
  EXPECT_EQ(code_of([&] { parse_lengths("-1 kpc", "--size"); }), ExitCode::usage);
  EXPECT_EQ(code_of([&] { parse_rotation("x:30,q:2", "--rotate"); }), ExitCode::usage);
}

TEST(Region, IsTheBoxUnlessToldOtherwise) {
  RegionOptions o;
  o.cells = {50};
  const GridRegion r = choose_region(box(), o, {50 * kpc, 50 * kpc, 50 * kpc});
  EXPECT_TRUE(r.lattice.periodic);
  EXPECT_EQ(r.lattice.cells[2], 50);
  EXPECT_DOUBLE_EQ(r.lattice.cell, 2 * kpc);
  EXPECT_DOUBLE_EQ(r.lattice.lower(0), -50 * kpc);
  EXPECT_FALSE(choose_region(box(false), o, {50 * kpc, 50 * kpc, 50 * kpc}).lattice.periodic);
  o.periodic = true;
  EXPECT_TRUE(choose_region(box(false), o, {50 * kpc, 50 * kpc, 50 * kpc}).lattice.periodic);
}

TEST(Region, CellsAreCubic) {
  RegionOptions o;
  o.cells = {10};
  EXPECT_EQ(choose_lattice(box(true, {100 * kpc, 50 * kpc, 20 * kpc}), o).cells[2], 2);
  EXPECT_EQ(code_of([&] { choose_lattice(box(true, {100 * kpc, 55 * kpc, 20 * kpc}), o); }), ExitCode::usage);
  o.size = {10 * kpc, 20 * kpc, 30 * kpc};
  o.cells = {1, 2, 3};
  EXPECT_EQ(choose_lattice(box(), o).count(), 6u);
  o.cells = {1, 2, 4};
  EXPECT_EQ(code_of([&] { choose_lattice(box(), o); }), ExitCode::usage);
}

TEST(Region, OutsideTheBoxIsAnError) {
  RegionOptions o;
  o.size = {20 * kpc};
  const auto at = [&](bool periodic, double x, double size) {
    o.periodic = periodic;
    o.size = {size * kpc};
    return code_of([&] { choose_region(box(), o, {x * kpc, 50 * kpc, 50 * kpc}); });
  };
  EXPECT_EQ(at(true, 1, 20), ExitCode::done);
  EXPECT_EQ(at(true, 101, 20), ExitCode::input);
  EXPECT_EQ(at(true, 1, 101), ExitCode::input);
  EXPECT_EQ(at(false, 50, 20), ExitCode::done);
  EXPECT_EQ(at(false, 1, 20), ExitCode::input);
  o.allow_outside = true;
  EXPECT_EQ(at(false, 1, 20), ExitCode::done);
  EXPECT_EQ(at(false, 120, 20), ExitCode::input);
  // A rotated cube spans more of the box than its side.
  o.rotation = parse_rotation("z:45", "--rotate");
  EXPECT_EQ(at(true, 50, 70), ExitCode::done);
  EXPECT_EQ(at(true, 50, 72), ExitCode::input);
}

TEST(Region, WithoutABoxItNeedsASize) {
  RegionOptions o;
  EXPECT_EQ(code_of([&] { choose_lattice({}, o); }), ExitCode::input);
  o.size = {kpc};
  EXPECT_EQ(code_of([&] { choose_region(io::SnapshotHeader{}, o, {}); }), ExitCode::done);
}

TEST(Frame, RotationsTurnByTheRightHand) {
  const Vector y = rotation_about(2, constants::pi / 2) * Vector{1, 0, 0};
  EXPECT_NEAR(y[1], 1, 1e-15);
  const Vector there = parse_rotation("x:90,z:90", "--rotate") * Vector{0, 1, 0};  // y to z, which stays
  EXPECT_NEAR(there[2], 1, 1e-15);
  const Vector direction{1, -2, 0.5};
  for (const int axis : {0, 2}) {
    const Matrix m = rotation_towards(direction, axis);
    const Vector turned = m * direction;
    EXPECT_NEAR(turned[std::size_t(axis)], std::sqrt(5.25), 1e-14);
    EXPECT_NEAR(dot(m[0], cross(m[1], m[2])), 1, 1e-14);  // no reflection
    EXPECT_NEAR(dot(m[0], m[1]), 0, 1e-14);
  }
}

/// A disc rotating about `axis`, around a corner of a box.
io::GasBlock disc(const Frame& frame, const Vector& axis, const Vector& drift) {
  std::mt19937_64 generator(1);
  std::normal_distribution<double> normal;
  io::GasBlock b;
  const Matrix m = rotation_towards(axis, 2);
  for (int i = 0; i < 500; ++i) {
    const Vector d{normal(generator), normal(generator), 0.01 * normal(generator)};
    const Vector v{-d[1] * 1e7, d[0] * 1e7, 0};
    for (std::size_t a = 0; a < 3; ++a) {
      double x = 0, u = 0;
      for (std::size_t k = 0; k < 3; ++k) x += m[k][a] * d[k], u += m[k][a] * v[k];  // the transpose
      b.position.push_back(std::fmod(frame.centre[a] + x * kpc + frame.box[a], frame.box[a]));
      b.velocity.push_back(u + drift[a]);
    }
    b.mass.push_back(1e38);
    ++b.count;
  }
  return b;
}

TEST(Survey, FindsTheAxisOfADiscAcrossTheBoundary) {
  Frame frame;
  frame.box = {100 * kpc, 100 * kpc, 100 * kpc};
  frame.wraps = true;
  const Vector axis{0.6, 0, 0.8}, drift{3e7, -1e7, 2e7};
  const io::GasBlock b = disc(frame, axis, drift);
  MotionSums sums;
  sums.add(b, frame, 20 * kpc);
  const Motion m = sums.motion();
  const Vector velocity = m.velocity, L = m.angular_momentum;
  EXPECT_NEAR(velocity[0] / 3e7, 1, 0.05);
  EXPECT_GT(dot(L, axis) / std::sqrt(dot(L, L)), 0.999);
  EXPECT_LT(dot(L, Vector{0, 0, 1}) / std::sqrt(dot(L, L)), 0.85);  // another axis differs
  // A lopsided disc that drifts: the drift is not rotation.
  MotionSums part;
  part.add(disc(frame, axis, 20. * drift), frame, 20 * kpc);
  const Vector M = part.motion().angular_momentum;
  EXPECT_NEAR(dot(M, L) / dot(L, L), 1, 1e-9);

  // Turned and without the drift, |L| is the same.
  frame.velocity = velocity;
  frame.rotation = rotation_towards(L, 2);
  Vector turned{};
  for (std::size_t i = 0; i < b.count; ++i) {
    const Vector d =
        frame.rotation * frame.from_centre({b.position[3 * i], b.position[3 * i + 1], b.position[3 * i + 2]});
    const Vector l = cross(d, frame.turned({b.velocity[3 * i], b.velocity[3 * i + 1], b.velocity[3 * i + 2]}));
    for (std::size_t a = 0; a < 3; ++a) turned[a] += b.mass[i] * l[a];
  }
  EXPECT_NEAR(turned[2] / std::sqrt(dot(L, L)), 1, 1e-12);
  EXPECT_NEAR(turned[0] / turned[2], 0, 1e-12);
}

TEST(Frame, ImagesAreThoseThatTouch) {
  Frame f;
  f.box = {10, 10, 10};
  f.wraps = true;
  f.centre = {5, 5, 5};
  const auto count = [&](const Vector& position, double reach) {
    int n = 0;
    f.for_each_image(position, reach, [&](const Vector&) { ++n; });
    return n;
  };
  EXPECT_EQ(count({5, 5, 5}, 4.9), 1);
  EXPECT_EQ(count({9, 5, 5}, 0.9), 1);
  EXPECT_EQ(count({9, 5, 5}, 1.1), 2);
  EXPECT_EQ(count({9, 1, 9}, 1.1), 8);
  EXPECT_EQ(count({5, 5, 5}, 5.1), 27);
  f.wraps = false;
  EXPECT_EQ(count({9, 1, 9}, 1.1), 1);
}

}  // namespace region_test
}  // namespace thor::gridding
