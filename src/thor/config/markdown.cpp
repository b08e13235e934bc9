#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "thor/config/describe.hpp"
#include "thor/config/schema.hpp"

namespace thor::config {
namespace {

std::string in_table(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

/// Heading of a section; pandoc and GitHub drop the dots from its anchor.
std::string anchor(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c != '.') out += c;
  }
  return out;
}

/// Writes the tables of sections, each of them once.
class Tables {
 public:
  explicit Tables(std::string& out) : out_(out) {}

  void add(const Schema& schema, const std::string& path, int level) {
    if (!path.empty()) {
      out_ += fmt::format("\n{} {}\n\n{}\n", std::string(std::size_t(level), '#'), path, schema.meaning);
    }
    std::vector<std::pair<const Schema*, std::string>> below;
    out_ += "\n| key | value | default | example | meaning |\n|---|---|---|---|---|\n";
    for (const Parameter& p : schema.parameters) {
      std::string value = value_of(p);
      if (p.kind == Kind::section || p.kind == Kind::sections) {
        const std::string own = path.empty() ? p.key : path + "." + p.key;
        const auto [first, is_new] = paths_.emplace(signature(*p.section), own);
        if (is_new) below.emplace_back(p.section, own);
        value = fmt::format("[{}](#{})", value, anchor(first->second));
      }
      const Condition& when = p.spec.when;
      const std::string with =
          when.key.empty() ? "" : fmt::format("; with `{}: {}`", when.key, fmt::join(when.values, "`, `"));
      const std::string example = p.spec.example.empty() ? "" : "`" + p.spec.example + "`";
      out_ += fmt::format("| `{}` | {} | {} | {} | {}{} |\n", p.key, in_table(value), in_table(default_of(p, schema)),
                          in_table(example), in_table(p.spec.meaning), with);
    }
    for (const Parameter& p : schema.parameters) {
      if (p.words.empty() || p.words.front().meaning.empty()) continue;
      out_ += fmt::format("\n`{}`:\n\n", p.key);
      for (const Word& word : p.words) out_ += fmt::format("- `{}`: {}\n", word.name, word.meaning);
    }
    for (const auto& [section, own] : below) add(*section, own, path.empty() ? 2 : 3);
  }

 private:
  /// The same for sections with the same keys.
  static std::string signature(const Schema& schema) {
    std::string text = schema.meaning;
    for (const Parameter& p : schema.parameters) {
      text += "\n" + p.key + "\t" + p.spec.meaning + "\t" + value_of(p) + "\t" + default_of(p, schema);
      if (p.section) text += "{" + signature(*p.section) + "}";
    }
    return text;
  }

  std::string& out_;
  std::map<std::string, std::string> paths_;  ///< first path of each section, by its signature
};

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
schema for completion and checks in editors; `thor help KEY` prints the entry of a key. An unknown, repeated or misspelt key, a missing or wrong unit or an
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
  Tables tables(out);
  tables.add(root, "", 2);
  if (!rays) return out;
  // Keys of both drivers are above.
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
  tables.add(own, "", 2);
  return out;
}

}  // namespace thor::config
