#include "thor/io/array/contents.hpp"

#include <filesystem>
#include <system_error>

#include "thor/core/error.hpp"
#include "thor/io/zarr/zarr.hpp"

namespace thor::io {

std::vector<Object> contents(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw Error(ExitCode::input, path + ": " + (error ? error.message() : "there is no such file"));
  }
  if (!std::filesystem::is_directory(path, error)) return detail::contents_of_hdf5(path);
  if (!detail::zarr::is_group(path)) {
    throw Error(ExitCode::input, path + ": is a directory and no zarr store (it has no .zgroup)");
  }
  return detail::contents_of_zarr(path);
}

}  // namespace thor::io
