#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "thor/config/schema.hpp"

namespace thor::config {
namespace {

std::string in_table(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string code(const std::string& text) { return "`" + text + "`"; }

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

/// Heading of a section; pandoc and GitHub drop the dots from its anchor.
std::string anchor(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c != '.') out += c;
  }
  return out;
}

std::string value_of(const Parameter& p, const std::string& path) {
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
      return fmt::format("[map](#{})", anchor(path));
    case Kind::sections:
      return fmt::format("[list of maps](#{})", anchor(path));
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

void add_section(const Schema& schema, const std::string& path, int level, std::string& out) {
  if (!path.empty()) out += fmt::format("\n{} {}\n\n{}\n", std::string(std::size_t(level), '#'), path, schema.meaning);
  out += "\n| key | value | default | example | meaning |\n|---|---|---|---|---|\n";
  for (const Parameter& p : schema.parameters) {
    const std::string below = path.empty() ? p.key : path + "." + p.key;
    const Condition& when = p.spec.when;
    const std::string with =
        when.key.empty() ? "" : fmt::format("; with `{}: {}`", when.key, fmt::join(when.values, "`, `"));
    const std::string example = p.spec.example.empty() ? "" : code(p.spec.example);
    out += fmt::format("| `{}` | {} | {} | {} | {}{} |\n", p.key, in_table(value_of(p, below)),
                       in_table(default_of(p, schema)), in_table(example), in_table(p.spec.meaning), with);
  }
  for (const Parameter& p : schema.parameters) {
    if (p.words.empty() || p.words.front().meaning.empty()) continue;
    out += fmt::format("\n`{}`:\n\n", p.key);
    for (const Word& word : p.words) out += fmt::format("- `{}`: {}\n", word.name, word.meaning);
  }
  for (const Parameter& p : schema.parameters) {
    const bool is_map = p.kind == Kind::section || p.kind == Kind::sections;
    if (is_map) add_section(*p.section, path.empty() ? p.key : path + "." + p.key, path.empty() ? 2 : 3, out);
  }
}

}  // namespace

std::string to_markdown(const Schema& root, const Schema* rays) {
  std::string units;
  for (const Dimension d : {Dimension::length, Dimension::velocity, Dimension::temperature, Dimension::column_density,
                            Dimension::number_density, Dimension::luminosity, Dimension::frequency, Dimension::angle,
                            Dimension::time, Dimension::memory, Dimension::fraction}) {
    units += fmt::format("| {} | `{}` |\n", name_of(d), fmt::join(unit_names(d), "`, `"));
  }
  std::string out = fmt::format(R"(# Configuration

<!-- Made by `thor schema --format markdown` from the declarations in src/thor/*/parameters.cpp; do not edit. -->

A run is one YAML file. `thor init` writes examples, `thor check` prints derived quantities, and `thor schema` prints a JSON
schema for completion and checks in editors. An unknown, repeated or misspelt key, a missing or wrong unit or an
impossible value is an error that names file, line, column, key and what was expected; all errors of a file are shown at once.

`--set a.b=c` on the command line overrides a key and goes through the same checks; elements of lists are given by index
(`--set generators.0.photons=10`). Quantities carry their unit:

| quantity | units |
|---|---|
{}
Wavelengths are in vacuum.

## Top level
)",
                                units);
  add_section(root, "", 2, out);
  if (!rays) return out;
  // What both drivers have is above.
  Schema own = *rays;
  std::erase_if(own.parameters, [&](const Parameter& p) {
    return std::any_of(root.parameters.begin(), root.parameters.end(),
                       [&](const Parameter& q) { return p.key == q.key && p.spec.meaning == q.spec.meaning; });
  });
  for (Parameter& p : own.parameters) {
    if (p.key == "output") p.key = "output (raytrace)";
  }
  out +=
      "\n## Raytracing\n\nWith `driver: raytrace` a file has `dataset`, `seed`, `precision` and `line_list` as above, "
      "and "
      "these keys ([guide](raytracing.md)):\n";
  add_section(own, "", 2, out);
  return out;
}

}  // namespace thor::config
