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

/// Digits, exactly; or a whole number in another notation, such as 2e5.
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

/// Elements of a default that is written as a YAML list.
Reader::Words words_of(const std::string& list) {
  Reader::Words words;
  for (const auto& entry : read_value(list, "default").entries) words.push_back(entry.value.text);
  return words;
}

}  // namespace

std::string shown(Bounds bounds, Dimension dimension) {
  const std::string_view unit = shown_unit(dimension);
  const double scale = parse_quantity(fmt::format("1 {}", unit)).value;
  std::string text;
  if (std::isfinite(bounds.low)) {
    text +=
        fmt::format("{} {:.6g}{}{}", bounds.low_open ? ">" : ">=", bounds.low / scale, unit.empty() ? "" : " ", unit);
  }
  if (std::isfinite(bounds.high)) {
    text += fmt::format("{}{} {:.6g}{}{}", text.empty() ? "" : " and ",
                        bounds.high_open ? "<" : "<=", bounds.high / scale, unit.empty() ? "" : " ", unit);
  }
  return text;
}

Reader::Reader(const Tree& map, Tree& resolved, Faults& faults, std::string path, std::string where,
               std::shared_ptr<double> angle)
    : map_(&map),
      resolved_(&resolved),
      faults_(&faults),
      path_(std::move(path)),
      where_(std::move(where)),
      angle_(std::move(angle)) {
  resolved_->kind = Tree::Kind::map;
  std::set<std::string> seen;
  for (const auto& [key, at, value] : map_->entries) {
    if (seen.insert(key).second || faults_->size() >= max_faults) continue;
    push({at, full(key), fmt::format("repeated key (first at {})", map_->find(key)->where)});
  }
}

std::string Reader::full(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

void Reader::add(const std::string& key, Tree value) { resolved_->entries.push_back({key, {}, std::move(value)}); }

void Reader::omit(const std::string& key) {
  std::erase_if(resolved_->entries, [&](const Tree::Entry& entry) { return entry.key == key; });
}

void Reader::push(Fault fault) {
  if (faults_->size() < max_faults) faults_->push_back(std::move(fault));
}

void Reader::report(const std::string& key, const std::string& message) {
  const Tree* node = map_;
  std::string where = where_;
  for (std::size_t start = 0; start < key.size();) {
    const std::size_t dot = std::min(key.find('.', start), key.size());
    const Tree::Entry* entry = node->find(key.substr(start, dot - start));
    if (!entry) break;
    node = &entry->value;
    where = node->where;
    start = dot + 1;
  }
  push({where, full(key), message});
}

bool Reader::clean(const std::string& key) const {
  const std::string path = full(key);
  return std::none_of(faults_->begin(), faults_->end(),
                      [&](const Fault& fault) { return fault.path == path || fault.path.starts_with(path + "."); });
}

const Tree* Reader::find(const std::string& key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  const Tree::Entry* entry = map_->find(key);
  return entry ? &entry->value : nullptr;
}

bool Reader::has(const std::string& key) { return find(key) != nullptr; }

std::string Reader::resolved_word(const std::string& key) const {
  const Tree::Entry* entry = resolved_->find(key);
  return entry && clean(key) ? entry->value.text : "";
}

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

double Reader::checked(const std::string& key, const std::string& text, Dimension dimension, Bounds bounds,
                       double scale) {
  try {
    const double value = scale * parse_quantity(text, dimension).value;
    if (inside(value, bounds)) return value;
    report(key, fmt::format("must be {}, got \"{}\"", shown(bounds, scale == 1 ? dimension : Dimension::length), text));
  } catch (const std::invalid_argument& error) {
    report(key, error.what());
  }
  return nan;
}

double Reader::quantity(const std::string& key, Dimension dimension, Bounds bounds, const Text& fallback) {
  const Text text = scalar(key, describe(dimension), fallback);
  return text ? checked(key, *text, dimension, bounds) : nan;
}

double Reader::sky_length(const std::string& key, Bounds bounds, const Text& fallback) {
  constexpr double widest = 0.5;  // [rad]: the sky of an image is flat
  const bool angle = dimension(key) == Dimension::angle;
  const Text text = scalar(key, describe(angle ? Dimension::angle : Dimension::length), fallback);
  if (!text) return nan;
  const double distance = *angle_;
  if (std::isnan(distance)) {  // of a sky with faults of its own
    const double value = checked(key, *text, angle ? Dimension::angle : Dimension::length, angle ? anything : bounds);
    return angle ? nan : value;
  }
  if (angle && !(distance > 0)) {
    report(key, fmt::format("\"{}\" is an angle, which is a length at a distance only: add `sky: {{redshift: ...}}` or "
                            "`sky: {{distance: ...}}`, or give a length such as \"10 kpc\"",
                            *text));
    return nan;
  }
  const double length =
      angle ? checked(key, *text, Dimension::angle, bounds, distance) : checked(key, *text, Dimension::length, bounds);
  if (distance > 0 && length > widest * distance) {
    report(key,
           fmt::format("\"{}\" is too wide for a flat sky: at most 28 deg, seen from the distance of `sky`", *text));
  }
  return length;
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

std::string Reader::text(const std::string& key, const std::string& expected, const Text& fallback) {
  const Text value = scalar(key, expected, fallback);
  if (value) resolved_->entries.back().value.is_text = true;
  return value.value_or("");
}

std::optional<std::size_t> Reader::choice(const std::string& key, const Words& names, const Text& fallback) {
  const std::string expected = names.size() == 1 ? names[0] : fmt::format("one of {}", fmt::join(names, ", "));
  const Text text = scalar(key, expected, fallback);
  if (!text) return {};
  const auto match = std::find(names.begin(), names.end(), *text);
  if (match != names.end()) return match - names.begin();
  report(key, fmt::format("expected {}, got \"{}\"{}", expected, *text, suggestion(*text, names)));
  return {};
}

std::vector<std::size_t> Reader::choices(const std::string& key, const Words& names) {
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
      report(element, fmt::format("\"{}\" is given twice", word));
    }
    indices.push_back(std::min(index, names.size() - 1));
  }
  return indices;
}

std::vector<double> Reader::quantities(const std::string& key, std::size_t size, Dimension dimension, Bounds bounds,
                                       const Text& fallback) {
  const std::string expected = fmt::format("a list of {}, each {}", size, describe(dimension));
  const auto words = scalars(key, expected, fallback ? words_of(*fallback) : Words{});
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

}  // namespace thor::config
