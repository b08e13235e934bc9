#include "thor/outputs/histogram.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "thor/io/array/input.hpp"
#include "thor/outputs/tally.hpp"

namespace {

using namespace thor;

constexpr double pc = constants::pc;

Photon photon(double velocity, std::array<double, 3> r, std::array<double, 3> n, double weight = 1,
              Phase fate = Phase::escaped) {
  Photon p{};
  p.frequency_final = -constants::c / 1e6 * std::log1p(velocity / constants::c);
  p.weight = p.weight_initial = weight, p.fate = fate;
  for (std::size_t i = 0; i < 3; ++i) p.position[i] = r[i], p.direction[i] = n[i];
  return p;
}

/// Thermal speed 10 km/s, lengths in units of 2 pc.
OutputContext context() {
  return {[](const std::string&) { return FrequencyAxis{1e6, 1e-5}; }, 2 * pc};
}

struct File {
  std::string path;
  explicit File(const char* ending)
      : path((std::filesystem::temp_directory_path() / ("thor_map_" + std::to_string(getpid()) + ending)).string()) {}
  ~File() { std::filesystem::remove_all(path); }
};

class HistogramTest : public testing::TestWithParam<const char*> {};

TEST_P(HistogramTest, HasTwoAxesInTheFile) {
  const HistogramOutput output{"map",
                               config::Fate::escaped,
                               {{PhotonProperty::impact, 0, 4 * pc, 2}, {PhotonProperty::velocity, -30e5, 30e5, 3}},
                               {0, 0, 2 * pc}};
  Tally tally({output}, context(), 0x1p10, 0x1p20);
  // From the centre (0, 0, 1) in these units: an impact parameter of 2 |(1, 0)| pc along z, of 0 pc along x.
  tally.accept(photon(20e5, {1, 0, 1}, {0, 0, 1}, 3)), tally.accept(photon(20e5, {1, 0, 1}, {0, 0, -1}, 4));
  tally.accept(photon(0, {1, 0, 1}, {1, 0, 0}, 5));
  tally.accept(photon(-20e5, {0, 0, 0.5}, {0, 1, 0}, 2));
  tally.accept(photon(20e5, {3, 0, 1}, {0, 0, 1}, 8));  // 6 pc: beyond
  tally.accept(photon(40e5, {1, 0, 1}, {0, 0, 1}, 16));
  tally.accept(photon(0, {1, 0, 1}, {1, 0, 0}, 100, Phase::absorbed));
  const File file(GetParam());
  io::ArrayOutput out(file.path, true);
  tally.write(out);
  out.commit(true);
  const io::Input in(file.path);
  const std::string group = "/histograms/map";
  EXPECT_EQ(in.array(group + "/luminosity").shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(in.read_all<double>(group + "/luminosity"), (std::vector<double>{2, 5, 0, 0, 0, 7}));
  const auto error = in.read_all<double>(group + "/error");
  for (const auto& [bin, expected] : {std::pair(0u, 2.), {1u, 5.}, {2u, 0.}, {5u, 5.}}) {
    EXPECT_NEAR(error[bin], expected, 1e-6 * expected);
  }
  EXPECT_EQ(in.read_all<double>(group + "/edges_velocity"), (std::vector<double>{-30, -10, 10, 30}));
  EXPECT_EQ(in.read_all<double>(group + "/edges_impact"), (std::vector<double>{0, 2 * pc, 4 * pc}));
  EXPECT_EQ(in.text(group, "axes"), "impact velocity");
  EXPECT_EQ(in.text(group, "error_method"), "histories");
  EXPECT_EQ(in.text(group + "/edges_impact", "units"), "cm");
  EXPECT_EQ(in.number(group, "luminosity_beyond"), 24);
}

INSTANTIATE_TEST_SUITE_P(Formats, HistogramTest, testing::Values(".h5", ".zarr"),
                         [](const auto& info) { return std::string(info.param).substr(1); });

std::vector<double> light_of(const HistogramAxis& axis, const std::vector<Photon>& photons) {
  Tally tally({HistogramOutput{"h", config::Fate::escaped, {axis}}}, context(), 0x1p10, 0x1p20);
  for (const Photon& p : photons) tally.accept(p);
  return tally.binned(0).light;
}

TEST(Histogram, EveryPropertyOfAPhoton) {
  Photon p = photon(10e5, {3, 4, 0}, {0, 0.6, 0.8});
  p.scatterings = 5;
  const auto bin = [&](PhotonProperty property, double low, double high) {
    const auto light = light_of({property, low, high, 10}, {p});
    return std::find(light.begin(), light.end(), 1.) - light.begin();
  };
  EXPECT_EQ(bin(PhotonProperty::x, -2.05, 0), 5);  // -1
  EXPECT_EQ(bin(PhotonProperty::velocity, 9e5, 12e5), 3);
  EXPECT_EQ(bin(PhotonProperty::wavelength, 1e-5 * (1 + 9e5 / constants::c), 1e-5 * (1 + 12e5 / constants::c)), 3);
  EXPECT_EQ(bin(PhotonProperty::frequency, constants::c * 1e5 * (1 - 12e5 / constants::c),
                constants::c * 1e5 * (1 - 9e5 / constants::c)),
            6);
  EXPECT_EQ(bin(PhotonProperty::radius, 0, 20.5 * pc), 4);  // 10 pc
  EXPECT_EQ(bin(PhotonProperty::impact, 0, 20 * pc), 4);    // 2 |(3.2, -2.4, 1.8)| = 8.77 pc
  EXPECT_EQ(bin(PhotonProperty::scatterings, 0, 10), 5);
  EXPECT_EQ(bin(PhotonProperty::cosine, -1, 1), 9);
}

TEST(Histogram, OfEmittedLightHasThePlaceOfEmission) {
  Photon p = photon(0, {3, 4, 0}, {0, 0, 1});
  p.position_initial[2] = 1.5;  // 3 pc
  p.weight_initial = 7;
  Tally tally({HistogramOutput{"h", config::Fate::emitted, {{PhotonProperty::radius, 0, 20 * pc, 10}}}}, context(),
              0x1p10, 0x1p20);
  tally.accept(p);
  EXPECT_EQ(tally.binned(0).light, (std::vector<double>{0, 7, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Histogram, LogarithmicBins) {
  std::vector<Photon> photons;
  for (const std::int64_t n : {0, 1, 8, 11, 50, 800, 1000}) {
    photons.push_back(photon(0, {}, {0, 0, 1}, double(n + 1)));
    photons.back().scatterings = n;
  }
  // Bins up to 9, 90 and 900 scatterings; the weights are one more than the scatterings.
  EXPECT_EQ(light_of({PhotonProperty::scatterings, 0.9, 900, 3, true}, photons),
            (std::vector<double>{2 + 9, 12 + 51, 801}));
  EXPECT_EQ(light_of({PhotonProperty::scatterings, 0, 900, 3, false}, photons),
            (std::vector<double>{1 + 2 + 9 + 12 + 51, 0, 801}));
}

std::vector<Photon> scattered(const std::vector<std::int64_t>& times) {
  std::vector<Photon> photons;
  for (const std::int64_t n : times) {
    photons.push_back(photon(0, {}, {0, 0, 1}));
    photons.back().scatterings = n;
  }
  return photons;
}

// Where rounding decided, 49 of range [0, 490] and 3, 4, 8 and 10 of logarithmic axes were in the bin below.
TEST(Histogram, AWholeNumberOnAnEdgeIsInTheBinAbove) {
  for (const auto& [low, high, bins] : std::vector<std::array<std::int64_t, 3>>{
           {0, 490, 10}, {0, 343, 7}, {0, 147, 3}, {0, 700, 700}, {1, 101, 100}, {0, 93, 31}}) {
    const std::int64_t width = (high - low) / bins;
    std::vector<std::int64_t> times;
    for (std::int64_t i = 0; i <= bins; ++i) times.push_back(low + i * width);
    EXPECT_EQ(light_of({PhotonProperty::scatterings, double(low), double(high), std::uint64_t(bins)}, scattered(times)),
              std::vector<double>(std::size_t(bins), 1.))
        << low << " to " << high;
  }
  for (const std::int64_t ratio : {2, 3, 4, 5, 6, 7, 10, 12}) {
    for (const std::int64_t low : {1, 2, 3, 10}) {
      std::vector<std::int64_t> times{low};
      while (times.back() < 100'000'000) times.push_back(times.back() * ratio);
      const HistogramAxis axis{PhotonProperty::scatterings, double(low), double(times.back()), times.size() - 1, true};
      EXPECT_EQ(light_of(axis, scattered(times)), std::vector<double>(times.size() - 1, 1.)) << low << " by " << ratio;
    }
  }
}

TEST(Histogram, TheFileHasTheEdgesByWhichPhotonsWereCounted) {
  for (const bool logarithmic : {false, true}) {
    for (const double low : {0.3, 0.7 * pc}) {
      const HistogramOutput output{
          "h", config::Fate::escaped, {{PhotonProperty::radius, low, 77 * low, 61, logarithmic}}};
      const HistogramPlan plan = output.plan(context());
      const BinAxis& axis = plan.axes[0].along;
      EXPECT_EQ(edge_of(axis, 0), low);
      EXPECT_EQ(edge_of(axis, 61), 77 * low);
      EXPECT_EQ(bin_on(axis, std::nextafter(low, 0.)), -1);
      EXPECT_EQ(bin_on(axis, 77 * low), -1);
      for (std::int64_t i = 0; i < 61; ++i) {
        EXPECT_EQ(bin_on(axis, edge_of(axis, i)), i);
        EXPECT_EQ(bin_on(axis, std::nextafter(edge_of(axis, i + 1), 0.)), i);
        const double expected = logarithmic ? low * std::pow(77., double(i) / 61) : low * (1 + 76 * double(i) / 61);
        EXPECT_NEAR(edge_of(axis, i), expected, 1e-14 * expected);
      }
    }
  }
}

TEST(Histogram, LightAlongTheAxisIsWithinItsRange) {
  const std::vector<Photon> along{photon(0, {}, {0, 0, 1}, 1), photon(0, {}, {0, 0, -1}, 2),
                                  photon(0, {}, {0, 0, 1 + 1e-7}, 4), photon(0, {}, {0, 0, -1 - 1e-7}, 8)};
  for (const std::uint64_t bins : {1, 2, 3, 7, 10, 20, 31, 100, 999}) {
    std::vector<double> expected(bins);
    expected.front() += 2 + 8, expected.back() += 1 + 4;
    EXPECT_EQ(light_of({PhotonProperty::cosine, -1, 1, bins}, along), expected) << bins;
  }
}

}  // namespace
