#include "thor/io/array/input_hdf5.hpp"

#include <set>

#include "thor/core/error.hpp"
#include "thor/io/hdf5/header.hpp"
#include "thor/io/hdf5/text.hpp"

namespace thor::io::detail {
namespace fs = std::filesystem;

namespace {

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

herr_t close_file(hid_t id) {
  const std::lock_guard lock(library_mutex());
  const ReadingHdf5 reading("an HDF5 file");
  return H5Fclose(id);
}

herr_t close_dataset(hid_t id) {
  const std::lock_guard lock(library_mutex());
  const ReadingHdf5 reading("an HDF5 file");
  return H5Dclose(id);
}

}  // namespace

Hdf5Lock::Hdf5Lock(const std::string& name, std::size_t more) : lock_(library_mutex()), reading_(name) {
  quiet();
  if (!has_room(more)) {
    throw Error(ExitCode::device, "out of memory: no room to read " + name + "; use fewer threads (--threads)");
  }
}

Id access_to_read() {
  Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access, true, true);  // Lustre may have no locks
#endif
  return access;
}

namespace {

constexpr hsize_t longest_attribute = 1 << 24;

class Hdf5 final : public InputSource {
 public:
  explicit Hdf5(const fs::path& path) : name_("'" + path.string() + "'"), file_(open(path)) {}

  bool has(const std::string& object) const override {
    const auto lock = enter_hdf5(name_);
    const std::string path = relative(object);
    if (path.empty()) return true;
    // H5Lexists requires every link above the last to exist.
    for (std::size_t end = 0; end != std::string::npos;) {
      require_sound(path.substr(0, end));
      end = path.find('/', end + 1);
      const std::string link = path.substr(0, end);
      if (H5Lexists(file_, link.c_str(), H5P_DEFAULT) <= 0) return false;
      if (H5Oexists_by_name(file_, link.c_str(), H5P_DEFAULT) <= 0) return false;  // a dangling link
    }
    return true;
  }

  std::vector<std::string> children(const std::string& object) const override {
    const auto lock = enter_hdf5(name_);
    const std::string path = relative(object);
    const Id group(has(path) ? H5Gopen2(file_, path.empty() ? "/" : path.c_str(), H5P_DEFAULT) : -1, H5Gclose);
    if (group < 0) fail_input(name_, "there is no group '" + path + "'");
    std::vector<std::string> names;
    if (!names_in(group, names)) fail_input(name_, "group '" + path + "' is damaged");
    return names;
  }

  ArrayInfo array(const std::string& path) const override {
    const auto lock = enter_hdf5(name_);
    const Id dataset = open_dataset(path);
    const Id type(H5Dget_type(dataset), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type);
    ArrayInfo info{{}, type_name(type), kind == H5T_INTEGER || kind == H5T_FLOAT};
    if (!read_shape(dataset, info.shape)) fail_input(name_, "array '" + relative(path) + "' is damaged");
    return info;
  }

  bool is_written(const std::string& path) const override {
    const auto lock = enter_hdf5(name_);
    return detail::is_written(open_dataset(path));
  }

  bool has_attribute(const std::string& object, const std::string& name) const override {
    const auto lock = enter_hdf5(name_);
    return open_attribute(object, name) >= 0;
  }

  std::vector<double> numbers(const std::string& object, const std::string& name) const override {
    const auto lock = enter_hdf5(name_);
    const Id attribute = open_attribute(object, name);
    if (attribute < 0) return {};
    const Id type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    const hssize_t size = H5Sget_simple_extent_npoints(space);
    if (size <= 0 || hsize_t(size) > longest_attribute) return {};
    if (H5Tget_class(type) == H5T_ENUM) {  // a bool, as h5py writes it
      signed char value = 0;
      if (size != 1 || H5Tget_size(type) != 1 || H5Aread(attribute, type, &value) < 0) return {};
      return {double(value)};
    }
    if (H5Tget_class(type) != H5T_INTEGER && H5Tget_class(type) != H5T_FLOAT) return {};
    if (!is_sound_number(type)) fail_input(name_, "attribute '" + name + "' of '" + object + "' is damaged");
    std::vector<double> values(std::size_t(size), 0.0);
    if (H5Aread(attribute, H5T_NATIVE_DOUBLE, values.data()) < 0) broken(object, name);
    return values;
  }

