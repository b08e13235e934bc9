#include "thor/emission/ion_table.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "thor/core/error.hpp"
#include "thor/io/array/output.hpp"

namespace thor::emission {
namespace {

namespace fs = std::filesystem;

/// Synthetic table: logarithms are linear in every axis, so that interpolation is exact. Not physical.
double law_fraction(double n, double t, double z_metal, double z) {
  return -2 + 0.2 * n - 0.4 * (t - 4) - 0.1 * z_metal - 0.05 * z;
}
double law_emissivity(double n, double t, double z_metal, double z) {
  return -24 - 0.3 * n + 0.7 * (t - 4) + z_metal + 0.02 * z;
}

struct Table {
  std::string format = "thor ion table", source = "synthetic, for tests";
  double version = 1, abundance = 3.4e-5;
  std::array<std::vector<double>, 4> axes = {{{-5, -3, -2}, {3, 4, 5, 7}, {-2, -1, 0.5}, {0, 2}}};
  std::string units = "log10(erg cm3 s-1)";
  bool with_ions = true, with_lines = true;
  double spoil = 0;
  std::vector<std::uint64_t> shape = {3, 4, 3, 2};
};

class IonTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "thor_ion_table_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string write(const Table& table, const std::string& name = "ions.h5") {
    const std::string path = (folder / name).string();
    io::ArrayOutput out(path, true);
    if (!table.format.empty()) out.attribute("/", "format", std::string_view(table.format));
    out.attribute("/", "format_version", table.version);
    if (!table.source.empty()) out.attribute("/", "source", std::string_view(table.source));
    const char* names[] = {"log_hydrogen_density", "log_temperature", "log_metallicity", "redshift"};
    for (int i = 0; i < 4; ++i) out.write<double>(names[i], table.axes[i], {table.axes[i].size()}, "", names[i]);
    std::uint64_t size = 1;
    for (const auto n : table.shape) size *= n;
    const auto fill = [&](auto law) {
      std::vector<double> values;
      for (const double n : table.axes[0])
        for (const double t : table.axes[1])
          for (const double m : table.axes[2])
            for (const double z : table.axes[3]) values.push_back(law(n, t, m, z));
      values.resize(size);
      if (table.spoil != 0) values[size / 2] = table.spoil;
      return values;
    };
    if (table.with_ions) {
      out.write<double>("ions/MgII", fill(law_fraction), table.shape, "", "log10 of the share of Mg");
      if (table.abundance != 0) out.attribute("ions/MgII", "solar_abundance", table.abundance);
    }
    if (table.with_lines) {
      out.write<double>("lines/MgII_2796", fill(law_emissivity), table.shape, table.units, "emissivity/n_H^2");
    }
    out.commit(true);
    return path;
  }

  fs::path folder;
};

std::string complaint(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input) << error.what();
    return error.what();
  }
  return "accepted";
}
#define EXPECT_SAYS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

TEST_F(IonTableTest, IsLinearInAllFourLogarithms) {
  for (const char* name : {"ions.h5", "ions.zarr"}) {
    const IonTable table(write({}, name), 1.3);
    EXPECT_EQ(table.ions(), std::vector<std::string>{"MgII"});
    EXPECT_EQ(table.lines(), std::vector<std::string>{"MgII_2796"});
    for (const double n : {-5.0, -4.2, -2.6}) {
      for (const double t : {3.0, 4.7, 6.1}) {
        for (const double m : {-2.0, -0.4, 0.5}) {
          const double nh = std::pow(10, n), temperature = std::pow(10, t), metal = std::pow(10, m);
          const double fraction = std::log10(table.fraction("MgII", nh, temperature, metal));
          EXPECT_NEAR(fraction, law_fraction(n, t, m, 1.3), 1e-6);
          EXPECT_GT(std::abs(fraction - law_fraction(n, t, m, 1.2)), 1e-3);  // another redshift is detected
          EXPECT_NEAR(std::log10(table.emissivity("MgII_2796", nh, temperature, metal)),
                      law_emissivity(n, t, m, 1.3) + 2 * n, 1e-6);
        }
      }
    }
    EXPECT_EQ(table.clamped(), 0u);
    EXPECT_NEAR(table.abundance("MgII", 1), 3.4e-5, 1e-12);
    EXPECT_NEAR(table.abundance("MgII", 0.1), 3.4e-6, 1e-13);
    EXPECT_EQ(table.abundance("MgII", 0), 0);
    EXPECT_SAYS(table.describe(), "made by: synthetic, for tests");
  }
}

