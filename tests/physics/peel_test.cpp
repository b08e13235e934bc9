// Light towards observers against that of escaped photons, and against analytic surface brightness.
#include <gtest/gtest.h>

#include <numbers>
#include <numeric>

#include "support/grid.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"
#include "thor/datasets/dust_law.hpp"
#include "thor/transport/peel.hpp"

namespace {

using namespace test;

constexpr double kpc = 3.0856775814913673e21;

/// A run with a spectrum of all escaped light and one for each of two observers.
struct Model {
  const char *name, *line, *dataset, *acceleration, *range;
  int photons;
  const char* more = "";
  friend void PrintTo(const Model& m, std::ostream* out) { *out << m.name; }
};

std::string yaml(const Model& m, const std::string& dataset, int photons, int seed, bool observed) {
  const std::string observers =
      "observers: [{name: pole, direction: [0, 0, 1]}, {name: side, direction: [2, -1, 2]}]\n";
  const std::string seen = fmt::format(
      "  - {{type: spectrum, name: pole, observer: pole, axis: velocity, range: {0}, bins: 40}}\n"
      "  - {{type: spectrum, name: side, observer: side, axis: velocity, range: {0}, bins: 40}}\n",
      m.range);
  return fmt::format(
      "line: {}\nseed: {}\ndataset: {{{}}}\ngenerators: [{{type: point, photons: {}}}]\nacceleration: {}\n{}"
      "outputs:\n"
      "  - {{type: spectrum, name: all, axis: velocity, range: {}, bins: 40}}\n{}"
      "output: {{path: x.h5}}\n{}",
      m.line, seed, dataset, photons, m.acceleration, observed ? observers : "", m.range, observed ? seen : "", m.more);
}

double sum(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.); }

/// p-value of two spectra to be the same.
double alike(const thor::BinnedLight& a, const thor::BinnedLight& b) {
  double chi2 = 0, n = 0;
  for (std::size_t i = 0; i < a.light.size(); ++i) {
    const double variance = a.error(i) * a.error(i) + b.error(i) * b.error(i);
    if (a.light[i] < 0.005 * sum(a.light)) continue;  // errors of few photons are not those of a Gaussian
    chi2 += std::pow(a.light[i] - b.light[i], 2) / variance, ++n;
  }
  return chi_square_p(chi2, n);
}

