#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "thor/config/nearest.hpp"
#include "thor/config/reader.hpp"

namespace thor::config {

Reader Reader::below(const std::string& key, const Tree& value) {
  add(key, {});
  return {value, resolved_->entries.back().value, *errors_, full(key), value.where.empty() ? where_ : value.where};
}

std::optional<Reader> Reader::required(const std::string& key) {
  if (has(key)) return optional(key);
  report(key, "missing; expected a map of keys");
  return {};
}

std::optional<Reader> Reader::optional(const std::string& key) {
  static const Tree absent{Tree::Kind::map, {}, {}, {}};
  const Tree* value = find(key);
  if (!value) return below(key, absent);
  if (value->kind == Tree::Kind::map) return below(key, *value);
  report(key,
         fmt::format("expected a map of keys, got {}", value->kind == Tree::Kind::null     ? "nothing"
                                                       : value->kind == Tree::Kind::scalar ? "\"" + value->text + "\""
                                                                                           : "a list"));
  return {};
}

std::vector<Reader> Reader::list(const std::string& key, bool required) {
  const Tree* value = find(key);
  std::vector<Reader> items;
  if (!value && required) report(key, "missing; expected a list of maps");
  if (value && value->kind != Tree::Kind::list) report(key, "expected a list of maps");
  if (value && value->kind == Tree::Kind::list && value->entries.empty() && required) {
    report(key, "empty; expected at least one element");
  }
  add(key, {Tree::Kind::list, {}, {}, {}});
  if (!value || value->kind != Tree::Kind::list) return items;
  Tree& resolved = resolved_->entries.back().value;
  for (const auto& entry : value->entries) {
    const std::string element = fmt::format("{}.{}", key, entry.key);
    if (entry.value.kind != Tree::Kind::map) {
      report(element, "expected a map of keys");
      continue;
    }
    resolved.entries.push_back({entry.key, {}, {}});
    items.emplace_back(entry.value, resolved.entries.back().value, *errors_, full(element), entry.value.where);
  }
  return items;
}

std::string Reader::exactly_one(const Words& keys) {
  Words found;
  for (const auto& key : keys) {
    if (has(key)) found.push_back(key);
  }
  if (found.size() == 1) return found[0];
  errors_->push_back(fmt::format("{}: {}: expected exactly one of {}; got {}", where_,
                                 path_.empty() ? "configuration" : path_, fmt::join(keys, ", "),
                                 found.empty() ? "none" : fmt::format("{}", fmt::join(found, ", "))));
  return {};
}

void Reader::elsewhere(const Words& keys, const std::string& owner) {
  for (const auto& key : keys) elsewhere_.emplace_back(key, owner);
}

void Reader::finish() {
  for (const auto& [key, at, value] : map_->entries) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const auto owner = std::find_if(elsewhere_.begin(), elsewhere_.end(),
                                    [name = &key](const auto& pair) { return pair.first == *name; });
    const std::string hint =
        owner != elsewhere_.end() ? " here; it belongs to " + owner->second : suggestion(key, known_);
    errors_->push_back(
        fmt::format("{}: {}: unknown key{} (known keys: {})", at, full(key), hint, fmt::join(known_, ", ")));
  }
}

}  // namespace thor::config
