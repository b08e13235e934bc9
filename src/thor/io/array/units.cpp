#include "thor/io/array/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "thor/core/error.hpp"

namespace thor::io {

std::string units_of(const Input& input, const std::string& array) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ExitCode::input, fmt::format("{}: array {}: {}", input.path().string(), array, what));
  };
  const auto text = input.text(array, "units");
  if (!text && input.has_attribute(array, "units")) {
    const auto numbers = input.numbers(array, "units");
    refuse(fmt::format("its attribute units is {}; expected a text such as \"km s-1\"",
                       numbers.empty() ? "not a text" : fmt::format("the number {:g}", numbers.front())));
  }
  for (const char* name : {"unit", "Units", "Unit", "UNITS"}) {
    const auto other = input.text(array, name);
    if (!text && !other && input.has_attribute(array, name)) {
      refuse(fmt::format("its attribute {} is not a text, and is not read: give it units such as \"km s-1\"", name));
    }
    if (!other || plain_unit(*other) == plain_unit(text.value_or(""))) continue;
    refuse(text ? fmt::format("its attributes units \"{}\" and {} \"{}\" contradict each other: remove one", *text,
                              name, *other)
                : fmt::format("it has an attribute {} \"{}\", which is not read: name it units", name, *other));
  }
  return text.value_or("");
}

double cgs_unit(const Input& input, const std::string& array, Dimension dimension) {
  std::string unit = units_of(input, array);
  if (unit.empty()) return 1;
  if (unit.ends_with(" s-1")) unit.replace(unit.size() - 4, 4, "/s");  // "km s-1", "erg s-1"
  try {
    return parse_quantity("1 " + unit, dimension).value;
  } catch (const std::invalid_argument& e) {
    throw Error(ExitCode::input, fmt::format("{}: array {}: its attribute units is \"{}\": {}", input.path().string(),
                                             array, unit, e.what()));
  }
}

double emissivity_unit(const Input& input, const std::string& array) {
  const std::string unit = units_of(input, array);
  const std::string plain = plain_unit(unit);
  if (plain.empty() || plain == plain_unit("erg/s/cm3")) return 1;
  if (plain == plain_unit("W/m3") || plain == plain_unit("J/s/m3")) return 10;
  throw Error(
      ExitCode::input,
      fmt::format("{}: array {}: its attribute units is \"{}\"; an emissivity is in \"erg s-1 cm-3\" or \"W m-3\"",
                  input.path().string(), array, unit));
}

std::string plain_unit(const std::string& unit) {
  std::vector<std::string> above, below;
  std::string word;
  bool under = false;
  const auto end_word = [&] {
    if (word.empty() || word == "1") return void(word.clear());
    const auto minus = word.find('-');
    const bool inverse = minus != std::string::npos;
    if (inverse) word.erase(minus, 1);
    if (word.ends_with('1') && inverse) word.pop_back();
    (under != inverse ? below : above).push_back(word);
    word.clear();
  };
  for (const char c : unit) {
    if (c == ' ' || c == '/' || c == '\t') {
      end_word();
      under = under || c == '/';
    } else if (c != '^' && c != '*') {
      word += c;
    }
  }
  end_word();
  std::sort(below.begin(), below.end());
  std::string out = above.empty() ? "1" : fmt::format("{}", fmt::join(above, " "));
  for (const auto& w : below) out += "/" + w;
  return out == "1" ? "" : out;
}

}  // namespace thor::io
