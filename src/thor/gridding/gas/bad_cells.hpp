#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "thor/io/snapshot/snapshot.hpp"

/// Gas elements whose numbers cannot be: found, counted, and dealt with as the user asked.
namespace thor::gridding {

enum class OnBadCells { error, drop, floor };

enum class Quantity : int { position, velocity, mass, density, energy, fraction, electrons, kernel };
inline constexpr int quantities = 8;
enum class Fault : int { not_finite, zero, negative, too_large, too_small };
inline constexpr int faults = 5;
const char* fault_name(Fault fault);  ///< "not a number"
const char* policy_name(OnBadCells policy);

/// What is wrong with an element. Only the first one counts.
struct Defect {
  Quantity quantity = Quantity::position;
  Fault fault = Fault::not_finite;
};

struct BadCells {
  std::array<std::array<std::uint64_t, faults>, quantities> count{};
  std::array<std::array<std::vector<std::uint64_t>, faults>, quantities> first;  ///< numbers of the first few
  std::uint64_t dropped = 0, floored = 0;
  double mass_dropped = 0;  ///< [g], of those whose mass is a number

  void add(Defect defect, std::uint64_t element);
  std::uint64_t total() const;
  std::string describe() const;  ///< a line for each kind; empty: none
};

/// Where no kernel may be wider [cm]; and what the policy `floor` puts in place of what is zero or negative.
struct Limits {
  double widest = 1e300;
  double furthest = 1e300;        ///< no coordinate may be larger [cm]
  double cell_volume = 0;         ///< an element without density gets that at which it fills a cell, unless
  std::optional<double> density;  ///< says another one [g/cm^3]
  double temperature = 10;
  bool smoothing = false;         ///< the kernel is that of the snapshot's smoothing length
  bool own_electrons = false;     ///< the snapshot's neutral fraction and electrons are used, and must fit each other
  bool own_star_forming = false;  ///< also those of gas that forms stars
};

/// Whether element `i` is as it must be; else `defect` says why not.
bool is_sound(const io::GasBlock& block, std::size_t i, const Limits& limits, Defect& defect);

/// Puts floors in place of zeros and negative numbers of element `i`; false where that cannot be: no mass, or not a
/// number.
bool repair(io::GasBlock& block, std::size_t i, const Limits& limits);

}  // namespace thor::gridding
