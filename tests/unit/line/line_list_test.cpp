// The built-in line list, checked for consistency and against another one, and users' lists.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "support/run.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/line/line.hpp"

namespace thor {
namespace {

const Level& level_of(const Line& line, const std::string& name) {
  const auto found = std::ranges::find(line.levels, name, &Level::name);
  if (found == line.levels.end()) throw std::logic_error(line.name + " has no level " + name);
  return *found;
}

/// g_u/g_l = (2 J_u + 1)/(2 J_l + 1); for 1s-2p, where 2p represents both of its J, 6/2.
double weight_ratio(const Line& line, const AtomicTransition& t) {
  const auto lower = level_of(line, t.lower).J, upper = level_of(line, t.upper).J;
  if (lower && upper) return (2 * *upper + 1) / (2 * *lower + 1);
  EXPECT_EQ(line.name, "Lya") << "which J do " << t.lower << " and " << t.upper << " represent?";
  return 3;
}

TEST(LineList, HasTheLinesThatWereAskedFor) {
  for (const char* name : {"Lya", "MgII", "CIV", "NV", "OVI", "SiIV", "NaI", "AlII", "CaII", "SiII_1190", "SiII_1260",
                           "SiII_1304", "SiII_1526", "FeII_UV", "OVII", "FeXVII"}) {
    ASSERT_NE(find_line(lines(), name), nullptr) << name;
  }
  for (const Line& line : lines()) {
    EXPECT_FALSE(line.description.empty()) << line.name;
    EXPECT_FALSE(line.source.empty()) << line.name;
    EXPECT_LE(line.absorbing().size(), std::size_t(most_transitions)) << line.name;
  }
  EXPECT_EQ(lines_text().substr(0, 2), "# ");
}

// f = m_e c/(8 pi^2 e^2) g_u/g_l lambda^2 A; sources round f to two digits at worst.
TEST(LineList, OscillatorStrengthsAndEinsteinCoefficientsAgree) {
  using namespace constants;
  for (const Line& line : lines())
    for (const AtomicTransition& t : line.transitions) {
      const double f = m_e * c / (8 * pi * pi * e * e) * weight_ratio(line, t) * t.wavelength * t.wavelength;
      EXPECT_NEAR(t.oscillator_strength / (f * t.einstein_A), 1, 0.03) << t.name;
    }
}

TEST(LineList, WavelengthsAreThoseOfTheLevels) {
  for (const Line& line : lines())
    for (const AtomicTransition& t : line.transitions) {
      const double k = level_of(line, t.upper).energy - level_of(line, t.lower).energy;
      if (t.ion == "D I") {
        EXPECT_NEAR(t.wavelength * k, 1 - 2.721e-4, 1e-6);  // ratio of reduced masses
      } else {
        EXPECT_NEAR(t.wavelength * k, 1, 1e-5) << t.name;
      }
    }
}

TEST(LineList, BranchingsSumToOneAndFollowFromA) {
  for (const Line& line : lines()) {
    std::map<std::pair<std::string, std::string>, double> branching, rate;
    for (const AtomicTransition& t : line.transitions) {
      branching[{t.ion, t.upper}] += t.branching;
      rate[{t.ion, t.upper}] += t.einstein_A;
    }
    for (const auto& [level, sum] : branching) EXPECT_NEAR(sum, 1, 1e-12) << line.name << ", " << level.second;
    for (const AtomicTransition& t : line.transitions) {
      const double sum = rate[{t.ion, t.upper}];
      EXPECT_DOUBLE_EQ(t.damping, sum) << t.name;
      EXPECT_NEAR(t.branching, t.einstein_A / sum, 2e-3) << t.name;
    }
  }
}

TEST(LineList, MassesAreThoseOfTheElements) {
  const std::map<std::string, double> mass{{"H", 1.008},   {"D", 2.014},   {"C", 12.011},  {"N", 14.007},
                                           {"O", 15.999},  {"Na", 22.990}, {"Mg", 24.305}, {"Al", 26.982},
                                           {"Si", 28.085}, {"Ca", 40.078}, {"Fe", 55.845}};
  for (const Line& line : lines())
    for (const AtomicTransition& t : line.transitions) {
      const std::string element = t.ion.substr(0, t.ion.find(' '));
      ASSERT_TRUE(mass.count(element)) << t.ion;
      EXPECT_NEAR(t.mass / constants::m_u, mass.at(element), 1e-3) << t.name;
    }
}

TEST(LineList, LevelsHoldTheirIons) {
  for (const Line& line : lines()) {
    EXPECT_EQ(line.levels.front().population, 1) << line.name;
    EXPECT_GT(line.first().population, 0) << line.name;
    for (const AtomicTransition& t : line.transitions) {
      EXPECT_EQ(t.population > 0, t.lower == line.levels.front().name && t.ion != "D I") << t.name;
    }
  }
  Line lya = find_line("Lya");
  EXPECT_EQ(lya.absorbing().size(), 1u);
  EXPECT_TRUE(lya.set_deuterium(2.5e-5));
  ASSERT_EQ(lya.absorbing().size(), 2u);
  EXPECT_EQ(lya.absorbing()[1]->population, 2.5e-5);
  Line magnesium = find_line("MgII");
  EXPECT_FALSE(magnesium.set_deuterium(2.5e-5));
}

// ---- against VPFIT -------------------------------------------------------------------------------------------------

struct Entry {
  double wavelength, f, damping;  ///< [Angstrom], [1/s]
};
/// By ion, as "MgII" and, from an excited level, "SiII*".
std::multimap<std::string, Entry> read_vpfit(const std::string& path) {
  std::multimap<std::string, Entry> entries;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.size() < 7) continue;
    std::string ion = line.substr(0, 6);
    std::erase(ion, ' ');
    std::istringstream numbers(line.substr(6));
    Entry e{};
    if (numbers >> e.wavelength >> e.f >> e.damping) entries.emplace(ion, e);
  }
  return entries;
}

