#pragma once
#include <mutex>

#include "thor/io/array/input_source.hpp"
#include "thor/io/hdf5/crash.hpp"
#include "thor/io/hdf5/id.hpp"

/// Helpers shared by the files that read HDF5.
namespace thor::io::detail {

/// Lock that allows one caller of HDF5 at a time, since it need not be thread-safe.
class Hdf5Lock {
 public:
  /// Throws if there is not enough memory for HDF5.
  Hdf5Lock(const std::string& name, std::size_t more);

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  ReadingHdf5 reading_;
};
inline Hdf5Lock enter_hdf5(const std::string& name, std::size_t more = 0) { return {name, more}; }

/// How files are opened that are only read.
Id access_to_read();

/// Whether the file has room for values of a dataset.
bool is_written(hid_t dataset);

/// An error unless every value of a dataset was written: for the others HDF5 gives the fill value, which is zero where
/// none is set. What was allocated but never written cannot be told from zeros.
void require_whole(hid_t dataset, const std::string& name);

/// Storage of the numbers of a type, if it is one of the standard formats.
std::optional<Number> plain_number(hid_t type);

std::shared_ptr<const Storage> hdf5_storage(Id dataset, const std::string& name);

}  // namespace thor::io::detail
