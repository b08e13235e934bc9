#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "thor/config/reader.hpp"

/// Every key is declared once, as a Parameter of a Section next to the struct that it fills. The parser, its checks,
/// the manual, the JSON schema and the commented templates all come from these declarations.
namespace thor::config {

struct Schema;

/// Kinds of values that a key may have.
enum class Kind { quantity, quantities, integer, text, choice, choices, section, sections };

/// An allowed word and its meaning.
struct Word {
  std::string name;
  std::string meaning;
};

/// Condition under which a key exists: the earlier key `key` of the section has one of `values`; without one, always.
struct Condition {
  std::string key;
  std::vector<std::string> values;
};

/// Common part of the declarations of all kinds.
struct Spec {
  std::string meaning;                    ///< one line
  std::optional<std::string> fallback{};  ///< default, as written in a file; without one the key is required
  std::string example{};                  ///< as written in a file; the default if empty
  Condition when{};
};

struct Parameter {
  std::string key;
  Kind kind = Kind::text;
  Spec spec;
  bool required = false;
  std::vector<Dimension> dimensions{};  ///< quantity: one of these
  Bounds bounds{};                      ///< quantity, in cgs
  std::uint64_t low = 0, high = 0;      ///< limits of an integer
  std::size_t size = 1;                 ///< number of quantities
  bool increasing = false;              ///< quantities must increase
  std::vector<Word> words{};            ///< allowed words of a choice
  std::string expected{};               ///< what a text should be, for messages
  const Schema* section = nullptr;      ///< keys of a section, or of a choice that may also be a map
  std::function<void(Reader&, void*)> read;

  bool exists_with(const std::string& value) const;
};

/// The keys of a map.
struct Schema {
  std::string meaning;  ///< Markdown
  std::vector<Parameter> parameters;
  std::vector<std::vector<std::string>> groups;  ///< groups of keys, of each of which exactly one is given
};

/// Reads all keys into the object that the parameters were declared for.
void read_parameters(const Schema& schema, Reader& reader, void* object);

/// Text of docs/configuration.md: every configuration key.
std::string to_markdown(const Schema& root);

/// A JSON schema (draft 2020-12) for editors.
std::string to_json_schema(const Schema& root, const std::string& title);

/// The configuration with every key explained, and keys left at their default added as comments.
std::string annotated(const Schema& root, const Tree& configuration, const std::string& title);

/// Paths of all keys, "dataset.dust.tau"; list elements are written as 0.
std::vector<std::string> key_paths(const Schema& root);

}  // namespace thor::config
