#include "thor/io/array/output.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "thor/core/error.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/io/array/sink.hpp"

namespace thor::io {
namespace {

constexpr std::uint64_t whole_bytes = 4 << 20;  ///< arrays up to this are in one piece

using Shape = std::vector<std::uint64_t>;

std::uint64_t values_in(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

/// As near to a cube as the shape allows: short dimensions are whole, the others share what is left.
Shape cube_in(const Shape& shape, double values) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t d) { return shape[d]; });
  Shape cube(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double side = std::floor(std::pow(values, 1.0 / double(order.size() - i)) + 1e-6);
    cube[order[i]] = std::clamp<std::uint64_t>(std::uint64_t(side), 1, shape[order[i]]);
    values /= double(cube[order[i]]);
  }
  return cube;
}

/// Chunks of 64^3 values, or 128^3 in large arrays: HDF5 and file systems suffer from very many. Where the array is
/// written in parts of `rows`, a part is a whole number of chunks.
Shape chunk_of(const Shape& shape, std::uint64_t rows) {
  const double values = values_in(shape) <= std::uint64_t{1} << 27 ? 1 << 18 : 1 << 21;
  Shape chunk = cube_in(shape, values);
  if (rows >= shape[0]) return chunk;
  std::uint64_t along = std::min(chunk[0], rows);
  while (rows % along != 0) --along;
  const Shape rest(shape.begin() + 1, shape.end());
  chunk = cube_in(rest, values / double(along));
  for (std::size_t d = 0; d < rest.size(); ++d) {  // evenly, since what is beyond the edge takes room too
    const std::uint64_t pieces = (rest[d] + chunk[d] - 1) / chunk[d];
    chunk[d] = (rest[d] + pieces - 1) / pieces;
  }
  chunk.insert(chunk.begin(), along);
  return chunk;
}

template <class T>
constexpr detail::Type stored() {
  if constexpr (std::is_same_v<T, float>) return detail::Type::float32;
  if constexpr (std::is_same_v<T, double>) return detail::Type::float64;
  if constexpr (std::is_same_v<T, std::int64_t>) return detail::Type::int64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return detail::Type::uint64;
}

}  // namespace

namespace detail {

void OpenColumn::append(std::span<const std::byte> bytes) {
  const std::size_t full = chunk_rows * row_bytes();
  while (!bytes.empty()) {
    const std::size_t part = std::min(bytes.size(), full - buffer_.size());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + std::ptrdiff_t(part));
    bytes = bytes.subspan(part);
    if (buffer_.size() == full) flush();
  }
}

void OpenColumn::finish() {
  if (!buffer_.empty() || chunk_ == 0) flush();
  closed = true;
}

void OpenColumn::flush() {
  const std::uint64_t rows = buffer_.size() / row_bytes();
  if (chunk_ == 0) chunk_ = std::max<std::uint64_t>(rows, 1);
  put(rows_on_disk_, buffer_);
  rows_on_disk_ += rows;
  buffer_.clear();
}

}  // namespace detail

template <Stored T>
void Column<T>::append(std::span<const T> values) {
  if (!column_ || column_->closed) {
    throw Error(ExitCode::internal, "a column is appended to after its file was closed");
  }
  if (values.size() % column_->width != 0) {
    throw Error(ExitCode::internal, column_->path + ": append takes whole rows");
  }
  column_->append(std::as_bytes(values));
}

template <Stored T>
std::uint64_t Column<T>::rows() const {
  return column_ ? column_->rows() : 0;
}

struct ArrayOutput::Impl {
  /// An array that is written in parts.
  struct Open {
    detail::Array array;
    std::uint64_t rows = 0, next = 0;  ///< of a part, and the first that is missing
  };

  std::unique_ptr<detail::ArraySink> sink;
  bool stoppable;
  std::map<std::string, Open> open;

  void require_whole() const {
    for (const auto& [path, part] : open) {
      if (part.next < part.array.shape[0]) throw Error(ExitCode::internal, path + ": some of its rows are missing");
    }
  }
};

ArrayOutput::ArrayOutput(const std::filesystem::path& path, bool overwrite, bool stoppable)
    : impl_(std::make_unique<Impl>()) {
  const std::filesystem::path name = path.has_filename() ? path : path.parent_path();  // without a slash at the end
  impl_->sink = name.extension() == ".zarr" ? detail::new_zarr(name, overwrite) : detail::new_hdf5(path, overwrite);
  impl_->stoppable = stoppable;
}

ArrayOutput::ArrayOutput() : impl_(std::make_unique<Impl>()) {}
ArrayOutput ArrayOutput::join(const std::filesystem::path& path) {
  ArrayOutput output;
  output.impl_->sink = detail::join_zarr(path.has_filename() ? path : path.parent_path());
  output.impl_->stoppable = true;
  return output;
}

ArrayOutput::~ArrayOutput() = default;
ArrayOutput::ArrayOutput(ArrayOutput&&) noexcept = default;
ArrayOutput& ArrayOutput::operator=(ArrayOutput&&) noexcept = default;

