#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/rays/cell_fields.hpp"
#include "thor/operators/keys.hpp"

/// The gas that absorbs in a line, along rays.
namespace thor {

Absorber CellFields::absorber(const Line& line, const std::string& density_field) {
  const std::string density = !density_field.empty()            ? density_field
                              : !dataset_.density_field.empty() ? dataset_.density_field
                                                                : density_of(line);
  if (config::factors_of(density).size() != 1) {
    throw Error(ExitCode::usage, "density_field: expected the name of one array, got \"" + density + "\"");
  }
  const std::string ion = density.ends_with("_density") ? density.substr(0, density.size() - 8) : ion_of(line);
  const std::vector<std::string> there = names();
  const auto of_ion = [&](const std::string& field) {
    return std::ranges::count(there, ion + "_" + field) > 0 ? ion + "_" + field : field;
  };
  Absorber a{use(density), use(of_ion("temperature")), use(of_ion("velocity"))};
  if (a.density.quantity.field < 0) {
    throw Error(ExitCode::usage,
                fmt::format("density_field: {} is a velocity: expected an array with the number density of an ion, "
                            "such as {}_density",
                            density, ion_of(line)));
  }
  if (a.velocity.quantity.velocity < 0) refuse(of_ion("velocity") + "_x");
  set_cgs(a, density, of_ion("temperature"));
  a.velocity.unit = constants::km;
  require_gas(a);
  a.temperature = broadened(a, line);
  return a;
}

/// Cells are such as a run with photons takes: with a density that is not negative, and gas neither too cold to have a
/// line width, nor too hot or too fast.
void CellFields::require_gas(const Absorber& a) {
  const auto array = [&](int field) -> const FieldArray& { return fields_[std::size_t(field)]; };
  const FieldArray &density = array(a.density.quantity.field), &temperature = array(a.temperature.quantity.field);
  std::size_t bad = 0;
  std::string first;
  for (std::size_t i = 0; i < density.count; ++i) {
    const float n = density.numbers.get()[i];
    if (n == 0) continue;
    const double kelvin = double(temperature.numbers.get()[i]) * a.temperature.unit;
    double speed2 = 0;
    for (int k = 0; k < 3; ++k) {
      const FieldArray& component = array(a.velocity.quantity.velocity + k);
      speed2 += std::pow(double(component.numbers.get()[i]) * component.unit * constants::km, 2);
    }
    const bool fast = speed2 > fastest_gas * fastest_gas;
    if (n > 0 && kelvin >= coldest_gas && kelvin <= hottest_gas && !fast) continue;
    if (bad++ == 0) {
      first = n < 0                  ? "have a negative density"
              : kelvin < coldest_gas ? fmt::format("are colder than {} K", coldest_gas)
              : fast                 ? fmt::format("are faster than {:.0f} km/s", fastest_gas / constants::km)
                                     : fmt::format("are hotter than {:g} K", hottest_gas);
    }
    if (dataset_.bad_cells == config::BadCells::drop) density.numbers.get()[i] = 0;
  }
  if (bad == 0) return;
  const std::string what = fmt::format("{}: {} cells with absorbing gas {}{}", dataset_.path, bad, first,
                                       bad > 1 ? ", or are not allowed in other ways" : "");
  if (dataset_.bad_cells != config::BadCells::drop) {
    throw Error(ExitCode::input, what + ": correct the file, or set dataset.bad_cells: drop to make them empty");
  }
  warning("{}; they are read as empty", what);
}

double CellFields::coldest(const FieldUse& temperature) const {
  const FieldArray& field = field_of(temperature);
  float least = HUGE_VALF;
  for (std::size_t i = 0; i < field.count; ++i) {
    if (field.numbers.get()[i] > 0) least = std::min(least, field.numbers.get()[i]);
  }
  return double(least) * temperature.unit;
}

double CellFields::hottest(const FieldUse& temperature) const {
  const FieldArray& field = field_of(temperature);
  float most = 0;
  for (std::size_t i = 0; i < field.count; ++i) most = std::max(most, field.numbers.get()[i]);
  return double(most) * temperature.unit;
}

double CellFields::fastest(const FieldUse& velocity) const {
  if (velocity.quantity.velocity < 0) return 0;
  const FieldArray* const of = &fields_[std::size_t(velocity.quantity.velocity)];
  double most = 0;
  for (std::size_t i = 0; i < of->count; ++i) {
    double square = 0;
    for (int k = 0; k < 3; ++k) square += std::pow(double(of[k].numbers.get()[i]), 2);
    most = std::max(most, square);
  }
  return std::sqrt(most) * velocity.unit;
}

}  // namespace thor
