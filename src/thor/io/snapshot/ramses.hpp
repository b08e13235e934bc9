#pragma once
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "thor/io/snapshot/ramses_stars.hpp"

namespace thor::io {

/// An output of RAMSES: a directory output_NNNNN with files of Fortran records, one for each process (Teyssier 2002,
/// A&A 385, 337). Leaves are the cells without children of the grids that a file owns.
class RamsesOutput {
 public:
  /// Whether a path is that directory, or the info file in it.
  static bool is_one(const std::filesystem::path& path);

  RamsesOutput(const std::filesystem::path& path, SnapshotHeader& header);

  const std::vector<std::filesystem::path>& files() const { return files_; }
  std::uint64_t leaves() const;
  const RamsesStars& stars() const { return *stars_; }
  bool has(const std::string& gas_field) const;
  /// All leaves, some at a time.
  void for_each_gas(std::size_t size, const std::function<void(const GasBlock&)>& take) const;

 private:
  struct Leaves;
  std::filesystem::path file(const char* kind, int process, const char* separator = ".out") const;
  void read_info(SnapshotHeader& header);
  void read_variables();
  void read_ions();
  int find(const std::string& name) const;
  /// The leaves of a process; without their gas only their number.
  std::uint64_t read(int process, std::size_t size, const std::function<void(const GasBlock&)>& take) const;

  std::filesystem::path folder_;
  std::string number_;
  std::vector<std::filesystem::path> files_;
  int processes_ = 0, first_ion_ = -1, ions_ = 0;
  double box_ = 0, unit_length_ = 0, unit_density_ = 0, unit_time_ = 0, hydrogen_ = 0;
  std::vector<std::string> variables_;
  std::array<int, 5> basic_{};  ///< density, velocities, pressure
  int metals_ = -1;
  mutable std::uint64_t leaves_ = 0;
  std::optional<RamsesStars> stars_;
};

}  // namespace thor::io
