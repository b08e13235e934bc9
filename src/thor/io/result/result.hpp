#pragma once
#include <optional>

#include "thor/io/array/contents.hpp"

namespace thor::io {

using Attributes = std::map<std::string, Attribute>;

/// A result file of thor, as it describes itself.
struct Result {
  std::string path;
  std::vector<Object> objects;

  const Attributes& root() const { return *of("/"); }
  const Attributes& summary() const { return *of("/summary"); }
  bool is_complete() const;

  /// Attributes of a group or dataset; null if there is none.
  const Attributes* of(const std::string& object) const;

  /// Lines of an attribute of the summary that has several texts: `caveats`, `warnings`.
  std::vector<std::string> lines(const std::string& name) const;
};

/// None where the file is not a result of thor. Error(input) where it is damaged, incomplete or of a newer format.
std::optional<Result> open_result(const std::string& path);
/// Error(input) that says what a file is that is no result of a run.
[[noreturn]] void refuse_as_result(const std::string& path, const std::vector<Object>& objects,
                                   const char* other = "not a result of thor");

/// Value of an attribute as text; "?" where it is missing.
std::string show(const Attributes& attributes, const std::string& name);

/// Text of an attribute; "" where it is missing or no text.
std::string text(const Attributes& attributes, const std::string& name);

/// Number of an attribute; none where it is missing, no number or not finite.
std::optional<double> number(const Attributes& attributes, const std::string& name);

}  // namespace thor::io
