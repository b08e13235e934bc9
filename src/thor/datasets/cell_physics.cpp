#include "thor/datasets/cell_physics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "thor/core/constants.hpp"
#include "thor/core/message.hpp"
#include "thor/datasets/gas_arrays.hpp"

namespace thor {
namespace {

/// The temperature of cells is their own; the unit of velocity is the thermal speed at this one.
constexpr double reference_temperature = 1e4;

}  // namespace

void outline_cells(MediumOutline& m, const config::Dataset& dataset, const Line& line, const Refuse& refuse) {
  m.temperature = reference_temperature;  // and no turbulence: the width of each cell has it
  const AtomicTransition& first = line.first();
  m.thermal_speed = first.thermal_speed(m.temperature, 0);
  m.a = first.voigt_parameter(m.thermal_speed);
  m.cross_section = first.population * first.cross_section(m.thermal_speed);
  if (dataset.dust) m.dust = {1, dataset.dust->albedo, dataset.dust->g};
  if (!dataset.dust && dataset.dust_field != config::Dataset{}.dust_field) {
    refuse("dataset.dust_field", "needs dataset.dust, such as {cross_section: 1e-21 cm^2} or {law: SMC}");
  }
  if (const bool turbulent = has_turbulence(dataset); (turbulent || dataset.b_turb > 0) && has_isotopes(line)) {
    refuse(turbulent ? "dataset.path" : "dataset.b_turb",
           std::string(turbulent ? "its file must have no array b_turb" : "must be 0") +
               " in a grid with isotopes: their widths would not keep their ratio");
  }
  if (m.mesh->periodic() && !(dataset.stop_shift && m.hubble > 0)) {
    refuse("dataset.stop_shift",
           "photons never leave a periodic box: set stop_shift (needs Hubble flow), or boundary: open");
  }
}

CellPhysics<double> physics_of(const MediumOutline& m, const config::Dataset& dataset, const Line& line, double fastest,
                               double dust_depth) {
  CellPhysics<double> p{};
  const AtomicTransition& first = line.first();
  double narrowest = 1, reddest = 0;
  for (const AtomicTransition* t : line.absorbing()) {
    narrowest = std::min(narrowest, t->thermal_speed(1, 0) / first.thermal_speed(1, 0));
    reddest = std::min(reddest, std::log(first.wavelength / t->wavelength));
  }
  p.hubble = m.hubble * m.size / m.thermal_speed;
  p.step_scale = dataset.step_limiter * narrowest / std::max(p.hubble, 1e-30);
  if (m.mesh->periodic() && dataset.dust) p.dust_reach = dust_depth * std::ranges::max(m.mesh->sides());
  // Through dust, light flies on to the faces of an open box, at any frequency.
  if (!dataset.stop_shift || (!m.mesh->periodic() && dataset.dust)) return p;
  // From the reddest transition that absorbs, in gas that comes towards it as fast as any: a photon beyond cannot meet
  // another one. The light of a decay that lies out there itself (Fe II 2626) flies first until the Hubble flow has
  // shifted it as far.
  const double shift = constants::c * std::log1p(*dataset.stop_shift / first.wavelength) / m.thermal_speed;
  p.stop = shift + fastest - constants::c * reddest / m.thermal_speed;
  p.stop_flight = p.dust_reach;
  for (const AtomicTransition& t : line.transitions) {
    const bool beyond = std::log(first.wavelength / t.wavelength) < reddest;
    const double flight = p.hubble > 0 ? shift / p.hubble : no_limit<double>;
    if (beyond) p.stop_flight = std::max(p.stop_flight, flight);
  }
  return p;
}

CellUnits units_of(const MediumOutline& m, const config::Dataset& dataset, const Line& line) {
  const AtomicTransition& first = line.first();
  CellUnits units{m.thermal_speed, first.thermal_speed(1, 0), dataset.b_turb, m.cross_section * m.size, 0, m.a};
  if (dataset.dust) {
    const auto& [law, free] = std::tie(dataset.dust->law, dataset.dust->cross_section);
    units.dust = (free ? *free : dust_cross_section(*law, first.wavelength) / dust_metallicity(*law)) * m.size;
  }
  return units;
}

void say_dropped(const config::Dataset& dataset, const std::vector<std::int64_t>& dropped) {
  if (!dropped.empty())
    warning("{}: {} bad cells were made empty (dataset.bad_cells: drop)", dataset.path, dropped.size());
}

void warn_of_cells(const Medium& m, double stop, std::int64_t across, const config::Dataset& dataset,
                   const Line& line) {
  if (!(m.statistics.largest_opacity > double(least_opacity))) {
    warning("{}: the density is 0 in every cell, so this line is not absorbed. Check dataset.density_field.",
            dataset.path);
  }
  if (!(stop > 0)) return;
  const double wavelength = line.first().wavelength;
  const double shift = constants::c * std::log1p(*dataset.stop_shift / wavelength) / m.thermal_speed;
  const double cell =
      m.statistics.largest_opacity * m.statistics.largest_a / (std::sqrt(constants::pi) * std::pow(shift + 4, 2));
  const double depth = cell * double(across);
  if (depth < 1) return;
  warning(
      "dataset.stop_shift: too small, {} an optical depth of {:.2g} for stopped light. Use at least {:.2g} Angstrom.",
      across > 1 ? fmt::format("{} of the thickest cells have", across) : "the thickest cell has", depth,
      *dataset.stop_shift * std::sqrt(depth) / constants::angstrom);
}

}  // namespace thor
