#include "thor/emission/ionization.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "thor/core/error.hpp"
#include "thor/emission/hydrogen_rates.hpp"
#include "thor/emission/uv_background.hpp"
#include "thor/io/array/input.hpp"
#include "thor/io/array/output.hpp"

namespace thor::emission {
namespace ionization_test {

namespace fs = std::filesystem;

class IonizationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "thor_ionization_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string treecool(const std::string& text) {
    const std::string path = (folder / "treecool.txt").string();
    std::ofstream(path) << text;
    return path;
  }
  std::string constant_background(double rate) { return treecool(fmt_row(0, rate) + fmt_row(1, rate)); }
  static std::string fmt_row(double log_z, double rate) {
    char text[200];
    snprintf(text, sizeof text, "%.10g %.10g 1e-14 1e-16 1e-25 1e-25 1e-26\n", log_z, rate);
    return text;
  }

  /// Table of n^0.5 T^-0.3 (1+z/10)..., whose logarithm is linear in log n, log T and z, so that interpolation is
  /// exact.
  static double law(double logd, double logt, double z) { return -3 + 0.5 * logd - 0.3 * logt + 0.1 * z; }
  struct Table {
    std::vector<double> logd = {-6, -4, -3}, logt = {2, 4, 5, 6}, redshift = {0, 1, 3};
    std::vector<std::uint64_t> shape = {3, 4, 3};
    std::string info = "Ion fraction as a function of (logd, logt, redshift)";
    bool turned = false, logarithms = false;
    double spoil = 0;  ///< replaces the value in the middle, if not 0
  };
  std::string write(const Table& table, const std::string& name = "table.h5") {
    std::vector<double> values;
    for (std::size_t i = 0; i < (table.turned ? 3 : table.logd.size()); ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        for (std::size_t k = 0; k < 3; ++k) {
          const double value = table.turned ? law(table.logd[k], table.logt[j], table.redshift[i])
                                            : law(table.logd[i], table.logt[j], table.redshift[k]);
          values.push_back(table.logarithms ? value : std::pow(10, value));
        }
      }
    }
    if (table.spoil != 0) values[values.size() / 2] = table.spoil;
    const std::string path = (folder / name).string();
    io::ArrayOutput out(path, true);
    const auto axis = [&](const char* key, const std::vector<double>& v) {
      out.write<double>(key, v, {v.size()}, "", key);
    };
    axis("logd", table.logd);
    axis("logt", table.logt);
    axis("redshift", table.redshift);
    std::uint64_t size = 1;
    for (const auto n : table.shape) size *= n;
    values.resize(size);
    out.write<double>("ionbal", values, table.shape, "", "neutral fraction");
    if (!table.info.empty()) out.attribute("ionbal", "info", std::string_view(table.info));
    out.commit(true);
    return path;
  }

  fs::path folder;
};

/// Message of the Error(input) that it throws, or "accepted".
template <class F>
std::string complaint(F call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input) << error.what();
    return error.what();
  }
  return "accepted";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
#define EXPECT_HAS(text, part) EXPECT_TRUE(has(text, part)) << text

std::string shared(const std::string& name) { return std::string(THOR_SHARED) + "/data/" + name; }
#define NEED(path) \
  if (!fs::exists(path)) GTEST_SKIP() << "SKIPPED: no " << path << " next to the checkout"

// Osterbrock & Ferland (2006), table 2.1, within 4 %; Hui & Gnedin (1997) from Lotz (1967), within 20 %.
TEST(HydrogenRates, AsPublished) {
  EXPECT_NEAR(alpha_A(5e3) / 6.82e-13, 1, 0.04);
  EXPECT_NEAR(alpha_A(1e4) / 4.18e-13, 1, 0.04);
  EXPECT_NEAR(alpha_A(2e4) / 2.51e-13, 1, 0.04);
  const auto lotz = [](double t, double factor) {
    const double lambda = 315614 / t;
    return factor * std::pow(t, -1.5) * std::exp(-lambda / 2) * std::pow(lambda, -1.089) /
           std::pow(1 + std::pow(lambda / 0.354, 0.874), 1.101);
  };
  double worst = 0, wrong = 0;
  for (double t = 1e4; t < 1e7; t *= 1.2) {
    worst = std::max(worst, std::abs(collisional_ionization(t) / lotz(t, 21.11) - 1));
    wrong = std::max(wrong, std::abs(collisional_ionization(t) / lotz(t, 2 * 21.11) - 1));
  }
  EXPECT_LT(worst, 0.2);
  EXPECT_GT(wrong, 0.2);
}

