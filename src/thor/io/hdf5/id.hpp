#pragma once
#include <hdf5.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace thor::io {

/// Closes an HDF5 object when it goes out of scope.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Id() { reset(); }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Id& operator=(Id&&) = delete;
  operator hid_t() const { return id_; }
  herr_t reset() { return id_ < 0 ? 0 : close_(std::exchange(id_, -1)); }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Disables HDF5's own error output (a per-thread setting), and its exit handler: after a full disk a file cannot be
/// closed properly, and the handler would try again and complain.
inline void quiet() {
  static const bool once = (H5dont_atexit(), true);
  thread_local const bool here = (H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), true);
  static_cast<void>(once);
  static_cast<void>(here);
}

/// Innermost entry of HDF5's error stack; for an I/O error only the system's message.
std::string innermost_error();

/// Why a file cannot be opened that another program writes, or did not close, from the error of H5Fopen; "" if it is
/// something else.
std::string why_in_use(const std::string& error, const std::string& path);

/// Where an object is: two names of one object have the same place, as long as its file is open.
struct ObjectPlace {
  unsigned long file = 0;
  haddr_t address = 0;
  auto operator<=>(const ObjectPlace&) const = default;
};
std::optional<ObjectPlace> object_place(hid_t object);

/// Sorted names in a group; false: it is damaged. H5Lget_name_by_idx would read them one by one from a table of all,
/// which HDF5 1.10.8 frees wrongly if a link is damaged.
bool names_in(hid_t group, std::vector<std::string>& names);

/// Shape of a dataset: {} of a scalar, {0} of one without values; false: it is damaged.
bool read_shape(hid_t dataset, std::vector<std::uint64_t>& shape);

/// Name of a type of values, such as "float64", "uint32", "text" or "compound".
std::string type_name(hid_t type);

/// Whether there is memory for everything that HDF5 may need, and for `more`. HDF5 does not survive failing allocations
/// (1.10.8: a corrupt heap), so this must be checked before calling it.
bool has_room(std::size_t more = 0);

}  // namespace thor::io
