#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "thor/config/schema.hpp"

namespace thor::config {
namespace {

constexpr std::size_t comment_column = 44;

void add_line(std::string& out, const std::string& text, const std::string& comment) {
  std::size_t width = 0;  // counts the characters of UTF-8
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  out += text;
  if (!comment.empty()) out += std::string(std::max(width + 2, comment_column) - width, ' ') + "# " + comment;
  out += "\n";
}

/// Without marks of Markdown; a link such as [lines](lines.md#top) is the page, docs/lines.md.
std::string plain(std::string text) {
  std::erase(text, '`');
  for (std::size_t middle; (middle = text.find("](")) != std::string::npos;) {
    const std::size_t begin = text.rfind('[', middle), end = text.find(')', middle);
    if (begin == std::string::npos || end == std::string::npos) break;
    const std::string target = text.substr(middle + 2, end - middle - 2);
    text.replace(begin, end + 1 - begin, "docs/" + target.substr(0, target.find('#')));
  }
  return text;
}

/// The meaning of a key, and the other words of a choice.
std::string comment_of(const Parameter& p) {
  std::vector<std::string> names;
  for (const Word& word : p.words) names.push_back(word.name);
  const bool lists = p.kind == Kind::choice && names.size() > 1;
  return plain(p.spec.meaning + (lists ? fmt::format(": {}", fmt::join(names, ", ")) : ""));
}

bool exists(const Parameter& p, const std::map<std::string, std::string>& chosen) {
  if (p.spec.when.key.empty()) return true;
  const auto value = chosen.find(p.spec.when.key);
  return value != chosen.end() && p.exists_with(value->second);
}

/// The values of a default section, such as {profile: static}; an example for a section that is absent by default.
std::string inline_example(const Schema& schema) {
  std::vector<std::string> parts;
  for (const Parameter& p : schema.parameters) {
    if (!p.spec.when.key.empty() || p.kind == Kind::section || p.kind == Kind::sections) continue;
    const bool other = std::any_of(schema.groups.begin(), schema.groups.end(), [&](const auto& group) {
      return p.key != group.front() && std::find(group.begin(), group.end(), p.key) != group.end();
    });
    if (other) continue;  // an alternative to the first of its group
    parts.push_back(fmt::format("{}: {}", p.key, p.spec.fallback.value_or(p.spec.example)));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  /// `lead` precedes the first key: the dash of a list.
  void section(const Schema& schema, const Tree& tree, std::size_t indent, std::string lead = {}) {
    std::map<std::string, std::string> chosen;
    for (const Parameter& p : schema.parameters) {
      if (!exists(p, chosen)) continue;
      const Tree::Entry* entry = tree.find(p.key);
      const auto fallback = p.spec.fallback_in([&](const std::string& key) { return tree.find(key) != nullptr; });
      if (p.kind == Kind::choice) chosen[p.key] = entry ? entry->value.text : fallback.value_or("");
      if (lead.empty()) lead = std::string(indent, ' ');
      if (entry) {
        given(p, entry->value, indent, lead);
        lead.clear();
      } else {
        left_out(schema, p, indent, fallback.value_or(p.spec.example));
      }
    }
  }

 private:
  void given(const Parameter& p, const Tree& value, std::size_t indent, const std::string& lead) {
    const bool below = p.section && value.kind != Tree::Kind::scalar;
    if (!below) return add_line(out_, fmt::format("{}{}: {}", lead, p.key, to_inline_yaml(value)), comment_of(p));
    add_line(out_, fmt::format("{}{}:", lead, p.key), comment_of(p));
    if (p.kind != Kind::sections) return section(*p.section, value, indent + 2);
    for (const auto& item : value.entries) {
      section(*p.section, item.value, indent + 4, std::string(indent + 2, ' ') + "- ");
    }
  }

  void left_out(const Schema& schema, const Parameter& p, std::size_t indent, std::string value) {
    const bool alternative = std::any_of(schema.groups.begin(), schema.groups.end(), [&](const auto& group) {
      return std::find(group.begin(), group.end(), p.key) != group.end();
    });
    if (p.kind == Kind::section) value = inline_example(*p.section);
    add_line(out_, fmt::format("{}# {}: {}", std::string(indent, ' '), p.key, value),
             (alternative ? "or instead: " : "") + comment_of(p));
  }

  std::string& out_;
};

}  // namespace

std::string annotated(const Schema& root, const Tree& configuration, const std::string& title) {
  std::string out;
  for (std::size_t start = 0; start < title.size();) {
    const std::size_t end = std::min(title.find('\n', start), title.size());
    out += (end > start ? "# " : "#") + title.substr(start, end - start) + "\n";
    start = end + 1;
  }
  out += "# Lines that begin with # show further keys with their defaults.\n\n";
  Writer(out).section(root, configuration, 0);
  return out;
}

}  // namespace thor::config