// Rahmati et al. (2013), eqs. 13 and 14: 6.73e-3 cm^-3 for sigma = 2.49e-18 cm^2, 1e4 K and 1e-12 /s.
TEST(HydrogenRates, Shielding) {
  EXPECT_NEAR(shielding_density(1e-12, 1e4, 3), 6.73e-3 * std::pow(2.15 / 2.49, -2.0 / 3), 1e-9);
  EXPECT_NEAR(shielding_density(1e-12, 1e4, 0.5), 6.73e-3 * std::pow(2.48 / 2.49, -2.0 / 3), 1e-9);
  EXPECT_EQ(shielding_density(1e-12, 1e4, 9), shielding_density(1e-12, 1e4, 5));
  EXPECT_NEAR(shielding_density(8e-12, 1e4, 3) / shielding_density(1e-12, 1e4, 3), 4, 1e-12);
  EXPECT_NEAR(shielding_density(1e-12, 1e5, 3) / shielding_density(1e-12, 1e4, 3), std::pow(10, 0.17), 1e-12);
  EXPECT_NEAR(shielding(1e-2, 1e-2), 0.98 * std::pow(2, -2.28) + 0.02 * std::pow(2, -0.84), 1e-15);
  EXPECT_NEAR(shielding(1e-8, 1e-2), 1, 1e-6);
  EXPECT_NEAR(shielding(1e4, 1e-2), 0.02 * std::pow(1e6, -0.84), 1e-9);
}

/// Net rate per hydrogen atom, ionisation minus recombination, at neutral fraction x; 0 in equilibrium.
double net_rate(double x, double rate, double n, double t, double helium) {
  const double electrons = n * (1 - x) * (1 + helium);
  return rate * x + collisional_ionization(t) * electrons * x - alpha_A(t) * electrons * (1 - x);
}
double by_bisection(double rate, double n, double t, double helium) {
  double low = 0, high = 1 - 1e-15;  // x = 1 is also a root if the rate is 0
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (net_rate(middle, rate, n, t, helium) < 0 ? low : high) = middle;
  }
  return low;
}

TEST_F(IonizationTest, EquilibriumBalancesTheRates) {
  const double rate = 1e-12;
  const auto ionization = Ionization::equilibrium(constant_background(rate), 2, false);
  for (double n = 1e-7; n < 1e3; n *= 7) {
    for (const double t : {1e3, 1e4, 2e4, 1e5, 1e7}) {
      const double x = ionization.neutral_fraction(n, t);
      EXPECT_NEAR(x / by_bisection(rate, n, t, 0.24 / (4 * 0.76)), 1, 1e-9) << n << " " << t;
      if (x < 0.01 && t <= 1e4) {
        EXPECT_GT(std::abs(x / by_bisection(rate, n, t, 0) - 1), 1e-3) << "electrons of helium are missing";
      }
    }
  }
  EXPECT_EQ(ionization.neutral_fraction(0, 1e4), 0);
  EXPECT_TRUE(std::isnan(ionization.neutral_fraction(-1, 1e4)));
  EXPECT_TRUE(std::isnan(ionization.neutral_fraction(1, 0)));
  EXPECT_HAS(ionization.describe(), "without self-shielding");
}

