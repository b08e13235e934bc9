#include "thor/config/key_help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "thor/config/describe.hpp"
#include "thor/config/nearest.hpp"

namespace thor::config {
namespace {

/// A declaration of a key. A key may be declared several times, for other types.
struct Entry {
  std::string path;     ///< "generators.photons"
  std::string example;  ///< one line of YAML around %, such as "generators: [{photons: %}]"
  const Parameter* parameter;
  const Schema* schema;
  std::vector<std::string> drivers;
};

constexpr std::size_t most_printed = 4;  ///< entries; of more keys only a list

void collect(const Schema& schema, const std::string& driver, const std::string& path, const std::string& around,
             std::vector<Entry>& list) {
  const auto within = [&](const std::string& text) {
    std::string out = around;
    return out.replace(out.find('%'), 1, text);
  };
  for (const Parameter& p : schema.parameters) {
    const std::string own = path + p.key;
    const auto same = std::ranges::find_if(list, [&](const Entry& e) {
      return e.path == own && e.parameter->spec.meaning == p.spec.meaning &&
             e.parameter->spec.when.values == p.spec.when.values;
    });
    if (same == list.end()) {
      list.push_back({own, within(p.key + ": %"), &p, &schema, {driver}});
    } else if (std::ranges::count(same->drivers, driver) == 0) {
      same->drivers.push_back(driver);
    }
    if (p.section) {
      collect(*p.section, driver, own + ".", within(p.kind == Kind::sections ? p.key + ": [{%}]" : p.key + ": {%}"),
              list);
    }
  }
}

/// Markdown as plain text: without backticks, and with "text (docs/page.md)" for links, of those in brackets only the
/// page.
std::string without_markup(const std::string& markdown) {
  std::string out;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    const std::size_t middle = markdown[i] == '[' ? markdown.find("](", i) : std::string::npos;
    const std::size_t end = middle == std::string::npos ? middle : markdown.find(')', middle);
    if (end != std::string::npos && markdown.find('[', i + 1) > middle) {
      const std::string page = "docs/" + markdown.substr(middle + 2, end - middle - 2);
      const bool in_brackets = out.ends_with('(') && markdown.substr(end + 1, 1) == ")";
      out += in_brackets ? page : markdown.substr(i + 1, middle - i - 1) + " (" + page + ")";
      i = end;
    } else if (markdown[i] != '`') {
      out += markdown[i];
    }
  }
  return out;
}

/// "shape: beam, type: extended": the condition of a key, and the conditions of that one.
std::string conditions(const Entry& entry) {
  std::string out;
  const Condition* when = &entry.parameter->spec.when;
  while (when && !when->key.empty()) {
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", when->key, fmt::join(when->values, " or "));
    const Condition* next = nullptr;
    for (const Parameter& p : entry.schema->parameters) {
      if (p.key == when->key && &p.spec.when != when) next = &p.spec.when;
    }
    when = next;
  }
  return out;
}

std::string value_in_example(const Parameter& p) {
  if (!p.spec.example.empty()) return p.spec.example;
  if (p.spec.fallback && !p.spec.fallback->empty()) return *p.spec.fallback;
  if (p.kind == Kind::choices) return "[" + p.words.front().name + "]";
  if (!p.words.empty()) return p.words.front().name;
  return "";
}

std::string text_of(const Entry& entry) {
  const Parameter& p = *entry.parameter;
  std::string out = entry.path + "\n  " + without_markup(p.spec.meaning) + "\n";
  const auto row = [&](const char* name, const std::string& text) {
    if (!text.empty()) out += fmt::format("  {:<8} {}\n", name, text);
  };
  row("value", without_markup(value_of(p)));
  std::vector<std::string> units;
  for (const Dimension d : p.dimensions) {
    for (const std::string& unit : unit_names(d)) units.push_back(unit);
  }
  row("units", fmt::format("{}", fmt::join(units, ", ")));
  const std::string fallback = without_markup(default_of(p, *entry.schema));
  row("default", (fallback.starts_with("one of ") ? "none: set " : "") + fallback);
  row("with", conditions(entry));
  row("driver", fmt::format("{}", fmt::join(entry.drivers, ", ")));
  for (const Word& word : p.words) {
    if (!word.meaning.empty()) out += fmt::format("  {:<8} {}\n", word.name + ":", without_markup(word.meaning));
  }
  if (p.section) {
    std::vector<std::string> keys;
    for (const Parameter& below : p.section->parameters) {
      if (std::ranges::count(keys, below.key) == 0) keys.push_back(below.key);
    }
    row("about", without_markup(p.section->meaning));
    row("keys", fmt::format("{}", fmt::join(keys, ", ")));
  }
  const std::string value = p.kind == Kind::section || p.kind == Kind::sections ? "" : value_in_example(p);
  if (!value.empty()) {
    std::string example = entry.example;
    row("example", example.replace(example.find('%'), 1, value));
  }
  return out;
}

/// Without numbers of list elements: "generators.0.photons" is "generators.photons".
std::string without_numbers(const std::string& path) {
  std::string out, part;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    part = path.substr(begin, end - begin);
    if (part.empty() || part.find_first_not_of("0123456789") != std::string::npos) {
      out += (out.empty() ? "" : ".") + part;
    }
    begin = end + 1;
  }
  return out;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

std::vector<std::string> nearest_paths(const std::vector<Entry>& entries, const std::string& key) {
  constexpr std::size_t most = 5;
  std::vector<std::string> paths, ends;
  for (const Entry& e : entries) paths.push_back(e.path), ends.push_back(last_part(e.path));
  const std::string path = nearest(key, paths);
  std::vector<std::string> found;
  const auto add = [&](const std::string& name) {
    if (found.size() < most && std::ranges::count(found, name) == 0) found.push_back(name);
  };
  if (!path.empty()) add(path);
  for (const Entry& e : entries) {
    if (std::ranges::count(e.parameter->words, key, &Word::name) > 0) add(e.path);
  }
  for (int i = 0; i < 3; ++i) {  // the nearest last parts, one after the other
    const std::string end = nearest(last_part(key), ends);
    for (const Entry& e : entries) {
      if (!end.empty() && last_part(e.path) == end) add(e.path);
    }
    std::erase(ends, end);
  }
  for (const Entry& e : entries) {
    if (key.size() > 2 && last_part(e.path).find(last_part(key)) != std::string::npos) add(e.path);
  }
  return found;
}

}  // namespace

