#include "thor/gridding/grid_columns.hpp"

#include <fmt/format.h>

#include <cmath>

#include "thor/core/cosmology.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/core/version.hpp"
#include "thor/emission/stars.hpp"
#include "thor/gridding/plan/plan.hpp"

namespace thor::gridding {
namespace {

/// What a grid has in one of its arrays, of an element.
double value_of(const FieldList& fields, int field, const GasState& state, const std::array<double, 3>& velocity,
                double solar, const std::vector<double>& amounts) {
  for (int s = 0; s < fields.species(); ++s) {
    const int first = fields.moment(s, 0);
    if (field == first + moment_T) return state.temperature;
    for (int a = 0; a < 3; ++a) {
      if (field == first + moment_vx + a) return velocity[std::size_t(a)] / constants::km;
    }
  }
  if (field >= momentum_x && field <= momentum_z) return velocity[std::size_t(field - momentum_x)] / constants::km;
  if (field == energy) return state.temperature;
  if (field == fields.metals) return state.metallicity / solar;
  return amounts[std::size_t(field)] / state.volume;
}

}  // namespace

void GasColumns::add(const io::GasBlock& block, std::size_t i, const std::array<double, 3>& velocity,
                     const GasOptions& gas) {
  const bool positive = block.density[i] > 0 && block.mass[i] > 0 &&
                        (block.internal_energy.empty() ? block.temperature[i] > 0 : block.internal_energy[i] > 0);
  const GasState state = positive ? gas_state(block, i, gas.model) : GasState{};
  const double speed = std::hypot(velocity[0], velocity[1], velocity[2]);
  if (!positive || !(state.temperature <= hottest_gas) || !(speed <= fastest_gas)) {
    ++bad;
    density.push_back(0);
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      values[k].push_back(arrays[k].units == "K" ? float(empty_temperature) : 0);
    }
    return;
  }
  density.push_back(block.density[i]);
  std::vector<double> out(sums.size());
  amounts(block, i, state, gas.model, velocity, gas.fields, out.data());
  for (std::size_t k = 0; k < out.size(); ++k) sums[k] += out[k];
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    values[k].push_back(
        float(value_of(gas.fields, arrays[k].field, state, velocity, gas.model.solar_metallicity, out)));
  }
}

std::vector<std::string> GasColumns::write(io::ArrayOutput& file) const {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    file.write("/" + arrays[k].name, values[k], arrays[k].units, arrays[k].description);
    names.push_back(arrays[k].name);
  }
  return names;
}

double mass_of_cells(const GasColumns& columns, const std::vector<double>& volumes) {
  double sum = 0;
  for (std::size_t i = 0; i < volumes.size(); ++i) sum += columns.density[i] * volumes[i];
  return sum;
}

std::string describe_columns(const GasColumns& columns, const std::vector<double>& volumes) {
  double volume = 0, square = 0;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    volume += volumes[i], square += columns.density[i] * columns.density[i] * volumes[i];
  }
  const double all = mass_of_cells(columns, volumes);
  const std::vector<double>& sums = columns.sums;
  std::string text = fmt::format(
      "mass         {:.6g} Msun of gas elements, {:.6g} Msun in the cells of the mesh: {:+.2g} %\nclumping     {:.4g}, "
      "<rho^2>/<rho>^2 of the cells\nHI           {:.6g} of the hydrogen\n",
      sums[mass] / emission::solar_mass, all / emission::solar_mass, 100 * (all / sums[mass] - 1),
      square * volume / std::max(all * all, 1e-300), sums[HI] / std::max(sums[HI] + sums[HII], 1e-300));
  for (std::size_t k = 0; k < columns.arrays.size(); ++k) {
    if (!columns.arrays[k].name.starts_with("emissivity")) continue;
    double light = 0;
    for (std::size_t i = 0; i < volumes.size(); ++i) light += double(columns.values[k][i]) * volumes[i];
    text += fmt::format("light        {:.6g} erg/s of {}\n", light, columns.arrays[k].name);
  }
  return text;
}

void write_box_of_mesh(io::ArrayOutput& file, const GridOptions& options, const io::SnapshotHeader& header,
                       const char* format, double side, bool periodic) {
  file.attribute("/", "format", std::string_view(format));
  file.attribute("/", "thor_version", std::string_view(version));
  file.attribute("/", "git_commit", std::string_view(git_commit));
  file.attribute("/", "snapshot", std::string_view(options.snapshot));
  file.attribute("/", "box_size", side);
  for (const char* axis : {"origin_x", "origin_y", "origin_z"}) file.attribute("/", axis, -0.5 * side);
  file.attribute("/", "periodic", periodic);
  file.attribute("/", "redshift", header.redshift);
  file.attribute(
      "/", "hubble",
      header.cosmological ? Cosmology{header.h, header.omega_m, header.omega_lambda}.hubble(header.redshift) : 0.);
}

void refuse_bad_elements(const GridOptions& options, const GasColumns& columns, const char* elements) {
  if (columns.bad == 0 || options.on_bad_cells != OnBadCells::error) return;
  throw Error(ExitCode::input, fmt::format("{}: {} of {} {} have a density, a mass or a pressure that is not above 0, "
                                           "or gas that is too hot or too fast; --on-bad-cells drop makes them empty",
                                           options.snapshot, columns.bad, columns.count(), elements));
}

}  // namespace thor::gridding
