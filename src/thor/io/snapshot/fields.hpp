#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "thor/io/snapshot/header.hpp"

/// Finding the datasets of a particle type in all files of a snapshot, and reading rows of them.
namespace thor::io {

/// A dataset, or one column of it, and its factor to cgs.
struct Field {
  std::string path;              ///< "/PartType0/Coordinates"
  std::uint64_t width = 1;       ///< number of columns of the dataset
  std::uint64_t column = 0;      ///< first column to read
  std::uint64_t components = 1;  ///< number of columns to read
  double factor = 1;
};

/// A particle type in all files of a snapshot.
struct ParticleType {
  std::string group;  ///< "/PartType0"
  std::size_t type = 0;
  std::vector<std::uint64_t> counts;      ///< in each file
  std::optional<std::size_t> first_file;  ///< first file with any particles
  std::uint64_t total() const;
};

/// Counts the particles from the lengths of the datasets; adds a note if a header differs. Opens every file once, and
/// refuses files from different times.
struct Counts {
  ParticleType gas, stars;
};
Counts count_particles(const std::vector<std::filesystem::path>& files, std::vector<std::string>& notes);

/// Field to look for: the first of the names that exists.
struct Wanted {
  std::vector<std::string> names;
  FieldQuantity quantity = FieldQuantity::none;
  std::uint64_t components = 1;
  bool first_of_many = false;  ///< use the first column of a dataset with more
};

/// Finds a field; `input` is the first file with particles of the type.
std::optional<Field> find_field(const Input& input, const ParticleType& particles, const Wanted& wanted,
                                const SnapshotUnits& units);

/// Finds the mass fraction of metals, for gas and for stars.
std::optional<Field> find_metallicity(const Input& input, const ParticleType& particles, const SnapshotUnits& units,
                                      std::vector<std::string>& notes);

/// Checks that the file has the fields, with as many rows as particles.
void check_fields(const Input& input, std::size_t file, const ParticleType& particles,
                  const std::vector<Field>& fields);

/// Checks that the file has no dataset of a type that is missing in `first`, the first file with particles of that
/// type.
void check_same_fields(const Input& input, const Input& first, const ParticleType& particles);

/// Reads rows [first, first + count) in cgs; `values` becomes components x count long.
void read_field(const Input& input, const Field& field, std::uint64_t first, std::uint64_t count,
                std::vector<double>& values);

/// Mass of every particle of a type from the header's MassTable [g]; 0 if it has none.
double table_mass(const Input& input, const ParticleType& particles, const SnapshotUnits& units);

}  // namespace thor::io
