#include <gtest/gtest.h>

#include <hdf5.h>
#include <unistd.h>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "thor/outputs/tally.hpp"

namespace {

using namespace thor;

Photon photon(double w, Phase fate, double weight, double w0 = 0) {
  Photon p{};
  p.frequency_initial = w0, p.frequency_final = w, p.fate = fate, p.weight = p.weight_initial = weight;
  return p;
}

std::vector<double> read(const std::string& path, const char* name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  std::vector<double> v(std::size_t(H5Sget_simple_extent_npoints(space)));
  H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v.data());
  H5Sclose(space), H5Dclose(set), H5Fclose(file);
  return v;
}

double attribute(const std::string& path, const char* group, const char* name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t found = H5Aopen_by_name(file, group, name, H5P_DEFAULT, H5P_DEFAULT);
  double value = NAN;
  H5Aread(found, H5T_NATIVE_DOUBLE, &value);
  H5Aclose(found), H5Fclose(file);
  return value;
}

TEST(FrequencyAxis, AllAxesOfTheSameLight) {
  const FrequencyAxis axis{12.85e5, 1215.67e-8};
  const double w = 10;  // to the blue
  EXPECT_NEAR(axis_value(axis, config::Axis::velocity, w) / 1e5, -128.47, 0.01);
  EXPECT_LT(axis_value(axis, config::Axis::wavelength, w), 1215.67e-8);
  EXPECT_GT(axis_value(axis, config::Axis::frequency, w), constants::c / 1215.67e-8);
  EXPECT_NEAR(axis_value(axis, config::Axis::wavelength, w) * axis_value(axis, config::Axis::frequency, w),
              constants::c, 1);
}

/// Nothing but the line's first transition.
OutputContext only(FrequencyAxis axis) {
  return {[axis](const std::string&) { return axis; }};
}

// A line in the middle of the range lies on an edge, in the bin above it: the edge in the file must be no higher.
TEST(SpectrumOutput, TheMiddleEdgeIsExact) {
  const auto path =
      (std::filesystem::temp_directory_path() / ("thor_middle_" + std::to_string(getpid()) + ".h5")).string();
  for (const std::uint64_t bins : {30, 58, 60, 70, 200}) {
    Tally tally({SpectrumOutput{"s", config::Fate::escaped, config::Axis::velocity, -1e8, 1e8, bins}},
                only({1e6, 1e-5}), 1, 1);
    tally.accept(photon(0, Phase::escaped, 1));
    EXPECT_EQ(tally.binned(0).light[bins / 2], 1);
    io::ArrayOutput file(path, true);
    tally.write(file);
    file.commit(true);
    const std::vector<double> edges = read(path, "/spectra/s/edges");
    EXPECT_EQ(edges[bins / 2], 0) << bins;
    EXPECT_EQ(edges[bins], 1000);
  }
  std::filesystem::remove(path);
}

TEST(SpectrumOutput, SumsLuminosityWithItsError) {
  const SpectrumOutput output{"s", config::Fate::escaped, config::Axis::x, -2, 2, 4};
  Tally a({output}, only({1e6, 1e-5}), 0x1p10, 0x1p20), b = a;  // quanta that are powers of two
  a.accept(photon(-1.5, Phase::escaped, 2)), a.accept(photon(0.5, Phase::escaped, 3));
  b.accept(photon(0.5, Phase::escaped, 4)), b.accept(photon(7, Phase::escaped, 5));
  b.accept(photon(0.5, Phase::absorbed, 100)), b.accept(photon(0.5, Phase::lost, 100));
  a.merge(b);
  const auto path =
      (std::filesystem::temp_directory_path() / ("thor_spectrum_" + std::to_string(getpid()) + ".h5")).string();
  io::ArrayOutput file(path, true);
  a.write(file);
  file.commit(true);
  const auto flux = read(path, "/spectra/s/flux"), error = read(path, "/spectra/s/error");
  EXPECT_EQ(flux, (std::vector<double>{2, 0, 7, 0}));
  EXPECT_EQ(error[1], 0);
  EXPECT_NEAR(error[0], 2, 1e-6);
  EXPECT_NEAR(error[2], 5, 1e-6);
  EXPECT_EQ(read(path, "/spectra/s/edges"), (std::vector<double>{-2, -1, 0, 1, 2}));
  std::filesystem::remove(path);
}

