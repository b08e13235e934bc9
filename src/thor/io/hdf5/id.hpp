#pragma once
#include <hdf5.h>

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

/// Switches off what HDF5 prints by itself (a per-thread setting), and its exit handler: after a full disk a file
/// cannot be closed in order, and the handler would try again and complain.
inline void quiet() {
  static const bool once = (H5dont_atexit(), true);
  thread_local const bool here = (H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), true);
  static_cast<void>(once);
  static_cast<void>(here);
}

/// The innermost entry of HDF5's error stack; of an I/O error only what the system said.
std::string innermost_error();

/// The names in a group, sorted; false: it is damaged. One by one, by H5Lget_name_by_idx, they would come from a table
/// of all, which HDF5 1.10.8 frees wrongly where a link is damaged.
bool names_in(hid_t group, std::vector<std::string>& names);

/// Whether there is memory for all that HDF5 may want, and for `more`. It does not survive that its own allocations
/// fail (1.10.8: a corrupt heap), so this comes before it is called.
bool has_room(std::size_t more = 0);

}  // namespace thor::io
