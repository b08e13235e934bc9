#include "thor/io/result/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "thor/core/error.hpp"
#include "thor/io/array/input.hpp"
#include "thor/io/partial.hpp"

namespace thor::io {
namespace {

constexpr const char* group = "/parts";
constexpr const char* group_of_part = "/part";
constexpr double most_ranks = 1 << 24;

/// A whole number of an attribute; -1 where there is none.
int whole(const Attributes& attributes, const char* name) {
  const double value = io::number(attributes, name).value_or(-1);
  return value >= 0 && value < most_ranks ? int(value) : -1;
}

}  // namespace

std::string part_name(const std::string& result, int rank) {
  const std::filesystem::path path(result);
  std::filesystem::path name = path.stem();
  name += fmt::format(".{}{}", rank, path.extension().string());
  return (path.parent_path() / name).string();
}

void write_parts(ArrayOutput& file, const Parts& parts) {
  file.attribute(group, "count", std::int64_t(parts.count));
  file.attribute(group, "run", parts.run);
  const auto rows = [&](const char* name, const std::vector<std::uint64_t>& values) {
    const std::string description = fmt::format("rows of /photons/{} in the file of each rank", name);
    if (!values.empty()) file.write(fmt::format("{}/{}", group, name), values, "", description);
  };
  rows("original", parts.original), rows("peel", parts.peel);
}

std::optional<Parts> parts_of(const Result& result) {
  const Attributes* attributes = result.of(group);
  if (!attributes) return std::nullopt;
  Parts parts{whole(*attributes, "count"), text(*attributes, "run")};
  const Input file(result.path);
  const auto rows = [&](const char* name) {
    const std::string path = fmt::format("{}/{}", group, name);
    return result.of(path) ? file.read_all<std::uint64_t>(path) : std::vector<std::uint64_t>{};
  };
  parts.original = rows("original"), parts.peel = rows("peel");
  const auto fits = [&](const auto& values) { return values.empty() || int(values.size()) == parts.count; };
  if (parts.count < 1 || parts.run.empty() || !fits(parts.original) || !fits(parts.peel)) {
    throw Error(ExitCode::input, fmt::format("{}: the file is damaged: its group {}", result.path, group));
  }
  return parts;
}

void write_part(ArrayOutput& file, const Part& part) {
  file.attribute(group_of_part, "rank", std::int64_t(part.rank));
  file.attribute(group_of_part, "ranks", std::int64_t(part.ranks));
  file.attribute(group_of_part, "run", part.run);
}

std::optional<Part> part_of(const std::vector<Object>& objects) {
  const auto found = std::ranges::find(objects, group_of_part, &Object::path);
  if (found == objects.end()) return std::nullopt;
  return Part{whole(found->attributes, "rank"), whole(found->attributes, "ranks"), text(found->attributes, "run")};
}

void require_no_part(const std::string& name, const std::vector<Object>& objects) {
  const auto part = part_of(objects);
  if (!part) return;
  throw Error(ExitCode::input,
              fmt::format("{}: this file has the raw photons of rank {} of {}: join them with `thor merge RESULT`, "
                          "without the number",
                          name, part->rank, part->ranks));
}

void require_part(const std::string& name, int rank) {
  std::error_code none;
  const auto type = std::filesystem::status(name, none).type();
  if (type == std::filesystem::file_type::not_found) return;
  try {
    // A pipe would wait for somebody to write to it.
    if (type == std::filesystem::file_type::regular || type == std::filesystem::file_type::directory) {
      const auto part = part_of(contents(name));
      if (part && part->rank == rank) return;
    }
  } catch (const Error&) {  // whatever it is
  }
  detail::fail(name, fmt::format("it does not hold the raw photons of rank {} of another run", rank),
               "move or remove it, or give another name (-o)");
}

std::map<int, std::string> parts_beside(const std::string& result) {
  std::map<int, std::string> found;
  std::error_code none;
  try {
    // A pipe would wait for somebody to write to it.
    if (!std::filesystem::is_regular_file(result, none) && !std::filesystem::is_directory(result, none)) return found;
    const auto opened = open_result(result);
    const auto parts = opened ? parts_of(*opened) : std::nullopt;
    for (int rank = 0; parts && rank < parts->count; ++rank) {
      const std::string name = part_name(result, rank);
      if (!std::filesystem::exists(name, none)) continue;
      const auto part = part_of(contents(name));
      if (part && part->run == parts->run) found[rank] = name;
    }
  } catch (const Error&) {  // it is replaced, whatever it is
  }
  return found;
}

std::string names_of_parts(const std::string& result, int count) {
  return fmt::format("{}{}{}", part_name(result, 0), count > 2 ? " to " : ", ", part_name(result, count - 1));
}

}  // namespace thor::io
