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
  std::uint64_t width = 1;       ///< columns that the dataset has
  std::uint64_t column = 0;      ///< the first that is wanted
  std::uint64_t components = 1;  ///< and how many
  double factor = 1;
};

/// A particle type in all files of a snapshot.
struct Particles {
  std::string group;  ///< "/PartType0"
  std::size_t type = 0;
  std::vector<std::uint64_t> counts;      ///< of each file
  std::optional<std::size_t> first_file;  ///< that has any
  std::uint64_t total() const;
};

/// How many there are, from the lengths of the datasets; where a header says otherwise, a note. Opens every file once,
/// and refuses files that are of different times.
struct Counts {
  Particles gas, stars;
};
Counts count_particles(const std::vector<std::filesystem::path>& files, std::vector<std::string>& notes);

/// What is looked for: the first of the names that is there.
struct Wanted {
  std::vector<std::string> names;
  Quantity quantity = Quantity::none;
  std::uint64_t components = 1;
  bool first_of_many = false;  ///< a dataset with more columns gives its first
};

/// `input` is the first file that has any of the type.
std::optional<Field> find_field(const Input& input, const Particles& particles, const Wanted& wanted,
                                const SnapshotUnits& units);

/// The mass fraction of metals, of gas and of stars.
std::optional<Field> find_metallicity(const Input& input, const Particles& particles, const SnapshotUnits& units,
                                      std::vector<std::string>& notes);

/// The file must have the fields, with as many rows as there are particles.
void check_fields(const Input& input, std::size_t file, const Particles& particles, const std::vector<Field>& fields);

/// It must have no dataset of a type that `first`, the first file with any of it, has not.
void check_same_fields(const Input& input, const Input& first, const Particles& particles);

/// Rows [first, first + count) in cgs; `values` becomes components x count long.
void read_field(const Input& input, const Field& field, std::uint64_t first, std::uint64_t count,
                std::vector<double>& values);

/// The mass of every particle of a type by the header's MassTable [g]; 0: it has none.
double table_mass(const Input& input, const Particles& particles, const SnapshotUnits& units);

}  // namespace thor::io
