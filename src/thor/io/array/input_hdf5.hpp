#pragma once
#include <mutex>

#include "thor/io/array/input_source.hpp"
#include "thor/io/hdf5/id.hpp"

/// Shared by the two files that read HDF5.
namespace thor::io::detail {

/// One caller of HDF5 at a time: it need not be built for threads. Throws where there is no memory for it.
std::unique_lock<std::recursive_mutex> enter_hdf5(const std::string& name, std::size_t more = 0);

/// How the numbers of a type are stored, where that is one of the plain ways.
std::optional<Number> plain_number(hid_t type);

std::shared_ptr<const Storage> hdf5_storage(Id dataset, const std::string& name);

}  // namespace thor::io::detail
