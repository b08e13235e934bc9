#include "thor/generators/source_list.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <map>

#include "support/grid.hpp"
#include "support/run.hpp"
#include "thor/core/constants.hpp"
#include "thor/generators/source_file.hpp"
#include "thor/io/array/input.hpp"

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
  // sigma = v_th/sqrt(2), v_th = 2 in units of that at 1e4 K.
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
  EXPECT_NEAR(cut.tally.light(Counter::light_emitted) / cell_luminosity(4e-22), 1, 1e-6)
      << "the cut is on the emitted luminosity";
  EXPECT_NEAR(cut.tally.light(Counter::light_unresolved) / cell_luminosity(4e-22), 0.9, 1e-6);
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
  try {  // requested by the key, but not in the file
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
  const auto velocity = [&](std::vector<double> values, const char* unit) {
    io::ArrayOutput file(path, true);
    file.write<double>("/sources/position", std::vector{1., 2., 3.}, {1, 3}, "cm", "");
    file.write<double>("/sources/luminosity", std::vector{7.}, {1}, "", "");
    if (!values.empty()) file.write<double>("/sources/velocity", values, {values.size() / 3, 3}, unit, "");
    file.commit(true);
    config::Generator g;
    g.path = path, g.group = "/sources", g.frame = config::RestFrame::source;
    return read_sources(g)[0].velocity[2];
  };
  EXPECT_EQ(velocity({1, 2, 3}, "cm s-1"), 3);
  EXPECT_NEAR(velocity({1, 2, 3}, "km s-1"), 3e5, 1e-6);
  EXPECT_THROW(velocity({}, ""), Error);
  EXPECT_THROW(velocity({1, 2, 3, 4, 5, 6}, "cm s-1"), Error);
  EXPECT_THROW(velocity({1, 2, 3}, "kpc"), Error);
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
  EXPECT_NEAR(out.tally.light(Counter::light_emitted) / 4e42, 1, 1e-9) << "the one outside the grid is dropped";
  int first = 0;
  const double cell = 1000. / 8;
  for (const Photon& p : out.photons) {
    if (std::abs(p.position[0] - 10 / cell) < 1e-5 && std::abs(p.position[2] + 30 / cell) < 1e-5) ++first;
  }
  EXPECT_NEAR(first, 2000, 3);
}

/// The one source of a table at (0.25, 0, 0.5) kpc with a velocity, in some gas.
std::vector<Photon> of_table(const std::string& dataset, const std::string& more, const std::string& line = "Lya",
                             int photons = 400) {
  const Table table("# x[kpc] y[kpc] z[kpc] luminosity[erg/s] vx[km/s] vy[km/s] vz[km/s]\n0.25 0 0.5 1e42 0 30 -40\n");
  return test::run("line: " + line + "\nprecision: double\ndataset: {temperature: 1e4 K, tau0: 10, " + dataset +
                   "}\ngenerators: [{type: sources, photons: " + std::to_string(photons) + ", path: " + table.path() +
                   more + "}]\noutput: {path: x.h5}\n");
}
std::vector<Photon> of_point(const std::string& dataset, const std::string& more) {
  return test::run("line: Lya\nprecision: double\ndataset: {temperature: 1e4 K, tau0: 10, " + dataset +
                   "}\ngenerators: [{type: point, photons: 400, luminosity: 1e42 erg/s, position: [0.25 kpc, 0 kpc, "
                   "0.5 kpc]" +
                   more + "}]\noutput: {path: x.h5}\n");
}
const std::string flows[] = {
    "type: shell, outer_radius: 1 kpc, velocity: {profile: linear, max: 100 km/s}",
    "type: slab, half_thickness: 1 kpc, velocity: {profile: linear, max: 100 km/s}",
    "type: shell, inner_radius: 0.7 kpc, outer_radius: 1 kpc, velocity: {profile: linear, max: 100 km/s}"};

