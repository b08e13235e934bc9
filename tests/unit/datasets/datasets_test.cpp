#include <gtest/gtest.h>

#include <random>

#include "support/run.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/datasets/medium.hpp"
#include "thor/transport/lane.hpp"

namespace {

using namespace thor;

Profile<double> still() {
  Profile<double> p{};
  p.opacity = 100, p.step_limiter = 0.1;
  set_velocity(p, 0., 1.);
  return p;
}

template <class D>
Region<double, std::int64_t> region(const D& dataset, int cell, Vec3<double> p) {
  return {cell, view<double>(dataset).depth_at(cell, p)};
}

/// Distance to the first change of cell along a ray, by marching in tiny steps.
template <class D>
double marched(const D& dataset, Vec3<double> p, Vec3<double> d) {
  const int cell = view<double>(dataset).locate(p);
  const double h = 1e-4;
  for (double s = h;; s += h) {
    if (view<double>(dataset).locate(along(p, s, d)) != cell) return s - h / 2;
  }
}

template <class D>
void compare_with_marching(const D& dataset) {
  std::mt19937_64 rng(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 300;) {
    const Vec3<double> p{uniform(rng), uniform(rng), uniform(rng)};
    Vec3<double> d{uniform(rng), uniform(rng), uniform(rng)};
    const double norm = std::sqrt(dot(d, d));
    const int cell = view<double>(dataset).locate(p);
    if (cell == outside || norm < 0.1 || std::abs(d.z) < 0.05) continue;
    d = (1 / norm) * d;
    ++i;
    const auto segment = view<double>(dataset).segment(region(dataset, cell, p), p, d);
    const double expected = marched(dataset, p, d);
    EXPECT_NEAR(segment.length(), expected, 1e-3);  // marching may step over a grazed cavity
    EXPECT_TRUE(segment.reaches(expected + 1e-3));
    EXPECT_FALSE(segment.reaches(expected - 1e-3));
    const int next = view<double>(dataset).locate(along(p, segment.length() + 1e-6, d));
    EXPECT_EQ(int(segment.next()), next);
  }
}
TEST(Segments, EndWhereTheCellEnds) {
  compare_with_marching(Sphere<double>{100});
  compare_with_marching(Shell<double>{0.4, still()});
  compare_with_marching(Slab<double>{still()});
}

/// Lane at a position in a dataset, with the depth that the dataset gives it.
template <class V, class D>
Lane<V, PlaceIn<D>> lane_at(const D& dataset, Vec3<V> p, Vec3<V> d) {
  Lane<V, PlaceIn<D>> lane{};
  lane.px = p.x, lane.py = p.y, lane.pz = p.z, lane.dx = d.x, lane.dy = d.y, lane.dz = d.z;
  lane.place.cell = view<V>(dataset).locate(p);
  lane.place.depth = view<V>(dataset).depth_at(int(lane.place.cell), p);
  return lane;
}
template <class V, class D>
V way_out(const D& dataset, const Lane<V, PlaceIn<D>>& lane) {
  const auto v = view<V>(dataset);
  return v.segment(lane.place, {lane.px, lane.py, lane.pz}, {lane.dx, lane.dy, lane.dz}).length();
}

/// Flies 1e-10 inward from a face and half of that back: a position alone would not have moved.
template <class V, class D>
void fly_below_a_face(const D& dataset, Vec3<V> p, Vec3<V> inward) {
  auto lane = lane_at<V>(dataset, p, inward);
  const auto v = view<V>(dataset);
  v.advance(lane, V(1e-10), NoSegment());
  lane.dx = -inward.x, lane.dy = -inward.y, lane.dz = -inward.z;
  EXPECT_NEAR(way_out<V>(dataset, lane), 1e-10, 1e-16);
  v.advance(lane, V(0.5e-10), NoSegment());
  EXPECT_NEAR(way_out<V>(dataset, lane), 0.5e-10, 1e-16);
  lane.dx = inward.x, lane.dy = inward.y, lane.dz = inward.z;
  v.advance(lane, V(0.25), NoSegment());
  lane.dx = -inward.x, lane.dy = -inward.y, lane.dz = -inward.z;
  EXPECT_NEAR(way_out<V>(dataset, lane), 0.25, 1e-6) << "deep inside";
  v.advance(lane, V(0.2499), NoSegment());
  EXPECT_NEAR(way_out<V>(dataset, lane), 1e-4, 1e-6) << "and back near the face";
}
template <class V>
void fly_below_all_faces() {
  const Profile<V> gas = convert<V>(still());
  const V c = V(0.6), s = V(0.8);
  for (const V side : {V(1), V(-1)}) {
    fly_below_a_face<V>(Sphere<V>{100}, {c * side, s * side, 0}, {-c * side, -s * side, 0});
    fly_below_a_face<V>(Shell<V>{0, gas}, {0, 0, side}, {0, 0, -side});
    fly_below_a_face<V>(Shell<V>{V(0.4), gas}, {0, side, 0}, {0, -side, 0});
    fly_below_a_face<V>(Shell<V>{V(0.4), gas}, {V(0.4) * side, 0, 0}, {side, 0, 0});  // the inner face
    fly_below_a_face<V>(Slab<V>{gas}, {0, 0, side}, {0, 0, -side});
  }
}
TEST(Depth, IsResolvedBelowEveryFace) { fly_below_all_faces<float>(), fly_below_all_faces<double>(); }

TEST(Depth, OfAThinShellIsThatOfItsNearerFace) {
  const Shell<float> shell{1 - 1e-6f, convert<float>(still()), float(2e-6)};
  auto lane = lane_at<float>(shell, {1 - 1e-6f, 0, 0}, {1, 0, 0});
  EXPECT_NEAR(way_out<float>(shell, lane), 1e-6, 1e-12);
  view<float>(shell).advance(lane, 0.9e-6f, NoSegment());
  EXPECT_NEAR(way_out<float>(shell, lane), 0.1e-6, 1e-12);
  lane.dx = -1;
  EXPECT_NEAR(way_out<float>(shell, lane), 0.9e-6, 1e-12);
}

/// 1 - r^2 resolves 6e-8, and the cavity is 1e-6 of it.
TEST(Depth, OfASmallCavityIsThatOfThePosition) {
  const Shell<float> shell{1e-3f, convert<float>(still())};
  EXPECT_NEAR(way_out<float>(shell, lane_at<float>(shell, {0, 0, 0}, {0, 0, 1})), 1e-3, 1e-9) << "from the centre";
  auto lane = lane_at<float>(shell, {0, 0, 0.9f}, {0, 0, -1});
  for (const float s : {0.3f, 0.3f, 0.2f, 0.09f, 0.008f}) view<float>(shell).advance(lane, s, NoSegment());
  EXPECT_NEAR(way_out<float>(shell, lane), 1e-3, 2e-7) << "back from outside";
}

TEST(Depth, ASourceOnAFaceIsOnIt) {
  const float inner = 0.3f;
  const Shell<float> shell{inner, convert<float>(still())};
  std::mt19937_64 rng(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int i = 0; i < 1000; ++i) {
    const Vec3<float> d{uniform(rng), uniform(rng), uniform(rng)};
    const float r = std::sqrt(dot(d, d));
    if (r < 0.1f) continue;
    const Vec3<float> n = (1 / r) * d;
    const auto out = lane_at<float>(shell, inner * n, n);
    EXPECT_NEAR(out.place.depth, 0, 1e-17) << "in the gas or in the cavity, depending on rounding";
  }
}

MediumOutline build(const std::string& dataset) {
  const auto config = config::parse(
      "line: Lya\ndataset: " + dataset + "\ngenerators: [{type: point, photons: 1}]\noutput: {path: x.h5}\n", "test");
  return outline_medium(config.dataset, find_line("Lya"));
}
const std::string base = "type: shell, outer_radius: 2 kpc, temperature: 1e4 K";

/// Optical depth and mean speed along a radius, summed over the kernel's own profile.
struct Radial {
  double tau = 0, speed = 0;
};
Radial along_radius(const Shell<double>& shell) {
  const auto data = view<double>(shell);
  Radial r;
  const int n = 200000;
  const double width = (1 - shell.inner) / n;
  for (int i = 0; i < n; ++i) {
    const Vec3<double> p{shell.inner + (i + 0.5) * width, 0, 0};
    r.tau += data.opacity({gas, 0}, p) * width;
    r.speed += data.velocity_along({gas, 0}, p, {1, 0, 0}) / n;
  }
  return r;
}

TEST(Medium, NormalisesAlongTheRadius) {
  for (const char* profile :
       {"density: {profile: power_law, exponent: -2}", "density: {profile: power_law, exponent: -1}",
        "density: {profile: power_law, exponent: 1.5}"}) {
    const MediumOutline m =
        build("{" + base +
              ", inner_radius: 0.2 kpc, tau0: 300, velocity: {profile: power_law, exponent: 0.5, average: 100 km/s}, " +
              profile + "}");
    const Radial r = along_radius(std::get<Shell<double>>(m.dataset));
    EXPECT_NEAR(r.tau, 300, 0.03) << profile;
    EXPECT_NEAR(r.speed * m.thermal_speed, 100e5, 1e3);
    EXPECT_NEAR(m.column_density * m.cross_section, 300, 1e-9);
  }
  const MediumOutline column = build("{" + base + ", column_density: 1e19 cm^-2}");
  EXPECT_NEAR(column.tau0, 1e19 * column.cross_section, 1e-6 * column.tau0);
  const MediumOutline number = build("{" + base + ", number_density: 1e-3 cm^-3}");
  EXPECT_NEAR(number.column_density, 1e-3 * 2e3 * constants::pc, 1e-9 * number.column_density);
  EXPECT_TRUE(std::holds_alternative<Sphere<double>>(number.dataset));
}

TEST(Medium, SpeedsByLargestAndByAverage) {
  const auto speed = [](const std::string& velocity) {
    const MediumOutline m = build("{" + base + ", inner_radius: 0.5 kpc, tau0: 10, velocity: {" + velocity + "}}");
    return std::get<Shell<double>>(m.dataset).profile.speed * m.thermal_speed / constants::km;
  };
  EXPECT_NEAR(speed("profile: linear, max: 200 km/s"), 200, 1e-9);
  EXPECT_NEAR(speed("profile: linear, average: 100 km/s"), 100 / 0.625, 1e-9);
  EXPECT_NEAR(speed("profile: power_law, exponent: -1, max: 200 km/s"), 50, 1e-9);
  EXPECT_NEAR(speed("profile: power_law, exponent: 0, max: -80 km/s"), -80, 1e-9);
  EXPECT_NEAR(speed("profile: constant, max: -80 km/s"), -80, 1e-9);
  EXPECT_NEAR(speed("profile: constant, average: 80 km/s"), 80, 1e-9);
}

TEST(Medium, RefusesWhatHasNoFiniteNormalisation) {
  for (const std::string& bad :
       {std::string("tau0: 10, density: {profile: power_law, exponent: -1}"),
        std::string("tau0: 10, density: {profile: power_law, exponent: -3}"),
        std::string("tau0: 10, density: {profile: power_law, exponent: -0.9}"),
        std::string("tau0: 10, velocity: {profile: power_law, exponent: -0.5, max: 100 km/s}"),
        std::string("tau0: 10, velocity: {profile: power_law, exponent: -1, average: 100 km/s}"),
        std::string("tau0: 10, velocity: {profile: linear, max: 3.1e4 km/s}"),
        std::string("tau0: 10, velocity: {profile: linear, average: -2e4 km/s}"),
        std::string(
            "tau0: 10, inner_radius: 0.02 kpc, velocity: {profile: power_law, exponent: -1, average: 1e4 km/s}"),
        std::string("tau0: 10, inner_radius: 1e-9 kpc, density: {profile: power_law, exponent: -2}"),
        std::string("tau0: 10, inner_radius: 0.02 kpc, density: {profile: power_law, exponent: -25}"),
        std::string("tau0: 1e20")}) {
    try {
      build("{" + base + ", " + bad + "}");
      ADD_FAILURE() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::usage) << bad;
      EXPECT_NE(std::string(e.what()).find("dataset."), std::string::npos);
    }
  }
  EXPECT_NO_THROW(build("{" + base + ", tau0: 10, density: {profile: power_law, exponent: -0.5}}"));
}