KeyHelp key_help(const std::vector<DriverKeys>& drivers, const std::string& key) {
  std::vector<Entry> entries;
  for (const DriverKeys& d : drivers) collect(*d.root, d.driver, "", "%", entries);
  const std::string wanted = without_numbers(key);
  std::vector<const Entry*> found;
  for (const Entry& e : entries) {
    if (e.path == wanted) found.push_back(&e);
  }
  for (const Entry& e : entries) {
    if (e.path != wanted && e.path.ends_with("." + wanted)) found.push_back(&e);
  }
  if (wanted.empty() || found.empty()) return {"", nearest_paths(entries, wanted)};
  std::vector<std::string> paths;
  for (const Entry* e : found) {
    if (std::ranges::count(paths, e->path) == 0) paths.push_back(e->path);
  }
  std::string text;
  const auto add = [&](const Entry& e) { text += (text.empty() ? "" : "\n") + text_of(e); };
  if (paths.front() == wanted) {  // and those that only end in it are listed
    for (const Entry* e : found) {
      if (e->path == wanted) add(*e);
    }
    paths.erase(paths.begin());
    if (!paths.empty()) text += fmt::format("\nsee also: {}\n", fmt::join(paths, ", "));
  } else if (paths.size() <= most_printed) {
    for (const Entry* e : found) add(*e);
  } else {
    text = fmt::format("{} keys are named {}; thor help PATH prints one of them:\n", paths.size(), wanted);
    std::size_t width = 0;
    for (const std::string& path : paths) width = std::max(width, path.size());
    for (const std::string& path : paths) {
      const auto first = std::ranges::find(found, path, &Entry::path);
      text += fmt::format("  {:<{}}  {}\n", path, width, without_markup((*first)->parameter->spec.meaning));
    }
  }
  return {text, {}};
}

}  // namespace thor::config
