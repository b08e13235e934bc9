#include "thor/generators/source_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/core/units.hpp"
#include "thor/io/array/units.hpp"

namespace thor {
namespace {

const char* column_of(config::Brightness brightness) {
  switch (brightness) {
    case config::Brightness::luminosity:
      return "luminosity";
    case config::Brightness::ionizing_rate:
      return "ionizing_rate";
    case config::Brightness::sfr:
      return "sfr";
  }
  return "";
}

/// Unit in which a source keeps a column, from the unit written in brackets.
double unit_of(const std::string& where, const std::string& column, const std::string& unit) {
  if (column == "sfr" || column == "ionizing_rate") {
    const bool good = column == "sfr" ? unit == "Msun/yr" : unit == "1/s" || unit == "s-1";
    if (!good) {
      refuse_source(where,
                    fmt::format("column {}: unit \"{}\" is not {}", column, unit, column == "sfr" ? "Msun/yr" : "1/s"));
    }
    return 1;
  }
  const Dimension dimension = column == "luminosity"    ? Dimension::luminosity
                              : column.starts_with("v") ? Dimension::velocity
                                                        : Dimension::length;
  try {
    return parse_quantity("1 " + unit, dimension).value;
  } catch (const std::invalid_argument& e) {
    refuse_source(where, fmt::format("column {}: {}", column, e.what()));
  }
}

/// A text file, line by line; commas are as good as blanks.
class TextLines {
 public:
  explicit TextLines(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
      refuse_source(path, "is no file (a pipe, a device?)");
    file_.open(path);
    if (!file_) refuse_source(path, "cannot be read");
  }
  bool next() {
    if (!std::getline(file_, line)) return false;
    std::replace(line.begin(), line.end(), ',', ' ');
    return true;
  }
  std::string line;

