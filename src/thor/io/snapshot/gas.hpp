#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "thor/io/snapshot/fields.hpp"

namespace thor::io {

/// Which datasets of PartType0 make a GasBlock. See docs/snapshots.md.
class GasFields {
 public:
  GasFields() = default;
  GasFields(const Input& input, const ParticleType& particles, const SnapshotUnits& units,
            std::vector<std::string>& notes);

  std::vector<Field> all() const;  ///< all fields to read
  bool has(const std::string& name) const;
  const std::optional<Field>& position() const { return position_; }
  const std::string& missing() const { return missing_; }  ///< why gas cannot be read; empty: it can

  /// Reads rows [first, first + count) of a file.
  void read(const Input& input, std::uint64_t first, std::uint64_t count, GasBlock& block) const;

 private:
  struct Column {
    std::string name;  ///< name of the member of GasBlock
    std::vector<double> GasBlock::*member;
    Field field;
  };
  /// What the fields are found in.
  struct Source {
    const Input& input;
    const ParticleType& particles;
    const SnapshotUnits& units;
    std::vector<std::string>& notes;
    std::optional<Field> find(const Wanted& wanted) const { return find_field(input, particles, wanted, units); }
  };
  std::optional<Field> add(const Source& source, const char* name, std::vector<double> GasBlock::*member,
                           const Wanted& wanted);
  void add_species(const Source& source);
  void add_star_formation(const Source& source);
  void add_smoothing(const Source& source);
  /// What can take the place of masses and densities that are missing.
  void replace_missing(const Source& source);

  std::optional<Field> position_, volume_;
  std::vector<Column> columns_;  ///< including position, but not volume
  double table_mass_ = 0;        ///< [g]; 0: not from the table
  bool mass_from_volume_ = false, density_from_volume_ = false;
  bool negative_sfr_is_time_ = false;
  std::string missing_;
};

}  // namespace thor::io
