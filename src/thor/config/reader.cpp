#include "thor/config/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>

#include "thor/config/nearest.hpp"

namespace thor::config {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string shown(const Tree& value) {
  switch (value.kind) {
    case Tree::Kind::null:
      return "nothing";
    case Tree::Kind::scalar:
      return "\"" + value.text + "\"";
    case Tree::Kind::list:
      return "a list";
    case Tree::Kind::map:
      return "a map";
  }
  return {};
}

bool inside(double value, Bounds bounds) {
  return (bounds.low_open ? value > bounds.low : value >= bounds.low) &&
         (bounds.high_open ? value < bounds.high : value <= bounds.high);
}

std::string shown(Bounds bounds, Dimension dimension) {
  const char* cgs[] = {"", " cm", " cm/s", " K", " cm^-2", " cm^-3", " erg/s", " Hz"};
  const std::string unit = cgs[static_cast<int>(dimension)];
  std::string text;
  if (std::isfinite(bounds.low)) {
    text += fmt::format("{} {}{}", bounds.low_open ? ">" : ">=", bounds.low, unit);
  }
  if (std::isfinite(bounds.high)) {
    text += fmt::format("{}{} {}{}", text.empty() ? "" : " and ", bounds.high_open ? "<" : "<=", bounds.high, unit);
  }
  return text;
}

/// Digits exactly; else a number in any notation that is a whole one, as 2e5.
std::optional<std::uint64_t> whole(const std::string& text) {
  std::uint64_t exact = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, exact);
  if (error == std::errc{} && rest == end) return exact;
  const double value = parse_quantity(text, Dimension::none).value;
  if (value != std::floor(value) || value < 0 || value >= 0x1p64) return {};
  return static_cast<std::uint64_t>(value);
}

Tree scalar_tree(const std::string& text) { return {Tree::Kind::scalar, text, {}, {}}; }

Tree list_tree(const Reader::Words& words) {
  Tree list{Tree::Kind::list, {}, {}, {}};
  for (const auto& word : words) {
    list.entries.push_back({std::to_string(list.entries.size()), {}, scalar_tree(word)});
  }
  return list;
}

}  // namespace

Reader::Reader(const Tree& map, Tree& resolved, Errors& errors, std::string path, std::string where)
    : map_(&map), resolved_(&resolved), errors_(&errors), path_(std::move(path)), where_(std::move(where)) {
  resolved_->kind = Tree::Kind::map;
  std::set<std::string> seen;
  for (const auto& [key, at, value] : map_->entries) {
    if (seen.insert(key).second) continue;
    errors_->push_back(fmt::format("{}: {}: repeated key (first at {})", at, full(key), map_->find(key)->where));
  }
}

