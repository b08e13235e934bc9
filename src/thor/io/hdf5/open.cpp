#include "thor/io/hdf5/open.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "thor/core/error.hpp"

namespace thor::io::detail {
namespace fs = std::filesystem;

void OpenFile::enter(std::size_t more) const {
  quiet();
  if (!abandoned && has_room(more)) return;
  abandoned = true;
  throw Error(ExitCode::device,
              "out of memory: no room to write '" + path.string() + "'; use fewer bins or fewer threads (--threads)");
}

bool OpenFile::exists(const std::string& object) const {
  // H5Lexists requires every link above the last to exist.
  for (std::size_t end = 1; end != std::string::npos;) {
    end = object.find('/', end + 1);
    if (H5Lexists(id, object.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

void OpenFile::require_new(const std::string& object) const {
  if (exists(object)) fail(path, object, "this dataset is written twice");
}

/// Opens a group, creating it and those above it as needed.
Id OpenFile::group(const std::string& object) const {
  if (object == "/" || exists(object)) {
    return {check(H5Gopen2(id, object.c_str(), H5P_DEFAULT), "group " + object), H5Gclose};
  }
  const Id links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  const Id properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  H5Pset_obj_track_times(properties, false);
  return {check(H5Gcreate2(id, object.c_str(), links, properties, H5P_DEFAULT), "group " + object), H5Gclose};
}

/// Opens the object that an attribute belongs to.
Id OpenFile::object(const std::string& object) const {
  if (object == "/" || !exists(object)) return group(object);
  return {check(H5Oopen(id, object.c_str(), H5P_DEFAULT), object), H5Oclose};
}

/// Disables time stamps, so that equal runs give equal files.
Id OpenFile::create_dataset(const std::string& object, hid_t type, hid_t space, const hsize_t* chunk, int level) const {
  group(object.substr(0, std::max<std::size_t>(object.rfind('/'), 1)));
  const Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties, false);
  if (chunk) {
    H5Pset_chunk(properties, H5Sget_simple_extent_ndims(space), chunk);
    H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
    if (level > 0) {
      H5Pset_shuffle(properties);
      H5Pset_deflate(properties, unsigned(level));
    }
    if (checksums) H5Pset_fletcher32(properties);
  }
  return {check(H5Dcreate2(id, object.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT), "dataset " + object),
          H5Dclose};
}

void OpenFile::put(const std::string& object, hid_t target, const std::string& name, hid_t memory, hid_t disk,
                   const void* value, const hsize_t* length) const {
  const std::string what = "attribute " + name + " of " + object;
  if (check(H5Aexists(target, name.c_str()), what) > 0) {
    check(H5Adelete(target, name.c_str()), what);
  }
  const Id space(length ? H5Screate_simple(1, length, nullptr) : H5Screate(H5S_SCALAR), H5Sclose);
  Id attribute(check(H5Acreate2(target, name.c_str(), disk, space, H5P_DEFAULT, H5P_DEFAULT), what), H5Aclose);
  check(H5Awrite(attribute, memory, value), what);
  check(attribute.reset(), what);
}

void OpenFile::put_bool(const std::string& object, hid_t target, const std::string& name, bool value) const {
  const Id type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
  const std::int8_t no = 0, yes = 1;
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  put(object, target, name, type, type, value ? &yes : &no);
}

void OpenFile::put_text(const std::string& object, hid_t target, const std::string& name,
                        std::string_view value) const {
  const std::string bytes = value.empty() ? std::string(1, '\0') : std::string(value);
  const Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, bytes.size());
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  put(object, target, name, type, type, bytes.data());
}

void OpenFile::label(const std::string& object, hid_t dataset, std::string_view units,
                     std::string_view description) const {
  put_text(object, dataset, "units", units);
  put_text(object, dataset, "description", description);
}

void OpenFile::create(const fs::path& name, bool overwrite) {
  quiet();
  path = target_of(name);
  enter();
  partial = partial_of(path);
  const int created = create_partial(path, partial, overwrite);
  partial_is_ours = true;
  unfinished = std::make_unique<Unfinished>(partial.string());
  const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  // HDF5 1.8 can read this format and, unlike the oldest one, it allows an attribute (a configuration) > 64 kB.
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access, true, true);  // Lustre may have no locks
#endif
  H5Pset_obj_track_times(creation, false);
  // The file that was created, even if another one has its name by now.
  const std::string same = fmt::format("/proc/self/fd/{}", created);
  std::error_code none;
  id = H5Fcreate(fs::exists(same, none) ? same.c_str() : partial.c_str(), H5F_ACC_TRUNC, creation, access);
  ::close(created);
  check(id, partial.string());
  if (!lock_partial(descriptor(), partial)) {
    partial_is_ours = false;
    fail_taken(path, partial);
  }
}

int OpenFile::descriptor() const {
  int* descriptor = nullptr;
  H5Fget_vfd_handle(id, H5P_DEFAULT, reinterpret_cast<void**>(&descriptor));
  return descriptor ? *descriptor : -1;
}

void OpenFile::reserve(std::uint64_t bytes) {
  require_allowed(path, bytes);
  reserved = true;
  detail::reserve(descriptor(), path, bytes);
}

void OpenFile::finish() {
  if (id < 0) return;
  enter();
  check(H5Fflush(id, H5F_SCOPE_LOCAL), partial.string());
  if (!lock_partial(descriptor(), partial)) {
    fail(path, "'" + partial.string() + "' was removed or replaced during the run", "run it again");
  }
  const herr_t closed = close();
  if (abandoned) enter();  // throws the reason: there was no memory to close it
  check(closed, partial.string());
  sync(path, partial);
}

void OpenFile::commit(bool overwrite) {
  finish();
  partial_is_ours = false;
  unfinished.reset();
  give_name(path, partial, overwrite);
}

/// Tried only once: HDF5 writes before it closes, so it fails on a full disk, and the objects it leaves behind must not
/// be touched again. The disk space is released through the descriptor.
herr_t OpenFile::close() {
  abandoned = abandoned || !has_room();
  if (abandoned) return -1;
  if (id < 0) return 0;
  const int copy = dup(descriptor());
  const herr_t status = H5Fclose(std::exchange(id, -1));
  struct stat written {};
  if (copy >= 0) {
    if (status < 0) static_cast<void>(!ftruncate(copy, 0));
    if (status >= 0 && reserved && fstat(copy, &written) == 0) static_cast<void>(!ftruncate(copy, written.st_size));
    ::close(copy);
  }
  return status;
}

OpenFile::~OpenFile() {
  close();
  std::error_code ignored;
  if (partial_is_ours) fs::remove(partial, ignored);
}

}  // namespace thor::io::detail