  std::optional<std::string> text(const std::string& object, const std::string& name) const override {
    const auto lock = enter_hdf5(name_);
    const Id attribute = open_attribute(object, name);
    if (attribute < 0) return std::nullopt;
    const Id type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return std::nullopt;
    std::string text;
    if (!read_text(attribute, text)) fail_input(name_, "attribute '" + name + "' of '" + object + "' is damaged");
    return text;
  }

  std::shared_ptr<const Storage> storage(const std::string& path) const override {
    const auto lock = enter_hdf5(name_);
    const ArrayInfo info = array(path);
    const std::string name = name_ + ", array '" + relative(path) + "'";
    if (!info.numeric) fail_input(name, "it does not hold numbers but values of type " + info.type);
    volume(info.shape, name);
    return hdf5_storage(open_dataset(path), name);
  }

 private:
  Id open(const fs::path& path) const {
    const auto lock = enter_hdf5(name_);
    const Id access = access_to_read();
    Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), close_file);
    if (file >= 0) return file;
    const std::string why = innermost_error(), in_use = why_in_use(why, path.string());
    if (!in_use.empty()) fail_input(name_, in_use);
    if (H5Fis_hdf5(path.c_str()) <= 0) fail_input(name_, "it is neither an HDF5 file nor a zarr directory");
    if (why.find("truncated") != std::string::npos) {
      fail_input(name_, "the file is truncated (an incomplete copy, or a run still in progress?)");
    }
    fail_input(name_, why);
  }

  Id open_dataset(const std::string& object) const {
    const std::string path = relative(object);
    Id dataset(!path.empty() && has(path) ? H5Dopen2(file_, path.c_str(), H5P_DEFAULT) : -1, close_dataset);
    if (dataset < 0) fail_input(name_, "there is no array '" + path + "'");
    return dataset;
  }

  /// Before HDF5 looks for something in a group.
  void require_sound(const std::string& path) const {
    if (sound_.contains(path)) return;
    const Id group(H5Oopen(file_, path.empty() ? "/" : path.c_str(), H5P_DEFAULT), H5Oclose);
    if (group >= 0 && !has_sound_header(group)) fail_input(name_, "group '/" + path + "' is damaged");
    sound_.insert(path);
  }

  /// Negative if there is none.
  Id open_attribute(const std::string& object, const std::string& name) const {
    const std::string path = relative(object).empty() ? "/" : relative(object);
    // Not H5Aopen_by_name: of an object behind an external link it does not know the file, which has the texts.
    const Id owner(has(path) ? H5Oopen(file_, path.c_str(), H5P_DEFAULT) : -1, H5Oclose);
    if (owner < 0) return {-1, H5Aclose};
    if (!has_sound_header(owner)) fail_input(name_, "the attributes of '" + path + "' are damaged");
    if (H5Aexists(owner, name.c_str()) <= 0) return {-1, H5Aclose};
    return {H5Aopen(owner, name.c_str(), H5P_DEFAULT), H5Aclose};
  }

  [[noreturn]] void broken(const std::string& object, const std::string& name) const {
    fail_input(name_, "attribute '" + name + "' of '" + object + "': " + innermost_error());
  }

  std::string name_;
  Id file_;
  mutable std::set<std::string> sound_;  ///< groups whose headers have been checked
};

}  // namespace

std::unique_ptr<InputSource> open_hdf5(const fs::path& path) { return std::make_unique<Hdf5>(path); }

}  // namespace thor::io::detail
