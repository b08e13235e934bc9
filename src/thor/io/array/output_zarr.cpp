#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "thor/core/error.hpp"
#include "thor/io/array/input_source.hpp"
#include "thor/io/array/sink.hpp"
#include "thor/io/partial.hpp"
#include "thor/io/zarr/codec.hpp"
#include "thor/io/zarr/zarr.hpp"

namespace thor::io::detail {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they are in memory");

const char* dtype(Stored type) {
  switch (type) {
    case Stored::float32:
      return "<f4";
    case Stored::float64:
      return "<f8";
    case Stored::int64:
      return "<i8";
    case Stored::uint64:
      break;
  }
  return "<u8";
}

/// JSON has no words for these; zarr's fill values are written so.
json of_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

json of_value(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return of_number(*number);
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    json out = json::array();
    for (const double number : *list) out.push_back(of_number(number));
    return out;
  }
  return std::visit([](const auto& plain) { return json(plain); }, value);
}

/// Held while a directory is written; a process that dies lets go of it.
struct Lock {
  int id = -1;
  Lock() = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (id >= 0) close(id);
  }
};

class ZarrSink final : public ArraySink {
 public:
  ZarrSink(const fs::path& name, bool overwrite) : path_(target_of(name)), partial_(partial_of(path_)) {
    const fs::path& path = path_;
    require_replaceable();
    require_free(path, overwrite);
    const bool there = mkdir(partial_.c_str(), 0777) != 0;
    if (there && errno != EEXIST) cannot_create(path, errno);
    lock_.id = open(partial_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock_.id < 0 && there) fail(path, "'" + partial_.string() + "' is in the way", "look at it and remove it");
    if (lock_.id < 0) cannot_create(path, errno);
    if (flock(lock_.id, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) fail_taken(path, partial_);
    if (there) clear_leftovers();
    ours_ = true;
    try {
      make_group("");
    } catch (...) {
      abandon();
      throw;
    }
  }

  ~ZarrSink() override { abandon(); }

  void attribute(const std::string& object, const std::string& name, const Value& value) override {
    const std::string path = checked(object);
    if (!attributes_.contains(path)) make_group(path);
    attributes_[path][name] = of_value(value);
  }

  void write(const std::string& object, const Array& array) override {
    const std::string path = checked(object);
    if (attributes_.contains(path)) fail(path_, "/" + path, "this dataset is written twice");
    const auto slash = path.rfind('/');
    make_group(slash == std::string::npos ? "" : path.substr(0, slash));
    make_directory(path);
    std::vector<std::uint64_t> chunk = array.chunk.empty() ? array.shape : array.chunk;
    for (auto& n : chunk) n = std::max<std::uint64_t>(n, 1);
    json meta = {{"zarr_format", 2}, {"shape", array.shape}, {"chunks", chunk},    {"dtype", dtype(array.type)},
                 {"order", "C"},     {"fill_value", 0},      {"filters", nullptr}, {"compressor", nullptr}};
    if (array.level > 0) {
      meta["filters"] = json::array({{{"id", "shuffle"}, {"elementsize", array.value_bytes}}});
      meta["compressor"] = {{"id", "zlib"}, {"level", array.level}};
    }
    put_json(path, ".zarray", meta);
    attributes_[path] = {{"units", array.units}, {"description", array.description}};
    if (!array.bytes.empty()) write_chunks(path, array, chunk);
  }

  void commit(bool overwrite) override {
    for (const auto& [object, attributes] : attributes_) {
      if (!attributes.empty()) put_json(object, ".zattrs", attributes);
    }
    if (syncfs(lock_.id) != 0 && errno != ENOSYS) fail(path_, partial_.string(), why(errno));
    ours_ = false;
    std::error_code error;
    const fs::path old = path_.string() + ".replaced";
    const bool replace = overwrite && fs::exists(path_, error);
    if (replace) {
      require_replaceable();
      fs::rename(path_, old, error);
      if (error) fail(path_, "the result is whole and kept as '" + partial_.string() + "'", error.message());
    }
    try {
      give_name(path_, partial_, overwrite);
    } catch (const Error&) {
      if (replace) fs::rename(old, path_, error);
      throw;
    }
    if (replace) fs::remove_all(old, error);
  }

 private:
  /// Nothing is replaced, and later removed, that is not a zarr store itself.
  void require_replaceable() const {
    std::error_code ignored;
    if (fs::is_directory(path_, ignored)) {
      if (!zarr::is_group(path_) && !zarr::is_array(path_)) {
        fail(path_, "it is a directory and no zarr store", "give another name");
      }
    } else if (fs::exists(path_, ignored)) {
      fail(path_, "it is a file and no zarr store", "remove it, or give another name");
    }
  }

  void clear_leftovers() const {
    std::error_code error;
    if (!fs::is_empty(partial_, error) && !zarr::is_group(partial_)) {
      fail(path_, "'" + partial_.string() + "' is in the way", "remove it");
    }
    for (const auto& entry : fs::directory_iterator(partial_, error)) fs::remove_all(entry.path(), error);
    if (error) fail(path_, partial_.string(), error.message());
  }

  void abandon() {
    std::error_code ignored;
    if (std::exchange(ours_, false)) fs::remove_all(partial_, ignored);
  }

  std::string checked(const std::string& object) const {
    std::string path = relative(object);
    if (!zarr::is_safe(path)) throw Error(ExitCode::internal, "'" + object + "' is no name of a zarr group or array");
    return path;
  }

  static std::string why(int code) {
    const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
    return system_error(code) + (full ? "; free some space, or write elsewhere" : "");
  }

  void make_directory(const std::string& object) const {
    std::error_code error;
    fs::create_directory(partial_ / object, error);
    if (error) fail(path_, "/" + object, why(error.value()));
  }

  void make_group(const std::string& object) {
    if (attributes_.contains(object)) return;
    if (!object.empty()) {
      const auto slash = object.rfind('/');
      make_group(slash == std::string::npos ? "" : object.substr(0, slash));
      make_directory(object);
    }
    put_json(object, ".zgroup", {{"zarr_format", 2}});
    attributes_[object] = json::object();
  }

  void put_json(const std::string& object, const char* name, const json& value) const {
    const std::string text = value.dump(4, ' ', false, json::error_handler_t::replace) + "\n";
    put(object, name, std::as_bytes(std::span(text)));
  }

  void put(const std::string& object, const std::string& name, std::span<const std::byte> bytes) const {
    const fs::path file = partial_ / object / name;
    const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int code = descriptor < 0 ? errno : 0;
    while (code == 0 && !bytes.empty()) {
      const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
      if (done < 0 && errno != EINTR) code = errno;
      if (done > 0) bytes = bytes.subspan(std::size_t(done));
    }
    if (descriptor >= 0 && close(descriptor) != 0 && code == 0) code = errno;
    if (code != 0) fail(path_, (object.empty() ? "" : "/" + object) + "/" + name, why(code));
  }

  void write_chunks(const std::string& path, const Array& array, const std::vector<std::uint64_t>& chunk) const {
    const std::size_t rank = chunk.size();
    std::uint64_t values = 1;
    for (const auto n : chunk) values *= n;
    Bytes bytes(values * array.value_bytes), shuffled(array.level > 0 ? bytes.size() : 0);
    for (Index index(rank);;) {
      copy_chunk(array, chunk, index, bytes);
      const std::string key = zarr::chunk_key(index, '.');
      if (array.level > 0) {
        shuffle(bytes, array.value_bytes, shuffled);
        put(path, key, deflate(shuffled, array.level));
      } else {
        put(path, key, bytes);
      }
      std::size_t d = rank;
      while (d > 0 && ++index[d - 1] * chunk[d - 1] >= array.shape[d - 1]) index[--d] = 0;
      if (d == 0) return;
    }
  }

  /// Row by row of the last dimension; what is beyond the array's edge is zero.
  static void copy_chunk(const Array& array, const Index& chunk, const Index& index, Bytes& out) {
    const std::size_t rank = chunk.size(), last = rank - 1;
    Index first(rank), count(rank), at(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      first[d] = index[d] * chunk[d];
      count[d] = std::min(chunk[d], array.shape[d] - first[d]);
    }
    if (count != chunk) std::ranges::fill(out, std::byte{0});
    for (;;) {
      std::uint64_t from = 0, to = 0;
      for (std::size_t d = 0; d < rank; ++d) {
        from = from * array.shape[d] + first[d] + at[d];
        to = to * chunk[d] + at[d];
      }
      std::memcpy(out.data() + to * array.value_bytes, array.bytes.data() + from * array.value_bytes,
                  count[last] * array.value_bytes);
      std::size_t d = last;
      while (d > 0 && ++at[d - 1] == count[d - 1]) at[--d] = 0;
      if (d == 0) return;
    }
  }

  fs::path path_, partial_;
  Lock lock_;
  bool ours_ = false;
  std::map<std::string, json> attributes_;  ///< of every group and array that there is
};

}  // namespace

std::unique_ptr<ArraySink> new_zarr(const fs::path& path, bool overwrite) {
  return std::make_unique<ZarrSink>(path, overwrite);
}

}  // namespace thor::io::detail