TEST_F(IonizationTest, SelfShieldedGasIsNeutral) {
  const std::string path = constant_background(1e-12);
  const auto open = Ionization::equilibrium(path, 3, false), shielded = Ionization::equilibrium(path, 3, true);
  EXPECT_NEAR(shielded.neutral_fraction(1e-6, 1e4) / open.neutral_fraction(1e-6, 1e4), 1, 1e-4);
  EXPECT_GT(shielded.neutral_fraction(1, 1e4), 0.9);
  EXPECT_LT(open.neutral_fraction(1, 1e4), 0.5);
  const double n = 0.05, t = 1e4;
  const double left = 1e-12 * shielding(n, shielding_density(1e-12, t, 3));
  EXPECT_NEAR(shielded.neutral_fraction(n, t) / by_bisection(left, n, t, 0.24 / (4 * 0.76)), 1, 1e-9);
  EXPECT_HAS(shielded.describe(), "Rahmati");
}

TEST_F(IonizationTest, CollisionalHasNoDensity) {
  const auto ionization = Ionization::collisional();
  EXPECT_NEAR(ionization.neutral_fraction(1e-5, 2e4), ionization.neutral_fraction(1e5, 2e4), 1e-15);
  EXPECT_NEAR(ionization.neutral_fraction(1, 1e3), 1, 1e-12);
  EXPECT_EQ(ionization.neutral_fraction(0, 1e3), ionization.neutral_fraction(1, 1e3));
  // Half neutral at about 1.6e4 K.
  EXPECT_GT(ionization.neutral_fraction(1, 1.5e4), 0.5);
  EXPECT_LT(ionization.neutral_fraction(1, 1.7e4), 0.5);
}

// Cloudy's values, from the shared table: dense gas of 1e2 to 1e3 cm^-3, where the background does not matter, within 3
// %.
TEST_F(IonizationTest, CollisionalAsCloudy) {
  const std::string path = shared("cloudy_hi_fraction.hdf5");
  NEED(path);
  const auto cloudy = Ionization::table(path, 0), ours = Ionization::collisional();
  double worst = 0, twin = 0;
  for (const double log_t : {4.2, 4.3, 4.5, 4.7, 5.0, 5.5, 6.0}) {
    const double t = std::pow(10, log_t), known = cloudy.neutral_fraction(1e3, t);
    worst = std::max(worst, std::abs(ours.neutral_fraction(1e3, t) / known - 1));
    twin = std::max(twin, std::abs(ours.neutral_fraction(1e3, 1.05 * t) / known - 1));
  }
  EXPECT_LT(worst, 0.03);
  EXPECT_GT(twin, 0.03);
}

// And with the background of that table (Haardt & Madau 2001), whose rates are in the same file: within 10 %. The
// difference is due to helium, which is doubly ionised there.
TEST_F(IonizationTest, EquilibriumAsCloudy) {
  const std::string path = shared("cloudy_hi_fraction.hdf5");
  NEED(path);
  const io::Input file(path);
  const auto z = file.read_all<double>("redshift"), rate = file.read_all<double>("header/spectrum/gammahi");
  double worst = 0, wrong = 0;
  for (const std::size_t i : {0, 23, 29}) {
    const auto cloudy = Ionization::table(path, z[i]);
    const auto ours = Ionization::equilibrium(constant_background(rate[i]), z[i], false);
    const auto twin = Ionization::equilibrium(constant_background(1.2 * rate[i]), z[i], false);
    for (const double n : {1e-6, 1e-5, 1e-4, 1e-3}) {
      for (const double log_t : {3.6, 4.0, 4.5}) {
        const double t = std::pow(10, log_t), known = cloudy.neutral_fraction(n, t);
        worst = std::max(worst, std::abs(ours.neutral_fraction(n, t) / known - 1));
        wrong = std::max(wrong, std::abs(twin.neutral_fraction(n, t) / known - 1));
      }
    }
  }
  EXPECT_LT(worst, 0.1);
  EXPECT_GT(wrong, 0.1);
}

