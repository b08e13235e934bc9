#pragma once
#include <optional>
#include <string>
#include <vector>

#include "thor/gridding/deposit/deposit.hpp"
#include "thor/gridding/gas/bad_cells.hpp"
#include "thor/gridding/gas/gas_state.hpp"
#include "thor/gridding/plan/region.hpp"

/// Converts blocks of a snapshot to particles of the grid.
namespace thor::gridding {

struct GasOptions {
  GasModel model;
  FieldList fields;
  OnBadCells on_bad_cells = OnBadCells::error;
  double temperature_floor = 10;        ///< for the policy `floor` [K]
  std::optional<double> density_floor;  ///< [g/cm^3]; std::nullopt: the density at which the element fills a cell
  bool smoothing = false;               ///< kernels from the snapshot's smoothing length, otherwise from the volume
};

/// Totals over all elements used, in cgs.
struct Totals {
  std::vector<double> input;  ///< total of each field
  std::vector<double> cut;    ///< part of it outside the grid
  double momentum = 0;        ///< sum of |p|
  std::vector<double> speed;  ///< sum of N |v| for each species of FieldList
  std::uint64_t elements = 0;
  std::uint64_t star_forming = 0;
  double star_forming_mass = 0, star_forming_HI = 0;  ///< [g], atoms
  std::uint64_t beyond = 0;                           ///< number of elements with coordinates outside the box

  Totals() = default;
  explicit Totals(const FieldList& fields);
  void add(const Totals& other);
  double star_forming_mass_share() const { return input[mass] > 0 ? star_forming_mass / input[mass] : 0; }
  double star_forming_HI_share() const { return input[HI] > 0 ? star_forming_HI / input[HI] : 0; }
};

class Gatherer {
 public:
  Gatherer(const GridRegion& region, const GasOptions& options, int threads);
  /// The same for a slab: only particles that may reach its layers are made. The totals are then not those of all gas.
  Gatherer(const GridRegion& region, const GasOptions& options, int threads, const Layers& slab);

  /// The particles of the block that may touch the grid; an element may have several images. Amounts are in
  /// FieldList::unit, divided by the volume of a cell. With OnBadCells::error there are no particles from the first bad
  /// element on.
  Particles gather(const io::GasBlock& original);

  /// Adds the parts outside the grid, when the shares of these particles are known.
  void count_cut(const Particles& particles, const std::vector<double>& inside);

  const Totals& totals() const { return totals_; }
  /// For each element of the last block, whether it is used.
  const std::vector<unsigned char>& used() const { return use_; }
  const Defects& defects() const { return defects_; }

 private:
  /// Sets use_; `repaired` is the block with floors applied.
  void sort_out(const io::GasBlock& block, std::optional<io::GasBlock>& repaired);
  double radius(const io::GasBlock& block, std::size_t i) const;  ///< radius of the kernel [cm]
  bool touches(const Vector& position, double radius) const;      ///< both in cells
  /// Calls take(position, radius), in cells, for each image of an element that may touch the grid.
  template <class Take>
  void for_each_place(const io::GasBlock& block, std::size_t i, const Take& take) const;
  /// Index of the first image of each element among the particles, and the number of all at the end.
  std::vector<std::uint32_t> first_images(const io::GasBlock& block) const;
  /// Sets the amounts of an element, and adds them.
  void count_element(const io::GasBlock& block, std::size_t i, std::vector<double>& amount, Totals& sum) const;

  GridRegion region_;
  GasOptions options_;
  GasLimits limits_;
  int threads_;
  std::optional<Layers> slab_;
  Totals totals_;
  Defects defects_;
  std::vector<unsigned char> use_;
  std::uint64_t seen_ = 0;
};

}  // namespace thor::gridding