class PeelOff : public testing::TestWithParam<Model> {};
TEST_P(PeelOff, HasTheSpectrumOfEscapedPhotons) {
  const Model& m = GetParam();
  const std::string dataset = m.dataset;
  const int escaping = (m.photons > 500 ? 4 : 2) * m.photons;  // every scattering of thick gas takes its time
  const auto first = run_all(yaml(m, dataset, m.photons, 1, true), {}, {nullptr, {}, {2, false, ""}}).tally;
  const auto other = run_all(yaml(m, dataset, escaping, 2, false), {}, {nullptr, {}, {2, false, ""}}).tally;
  ASSERT_TRUE(first.conserves());
  for (const std::size_t observer : {1u, 2u}) {
    const auto seen = first.binned(observer), escaped = other.binned(0);
    EXPECT_GT(alike(seen, escaped), 1e-3) << "observer " << observer;
    // All light: a photon sends each observer its share, so the error is at most that of the photons' own fates.
    const double all = other.light(thor::Counter::light_escaped) / other.light(thor::Counter::light_emitted);
    const double mine = (sum(seen.light) + seen.beyond) / first.light(thor::Counter::light_emitted);
    double error = 0;
    for (std::size_t i = 0; i < seen.light.size(); ++i) error += seen.error(i) * seen.error(i);
    error = std::sqrt(error) / first.light(thor::Counter::light_emitted);
    EXPECT_NEAR(mine / all, 1, 4 * std::max(error, 1e-4)) << "observer " << observer;
    EXPECT_NEAR(mine / all, 1, 0.1);
  }
  // A twin whose gas is thicker by half.
  const auto at = dataset.find("tau0: ");
  ASSERT_NE(at, std::string::npos);
  std::string twin = dataset;
  twin.replace(at, twin.find_first_of(",}", at) - at, fmt::format("tau0: {}", 1.5 * std::stod(dataset.substr(at + 6))));
  const auto thicker = run_all(yaml(m, twin, escaping, 2, false), {}, {nullptr, {}, {2, false, ""}}).tally;
  EXPECT_LT(alike(first.binned(1), thicker.binned(0)), 1e-3) << "gas that is thicker by half must not pass";
}
/// Steps look at up to 16 observers and leave out what the gas hides from them; of more, every event is traced. What is
/// seen is the same to the last bit.
TEST_P(PeelOff, IsTheSameAmongManyObservers) {
  const Model& m = GetParam();
  const auto seen = [&](int more, const char* rules) {
    std::string text = yaml(m, m.dataset, std::max(m.photons / 20, 50), 3, true) + rules;
    std::string others;
    for (int i = 0; i < more; ++i) others += fmt::format(", {{name: o{}, direction: [1, 0, {}]}}", i, i);
    text.insert(text.find("}]", text.find("name: side")) + 1, others);
    return run_all(text, {}, {nullptr, {}, {2, false, ""}}).tally;
  };
  const auto few = seen(0, ""), most = seen(14, ""), many = seen(15, ""), twin = seen(15, "peel: {roulette: 2.9}\n");
  for (const std::size_t observer : {1u, 2u}) {
    const auto light = few.binned(observer).light;
    EXPECT_GT(sum(light), 0);
    EXPECT_EQ(light, most.binned(observer).light) << "16 observers";
    EXPECT_EQ(light, many.binned(observer).light) << "17 observers";
    EXPECT_NE(light, twin.binned(observer).light) << "the twin: rays that end earlier";
  }
}
constexpr const char* sphere = "type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e4";
INSTANTIATE_TEST_SUITE_P(
    PeelOff, PeelOff,
    testing::Values(
        Model{"every scattering", "Lya", sphere, "{core_skip: none}", "[-80 km/s, 80 km/s]", 500},
        Model{"core skipping", "Lya", sphere, "{core_skip: local}", "[-80 km/s, 80 km/s]", 500},
        Model{"jumps", "Lya", sphere, "{jumps: true}", "[-80 km/s, 80 km/s]", 20000},
        Model{"small jumps", "Lya", sphere, "{jumps: true, jump_depth: 300}", "[-80 km/s, 80 km/s]", 5000},
        Model{"jumps in the wing", "Lya", "type: shell, outer_radius: 1 kpc, temperature: 22.2 K, tau0: 2e6",
              "{jumps: true, jump_depth: 5e5}", "[-60 km/s, 60 km/s]", 5000},
        Model{"double precision", "Lya", sphere, "{jumps: true}", "[-80 km/s, 80 km/s]", 5000, "precision: double\n"},
        Model{"outflow", "Lya",
              "type: shell, inner_radius: 0.3 kpc, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 3e3, velocity: "
              "{profile: linear, max: 60 km/s}",
              "{core_skip: none}", "[-60 km/s, 160 km/s]", 2000},
        Model{"dust", "Lya",
              "type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e4, dust: {tau: 0.3, albedo: 0.5, g: 0.6}",
              "{jumps: true}", "[-80 km/s, 80 km/s]", 20000},
        Model{"cells", "Lya", "type: shell, cells: 24, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 300",
              "{jumps: true}", "[-80 km/s, 80 km/s]", 2000},
        Model{"doublet", "MgII",
              "type: shell, outer_radius: 1 kpc, temperature: 1e4 K, b_turb: 15 km/s, tau0: 30, velocity: {profile: "
              "linear, max: 100 km/s}",
              "{core_skip: none}", "[-400 km/s, 1100 km/s]", 10000},
        Model{"fluorescence", "SiII_1190",
              "type: shell, outer_radius: 1 kpc, temperature: 1e4 K, b_turb: 15 km/s, tau0: 20, velocity: {profile: "
              "linear, max: 100 km/s}",
              "{core_skip: none}", "[-400 km/s, 2200 km/s]", 10000}));

