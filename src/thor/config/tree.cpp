#include "thor/config/tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "thor/core/error.hpp"

namespace thor::config {
namespace {

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> keys(1);
  for (const char letter : path) {
    if (letter == '.') {
      keys.emplace_back();
    } else {
      keys.back() += letter;
    }
  }
  return keys;
}

void add_differing(const Tree& one, const Tree& other, const std::string& path, std::vector<std::string>& keys) {
  if (one.kind != other.kind || one.text != other.text) {
    keys.push_back(path);
    return;
  }
  const std::string before = path.empty() ? "" : path + ".";
  for (const Tree::Entry& entry : one.entries) {
    const Tree::Entry* match = other.find(entry.key);
    if (match) {
      add_differing(entry.value, match->value, before + entry.key, keys);
    } else {
      keys.push_back(before + entry.key);
    }
  }
  for (const Tree::Entry& entry : other.entries) {
    if (!one.find(entry.key)) keys.push_back(before + entry.key);
  }
}

}  // namespace

std::string to_text(const Faults& faults) {
  std::vector<std::string> lines;
  for (const auto& [where, path, message] : faults) {
    lines.push_back(
        fmt::format("{}{}{}{}{}", where, where.empty() ? "" : ": ", path, path.empty() ? "" : ": ", message));
  }
  if (faults.size() >= max_faults) lines.push_back(fmt::format("... (the first {} are shown)", max_faults));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::vector<std::string> differing_keys(const Tree& one, const Tree& other) {
  std::vector<std::string> keys;
  add_differing(one, other, "", keys);
  return keys;
}

const Tree::Entry* Tree::find(const std::string& key) const {
  const auto match = [&](const Entry& entry) { return entry.key == key; };
  const auto entry = std::find_if(entries.begin(), entries.end(), match);
  return entry == entries.end() ? nullptr : &*entry;
}

Tree::Entry* Tree::find(const std::string& key) { return const_cast<Entry*>(std::as_const(*this).find(key)); }

namespace {

/// "outputs[0].width=3" as "outputs.0.width=3".
std::string with_dots(const std::string& text) {
  std::string out;
  const auto equals = std::min(text.find('='), text.size());
  for (const char c : text.substr(0, equals)) {
    if (c == '[') out += '.';
    if (c != '[' && c != ']') out += c;
  }
  return out + text.substr(equals);
}

}  // namespace

void apply_override(Tree& root, const std::string& text, Faults& faults, std::string where) {
  if (where.empty()) where = "--set " + text;
  const auto refuse = [&](const std::string& what) { faults.push_back({where, "", what}); };
  const auto equals = text.find('=');
  const auto path = split(text.substr(0, equals));
  if (equals == std::string::npos || std::find(path.begin(), path.end(), "") != path.end()) {
    return refuse("expected a.b=value");
  }
  if (text.substr(0, equals).find('[') != std::string::npos) {
    return refuse(fmt::format("elements of lists are named by number: {}", with_dots(text)));
  }
  Tree value;
  try {
    value = read_value(text.substr(equals + 1), where);
  } catch (const Error& error) {
    faults.push_back({"", "", error.what()});
    return;
  }
  value.where = where;

  Tree* node = &root;
  std::string done = "the file";
  for (const auto& key : path) {
    if (node->kind == Tree::Kind::null) *node = {Tree::Kind::map, {}, where, {}};
    if (node->kind == Tree::Kind::scalar) {
      return refuse(fmt::format("{} is a single value and has no key \"{}\"", done, key));
    }
    Tree::Entry* entry = node->find(key);
    if (!entry && node->kind == Tree::Kind::list) {
      return refuse(fmt::format("{} is a list of {} and has no element \"{}\"", done, node->entries.size(), key));
    }
    if (!entry) entry = &node->entries.emplace_back(Tree::Entry{key, where, {}});
    node = &entry->value;
    done = &key == &path.front() ? key : done + "." + key;
  }
  *node = std::move(value);
}

}  // namespace thor::config
