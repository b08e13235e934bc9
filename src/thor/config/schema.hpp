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

/// The kind of value that a key takes.
enum class Kind { quantity, quantities, integer, text, choice, choices, section, sections };

/// A word that a choice accepts, and its meaning.
struct Word {
  std::string name;
  std::string meaning;
};

/// Condition for a key: that `key`, declared before it in the section, has one of `values`. Without `key` there is no
/// condition.
struct Condition {
  std::string key;
  std::vector<std::string> values;
};

/// Parts common to the declarations of all kinds.
struct Spec {
  std::string meaning;                    ///< one line
  std::optional<std::string> fallback{};  ///< default value as written in a file; without one the key is required
  std::string example{};                  ///< as written in a file; the default value if empty
  Condition when{};
  /// Of a choice: another default where the key `key` is given.
  struct Beside {
    std::string key{}, fallback{};
  } beside{};

  /// The default, given whether a key is there.
  std::optional<std::string> fallback_in(const auto& has) const {
    return !beside.key.empty() && has(beside.key) ? beside.fallback : fallback;
  }
};

struct Parameter {
  std::string key;
  Kind kind = Kind::text;
  Spec spec;
  bool required = false;
  std::vector<Dimension> dimensions{};  ///< quantity: any of these
  Bounds bounds{};                      ///< quantity, in cgs
  std::uint64_t low = 0, high = 0;      ///< integer
  std::size_t size = 1;                 ///< quantities: their number
  bool increasing = false;              ///< quantities
  std::vector<Word> words{};            ///< choice
  std::string expected{};               ///< text
  const Schema* section = nullptr;      ///< section; choice that may also be a map
  std::function<void(Reader&, void*)> read;

  bool exists_with(const std::string& value) const;
};

/// The keys of a map.
struct Schema {
  std::string meaning;  ///< Markdown
  std::vector<Parameter> parameters;
  std::vector<std::vector<std::string>> groups;  ///< keys of which exactly one is given
};

/// Reads all keys into `object`, of the type that the parameters were declared for.
void read_parameters(const Schema& schema, Reader& reader, void* object);

/// Text of docs/configuration.md: every configuration key, also those of the raytracing driver.
std::string to_markdown(const Schema& root, const Schema* rays = nullptr);

/// A JSON schema (draft 2020-12) for editors.
std::string to_json_schema(const Schema& root, const std::string& title);

/// The configuration with every key explained, and keys left at their default added as comments.
std::string annotated(const Schema& root, const Tree& configuration, const std::string& title);

/// Paths of all keys, "dataset.dust.tau"; list elements are written as 0.
std::vector<std::string> key_paths(const Schema& root);

}  // namespace thor::config