void ArrayOutput::set_bool(const std::string& object, const std::string& name, bool value) {
  impl_->sink->attribute(object, name, value);
}
void ArrayOutput::set_double(const std::string& object, const std::string& name, double value) {
  impl_->sink->attribute(object, name, value);
}
void ArrayOutput::set_signed(const std::string& object, const std::string& name, std::int64_t value) {
  impl_->sink->attribute(object, name, value);
}
void ArrayOutput::set_unsigned(const std::string& object, const std::string& name, std::uint64_t value) {
  impl_->sink->attribute(object, name, value);
}
void ArrayOutput::set_text(const std::string& object, const std::string& name, std::string_view value) {
  impl_->sink->attribute(object, name, std::string(value));
}
void ArrayOutput::set_doubles(const std::string& object, const std::string& name, std::span<const double> values) {
  impl_->sink->attribute(object, name, std::vector<double>(values.begin(), values.end()));
}

template <class T>
void ArrayOutput::write(const std::string& path, std::span<const T> values, const std::vector<std::uint64_t>& shape,
                        std::string_view units, std::string_view description, int level) {
  if (shape.empty() || values_in(shape) != values.size()) {
    throw Error(ExitCode::internal, path + ": its shape is not that of its values");
  }
  begin<T>(path, shape, shape[0], units, description, level);
  append<T>(path, values);
}

template <Stored T>
void ArrayOutput::begin(const std::string& path, const std::vector<std::uint64_t>& shape, std::uint64_t rows,
                        std::string_view units, std::string_view description, int level) {
  if (impl_->stoppable) stop_if_interrupted();
  if (shape.empty() || (rows == 0 && values_in(shape) > 0)) {
    throw Error(ExitCode::internal, path + ": an array has dimensions, and is written in parts of some rows");
  }
  if (level < 0 || level > 9) throw Error(ExitCode::internal, path + ": the level of deflate is 0 to 9");
  detail::Array array{stored<T>(), sizeof(T), shape, {}, std::string(units), std::string(description), level};
  const std::uint64_t values = values_in(shape);
  if (values > 0 && (values * sizeof(T) > whole_bytes || rows < shape[0])) array.chunk = chunk_of(shape, rows);
  impl_->sink->create(path, array);
  impl_->open[path] = {std::move(array), rows, 0};
}

template <Stored T>
void ArrayOutput::append(const std::string& path, std::span<const T> values) {
  if (impl_->stoppable) stop_if_interrupted();
  const auto found = impl_->open.find(path);
  if (found == impl_->open.end()) throw Error(ExitCode::internal, path + ": no array to append to");
  auto& [array, rows, next] = found->second;
  const std::uint64_t count = std::min(rows, array.shape[0] - next);
  if (array.type != stored<T>() || values.size_bytes() != count * array.row_bytes()) {
    throw Error(ExitCode::internal, path + ": this is not the part that follows");
  }
  impl_->sink->put(path, array, next, std::as_bytes(values));
  next += count;
}

void ArrayOutput::skip(const std::string& path) {
  auto& [array, rows, next] = impl_->open.at(path);
  next += std::min(rows, array.shape[0] - next);
}

template <Stored T>
Column<T> ArrayOutput::column(const std::string& path, std::size_t width, std::string_view units,
                              std::string_view description) {
  if (width == 0) throw Error(ExitCode::internal, path + ": a column of width 0");
  return Column<T>(
      impl_->sink->column(path, stored<T>(), sizeof(T), width, std::string(units), std::string(description)));
}

void ArrayOutput::add_checksums() { impl_->sink->add_checksums(); }
void ArrayOutput::reserve(std::uint64_t bytes) { impl_->sink->reserve(bytes); }
void ArrayOutput::flush() { impl_->sink->flush(); }
void ArrayOutput::finish() {
  impl_->require_whole();
  impl_->sink->finish();
}
void ArrayOutput::commit(bool overwrite) {
  impl_->require_whole();
  impl_->sink->commit(overwrite);
}
const std::filesystem::path& ArrayOutput::path() const { return impl_->sink->path(); }
const std::filesystem::path& ArrayOutput::partial_path() const { return impl_->sink->partial_path(); }

#define THOR_STORED(T)                                                                                            \
  template class Column<T>;                                                                                       \
  template Column<T> ArrayOutput::column<T>(const std::string&, std::size_t, std::string_view, std::string_view); \
  template void ArrayOutput::begin<T>(const std::string&, const std::vector<std::uint64_t>&, std::uint64_t,       \
                                      std::string_view, std::string_view, int);                                   \
  template void ArrayOutput::append<T>(const std::string&, std::span<const T>);                                   \
  template void ArrayOutput::write<T>(const std::string&, std::span<const T>, const std::vector<std::uint64_t>&,  \
                                      std::string_view, std::string_view, int);
THOR_STORED(float)
THOR_STORED(double)
THOR_STORED(std::int64_t)
THOR_STORED(std::uint64_t)
#undef THOR_STORED

}  // namespace thor::io