TEST(SpectrumOutput, OfEmittedAndAbsorbedLight) {
  const auto path =
      (std::filesystem::temp_directory_path() / ("thor_emitted_" + std::to_string(getpid()) + ".h5")).string();
  io::ArrayOutput file(path, true);
  for (const auto fate : {config::Fate::emitted, config::Fate::absorbed}) {
    Tally s({SpectrumOutput{fate == config::Fate::emitted ? "emitted" : "absorbed", fate, config::Axis::velocity, -1e5,
                            1e5, 2}},
            only({1e4, 1e-5}), 4, 16);
    s.accept(photon(5, Phase::absorbed, 1, -5)), s.accept(photon(5, Phase::escaped, 2, -5));
    s.write(file);
  }
  file.commit(true);
  // w = -5 is 0.5 km/s to the red, the second bin; flux per km/s.
  EXPECT_EQ(read(path, "/spectra/emitted/flux"), (std::vector<double>{0, 3}));
  EXPECT_EQ(read(path, "/spectra/absorbed/flux"), (std::vector<double>{1, 0}));
  std::filesystem::remove(path);
}

// The same light, relative to one transition and to another 100 thermal units redward of it.
TEST(SpectrumOutput, CountsFromItsReference) {
  const auto path =
      (std::filesystem::temp_directory_path() / ("thor_reference_" + std::to_string(getpid()) + ".h5")).string();
  const FrequencyAxis blue{1e6, 2796e-8}, red{1e6, 2796e-8 * std::exp(100 * 1e6 / constants::c), -100};
  Tally tally(
      {SpectrumOutput{"x", config::Fate::escaped, config::Axis::x, -2, 2, 4},
       SpectrumOutput{"red_x", config::Fate::escaped, config::Axis::x, -2, 2, 4, "red"},
       SpectrumOutput{"red_velocity", config::Fate::escaped, config::Axis::velocity, -2e6, 2e6, 4, "red"},
       SpectrumOutput{"wavelength", config::Fate::escaped, config::Axis::wavelength, 2805e-8, 2806e-8, 1, "red"}},
      {[&](const std::string& reference) { return reference.empty() ? blue : red; }}, 4, 16);
  tally.accept(photon(0.5, Phase::escaped, 1)), tally.accept(photon(-100.5, Phase::escaped, 2));
  io::ArrayOutput file(path, true);
  tally.write(file);
  file.commit(true);
  EXPECT_EQ(read(path, "/spectra/x/flux"), (std::vector<double>{0, 0, 1, 0}));
  EXPECT_EQ(read(path, "/spectra/red_x/flux"), (std::vector<double>{0, 2, 0, 0}));
  EXPECT_EQ(read(path, "/spectra/red_velocity/flux"), (std::vector<double>{0, 0, 0.2, 0}));  // per km/s
  EXPECT_NEAR(read(path, "/spectra/wavelength/flux")[0], 2, 1e-9);                           // at 2805.36 Angstrom
  EXPECT_EQ(attribute(path, "/spectra/x", "wavelength0"), 2796);
  EXPECT_NEAR(attribute(path, "/spectra/red_x", "wavelength0"), 2805.342, 1e-3);
  std::filesystem::remove(path);
}

TEST(Tally, ErrorOfTheFirstOutput) {
  const SpectrumOutput output{"s", config::Fate::escaped, config::Axis::x, -2, 2, 4};
  Tally with({output}, only({1e6, 1e-5}), 0x1p10, 0x1p20), without({}, only({1e6, 1e-5}), 0x1p10, 0x1p20);
  EXPECT_EQ(with.error(), 0);
  EXPECT_EQ(without.error(), 0);
  for (int i = 0; i < 100; ++i) {
    with.accept(photon(0.5, Phase::escaped, 1));
    without.accept(photon(0.5, i < 25 ? Phase::escaped : Phase::absorbed, 1));
  }
  EXPECT_NEAR(with.error(), 0.1, 1e-8);                       // one bin of 100 photons
  EXPECT_NEAR(without.error(), std::sqrt(0.75 / 25), 1e-12);  // binomial
  for (int i = 0; i < 25; ++i) with.accept(photon(-0.5, Phase::escaped, 1));
  EXPECT_NEAR(with.error(), (10. + 5.) / 125, 1e-8);
}

}  // namespace
