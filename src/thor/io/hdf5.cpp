#include "thor/io/hdf5.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "thor/core/error.hpp"
#include "thor/io/hdf5_id.hpp"

namespace thor::io {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t chunk_rows = 65536;
constexpr std::size_t memory_of_hdf5 = 32 << 20;  ///< more than its caches of some ten datasets

std::string system_error(int code) { return std::generic_category().message(code); }

herr_t take_first(unsigned n, const H5E_error2_t* entry, void* out) {
  if (n == 0 && entry->desc) *static_cast<std::string*>(out) = entry->desc;
  return 0;
}

/// The innermost entry of HDF5's error stack; of an I/O error only what the system said.
std::string innermost_error() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &text);
  const std::string_view key = "error message = '";
  if (const auto begin = text.find(key); begin != std::string::npos) {
    text.erase(0, begin + key.size());
    text.erase(std::min(text.find('\''), text.size()));
  }
  for (const int full : {ENOSPC, EDQUOT, EFBIG}) {
    if (text == system_error(full)) return text + "; free some space, or write elsewhere";
  }
  return text.empty() ? "HDF5 gives no reason" : text;
}

[[noreturn]] void fail(const fs::path& file, const std::string& what, const std::string& why) {
  throw Error(ExitCode::output, "cannot write '" + file.string() + "': " + what + ": " + why);
}

template <class T>
hid_t memory_type() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_NATIVE_UINT64;
}

template <class T>
hid_t disk_type() {
  if constexpr (std::is_same_v<T, float>) return H5T_IEEE_F32LE;
  if constexpr (std::is_same_v<T, double>) return H5T_IEEE_F64LE;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_STD_I64LE;
  if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_STD_U64LE;
}

std::string absolute(const std::string& object) { return object.starts_with('/') ? object : "/" + object; }

}  // namespace

namespace detail {

/// A column's rows in memory, and its dataset once there is one. The dataset is created when the
/// first chunk is full, or at the end, when a short column can have a chunk of its own size.
struct OpenColumn {
  OpenFile* file;
  std::string path;
  hid_t memory, disk;
  std::size_t width, row_bytes;
  std::string units, description;
  std::vector<std::byte> buffer;
  std::uint64_t rows_on_disk = 0;
  hid_t dataset = -1;

  std::uint64_t buffered() const { return buffer.size() / row_bytes; }
  void append(const std::byte* bytes, std::size_t size);
  void create(std::uint64_t chunk);
  void flush();
};

struct OpenFile {
  fs::path path, partial;
  hid_t id = -1;
  bool partial_is_ours = false;
  mutable bool abandoned = false;  ///< and not to be touched again
  std::vector<std::shared_ptr<OpenColumn>> columns;

  [[noreturn]] void failed(const std::string& what) const { fail(path, what, innermost_error()); }
  /// Before HDF5 is called. It does not survive that its own allocations fail (1.10.8: a corrupt heap), so there must
  /// be room enough for all that it may want, or the file is given up.
  void enter() const;
  template <class Status>
  Status check(Status status, const std::string& what) const {
    if (status < 0) failed(what);
    return status;
  }

