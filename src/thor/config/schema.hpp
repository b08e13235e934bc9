#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "thor/config/reader.hpp"

/// Every key is declared once, as a Parameter of a Section beside the struct that it fills. The parser, its checks, the
/// manual, the JSON schema and the commented templates all come from these declarations.
namespace thor::config {

struct Schema;

/// What may be written for a key.
enum class Kind { quantity, quantities, integer, text, choice, choices, section, sections };

/// A word that may be written, and what it means.
struct Word {
  std::string name;
  std::string meaning;
};

/// When a key exists: where the key `key` before it in the section is one of `values`; always without one.
struct Condition {
  std::string key;
  std::vector<std::string> values;
};

/// What the declarations of all kinds have in common.
struct Spec {
  std::string meaning;                    ///< one line
  std::optional<std::string> fallback{};  ///< the default, as in a file; without one the key is required
  std::string example{};                  ///< as in a file; without one the default
  Condition when{};
};

struct Parameter {
  std::string key;
  Kind kind = Kind::text;
  Spec spec;
  bool required = false;
  std::vector<Dimension> dimensions{};  ///< of a quantity: one of these
  Bounds bounds{};                      ///< of a quantity, in cgs
  std::uint64_t low = 0, high = 0;      ///< of an integer
  std::size_t size = 1;                 ///< of quantities
  bool increasing = false;              ///< of quantities
  std::vector<Word> words{};            ///< of a choice
  std::string expected{};               ///< of a text
  const Schema* section = nullptr;      ///< of a section; of a choice that may be a map as well
  std::function<void(Reader&, void*)> read;

  bool exists_with(const std::string& value) const;
};

/// The keys of a map.
struct Schema {
  std::string meaning;  ///< Markdown
  std::vector<Parameter> parameters;
  std::vector<std::vector<std::string>> groups;  ///< of keys of which exactly one is given
};

/// Reads all keys into the object that the parameters were declared for.
void read_parameters(const Schema& schema, Reader& reader, void* object);

/// docs/configuration.md: every key of a configuration.
std::string to_markdown(const Schema& root);

/// A JSON schema (draft 2020-12) for editors.
std::string to_json_schema(const Schema& root, const std::string& title);

/// A configuration with every key explained, and those that have a default added as comments.
std::string annotated(const Schema& root, const Tree& configuration, const std::string& title);

/// The paths of all keys, "dataset.dust.tau"; elements of lists as 0.
std::vector<std::string> key_paths(const Schema& root);

}  // namespace thor::config
