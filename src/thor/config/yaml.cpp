// The only file that uses yaml-cpp.
#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <utility>

#include "thor/config/tree.hpp"
#include "thor/core/error.hpp"

namespace thor::config {
namespace {

std::size_t count(const Tree& tree) {
  std::size_t nodes = 1;
  for (const auto& entry : tree.entries) nodes += count(entry.value);
  return nodes;
}

/// Position of the first byte that is not UTF-8 (RFC 3629), or the size of the text.
std::size_t first_bad_byte(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(i + k < text.size() ? text[i + k] : 0); };
    const unsigned first = byte(0);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xC2 && first < 0xE0 ? 2
                               : first >> 4 == 0xE             ? 3
                               : first >= 0xF0 && first < 0xF5 ? 4
                                                               : 0;
    bool good = length > 0;
    for (std::size_t k = 1; k < length; ++k) good = good && (byte(k) & 0xC0) == 0x80;
    // Overlong forms, surrogates and code points beyond U+10FFFF are not allowed.
    if (first == 0xE0) good = good && byte(1) >= 0xA0;
    if (first == 0xED) good = good && byte(1) < 0xA0;
    if (first == 0xF0) good = good && byte(1) >= 0x90;
    if (first == 0xF4) good = good && byte(1) < 0x90;
    if (!good) return i;
    i += length;
  }
  return text.size();
}

/// The usual cause of a message of yaml-cpp.
std::string hint(const std::string& message) {
  const bool structure =
      message.find("end of map") != std::string::npos || message.find("end of seq") != std::string::npos;
  return structure ? " (here or just above: a key without its colon, a line indented unlike its neighbours, or an open "
                     "bracket?)"
                   : "";
}

/// Names the first line, at most this one from 0 on, that is indented with a tab, which YAML does not allow.
std::string tab_hint(const std::string& text, int last) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i <= last && std::getline(lines, line); ++i) {
    if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string::npos) {
      return fmt::format(" (line {} is indented with a tab: use spaces)", i + 1);
    }
  }
  return "";
}

/// Builds a Tree from yaml-cpp's events. yaml-cpp's own nodes would do, but YAML::LoadAll never
/// returns for some broken inputs, such as "," (yaml-cpp issue 1040), and YAML::Load silently reads
/// only the first of several documents.
class Builder : public YAML::EventHandler {
 public:
  /// Positions are those in the file, or `fixed` if it is not empty.
  Builder(std::string file, std::string fixed) : file_(std::move(file)), fixed_(std::move(fixed)) {}