/// A drawn member of a group has the light of all: spectra with fewer rays, the same in the mean.
TEST(Fusing, LeavesTheSpectrumAsItIs) {
  const std::string text =
      yaml({"", "Lya", "", "{core_skip: none}", "[-60 km/s, 60 km/s]", 0},
           "type: shell, cells: 32, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1000", 3000, 1, true);
  const auto run = [&](std::vector<std::string> set) {
    return run_all(text, set, {nullptr, {}, {2, false, ""}}).tally;
  };
  const std::string fuse = "peel.fuse={velocity: 10 km/s, distance: 0.1 kpc}";
  const auto apart = run({}), fused = run({fuse, "seed=2"}), same = run({fuse});
  ASSERT_TRUE(fused.conserves());
  const auto seen = [](const thor::Tally& tally) {
    return double(tally[thor::Counter::rays] - tally[thor::Counter::rays_cut]);
  };
  EXPECT_LT(same[thor::Counter::rays], 0.95 * double(apart[thor::Counter::rays]))
      << "most rays end in their first cell";
  EXPECT_LT(seen(same), 0.9 * seen(apart));
  for (const std::size_t observer : {1u, 2u}) {
    const auto a = apart.binned(observer), b = fused.binned(observer), c = same.binned(observer);
    EXPECT_GT(alike(a, b), 1e-3) << "observer " << observer;
    // The photons of `same` are those of `apart`: light differs by the draws alone, a third of its error.
    EXPECT_NEAR((sum(c.light) + c.beyond) / (sum(a.light) + a.beyond), 1, 0.02) << "observer " << observer;
    // A twin: drawn members send their own light alone, so that there is less by as much as there are fewer rays.
    auto own = b;
    for (double& light : own.light) light *= seen(same) / seen(apart);
    EXPECT_LT(alike(a, own), 1e-3) << "observer " << observer;
  }
}

/// Clumps and a source beside the centre: directions differ, and their mean is the light that escapes.
TEST(PeelOffObservers, SeeOnAverageWhatEscapes) {
  GridOptions o;
  o.shape = {8, 8, 8};
  o.gas = [](int x, int y, int z) {
    const unsigned h = unsigned(x * 73 + y * 179 + z * 283) * 2654435761u >> 16;
    return GridCell{std::pow(10., 1 + double(h % 100) / 50) / (5.898e-14 * kpc / 8), 1e4, {}, 0, 0};
  };
  const GridFile file(o);
  constexpr int directions = 48;
  std::string observers, outputs;
  for (int i = 0; i < directions; ++i) {  // evenly spread
    const double z = 1 - (2. * i + 1) / directions, phi = i * std::numbers::pi * (3 - std::sqrt(5.));
    observers += fmt::format("{{name: o{}, direction: [{}, {}, {}], up: [0.1, 0.2, 0.97]}}, ", i,
                             std::sqrt(1 - z * z) * std::cos(phi), std::sqrt(1 - z * z) * std::sin(phi), z);
    outputs += fmt::format("{{type: spectrum, name: o{}, observer: o{}, axis: x, range: [-40, 40], bins: 1}}, ", i, i);
  }
  const auto ratio = [&](const std::string& acceleration, int photons) {
    const auto tally =
        run_all(fmt::format("line: Lya\ndataset: {{type: uniform_grid, path: {}}}\n"
                            "generators: [{{type: point, position: [0.2 kpc, 0.1 kpc, -0.15 kpc], photons: {}}}]\n"
                            "acceleration: {}\nobservers: [{}]\noutputs: [{}]\noutput: {{path: x.h5}}\n",
                            file.path(), photons, acceleration, observers, outputs),
                {}, {nullptr, {}, {2, false, ""}})
            .tally;
    double mean = 0, least = 1e300, most = 0;
    for (std::size_t i = 0; i < directions; ++i) {
      const double light = tally.binned(i).light[0];
      mean += light / directions, least = std::min(least, light), most = std::max(most, light);
    }
    EXPECT_GT(most / least, 1.3) << "clumps do not look the same from everywhere";
    return mean / tally.light(thor::Counter::light_escaped);
  };
  EXPECT_NEAR(ratio("{jumps: true}", 1000), 1, 0.03);
  EXPECT_NEAR(ratio("{core_skip: none}", 150), 1, 0.07);
}