TEST_F(IonizationTest, BackgroundIsInterpolatedInLogarithms) {
  const std::string path = treecool("# a comment\n\n" + fmt_row(0, 1e-14) + fmt_row(0.5, 1e-12) + fmt_row(1, 0));
  EXPECT_NEAR(photoionization_rate(path, 0) / 1e-14, 1, 1e-12);
  EXPECT_NEAR(photoionization_rate(path, std::pow(10, 0.25) - 1) / 1e-13, 1, 1e-9);
  EXPECT_NEAR(photoionization_rate(path, std::pow(10, 0.5) - 1) / 1e-12, 1, 1e-9);
  EXPECT_NEAR(photoionization_rate(path, std::pow(10, 0.75) - 1) / 5e-13, 1, 1e-9);  // towards a rate of zero: linear
  EXPECT_EQ(photoionization_rate(path, 9), 0);
  EXPECT_EQ(photoionization_rate(path, -1e-8), photoionization_rate(path, 0));
  for (const double z : {-0.01, 9.01, -1.0, -2.0, double(NAN)}) {
    EXPECT_HAS(complaint([&] { photoionization_rate(path, z); }), "from z = 0 to 9") << z;
  }
}

TEST_F(IonizationTest, SharedBackground) {
  const std::string path = shared("uvb_treecool_puchwein2018.txt");
  NEED(path);
  EXPECT_NEAR(photoionization_rate(path, 0), 6.06e-14, 1e-20);
  EXPECT_NEAR(photoionization_rate(path, std::pow(10, 0.01040844351445357682) - 1), 6.721083209594782665e-14, 1e-20);
  EXPECT_HAS(complaint([&] { Ionization::equilibrium(path, 20, true); }), "15.1");
  const auto ionization = Ionization::equilibrium(path, 2.02, true);
  const double x = ionization.neutral_fraction(1e-5, 1.5e4);
  EXPECT_GT(x, 1e-6);
  EXPECT_LT(x, 1e-5);
}

TEST_F(IonizationTest, BadBackgrounds) {
  const std::string good = fmt_row(0, 1e-13) + fmt_row(0.5, 1e-12);
  const auto refused = [&](const std::string& text) {
    const std::string path = treecool(text);
    return complaint([&] { Ionization::equilibrium(path, 1, false); });
  };
  EXPECT_EQ(refused(good), "accepted");
  EXPECT_HAS(refused(good + "0.7 1e-12 1e-12\n"), "treecool.txt:3: 3 columns");
  EXPECT_HAS(refused(good + "0.7 1e-12 nan 0 0 0 0\n"), "treecool.txt:3: \"nan\" is not a number");
  EXPECT_HAS(refused(good + "0.7 1e-12 1e-1x 0 0 0 0\n"), "\"1e-1x\"");
  EXPECT_HAS(refused(good + fmt_row(0.4, 1e-12)), "treecool.txt:3: log10(1+z) = 0.4 after 0.5");
  EXPECT_HAS(refused(good + fmt_row(0.7, -1e-12)), "negative");
  EXPECT_HAS(refused(fmt_row(0, 1e-12)), "1 redshifts");
  EXPECT_HAS(refused(""), "0 redshifts");
  EXPECT_HAS(complaint([&] { Ionization::equilibrium((folder / "none").string(), 1, false); }), "TREECOOL");
  EXPECT_HAS(complaint([&] { Ionization::equilibrium(folder.string(), 1, false); }), "missing or not readable");
}

TEST_F(IonizationTest, TableIsLinearInItsLogarithms) {
  for (const bool turned : {false, true}) {
    for (const bool logarithms : {false, true}) {
      Table table;
      table.turned = turned;
      table.logarithms = logarithms;
      table.shape = turned ? std::vector<std::uint64_t>{3, 4, 3} : table.shape;
      table.info = std::string(logarithms ? "log10 fraction" : "Ion fraction") + " as a function of " +
                   (turned ? "(redshift, logt, logd)" : "(logd, logt, redshift)");
      const auto ionization = Ionization::table(write(table), 1.7);
      for (const double logd : {-6.0, -5.1, -4.0, -3.3}) {
        for (const double logt : {2.0, 3.3, 4.4, 6.0}) {
          const double x = ionization.neutral_fraction(std::pow(10, logd), std::pow(10, logt));
          EXPECT_NEAR(std::log10(x), law(logd, logt, 1.7), 1e-6) << turned << logarithms << " " << logd << " " << logt;
          EXPECT_GT(std::abs(std::log10(x) - law(logd, logt, 1.6)), 1e-3);
        }
      }
      EXPECT_EQ(ionization.clamped(), 0u);
    }
  }
}

