#include "thor/config/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace thor::config {
namespace {

bool holds(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "profile: linear or profile: power_law".
std::string shown(const Condition& when) {
  std::string text;
  for (const auto& value : when.values) text += fmt::format("{}{}: {}", text.empty() ? "" : " or ", when.key, value);
  return text;
}

void add_paths(const Schema& schema, const std::string& prefix, std::vector<std::string>& paths) {
  for (const Parameter& p : schema.parameters) {
    const std::string path = prefix + p.key;
    if (!holds(paths, path)) paths.push_back(path);
    if (p.section) add_paths(*p.section, path + (p.kind == Kind::sections ? ".0." : "."), paths);
  }
}

}  // namespace

bool Parameter::exists_with(const std::string& value) const {
  return spec.when.key.empty() || holds(spec.when.values, value);
}

void read_parameters(const Schema& schema, Reader& reader, void* object) {
  std::map<std::string, std::string> chosen;                     // words of the choices so far; "" if unreadable
  std::map<const std::vector<std::string>*, std::string> given;  // the key given of each group
  bool all = true;
  for (const Parameter& p : schema.parameters) {
    const Condition& when = p.spec.when;
    if (!when.key.empty()) {
      const std::string& value = chosen[when.key];
      if (value.empty()) all = false;
      if (value.empty() || !p.exists_with(value)) {
        reader.elsewhere(p.key, shown(when));
        if (!value.empty()) chosen[p.key] = "(none)";
        continue;
      }
    }
    const auto group =
        std::find_if(schema.groups.begin(), schema.groups.end(), [&](const auto& keys) { return holds(keys, p.key); });
    if (group != schema.groups.end()) {
      if (!given.count(&*group)) given[&*group] = reader.exactly_one(*group);
      if (given[&*group] != p.key) {
        if (p.kind == Kind::choice) chosen[p.key] = "(none)";
        continue;
      }
    }
    p.read(reader, object);
    if (p.kind == Kind::choice) chosen[p.key] = reader.resolved_word(p.key);
  }
  reader.finish(all);
}

std::vector<std::string> key_paths(const Schema& root) {
  std::vector<std::string> paths;
  add_paths(root, "", paths);
  return paths;
}

}  // namespace thor::config