std::string seen_by(const std::string& dataset, const std::string& acceleration, int photons, const std::string& more) {
  return fmt::format(
      "line: Lya\ndataset: {{{}}}\ngenerators: [{{type: point, photons: {}}}]\nacceleration: {}\n"
      "observers: [{{name: face, direction: [0, 0, 1]}}, {{name: edge, direction: [1, 0, 0], up: [0, 0, 1]}}]\n"
      "outputs:\n"
      "  - {{type: image, name: face, observer: face, width: 2 kpc, pixels: 20}}\n"
      "  - {{type: cube, name: edge, observer: edge, width: 2 kpc, pixels: 8, range: [-80 km/s, 80 km/s], bins: 8}}\n"
      "  - {{type: image, name: born, observer: edge, of: emitted, width: 2 kpc, pixels: 8}}\n"
      "  - {{type: spectrum, name: ring, observer: face, aperture: {{radius: 0.5 kpc, inner: 0.25 kpc}}, range: [-80 "
      "km/s, 80 km/s], bins: 8}}\n"
      "output: {{path: x.h5}}\n{}",
      dataset, photons, acceleration, more);
}

/// Photons and images do not depend on how they are computed, nor photons on whether somebody looks.
TEST(PeelOffEngine, GivesTheSameImagesForAnyLanesAndThreads) {
  for (const char* dataset : {sphere, "type: shell, cells: 12, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 300"}) {
    const std::string text = seen_by(dataset, "{jumps: true}", 300, "physics: {phase_function: dipole}\n");
    const auto whole = run_all(text, {}, {nullptr, {}, {2, false, ""}});
    const auto lone = run_all(text, {}, {nullptr, {}, {1, true, ""}});
    EXPECT_TRUE(whole.tally == lone.tally);
    const auto unseen = run_all(text, {"outputs=[]"}, {nullptr, {}, {2, false, ""}});
    ASSERT_EQ(whole.photons.size(), unseen.photons.size());
    for (std::size_t i = 0; i < whole.photons.size(); ++i) {
      EXPECT_EQ(whole.photons[i].frequency_final, unseen.photons[i].frequency_final);
      EXPECT_EQ(whole.photons[i].column, unseen.photons[i].column);
    }
  }
}

/// Every emission, scattering that was followed, and jump sends one ray to each observer, also where jumps follow each
/// other without a scattering between.
TEST(PeelOffEngine, SendsARayFromEveryEvent) {
  for (const bool one_lane : {true, false}) {
    const auto tally = run_all(seen_by(sphere, "{jumps: true, jump_depth: 30}", 2000, "peel: {thin: 1}\n"), {},
                               {nullptr, {}, {2, one_lane, ""}})
                           .tally;
    const auto events = tally[thor::Counter::started] + tally[thor::Counter::followed] + tally[thor::Counter::jumps];
    EXPECT_EQ(tally[thor::Counter::rays], 2 * events);
    EXPECT_EQ(tally[thor::Counter::rays_lost], 0u);
    EXPECT_GT(tally[thor::Counter::rays_cut], events / 2);
  }
}

/// A source behind dust of optical depth 5 that absorbs: e^-5 of its light is seen, by every ray or by few.
TEST(PeelOffEngine, RouletteKeepsTheMean) {
  const int photons = 40000;
  const auto seen = [&](double depth, double roulette) {
    const auto tally = run_all(seen_by(fmt::format("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e-4, "
                                                   "dust: {{tau: {}, albedo: 0, g: 0}}",
                                                   depth),
                                       "{core_skip: none}", photons, fmt::format("peel: {{roulette: {}}}\n", roulette)),
                               {"outputs.0.pixels=1"}, {nullptr, {}, {2, false, ""}})
                           .tally;
    EXPECT_NEAR(
        double(tally[thor::Counter::rays] - tally[thor::Counter::rays_cut]) / double(tally[thor::Counter::rays]),
        std::exp(-std::max(depth - roulette, 0.)), 0.01);
    return tally.binned(0).light[0] / tally.light(thor::Counter::light_emitted);
  };
  EXPECT_NEAR(seen(5, 80) / std::exp(-5.), 1, 2e-4);
  const double survive = std::exp(-2.), error = std::sqrt((1 - survive) / survive / photons);
  EXPECT_NEAR(seen(5, 3) / std::exp(-5.), 1, 4 * error);
  EXPECT_GT(std::abs(seen(5.1, 3) / std::exp(-5.) - 1), 4 * error) << "dust that is thicker by 2 % must not pass";
}

