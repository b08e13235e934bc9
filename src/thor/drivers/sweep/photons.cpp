#include "thor/drivers/sweep/photons.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"

namespace thor::sweep {
namespace {

using F = config::PhotonField;
constexpr KeptPhotons::Field known[] = {
    {F::velocity_initial, "velocity_initial", "km s-1", "c (lambda/lambda_0 - 1) at emission"},
    {F::velocity_final, "velocity_final", "km s-1", "c (lambda/lambda_0 - 1) at the end"},
    {F::velocity_scattered, "velocity_scattered", "km s-1", "c (lambda/lambda_0 - 1) as it left its last scattering"},
    {F::scatterings, "scatterings", "", "scatterings by the line"},
    {F::column, "column", "cm-2", "column density of the absorber along its way"},
    {F::generator, "generator", "", "which of the configuration's generators emitted it"},
};

double value_of(F field, const Photon& photon, const FrequencyAxis& axis, double cross_section) {
  switch (field) {
    case F::velocity_initial:
      return velocity(axis, photon.frequency_initial) / constants::km;
    case F::velocity_final:
      return velocity(axis, photon.frequency_final) / constants::km;
    case F::velocity_scattered:
      return velocity(axis, photon.frequency_scattered) / constants::km;
    case F::scatterings:
      return double(photon.scatterings);
    case F::column:
      return photon.column / cross_section;
    default:
      return double(photon.generator);
  }
}

}  // namespace

KeptPhotons::KeptPhotons(const std::optional<PhotonsOutput>& output) {
  if (!output) return;
  const auto refuse = [](const std::string& what) {
    std::vector<const char*> names;
    for (const Field& field : known) names.push_back(field.name);
    throw Error(ExitCode::usage, fmt::format("outputs: {}: a sweep keeps of its photons, as they end, some of the "
                                             "fields {}: name them (fields: [velocity_initial, velocity_final])",
                                             what, fmt::join(names, ", ")));
  };
  if (output->of != config::PhotonsOf::original) refuse("light that is peeled off");
  for (const config::PhotonField wanted : output->fields) {
    const auto* found = std::ranges::find(known, wanted, &Field::field);
    if (found == std::end(known)) refuse("the photons have other fields");
    fields_.push_back(*found);
  }
}

std::vector<float> KeptPhotons::rows(std::vector<Photon> photons, const FrequencyAxis& axis,
                                     double cross_section) const {
  std::erase_if(photons, [](const Photon& photon) { return photon.fate != Phase::escaped; });
  std::ranges::sort(photons, {}, &Photon::id);
  std::vector<float> rows;
  rows.reserve(photons.size() * fields_.size());
  for (const Photon& photon : photons) {
    for (const Field& field : fields_) rows.push_back(float(value_of(field.field, photon, axis, cross_section)));
  }
  return rows;
}

}  // namespace thor::sweep