TEST_F(IonizationTest, TableHoldsItsEdgesAndCounts) {
  const auto ionization = Ionization::table(write({}), 0);
  const auto at = [&](double n, double t) { return std::log10(ionization.neutral_fraction(n, t)); };
  EXPECT_NEAR(at(1e-9, 1e4), law(-6, 4, 0), 1e-6);
  EXPECT_NEAR(at(1e3, 1e4), law(-3, 4, 0), 1e-6);
  EXPECT_NEAR(at(1e-4, 1), law(-4, 2, 0), 1e-6);
  EXPECT_NEAR(at(0, 1e9), law(-6, 6, 0), 1e-6);
  EXPECT_EQ(ionization.clamped(), 4u);
  EXPECT_NEAR(at(1e-4, 1e4), law(-4, 4, 0), 1e-6);
  EXPECT_EQ(ionization.clamped(), 4u);
  EXPECT_HAS(ionization.describe(), "table.h5 at z = 0");
}

TEST_F(IonizationTest, SharedTable) {
  const std::string path = shared("cloudy_hi_fraction.hdf5");
  NEED(path);
  const auto ionization = Ionization::table(path, 0);
  EXPECT_NEAR(ionization.neutral_fraction(1e-4, 1e4) / 5.57e-4, 1, 1e-5);
  EXPECT_NEAR(ionization.neutral_fraction(1e-5, 1e4) / 5.77e-5, 1, 1e-5);
  EXPECT_NEAR(ionization.neutral_fraction(std::pow(10, -4.875), 1e4) / std::sqrt(5.77e-5 * 1.02e-4), 1, 1e-4);
  EXPECT_HAS(complaint([&] { Ionization::table(path, 9.5); }), "redshifts 0 to 8.989");
  EXPECT_HAS(complaint([&] { Ionization::table(path, -0.1); }), "not -0.1");
}

TEST_F(IonizationTest, BadTables) {
  const auto refused = [&](const Table& table) {
    const std::string path = write(table);
    return complaint([&] { Ionization::table(path, 1); });
  };
  EXPECT_EQ(refused({}), "accepted");
  EXPECT_HAS(refused({.spoil = NAN}), "1 NaN among 36");
  EXPECT_HAS(refused({.spoil = 1.5}), "1.5, which is not a value");
  EXPECT_HAS(refused({.spoil = -2}), "must begin with log10");
  EXPECT_HAS(refused({.logarithms = true}), "not a value of a neutral fraction");
  EXPECT_HAS(refused({.logt = {2, 5, 4, 6}}), "axis \"logt\": entry 2 is 4 after 5");
  EXPECT_HAS(refused({.logd = {-6, NAN, -3}}), "axis \"logd\": entry 1 is not finite");
  EXPECT_HAS(refused({.redshift = {0, 1, 3, 4}}), "has shape (3, 4, 3)");
  EXPECT_HAS(refused({.shape = {36}}), "has shape (36); its axes (logd, logt, redshift) have (3, 4, 3)");
  EXPECT_HAS(refused({.info = ""}), "`info`");
  EXPECT_HAS(refused({.info = "f(logd, redshift)"}), "`info`");
  const std::string path = write({}), cut = (folder / "cut.h5").string();
  {
    std::ifstream in(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    std::ofstream(cut, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  }
  EXPECT_NE(complaint([&] { Ionization::table(cut, 1); }), "accepted");
  EXPECT_HAS(complaint([&] { Ionization::table(cut, 1); }), "cut.h5");
  EXPECT_HAS(complaint([&] { Ionization::table((folder / "none.h5").string(), 1); }), "none.h5");
  const std::string other = (folder / "other.h5").string();
  io::ArrayOutput out(other);
  const std::vector<double> v = {1, 2};
  out.write<double>("x", v, {2}, "", "");
  out.commit();
  EXPECT_HAS(complaint([&] { Ionization::table(other, 1); }), "no array \"logd\"");
}

}  // namespace ionization_test
}  // namespace thor::emission
