#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "thor/config/nearest.hpp"
#include "thor/config/section.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/line/line.hpp"

/// Reader of line lists: lines.yaml and users' files. See docs/lines.md.
namespace thor {
namespace {

using namespace config;

struct Ion {
  std::string name;
  double mass = 0;
};

/// A line as written in the file.
struct RawLine {
  std::string ion;
  Line line;
  std::vector<std::optional<double>> core, wing;  ///< E1 and E1_wing of each transition
  std::vector<double> abundance;
};
struct RawTransition {
  AtomicTransition transition;
  double abundance = 0;
  std::optional<double> core, wing;
};
struct File {
  std::vector<Ion> ions;
  std::vector<RawLine> lines;
};

bool any_text(const std::string& text) { return !text.empty(); }
/// A group of a result has that name, in a zarr result a directory.
bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 100 && text[0] != '.' && std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
}

const Section<Ion>& ion_section() {
  static const Section<Ion> section = [] {
    Section<Ion> s("An ion.");
    s.text("name", &Ion::name, "a name such as Mg II", any_text, {.meaning = "as in spectroscopy"});
    s.quantity("mass", &Ion::mass, Dimension::mass, positive, {.meaning = "mass of the atom"});
    return s;
  }();
  return section;
}

const Section<Level>& level_section() {
  static const Section<Level> section = [] {
    Section<Level> s("A level.");
    s.text("name", &Level::name, "a name", any_text, {.meaning = "name used by transitions"});
    s.optional_quantity("J", &Level::J, Dimension::none, {.low = 0, .high = 100},
                        {.meaning = "total angular momentum"});
    s.quantity("energy", &Level::energy, Dimension::wavenumber, non_negative,
               {.meaning = "energy above the ground level"});
    s.number("population", &Level::population, {.low = 0, .high = 1},
             {.meaning = "fraction of the ions; if no level has one, the first has all", .fallback = "0"});
    s.check([](Reader& reader, const Level& level) {
      if (level.J && *level.J * 2 != std::floor(*level.J * 2)) reader.report("J", "must be a multiple of 0.5");
    });
    return s;
  }();
  return section;
}

const Section<RawTransition>& transition_section() {
  static const Section<RawTransition> section = [] {
    Section<RawTransition> s("A transition.");
    const auto of = [](auto member) {
      return [member](RawTransition & raw) -> auto& { return raw.transition.*member; };
    };
    using T = AtomicTransition;
    s.text("name", of(&T::name), "a name of at most 100 letters, digits, _, - and ., which does not begin with .",
           is_name, {.meaning = "e.g. MgII_2796"});
    s.text("lower", of(&T::lower), "the name of a level", any_text, {.meaning = "level"});
    s.text("upper", of(&T::upper), "the name of a level", any_text, {.meaning = "level"});
    s.quantity("wavelength", of(&T::wavelength), Dimension::wavelength, positive, {.meaning = "in vacuum"});
    s.quantity("A", of(&T::einstein_A), Dimension::rate, positive, {.meaning = "Einstein coefficient"});
    s.number("f", of(&T::oscillator_strength), positive, {.meaning = "oscillator strength of absorption"});
    s.number("branching", of(&T::branching), {.low = 0, .high = 1, .low_open = true},
             {.meaning = "fraction of the decays of the upper level"});
    s.text("ion", of(&T::ion), "the name of an ion", [](const std::string&) { return true; },
           {.meaning = "an isotope other than that of the line", .fallback = ""});
    s.number("abundance", &RawTransition::abundance, {.low = 0, .high = 1e6},
             {.meaning = "abundance of that isotope, by number", .fallback = "0"});
    s.optional_quantity("E1", &RawTransition::core, Dimension::none, {.low = 0, .high = 1},
                        {.meaning = "dipole fraction of the phase function; by default from J"});
    s.optional_quantity("E1_wing", &RawTransition::wing, Dimension::none, {.low = 0, .high = 1},
                        {.meaning = "the same for |x| > 0.2 in the atom's frame; by default E1"});
    return s;
  }();
  return section;
}

/// The kernel's arrays have a fixed length. An isotope counts even with abundance zero, since a run may add it.
void check_size(Reader& reader, const Line& line) {
  const auto holds_ions = [&](const std::string& name) {
    const auto found = std::ranges::find(line.levels, name, &Level::name);
    return found != line.levels.end() && found->population > 0;
  };
  std::ptrdiff_t absorbing = 0, channels = 0;
  for (const auto& t : line.transitions) {
    if (!holds_ions(t.lower)) continue;
    ++absorbing;
    channels += std::ranges::count_if(line.transitions, [&](const auto& other) {
      return other.upper == t.upper && other.lower != t.lower && other.ion == t.ion;
    });
  }
  if (absorbing > most_transitions) {
    reader.report("transitions", fmt::format("{} start from levels that hold ions; at most {} are possible: split "
                                             "them into several lines",
                                             absorbing, most_transitions));
  } else if (channels > most_channels) {
    reader.report("transitions", fmt::format("the absorbing ones have {} fluorescent decays in all; at most {} are "
                                             "possible: omit the rarest, or split them into several lines",
                                             channels, most_channels));
  }
}

/// Levels have names of their own and no more ions than there are; if none has any, the first has all.
void check_levels(Reader& reader, Line& line) {
  std::set<std::string> names;
  double populated = 0;
  for (std::size_t i = 0; i < line.levels.size(); ++i) {
    const Level& level = line.levels[i];
    if (!level.name.empty() && !names.insert(level.name).second) {
      reader.report(fmt::format("levels.{}.name", i), "is given twice");
    }
    populated += level.population;
  }
  if (!line.levels.empty() && populated == 0) line.levels.front().population = populated = 1;
  if (populated > 1 + 1e-9)
    reader.report("levels", fmt::format("the populations sum to {:.6g}, more than 1", populated));
}

/// Checks that a transition is consistent with its levels, and sets what follows from them.
void check_transition(Reader& reader, RawLine& raw, std::size_t i) {
  const std::vector<Level>& levels = raw.line.levels;
  AtomicTransition& t = raw.line.transitions[i];
  const auto report = [&](const char* key, const std::string& why) {
    reader.report(fmt::format("transitions.{}.{}", i, key), why);
  };
  const auto find = [&](const char* key, const std::string& name) -> const Level* {
    const auto found = std::ranges::find(levels, name, &Level::name);
    if (found != levels.end()) return &*found;
    if (name.empty()) return nullptr;
    std::vector<std::string> names;
    for (const Level& level : levels) names.push_back(level.name);
    report(key, fmt::format("there is no level \"{}\"{} (levels: {})", name, suggestion(name, names),
                            fmt::join(names, ", ")));
    return nullptr;
  };
  const Level* lower = find("lower", t.lower);
  const Level* upper = find("upper", t.upper);
  const bool isotope = !t.ion.empty() && t.ion != raw.ion;
  if (lower && upper) {
    if (upper->energy <= lower->energy) {
      report("upper", fmt::format("\"{}\" is not above \"{}\"", t.upper, t.lower));
    } else if (const double expected = 1 / (upper->energy - lower->energy);
               !isotope && std::abs(t.wavelength / expected - 1) > 1e-3) {
      report("wavelength",
             fmt::format("the energies of the levels give {:.4f} Angstrom", expected / constants::angstrom));
    }
    t.population = lower->population * (isotope ? raw.abundance[i] : 1);
    const bool known = lower->J && upper->J;
    if (known && std::abs(*lower->J - *upper->J) > 1) report("upper", "J changes by more than 1");
    t.core = raw.core[i].value_or(known ? dipole_share(*lower->J, *upper->J, *lower->J) : 0);
    t.wing = raw.wing[i].value_or(t.core);
  }
  if (!isotope && raw.abundance[i] > 0) report("abundance", "belongs to another isotope: give its `ion` as well");
  if (!isotope) t.ion = raw.ion;
}

/// Decays of an upper level: their branchings sum up to 1, their rates to its damping.
void check_decays(Reader& reader, Line& line) {
  std::map<std::pair<std::string, std::string>, double> branching, damping;  // for each upper level of each ion
  for (const AtomicTransition& t : line.transitions) {
    branching[{t.ion, t.upper}] += t.branching;
    damping[{t.ion, t.upper}] += t.einstein_A;
  }
  for (std::size_t i = 0; i < line.transitions.size(); ++i) {
    AtomicTransition& t = line.transitions[i];
    t.damping = damping[{t.ion, t.upper}];
    const double sum = branching[{t.ion, t.upper}];
    const auto first = std::ranges::find_if(
        line.transitions, [&](const auto& other) { return other.ion == t.ion && other.upper == t.upper; });
    if (std::abs(sum - 1) > 2e-3 && &*first == &t) {
      reader.report(fmt::format("transitions.{}.branching", i),
                    fmt::format("the branchings of all transitions from \"{}\" sum to {:.6g}, not to 1", t.upper, sum));
    }
    t.branching /= sum;
  }
}

void check_line(Reader& reader, RawLine& raw) {
  Line& line = raw.line;
  check_levels(reader, line);
  std::set<std::string> names;
  for (std::size_t i = 0; i < line.transitions.size(); ++i) {
    const std::string& name = line.transitions[i].name;
    if (!name.empty() && !names.insert(name).second) {
      reader.report(fmt::format("transitions.{}.name", i), "is given twice");
    }
    check_transition(reader, raw, i);
  }
  check_decays(reader, line);
  if (!line.transitions.empty() && line.first().population <= 0) {
    reader.report("transitions.0.lower", "the first transition must start from a level that holds ions");
  }
  check_size(reader, line);
}

const Section<RawLine>& line_section() {
  static const Section<RawLine> section = [] {
    Section<RawLine> s("A line.");
    const auto of = [](auto member) {
      return [member](RawLine & raw) -> auto& { return raw.line.*member; };
    };
    s.text("name", of(&Line::name), "a name of at most 100 letters, digits, _, - and ., which does not begin with .",
           is_name, {.meaning = "name of the line"});
    s.text("description", of(&Line::description), "a text", any_text, {.meaning = "short description"});
    s.text("ion", &RawLine::ion, "the name of an ion", any_text, {.meaning = "the absorbing ion"});
    s.list("levels", of(&Line::levels), level_section(), {.meaning = "the ground level first"});
    s.list("transitions",
           [](RawLine& raw) {
             struct Add {
               RawLine& raw;
               void push_back(RawTransition t) const {
                 raw.line.transitions.push_back(std::move(t.transition));
                 raw.abundance.push_back(t.abundance);
                 raw.core.push_back(t.core);
                 raw.wing.push_back(t.wing);
               }
             };
             return Add{raw};
           },
           transition_section(), {.meaning = "the reference first"});
    s.text("source", of(&Line::source), "a text", any_text, {.meaning = "origin of the numbers"});
    s.check(check_line);
    return s;
  }();
  return section;
}

const Section<File>& file_section() {
  static const Section<File> section = [] {
    Section<File> s("A line list.");
    s.list("ions", &File::ions, ion_section(), {.meaning = "masses", .fallback = "[]"});
    s.list("lines", &File::lines, line_section(), {.meaning = "the lines"});
    return s;
  }();
  return section;
}

/// Sets the mass of every transition to that of its ion.
void set_masses(Reader& reader, File& file, const std::vector<Line>& known) {
  std::map<std::string, double> mass;
  for (const Line& line : known) {
    for (const auto& t : line.transitions) mass[t.ion] = t.mass;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < file.ions.size(); ++i) {
    const Ion& ion = file.ions[i];
    mass[ion.name] = ion.mass;
    if (!ion.name.empty() && !seen.insert(ion.name).second)
      reader.report(fmt::format("ions.{}.name", i), "is given twice");
  }
  std::vector<std::string> names;
  for (const auto& [name, value] : mass) names.push_back(name);
  seen.clear();
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    RawLine& raw = file.lines[i];
    if (!raw.line.name.empty() && !seen.insert(raw.line.name).second) {
      reader.report(fmt::format("lines.{}.name", i), "is given twice in this file");
    }
    bool told = false;
    for (std::size_t k = 0; k < raw.line.transitions.size(); ++k) {
      AtomicTransition& t = raw.line.transitions[k];
      const bool own = t.ion == raw.ion;
      if (const auto found = mass.find(t.ion); found != mass.end()) {
        t.mass = found->second;
      } else if (!t.ion.empty() && !(own && told)) {
        told = told || own;
        reader.report(
            own ? fmt::format("lines.{}.ion", i) : fmt::format("lines.{}.transitions.{}.ion", i, k),
            fmt::format(
                "unknown ion \"{}\"{} (known: {}; declare the mass of any other in the list `ions` of this file)",
                t.ion, suggestion(t.ion, names), fmt::join(names, ", ")));
      }
    }
  }
}

}  // namespace

