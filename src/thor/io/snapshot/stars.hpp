#pragma once
#include <optional>
#include <string>
#include <vector>

#include "thor/io/snapshot/fields.hpp"

namespace thor::io {

/// Age of the universe at a scale factor, from a table, since the exact one is slow and there are many stars.
class AgeTable {
 public:
  AgeTable() = default;
  explicit AgeTable(const SnapshotHeader& header);
  double now() const { return age_.empty() ? 0 : age_.back(); }
  double at(double scale_factor) const;  ///< [s]; extrapolated linearly beyond now

 private:
  double step_ = 0;
  std::vector<double> age_;
};

/// Which datasets of PartType4 make a StarBlock. See docs/snapshots.md.
class StarFields {
 public:
  StarFields() = default;
  StarFields(const Input& input, const ParticleType& particles, const SnapshotUnits& units, SnapshotHeader& header);

  std::vector<Field> all() const;
  const std::string& missing() const { return missing_; }
  const std::optional<Field>& position() const { return position_; }

  /// Reads rows [first, first + count) of a file, without wind particles.
  void read(const Input& input, std::uint64_t first, std::uint64_t count, StarBlock& block) const;
  bool may_be_wind() const { return wind_; }
  std::uint64_t count_stars(const Input& input, std::uint64_t first, std::uint64_t count) const;

 private:
  struct Column {
    std::vector<double> StarBlock::*member;
    Field field;
  };
  double age(double birth) const;
  void drop_wind(StarBlock& block) const;

  std::optional<Field> position_, birth_;
  std::vector<Column> columns_;
  double table_mass_ = 0;  ///< [g]
  bool wind_ = false;      ///< a birth time that is not positive marks a wind particle
  bool cosmological_ = false, knows_age_ = false;
  double now_ = 0;  ///< [s], or the scale factor
  AgeTable ages_;
  std::string missing_;
};

}  // namespace thor::io