TEST(LineList, AgreesWithVpfit) {
  const std::string vpfit = std::string(THOR_SHARED) + "/data/line_list_vpfit.txt";
  const std::string path = std::filesystem::exists(vpfit) ? vpfit : "";
  THOR_NEED_REFERENCE(path);
  const auto entries = read_vpfit(path);
  ASSERT_GT(entries.size(), 1000u);
  int compared = 0, excited = 0;
  for (const Line& line : lines())
    for (const AtomicTransition& t : line.transitions) {
      std::string ion = t.ion;
      std::erase(ion, ' ');
      const bool ground = t.lower == line.levels.front().name;
      const double wavelength = t.wavelength / constants::angstrom;
      const auto [first, last] = entries.equal_range(ion + (ground ? "" : "*"));
      for (auto entry = first; entry != last; ++entry) {
        const Entry& theirs = entry->second;
        if (std::abs(theirs.wavelength / wavelength - 1) > 1e-4) continue;
        EXPECT_NEAR(wavelength / theirs.wavelength, 1, 3e-6) << t.name;
        EXPECT_NEAR(t.oscillator_strength / theirs.f, 1, 0.05) << t.name;
        EXPECT_NEAR(t.damping / theirs.damping, 1, 0.1) << t.name;
        ++compared, excited += !ground;
      }
    }
  EXPECT_GE(compared, 36) << "too few transitions found for a meaningful test";
  EXPECT_GE(excited, 5);
}

// ---- users' lists --------------------------------------------------------------------------------------------------

/// A line of a user-defined ion, which edited() breaks.
const std::string zinc = R"(ions:
  - {name: Zn II, mass: 65.38 u}
lines:
  - name: ZnII
    description: Zn II doublet
    ion: Zn II
    levels:
      - {name: 4s 2S1/2, J: 0.5, energy: 0 cm^-1}
      - {name: 4p 2P3/2, J: 1.5, energy: 49355.00 cm^-1}
      - {name: 4p 2P1/2, J: 0.5, energy: 48481.08 cm^-1}
    transitions:
      - {name: ZnII_2026, lower: 4s 2S1/2, upper: 4p 2P3/2, wavelength: 2026.1370 Angstrom, A: 4.07e8 s^-1, f: 0.501, branching: 1}
      - {name: ZnII_2062, lower: 4s 2S1/2, upper: 4p 2P1/2, wavelength: 2062.6603 Angstrom, A: 3.86e8 s^-1, f: 0.246, branching: 1}
    source: Morton 2003, ApJS 149, 205
)";

std::string edited(const std::string& from, const std::string& to, std::string text = zinc) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("the test's text has no " + from);
  return text.replace(at, from.size(), to);
}

