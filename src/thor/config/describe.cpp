#include "thor/config/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace thor::config {
namespace {

std::string code(const std::string& text) { return "`" + text + "`"; }

}  // namespace

const char* name_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::none:
      return "number";
    case Dimension::length:
      return "length";
    case Dimension::velocity:
      return "velocity";
    case Dimension::temperature:
      return "temperature";
    case Dimension::column_density:
      return "column density";
    case Dimension::number_density:
      return "number density";
    case Dimension::luminosity:
      return "luminosity";
    case Dimension::frequency:
      return "frequency";
    case Dimension::rate:
      return "rate";
    case Dimension::wavenumber:
      return "wavenumber";
    case Dimension::area:
      return "cross-section";
    case Dimension::mass:
      return "mass";
    case Dimension::angle:
      return "angle";
    case Dimension::time:
      return "time";
    case Dimension::memory:
      return "memory";
    case Dimension::fraction:
      return "share";
  }
  return "";
}

std::string value_of(const Parameter& p) {
  std::string names;
  for (const Dimension d : p.dimensions) names += (names.empty() ? "" : " or ") + std::string(name_of(d));
  const std::string range = p.dimensions.empty() ? "" : shown(p.bounds, p.dimensions.front());
  std::vector<std::string> words;
  for (const Word& word : p.words) words.push_back(code(word.name));
  switch (p.kind) {
    case Kind::quantity:
      return names + (range.empty() ? "" : " " + range);
    case Kind::quantities:
      return fmt::format("list of {}, each a {}{}{}{}", p.size, names, range.empty() ? "" : " ", range,
                         p.increasing ? "; increasing" : "");
    case Kind::integer:
      return fmt::format("whole number, {} to {}", p.low, p.high);
    case Kind::text:
      return p.expected;
    case Kind::choice:
      return fmt::format("{}{}", fmt::join(words, ", "), p.section ? ", or a map" : "");
    case Kind::choices:
      return fmt::format("list of {}", fmt::join(words, ", "));
    case Kind::section:
      return "map";
    case Kind::sections:
      return "list of maps";
  }
  return {};
}

std::string default_of(const Parameter& p, const Schema& schema) {
  if (p.kind == Kind::choices) return "all";
  if (!p.spec.beside.key.empty()) {
    return fmt::format("{}; {} beside {}", code(*p.spec.fallback), code(p.spec.beside.fallback),
                       code(p.spec.beside.key));
  }
  if (p.spec.fallback) return p.spec.fallback->empty() ? "none" : code(*p.spec.fallback);
  for (const auto& group : schema.groups) {
    for (const auto& key : group) {
      if (key == p.key) return fmt::format("one of `{}`", fmt::join(group, "`, `"));
    }
  }
  return p.required ? "required" : "none";
}

}  // namespace thor::config
