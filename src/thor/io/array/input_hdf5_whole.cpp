#include <algorithm>

#include "thor/io/array/input_hdf5.hpp"
#include "thor/io/array/other_files.hpp"

/// Holes of datasets: chunks, external files and sources of virtual datasets that are missing.
namespace thor::io::detail {
namespace {

namespace fs = std::filesystem;

constexpr int most_levels = 8;  ///< of virtual datasets that are made of virtual datasets
constexpr const char* remedy = "copy or make the file again, with zeros written where they are meant";

void require_whole(hid_t dataset, const std::string& name, int level);

void require_chunks(hid_t dataset, hid_t properties, hid_t space, const std::vector<hsize_t>& shape,
                    const std::string& name) {
  std::vector<hsize_t> chunk(shape.size());
  if (H5Pget_chunk(properties, int(chunk.size()), chunk.data()) < 0) fail_input(name, innermost_error());
  std::uint64_t expected = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (chunk[d] == 0) fail_input(name, "its chunks are empty: the file is damaged");
    expected *= (shape[d] - 1) / chunk[d] + 1;  // at most the number of values
  }
  hsize_t found = 0;
  if (H5Dget_num_chunks(dataset, space, &found) < 0) fail_input(name, innermost_error());
  if (found < expected) {
    fail_input(name, std::to_string(expected - found) + " of " + std::to_string(expected) +
                         " chunks were never written (an incomplete file?); " + remedy);
  }
}

/// HDF5 reads zeros beyond the end of an external file.
void require_external(hid_t dataset, hid_t properties, std::uint64_t bytes, const std::string& name) {
  for (int i = 0, files = H5Pget_external_count(properties); i < files; ++i) {
    const External external = external_file(dataset, properties, unsigned(i));
    if (external.path.empty()) fail_input(name, innermost_error());
    const fs::path& path = external.path;
    const std::uint64_t needed = std::min(bytes, external.bytes), before = external.offset;
    std::error_code error;
    const std::uint64_t length = fs::file_size(path, error);
    const std::string what = "its values are in '" + path.string() + "', ";
    if (error) fail_input(name, what + "which cannot be read: " + error.message() + "; copy that file too");
    if (length < before || length - before < needed) {
      fail_input(name, what + "which has " + std::to_string(length) + " bytes of the " +
                           std::to_string(before + needed) + " expected (an incomplete copy?)");
    }
    bytes -= needed;
  }
  if (bytes > 0) fail_input(name, "its external files are too short: the file is damaged");
}

/// Adds the box or boxes of one space to those of another of the same rank.
void add_selection(hid_t to, hid_t more, const std::string& name) {
  if (H5Sget_select_type(more) == H5S_SEL_ALL) {
    H5Sselect_all(to);
  } else if (H5Sget_select_type(to) == H5S_SEL_NONE) {
    H5Sselect_copy(to, more);
  } else if (H5Sget_select_type(to) == H5S_SEL_HYPERSLABS && H5Smodify_select(to, H5S_SELECT_OR, more) < 0) {
    fail_input(name, innermost_error());
  }
}

/// Whether a source has all values that are `wanted` from it, as many as there are in `here`.
bool holds(hid_t source, hid_t wanted, hid_t here) {
  const Id space(H5Dget_space(source), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (H5Sget_select_type(wanted) == H5S_SEL_ALL) {
    return H5Sget_simple_extent_npoints(space) >= H5Sget_select_npoints(here);
  }
  if (rank < 0 || rank != H5Sget_simple_extent_ndims(wanted)) return false;
  std::vector<hsize_t> extent(std::size_t(rank) + 1), low(extent.size()), high(extent.size());
  H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  if (H5Sget_select_bounds(wanted, low.data(), high.data()) < 0) return false;
  for (std::size_t d = 0; d < std::size_t(rank); ++d) {
    if (high[d] >= extent[d]) return false;
  }
  return true;
}

void require_virtual(hid_t dataset, hid_t properties, hid_t space, std::uint64_t values, const std::string& name,
                     int level) {
  if (level == most_levels) fail_input(name, "too many virtual datasets are made of others");
  std::size_t parts = 0;
  if (H5Pget_virtual_count(properties, &parts) < 0) fail_input(name, innermost_error());
  const Id mapped(H5Scopy(space), H5Sclose);
  H5Sselect_none(mapped);
  for (std::size_t i = 0; i < parts; ++i) {
    const Id here(H5Pget_virtual_vspace(properties, i), H5Sclose),
        there(H5Pget_virtual_srcspace(properties, i), H5Sclose);
    const auto [file_name, array] = virtual_source(properties, i);
    // What such a mapping covers is found by HDF5 when it reads, from the files that there are.
    if (H5Sget_select_npoints(here) < 0 || hsize_t(H5Sget_select_npoints(here)) == H5S_UNLIMITED ||
        file_name.find("%b") != std::string::npos || array.find("%b") != std::string::npos) {
      fail_input(name,
                 "it is virtual, with a number of parts that is not fixed, so that missing ones cannot be found; copy "
                 "its values into a plain dataset");
    }
    const std::string part = "it is virtual, and a part of it is '" + array + "' of '" + file_name + "', ";
    const Id file = open_source(dataset, file_name);
    if (file < 0) fail_input(name, part + "a file that is missing or damaged; copy it beside this one");
    const Id source(H5Dopen2(file, array.c_str(), H5P_DEFAULT), H5Dclose);
    if (source < 0) fail_input(name, part + "which that file does not have");
    if (!holds(source, there, here)) fail_input(name, part + "which has fewer values than are taken from it");
    require_whole(source, name + ", part '" + array + "' of '" + file_name + "'", level + 1);
    add_selection(mapped, here, name);
  }
  const hssize_t covered = H5Sget_select_npoints(mapped);
  if (covered < 0 || std::uint64_t(covered) < values) {
    fail_input(name, "it is virtual, and " + std::to_string(values - std::uint64_t(std::max<hssize_t>(covered, 0))) +
                         " of " + std::to_string(values) + " values are in none of its parts; " + remedy);
  }
}

void require_whole(hid_t dataset, const std::string& name, int level) {
  const Id properties(H5Dget_create_plist(dataset), H5Pclose), space(H5Dget_space(dataset), H5Sclose);
  const Id type(H5Dget_type(dataset), H5Tclose);
  std::vector<std::uint64_t> extent;
  if (properties < 0 || type < 0 || !read_shape(dataset, extent)) fail_input(name, "it is damaged");
  const std::uint64_t values = volume(extent, name);
  if (values == 0) return;
  switch (H5Pget_layout(properties)) {
    case H5D_CHUNKED:
      return require_chunks(dataset, properties, space, {extent.begin(), extent.end()}, name);
    case H5D_VIRTUAL:
      return require_virtual(dataset, properties, space, values, name, level);
    case H5D_CONTIGUOUS:
      if (H5Pget_external_count(properties) > 0) {
        require_external(dataset, properties, values * H5Tget_size(type), name);
      } else if (!is_written(dataset)) {
        fail_input(name, std::string("its values were never written (an incomplete file?); ") + remedy);
      }
      return;
    default:  // in the header, which is read with the dataset
      return;
  }
}

}  // namespace

bool is_written(hid_t dataset) {
  H5D_space_status_t status = H5D_SPACE_STATUS_ALLOCATED;
  return H5Dget_space_status(dataset, &status) < 0 || status != H5D_SPACE_STATUS_NOT_ALLOCATED;
}

void require_whole(hid_t dataset, const std::string& name) { require_whole(dataset, name, 0); }

}  // namespace thor::io::detail
