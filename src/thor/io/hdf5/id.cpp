#include "thor/io/hdf5/id.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "thor/io/partial.hpp"

namespace thor::io {
namespace {

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info1_t;
#else
using ObjectInfo = H5O_info_t;
#endif

constexpr std::size_t memory_of_hdf5 = 32 << 20;  ///< more than its caches for about ten datasets

herr_t take_first(unsigned n, const H5E_error2_t* entry, void* out) {
  if (n == 0 && entry->desc) *static_cast<std::string*>(out) = entry->desc;
  return 0;
}

}  // namespace

std::string innermost_error() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &text);
  H5Eclear2(H5E_DEFAULT);  // the end of a thread does not do this
  const std::string_view key = "error message = '";
  if (const auto begin = text.find(key); begin != std::string::npos) {
    text.erase(0, begin + key.size());
    text.erase(std::min(text.find('\''), text.size()));
  }
  for (const int full : {ENOSPC, EDQUOT, EFBIG}) {
    if (text == std::generic_category().message(full)) return detail::write_error(full);
  }
  return text.empty() ? "HDF5 gives no reason" : text;
}

std::string why_in_use(const std::string& error, const std::string& path) {
  const auto has = [&](const char* text) { return error.find(text) != std::string::npos; };
  if (has("unable to lock") || error == std::generic_category().message(EAGAIN)) {
    return "another program has it open for writing (a run still in progress?); wait, or close it there";
  }
  // A flag in the file, which stays if its writer is killed.
  if (!has("already open for")) return "";
  return "another program has it open for writing, or was killed before closing it; close it there, or, if none has "
         "it open, run `h5clear -s " +
         path + "`";
}

bool has_room(std::size_t more) {
  const std::size_t size = memory_of_hdf5 + more;
  void* room = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && munmap(room, size) == 0;
}

std::optional<ObjectPlace> object_place(hid_t object) {
  ObjectInfo info{};
  if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) return std::nullopt;
  return ObjectPlace{info.fileno, info.addr};
}

bool names_in(hid_t group, std::vector<std::string>& names) {
  constexpr std::size_t most = 1'000'000;
  names.clear();
  const auto take = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    auto& list = *static_cast<std::vector<std::string>*>(out);
    list.emplace_back(name);
    return list.size() < most ? 0 : -1;
  };
  // Searching for a missing one walks through all links of a small group, and fails if one is damaged.
  if (H5Lexists(group, "\x01", H5P_DEFAULT) < 0) return false;
  if (H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, take, &names) < 0) return false;
  std::sort(names.begin(), names.end());
  return true;
}

bool read_shape(hid_t dataset, std::vector<std::uint64_t>& shape) {
  const Id space(H5Dget_space(dataset), H5Sclose);
  if (space < 0) return false;
  std::vector<hsize_t> extent(std::size_t(std::max(H5Sget_simple_extent_ndims(space), 0)));
  H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  shape.assign(extent.begin(), extent.end());
  if (H5Sget_simple_extent_type(space) == H5S_NULL) shape = {0};
  return true;
}

std::string type_name(hid_t type) {
  const std::string bits = std::to_string(8 * H5Tget_size(type));
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return "float" + bits;
    case H5T_INTEGER:
      return (H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int") + bits;
    case H5T_STRING:
      return "text";
    case H5T_COMPOUND:
      return "compound";
    case H5T_ENUM:
      return "enumeration";
    default:
      return "other";
  }
}

}  // namespace thor::io