/// A list with one source is a point source, in all media and frames; the third has its source in a cavity.
TEST(SourcesGenerator, IsAPointInAnyGasAndFrame) {
  for (const std::string& flow : flows) {
    const bool slab = flow.starts_with("type: slab"), cavity = flow.find("inner") != std::string::npos;
    const std::string gas = slab     ? ", velocity: [0 km/s, 0 km/s, 50 km/s]"
                            : cavity ? ""
                                     : ", velocity: [25 km/s, 0 km/s, 50 km/s]";
    const std::pair<std::string, std::string> frames[] = {
        {", frame: box", ""},
        {", frame: source", ", velocity: [0 km/s, 30 km/s, -40 km/s]"},
        {", frame: gas", gas},
        {"", gas},
    };
    for (const auto& [frame, velocity] : frames) {
      const auto list = of_table(flow, frame), point = of_point(flow, velocity);
      ASSERT_EQ(list.size(), point.size());
      for (std::size_t i = 0; i < list.size(); ++i) {
        ASSERT_NEAR(list[i].frequency_initial, point[i].frequency_initial, 1e-6) << flow << frame;
        ASSERT_NEAR(list[i].position_initial[2], 0.5, 1e-15);
        ASSERT_NEAR(list[i].direction[0], list[i].scatterings ? list[i].direction[0] : point[i].direction[0], 1e-12);
      }
    }
  }
  const auto box = of_table(flows[0], ", frame: box"), point = of_point(flows[0], "");
  for (std::size_t i = 0; i < box.size(); ++i) ASSERT_EQ(box[i].frequency_final, point[i].frequency_final);
}

TEST(SourcesGenerator, MembersOfADoubletGoByOscillatorStrength) {
  int blue = 0;
  const auto photons = of_table("type: slab, half_thickness: 1 kpc", "", "MgII", 10000);
  for (const Photon& p : photons) blue += p.frequency_initial > -10;
  const double share = 0.608 / (0.608 + 0.303), n = double(photons.size());
  EXPECT_NEAR(blue / n, share, 4 * std::sqrt(share * (1 - share) / n) + 0.003);
  for (const Photon& p : of_table("type: slab, half_thickness: 1 kpc", ", spectrum: {reference: MgII_2803}", "MgII")) {
    ASSERT_LT(p.frequency_initial, -10);
  }
}

TEST(SourcesGenerator, OutsideTheGasTheyAreLeftOut) {
  const Table table("# x[kpc] y[kpc] z[kpc] luminosity[erg/s]\n5 0 0.5 1e42\n0 0 0.5 3e42\n0 0 1.1 5e42\n");
  for (const char* gas : {"type: slab, half_thickness: 1 kpc", "type: shell, outer_radius: 1 kpc"}) {
    testing::internal::CaptureStderr();
    const auto out = test::run_all("line: Lya\ndataset: {temperature: 1e4 K, tau0: 10, " + std::string(gas) +
                                       "}\ngenerators: [{type: sources, photons: 400, path: " + table.path() +
                                       "}]\noutput: {path: x.h5}\n",
                                   {}, {});
    const std::string warning = testing::internal::GetCapturedStderr();
    const bool slab = std::string(gas).starts_with("type: slab");  // which has no end in x
    EXPECT_NE(warning.find(slab ? "1 of 3 sources" : "2 of 3 sources"), std::string::npos);
    EXPECT_NEAR(out.tally.light(Counter::light_emitted), slab ? 4e42 : 3e42, 1e30);
    for (const Photon& p : out.photons)
      ASSERT_TRUE(p.source == 1 || (slab && p.source == 0)) << "rows keep their number";
  }
}

/// A source outside an open grid is outside all of its tiles; in a periodic one it comes back in each tile.
TEST(SourcesGenerator, OutsideOneTileTheyAreOutsideAll) {
  const Table table("# x[kpc] y[kpc] z[kpc] luminosity[erg/s]\n0.3 0 0 1e42\n0.7 0 0 5e42\n");
  for (const bool periodic : {false, true}) {
    auto o = lamps();
    o.periodic = periodic, o.shape = {4, 4, 4}, o.hubble = periodic ? 3e-14 : 0;
    const test::GridFile file(o);
    testing::internal::CaptureStderr();
    const auto out =
        test::run_all("line: Lya\ndataset: {type: uniform_grid, tiles: 2, path: " + file.path() +
                          (periodic ? ", stop_shift: 1 Angstrom" : "") +
                          "}\ngenerators: [{type: sources, frame: box, photons: 4800, path: " + table.path() +
                          "}]\noutput: {path: x.h5}\n",
                      {}, {});
    const std::string warning = testing::internal::GetCapturedStderr();
    EXPECT_EQ(
        warning.find("8 of 16 sources are outside the grid and were left out, with 4e+43 erg/s") == std::string::npos,
        periodic)
        << warning;
    EXPECT_NEAR(out.tally.light(Counter::light_emitted), periodic ? 4.8e43 : 8e42, 1e31);
    std::map<std::array<int, 3>, int> photons;  // by tile of [-0.5, 0.5] kpc and its neighbours, and place in it
    for (const Photon& p : out.photons) {
      const double x = p.position_initial[0] / 4;
      ASSERT_NEAR(std::remainder(x, 1), p.source < 8 ? 0.3 : -0.3, 1e-6);
      photons[{int(std::lround(x - std::remainder(x, 1))), int(std::lround(p.position_initial[1] / 4)),
               int(std::lround(p.position_initial[2] / 4))}] += 1;
    }
    ASSERT_EQ(photons.size(), 8u);
    for (const auto& [tile, count] : photons) EXPECT_NEAR(count, 600, 8);
  }
}