TEST(LineFile, AddsALine) {
  const auto list = parse_lines(zinc, "my.yaml", lines());
  EXPECT_EQ(list.size(), lines().size() + 1);
  const Line* line = find_line(list, "ZnII");
  ASSERT_NE(line, nullptr);
  ASSERT_EQ(line->transitions.size(), 2u);
  const AtomicTransition &blue = line->transitions[0], &red = line->transitions[1];
  EXPECT_DOUBLE_EQ(blue.wavelength, 2026.1370e-8);
  EXPECT_NEAR(blue.mass / constants::m_u, 65.38, 1e-9);
  EXPECT_EQ(blue.damping, 4.07e8);
  EXPECT_EQ(red.population, 1);
  EXPECT_DOUBLE_EQ(blue.core, 0.5);  // J = 1/2 -> 3/2 -> 1/2
  EXPECT_DOUBLE_EQ(blue.wing, 0.5);
  EXPECT_DOUBLE_EQ(red.core, 0);
  EXPECT_TRUE(line->fluorescence(blue).empty());
  EXPECT_EQ(line->find("ZnII_2062"), &red);
  EXPECT_EQ(line->find("ZnII_206"), nullptr);
  EXPECT_EQ(unknown_transition(*line, "ZnII_206"),
            "line ZnII has no transition \"ZnII_206\"; did you mean \"ZnII_2026\"? (transitions: ZnII_2026, "
            "ZnII_2062)");
}

TEST(LineFile, ReplacesALineAndLeavesTheOthers) {
  const auto list = parse_lines(edited("name: ZnII\n", "name: MgII\n"), "my.yaml", lines());
  EXPECT_EQ(list.size(), lines().size());
  EXPECT_EQ(find_line(list, "MgII")->first().name, "ZnII_2026");
  EXPECT_EQ(find_line(list, "Lya")->first().name, "Lya");
  EXPECT_EQ(find_line("MgII").first().name, "MgII_2796") << "the built-in list stays as it is";
}

TEST(LineFile, NeedsNoIonsThatThorKnows) {
  const std::string text =
      edited("ions:\n  - {name: Zn II, mass: 65.38 u}\n", "", edited("ion: Zn II\n", "ion: Mg II\n"));
  EXPECT_NEAR(find_line(parse_lines(text, "my.yaml", lines()), "ZnII")->first().mass / constants::m_u, 24.305, 1e-9);
}

TEST(LineFile, ATransitionMayNameTheIonOfItsLine) {
  const auto list = parse_lines(edited("{name: ZnII_2026, ", "{name: ZnII_2026, ion: Zn II, "), "my.yaml", lines());
  EXPECT_EQ(find_line(list, "ZnII")->first().population, 1);
}

TEST(LineFile, ThePopulationsOfSeveralLevelsAreTheirs) {
  const std::string fine =
      edited("4p 2P1/2, J: 0.5, energy: 48481.08 cm^-1}", "4p 2P1/2, J: 0.5, energy: 48481.08 cm^-1, population: 0.25}",
             edited("4s 2S1/2, J: 0.5, energy: 0 cm^-1}", "4s 2S1/2, J: 0.5, energy: 0 cm^-1, population: 0.5}"));
  const auto list = parse_lines(fine, "my.yaml", lines());
  EXPECT_EQ(find_line(list, "ZnII")->first().population, 0.5);
}

TEST(LineFile, TheBuiltInListReadsAsAFile) {
  EXPECT_EQ(parse_lines(lines_text(), "all.yaml", lines()).size(), lines().size());
}

// ---- errors in a file ----------------------------------------------------------------------------------------------

std::string failure(const std::string& text) {
  try {
    parse_lines(text, "my.yaml", lines());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.what();
  }
  return "accepted";
}
void expect_failure(const std::string& message, const std::string& text) {
  const std::string what = failure(text);
  EXPECT_NE(what.find(message), std::string::npos) << "expected: " << message << "\ngot: " << what;
}
/// One error, one message.
void expect_only(const std::string& message, const std::string& text) {
  expect_failure(message, text);
  const std::string what = failure(text);
  EXPECT_EQ(std::count(what.begin(), what.end(), '\n'), 0) << what;
}