 private:
  std::ifstream file_;
};

/// Where the first line of a table has the columns that are wanted.
struct TableHeader {
  std::vector<std::size_t> column;
  std::vector<double> unit;
  std::size_t count = 0;  ///< of all columns
};

/// x, y, z, the brightness and perhaps vx, vy, vz.
TableHeader read_header(const std::string& line, const std::string& where, const std::string& wanted, bool velocities) {
  std::vector<std::string> names{"x", "y", "z", wanted};
  if (velocities) names.insert(names.end(), {"vx", "vy", "vz"});
  constexpr std::size_t none = -1;
  TableHeader header{std::vector(names.size(), none), std::vector<double>(names.size())};
  std::istringstream words(line.starts_with("#") ? line.substr(1) : line);
  for (std::string word; words >> word; ++header.count) {
    const auto bracket = word.find('[');
    const std::string name = word.substr(0, bracket);
    const auto k = std::size_t(std::ranges::find(names, name) - names.begin());
    if (k == names.size()) continue;
    if (bracket == std::string::npos || word.back() != ']') {
      const char* unit = k < 3 ? "kpc" : k == 3 ? "erg/s" : "km/s";
      refuse_source(where, fmt::format("column {} has no unit, as in {}[{}]", name, name, unit));
    }
    if (header.column[k] != none) refuse_source(where, fmt::format("two columns are called \"{}\"", name));
    header.column[k] = header.count;
    header.unit[k] = unit_of(where, name, word.substr(bracket + 1, word.size() - bracket - 2));
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (header.column[k] != none) continue;
    refuse_source(where, fmt::format("no column \"{}\"; expected a line such as: # x[kpc] y[kpc] z[kpc] {}[{}]{}",
                                     names[k], wanted,
                                     wanted == "sfr"          ? "Msun/yr"
                                     : wanted == "luminosity" ? "erg/s"
                                                              : "1/s",
                                     velocities ? " vx[km/s] vy[km/s] vz[km/s]" : ""));
  }
  return header;
}

std::vector<PointSource> read_table(const std::string& path, const std::string& wanted, bool velocities) {
  TextLines text(path);
  std::string& line = text.line;
  text.next();
  if (line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // the byte order mark of some editors
  const TableHeader header = read_header(line, path + ":1", wanted, velocities);
  std::vector<PointSource> sources;
  for (int number = 2; text.next(); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with("#")) continue;
    std::istringstream row(line);
    std::vector<double> values;
    for (double value; row >> value;) values.push_back(value);
    if (!row.eof() || values.size() != header.count) {
      refuse_source(fmt::format("{}:{}", path, number),
                    fmt::format("expected {} numbers, got \"{}\"", header.count, line));
    }
    const auto value = [&](std::size_t k) { return values[header.column[k]] * header.unit[k]; };
    PointSource s{};
    for (std::size_t k = 0; k < 3; ++k) s.position[k] = value(k);
    s.brightness = value(3);
    for (std::size_t k = 0; velocities && k < 3; ++k) s.velocity[k] = value(4 + k);
    sources.push_back(s);
  }
  return sources;
}

void read_velocities(const io::Input& file, const std::string& array, std::vector<PointSource>& sources) {
  const std::string path = file.path().string();
  if (!file.has(array)) {
    refuse_source(
        path, fmt::format("no array \"{}\", which `frame: source` needs: add it, or take frame: gas or box", array));
  }
  if (file.array(array).shape != std::vector<std::uint64_t>{sources.size(), 3}) {
    refuse_source(path,
                  fmt::format("array \"{}\" has not three numbers for each of {} positions", array, sources.size()));
  }
  const auto values = file.read_all<double>(array);
  const double unit = io::cgs_unit(file, array, Dimension::velocity);
  for (std::size_t i = 0; i < values.size(); ++i) sources[i / 3].velocity[i % 3] = values[i] * unit;
}

std::vector<PointSource> read_arrays(const config::Generator& g, const std::string& wanted) {
  const io::Input file(g.path);
  const std::string group = g.group == "/" ? "" : g.group;
  const std::string places = group + "/position", light = group + "/" + wanted;
  for (const auto& name : {places, light}) {
    if (!file.has(name)) {
      refuse_source(g.path, fmt::format("no array \"{}\": a list of sources has position [cm] and {} in its group ({})",
                                        name, wanted, "`thor grid --sources` writes one"));
    }
  }
  const auto shape = file.array(places).shape;
  if (shape.size() != 2 || shape[1] != 3) refuse_source(g.path, fmt::format("array \"{}\" is not [n, 3]", places));
  if (file.array(light).shape != std::vector<std::uint64_t>{shape[0]}) {
    refuse_source(g.path, fmt::format("array \"{}\" has not one number for each of {} positions", light, shape[0]));
  }
  const auto position = file.read_all<double>(places), brightness = file.read_all<double>(light);
  const double length = io::cgs_unit(file, places, Dimension::length);
  const double unit =
      wanted == "sfr" ? 1 : io::cgs_unit(file, light, wanted == "luminosity" ? Dimension::luminosity : Dimension::rate);
  if (const std::string units = io::units_of(file, light);
      wanted == "sfr" && !units.empty() && units != "Msun/yr" && units != "Msun yr-1") {
    refuse_source(g.path, fmt::format("array \"{}\": units \"{}\" are not \"Msun yr-1\"", light, units));
  }
  std::vector<PointSource> sources;
  for (std::size_t i = 0; i < brightness.size(); ++i) {
    const double* p = &position[3 * i];
    sources.push_back({{p[0] * length, p[1] * length, p[2] * length}, brightness[i] * unit, {}});
  }
  if (g.frame == config::RestFrame::source) read_velocities(file, group + "/velocity", sources);
  return sources;
}

}  // namespace

void refuse_source(const std::string& where, const std::string& why) {
  throw Error(ExitCode::input, where + ": " + why);
}

std::vector<PointSource> read_sources(const config::Generator& g) {
  const std::string wanted = column_of(g.brightness);
  const std::string extension = std::filesystem::path(g.path).extension().string();
  const bool text = extension == ".txt" || extension == ".dat" || extension == ".csv";
  auto sources = text ? read_table(g.path, wanted, g.frame == config::RestFrame::source) : read_arrays(g, wanted);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto& [x, y, z] = sources[i].position;
    const bool good = std::isfinite(x) && std::isfinite(y) && std::isfinite(z) && sources[i].brightness >= 0 &&
                      sources[i].brightness < 1e100;
    if (!good) {
      refuse_source(
          g.path,
          fmt::format("source {} is at ({}, {}, {}) cm with {} = {}: these must be numbers, the last not negative", i,
                      x, y, z, wanted, sources[i].brightness));
    }
    const auto& [vx, vy, vz] = sources[i].velocity;
    const double speed = std::hypot(vx, vy, vz);
    if (!(speed <= fastest_gas)) {
      refuse_source(g.path, fmt::format("source {} moves at {:.4g} km/s: it must be less than a tenth of the speed of "
                                        "light (are the units of the velocities right?)",
                                        i, speed / constants::km));
    }
  }
  return sources;
}

}  // namespace thor
