#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "thor/core/error.hpp"
#include "thor/io/array/input_source.hpp"
#include "thor/io/array/sink.hpp"
#include "thor/io/partial.hpp"
#include "thor/io/zarr/codec.hpp"
#include "thor/io/zarr/foreign.hpp"
#include "thor/io/zarr/store.hpp"
#include "thor/io/zarr/zarr.hpp"

namespace thor::io::detail {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they are in memory");

const char* dtype(Type type) {
  switch (type) {
    case Type::float32:
      return "<f4";
    case Type::float64:
      return "<f8";
    case Type::int64:
      return "<i8";
    case Type::uint64:
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

json metadata(Type type, const Index& shape, const Index& chunk) {
  return {{"zarr_format", 2}, {"shape", shape},  {"chunks", chunk},    {"dtype", dtype(type)},
          {"order", "C"},     {"fill_value", 0}, {"filters", nullptr}, {"compressor", nullptr}};
}

using zarr::Store;

class ZarrColumn final : public OpenColumn {
 public:
  ZarrColumn(Store& store, std::string path, Type type, unsigned value_bytes, std::size_t width)
      : OpenColumn(std::move(path), type, value_bytes, width), store_(store) {}

  json meta() const {
    return width == 1 ? metadata(type, {rows()}, {chunk()}) : metadata(type, {rows(), width}, {chunk(), width});
  }

 private:
  /// What is beyond the last row is zero.
  void put(std::uint64_t first, std::span<const std::byte> rows) override {
    if (rows.empty()) return;
    const Index index = width == 1 ? Index{first / chunk()} : Index{first / chunk(), 0};
    Bytes bytes(rows.begin(), rows.end());
    bytes.resize(chunk() * row_bytes());
    store_.put(path, zarr::chunk_key(index, '.'), bytes);
  }

  Store& store_;
};

class ZarrSink final : public ArraySink {
 public:
  ZarrSink(const fs::path& name, bool overwrite) : store_(name, overwrite) { make_group(""); }

  /// Of another process, which writes all but some chunks of its arrays.
  explicit ZarrSink(const fs::path& name) : store_(name), joined_(true) {}

  ~ZarrSink() override {
    for (const auto& column : columns_) column->closed = true;
  }

  void attribute(const std::string& object, const std::string& name, const Value& value) override {
    const std::string path = checked(object);
    if (!attributes_.contains(path)) make_group(path);
    attributes_[path][name] = of_value(value);
  }

  void create(const std::string& object, const Array& array) override {
    if (joined_) return;
    const std::string path = make_array(object, array.units, array.description);
    json meta = metadata(array.type, array.shape, chunk_of(array));
    if (array.level > 0) {
      meta["filters"] = json::array({{{"id", "shuffle"}, {"elementsize", array.value_bytes}}});
      meta["compressor"] = {{"id", "zlib"}, {"level", array.level}};
    }
    put_json(path, ".zarray", meta);
  }

  void put(const std::string& object, const Array& array, std::uint64_t first,
           std::span<const std::byte> rows) override {
    if (!rows.empty()) put_chunks(checked(object), array, first, rows);
  }

  std::shared_ptr<OpenColumn> column(const std::string& object, Type type, unsigned value_bytes, std::size_t width,
                                     const std::string& units, const std::string& description) override {
    const std::string path = make_array(object, units, description);
    return columns_.emplace_back(std::make_shared<ZarrColumn>(store_, path, type, value_bytes, width));
  }

  void add_checksums() override {}
  void reserve(std::uint64_t bytes) override { store_.reserve(bytes); }

  void finish() override {
    if (std::exchange(finished_, true)) return;
    if (joined_) return store_.sync();
    for (const auto& column : columns_) {
      column->finish();
      put_json(column->path, ".zarray", column->meta());
    }
    for (const auto& [object, attributes] : attributes_) {
      if (!attributes.empty()) put_json(object, ".zattrs", attributes);
    }
    // All of it once more, as zarr's readers like it: what a copy has lost is seen by it.
    put_json("", ".zmetadata", {{"zarr_consolidated_format", 1}, {"metadata", json(all_)}, {zarr::written_by, "thor"}});
    store_.sync();
  }

  void commit(bool overwrite) override {
    finish();
    store_.commit(overwrite);
  }

  const fs::path& path() const override { return store_.path(); }
  const fs::path& partial_path() const override { return store_.partial_path(); }

 private:
  std::string checked(const std::string& object) const {
    std::string path = relative(object);
    if (!zarr::is_safe(path)) throw Error(ExitCode::internal, "'" + object + "' is no name of a zarr group or array");
    return path;
  }

  void put_json(const std::string& object, const char* name, const json& value) {
    const std::string text = value.dump(4, ' ', false, json::error_handler_t::replace) + "\n";
    store_.put(object, name, std::as_bytes(std::span(text)));
    all_[(object.empty() ? "" : object + "/") + name] = value;
  }

  void make_group(const std::string& object) {
    if (attributes_.contains(object)) return;
    if (!object.empty()) {
      const auto slash = object.rfind('/');
      make_group(slash == std::string::npos ? "" : object.substr(0, slash));
      store_.make_directory(object);
    }
    put_json(object, ".zgroup", {{"zarr_format", 2}});
    attributes_[object] = json::object();
  }

  std::string make_array(const std::string& object, const std::string& units, const std::string& description) {
    std::string path = checked(object);
    if (attributes_.contains(path)) fail(store_.path(), "/" + path, "this dataset is written twice");
    const auto slash = path.rfind('/');
    make_group(slash == std::string::npos ? "" : path.substr(0, slash));
    store_.make_directory(path);
    attributes_[path] = {{"units", units}, {"description", description}};
    return path;
  }

  static Index chunk_of(const Array& array) {
    Index chunk = array.chunk.empty() ? array.shape : array.chunk;
    for (auto& n : chunk) n = std::max<std::uint64_t>(n, 1);
    return chunk;
  }

  void put_chunks(const std::string& path, const Array& array, std::uint64_t first_row,
                  std::span<const std::byte> rows) {
    const Index chunk = chunk_of(array);
    const std::size_t rank = chunk.size();
    std::uint64_t values = 1;
    for (const auto n : chunk) values *= n;
    Bytes bytes(values * array.value_bytes), shuffled(array.level > 0 ? bytes.size() : 0);
    Index index(rank), end = array.shape;
    index[0] = first_row / chunk[0], end[0] = first_row + rows.size() / array.row_bytes();
    for (;;) {
      copy_chunk(array, chunk, index, first_row, rows, bytes);
      const std::string key = zarr::chunk_key(index, '.');
      if (array.level > 0) {
        shuffle(bytes, array.value_bytes, shuffled);
        store_.put(path, key, deflate(shuffled, array.level));
      } else {
        store_.put(path, key, bytes);
      }
      std::size_t d = rank;
      while (d > 0 && ++index[d - 1] * chunk[d - 1] >= end[d - 1]) index[--d] = 0;
      if (d == 0) return;
    }
  }

  /// Row by row of the last dimension; what is beyond the array's edge is zero.
  static void copy_chunk(const Array& array, const Index& chunk, const Index& index, std::uint64_t first_row,
                         std::span<const std::byte> rows, Bytes& out) {
    const std::size_t rank = chunk.size(), last = rank - 1;
    Index first(rank), count(rank), at(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      first[d] = index[d] * chunk[d];
      count[d] = std::min(chunk[d], array.shape[d] - first[d]);
    }
    first[0] -= first_row;
    if (count != chunk) std::ranges::fill(out, std::byte{0});
    for (;;) {
      std::uint64_t from = 0, to = 0;
      for (std::size_t d = 0; d < rank; ++d) {
        from = from * array.shape[d] + first[d] + at[d];
        to = to * chunk[d] + at[d];
      }
      std::memcpy(out.data() + to * array.value_bytes, rows.data() + from * array.value_bytes,
                  count[last] * array.value_bytes);
      std::size_t d = last;
      while (d > 0 && ++at[d - 1] == count[d - 1]) at[--d] = 0;
      if (d == 0) return;
    }
  }

  Store store_;
  std::map<std::string, json> attributes_;  ///< of every group and array that there is
  std::map<std::string, json> all_;         ///< metadata, by file
  std::vector<std::shared_ptr<ZarrColumn>> columns_;
  bool finished_ = false, joined_ = false;
};

}  // namespace

std::unique_ptr<ArraySink> new_zarr(const fs::path& path, bool overwrite) {
  return std::make_unique<ZarrSink>(path, overwrite);
}

std::unique_ptr<ArraySink> join_zarr(const fs::path& path) { return std::make_unique<ZarrSink>(path); }

}  // namespace thor::io::detail
