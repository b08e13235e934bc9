#include <algorithm>

#include "thor/io/array/sink.hpp"
#include "thor/io/hdf5/open.hpp"

namespace thor::io::detail {
namespace {

struct Types {
  hid_t memory, disk;
};

Types types_of(Type type) {
  switch (type) {
    case Type::float32:
      return {memory_type<float>(), disk_type<float>()};
    case Type::float64:
      return {memory_type<double>(), disk_type<double>()};
    case Type::int64:
      return {memory_type<std::int64_t>(), disk_type<std::int64_t>()};
    case Type::uint64:
      break;
  }
  return {memory_type<std::uint64_t>(), disk_type<std::uint64_t>()};
}

void put_value(const OpenFile& file, const std::string& path, hid_t target, const std::string& name,
               const Value& value) {
  if (const auto* yes = std::get_if<bool>(&value)) {
    file.put_bool(path, target, name, *yes);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    file.put_text(path, target, name, *text);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    file.put(path, target, name, memory_type<std::int64_t>(), disk_type<std::int64_t>(), integer);
  } else if (const auto* count = std::get_if<std::uint64_t>(&value)) {
    file.put(path, target, name, memory_type<std::uint64_t>(), disk_type<std::uint64_t>(), count);
  } else if (const auto* number = std::get_if<double>(&value)) {
    file.put(path, target, name, memory_type<double>(), disk_type<double>(), number);
  } else {
    const auto& list = std::get<std::vector<double>>(value);
    const hsize_t length = list.size();
    file.put(path, target, name, memory_type<double>(), disk_type<double>(), list.data(), &length);
  }
}

/// Its dataset is made with its first chunk; attributes wait for it.
class Hdf5Column final : public OpenColumn {
 public:
  Hdf5Column(OpenFile& file, std::string path, Type type, unsigned value_bytes, std::size_t width)
      : OpenColumn(std::move(path), type, value_bytes, width), file_(file) {}

  void attribute(const std::string& name, const Value& value) {
    attributes_.emplace_back(name, value);
    if (dataset_ >= 0) put_value(file_, path, dataset_, name, value);
  }

  /// Unless the file is to be left alone.
  void close() {
    closed = true;
    if (dataset_ >= 0 && !file_.abandoned && has_room()) H5Dclose(std::exchange(dataset_, -1));
  }

 private:
  void put(std::uint64_t first, std::span<const std::byte> rows) override {
    file_.enter();
    if (dataset_ < 0) create();
    if (rows.empty()) return;
    const int rank = width == 1 ? 1 : 2;
    const hsize_t start[2] = {first, 0};
    const hsize_t count[2] = {rows.size() / row_bytes(), width};
    const hsize_t shape[2] = {first + count[0], width};
    const std::string what = "dataset " + path;
    file_.check(H5Dset_extent(dataset_, shape), what);
    const Id target(H5Dget_space(dataset_), H5Sclose);
    const Id source(H5Screate_simple(rank, count, nullptr), H5Sclose);
    H5Sselect_hyperslab(target, H5S_SELECT_SET, start, nullptr, count, nullptr);
    file_.check(H5Dwrite(dataset_, types_of(type).memory, source, target, H5P_DEFAULT, rows.data()), what);
  }

  void create() {
    const hsize_t shape[2] = {0, width};
    const hsize_t limit[2] = {H5S_UNLIMITED, width};
    const hsize_t chunks[2] = {chunk(), width};
    const Id space(H5Screate_simple(width == 1 ? 1 : 2, shape, limit), H5Sclose);
    const Id made = file_.create_dataset(path, types_of(type).disk, space, chunks);
    for (const auto& [name, value] : attributes_) put_value(file_, path, made, name, value);
    H5Iinc_ref(made);
    dataset_ = made;
  }

  OpenFile& file_;
  hid_t dataset_ = -1;
  std::vector<std::pair<std::string, Value>> attributes_;
};

class Hdf5Sink final : public ArraySink {
 public:
  Hdf5Sink(const std::filesystem::path& path, bool overwrite) { file_.create(path, overwrite); }
  ~Hdf5Sink() override { close_columns(); }

