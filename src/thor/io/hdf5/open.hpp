#pragma once
#include <memory>
#include <vector>

#include "thor/core/interrupt.hpp"
#include "thor/io/hdf5/id.hpp"
#include "thor/io/partial.hpp"

/// An HDF5 file that is being written.
namespace thor::io::detail {

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

inline std::string absolute(const std::string& object) { return object.starts_with('/') ? object : "/" + object; }

struct OpenFile {
  std::filesystem::path path, partial;
  hid_t id = -1;
  bool partial_is_ours = false;
  bool checksums = false;                  ///< of the chunks of datasets
  bool reserved = false;                   ///< more than the file has may be kept for it
  std::unique_ptr<Unfinished> unfinished;  ///< until it has its name
  mutable bool abandoned = false;          ///< and not to be touched again

  [[noreturn]] void failed(const std::string& what) const { fail(path, what, innermost_error()); }
  /// To call before HDF5: checks that there is memory for everything it may need, otherwise abandons the file.
  void enter(std::size_t more = 0) const;
  template <class Status>
  Status check(Status status, const std::string& what) const {
    if (status < 0) failed(what);
    return status;
  }

  Id group(const std::string& object) const;
  Id object(const std::string& object) const;
  bool exists(const std::string& object) const;
  void require_new(const std::string& object) const;
  Id create_dataset(const std::string& object, hid_t type, hid_t space, const hsize_t* chunk, int level = 0) const;
  void put(const std::string& object, hid_t target, const std::string& name, hid_t memory, hid_t disk,
           const void* value, const hsize_t* length = nullptr) const;
  void put_bool(const std::string& object, hid_t target, const std::string& name, bool value) const;
  void put_text(const std::string& object, hid_t target, const std::string& name, std::string_view value) const;
  void label(const std::string& object, hid_t dataset, std::string_view units, std::string_view description) const;
  void create(const std::filesystem::path& name, bool overwrite);
  int descriptor() const;
  void reserve(std::uint64_t bytes);
  void finish();
  void commit(bool overwrite);
  herr_t close();
  ~OpenFile();
};

}  // namespace thor::io::detail
