#include "thor/generators/source_list.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "support/grid.hpp"
#include "support/run.hpp"
#include "thor/core/constants.hpp"
#include "thor/generators/source_file.hpp"

namespace thor {
namespace {

/// Two bright cells, the first with three times the light, and a faint rest.
test::GridOptions lamps() {
  test::GridOptions o;
  o.shape = {8, 6, 4};
  o.emissivity = true;
  o.gas = [](int x, int y, int z) {
    const bool first = x == 1 && y == 2 && z == 3, second = x == 5 && y == 4 && z == 0;
    return test::GridCell{1e-20, 1e4, {10, 0, 0}, 0, first ? 3e-22 : second ? 1e-22 : 1e-27};
  };
  return o;
}

std::string yaml(const test::GridFile& file, const std::string& generator, const std::string& more = "") {
  return "line: Lya\ndataset: {type: uniform_grid, path: " + file.path() + "}\ngenerators: [" + generator +
         "]\noutput: {path: x.h5}\n" + more;
}

double cell_luminosity(double emissivity) {
  const double cell = test::GridOptions{}.size / 8;
  return emissivity * cell * cell * cell;
}

TEST(GasGenerator, ShinesByLuminosityInTheFrameOfTheGas) {
  const test::GridFile file(lamps());
  const auto out = test::run_all(yaml(file, "{type: gas, emission: recombination, photons: 40000}"), {}, {});
  const double all = cell_luminosity(4e-22) + 190 * cell_luminosity(1e-27);
  EXPECT_NEAR(out.tally.light(Counter::light_emitted) / all, 1, 1e-6);
  ASSERT_EQ(out.photons.size(), 40000u);
  int first = 0, second = 0;
  double shift = 0;
  for (const Photon& p : out.photons) {
    const double x = p.position[0] + 4, y = p.position[1] + 3, z = p.position[2] + 2;  // from the corner
    first += int(x) == 1 && int(y) == 2 && int(z) == 3;
    second += int(x) == 5 && int(y) == 4 && int(z) == 0;
    shift += p.frequency_initial * p.direction[0] / 40000;
  }
  EXPECT_NEAR(first, 30000, 20) << "the number of a source is N L_i/L to one photon";
  EXPECT_NEAR(second, 10000, 20);
  // <v . n n_x> = v_x/3 in thermal units of 1e4 K.
  const double expected = 10e5 / (3 * std::sqrt(2 * constants::k_B * 1e4 / (1.00784 * constants::m_u)));
  EXPECT_NEAR(shift, expected, 0.005);
}

TEST(GasGenerator, ThermalLightHasTheWidthOfTheGas) {
  auto hot = lamps();
  hot.gas = [](int, int, int) { return test::GridCell{1e-20, 4e4, {}, 0, 1e-22}; };
  const test::GridFile file(hot);
  const auto width = [&](const std::string& spectrum) {
    double sum = 0;
    for (const Photon& p :
         test::run(yaml(file, "{type: gas, emission: recombination, photons: 20000, spectrum: {" + spectrum + "}}")))
      sum += p.frequency_initial * p.frequency_initial / 20000;
    return std::sqrt(sum);
  };
  // sigma = v_th/sqrt(2), v_th = 2 in units of that of 1e4 K.
  EXPECT_NEAR(width("type: thermal"), std::sqrt(2.), 0.03);
  EXPECT_NEAR(width("type: thermal, temperature: 1e4 K"), std::sqrt(0.5), 0.015);
  EXPECT_EQ(width("type: delta"), 0);
}

TEST(GasGenerator, MembersOfADoubletGoByOscillatorStrength) {
  auto o = lamps();
  o.gas = [](int, int, int) { return test::GridCell{1e-20, 1e4, {}, 0, 1e-22}; };
  const test::GridFile file(o);
  const std::string text = "line: MgII\ndataset: {type: uniform_grid, path: " + file.path() +
                           "}\ngenerators: [{type: gas, emission: field, field: emissivity_recombination, photons: "
                           "30000}]\noutput: {path: x.h5}\n";
  int blue = 0;
  for (const Photon& p : test::run(text)) blue += p.frequency_initial > -10;
  const double share = 0.608 / (0.608 + 0.303);  // f of 2796 and 2803, Morton (2003)
  EXPECT_NEAR(blue / 30000., share, 4 * std::sqrt(share * (1 - share) / 30000) + 0.003);
}

TEST(GasGenerator, CountsPerLuminosityKeepTheLuminosity) {
  const test::GridFile file(lamps());
  // The bright cells have 1.7e40 and 5.7e39 erg/s.
  const std::string counts = "photons_per_1e42: 1e4, min_photons: 2, max_photons: 100";
  const auto out = test::run_all(yaml(file, "{type: gas, emission: recombination, " + counts + "}"), {}, {});
  const double all = cell_luminosity(4e-22) + 190 * cell_luminosity(1e-27);
  EXPECT_NEAR(out.tally.light(Counter::light_emitted) / all, 1, 1e-6);
  EXPECT_EQ(out.photons.size(), 100u + 57u + 190u * 2u);
  const auto cut = test::run_all(
      yaml(file, "{type: gas, emission: recombination, minimum_luminosity: 1e39 erg/s, escape_fraction: 0.1, " +
                     counts + "}"),
      {}, {});
  EXPECT_NEAR(cut.tally.light(Counter::light_emitted) / (0.1 * cell_luminosity(3e-22)), 1, 1e-6)
      << "the cut is on what is left of a luminosity";
}

TEST(GasGenerator, WithoutEmissivityItIsAnError) {
  auto o = lamps();
  o.emissivity = false;
  const test::GridFile file(o);
  try {
    test::run(yaml(file, "{type: gas, emission: recombination, photons: 10}"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::input);
    for (const char* said : {"emissivity_recombination", "thor grid --emission lya", "from_cells: true"}) {
      EXPECT_NE(std::string(e.what()).find(said), std::string::npos) << e.what();
    }
  }
  try {  // by the key, from what the file has not
    test::run(yaml(file, "{type: gas, emission: recombination, from_cells: true, photons: 10}"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("electron_density"), std::string::npos) << e.what();
  }
}

TEST(GasGenerator, EmissivitiesHaveUnits) {
  const auto light = [](const char* units) {
    auto o = lamps();
    o.units["emissivity_recombination"] = units;
    const test::GridFile file(o);
    const auto out = test::run_all(yaml(file, "{type: gas, emission: recombination, photons: 10}"), {}, {});
    return out.tally.light(Counter::light_emitted);
  };
  const double usual = light("erg s-1 cm-3");
  EXPECT_NEAR(light("") / usual, 1, 1e-9);
  EXPECT_NEAR(light("erg/s/cm^3") / usual, 1, 1e-9);
  EXPECT_NEAR(light("W m-3") / usual, 10, 1e-6);
  for (const char* wrong : {"erg s-1", "cm-3", "erg s-1 kpc-3"}) {
    try {
      light(wrong);
      ADD_FAILURE() << wrong;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::input);
      EXPECT_NE(std::string(e.what()).find("emissivity_recombination"), std::string::npos) << e.what();
    }
  }
}

TEST(GasGenerator, WhatIsDroppedIsDark) {
  auto o = lamps();
  const auto gas = o.gas;
  o.gas = [gas](int x, int y, int z) {
    auto cell = gas(x, y, z);
    if (x == 1 && y == 2 && z == 3) cell.velocity[1] = NAN;
    if (x == 0 && y == 0 && z == 0) cell.temperature = -1, cell.emissivity = NAN;
    return cell;
  };
  const test::GridFile file(o);
  const std::string text =
      "line: Lya\ndataset: {type: uniform_grid, bad_cells: drop, path: " + file.path() +
      "}\ngenerators: [{type: gas, emission: recombination, photons: 1000}]\noutput: {path: x.h5}\n";
  const auto out = test::run_all(text, {}, {});
  const double all = cell_luminosity(1e-22) + 189 * cell_luminosity(1e-27);
  EXPECT_NEAR(out.tally.light(Counter::light_emitted) / all, 1, 1e-6);
}

TEST(SourcesGenerator, ArraysHaveUnits) {
  const std::string path = testing::TempDir() + "thor_sources_" + std::to_string(getpid()) + ".h5";
  const auto read = [&](const char* length, const char* light) {
    io::ArrayOutput file(path, true);
    file.write<double>("/sources/position", std::vector{1., 2., 3.}, {1, 3}, length, "");
    file.write<double>("/sources/luminosity", std::vector{7.}, {1}, light, "");
    file.commit(true);
    config::Generator g;
    g.path = path, g.group = "/sources";
    return read_sources(g);
  };
  EXPECT_EQ(read("cm", "erg s-1")[0].position[2], 3);
  EXPECT_NEAR(read("kpc", "erg/s")[0].position[1] / (2e3 * constants::pc), 1, 1e-12);
  EXPECT_EQ(read("", "")[0].brightness, 7);
  EXPECT_THROW(read("parrots", ""), Error);
  EXPECT_THROW(read("kpc", "W"), Error);
  std::remove(path.c_str());
}

class Table {
 public:
  explicit Table(const std::string& text)
      : path_(testing::TempDir() + "thor_sources_" + std::to_string(getpid()) + ".txt") {
    std::ofstream(path_) << text;
  }
  ~Table() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Generators, WithoutLightAreRefused) {
  auto dark = lamps();
  dark.gas = [](int, int, int) { return test::GridCell{1e-20, 1e4, {}, 0, 0}; };
  const test::GridFile file(dark);
  const std::string table = testing::TempDir() + "thor_dark_" + std::to_string(getpid()) + ".txt";
  std::ofstream(table) << "# x[kpc] y[kpc] z[kpc] luminosity[erg/s]\n0 0 0 0\n0.1 0 0 0\n";
  for (const std::string& generator : {std::string("{type: gas, emission: recombination, photons: 10}"),
                                       "{type: sources, photons: 10, path: " + table + "}"}) {
    try {
      test::run(yaml(file, generator));
      ADD_FAILURE() << generator;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::input);
      EXPECT_NE(std::string(e.what()).find("nothing shines"), std::string::npos) << e.what();
    }
  }
  std::filesystem::remove(table);
}

TEST(SourcesGenerator, ReadsATable) {
  const test::GridFile file(lamps());
  const Table table("# x[pc] name y[pc] z[pc] sfr[Msun/yr]\n10 1 20 -30 2\n\n-400 2 0 0 6\n9999 3 0 0 1\n");
  const std::string generator =
      "{type: sources, path: " + table.path() + ", brightness: sfr, efficiency: 0.5, photons: 8000}";
  const auto out = test::run_all(yaml(file, generator), {}, {});
  EXPECT_NEAR(out.tally.light(Counter::light_emitted) / 4e42, 1, 1e-9) << "the one outside the grid is left out";
  int first = 0;
  const double cell = 1000. / 8;
  for (const Photon& p : out.photons) {
    if (std::abs(p.position[0] - 10 / cell) < 1e-5 && std::abs(p.position[2] + 30 / cell) < 1e-5) ++first;
  }
  EXPECT_NEAR(first, 2000, 1);
}

TEST(SourcesGenerator, BadTablesAreNamed) {
  const auto error = [](const std::string& text) -> std::string {
    const Table table(text);
    config::Generator g;
    g.path = table.path();
    try {
      read_sources(g);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::input);
      return e.what();
    }
    return "none";
  };
  const std::string head = "# x[kpc] y[kpc] z[kpc] luminosity[erg/s]\n";
  EXPECT_EQ(error(head + "1 2 3 4\n"), "none");
  const auto holds = [&](const std::string& text, const std::string& part) {
    EXPECT_NE(error(text).find(part), std::string::npos) << error(text);
  };
  holds("", ":1: no column \"x\"");
  holds("# x[kpc] y[kpc] z[kpc]\n", "no column \"luminosity\"");
  holds("# x y[kpc] z[kpc] luminosity[erg/s]\n", "column x has no unit");
  holds("# x[parrots] y[kpc] z[kpc] luminosity[erg/s]\n", "column x");
  holds(head + "1 2 3\n", ":2: expected 4 numbers");
  holds(head + "1 2 3 4\n1 2 3 x\n", ":3: expected 4 numbers");
  holds(head + "1 2 3 -4\n", "source 0");
  holds(head + "1 2 nan 4\n", "expected 4 numbers");
}

TEST(SeveralGenerators, AreReportedApart) {
  const test::GridFile file(lamps());
  const auto out = test::run_all(
      yaml(file,
           "{type: point, photons: 100, luminosity: 3e40 erg/s}, {type: gas, emission: recombination, photons: 50}"),
      {}, {});
  EXPECT_NEAR(out.tally.light(0, GeneratorCounter::light_emitted), 3e40, 1e32);
  EXPECT_NEAR(out.tally.light(0, GeneratorCounter::light_escaped), 3e40, 1e32);
  EXPECT_NEAR(out.tally.light(1, GeneratorCounter::light_emitted) / cell_luminosity(4e-22), 1, 1e-3);
  EXPECT_TRUE(out.tally.conserves());
}

}  // namespace
}  // namespace thor