/// One event in eight sends rays, with the light of all, once a photon has scattered for a while.
TEST(PeelOffEngine, ThinningKeepsTheMean) {
  // Of consecutive steps each is drawn as often as any other, wherever the count begins.
  for (const int events : {1, 2, 7, 8, 1024}) {
    int drawn = 0;
    for (int step = 64; step < 64 + 5 * events; ++step)
      drawn += thor::is_drawn(thor::thinning_of(3, 12345), step, events);
    EXPECT_EQ(drawn, 5);
  }
  const thor::RayRules rules{30, 3, 0, 64, 8};
  EXPECT_EQ(thor::events_of(rules, thor::EventKind::by_line, 1., 64), 8);
  EXPECT_EQ(thor::events_of(rules, thor::EventKind::by_line, 1., 63), 1);
  EXPECT_EQ(thor::events_of(rules, thor::EventKind::by_line, -3.1, 1000), 1);
  EXPECT_EQ(thor::events_of(rules, thor::EventKind::by_dust, 0., 1000), 1);
  EXPECT_EQ(thor::events_of(rules, thor::EventKind::by_jump, 0., 1000), 1);

  const auto seen = [&](double temperature, int thin, int seed) {
    const Model model{"", "Lya", "", "{core_skip: none}", "[-60 km/s, 60 km/s]", 0};
    const auto dataset = fmt::format("type: shell, outer_radius: 1 kpc, temperature: {} K, tau0: 100", temperature);
    return run_all(yaml(model, dataset, 20000, seed, true), {fmt::format("peel.thin={}", thin), "peel.thin_after=64"},
                   {nullptr, {}, {2, false, ""}})
        .tally;
  };
  const auto all = seen(1e4, 1, 1), few = seen(1e4, 8, 2);
  const auto sent = [](const thor::Tally& t) { return t[thor::Counter::rays] - t[thor::Counter::rays_cut]; };
  EXPECT_LT(sent(few), sent(all) * 2 / 3);
  for (const std::size_t observer : {1u, 2u}) {
    const auto a = all.binned(observer), b = few.binned(observer);
    EXPECT_GT(alike(a, b), 1e-3);
    EXPECT_NEAR(sum(b.light) / sum(a.light), 1, 0.03);
    EXPECT_LT(alike(a, seen(1.3e4, 8, 2).binned(observer)), 1e-6) << "the twin: gas that is hotter by 30 %";
  }
}

/// Light that is more than all light: a source below the surface of thick gas, seen from above.
TEST(PeelOffEngine, CountsMoreThanAllLight) {
  const auto tally =
      run_all(seen_by("type: slab, half_thickness: 1 kpc, temperature: 1e4 K, tau0: 1e4", "{jumps: true}", 3000, ""),
              {"generators.0.position=[0 kpc, 0 kpc, 0.999 kpc]", "outputs.0.pixels=1", "outputs.0.width=1e3 kpc"},
              {nullptr, {}, {2, false, ""}})
          .tally;
  const double seen = tally.binned(0).light[0] / tally.light(thor::Counter::light_emitted);
  EXPECT_NEAR(seen, 4.15, 0.4);
}

