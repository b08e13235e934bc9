#include <algorithm>
#include <map>
#include <stdexcept>

#include "thor/core/error.hpp"
#include "thor/io/array/contents.hpp"
#include "thor/io/array/input_hdf5.hpp"
#include "thor/io/hdf5/header.hpp"
#include "thor/io/hdf5/id.hpp"
#include "thor/io/hdf5/text.hpp"

namespace thor::io {
namespace {

constexpr std::size_t most_objects = 100'000;
constexpr std::size_t deepest_group = 32;
constexpr int most_names = 4;  ///< of a group; groups that contain each other have more than could be walked through
constexpr hssize_t longest_list = 1000;

template <class T>
bool read_number(const Id& attribute, hid_t type, Attribute& out) {
  T value{};
  if (H5Aread(attribute, type, &value) < 0) return false;
  out = value;
  return true;
}

bool read_list(const Id& attribute, hssize_t count, Attribute& out) {
  std::vector<double> values(static_cast<std::size_t>(count));
  if (H5Aread(attribute, H5T_NATIVE_DOUBLE, values.data()) < 0) return false;
  out = std::move(values);
  return true;
}

/// Whether it is a scalar of a known kind, or a short list of floating-point numbers.
bool read_attribute(const Id& attribute, Attribute& out) {
  const Id type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  if (type < 0 || space < 0 || !is_sound_number(type)) return false;
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count > 1 && count <= longest_list && H5Tget_class(type) == H5T_FLOAT) return read_list(attribute, count, out);
  if (count != 1) return false;
  switch (H5Tget_class(type)) {
    case H5T_STRING: {
      std::string text;
      const bool good = read_text(attribute, text);
      out = text;
      return good;
    }
    case H5T_FLOAT:
      return read_number<double>(attribute, H5T_NATIVE_DOUBLE, out);
    case H5T_INTEGER:
      return H5Tget_sign(type) == H5T_SGN_NONE ? read_number<std::uint64_t>(attribute, H5T_NATIVE_UINT64, out)
                                               : read_number<std::int64_t>(attribute, H5T_NATIVE_INT64, out);
    case H5T_ENUM: {  // a bool, as h5py writes it
      signed char value = 0;
      if (H5Tget_size(type) != 1 || H5Aread(attribute, type, &value) < 0) return false;
      out = value != 0;
      return true;
    }
    default:
      return false;
  }
}

herr_t take_attribute(hid_t object, const char* name, const H5A_info_t*, void* out) {
  const Id attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  Attribute value;
  if (attribute >= 0 && read_attribute(attribute, value)) static_cast<Object*>(out)->attributes[name] = value;
  return 0;
}

[[noreturn]] void cannot_read(const std::string& path) {
  throw std::runtime_error("the file is damaged: cannot read " + path);
}

void read_attributes(const Id& id, Object& object) {
  if (!has_sound_header(id)) cannot_read(object.path);
  // Examines all of them, and fails if one is damaged; H5Aiterate2 then frees memory it never had (seen in 1.10.8).
  if (H5Aexists(id, "\x01") < 0) cannot_read(object.path);
  if (H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, take_attribute, &object) < 0) cannot_read(object.path);
}

/// A soft or external link, which may lead nowhere.
bool may_dangle(const Id& group, const std::string& name) {
  H5L_info_t info{};
  return H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT) >= 0 && info.type != H5L_TYPE_HARD;
}

/// Walks depth first; throws std::runtime_error if something cannot be read. A group that contains itself, a named
/// type and a link that leads nowhere are left out.
struct Walker {
  std::vector<Object>& objects;
  std::vector<ObjectPlace> above{};
  std::map<ObjectPlace, int> names{};  ///< of each group so far

  void visit(const Id& id, const std::string& path) {
    const H5I_type_t type = H5Iget_type(id);
    const auto place = object_place(id);
    if (type == H5I_DATATYPE || (place && std::ranges::count(above, *place) > 0)) return;
    if (!place || above.size() > deepest_group) cannot_read(path);
    if (objects.size() >= most_objects) {
      throw std::runtime_error("it has more than " + std::to_string(most_objects) + " groups and arrays");
    }
    Object& object = objects.emplace_back();
    object.path = path;
    object.is_dataset = type == H5I_DATASET;
    if (object.is_dataset) {
      const Id of(H5Dget_type(id), H5Tclose);
      if (of < 0 || !read_shape(id, object.shape)) cannot_read(path);
      object.type = type_name(of);
    }
    read_attributes(id, object);
    if (type != H5I_GROUP || ++names[*place] > most_names) return;
    above.push_back(*place);
    visit_members(id, path);
    above.pop_back();
  }

  void visit_members(const Id& group, const std::string& path) {
    std::vector<std::string> members;
    if (!names_in(group, members)) cannot_read(path);
    for (const auto& name : members) {
      const std::string below = (path == "/" ? "" : path) + "/" + name;
      const Id id(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
      if (id >= 0) {
        visit(id, below);
      } else if (!may_dangle(group, name)) {
        cannot_read(below);
      }
    }
  }
};

}  // namespace

std::vector<Object> detail::contents_of_hdf5(const std::string& path) {
  const auto fail = [&](const std::string& why) { throw Error(ExitCode::input, path + ": " + why); };
  const auto lock = enter_hdf5("'" + path + "'");
  const Id access = access_to_read();
  const Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  if (file < 0) {
    const std::string in_use = why_in_use(innermost_error(), path);
    if (!in_use.empty()) fail(in_use);
    const bool is_hdf5 = H5Fis_hdf5(path.c_str()) > 0;
    fail(is_hdf5 ? "the file is truncated or damaged (an incomplete copy, or a run still in progress?)"
                 : "not an HDF5 file, or not readable");
  }
  std::vector<Object> objects;
  try {
    const Id root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
    if (root < 0) cannot_read("/");
    Walker{objects}.visit(root, "/");
  } catch (const std::runtime_error& e) {
    fail(e.what());
  }
  return objects;
}

}  // namespace thor::io
