#pragma once
#include "thor/gridding/plan/plan.hpp"
#include "thor/io/array/output.hpp"

/// Root attributes of a grid file: docs/formats.md.
namespace thor::gridding {

struct GridFileInfo {
  Lattice lattice;
  double redshift = 0, hubble = 0;  ///< H(z) [1/s]; 0: not cosmological
};
/// The line that says what was written.
std::string describe_file(const std::string& path, const Lattice& lattice, const std::vector<std::string>& arrays);
void write_head(io::ArrayOutput& file, const GridFileInfo& info);

/// Writes how the grid was made and what became of the gas.
struct Provenance {
  const io::Snapshot& snapshot;
  const GridOptions& options;
  const GasOptions& gas;
  const GridRegion& region;
  const Budget& budget;
  const Defects& defects;
  const Totals& totals;
  const std::vector<std::string>& warnings;
  std::uint64_t empty_cells = 0;
};
void write_provenance(io::ArrayOutput& file, const Provenance& p);

}  // namespace thor::gridding
