#include "thor/io/array/other_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "thor/io/array/input_hdf5.hpp"

namespace thor::io::detail {
namespace {

namespace fs = std::filesystem;

constexpr int deepest = 32;  ///< of groups, and of virtual datasets that are made of virtual datasets
constexpr std::size_t most_visited = 100'000;

/// The file that an object is in.
fs::path file_of(hid_t object) {
  const ssize_t size = H5Fget_name(object, nullptr, 0);
  std::string name(std::size_t(std::max<ssize_t>(size, 0)) + 1, '\0');
  H5Fget_name(object, name.data(), name.size());
  return name.c_str();
}

template <class Get>
std::string name_in(hid_t properties, std::size_t i, Get get) {
  const ssize_t size = get(properties, i, nullptr, 0);
  std::string text(std::size_t(std::max<ssize_t>(size, 0)) + 1, '\0');
  get(properties, i, text.data(), text.size());
  text.resize(text.find('\0'));
  return text;
}

/// Finds files in the order of sorted names in groups and of the parts of an array, so that it does not matter where
/// they lie.
struct Walk {
  std::vector<OtherFile> files{};                          ///< the first is the file itself
  std::map<std::pair<dev_t, ino_t>, std::size_t> known{};  ///< their indices: a file may have several names
  std::set<std::pair<std::size_t, haddr_t>> seen{};

  /// The index of a file, which is added if it is new; none if there is no such file.
  std::optional<std::size_t> add(const fs::path& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    const auto [entry, is_new] = known.try_emplace({status.st_dev, status.st_ino}, files.size());
    if (is_new) files.push_back({path, {}});
    return entry->second;
  }

  /// Whether an object is met for the first time.
  bool enter(hid_t object) {
    const auto file = add(file_of(object));
    const auto place = object_place(object);
    if (!file || !place) return false;
    if (H5Iget_type(object) == H5I_DATASET) files[*file].arrays.push_back(place->address);
    return seen.insert({*file, place->address}).second;
  }

  void dataset(hid_t id, int level) {
    const Id properties(H5Dget_create_plist(id), H5Pclose);
    if (properties < 0 || level > deepest) return;
    const H5D_layout_t layout = H5Pget_layout(properties);
    const int externals = layout == H5D_CONTIGUOUS ? H5Pget_external_count(properties) : 0;
    for (int i = 0; i < externals; ++i) add(external_file(id, properties, unsigned(i)).path);
    std::size_t parts = 0;
    if (layout != H5D_VIRTUAL || H5Pget_virtual_count(properties, &parts) < 0) return;
    for (std::size_t i = 0; i < parts; ++i) {
      const auto [name, array] = virtual_source(properties, i);
      const Id file = open_source(id, name);
      if (file < 0) continue;
      add(file_of(file));
      // In another file, where it is behind a link.
      const Id source(H5Dopen2(file, array.c_str(), H5P_DEFAULT), H5Dclose);
      if (source >= 0 && enter(source)) dataset(source, level + 1);
    }
  }

  void object(const Id& id, int level) {
    if (id < 0 || level > deepest || seen.size() > most_visited || !enter(id)) return;
    const H5I_type_t type = H5Iget_type(id);
    if (type == H5I_DATASET) return dataset(id, 0);
    std::vector<std::string> names;
    if (type != H5I_GROUP || !names_in(id, names)) return;
    for (const std::string& name : names) {
      object(Id(H5Oopen(id, name.c_str(), H5P_DEFAULT), H5Oclose), level + 1);
    }
  }
};

}  // namespace

/// Names are relative to where thor runs, or to HDF5's variable.
External external_file(hid_t dataset, hid_t properties, unsigned i) {
  const char* variable = std::getenv("HDF5_EXTFILE_PREFIX");
  std::string prefix = variable ? variable : "";
  if (const std::string origin = "${ORIGIN}"; prefix.starts_with(origin)) {
    prefix = file_of(dataset).parent_path().string() + prefix.substr(origin.size());
  }
  std::string buffer(4096, '\0');
  off_t offset = 0;
  hsize_t size = 0;
  if (H5Pget_external(properties, i, buffer.size() - 1, buffer.data(), &offset, &size) < 0) return {};
  return {fs::path(prefix) / buffer.c_str(), std::uint64_t(std::max<off_t>(offset, 0)), size};
}

std::pair<std::string, std::string> virtual_source(hid_t properties, std::size_t i) {
  return {name_in(properties, i, H5Pget_virtual_filename), name_in(properties, i, H5Pget_virtual_dsetname)};
}

/// HDF5 looks there in this order: as it is named if that is absolute, in the folders of HDF5's variable, beside the
/// file, where thor runs.
Id open_source(hid_t dataset, const std::string& name) {
  if (name == ".") return {H5Iget_file_id(dataset), H5Fclose};
  const Id access = access_to_read();
  std::vector<fs::path> places;
  fs::path file = name;
  if (file.is_absolute()) {
    places.push_back(file);
    file = file.filename();
  }
  const char* variable = std::getenv("HDF5_VDS_PREFIX");
  for (std::string rest = variable ? variable : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    places.push_back(rest.substr(0, end) / file);
    rest.erase(0, end + 1);
  }
  places.push_back(file_of(dataset).parent_path() / file);
  places.push_back(file);
  for (const fs::path& place : places) {
    std::error_code none;
    if (!fs::is_regular_file(place, none)) continue;
    if (Id found(H5Fopen(place.c_str(), H5F_ACC_RDONLY, access), H5Fclose); found >= 0) return found;
  }
  return {-1, H5Fclose};
}

std::vector<OtherFile> other_files(const std::string& path) {
  quiet();
  const auto lock = enter_hdf5("'" + path + "'");
  if (H5Fis_hdf5(path.c_str()) <= 0) return {};
  const Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access_to_read()), H5Fclose);
  if (file < 0) return {};
  Walk walk;
  if (!walk.add(path)) return {};
  walk.object(Id(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose), 0);
  walk.files.erase(walk.files.begin());
  return walk.files;
}

}  // namespace thor::io::detail
