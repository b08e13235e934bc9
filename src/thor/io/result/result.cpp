#include "thor/io/result/result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "thor/core/error.hpp"
#include "thor/io/result_format.hpp"

namespace thor::io {

const Attributes* Result::of(const std::string& object) const {
  for (const Object& o : objects) {
    if (o.path == object) return &o.attributes;
  }
  return nullptr;
}

bool Result::is_complete() const {
  const auto found = summary().find("complete");
  return found != summary().end() && std::holds_alternative<bool>(found->second) && std::get<bool>(found->second);
}

std::vector<std::string> Result::lines(const std::string& name) const {
  const auto found = summary().find(name);
  std::vector<std::string> lines;
  if (found == summary().end() || !std::holds_alternative<std::string>(found->second)) return lines;
  std::istringstream text(std::get<std::string>(found->second));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::optional<Result> open_result(const std::string& path) {
  Result result{path, contents(path)};
  const auto fail = [&](const std::string& why) { throw Error(ExitCode::input, path + ": " + why); };
  const Attributes& root = result.root();
  if (!root.count("thor_version") || !root.count("format_version") || !result.of("/summary")) return std::nullopt;
  const auto* version = std::get_if<std::int64_t>(&root.at("format_version"));
  if (!version || *version < 1) fail("its format_version is damaged");
  if (*version > result_format_version) {
    fail(fmt::format("written by thor {} in format {}; this thor reads up to {}: use that one or a newer",
                     show(root, "thor_version"), *version, result_format_version));
  }
  require_whole(path, result.objects);
  return result;
}

void refuse_as_result(const std::string& path, const std::vector<Object>& objects, const char* other) {
  const auto root = std::ranges::find(objects, "/", &Object::path);
  const std::string kind = root == objects.end() ? "" : text(root->attributes, "kind");
  const char* what = kind == "sweep" ? "the result of a sweep: `thor info` describes it, docs/sweeps.md how it is read"
                     : kind == "fit" ? "the result of a fit: docs/fits.md says how it is read"
                     : kind == "emulator" ? "an emulator, for `thor fit --model`"
                                          : other;
  throw Error(ExitCode::input, fmt::format("{}: {}", path, what));
}

std::string show(const Attributes& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return "?";
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::vector<double>>) {
          return fmt::format("{}", fmt::join(v, " "));
        } else if constexpr (std::is_same_v<T, double>) {
          return fmt::format("{:.6g}", v);
        } else {
          return fmt::format("{}", v);
        }
      },
      found->second);
}

std::string text(const Attributes& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  const auto* value = found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return value ? *value : "";
}

std::optional<double> number(const Attributes& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return std::nullopt;
  return std::visit(
      [](const auto& v) -> std::optional<double> {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string> ||
                      std::is_same_v<T, std::vector<double>>)
          return std::nullopt;
        else
          return std::isfinite(double(v)) ? std::optional(double(v)) : std::nullopt;
      },
      found->second);
}

}  // namespace thor::io
