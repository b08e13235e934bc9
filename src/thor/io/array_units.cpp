#include "thor/io/array_units.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "thor/core/error.hpp"

namespace thor::io {

double cgs_unit(const Input& input, const std::string& array, Dimension dimension) {
  std::string unit = input.text(array, "units").value_or("");
  if (unit.empty()) return 1;
  if (unit.ends_with(" s-1")) unit.replace(unit.size() - 4, 4, "/s");  // "km s-1", "erg s-1"
  try {
    return parse_quantity("1 " + unit, dimension).value;
  } catch (const std::invalid_argument& e) {
    throw Error(ExitCode::input, fmt::format("{}: array {}: its attribute units is \"{}\": {}", input.path().string(),
                                             array, unit, e.what()));
  }
}

}  // namespace thor::io
