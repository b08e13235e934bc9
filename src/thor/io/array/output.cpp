#include "thor/io/array/output.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "thor/core/error.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/io/array/sink.hpp"

namespace thor::io {
namespace {

constexpr std::uint64_t whole_bytes = 4 << 20;  ///< arrays up to this are in one piece

/// As near to a cube as the shape allows: short dimensions are whole, the others share what is left. Of 64^3 values, or
/// 128^3 in large arrays: HDF5 and file systems suffer from very many.
std::vector<std::uint64_t> chunk_of(const std::vector<std::uint64_t>& shape, std::uint64_t values) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t d) { return shape[d]; });
  std::vector<std::uint64_t> chunk(shape.size());
  double left = values <= std::uint64_t{1} << 27 ? 1 << 18 : 1 << 21;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double side = std::floor(std::pow(left, 1.0 / double(order.size() - i)) + 1e-6);
    chunk[order[i]] = std::clamp<std::uint64_t>(std::uint64_t(side), 1, shape[order[i]]);
    left /= double(chunk[order[i]]);
  }
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
  std::unique_ptr<detail::ArraySink> sink;
  bool stoppable;
};

ArrayOutput::ArrayOutput(const std::filesystem::path& path, bool overwrite, bool stoppable)
    : impl_(std::make_unique<Impl>()) {
  const std::filesystem::path name = path.has_filename() ? path : path.parent_path();  // without a slash at the end
  impl_->sink = name.extension() == ".zarr" ? detail::new_zarr(name, overwrite) : detail::new_hdf5(path, overwrite);
  impl_->stoppable = stoppable;
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
  if (impl_->stoppable) stop_if_interrupted();
  std::uint64_t size = 1;
  for (const auto n : shape) size *= n;
  if (shape.empty() || size != values.size()) {
    throw Error(ExitCode::internal, path + ": its shape is not that of its values");
  }
  if (level < 0 || level > 9) throw Error(ExitCode::internal, path + ": the level of deflate is 0 to 9");
  detail::Array array{std::as_bytes(values),    stored<T>(), sizeof(T), shape, {}, std::string(units),
                      std::string(description), level};
  if (values.size_bytes() > whole_bytes) array.chunk = chunk_of(shape, size);
  impl_->sink->write(path, array);
}

template <Stored T>
Column<T> ArrayOutput::column(const std::string& path, std::size_t width, std::string_view units,
                              std::string_view description) {
  if (width == 0) throw Error(ExitCode::internal, path + ": a column of width 0");
  return Column<T>(
      impl_->sink->column(path, stored<T>(), sizeof(T), width, std::string(units), std::string(description)));
}

void ArrayOutput::reserve(std::uint64_t bytes) { impl_->sink->reserve(bytes); }
void ArrayOutput::finish() { impl_->sink->finish(); }
void ArrayOutput::commit(bool overwrite) { impl_->sink->commit(overwrite); }
const std::filesystem::path& ArrayOutput::path() const { return impl_->sink->path(); }
const std::filesystem::path& ArrayOutput::partial_path() const { return impl_->sink->partial_path(); }

#define THOR_STORED(T)                                                                                            \
  template class Column<T>;                                                                                       \
  template Column<T> ArrayOutput::column<T>(const std::string&, std::size_t, std::string_view, std::string_view); \
  template void ArrayOutput::write<T>(const std::string&, std::span<const T>, const std::vector<std::uint64_t>&,  \
                                      std::string_view, std::string_view, int);
THOR_STORED(float)
THOR_STORED(double)
THOR_STORED(std::int64_t)
THOR_STORED(std::uint64_t)
#undef THOR_STORED

}  // namespace thor::io