/// A beam towards the observer: all of its light is in a narrow cone, and stands for a million times as much.
TEST(PeelOffEngine, CountsAllLightOfANarrowCone) {
  const auto tally =
      run_all(
          "line: Lya\ndataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e-6}\n"
          "generators: [{type: extended, shape: beam, direction: [0, 0, 1], radius: 0.5 kpc, photons: 1000}]\n"
          "observers: [{name: z, direction: [0, 0, 1]}]\n"
          "outputs: [{type: image, name: i, observer: z, estimator: escaped, within: 0.1 deg, width: 2 kpc, pixels: "
          "1}]\n"
          "output: {path: x.h5}\n",
          {}, {nullptr, {}, {2, false, ""}})
          .tally;
  const double all = 2 / (1 - std::cos(0.1 * std::numbers::pi / 180));
  EXPECT_NEAR(tally.binned(0).light[0] / tally.light(thor::Counter::light_emitted) / all, 1, 1e-6);
}

/// Thin gas around a source: scattered light of surface brightness L tau0/(2 pi b) arctan(sqrt(1 - b^2)/b), with b in
/// units of the radius, since every point scatters L n sigma/(4 pi r^2) isotropically.
TEST(PeelOffImages, HaveTheSurfaceBrightnessOfThinGas) {
  const double tau0 = 0.02;
  const auto profile = [&](double tau) {
    const auto tally =
        run_all(seen_by(fmt::format("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: {}", tau),
                        "{core_skip: none}", 1000000, "physics: {phase_function: isotropic}\n"),
                {}, {nullptr, {}, {2, false, ""}})
            .tally;
    thor::BinnedLight image = tally.binned(0);
    for (double& light : image.light) light /= tally.light(thor::Counter::light_emitted);
    return image;
  };
  const auto chi_square = [&](const thor::BinnedLight& image) {
    double chi2 = 0, n = 0;
    for (int row = 0; row < 20; ++row) {
      for (int column = 0; column < 20; ++column) {
        double expected = 0, nearest = 1e300;
        const int sub = 8;
        for (int k = 0; k < sub * sub; ++k) {
          const double x = (column + (k % sub + 0.5) / sub) / 10 - 1, y = (row + (k / sub + 0.5) / sub) / 10 - 1;
          const double b = std::hypot(x, y);
          nearest = std::min(nearest, b);
          if (b < 1) {
            expected += tau0 / (2 * std::numbers::pi * b) * std::atan(std::sqrt(1 - b * b) / b) / (100. * sub * sub);
          }
        }
        if (nearest < 0.1 || expected == 0) continue;  // direct light
        const auto i = std::size_t(row * 20 + column);
        if (image.error(i) <= 0 || image.light[i] < 1e-5) continue;
        chi2 += std::pow((image.light[i] - expected) / std::hypot(image.error(i), 0.01 * image.light[i]), 2);
        ++n;
      }
    }
    EXPECT_GT(n, 150);
    return chi2 / n;
  };
  EXPECT_LT(chi_square(profile(tau0)), 1.6);
  EXPECT_GT(chi_square(profile(1.3 * tau0)), 3) << "gas that is thicker by 30 % must show";
}

/// A source to the right and above, as the observers see it: face-on x is to the right and y upward.
TEST(PeelOffImages, AreTheRightWayUp) {
  const auto tally = run_all(seen_by("type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e-3",
                                     "{core_skip: none}", 1000, ""),
                             {"generators.0.position=[0.55 kpc, 0.15 kpc, -0.35 kpc]"}, {nullptr, {}, {1, false, ""}})
                         .tally;
  const auto face = tally.binned(0), born = tally.binned(2);
  const auto brightest = [](const thor::BinnedLight& image) {
    return std::size_t(std::ranges::max_element(image.light) - image.light.begin());
  };
  EXPECT_EQ(brightest(face), 11u * 20 + 15);  // y = 0.15, x = 0.55
  EXPECT_EQ(brightest(born), 2u * 8 + 4);     // from +x with z upward: y is to the right
  EXPECT_NEAR(sum(born.light) / tally.light(thor::Counter::light_emitted), 1, 1e-9) << "all of it, without transfer";
}

