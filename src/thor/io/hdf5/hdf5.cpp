#include "thor/io/hdf5/hdf5.hpp"

#include <utility>

#include "thor/core/error.hpp"
#include "thor/io/hdf5/open.hpp"

namespace thor::io {
namespace fs = std::filesystem;

using detail::absolute, detail::disk_type, detail::memory_type;

template <Stored T>
void Column<T>::append(std::span<const T> values) {
  quiet();
  if (!column_ || !column_->file) {
    throw Error(ExitCode::internal, "a column is appended to after its file was closed");
  }
  if (values.size() % column_->width != 0) {
    throw Error(ExitCode::internal, column_->path + ": append takes whole rows");
  }
  const auto bytes = std::as_bytes(values);
  column_->append(bytes.data(), bytes.size());
}

template <Stored T>
std::uint64_t Column<T>::rows() const {
  return column_ ? column_->rows_on_disk + column_->buffered() : 0;
}

File::File(const fs::path& path, bool overwrite) : file_(std::make_unique<detail::OpenFile>()) {
  file_->create(path, overwrite);
}

File::~File() = default;
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;

const fs::path& File::path() const { return file_->path; }
const fs::path& File::partial_path() const { return file_->partial; }

void File::reserve(std::uint64_t bytes) { file_->reserve(bytes); }
void File::finish() { file_->finish(); }
void File::commit(bool overwrite) { file_->commit(overwrite); }

void File::set_text(const std::string& object, const std::string& name, std::string_view value) {
  file_->enter();
  const std::string path = absolute(object);
  file_->put_text(path, file_->object(path), name, value);
}

void File::set_bool(const std::string& object, const std::string& name, bool value) {
  file_->enter();
  const std::string path = absolute(object);
  file_->put_bool(path, file_->object(path), name, value);
}

template <Stored T>
void File::set_number(const std::string& object, const std::string& name, T value) {
  file_->enter();
  const std::string path = absolute(object);
  file_->put(path, file_->object(path), name, memory_type<T>(), disk_type<T>(), &value);
}

template <Stored T>
void File::write_values(const std::string& path, std::span<const T> values, std::string_view units,
                        std::string_view description) {
  file_->enter();
  const std::string name = absolute(path);
  const std::string what = "dataset " + name;
  file_->require_new(name);
  const hsize_t size = values.size();
  const Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  Id dataset = file_->create_dataset(name, disk_type<T>(), space, nullptr);
  if (size > 0) {
    file_->check(H5Dwrite(dataset, memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), what);
  }
  file_->label(name, dataset, units, description);
  file_->check(dataset.reset(), what);
}

template <Stored T>
Column<T> File::column(const std::string& path, std::size_t width, std::string_view units,
                       std::string_view description) {
  file_->enter();
  const std::string name = absolute(path);
  file_->require_new(name);
  if (width == 0) throw Error(ExitCode::internal, name + ": a column of width 0");
  auto column = std::make_shared<detail::OpenColumn>();
  column->file = file_.get();
  column->path = name;
  column->memory = memory_type<T>();
  column->disk = disk_type<T>();
  column->width = width;
  column->row_bytes = width * sizeof(T);
  column->units = units;
  column->description = description;
  file_->columns.push_back(column);
  return Column<T>(std::move(column));
}

#define THOR_STORED(T)                                                                                             \
  template class Column<T>;                                                                                        \
  template Column<T> File::column<T>(const std::string&, std::size_t, std::string_view, std::string_view);         \
  template void File::write_values<T>(const std::string&, std::span<const T>, std::string_view, std::string_view); \
  template void File::set_number<T>(const std::string&, const std::string&, T);
THOR_STORED(float)
THOR_STORED(double)
THOR_STORED(std::int64_t)
THOR_STORED(std::uint64_t)
#undef THOR_STORED

std::string version() {
  quiet();
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace thor::io