std::string Reader::full(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

void Reader::add(const std::string& key, Tree value) { resolved_->entries.push_back({key, {}, std::move(value)}); }

void Reader::report(const std::string& key, const std::string& message) {
  const std::string head = key.substr(0, key.find('.'));
  const Tree::Entry* entry = map_->find(head);
  std::string where = entry ? entry->value.where : where_;
  if (entry && head != key) {
    const Tree::Entry* element = entry->value.find(key.substr(head.size() + 1));
    if (element) where = element->value.where;
  }
  errors_->push_back(fmt::format("{}: {}: {}", where, full(key), message));
}

const Tree* Reader::find(const std::string& key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  const Tree::Entry* entry = map_->find(key);
  return entry ? &entry->value : nullptr;
}

bool Reader::has(const std::string& key) { return find(key) != nullptr; }

bool Reader::is_map(const std::string& key) const {
  const Tree::Entry* entry = map_->find(key);
  return entry && entry->value.kind == Tree::Kind::map;
}

Dimension Reader::dimension(const std::string& key) const {
  const Tree::Entry* entry = map_->find(key);
  if (entry && entry->value.kind == Tree::Kind::list && !entry->value.entries.empty()) {
    entry = &entry->value.entries.front();
  }
  if (!entry || entry->value.kind != Tree::Kind::scalar) return Dimension::none;
  try {
    return parse_quantity(entry->value.text).dimension;
  } catch (const std::invalid_argument&) {
    return Dimension::none;
  }
}

Reader::Text Reader::scalar(const std::string& key, const std::string& expected, const Text& fallback) {
  const Tree* value = find(key);
  if (value && value->kind != Tree::Kind::scalar) {
    report(key, fmt::format("expected {}, got {}", expected, shown(*value)));
    return {};
  }
  if (!value && !fallback) {
    report(key, fmt::format("missing; expected {}", expected));
    return {};
  }
  const std::string text = value ? value->text : *fallback;
  add(key, scalar_tree(text));
  return text;
}

std::optional<Reader::Words> Reader::scalars(const std::string& key, const std::string& expected,
                                             const Words& fallback) {
  const Tree* value = find(key);
  if (!value && fallback.empty()) {
    report(key, "missing; expected " + expected);
    return {};
  }
  Words words = fallback;
  if (value) {
    words.clear();
    for (const auto& entry : value->entries) {
      if (value->kind == Tree::Kind::list && entry.value.kind == Tree::Kind::scalar) {
        words.push_back(entry.value.text);
      }
    }
    if (value->kind != Tree::Kind::list || words.size() != value->entries.size()) {
      report(key, fmt::format("expected {}, got {}", expected,
                              value->kind == Tree::Kind::list ? "other things" : shown(*value)));
      return {};
    }
  }
  add(key, list_tree(words));
  return words;
}

double Reader::checked(const std::string& key, const std::string& text, Dimension dimension, Bounds bounds) {
  try {
    const double value = parse_quantity(text, dimension).value;
    if (inside(value, bounds)) return value;
    report(key, fmt::format("must be {}, got \"{}\"", shown(bounds, dimension), text));
  } catch (const std::invalid_argument& error) {
    report(key, error.what());
  }
  return nan;
}

double Reader::number(const std::string& key, Bounds bounds, const Text& fallback) {
  return quantity(key, Dimension::none, bounds, fallback);
}

double Reader::quantity(const std::string& key, Dimension dimension, Bounds bounds, const Text& fallback) {
  const Text text = scalar(key, describe(dimension), fallback);
  return text ? checked(key, *text, dimension, bounds) : nan;
}

std::uint64_t Reader::integer(const std::string& key, std::uint64_t low, std::uint64_t high, const Text& fallback) {
  const std::string expected = fmt::format("a whole number from {} to {}", low, high);
  const Text text = scalar(key, expected, fallback);
  if (!text) return low;
  try {
    const auto value = whole(*text);
    if (value && *value >= low && *value <= high) return *value;
  } catch (const std::invalid_argument&) {
  }
  report(key, fmt::format("expected {}, got \"{}\"", expected, *text));
  return low;
}

bool Reader::boolean(const std::string& key, const Text& fallback) {
  return choice<bool>(key, {{"true", true}, {"false", false}}, fallback).value_or(false);
}

std::string Reader::text(const std::string& key, const std::string& expected, const Text& fallback) {
  return scalar(key, expected, fallback).value_or("");
}

std::optional<std::size_t> Reader::index_of(const std::string& key, const Words& names, const Text& fallback) {
  const std::string expected = names.size() == 1 ? names[0] : fmt::format("one of {}", fmt::join(names, ", "));
  const Text text = scalar(key, expected, fallback);
  if (!text) return {};
  const auto match = std::find(names.begin(), names.end(), *text);
  if (match != names.end()) return match - names.begin();
  report(key, fmt::format("expected {}, got \"{}\"{}", expected, *text, suggestion(*text, names)));
  return {};
}

std::vector<std::size_t> Reader::indices_of(const std::string& key, const Words& names) {
  const std::string expected = fmt::format("a list of {}", fmt::join(names, ", "));
  std::vector<std::size_t> indices;
  const auto words = scalars(key, expected, names);
  if (!words) return indices;
  if (words->empty()) report(key, "empty; expected " + expected);
  for (std::size_t i = 0; i < words->size(); ++i) {
    const std::string element = fmt::format("{}.{}", key, i);
    const std::string& word = (*words)[i];
    const auto match = std::find(names.begin(), names.end(), word);
    const std::size_t index = match - names.begin();
    if (match == names.end()) {
      report(element,
             fmt::format("expected one of {}, got \"{}\"{}", fmt::join(names, ", "), word, suggestion(word, names)));
    } else if (std::find(indices.begin(), indices.end(), index) != indices.end()) {
      report(element, fmt::format("\"{}\" is there twice", word));
    }
    indices.push_back(std::min(index, names.size() - 1));
  }
  return indices;
}

std::vector<double> Reader::quantities(const std::string& key, std::size_t size, Dimension dimension, Bounds bounds,
                                       const Words& fallback) {
  const std::string expected = fmt::format("a list of {}, each {}", size, describe(dimension));
  const auto words = scalars(key, expected, fallback);
  std::vector<double> values(size, nan);
  if (!words) return values;
  if (words->size() != size) {
    report(key, fmt::format("expected {}, got a list of {}", expected, words->size()));
    return values;
  }
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = checked(fmt::format("{}.{}", key, i), (*words)[i], dimension, bounds);
  }
  return values;
}

std::array<double, 3> Reader::vector(const std::string& key, Dimension dimension, Bounds bounds,
                                     const Words& fallback) {
  const auto values = quantities(key, 3, dimension, bounds, fallback);
  return {values[0], values[1], values[2]};
}

std::array<double, 2> Reader::interval(const std::string& key, Dimension dimension, Bounds bounds) {
  const auto values = quantities(key, 2, dimension, bounds, {});
  if (values[0] >= values[1]) report(key, "must increase: the first value is not below the second");
  return {values[0], values[1]};
}

}  // namespace thor::config
