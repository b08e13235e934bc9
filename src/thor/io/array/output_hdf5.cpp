#include "thor/io/array/sink.hpp"
#include "thor/io/hdf5/open.hpp"

namespace thor::io::detail {
namespace {

struct Types {
  hid_t memory, disk;
};

Types types_of(Stored type) {
  switch (type) {
    case Stored::float32:
      return {memory_type<float>(), disk_type<float>()};
    case Stored::float64:
      return {memory_type<double>(), disk_type<double>()};
    case Stored::int64:
      return {memory_type<std::int64_t>(), disk_type<std::int64_t>()};
    case Stored::uint64:
      break;
  }
  return {memory_type<std::uint64_t>(), disk_type<std::uint64_t>()};
}

class Hdf5Sink final : public ArraySink {
 public:
  Hdf5Sink(const std::filesystem::path& path, bool overwrite) { file_.create(path, overwrite); }

  void attribute(const std::string& object, const std::string& name, const Value& value) override {
    file_.enter();
    const std::string path = absolute(object);
    const Id target = file_.object(path);
    if (const auto* yes = std::get_if<bool>(&value)) {
      file_.put_bool(path, target, name, *yes);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      file_.put_text(path, target, name, *text);
    } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      file_.put(path, target, name, memory_type<std::int64_t>(), disk_type<std::int64_t>(), integer);
    } else if (const auto* number = std::get_if<double>(&value)) {
      file_.put(path, target, name, memory_type<double>(), disk_type<double>(), number);
    } else {
      const auto& list = std::get<std::vector<double>>(value);
      const hsize_t length = list.size();
      file_.put(path, target, name, memory_type<double>(), disk_type<double>(), list.data(), &length);
    }
  }

  void write(const std::string& path, const Array& array) override {
    std::size_t chunk_bytes = array.value_bytes;
    for (const auto n : array.chunk) chunk_bytes *= n;
    file_.enter(array.chunk.empty() ? 4 * array.bytes.size() : 4 * chunk_bytes);  // before and after each filter
    const std::string name = absolute(path), what = "dataset " + name;
    file_.require_new(name);
    const std::vector<hsize_t> shape(array.shape.begin(), array.shape.end());
    // Deflate needs chunks: a small array is one.
    std::vector<hsize_t> chunk(array.chunk.begin(), array.chunk.end());
    if (chunk.empty() && array.level > 0 && !array.bytes.empty()) chunk = shape;
    const Id space(file_.check(H5Screate_simple(int(shape.size()), shape.data(), nullptr), what), H5Sclose);
    const Types types = types_of(array.type);
    Id dataset = file_.create_dataset(name, types.disk, space, chunk.empty() ? nullptr : chunk.data(), array.level);
    if (!array.bytes.empty()) {
      file_.check(H5Dwrite(dataset, types.memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.bytes.data()), what);
    }
    file_.label(name, dataset, array.units, array.description);
    file_.check(dataset.reset(), what);
  }

  void commit(bool overwrite) override { file_.commit(overwrite); }

 private:
  OpenFile file_;
};

}  // namespace

std::unique_ptr<ArraySink> new_hdf5(const std::filesystem::path& path, bool overwrite) {
  return std::make_unique<Hdf5Sink>(path, overwrite);
}

}  // namespace thor::io::detail