TEST(BadLineFile, NamesTheFileTheLineAndTheKey) {
  expect_failure(
      "my.yaml:13:34: lines.0.transitions.1.lower: there is no level \"4s\" (levels: 4s 2S1/2, 4p 2P3/2, 4p 2P1/2)",
      edited("name: ZnII_2062, lower: 4s 2S1/2", "name: ZnII_2062, lower: 4s"));
  expect_failure("there is no level \"4p 2P3/\"; did you mean \"4p 2P3/2\"?",
                 edited("upper: 4p 2P3/2", "upper: 4p 2P3/"));
  expect_only(
      "my.yaml:12:130: lines.0.transitions.0.branching: the branchings of all transitions from \"4p 2P3/2\" sum to "
      "0.9, not to 1",
      edited("f: 0.501, branching: 1}", "f: 0.501, branching: 0.9}"));
  expect_only("my.yaml:12:96: lines.0.transitions.0.A: must be > 0 s^-1, got \"-4.07e8 s^-1\"",
              edited("4.07e8", "-4.07e8"));
  expect_only("my.yaml:6:10: lines.0.ion: unknown ion \"Zn I\"; did you mean \"Zn II\"? (known: Al II, ",
              edited("ion: Zn II\n", "ion: Zn I\n"));
  expect_only("my.yaml:13:32: lines.0.transitions.1.ion: unknown ion \"Zz\"",
              edited("{name: ZnII_2062, ", "{name: ZnII_2062, ion: Zz, "));
  expect_only(
      "my.yaml:12:27: lines.0.transitions.0.wave: unknown key; did you mean \"name\"? (known keys: name, lower, upper, "
      "wavelength, ",
      edited("{name: ZnII_2026, ", "{name: ZnII_2026, wave: 3, "));
  expect_only("my.yaml:9:34: lines.0.levels.1.enrgy: unknown key; did you mean \"energy\"?",
              edited("J: 1.5, ", "J: 1.5, enrgy: 1 cm^-1, "));
  expect_only("my.yaml:15:1: line: unknown key; did you mean \"lines\"?", zinc + "line: []\n");
  expect_only("my.yaml:12:73: lines.0.transitions.0.wavelength: the energies of the levels give 2026.13",
              edited("2026.1370 Angstrom", "2036.1370 Angstrom"));
  expect_only("my.yaml:12:51: lines.0.transitions.0.upper: J changes by more than 1", edited("J: 1.5", "J: 2.5"));
  expect_only("lines.0.levels.1.J: must be a multiple of 0.5", edited("J: 1.5", "J: 1.25"));
  expect_only("my.yaml:12:51: lines.0.transitions.0.upper: \"4p 2P3/2\" is not above \"4s 2S1/2\"",
              edited("energy: 0 cm^-1", "energy: 49400 cm^-1",
                     edited("      - {name: ZnII_2062, lower: 4s 2S1/2, upper: 4p 2P1/2, wavelength: 2062.6603 "
                            "Angstrom, A: 3.86e8 s^-1, f: 0.246, branching: 1}\n",
                            "")));
  expect_only("lines.0.levels: the populations sum to 1.25, more than 1",
              edited("J: 1.5, ", "J: 1.5, population: 0.25, ", edited("J: 0.5, ", "J: 0.5, population: 1, ")));
}

TEST(BadLineFile, NamesThatStandTwice) {
  expect_only("my.yaml:10:16: lines.0.levels.2.name: is given twice",
              edited("upper: 4p 2P1/2, wavelength: 2062.6603 Angstrom", "upper: 4p 2P3/2, wavelength: 2026.2 Angstrom",
                     edited("branching: 1}\n    source", "branching: 0.5}\n    source",
                            edited("branching: 1}\n      -", "branching: 0.5}\n      -",
                                   edited("{name: 4p 2P1/2", "{name: 4p 2P3/2")))));
  expect_only("my.yaml:13:16: lines.0.transitions.1.name: is given twice",
              edited("{name: ZnII_2062", "{name: ZnII_2026"));
  const auto line = zinc.find("  - name: ZnII\n");
  expect_only("my.yaml:15:11: lines.1.name: is given twice in this file", zinc + zinc.substr(line));
  expect_only("my.yaml:3:12: ions.1.name: is given twice",
              edited("65.38 u}\n", "65.38 u}\n  - {name: Zn II, mass: 66 u}\n"));
}

TEST(BadLineFile, TheFirstTransitionIsSeenInEmissionOnly) {
  expect_only(
      "my.yaml:12:34: lines.0.transitions.0.lower: the first transition must start from a level that holds ions",
      edited("energy: 48481.08 cm^-1}", "energy: 48481.08 cm^-1, population: 1}"));
  expect_only("lines.0.transitions.0.lower: the first transition must start from a level that holds ions",
              edited("{name: ZnII_2026, ", "{name: ZnII_2026, ion: D I, "));
  expect_only("lines.0.transitions.0.abundance: belongs to another isotope",
              edited("{name: ZnII_2026, ", "{name: ZnII_2026, abundance: 0.1, "));
}