TEST_F(IonTableTest, HoldsItsEdgesAndCounts) {
  const IonTable table(write({}), 0);
  EXPECT_NEAR(std::log10(table.fraction("MgII", 1e-9, 1e4, 1)), law_fraction(-5, 4, 0, 0), 1e-6);
  EXPECT_NEAR(std::log10(table.fraction("MgII", 1e2, 1e8, 1)), law_fraction(-2, 7, 0, 0), 1e-6);
  EXPECT_EQ(table.clamped(), 2u);
  EXPECT_NEAR(std::log10(table.fraction("MgII", 1e-3, 1e4, 1e-5)), law_fraction(-3, 4, -2, 0), 1e-6);
  EXPECT_NEAR(std::log10(table.fraction("MgII", 1e-3, 1e4, 0)), law_fraction(-3, 4, -2, 0), 1e-6);
  EXPECT_EQ(table.clamped(), 2u);  // metallicities are not counted
  // Beyond the table emissivities scale as n_H^2 and as Z.
  const double edge = table.emissivity("MgII_2796", 1e-2, 1e4, std::sqrt(10));
  EXPECT_NEAR(table.emissivity("MgII_2796", 1, 1e4, std::sqrt(10)) / edge, 1e4, 1e-3);
  EXPECT_NEAR(table.emissivity("MgII_2796", 1e-2, 1e4, 2 * std::sqrt(10)) / edge, 2, 1e-6);
  const double poor = table.emissivity("MgII_2796", 1e-2, 1e4, 0.01);
  EXPECT_NEAR(table.emissivity("MgII_2796", 1e-2, 1e4, 0.001) / poor, 0.1, 1e-9);
  EXPECT_EQ(table.emissivity("MgII_2796", 1e-2, 1e4, 0), 0);
  EXPECT_EQ(table.emissivity("MgII_2796", 0, 1e4, 1), 0);
  EXPECT_TRUE(std::isnan(table.fraction("MgII", 1, -1, 1)) && std::isnan(table.fraction("MgII", 1, 1e4, -1)));
}

TEST_F(IonTableTest, RedshiftsOutsideAreErrors) {
  const std::string path = write({});
  EXPECT_EQ(complaint([&] { IonTable(path, 2); }), "accepted");
  EXPECT_SAYS(complaint([&] { IonTable(path, 2.1); }), "redshifts 0 to 2, not 2.1");
  EXPECT_SAYS(complaint([&] { IonTable(path, -0.01); }), "use one that does");
  const std::string one = write({.axes = {{{-5, -3, -2}, {3, 4, 5, 7}, {-2, -1, 0.5}, {2}}}, .shape = {3, 4, 3, 1}});
  EXPECT_EQ(complaint([&] { IonTable(one, 2.005); }), "accepted");
  EXPECT_SAYS(complaint([&] { IonTable(one, 2.02); }), "not 2.02");
}

TEST_F(IonTableTest, BadTables) {
  const auto refused = [&](const Table& table) {
    const std::string path = write(table);
    return complaint([&] { IonTable(path, 1); });
  };
  EXPECT_EQ(refused({}), "accepted");
  EXPECT_EQ(refused({.with_lines = false}), "accepted");
  EXPECT_SAYS(refused({.format = ""}), "not an ion table");
  EXPECT_SAYS(refused({.source = ""}), "`source`");
  EXPECT_SAYS(refused({.version = 2}), "unknown format_version 2");
  EXPECT_SAYS(refused({.abundance = 0}), "\"ions/MgII\" needs an attribute `solar_abundance`");
  EXPECT_SAYS(refused({.units = "erg s-1 cm-3"}), "units = \"log10(erg cm3 s-1)\"");
  EXPECT_SAYS(refused({.with_ions = false, .with_lines = false}), "neither ions");
  EXPECT_SAYS(refused({.spoil = NAN}), "1 NaN among 72");
  EXPECT_SAYS(refused({.spoil = 0.3}), "at most 0");
  EXPECT_SAYS(refused({.with_ions = false, .spoil = INFINITY}), "infinities");
  EXPECT_SAYS(refused({.shape = {4, 3, 3, 2}}), "has shape (4, 3, 3, 2)");
  EXPECT_SAYS(refused({.axes = {{{-5, -3, -4}, {3, 4, 5, 7}, {-2, -1, 0.5}, {0, 2}}}}), "it must increase");
  const IonTable table(write({}), 1);
  EXPECT_SAYS(complaint([&] { table.fraction("FeII", 1, 1e4, 1); }), "no ion \"FeII\" in this table (it has: MgII)");
  EXPECT_SAYS(complaint([&] { table.emissivity("MgII", 1, 1e4, 1); }), "(it has: MgII_2796)");
  EXPECT_SAYS(complaint([&] { IonTable((folder / "none.h5").string(), 1); }), "none.h5");
}

}  // namespace
}  // namespace thor::emission
