#include "thor/io/result/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "thor/core/error.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/core/memory.hpp"
#include "thor/io/array/input.hpp"
#include "thor/io/partial.hpp"
#include "thor/io/result/parts.hpp"

namespace thor::io {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t block_rows = 65536;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ExitCode::input, fmt::format("{}: {}", path, why));
}

bool is_in(const std::string& path, const std::string& group) { return path == group || path.starts_with(group + "/"); }

/// Calls `job` with a value of the type that an array has.
template <class Job>
void with_type(const std::string& file, const Object& array, const Job& job) {
  if (array.type == "float64") return job(double{});
  if (array.type == "float32") return job(float{});
  if (array.type == "int64") return job(std::int64_t{});
  if (array.type == "uint64") return job(std::uint64_t{});
  refuse(file, fmt::format("the file is damaged: {} holds {}", array.path, array.type));
}

void copy_attributes(const Object& object, ArrayOutput& out) {
  for (const auto& [name, value] : object.attributes) {
    std::visit([&out, &object, &name = name](const auto& v) { out.attribute(object.path, name, v); }, value);
  }
}

void copy_array(const Input& input, const Object& array, ArrayOutput& out) {
  with_type(input.path().string(), array, [&]<class T>(T) {
    const auto values = input.read_all<T>(array.path);
    out.write<T>(array.path, values, array.shape, text(array.attributes, "units"),
                 text(array.attributes, "description"));
  });
}

/// Bytes of a file, or of all that are in a directory.
double size_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return double(fs::file_size(path, error));
  double bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
    if (entry.is_regular_file(error)) bytes += double(entry.file_size(error));
  }
  return bytes;
}

/// The groups and columns of the photons in a part, by name.
using Photons = std::map<std::string, Object>;

class Merger {
 public:
  explicit Merger(const Merge& merge) : merge_(merge), result_(open()), parts_(require_parts()) {
    for (int rank = 0; rank < parts_.count; ++rank) names_.push_back(part_name(merge.result, rank));
    for (int rank = 0; rank < parts_.count; ++rank) check_part(rank);
  }