  Tree build(const std::string& yaml_text) {
    std::istringstream stream(yaml_text);
    try {
      YAML::Parser parser(stream);
      while (parser.HandleNextDocument(*this)) {
      }
    } catch (const YAML::Exception& error) {
      const std::string tab = tab_hint(yaml_text, error.mark.line);
      fail(error.mark, "not valid YAML: " + error.msg + (tab.empty() ? hint(error.msg) : tab));
    }
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 1) return;
    fail(mark, root_.kind == Tree::Kind::null ? "not valid YAML: nothing can be read here"
                                              : "a second YAML document; only one is allowed");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    place(mark, node(mark, Tree::Kind::null), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string& value) override {
    Tree tree = node(mark, Tree::Kind::scalar);
    tree.text = value;
    place(mark, std::move(tree), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto target = anchors_.find(anchor);
    if (target == anchors_.end()) fail(mark, "alias refers to a value that contains it");
    nodes_ += count(target->second);
    place(mark, target->second, 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, Tree::Kind::list, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, Tree::Kind::map, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  /// A list or map whose end is yet to come.
  struct OpenNode {
    Tree tree;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    bool has_key;
    std::string key, key_where;
  };

  std::string where(const YAML::Mark& mark) const {
    if (!fixed_.empty()) return fixed_;
    if (mark.is_null()) return file_;
    return fmt::format("{}:{}:{}", file_, mark.line + 1, mark.column + 1);
  }
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& what) const {
    throw Error(ExitCode::usage, where(mark) + ": " + what);
  }
  Tree node(const YAML::Mark& mark, Tree::Kind kind) {
    ++nodes_;
    return {kind, {}, where(mark), {}};
  }
  bool expects_key() const {
    return !open_nodes_.empty() && open_nodes_.back().tree.kind == Tree::Kind::map && !open_nodes_.back().has_key;
  }

  void open(const YAML::Mark& mark, Tree::Kind kind, YAML::anchor_t anchor) {
    if (expects_key()) fail(mark, "a key must be a plain word (is a bracket left open?)");
    if (open_nodes_.size() > 50) fail(mark, "nested too deeply");
    open_nodes_.push_back({node(mark, kind), mark, anchor, false, {}, {}});
  }
  void close() {
    OpenNode node = std::move(open_nodes_.back());
    open_nodes_.pop_back();
    place(node.mark, std::move(node.tree), node.anchor);
  }
  void place(const YAML::Mark& mark, Tree tree, YAML::anchor_t anchor) {
    if (nodes_ > 100'000) fail(mark, "too many values for a configuration");  // aliases of aliases
    if (anchor) anchors_[anchor] = tree;
    if (open_nodes_.empty()) {
      root_ = std::move(tree);
      return;
    }
    OpenNode& parent = open_nodes_.back();
    auto& entries = parent.tree.entries;
    if (expects_key()) {
      if (tree.kind != Tree::Kind::scalar) fail(mark, "a key must be a plain word (is a bracket left open?)");
      parent.key = tree.text;
      parent.key_where = where(mark);
      parent.has_key = true;
    } else if (parent.tree.kind == Tree::Kind::map) {
      entries.push_back({parent.key, parent.key_where, std::move(tree)});
      parent.has_key = false;
    } else {
      entries.push_back({std::to_string(entries.size()), tree.where, std::move(tree)});
    }
  }

  std::string file_, fixed_;
  Tree root_;
  std::vector<OpenNode> open_nodes_;
  std::map<YAML::anchor_t, Tree> anchors_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

void emit(YAML::Emitter& out, const Tree& tree) {
  const auto is_scalar = [](const Tree::Entry& entry) { return entry.value.kind == Tree::Kind::scalar; };
  switch (tree.kind) {
    case Tree::Kind::null:
      out << YAML::Null;
      break;
    case Tree::Kind::scalar:
      if (tree.is_text && !std::isalpha(static_cast<unsigned char>(tree.text.empty() ? '1' : tree.text[0]))) {
        out << YAML::DoubleQuoted;  // otherwise other readers would take 4 for a number
      }
      out << tree.text;
      break;
    case Tree::Kind::list:
      if (std::all_of(tree.entries.begin(), tree.entries.end(), is_scalar)) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const auto& item : tree.entries) emit(out, item.value);
      out << YAML::EndSeq;
      break;
    case Tree::Kind::map:
      out << YAML::BeginMap;
      for (const auto& entry : tree.entries) {
        out << YAML::Key << entry.key << YAML::Value;
        emit(out, entry.value);
      }
      out << YAML::EndMap;
      break;
  }
}

}  // namespace

Tree read_tree(const std::string& yaml_text, const std::string& name) {
  const std::size_t bad = first_bad_byte(yaml_text);
  if (bad < yaml_text.size()) {
    const auto line = 1 + std::count(yaml_text.begin(), yaml_text.begin() + std::ptrdiff_t(bad), '\n');
    throw Error(ExitCode::usage, fmt::format("{}:{}:{}: not UTF-8 text: save the file in that encoding", name, line,
                                             bad - (yaml_text.rfind('\n', bad) + 1) + 1));
  }
  return Builder(name, {}).build(yaml_text);
}

Tree read_value(const std::string& yaml_text, const std::string& where) {
  if (first_bad_byte(yaml_text) < yaml_text.size()) throw Error(ExitCode::usage, where + ": not UTF-8 text");
  return Builder({}, where).build(yaml_text);
}

std::string to_yaml(const Tree& tree) {
  YAML::Emitter out;
  emit(out, tree);
  return std::string(out.c_str(), out.size()) + "\n";
}

std::string to_inline_yaml(const Tree& tree) {
  YAML::Emitter out;
  out << YAML::Flow;
  emit(out, tree);
  return {out.c_str(), out.size()};
}

}  // namespace thor::config