TEST(BadLineFile, WhatIsNoLineList) {
  for (const char* text : {"", "# nothing\n", "- a\n", "hello"}) {
    expect_failure("my.yaml: expected a line list: a map with the key `lines`", text);
  }
  expect_only("my.yaml:1:1: lines: missing; expected a list of maps", "ions: []\n");
  expect_only("my.yaml:1:8: lines: empty; expected at least one element", "lines: []\n");
  expect_only("my.yaml:1:8: lines: expected a list of maps", "lines: 3\n");
  expect_only("my.yaml:1:9: lines.0: expected a map of keys", "lines: [Lya]\n");
  expect_failure("my.yaml:3:1: not valid YAML", "lines: [\n  {name: a}\nx: }");
  expect_failure("lines.0.levels: missing", "lines: [{name: a}]\n");
  expect_failure("lines.0.source: missing", edited("    source: Morton 2003, ApJS 149, 205\n", ""));
  expect_failure("must be a multiple of 0.5", edited("1.5", "0.7", edited("A: 4.07e8", "A: x")));  // all at once
  expect_failure("lines.0.transitions.0.A: expected a rate", edited("1.5", "0.7", edited("A: 4.07e8", "A: x")));
}

TEST(BadLineFile, FilesThatCannotBeRead) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "thor_line_list_test";
  std::filesystem::create_directories(folder);
  for (const auto& path : {folder, folder / "none.yaml"}) {
    try {
      read_lines(path.string());
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      EXPECT_EQ(error.what(), path.string() + ": line list missing or not readable");
    }
  }
  const std::string good = (folder / "zinc.yaml").string();
  std::ofstream(good) << zinc;
  EXPECT_NE(find_line(read_lines(good), "ZnII"), nullptr);
  std::filesystem::remove_all(folder);
}

// ---- limits of the kernel ------------------------------------------------------------------------------------------

/// `lower` levels close to each other, all with ions, `upper` levels above, and every transition between them.
std::string many(int lower, int upper) {
  std::string text = "lines:\n  - name: Many\n    description: made up\n    ion: H I\n    levels:\n";
  const auto energy = [](int u) { return 1e5 + 10 * u; };
  for (int l = 0; l < lower; ++l) {
    text += fmt::format("      - {{name: l{}, energy: {} cm^-1, population: {}}}\n", l, l, 1. / 64);
  }
  for (int u = 0; u < upper; ++u) text += fmt::format("      - {{name: u{}, energy: {} cm^-1}}\n", u, energy(u));
  text += "    transitions:\n";
  for (int u = 0; u < upper; ++u)
    for (int l = 0; l < lower; ++l) {
      text += fmt::format(
          "      - {{name: t{}_{}, lower: l{}, upper: u{}, wavelength: {:.6f} Angstrom, A: 1e8 s^-1, f: 0.1, "
          "branching: "
          "{:.8f}}}\n",
          u, l, l, u, 1e8 / (energy(u) - l), 1. / lower);
    }
  return text + "    source: none\n";
}

TEST(LineFile, HoldsAsManyTransitionsAsTheKernel) {
  const auto list = parse_lines(many(1, most_transitions), "my.yaml", lines());
  EXPECT_EQ(find_line(list, "Many")->absorbing().size(), std::size_t(most_transitions));
  expect_only(
      "my.yaml:17:7: lines.0.transitions: 9 start from levels that hold ions; at most 8 are possible: split them into "
      "several lines",
      many(1, most_transitions + 1));
  const auto cascade = parse_lines(many(4, 2), "my.yaml", lines());
  EXPECT_EQ(find_line(cascade, "Many")->fluorescence(find_line(cascade, "Many")->first()).size(), 3u);
}

TEST(LineFile, HoldsAsManyChannelsAsTheKernel) {
  // One absorbing transition, the other lower levels without ions: a cascade of n channels.
  const auto cascade = [](int channels) {
    std::string text = many(channels + 1, 1);
    for (int l = 1; l <= channels; ++l) {
      text = edited(fmt::format("energy: {} cm^-1, population: 0.015625}}", l), fmt::format("energy: {} cm^-1}}", l),
                    text);
    }
    return text;
  };
  const auto list = parse_lines(cascade(most_channels), "my.yaml", lines());
  const Line& line = *find_line(list, "Many");
  EXPECT_EQ(line.absorbing().size(), 1u);
  EXPECT_EQ(line.fluorescence(line.first()).size(), std::size_t(most_channels));
  expect_only("lines.0.transitions: the absorbing ones have 33 fluorescent decays in all; at most 32 are possible",
              cascade(most_channels + 1));
}

}  // namespace
}  // namespace thor
