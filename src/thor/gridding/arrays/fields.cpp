#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/emission/stars.hpp"
#include "thor/gridding/arrays/arrays.hpp"
#include "thor/io/array/units.hpp"

namespace thor::gridding {
namespace {

struct Unit {
  const char* name;
  double factor;
};
using Units = std::vector<Unit>;

constexpr double cm3_per_pc3 = constants::pc * constants::pc * constants::pc;

/// Kind of a field by its name, and its possible units; the first is that of a grid file.
const Units* units_of(const std::string& field) {
  static const Units density{{"g/cm3", 1},
                             {"kg/m3", 1e-3},
                             {"Msun/pc3", emission::solar_mass / cm3_per_pc3},
                             {"Msun/kpc3", emission::solar_mass / cm3_per_pc3 * 1e-9}};
  static const Units number{{"1/cm3", 1}, {"1/m3", 1e-6}};
  static const Units velocity{{"km/s", 1}, {"cm/s", 1e-5}, {"m/s", 1e-3}};
  static const Units temperature{{"K", 1}};
  static const Units emissivity{{"erg/s/cm3", 1}, {"W/m3", 10}};
  static const Units metallicity{{"solar", 1}, {"mass_fraction", 0}};
  if (field == "density") return &density;
  if (field == "temperature" || (field.ends_with("_temperature") && field.size() > 12)) return &temperature;
  if (field == "metallicity") return &metallicity;
  for (const char* axis : {"velocity_x", "velocity_y", "velocity_z"}) {
    if (field == axis || field.ends_with(std::string("_") + axis)) return &velocity;
  }
  if (field == "b_turb") return &velocity;
  if (field == "dust" || (field.ends_with("_density") && field.size() > 8)) return &number;
  if (field.starts_with("emissivity_") && field.size() > 11) return &emissivity;
  return nullptr;
}

constexpr const char* known_fields =
    "density, temperature, velocity_x, velocity_y, velocity_z, HI_density, HII_density, electron_density, metallicity, "
    "dust, b_turb, ION_density, ION_temperature, ION_velocity_x, emissivity_LINE";

}  // namespace

double array_factor(const std::string& field, const std::string& unit, double solar_metallicity) {
  const Units* units = units_of(field);
  std::vector<std::string> names;
  const std::string asked = io::plain_unit(unit);
  for (const Unit& known : *units) {
    names.emplace_back(known.name);
    if (io::plain_unit(known.name) == asked) {
      return known.factor == 0 ? 1 / solar_metallicity : known.factor;
    }
  }
  throw Error(ExitCode::input, fmt::format("{}: unknown unit \"{}\" (known: {}); give it as {}=ARRAY:UNIT", field, unit,
                                           fmt::join(names, ", "), field));
}

std::map<std::string, ArrayField> parse_array_fields(const std::string& text) {
  std::map<std::string, ArrayField> out;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string entry = text.substr(begin, end - begin);
    begin = end + 1;
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size()) {
      throw Error(ExitCode::usage, fmt::format("--fields: expected NAME=ARRAY:UNIT, got \"{}\"", entry));
    }
    const std::string name = entry.substr(0, equals);
    if (!units_of(name)) {
      throw Error(ExitCode::usage,
                  fmt::format("--fields: \"{}\" is not a field of a grid (fields: {})", name, known_fields));
    }
    ArrayField field;
    field.array = entry.substr(equals + 1);
    if (const auto colon = field.array.find(':'); colon != std::string::npos) {
      field.unit = field.array.substr(colon + 1);
      field.array.erase(colon);
    }
    const char* last = field.array.data() + field.array.size();
    if (const auto [stop, error] = std::from_chars(field.array.data(), last, field.constant);
        error == std::errc() && stop == last) {
      field.array.clear();
    }
    if (!out.emplace(name, field).second) throw Error(ExitCode::usage, "--fields: " + name + " is given twice");
  }
  return out;
}

}  // namespace thor::gridding
