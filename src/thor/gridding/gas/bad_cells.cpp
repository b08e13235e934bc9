#include "thor/gridding/gas/bad_cells.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "thor/core/constants.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/gridding/deposit/spline.hpp"
#include "thor/gridding/gas/gas_state.hpp"

namespace thor::gridding {
namespace {

constexpr std::size_t shown = 5;
constexpr const char* quantity_names[gas_properties] = {"position",
                                                        "velocity",
                                                        "mass",
                                                        "density",
                                                        "internal energy or temperature",
                                                        "fraction",
                                                        "electron abundance for its neutral fraction",
                                                        "kernel size"};
constexpr double rounding = 1e-4;  ///< tolerance for fractions that rounding puts slightly outside 0..1

/// Whether a value is positive.
bool positive(double value, GasProperty quantity, Defect& defect) {
  if (value > 0 && std::isfinite(value)) return true;
  defect = {quantity, !std::isfinite(value) ? FaultKind::not_finite
                      : value == 0          ? FaultKind::zero
                                            : FaultKind::negative};
  return false;
}

bool fraction(double value, double most, Defect& defect) {
  if (value >= -rounding && value <= most) return true;
  defect = {GasProperty::fraction, !std::isfinite(value) ? FaultKind::not_finite
                                   : value < 0           ? FaultKind::negative
                                                         : FaultKind::too_large};
  return false;
}

template <class F>
void for_each_fraction(F&& f) {
  f(&io::GasBlock::neutral, 1 + rounding);
  f(&io::GasBlock::electrons, 10.);
  f(&io::GasBlock::hydrogen, 1 + rounding);
  f(&io::GasBlock::metallicity, 1 + rounding);
  f(&io::GasBlock::sfr, 1e300);
}

std::vector<double> io::GasBlock::*energy_field(const io::GasBlock& block) {
  return block.temperature.empty() ? &io::GasBlock::internal_energy : &io::GasBlock::temperature;
}

double hydrogen_of(const io::GasBlock& block, std::size_t i) {
  return block.hydrogen.empty() ? default_hydrogen : std::clamp(block.hydrogen[i], 1e-6, 1.);
}

/// Whether the snapshot's electrons are used and exceed what its neutral fraction allows.
bool has_too_many_electrons(const io::GasBlock& block, std::size_t i, const GasLimits& limits) {
  if (!limits.own_electrons || block.electrons.empty() || block.neutral.empty()) return false;
  if (!limits.own_star_forming && !block.sfr.empty() && block.sfr[i] > 0) return false;
  return too_many_electrons(block.electrons[i], std::clamp(block.neutral[i], 0., 1.), hydrogen_of(block, i));
}

/// Temperature, that of neutral gas if the snapshot has no electrons: good enough to find impossible values.
double temperature_at_rest(const io::GasBlock& block, std::size_t i) {
  if (!block.temperature.empty()) return block.temperature[i];
  const double X = block.hydrogen.empty() ? default_hydrogen : std::clamp(block.hydrogen[i], 0., 1.);
  const double x_e = block.electrons.empty() ? 0 : std::clamp(block.electrons[i], 0., 10.);
  return temperature_of(block.internal_energy[i], X, x_e);
}

}  // namespace

const char* fault_name(FaultKind fault) {
  constexpr const char* names[faults] = {"not a number", "zero", "negative", "too large", "too small"};
  return names[int(fault)];
}
const char* policy_name(OnBadCells policy) {
  constexpr const char* names[] = {"error", "drop", "floor"};
  return names[int(policy)];
}

void Defects::add(Defect defect, std::uint64_t element) {
  const auto q = std::size_t(defect.quantity), f = std::size_t(defect.fault);
  ++count[q][f];
  if (first[q][f].size() < shown) first[q][f].push_back(element);
}

std::uint64_t Defects::total() const {
  std::uint64_t sum = 0;
  for (const auto& row : count) sum = std::accumulate(row.begin(), row.end(), sum);
  return sum;
}

std::string Defects::describe() const {
  std::string out;
  for (std::size_t q = 0; q < std::size_t(gas_properties); ++q) {
    for (std::size_t f = 0; f < std::size_t(faults); ++f) {
      if (count[q][f] == 0) continue;
      out +=
          fmt::format("  {:>10} with {} {} (elements {}{})\n", count[q][f], quantity_names[q], fault_name(FaultKind(f)),
                      fmt::join(first[q][f], ", "), count[q][f] > first[q][f].size() ? ", ..." : "");
    }
  }
  return out;
}

bool is_sound(const io::GasBlock& block, std::size_t i, const GasLimits& limits, Defect& defect) {
  for (std::size_t a = 0; a < 3; ++a) {
    if (!std::isfinite(block.position[3 * i + a]))
      return defect = {GasProperty::position, FaultKind::not_finite}, false;
    if (!std::isfinite(block.velocity[3 * i + a]))
      return defect = {GasProperty::velocity, FaultKind::not_finite}, false;
    if (std::abs(block.position[3 * i + a]) > limits.furthest) {
      return defect = {GasProperty::position, FaultKind::too_large}, false;
    }
  }
  const double* v = &block.velocity[3 * i];
  if (std::hypot(v[0], v[1], v[2]) > fastest_gas) return defect = {GasProperty::velocity, FaultKind::too_large}, false;
  if (!positive(block.mass[i], GasProperty::mass, defect) ||
      !positive(block.density[i], GasProperty::density, defect) ||
      !positive((block.*energy_field(block))[i], GasProperty::energy, defect)) {
    return false;
  }
  if (block.density[i] > densest_gas) return defect = {GasProperty::density, FaultKind::too_large}, false;
  const double temperature = temperature_at_rest(block, i);
  if (!(temperature >= coldest_gas)) return defect = {GasProperty::energy, FaultKind::too_small}, false;
  if (temperature > hottest_gas) return defect = {GasProperty::energy, FaultKind::too_large}, false;
  if (limits.smoothing && !positive(block.smoothing_length[i], GasProperty::kernel, defect)) return false;
  bool sound = true;
  for_each_fraction([&](auto member, double most) {
    const auto& values = block.*member;
    if (sound && !values.empty()) sound = fraction(values[i], most, defect);
  });
  if (!sound) return false;
  if (has_too_many_electrons(block, i, limits)) return defect = {GasProperty::electrons, FaultKind::too_large}, false;
  const double radius = limits.smoothing ? block.smoothing_length[i] : kernel_radius(block.mass[i] / block.density[i]);
  if (!(radius <= limits.widest)) return defect = {GasProperty::kernel, FaultKind::too_large}, false;
  return true;
}

bool repair(io::GasBlock& block, std::size_t i, const GasLimits& limits) {
  if (block.density[i] <= 0) block.density[i] = limits.density.value_or(block.mass[i] / limits.cell_volume);
  if (!block.temperature.empty()) {
    if (block.temperature[i] < coldest_gas) block.temperature[i] = limits.temperature;
  } else if (temperature_at_rest(block, i) < coldest_gas) {
    const double X = block.hydrogen.empty() ? default_hydrogen : block.hydrogen[i];
    const double x_e = block.electrons.empty() ? 0 : block.electrons[i];
    block.internal_energy[i] = thermal_energy(limits.temperature, X, x_e);
  }
  if (limits.smoothing && block.smoothing_length[i] <= 0) {
    block.smoothing_length[i] = kernel_radius(block.mass[i] / block.density[i]);
  }
  for_each_fraction([&](auto member, double most) {
    auto& values = block.*member;
    if (!values.empty() && std::isfinite(values[i])) values[i] = std::clamp(values[i], 0., most);
  });
  if (has_too_many_electrons(block, i, limits)) {
    block.electrons[i] = most_electrons(std::clamp(block.neutral[i], 0., 1.), hydrogen_of(block, i));
  }
  Defect ignored;
  return is_sound(block, i, limits, ignored);
}

}  // namespace thor::gridding
