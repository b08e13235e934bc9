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
constexpr detail::Stored stored() {
  if constexpr (std::is_same_v<T, float>) return detail::Stored::float32;
  if constexpr (std::is_same_v<T, double>) return detail::Stored::float64;
  if constexpr (std::is_same_v<T, std::int64_t>) return detail::Stored::int64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return detail::Stored::uint64;
}

}  // namespace

struct ArrayOutput::Impl {
  std::unique_ptr<detail::ArraySink> sink;
};

ArrayOutput::ArrayOutput(const std::filesystem::path& path, bool overwrite) : impl_(std::make_unique<Impl>()) {
  const std::filesystem::path name = path.has_filename() ? path : path.parent_path();  // without a slash at the end
  impl_->sink = name.extension() == ".zarr" ? detail::new_zarr(name, overwrite) : detail::new_hdf5(path, overwrite);
}

ArrayOutput::~ArrayOutput() = default;
ArrayOutput::ArrayOutput(ArrayOutput&&) noexcept = default;
ArrayOutput& ArrayOutput::operator=(ArrayOutput&&) noexcept = default;

void ArrayOutput::attribute(const std::string& object, const std::string& name, double value) {
  impl_->sink->attribute(object, name, value);
}
void ArrayOutput::attribute(const std::string& object, const std::string& name, std::int64_t value) {
  impl_->sink->attribute(object, name, value);
}
void ArrayOutput::attribute(const std::string& object, const std::string& name, bool value) {
  impl_->sink->attribute(object, name, value);
}
void ArrayOutput::attribute(const std::string& object, const std::string& name, std::string_view value) {
  impl_->sink->attribute(object, name, std::string(value));
}
void ArrayOutput::attribute(const std::string& object, const std::string& name, std::span<const double> values) {
  impl_->sink->attribute(object, name, std::vector<double>(values.begin(), values.end()));
}

template <class T>
void ArrayOutput::write(const std::string& path, std::span<const T> values, const std::vector<std::uint64_t>& shape,
                        std::string_view units, std::string_view description, int level) {
  stop_if_interrupted();
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

void ArrayOutput::commit(bool overwrite) { impl_->sink->commit(overwrite); }

#define THOR_WRITE(T)                                                                                            \
  template void ArrayOutput::write<T>(const std::string&, std::span<const T>, const std::vector<std::uint64_t>&, \
                                      std::string_view, std::string_view, int);
THOR_WRITE(float)
THOR_WRITE(double)
THOR_WRITE(std::int64_t)
THOR_WRITE(std::uint64_t)
#undef THOR_WRITE

}  // namespace thor::io