  void write(const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    const bool replaces = merge_.output.empty();
    const std::string& output = replaces ? merge_.result : merge_.output;
    if (!replaces) {
      detail::require_apart(output, merge_.result);
      for (const std::string& name : names_) detail::require_apart(output, name);
    }
    ArrayOutput out(output, replaces || merge_.overwrite);
    require_room(out);
    copy_photons(out, progress);
    const Input input(merge_.result);
    for (const Object& object : result_.objects) {
      if (is_in(object.path, "/parts")) continue;
      if (object.is_dataset) copy_array(input, object, out);
      copy_attributes(object, out);
    }
    out.finish();
    stop_if_interrupted();
    out.commit(replaces || merge_.overwrite);
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  Result open() const {
    const std::string& path = merge_.result;
    if (std::optional<Result> result = open_result(path)) return *result;
    if (const auto part = part_of(contents(path))) {
      refuse(path, fmt::format("it has the photons of rank {} of {}: give the name of the result, without the number",
                               part->rank, part->ranks));
    }
    refuse(path, "not a result of thor");
  }

  Parts require_parts() const {
    if (result_.of("/photons")) {
      refuse(merge_.result, "it has its photons already; parts beside it can be removed");
    }
    if (std::optional<Parts> parts = parts_of(result_)) return *parts;
    refuse(merge_.result,
           "it has no parts to join: not a run on several ranks with an output of type photons, or the disk was full "
           "(thor info)");
  }

  /// Rows of a column in a part, as the result has it.
  std::uint64_t rows_of(const std::string& column, int rank) const {
    const auto& rows = is_in(column, "/photons/peel") ? parts_.peel : parts_.original;
    return rows.empty() ? 0 : rows[std::size_t(rank)];
  }

  void check_part(int rank) {
    const std::string& name = names_[std::size_t(rank)];
    std::error_code error;
    if (!fs::exists(name, error)) {
      refuse(name, fmt::format("file missing, with the photons of rank {} of {}: copy it beside {}", rank, parts_.count,
                               merge_.result));
    }
    const std::vector<Object> objects = contents(name);
    const auto part = part_of(objects);
    if (!part) refuse(name, fmt::format("not a part of a run: replace it by that of rank {}", rank));
    if (part->run != parts_.run || part->ranks != parts_.count) {
      refuse(name, fmt::format("part of another run than {}: replace it by that of the same run", merge_.result));
    }
    if (part->rank != rank) {
      refuse(name, fmt::format("photons of rank {}; expected those of rank {}: replace the file", part->rank, rank));
    }
    for (const char* what : {"config", "seed", "git_commit"}) {
      if (show(objects.front().attributes, what) != show(result_.root(), what)) {
        refuse(name, fmt::format("its attribute {} is not that of {}: the file was changed", what, merge_.result));
      }
    }
    require_whole(name, objects);
    Photons photons;
    for (const Object& object : objects) {
      if (is_in(object.path, "/photons")) photons[object.path] = object;
    }
    check_columns(name, rank, photons);
    if (rank == 0) photons_ = std::move(photons);
  }

  void check_columns(const std::string& name, int rank, const Photons& photons) {
    const auto damaged = [&](const std::string& why) { refuse(name, "the file is damaged: " + why); };
    if (photons.empty()) damaged("it has no photons");
    const Photons& first = rank == 0 ? photons : photons_;
    if (photons.size() != first.size()) damaged(fmt::format("it has other columns than {}", names_[0]));
    for (const auto& [path, object] : photons) {
      const auto same = first.find(path);
      if (same == first.end() || same->second.is_dataset != object.is_dataset || same->second.type != object.type ||
          same->second.shape.size() != object.shape.size() ||
          (object.shape.size() > 1 && same->second.shape[1] != object.shape[1])) {
        damaged(fmt::format("its {} is not as in {}", path, names_[0]));
      }
      if (!object.is_dataset) continue;
      const std::uint64_t rows = rows_of(path, rank), own = object.shape.empty() ? 0 : object.shape[0];
      if (own != rows) damaged(fmt::format("{} has {} rows, and there were {}", path, own, rows));
      all_rows_ += rows;
    }
  }

  void require_room(const ArrayOutput& out) const {
    double bytes = size_of(merge_.result);
    for (const std::string& name : names_) bytes += size_of(name);
    const double free = detail::free_space(out.path());
    if (free >= bytes) return;
    detail::fail(out.path(), fmt::format("it needs {}, but {} are free", size_text(bytes), size_text(free)),
                 "free some space, or write elsewhere (-o); all files are as they were");
  }

  /// Part by part, so that the rows of all columns stay together.
  void copy_photons(ArrayOutput& out, const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    using Append = std::function<void(const Input&, std::uint64_t rows)>;
    std::map<std::string, Append> columns;
    std::uint64_t done = 0;
    for (const auto& photons : photons_) {
      const auto& path = photons.first;
      const auto& object = photons.second;
      if (!object.is_dataset) continue;
      const std::uint64_t width = object.shape.size() > 1 ? object.shape[1] : 1;
      with_type(names_[0], object, [&]<class T>(T) {
        auto column =
            out.column<T>(path, width, text(object.attributes, "units"), text(object.attributes, "description"));
        columns[path] = [&, &path = path, width, column](const Input& input, std::uint64_t rows) mutable {
          std::vector<T> values;
          for (std::uint64_t first = 0; first < rows; first += block_rows) {
            stop_if_interrupted();
            const std::uint64_t count = std::min(block_rows, rows - first);
            values.resize(count * width);
            input.read<T>(path, first, count, values);
            column.append(values);
            progress(done += count, all_rows_);
          }
        };
      });
    }
    for (int rank = 0; rank < parts_.count; ++rank) {
      const Input input(names_[std::size_t(rank)]);
      for (auto& [path, append] : columns) append(input, rows_of(path, rank));
    }
    for (const auto& [path, object] : photons_) copy_attributes(object, out);
  }

  const Merge& merge_;
  Result result_;
  Parts parts_;
  std::vector<std::string> names_;
  Photons photons_;             ///< of the first part
  std::uint64_t all_rows_ = 0;  ///< of all columns
};

}  // namespace

std::vector<std::string> merge_parts(const Merge& merge,
                                     const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  Merger merger(merge);
  merger.write(progress);
  return merger.names();
}

}  // namespace thor::io