TEST(SourcesGenerator, VelocitiesAreChecked) {
  const auto error = [](const std::string& text) -> std::string {
    const Table table(text);
    config::Generator g;
    g.path = table.path(), g.frame = config::RestFrame::source;
    try {
      read_sources(g);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::input);
      return e.what();
    }
    return "none";
  };
  const std::string head = "# x[kpc] y[kpc] z[kpc] luminosity[erg/s] ";
  EXPECT_EQ(error(head + "vx[km/s] vy[km/s] vz[cm/s]\n1 2 3 4 5 6 7\n"), "none");
  EXPECT_NE(error(head + "vx[km/s] vy[km/s]\n1 2 3 4 5 6\n").find("no column \"vz\""), std::string::npos);
  EXPECT_NE(error(head + "vx[km/s] vy[km/s] vz[kpc]\n1 2 3 4 5 6 7\n").find("column vz"), std::string::npos);
  EXPECT_NE(error(head + "vx[km/s] vy[km/s] vz[km/s]\n1 2 3 4 2e4 2e4 2e4\n").find("tenth of the speed"),
            std::string::npos);
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
  EXPECT_EQ(error("\xEF\xBB\xBF" + head + "1 2 3 4\n"), "none") << "a byte order mark";
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

/// Light absorbed at emission has its own counter; the emitted light does not change.
TEST(EscapeFraction, LeavesTheEmittedLightAlone) {
  const auto run = [](const char* f) {
    return test::run_all(
        "line: Lya\ndataset: {type: slab, half_thickness: 1 kpc, temperature: 1e4 K, tau0: 100, dust: {tau: 1}}\n"
        "generators: [{type: point, photons: 1000, luminosity: 3e42 erg/s, escape_fraction: " +
            std::string(f) +
            "}, {type: point, photons: 500, luminosity: 2e42 erg/s}]\noutputs:\n"
            "  - {type: spectrum, name: e, of: emitted, axis: x, range: [-1, 1], bins: 1}\n"
            "  - {type: spectrum, name: s, of: escaped, axis: x, range: [-100, 100], bins: 1}\noutput: {path: x.h5}\n",
        {}, {});
  };
  const auto part = run("0.3"), all = run("1");
  for (const auto* out : {&part, &all}) {
    EXPECT_TRUE(out->tally.conserves());
    EXPECT_NEAR(out->tally.light(Counter::light_emitted), 5e42, 1e30);
    EXPECT_NEAR(out->tally.light(0, GeneratorCounter::light_emitted), 3e42, 1e30);
  }
  EXPECT_EQ(all.tally[Counter::light_unresolved], 0u);
  EXPECT_NEAR(part.tally.light(Counter::light_unresolved), 2.1e42, 1e30);
  EXPECT_NEAR(part.tally.light(0, GeneratorCounter::light_unresolved), 2.1e42, 1e30);
  EXPECT_EQ(part.tally.light(1, GeneratorCounter::light_unresolved), 0);
  for (const auto c : {GeneratorCounter::light_escaped, GeneratorCounter::light_absorbed}) {
    EXPECT_NEAR(part.tally.light(0, c) / all.tally.light(0, c), 0.3, 1e-12);
    EXPECT_NEAR(part.tally.light(1, c) / all.tally.light(1, c), 1, 1e-12);
  }
  for (std::size_t i = 0; i < part.photons.size(); ++i) {
    EXPECT_EQ(part.photons[i].fate, all.photons[i].fate) << "the same photons";
    EXPECT_EQ(part.photons[i].weight_initial, all.photons[i].weight);
  }
  const std::string path = testing::TempDir() + "thor_unresolved_" + std::to_string(getpid()) + ".h5";
  io::ArrayOutput file(path, true);
  part.tally.write(file);
  file.commit(true);
  const io::Input input(path);
  EXPECT_NEAR(input.read_all<double>("/spectra/e/flux")[0] * 2, 5e42, 1e34);
  EXPECT_NEAR(input.read_all<double>("/spectra/s/flux")[0] * 200 / part.tally.light(Counter::light_escaped), 1, 1e-9);
  std::remove(path.c_str());
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
