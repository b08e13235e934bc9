#pragma once
#include <optional>
#include <string>
#include <vector>

#include "thor/gridding/deposit/deposit.hpp"
#include "thor/gridding/gas/bad_cells.hpp"
#include "thor/gridding/gas/gas_state.hpp"
#include "thor/gridding/plan/region.hpp"

/// A block of a snapshot as particles of the grid.
namespace thor::gridding {

struct GasOptions {
  GasModel model;
  FieldList fields;
  OnBadCells on_bad_cells = OnBadCells::error;
  double temperature_floor = 10;        ///< [K], of the policy `floor`
  std::optional<double> density_floor;  ///< [g/cm^3]; std::nullopt: that at which the element fills a cell
  bool smoothing = false;               ///< kernels of the snapshot's smoothing length; else of the volume
};

/// Over all elements that were taken, in cgs.
struct Totals {
  std::vector<double> input;  ///< of each field
  std::vector<double> cut;    ///< what lies outside the grid
  double momentum = 0;        ///< sum of |p|
  std::vector<double> speed;  ///< of each species of FieldList: sum of N |v|
  std::uint64_t elements = 0;
  std::uint64_t star_forming = 0;
  double star_forming_mass = 0, star_forming_HI = 0;  ///< [g], atoms
  std::uint64_t beyond = 0;                           ///< with coordinates beyond the box

  double star_forming_mass_share() const { return input[mass] > 0 ? star_forming_mass / input[mass] : 0; }
  double star_forming_HI_share() const { return input[HI] > 0 ? star_forming_HI / input[HI] : 0; }
};

class Gatherer {
 public:
  Gatherer(const Region& region, const GasOptions& options, int threads);

  /// The particles of the block that may touch the grid (an element may come as several images); an amount is in
  /// FieldList::unit, divided by the volume of a cell. With OnBadCells::error and a bad element, now or before, there
  /// are none.
  Particles gather(const io::GasBlock& original);

  /// Once the shares of those particles are known.
  void count_cut(const Particles& particles, const std::vector<double>& inside);

  const Totals& totals() const { return totals_; }
  /// Of each element of the last block whether it is used.
  const std::vector<unsigned char>& used() const { return use_; }
  const BadCells& bad_cells() const { return bad_; }

 private:
  /// Sets use_; `repaired` is the block with floors where they are needed.
  void sort_out(const io::GasBlock& block, std::optional<io::GasBlock>& repaired);
  double radius(const io::GasBlock& block, std::size_t i) const;  ///< of the kernel [cm]
  bool touches(const Vector& position, double radius) const;      ///< both in cells

  Region region_;
  GasOptions options_;
  Limits limits_;
  int threads_;
  Totals totals_;
  BadCells bad_;
  std::vector<unsigned char> use_;
  std::uint64_t seen_ = 0;
};

}  // namespace thor::gridding
