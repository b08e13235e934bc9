#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "thor/io/snapshot/snapshot.hpp"

/// Gas elements with invalid values: found, counted, and treated by the user's choice.
namespace thor::gridding {

enum class OnBadCells { error, drop, floor };

enum class GasProperty : int { position, velocity, mass, density, energy, fraction, electrons, kernel };
inline constexpr int gas_properties = 8;
enum class FaultKind : int { not_finite, zero, negative, too_large, too_small };
inline constexpr int faults = 5;
const char* fault_name(FaultKind fault);  ///< "not a number"
const char* policy_name(OnBadCells policy);

/// The first fault of an element.
struct Defect {
  GasProperty quantity = GasProperty::position;
  FaultKind fault = FaultKind::not_finite;
};

struct Defects {
  std::array<std::array<std::uint64_t, faults>, gas_properties> count{};
  std::array<std::array<std::vector<std::uint64_t>, faults>, gas_properties> first;  ///< indices of the first few
  std::uint64_t dropped = 0, floored = 0;
  double mass_dropped = 0;  ///< mass of dropped elements, where it is a number [g]

  void add(Defect defect, std::uint64_t element);
  std::uint64_t total() const;
  std::string describe() const;  ///< one line per kind of fault; empty if there are none
};

/// Limits on the numbers of a gas element, and the values by which the policy `floor` replaces zero or negative ones.
struct GasLimits {
  double widest = 1e300;          ///< radius of a kernel [cm]
  double furthest = 1e300;        ///< absolute value of a coordinate [cm]
  double cell_volume = 0;         ///< volume of an element whose density is replaced, unless `density` is given [cm^3]
  std::optional<double> density;  ///< floor [g/cm^3]
  double temperature = 10;        ///< floor [K]
  bool smoothing = false;         ///< the kernel is that of the snapshot's smoothing length
  bool own_electrons = false;     ///< the snapshot's neutral fraction and electrons are used and must be consistent
  bool own_star_forming = false;  ///< those of star-forming gas too
};

/// Whether element `i` is valid; if not, `defect` is set.
bool is_sound(const io::GasBlock& block, std::size_t i, const GasLimits& limits, Defect& defect);

/// Replaces zeros and negative values of element `i` by floors. False if it cannot be repaired: it has no mass, or a
/// value that is not a number.
bool repair(io::GasBlock& block, std::size_t i, const GasLimits& limits);

}  // namespace thor::gridding
