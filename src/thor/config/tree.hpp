#pragma once
#include <list>
#include <string>
#include <vector>

namespace thor::config {

/// An error in a configuration.
struct Fault {
  std::string where;  ///< "FILE:LINE:COLUMN" or "--set a.b=c"
  std::string path;   ///< path of the key, "a.b.0.c"; may be empty
  std::string message;
};
using Faults = std::vector<Fault>;

inline constexpr std::size_t max_faults = 200;  ///< more than anyone reads; keeps hostile input cheap

/// All mistakes, one per line.
std::string to_text(const Faults& faults);

/// A YAML document, independent of the library that read it. Aliases are copied, repeated keys are kept.
struct Tree {
  enum class Kind { null, scalar, list, map };
  struct Entry;

  Kind kind = Kind::null;
  std::string text;   ///< text of a scalar
  std::string where;  ///< as in Fault
  std::list<Entry>
      entries;           ///< entries of a map, or of a list, whose keys are "0", "1", ...; their addresses are stable
  bool is_text = false;  ///< a scalar to be quoted in output, so that it is not taken for a number

  const Entry* find(const std::string& key) const;
  Entry* find(const std::string& key);
};

struct Tree::Entry {
  std::string key;
  std::string where;  ///< position of the key
  Tree value;
};

/// Parses one YAML document; throws thor::Error(usage) with FILE:LINE:COLUMN if it is not valid.
Tree read_tree(const std::string& yaml_text, const std::string& name);

/// Parses a value of which every position is `where`.
Tree read_value(const std::string& yaml_text, const std::string& where);

/// Sets or adds the value at the path of "a.b.c=value", which was given at `where`, or else after --set; an override
/// that cannot be applied is added to `faults`.
void apply_override(Tree& root, const std::string& text, Faults& faults, std::string where = "");

/// The keys whose values differ between two documents, one of them perhaps without the key: "a.b.0.c".
std::vector<std::string> differing_keys(const Tree& one, const Tree& other);

std::string to_yaml(const Tree& tree);

/// Text of a single value or a list of values, on one line.
std::string to_inline_yaml(const Tree& tree);

}  // namespace thor::config
