#include "thor/outputs/sight.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "thor/outputs/tally.hpp"

namespace sight_test {

using namespace thor;

/// For whom x is to the right and y upward; lengths of lanes in units of 10 cm, thermal speed 2 km/s.
OutputContext context(std::uint64_t seed = 1) {
  return {[](const std::string&) { return FrequencyAxis{2e5, 1e-5}; }, 10, {{"face", {0, 0, 1}, {0, 1, 0}}}, seed};
}

config::Sight blurred() {
  config::Sight sight;
  sight.observer = "face", sight.psf = config::Psf{4}, sight.lsf = config::Lsf{6e5};
  return sight;
}

Seen seen(std::uint64_t id, double frequency = 3) { return {id, 0, false, 1, frequency, {0.7, -0.2, 5}, 0}; }

struct Moments {
  double mean = 0, variance = 0;
};
template <class Value>
Moments moments(int count, const Value& value) {
  Moments m;
  for (int i = 0; i < count; ++i) m.mean += value(i) / count;
  for (int i = 0; i < count; ++i) m.variance += std::pow(value(i) - m.mean, 2) / count;
  return m;
}

/// A Gaussian of full width F has a standard deviation of F/2.3548.
TEST(Sight, SmearsByTheWidthsThatItIsGiven) {
  const SkyFrame sky = context().sky(blurred());
  constexpr int n = 20000;
  const double across = 4 / 2.3548200450309493, along = 6e5 / 2.3548200450309493 / 2e5;
  const auto right = moments(n, [&](int i) { return record(sky, seen(std::uint64_t(i))).place.right; });
  const auto up = moments(n, [&](int i) { return record(sky, seen(std::uint64_t(i))).place.up; });
  const auto frequency = moments(n, [&](int i) { return record(sky, seen(std::uint64_t(i))).frequency; });
  const double mean_error = 4 / std::sqrt(double(n)), variance_error = 4 * std::sqrt(2. / n);
  EXPECT_NEAR(right.mean, 7, mean_error * across);
  EXPECT_NEAR(up.mean, -2, mean_error * across);
  EXPECT_NEAR(frequency.mean, 3, mean_error * along);
  EXPECT_NEAR(right.variance / (across * across), 1, variance_error);
  EXPECT_NEAR(up.variance / (across * across), 1, variance_error);
  EXPECT_NEAR(frequency.variance / (along * along), 1, variance_error);
  // Displacements to the right, upward and in frequency are independent.
  double products = 0, others = 0;
  for (int i = 0; i < n; ++i) {
    const Recorded r = record(sky, seen(std::uint64_t(i)));
    products += (r.place.right - 7) * (r.place.up + 2) / (across * across) / n;
    others += (r.place.right - 7) * (r.frequency - 3) / (across * along) / n;
  }
  EXPECT_NEAR(products, 0, mean_error);
  EXPECT_NEAR(others, 0, mean_error);
}

/// The displacement belongs to what is seen, whoever counts it and when; another seed, photon or event has another.
TEST(Sight, SmearsTheSameLightAlike) {
  const SkyFrame sky = context().sky(blurred());
  const Recorded first = record(sky, seen(5)), again = record(sky, seen(5));
  EXPECT_EQ(first.place.right, again.place.right);
  EXPECT_EQ(first.frequency, again.frequency);
  EXPECT_NE(first.place.right, record(sky, seen(6)).place.right);
  EXPECT_NE(first.place.right, record(sky, seen(5, 3.5)).place.right);
  EXPECT_NE(first.place.right, record(context(2).sky(blurred()), seen(5)).place.right);
}

TEST(Sight, DoesNotSmearUnlessAsked) {
  config::Sight sharp;
  sharp.observer = "face";
  const Recorded light = record(context().sky(sharp), seen(5));
  EXPECT_EQ(light.place.right, 7);
  EXPECT_EQ(light.place.up, -2);
  EXPECT_EQ(light.frequency, 3);
}

Photon photon(std::array<double, 3> n, Phase fate = Phase::escaped) {
  Photon p{};
  p.fate = fate, p.weight = p.weight_initial = 1, p.frequency_final = p.frequency_scattered = 2;
  for (std::size_t k = 0; k < 3; ++k) p.direction[k] = n[k];
  return p;
}

/// 30 degrees are 2 pi (1 - cos 30) = 0.067 of all directions; a photon in them stands for 14.93.
TEST(Sight, SeesPhotonsInItsCone) {
  config::Sight sight;
  sight.observer = "face", sight.estimator = config::Estimator::escaped, sight.within = constants::pi / 6;
  const SkyFrame sky = context().sky(sight);
  const auto light = [&](const Photon& p) {
    double sum = 0;
    look_at(sky, p, [&](const Seen& s) { sum += s.light; });
    return sum;
  };
  const double inside = 29 * constants::pi / 180, outside = 31 * constants::pi / 180;
  EXPECT_NEAR(light(photon({0, std::sin(inside), std::cos(inside)})), 14.928203230275509, 1e-9);
  EXPECT_EQ(light(photon({0, std::sin(outside), std::cos(outside)})), 0);
  EXPECT_EQ(light(photon({0, 0, -1})), 0);
  EXPECT_EQ(light(photon({0, 0, 1}, Phase::absorbed)), 0);
  look_at(sky, photon({0, 0, 1}), [](const Seen& s) { EXPECT_EQ(s.frequency, 2); });
  look_at(sky, photon({0, 0, 1}, Phase::stopped), [](const Seen& s) { EXPECT_EQ(s.frequency, 2); });
  config::Sight by_rays;
  by_rays.observer = "face";
  look_at(context().sky(by_rays), photon({0, 0, 1}), [](const Seen&) { ADD_FAILURE() << "rays have that light"; });
}

/// A photon is seen at the distance from the centre at which somebody in its own direction sees it.
TEST(Sight, TurnsTheObjectTowardsTheObserver) {
  config::Sight sight;
  sight.observer = "face", sight.estimator = config::Estimator::escaped, sight.within = constants::pi;
  sight.centre = {5, -3, 2};
  const SkyFrame sky = context().sky(sight);
  for (const auto& [direction, right, up] : {std::tuple{std::array{0., 0., 1.}, 10., 20.},
                                             {std::array{1., 0., 0.}, -30., 20.},
                                             {std::array{0., 1., 0.}, 10., -30.},
                                             {std::array{0., -0.6, 0.8}, 10., 34.}}) {
    Photon p = photon(direction);
    p.position[0] = 1.5, p.position[1] = 1.7, p.position[2] = 3.2;  // (10, 20, 30) cm from the centre
    bool seen = false;
    look_at(sky, p, [&](const Seen& s) {
      seen = true;
      const SkyPlace place = project(sky, s.position);
      EXPECT_NEAR(place.right, right, 1e-12);
      EXPECT_NEAR(place.up, up, 1e-12);
    });
    EXPECT_TRUE(seen);
  }
}

/// Light that starts d nearer to the observer than the object at rest is bluer by H d; and by what the object recedes.
TEST(Sight, IsInTheRestFrameOfAnObject) {
  OutputContext resting = context();
  resting.hubble = 3e3;                                                    // 3e4 cm/s, 0.15 thermal speeds, in 10 cm
  resting.observers[0].rest = config::Rest{{10, -20, 30}, {0, 9e9, 4e5}};  // away from the object at 4 km/s along z
  config::Sight sight;
  sight.observer = "face";
  const Seen ray{1, 0, false, 1, 3, {0.7, -0.2, 5}, 0};  // at z = 50 cm
  EXPECT_EQ(record(context().sky(sight), ray).frequency, 3);
  EXPECT_NEAR(record(resting.sky(sight), ray).frequency, 3 + 0.15 * 2 - 2, 1e-12);
  resting.box = {100, 100, 40};  // the nearest image of the ray is 20 cm nearer, or as far behind
  EXPECT_NEAR(std::abs(record(resting.sky(sight), ray).frequency - 3 + 2), 0.3, 1e-12);
  resting.box = {100, 100, 30};
  EXPECT_NEAR(record(resting.sky(sight), ray).frequency, 3 - 0.15 * 1 - 2, 1e-12);
  // A photon by its own direction, from its last scattering.
  resting.box = {};
  sight.estimator = config::Estimator::escaped, sight.within = constants::pi, sight.centre = {1, 2, 3};
  Photon p = photon({1, 0, 0});
  p.position[0] = 4, p.position[1] = p.position[2] = 7, p.frequency_scattered = 5, p.frequency_final = 4;
  double frequency = 0;
  look_at(resting.sky(sight), p, [&](const Seen& s) { frequency = record(resting.sky(sight), s).frequency; });
  EXPECT_NEAR(frequency, 5 + 0.15 * 3, 1e-12);
  // In the Hubble flow the object is the centre of the output, unless the observer names one: 39 cm along x.
  resting.observers[0].rest.reset();
  look_at(resting.sky(sight), p, [&](const Seen& s) { frequency = record(resting.sky(sight), s).frequency; });
  EXPECT_NEAR(frequency, 5 + 0.015 * 39, 1e-12);
  sight.estimator = config::Estimator::peel;
  EXPECT_NEAR(record(resting.sky(sight), ray).frequency, 3 + 0.015 * 47, 1e-12);
  resting.hubble = 0;
  EXPECT_EQ(record(resting.sky(sight), ray).frequency, 3);
}

/// In a periodic box light is drawn at the image nearest to the centre.
TEST(Sight, FindsTheNearestImage) {
  OutputContext periodic = context();
  periodic.box = {100, 60, 80};
  config::Sight sight;
  sight.observer = "face", sight.centre = {45, -25, 0};
  const Seen ray{1, 0, false, 1, 3, {-4, 2.8, 1}, 0};  // at (-40, 28) cm
  const SkyPlace place = project(periodic.sky(sight), ray.position);
  EXPECT_NEAR(place.right, 15, 1e-12);
  EXPECT_NEAR(place.up, -7, 1e-12);
  const SkyPlace open = project(context().sky(sight), ray.position);
  EXPECT_NEAR(open.right, -85, 1e-12);
  EXPECT_NEAR(open.up, 53, 1e-12);
  // Of a photon the object is turned about the centre, from the nearest image: (15, -7, 10) cm from it, seen from x.
  sight.estimator = config::Estimator::escaped, sight.within = constants::pi;
  const SkyFrame sky = periodic.sky(sight);
  Photon p = photon({1, 0, 0});
  p.position[0] = -4, p.position[1] = 2.8, p.position[2] = 1;
  look_at(sky, p, [&](const Seen& s) {
    EXPECT_NEAR(project(sky, s.position).right, -10, 1e-12);
    EXPECT_NEAR(project(sky, s.position).up, -7, 1e-12);
  });
}

/// What an observer sees by rays and by photons is counted once each.
TEST(Sight, KeepsTheEstimatorsApart) {
  SpectrumOutput by_rays{"rays", config::Fate::escaped, config::Axis::x, -9, 9, 1}, by_photons = by_rays;
  by_rays.sight.observer = by_photons.sight.observer = "face";
  by_photons.sight.estimator = config::Estimator::escaped, by_photons.sight.within = constants::pi;
  by_photons.name = "photons";
  Tally tally({by_rays, by_photons}, context(), 100, 100);
  TallyPart part(tally);
  part.accept(photon({0, 0, 1}));
  part.accept(Seen{0, 0, false, 5, 0, {0, 0, 0}, 0});
  part.join_histories({});
  tally.merge(part);
  EXPECT_NEAR(tally.binned(0).light[0], 5, 1e-12);
  EXPECT_NEAR(tally.binned(1).light[0], 1, 1e-12);
}

}  // namespace sight_test