/// A disc of gas and dust, 0.9 kpc in radius and 0.5 kpc thick, in a box of 2 x 2 x 1 kpc, with a source beside its
/// middle. `line` and `dust`: optical depth of a cell of 1/8 kpc.
struct Disc {
  Disc(double line, double dust)
      : file([=] {
          GridOptions o;
          o.shape = {16, 16, 8};
          o.size = 2 * kpc;
          o.dust = true;
          const double section =
              thor::dust_cross_section(thor::DustLaw::smc, 1215.67e-8) / thor::dust_metallicity(thor::DustLaw::smc);
          o.gas = [=](int x, int y, int z) {
            const bool inside = std::hypot((x - 7.5) / 8, (y - 7.5) / 8) < 0.9 && z >= 2 && z < 6;
            return GridCell{
                inside ? line / (5.898e-14 * kpc / 8) : 1e-20, 1e4, {}, inside ? dust / (section * kpc / 8) : 0, 0};
          };
          return o;
        }()) {}

  std::string yaml(const std::string& acceleration, int photons, int seed, const std::string& observer,
                   const std::string& estimator = "estimator: peel", const std::string& dust = "g: 0.7") const {
    return fmt::format(
        "line: Lya\nseed: {}\ndataset: {{type: uniform_grid, path: {}, dust: {{law: SMC, albedo: 0.6, {}}}}}\n"
        "generators: [{{type: point, position: [0.4 kpc, 0.2 kpc, 0.05 kpc], photons: {}}}]\nacceleration: {}\n"
        "observers: [{{name: o, direction: {}, up: [0, 1, 0]}}]\n"
        "outputs: [{{type: image, name: i, observer: o, width: 2.4 kpc, pixels: 6, {}}}]\noutput: {{path: x.h5}}\n",
        seed, file.path(), dust, photons, acceleration, observer, estimator);
  }

  GridFile file;
};

/// Seen at an angle of 60 degrees, by rays and by the photons that escape in that direction up to 4 degrees.
TEST(PeelOffImages, OfADustyDiscAreThoseOfEscapedPhotons) {
  const Disc disc(0.1, 0.4);
  const auto image = [&](const std::string& yaml) {
    return run_all(yaml, {}, {nullptr, {}, {2, false, ""}}).tally.binned(0);
  };
  const char* skips = "{core_skip: none}";
  const std::string direction = "[0.866025, 0, 0.5]";
  const auto by_photons = image(disc.yaml(skips, 1500000, 1, direction, "estimator: escaped, within: 4 deg"));
  const auto by_rays = image(disc.yaml(skips, 50000, 2, direction));
  EXPECT_GT(alike(by_photons, by_rays), 1e-3);
  EXPECT_NEAR(sum(by_rays.light) / sum(by_photons.light), 1, 0.05);
  EXPECT_LT(alike(by_photons, image(disc.yaml(skips, 50000, 2, "[0.906308, 0, 0.422618]"))), 1e-4)
      << "an observer who is turned by 5 degrees must not pass";
  EXPECT_LT(alike(by_photons, image(disc.yaml(skips, 50000, 2, direction, "estimator: peel", "g: 0"))), 1e-4)
      << "another phase function must not pass";
}

/// Every scattering, core skipping and jumps show the same.
TEST(PeelOffImages, OfADiscDoNotDependOnTheAcceleration) {
  const Disc disc(200, 0.05);
  const auto image = [&](const char* acceleration, int photons) {
    return run_all(disc.yaml(acceleration, photons, 1, "[0.6, 0, 0.8]"), {}, {nullptr, {}, {2, false, ""}})
        .tally.binned(0);
  };
  const auto every = image("{core_skip: none}", 1800);
  EXPECT_GT(alike(every, image("{jumps: true}", 10000)), 1e-3);
  EXPECT_GT(alike(every, image("{core_skip: local}", 5000)), 1e-3);
  const Disc thicker(200, 0.12);
  const auto other =
      run_all(thicker.yaml("{jumps: true}", 10000, 1, "[0.6, 0, 0.8]"), {}, {nullptr, {}, {2, false, ""}});
  EXPECT_LT(alike(every, other.tally.binned(0)), 1e-3) << "more dust must not pass";
}

}  // namespace
