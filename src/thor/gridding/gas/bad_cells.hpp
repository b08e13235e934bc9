#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "thor/io/snapshot/snapshot.hpp"

/// Gas elements with impossible values: found, counted, and handled as the user asked.
namespace thor::gridding {

enum class OnBadCells { error, drop, floor };

enum class Quantity : int { position, velocity, mass, density, energy, fraction, electrons, kernel };
inline constexpr int quantities = 8;
enum class Fault : int { not_finite, zero, negative, too_large, too_small };
inline constexpr int faults = 5;
const char* fault_name(Fault fault);  ///< "not a number"
const char* policy_name(OnBadCells policy);

/// Defect of an element. Only the first one found is counted.
struct Defect {
  Quantity quantity = Quantity::position;
  Fault fault = Fault::not_finite;
};

struct BadCells {
  std::array<std::array<std::uint64_t, faults>, quantities> count{};
  std::array<std::array<std::vector<std::uint64_t>, faults>, quantities> first;  ///< indices of the first few
  std::uint64_t dropped = 0, floored = 0;
  double mass_dropped = 0;  ///< [g], for those whose mass is a number

  void add(Defect defect, std::uint64_t element);
  std::uint64_t total() const;
  std::string describe() const;  ///< one line per kind; empty: none
};

/// Limits on kernels and positions [cm], and the values by which the policy `floor` replaces zero or negative ones.
struct Limits {
  double widest = 1e300;
  double furthest = 1e300;        ///< largest coordinate [cm]
  double cell_volume = 0;         ///< [cm^3]; an element without density fills a cell, unless
  std::optional<double> density;  ///< is given [g/cm^3]
  double temperature = 10;
  bool smoothing = false;         ///< kernel from the snapshot's smoothing length
  bool own_electrons = false;     ///< the snapshot's neutral fraction and electrons are used and must be consistent
  bool own_star_forming = false;  ///< also for star-forming gas
};

/// Whether element `i` is valid; otherwise `defect` says why not.
bool is_sound(const io::GasBlock& block, std::size_t i, const Limits& limits, Defect& defect);

/// Replaces zero and negative values of element `i` by floors; false if that is impossible: no mass, or not a number.
bool repair(io::GasBlock& block, std::size_t i, const Limits& limits);

}  // namespace thor::gridding
