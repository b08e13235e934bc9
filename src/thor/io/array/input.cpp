#include "thor/io/array/input.hpp"

#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <new>
#include <system_error>

#include "thor/core/error.hpp"
#include "thor/io/array/input_source.hpp"

namespace thor::io {
namespace fs = std::filesystem;

namespace detail {

void fail_input(const std::string& name, const std::string& why) {
  throw Error(ExitCode::input, "cannot read " + name + ": " + why);
}

std::uint64_t volume(const Index& extent, const std::string& name) {
  std::uint64_t out = 1;
  for (const auto n : extent) {
    if (n == 0) return 0;
    if (__builtin_mul_overflow(out, n, &out) || out > std::uint64_t{1} << 60)
      fail_input(name, "its shape is too large");
  }
  return out;
}

std::string relative(const std::string& object) {
  const auto first = object.find_first_not_of('/');
  if (first == std::string::npos) return "";
  return object.substr(first, object.find_last_not_of('/') + 1 - first);
}

void read_at(int descriptor, std::uint64_t position, std::span<std::byte> out, const std::string& name) {
  while (!out.empty()) {
    const ssize_t got = pread(descriptor, out.data(), out.size(), off_t(position));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_input(name, std::generic_category().message(errno));
    if (got == 0) fail_input(name, "the file is truncated (an incomplete copy?)");
    position += std::uint64_t(got);
    out = out.subspan(std::size_t(got));
  }
}

namespace {

std::unique_ptr<InputSource> open_any(const fs::path& path) {
  const std::string name = "'" + path.string() + "'";
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail_input(name, "there is no such file");
  if (error) fail_input(name, error.message());
  if (fs::is_directory(status)) return open_zarr(path);
  if (!fs::is_regular_file(status)) fail_input(name, "it is neither a file nor a directory");
  if (access(path.c_str(), R_OK) != 0) fail_input(name, std::generic_category().message(errno));
  return open_hdf5(path);
}

}  // namespace
}  // namespace detail

struct Input::Impl {
  fs::path path;
  std::unique_ptr<detail::InputSource> source;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const detail::Storage>> open;

  std::string name(const std::string& object) const {
    return "'" + path.string() + "', array '" + detail::relative(object) + "'";
  }
  std::shared_ptr<const detail::Storage> storage(const std::string& object) {
    const std::lock_guard lock(mutex);
    auto& storage = open[detail::relative(object)];
    if (!storage) storage = source->storage(object);
    return storage;
  }
};

Input::Input(const fs::path& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->source = detail::open_any(path);
}

Input::~Input() = default;
Input::Input(Input&&) noexcept = default;
Input& Input::operator=(Input&&) noexcept = default;

const fs::path& Input::path() const { return impl_->path; }
bool Input::has(const std::string& object) const { return impl_->source->has(object); }
std::vector<std::string> Input::children(const std::string& group) const { return impl_->source->children(group); }
ArrayInfo Input::array(const std::string& path) const { return impl_->source->array(path); }

void Input::require_whole(const std::string& path) const { impl_->storage(path); }

bool Input::is_written(const std::string& path) const { return impl_->source->is_written(path); }

bool Input::has_attribute(const std::string& object, const std::string& name) const {
  return impl_->source->has_attribute(object, name);
}

std::vector<double> Input::numbers(const std::string& object, const std::string& name) const {
  return impl_->source->numbers(object, name);
}

std::optional<double> Input::number(const std::string& object, const std::string& name) const {
  const auto all = numbers(object, name);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::optional<std::string> Input::text(const std::string& object, const std::string& name) const {
  return impl_->source->text(object, name);
}

template <class T>
void Input::read(const std::string& path, std::uint64_t first, std::uint64_t count, std::span<T> values) const {
  const auto storage = impl_->storage(path);
  const std::uint64_t rows = storage->shape[0];
  if (first > rows || count > rows - first) {
    detail::fail_input(storage->name, "rows " + std::to_string(first) + " to " + std::to_string(first + count) +
                                          " are requested, but it has " + std::to_string(rows));
  }
  detail::Index part = storage->shape;
  part[0] = count;
  if (detail::volume(part, storage->name) != values.size()) {
    throw Error(ExitCode::internal, storage->name + ": the buffer has the wrong size");
  }
  detail::read_rows(*storage, first, count, values.data());
}

template <class T>
std::vector<T> Input::read_all(const std::string& path) const {
  const auto storage = impl_->storage(path);
  const std::uint64_t size = detail::volume(storage->shape, storage->name);
  std::vector<T> values;
  try {
    values.resize(size);
  } catch (const std::exception&) {  // bad_alloc, or length_error
    throw Error(ExitCode::device,
                "out of memory: no room for the " + std::to_string(size) + " values of " + storage->name);
  }
  detail::read_rows(*storage, 0, storage->shape[0], values.data());
  return values;
}

template <class T>
void Input::read_blocks(const std::string& path, int threads, const std::function<void(const Block<T>&)>& take,
                        const WantedBox& wanted) const {
  detail::read_blocks(*impl_->storage(path), threads, take, wanted);
}

#define THOR_INPUT(T)                                                                                       \
  template void Input::read<T>(const std::string&, std::uint64_t, std::uint64_t, std::span<T>) const;       \
  template std::vector<T> Input::read_all<T>(const std::string&) const;                                     \
  template void Input::read_blocks<T>(const std::string&, int, const std::function<void(const Block<T>&)>&, \
                                      const WantedBox&) const;
THOR_INPUT(float)
THOR_INPUT(double)
THOR_INPUT(std::int64_t)
THOR_INPUT(std::uint64_t)
#undef THOR_INPUT

}  // namespace thor::io
