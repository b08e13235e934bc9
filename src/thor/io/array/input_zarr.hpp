#pragma once
#include <nlohmann/json.hpp>

#include "thor/io/array/input_source.hpp"

/// Shared by the files that read zarr.
namespace thor::io::detail {

/// A file of metadata; an error where it is no JSON object.
nlohmann::json zarr_json(const std::filesystem::path& file);

/// How the values of "<f4" and such are stored; none where they are not numbers.
struct ZarrType {
  std::string name;
  std::optional<Number> number;
};
ZarrType zarr_type(const nlohmann::json& dtype);

/// Reads a list of lengths from the metadata.
Index zarr_extent(const nlohmann::json& meta, const char* key, const std::string& name);

/// Reads a number, including "NaN", "Infinity" and "-Infinity".
std::optional<double> zarr_number(const nlohmann::json& value);

/// `has_all_chunks`: a chunk that is not there is an error, not one of fill values.
std::shared_ptr<const Storage> zarr_storage(const std::filesystem::path& folder, const nlohmann::json& meta,
                                            const std::string& name, bool has_all_chunks);

}  // namespace thor::io::detail
