#include "thor/gridding/cube_faults.hpp"

#include <fmt/format.h>

#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/gridding/cell_values.hpp"

namespace thor::gridding {
namespace {

std::optional<Fault> fault_of(const std::string& field, float value) {
  if (!std::isfinite(value)) return Fault::not_finite;
  if (field.starts_with("velocity_")) {
    if (std::abs(value) * constants::km >= constants::c) return Fault::too_large;
    return std::nullopt;
  }
  if (value < 0) return Fault::negative;
  if (field == "temperature") {
    if (value < coldest_gas) return value == 0 ? Fault::zero : Fault::too_small;
    if (value > hottest_gas) return Fault::too_large;
  }
  if (value > (field == "density" ? densest_gas : 1e30)) return Fault::too_large;
  return std::nullopt;
}

}  // namespace

void CubeFaults::look(Plane& plane, std::uint64_t x, std::size_t row) {
  const std::size_t cells = plane.begin()->second.size();
  for (std::size_t c = 0; c < cells; ++c) {
    bool bad = false, drop = policy_ == OnBadCells::drop;
    for (const auto& [field, values] : plane) {
      const std::optional<Fault> fault = fault_of(field, values[c]);
      if (!fault) continue;
      Kind& kind = kinds_[{field, *fault}];
      if (kind.count++ == 0) kind.first = {x, c / row, c % row};
      bad = true;
      drop = drop || *fault == Fault::not_finite || *fault == Fault::too_large;
    }
    if (!bad) continue;
    ++total_;
    if (policy_ == OnBadCells::error) continue;
    ++(drop ? dropped_ : floored_);
    for (auto& [field, values] : plane) {
      const bool temperature = field == "temperature";
      if (drop) {
        values[c] = temperature ? float(empty_temperature) : 0.f;
      } else if (fault_of(field, values[c])) {
        values[c] = temperature ? temperature_floor_ : field == "density" ? density_floor_ : 0.f;
      }
    }
  }
}

std::string CubeFaults::describe() const {
  std::string out;
  for (const auto& [what, kind] : kinds_) {
    const auto& [field, fault] = what;
    out += fmt::format("  {:>10} with {} {}, the first is [{}, {}, {}]\n", kind.count, field, fault_name(fault),
                       kind.first[0], kind.first[1], kind.first[2]);
  }
  return out;
}

}  // namespace thor::gridding