std::vector<Line> parse_lines(const std::string& yaml_text, const std::string& name, const std::vector<Line>& known) {
  Tree tree;
  try {
    tree = read_tree(yaml_text, name);
  } catch (const Error& error) {
    throw Error(ExitCode::input, error.what());
  }
  Faults faults;
  if (tree.kind != Tree::Kind::map) {
    throw Error(ExitCode::input, name + ": expected a line list: a map with the key `lines`");
  }
  Tree resolved;
  Reader reader(tree, resolved, faults, "", tree.where);
  File file = file_section().read(reader);
  set_masses(reader, file, known);
  if (!faults.empty()) throw Error(ExitCode::input, to_text(faults));
  std::vector<Line> list = known;
  for (RawLine& raw : file.lines) {
    const auto old = std::ranges::find(list, raw.line.name, &Line::name);
    if (old == list.end()) {
      list.push_back(std::move(raw.line));
    } else {
      *old = std::move(raw.line);
    }
  }
  return list;
}

std::string unknown_transition(const Line& line, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& t : line.transitions) names.push_back(t.name);
  return fmt::format("line {} has no transition \"{}\"{} (transitions: {})", line.name, name, suggestion(name, names),
                     fmt::join(names, ", "));
}

std::vector<Line> read_lines(const std::string& path) {
  std::error_code ignored;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, ignored)) file.open(path, std::ios::binary);  // a pipe would block
  if (!file.is_open()) throw Error(ExitCode::input, path + ": line list missing or not readable");
  return parse_lines({std::istreambuf_iterator<char>(file), {}}, path, lines());
}

const std::vector<Line>& lines() {
  static const std::vector<Line> list = parse_lines(lines_text(), "lines.yaml", {});
  return list;
}

}  // namespace thor