  Id group(const std::string& object) const;
  Id object(const std::string& object) const;
  bool exists(const std::string& object) const;
  void require_new(const std::string& object) const;
  Id create_dataset(const std::string& object, hid_t type, hid_t space, const hsize_t* chunk) const;
  void put(const std::string& object, hid_t target, const std::string& name, hid_t memory, hid_t disk,
           const void* value) const;
  void put_text(const std::string& object, hid_t target, const std::string& name, std::string_view value) const;
  void label(const std::string& object, hid_t dataset, std::string_view units, std::string_view description) const;
  herr_t close();
  ~OpenFile();
};

bool has_room() {
  void* room = mmap(nullptr, memory_of_hdf5, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && munmap(room, memory_of_hdf5) == 0;
}

void OpenFile::enter() const {
  quiet();
  if (!abandoned && has_room()) return;
  abandoned = true;
  throw Error(ExitCode::device, "out of memory: no room to write '" + path.string() +
                                    "'; ask for fewer bins, or for fewer threads (--threads)");
}

bool OpenFile::exists(const std::string& object) const {
  // H5Lexists wants every link above the last to be there already.
  for (std::size_t end = 1; end != std::string::npos;) {
    end = object.find('/', end + 1);
    if (H5Lexists(id, object.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

void OpenFile::require_new(const std::string& object) const {
  const bool pending =
      std::any_of(columns.begin(), columns.end(), [&](const auto& column) { return column->path == object; });
  if (pending || exists(object)) fail(path, object, "this dataset is written twice");
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

/// Opens what an attribute is set on.
Id OpenFile::object(const std::string& object) const {
  for (const auto& column : columns) {
    if (column->path == object && column->dataset < 0) column->create(chunk_rows);
  }
  if (object == "/" || !exists(object)) return group(object);
  return {check(H5Oopen(id, object.c_str(), H5P_DEFAULT), object), H5Oclose};
}

/// No time stamps, so that equal runs give equal files.
Id OpenFile::create_dataset(const std::string& object, hid_t type, hid_t space, const hsize_t* chunk) const {
  group(object.substr(0, std::max<std::size_t>(object.rfind('/'), 1)));
  const Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties, false);
  if (chunk) {
    H5Pset_chunk(properties, H5Sget_simple_extent_ndims(space), chunk);
    H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  }
  return {check(H5Dcreate2(id, object.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT), "dataset " + object),
          H5Dclose};
}

void OpenFile::put(const std::string& object, hid_t target, const std::string& name, hid_t memory, hid_t disk,
                   const void* value) const {
  const std::string what = "attribute " + name + " of " + object;
  if (check(H5Aexists(target, name.c_str()), what) > 0) {
    check(H5Adelete(target, name.c_str()), what);
  }
  const Id space(H5Screate(H5S_SCALAR), H5Sclose);
  Id attribute(check(H5Acreate2(target, name.c_str(), disk, space, H5P_DEFAULT, H5P_DEFAULT), what), H5Aclose);
  check(H5Awrite(attribute, memory, value), what);
  check(attribute.reset(), what);
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

/// Tried once only: HDF5 writes before it closes, so on a full disk it fails, and what it then
/// leaves behind is not to be touched again. The space is given back through the descriptor.
herr_t OpenFile::close() {
  abandoned = abandoned || !has_room();
  for (const auto& column : columns) {
    column->file = nullptr;
    if (column->dataset >= 0 && !abandoned) H5Dclose(std::exchange(column->dataset, -1));
  }
  if (abandoned) return -1;
  if (id < 0) return 0;
  int* descriptor = nullptr;
  H5Fget_vfd_handle(id, H5P_DEFAULT, reinterpret_cast<void**>(&descriptor));
  const int copy = descriptor ? dup(*descriptor) : -1;
  const herr_t status = H5Fclose(std::exchange(id, -1));
  if (copy >= 0) {
    if (status < 0) static_cast<void>(!ftruncate(copy, 0));
    ::close(copy);
  }
  return status;
}

OpenFile::~OpenFile() {
  close();
  std::error_code ignored;
  if (partial_is_ours) fs::remove(partial, ignored);
}

void OpenColumn::append(const std::byte* bytes, std::size_t size) {
  const std::size_t full = chunk_rows * row_bytes;
  while (size > 0) {
    const std::size_t part = std::min(size, full - buffer.size());
    buffer.insert(buffer.end(), bytes, bytes + part);
    bytes += part;
    size -= part;
    if (buffer.size() == full) flush();
  }
}

void OpenColumn::create(std::uint64_t chunk) {
  const int rank = width == 1 ? 1 : 2;
  const hsize_t shape[2] = {0, width};
  const hsize_t limit[2] = {H5S_UNLIMITED, width};
  const hsize_t chunks[2] = {chunk, width};
  const Id space(H5Screate_simple(rank, shape, limit), H5Sclose);
  Id made = file->create_dataset(path, disk, space, chunks);
  file->label(path, made, units, description);
  H5Iinc_ref(made);
  dataset = made;
}

void OpenColumn::flush() {
  file->enter();
  if (dataset < 0) create(std::clamp<std::uint64_t>(buffered(), 1, chunk_rows));
  if (buffer.empty()) return;
  const int rank = width == 1 ? 1 : 2;
  const hsize_t start[2] = {rows_on_disk, 0};
  const hsize_t count[2] = {buffered(), width};
  const hsize_t shape[2] = {rows_on_disk + buffered(), width};
  const std::string what = "dataset " + path;
  file->check(H5Dset_extent(dataset, shape), what);
  const Id target(H5Dget_space(dataset), H5Sclose);
  const Id source(H5Screate_simple(rank, count, nullptr), H5Sclose);
  H5Sselect_hyperslab(target, H5S_SELECT_SET, start, nullptr, count, nullptr);
  file->check(H5Dwrite(dataset, memory, source, target, H5P_DEFAULT, buffer.data()), what);
  rows_on_disk = shape[0];
  buffer.clear();
}

}  // namespace detail

template <Stored T>
void Column<T>::append(std::span<const T> values) {
  quiet();
  if (!column_ || !column_->file) {
    throw Error(ExitCode::internal, "a column is appended to after its file was closed");
  }
  if (values.size() % column_->width != 0) {
    throw Error(ExitCode::internal, column_->path + ": append takes whole rows");
  }
  const auto bytes = std::as_bytes(values);
  column_->append(bytes.data(), bytes.size());
}

template <Stored T>
std::uint64_t Column<T>::rows() const {
  return column_ ? column_->rows_on_disk + column_->buffered() : 0;
}

namespace {

/// Makes sure, in words the user can act on, that the partial file can be created.
void prepare(const fs::path& path, const fs::path& partial, bool overwrite) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail(path, "it is a directory", "give a file name");
  if (!overwrite && fs::exists(path, ignored)) {
    fail(path, "the file exists", "use --overwrite to replace it, or another name");
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) {
    fail(path, "there is no directory '" + folder.string() + "'", "create it, or write elsewhere");
  }
  const int descriptor = open(partial.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    fail(path, "no file can be created in '" + folder.string() + "'",
         system_error(errno) + "; change its permissions, or write elsewhere");
  }
  const bool taken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  if (taken) {
    fail(path, "another run is writing '" + partial.string() + "'", "wait, or use another name");
  }
}

/// Data on the disk, not only in the page cache: some file systems tell only now that they are
/// full.
void sync(const fs::path& path, const fs::path& partial) {
  const int descriptor = open(partial.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && (fsync(descriptor) == 0 || errno == EINVAL);
  const int code = errno;
  if (descriptor >= 0) close(descriptor);
  if (!synced) fail(path, partial.string(), system_error(code));
}

}  // namespace

File::File(const fs::path& path, bool overwrite) : file_(std::make_unique<detail::OpenFile>()) {
  quiet();
  file_->path = path;
  file_->enter();
  file_->partial = path;
  file_->partial += ".partial";
  prepare(path, file_->partial, overwrite);
  file_->partial_is_ours = true;
  const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  // 1.8 can read it, and unlike the oldest format it takes an attribute (a configuration) > 64 kB.
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access, true, true);  // Lustre may have no locks
#endif
  H5Pset_obj_track_times(creation, false);
  file_->id = H5Fcreate(file_->partial.c_str(), H5F_ACC_TRUNC, creation, access);
  file_->check(file_->id, file_->partial.string());
}

File::~File() = default;
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;

const fs::path& File::path() const { return file_->path; }
const fs::path& File::partial_path() const { return file_->partial; }

void File::commit(bool overwrite) {
  file_->enter();
  detail::OpenFile& file = *file_;
  for (const auto& column : file.columns) column->flush();
  file.check(H5Fflush(file.id, H5F_SCOPE_LOCAL), file.partial.string());
  file.check(file.close(), file.partial.string());
  sync(file.path, file.partial);

  file.partial_is_ours = false;
  std::error_code error;
  if (!overwrite && fs::exists(file.path, error)) {
    fail(file.path, "the file appeared during the run",
         "the result is whole and kept as '" + file.partial.string() + "'; rename it");
  }
  fs::rename(file.partial, file.path, error);
  if (error) {
    fail(file.path, "the result is whole and kept as '" + file.partial.string() + "'", error.message());
  }
}

void File::set_text(const std::string& object, const std::string& name, std::string_view value) {
  file_->enter();
  const std::string path = absolute(object);
  file_->put_text(path, file_->object(path), name, value);
}

void File::set_bool(const std::string& object, const std::string& name, bool value) {
  file_->enter();
  const std::string path = absolute(object);
  const Id type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
  const std::int8_t no = 0, yes = 1;
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  file_->put(path, file_->object(path), name, type, type, value ? &yes : &no);
}

template <Stored T>
void File::set_number(const std::string& object, const std::string& name, T value) {
  file_->enter();
  const std::string path = absolute(object);
  file_->put(path, file_->object(path), name, memory_type<T>(), disk_type<T>(), &value);
}

template <Stored T>
void File::write_values(const std::string& path, std::span<const T> values, std::string_view units,
                        std::string_view description) {
  file_->enter();
  const std::string name = absolute(path);
  const std::string what = "dataset " + name;
  file_->require_new(name);
  const hsize_t size = values.size();
  const Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  Id dataset = file_->create_dataset(name, disk_type<T>(), space, nullptr);
  if (size > 0) {
    file_->check(H5Dwrite(dataset, memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), what);
  }
  file_->label(name, dataset, units, description);
  file_->check(dataset.reset(), what);
}

template <Stored T>
Column<T> File::column(const std::string& path, std::size_t width, std::string_view units,
                       std::string_view description) {
  file_->enter();
  const std::string name = absolute(path);
  file_->require_new(name);
  if (width == 0) throw Error(ExitCode::internal, name + ": a column of width 0");
  auto column = std::make_shared<detail::OpenColumn>();
  column->file = file_.get();
  column->path = name;
  column->memory = memory_type<T>();
  column->disk = disk_type<T>();
  column->width = width;
  column->row_bytes = width * sizeof(T);
  column->units = units;
  column->description = description;
  file_->columns.push_back(column);
  return Column<T>(std::move(column));
}

#define THOR_STORED(T)                                                                                             \
  template class Column<T>;                                                                                        \
  template Column<T> File::column<T>(const std::string&, std::size_t, std::string_view, std::string_view);         \
  template void File::write_values<T>(const std::string&, std::span<const T>, std::string_view, std::string_view); \
  template void File::set_number<T>(const std::string&, const std::string&, T);
THOR_STORED(float)
THOR_STORED(double)
THOR_STORED(std::int64_t)
THOR_STORED(std::uint64_t)
#undef THOR_STORED

std::string version() {
  quiet();
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace thor::io
