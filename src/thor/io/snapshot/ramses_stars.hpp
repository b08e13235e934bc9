#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "thor/io/snapshot/snapshot.hpp"

namespace thor::io {

struct RamsesUnits {
  double box, length, density, time;  ///< cgs
};

/// The stars of an output of RAMSES: particles of the family 2, or in older outputs those with a birth time.
class RamsesStars {
 public:
  RamsesStars(const std::filesystem::path& folder, const std::string& number, int processes, const RamsesUnits& units,
              SnapshotHeader& header);

  std::uint64_t count() const { return count_; }
  const std::vector<std::filesystem::path>& files() const { return files_; }
  void for_each(std::size_t size, const std::function<void(const StarBlock&)>& take) const;

 private:
  struct Column {
    std::string name, type;
  };
  struct Particles;
  void read_columns(const std::filesystem::path& path);
  void prepare_ages(const std::filesystem::path& folder, const std::string& number, const SnapshotHeader& header);
  bool has(const std::string& name) const;
  Particles read(const std::filesystem::path& path) const;
  double age(double birth) const;

  RamsesUnits units_;
  std::vector<Column> columns_;
  std::vector<std::filesystem::path> files_;
  std::uint64_t count_ = 0;
  bool conformal_ = false;
  double now_ = 0, per_time_ = 1;      ///< of birth times; seconds of their unit
  std::vector<double> births_, ages_;  ///< conformal times, and the ages of stars that were born then [s]
};

}  // namespace thor::io