TEST(StepLimiter, BoundsTheChangeOfVelocity) {
  const MediumOutline m =
      build("{" + base + ", tau0: 10, velocity: {profile: linear, max: 300 km/s}, step_limiter: 0.1}");
  const auto shell = view<double>(std::get<Shell<double>>(m.dataset));
  const Vec3<double> p{0.3, 0.1, 0}, d{0, 0.6, 0.8};
  for (const double x : {0., 0.5, 10.}) {
    const double step = shell.max_step({gas, 0}, p, d, x);
    const double change =
        std::abs(shell.velocity_along({gas, 0}, along(p, step, d), d) - shell.velocity_along({gas, 0}, p, d));
    EXPECT_NEAR(change, 0.1 * std::max(1., x - 3), 1e-9);
  }
  // Steep flows too, wherever a step begins and whatever its gradient there.
  for (const double beta : {-2., -0.5, 0.5, 2., 3., 6.}) {
    Profile<double> profile = std::get<Shell<double>>(m.dataset).profile;
    set_velocity(profile, profile.speed, beta);
    const Shell<double> steep{beta < 0 ? 0.01 : 0, profile};
    const auto flow = view<double>(steep);
    for (const double r : {1e-5, 1e-3, 0.02, 0.1, 0.3, 0.8}) {
      if (r <= steep.inner) continue;
      for (const Vec3<double> way : {d, Vec3<double>{1, 0, 0}, Vec3<double>{-1, 0, 0}, Vec3<double>{0, 1, 0}}) {
        const double step = std::min(flow.max_step({gas, 0}, {r, 0, 0}, way, 0.5), 2.);
        for (const double part : {0.3, 0.7, 1.}) {
          const double change = flow.velocity_along({gas, 0}, along(Vec3<double>{r, 0, 0}, part * step, way), way) -
                                flow.velocity_along({gas, 0}, {r, 0, 0}, way);
          // Twice as much where the third order counts; the shortest step is 1e-6.
          EXPECT_LT(std::abs(change), step > 1.1e-6 ? 0.2 : 1e9) << beta << ", " << r << ", " << way.x;
        }
      }
    }
  }
  const Shell<double> hollow{0.5, std::get<Shell<double>>(m.dataset).profile};
  EXPECT_GT(view<double>(hollow).max_step({cavity, 0}, p, d, 0.), 1e9) << "nothing limits a flight through the cavity";
}

}  // namespace