  void attribute(const std::string& object, const std::string& name, const Value& value) override {
    file_.enter();
    const std::string path = absolute(object);
    if (Hdf5Column* column = find(path)) return column->attribute(name, value);
    put_value(file_, path, file_.object(path), name, value);
  }

  void create(const std::string& path, const Array& array) override {
    file_.enter();
    const std::string name = absolute(path), what = "dataset " + name;
    require_new(name);
    const std::vector<hsize_t> shape(array.shape.begin(), array.shape.end());
    // Deflate and checksums need chunks: a small array is one.
    std::vector<hsize_t> chunk(array.chunk.begin(), array.chunk.end());
    if (chunk.empty() && (array.level > 0 || file_.checksums) && std::ranges::find(shape, 0u) == shape.end())
      chunk = shape;
    const Id space(file_.check(H5Screate_simple(int(shape.size()), shape.data(), nullptr), what), H5Sclose);
    Id dataset = file_.create_dataset(name, types_of(array.type).disk, space, chunk.empty() ? nullptr : chunk.data(),
                                      array.level);
    file_.label(name, dataset, array.units, array.description);
    file_.check(dataset.reset(), what);
  }

  /// The dataset is not kept open between parts: nothing has to be closed when there is no memory to do so.
  void put(const std::string& path, const Array& array, std::uint64_t first, std::span<const std::byte> rows) override {
    if (rows.empty()) return;
    std::size_t chunk_bytes = array.value_bytes;
    for (const auto n : array.chunk) chunk_bytes *= n;
    file_.enter(array.chunk.empty() ? 4 * rows.size() : 4 * chunk_bytes);  // before and after each filter
    const std::string name = absolute(path), what = "dataset " + name;
    Id dataset(file_.check(H5Dopen2(file_.id, name.c_str(), H5P_DEFAULT), what), H5Dclose);
    std::vector<hsize_t> start(array.shape.size(), 0), count(array.shape.begin(), array.shape.end());
    start[0] = first, count[0] = rows.size() / array.row_bytes();
    const Id target(file_.check(H5Dget_space(dataset), what), H5Sclose);
    const Id source(file_.check(H5Screate_simple(int(count.size()), count.data(), nullptr), what), H5Sclose);
    file_.check(H5Sselect_hyperslab(target, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), what);
    file_.check(H5Dwrite(dataset, types_of(array.type).memory, source, target, H5P_DEFAULT, rows.data()), what);
    file_.check(dataset.reset(), what);
  }

  std::shared_ptr<OpenColumn> column(const std::string& path, Type type, unsigned value_bytes, std::size_t width,
                                     const std::string& units, const std::string& description) override {
    file_.enter();
    const std::string name = absolute(path);
    require_new(name);
    const auto& made = columns_.emplace_back(std::make_shared<Hdf5Column>(file_, name, type, value_bytes, width));
    made->attribute("units", units);
    made->attribute("description", description);
    return made;
  }

  void add_checksums() override { file_.checksums = true; }
  void reserve(std::uint64_t bytes) override { file_.reserve(bytes); }

  void flush() override {
    file_.enter();
    file_.check(H5Fflush(file_.id, H5F_SCOPE_LOCAL), file_.partial.string());
  }

  void finish() override {
    if (file_.id < 0) return;
    file_.enter();
    for (const auto& column : columns_) column->finish();
    close_columns();
    file_.finish();
  }

  void commit(bool overwrite) override {
    finish();
    file_.commit(overwrite);
  }

  const std::filesystem::path& path() const override { return file_.path; }
  const std::filesystem::path& partial_path() const override { return file_.partial; }

 private:
  Hdf5Column* find(const std::string& path) const {
    const auto found = std::ranges::find(columns_, path, [](const auto& column) { return column->path; });
    return found == columns_.end() ? nullptr : found->get();
  }
  void require_new(const std::string& path) const {
    if (find(path)) fail(file_.path, path, "this dataset is written twice");
    file_.require_new(path);
  }
  void close_columns() {
    for (const auto& column : columns_) column->close();
  }

  OpenFile file_;
  std::vector<std::shared_ptr<Hdf5Column>> columns_;
};

}  // namespace

std::unique_ptr<ArraySink> new_hdf5(const std::filesystem::path& path, bool overwrite) {
  return std::make_unique<Hdf5Sink>(path, overwrite);
}

}  // namespace thor::io::detail
