#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "thor/config/nearest.hpp"
#include "thor/config/reader.hpp"

namespace thor::config {

Reader Reader::below(const std::string& key, const Tree& value) {
  add(key, {});
  return {value, resolved_->entries.back().value, *faults_, full(key), value.where.empty() ? where_ : value.where,
          angle_};
}

std::optional<Reader> Reader::map(const std::string& key) {
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
    items.emplace_back(entry.value, resolved.entries.back().value, *faults_, full(element), entry.value.where, angle_);
  }
  return items;
}

std::string Reader::exactly_one(const Words& keys) {
  Words found;
  for (const auto& key : keys) {
    if (has(key)) found.push_back(key);
  }
  if (found.size() == 1) return found[0];
  const std::string all = fmt::format("expected exactly one of {}; got ", fmt::join(keys, ", "));
  if (found.empty()) {
    push({where_, path_.empty() ? "configuration" : path_, all + "none"});
  } else {
    report(found[1], fmt::format("{}{}: remove all but one", all, fmt::join(found, ", ")));
  }
  return {};
}

void Reader::elsewhere(const std::string& key, const std::string& owner) { elsewhere_.emplace_back(key, owner); }

void Reader::finish(bool all) {
  for (const auto& [key, at, value] : map_->entries) {
    if (faults_->size() >= max_faults) return;
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::string owners;
    for (const auto& [name, owner] : elsewhere_) {
      if (name == key) owners += (owners.empty() ? "" : " or ") + owner;
    }
    if (!owners.empty() && !all) continue;
    const std::string hint = owners.empty() ? suggestion(key, known_) : " here; it belongs to " + owners;
    push({at, full(key), fmt::format("unknown key{} (known keys: {})", hint, fmt::join(known_, ", "))});
  }
}

}  // namespace thor::config
