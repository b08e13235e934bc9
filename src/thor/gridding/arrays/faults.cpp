#include "thor/gridding/arrays/faults.hpp"

#include <fmt/format.h>

#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/gridding/deposit/cell_values.hpp"
#include "thor/gridding/gas/gas_state.hpp"

namespace thor::gridding {
namespace {

bool is_temperature(const std::string& field) { return field == "temperature" || field.ends_with("_temperature"); }
bool is_velocity(const std::string& field) { return field.find("velocity_") != std::string::npos; }

/// Magnitude of the velocity [cm/s].
double speed_of(const Plane& plane, const std::string& prefix, std::size_t c) {
  double sum = 0;
  for (const char* axis : {"velocity_x", "velocity_y", "velocity_z"}) {
    const auto found = plane.find(prefix + axis);
    if (found != plane.end()) sum += std::pow(double(found->second[c]), 2);
  }
  return std::sqrt(sum) * constants::km;
}

/// Whether n_e > n_HII + 2 n_He, if the cube has the fields to tell.
bool has_too_many_electrons(const Plane& plane, std::size_t c) {
  const auto at = [&](const char* name) {
    const auto found = plane.find(name);
    return found == plane.end() ? std::nullopt : std::optional(double(found->second[c]));
  };
  const auto n_e = at("electron_density"), n_HI = at("HI_density"), n_HII = at("HII_density"), rho = at("density");
  if (!n_e || !n_HI || !(n_HII || rho)) return false;
  const double n_H = n_HII ? *n_HI + *n_HII : std::max(default_hydrogen * *rho / hydrogen_mass, *n_HI);
  return n_H > 0 && too_many_electrons(*n_e / n_H, *n_HI / n_H, default_hydrogen);
}

std::optional<FaultKind> fault_of(const std::string& field, float value) {
  if (!std::isfinite(value)) return FaultKind::not_finite;
  if (is_velocity(field)) {
    return std::abs(value) * constants::km > fastest_gas ? std::optional(FaultKind::too_large) : std::nullopt;
  }
  if (value < 0) return FaultKind::negative;
  if (field == "b_turb" && value * constants::km > fastest_gas) return FaultKind::too_large;
  if (is_temperature(field)) {
    if (value < coldest_gas) return value == 0 ? FaultKind::zero : FaultKind::too_small;
    if (value > hottest_gas) return FaultKind::too_large;
  }
  if (value > (field == "density" ? densest_gas : 1e30)) return FaultKind::too_large;
  return std::nullopt;
}

}  // namespace

void ArrayFaults::check(Plane& plane, std::uint64_t x, std::size_t row) {
  const std::size_t cells = plane.begin()->second.size();
  for (std::size_t c = 0; c < cells; ++c) {
    bool bad = false, drop = policy_ == OnBadCells::drop;
    for (const auto& [field, values] : plane) {
      const std::optional<FaultKind> fault = fault_of(field, values[c]);
      if (!fault) continue;
      Kind& kind = kinds_[{field, *fault}];
      if (kind.count++ == 0) kind.first = {x, c / row, c % row};
      bad = true;
      drop = drop || *fault == FaultKind::not_finite || *fault == FaultKind::too_large;
    }
    const auto too_much = [&](const char* what) {
      Kind& kind = kinds_[{what, FaultKind::too_large}];
      if (kind.count++ == 0) kind.first = {x, c / row, c % row};
      bad = drop = true;
    };
    if (!bad && speed_of(plane, "", c) > fastest_gas) too_much("velocity");
    if (!bad && speed_of(plane, "HI_", c) > fastest_gas) too_much("HI_velocity");
    if (!bad && has_too_many_electrons(plane, c)) too_much("electron_density");
    if (!bad) continue;
    ++total_;
    if (policy_ == OnBadCells::error) continue;
    ++(drop ? dropped_ : floored_);
    for (auto& [field, values] : plane) {
      const bool temperature = is_temperature(field);
      if (drop) {
        values[c] = temperature ? float(empty_temperature) : 0.f;
      } else if (fault_of(field, values[c])) {
        values[c] = temperature ? temperature_floor_ : field == "density" ? density_floor_ : 0.f;
      }
    }
  }
}

std::string ArrayFaults::describe() const {
  std::string out;
  for (const auto& [what, kind] : kinds_) {
    const auto& [field, fault] = what;
    out += fmt::format("  {:>10} with {} {}, the first is [{}, {}, {}]\n", kind.count, field, fault_name(fault),
                       kind.first[0], kind.first[1], kind.first[2]);
  }
  return out;
}

}  // namespace thor::gridding
