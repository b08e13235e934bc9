#include "thor/io/snapshot/gas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace thor::io {
namespace {

constexpr double solar_mass = 1.988409870698051e33;  // [g], IAU 2015 B3 with CODATA 2018
constexpr double year = 3.15576e7;                   // [s], Julian

/// H/h, the radius where the kernel ends in units of SWIFT's smoothing length, which is twice the kernel's standard
/// deviation. Dehnen & Aly 2012, MNRAS 425, 1068, table 1 (three dimensions).
std::optional<double> kernel_support(const std::string& kernel) {
  const std::pair<const char*, double> table[] = {
      {"Cubic spline", 1.825742}, {"Quartic spline", 2.018932}, {"Quintic spline", 2.195775},
      {"Wendland C2", 1.936492},  {"Wendland C4", 2.207940},    {"Wendland C6", 2.449490},
  };
  for (const auto& [name, support] : table) {
    if (kernel.starts_with(name)) return support;
  }
  return {};
}

/// Whether it is a moving mesh: its "SmoothingLength", if any, is not a kernel size.
bool is_mesh(const Input& input) {
  return input.has("/PartType0/Volume") || input.has("/PartType0/CenterOfMass") || input.text("/Config", "VORONOI") ||
         input.number("/Config", "VORONOI");
}

}  // namespace

std::optional<Field> GasFields::add(const Source& source, const char* name, std::vector<double> GasBlock::*member,
                                    const Wanted& wanted) {
  auto field = source.find(wanted);
  if (field) columns_.push_back({name, member, *field});
  return field;
}

GasFields::GasFields(const Input& input, const ParticleType& particles, const SnapshotUnits& units,
                     std::vector<std::string>& notes) {
  const Source source{input, particles, units, notes};
  using Q = FieldQuantity;
  position_ = add(source, "position", &GasBlock::position, {{"Coordinates"}, Q::length, 3});
  add(source, "velocity", &GasBlock::velocity, {{"Velocities", "Velocity"}, Q::velocity, 3});
  add(source, "mass", &GasBlock::mass, {{"Masses", "Mass"}, Q::mass});
  add(source, "density", &GasBlock::density, {{"Density", "Densities"}, Q::density});
  add(source, "internal_energy", &GasBlock::internal_energy, {{"InternalEnergy", "InternalEnergies"}, Q::energy});
  add(source, "temperature", &GasBlock::temperature, {{"Temperature", "Temperatures"}, Q::temperature});
  add(source, "electrons", &GasBlock::electrons, {{"ElectronAbundance"}});
  add(source, "neutral", &GasBlock::neutral, {{"NeutralHydrogenAbundance", "HI_Fraction"}});
  add(source, "hydrogen", &GasBlock::hydrogen,
      {{"GFM_Metals", "ElementMassFractions", "ElementAbundance/Hydrogen"}, Q::none, 1, true});
  if (const auto metals = find_metallicity(input, particles, units, notes)) {
    columns_.push_back({"metallicity", &GasBlock::metallicity, *metals});
  }
  add_species(source);
  add_star_formation(source);
  add_smoothing(source);
  replace_missing(source);
}

/// n_i/n_H: for tables HI, HII, H2; for CHIMES (Richings et al. 2014, MNRAS 440, 3349) e, HI, HII, H-, ...
void GasFields::add_species(const Source& source) {
  const auto species = source.find({{"SpeciesFractions"}, FieldQuantity::none, 1, true});
  if (!species || has("neutral")) return;
  if (species->width != 3 && species->width < 10) {
    source.notes.push_back(
        fmt::format("SpeciesFractions has {} columns, the order of which is not known: not used", species->width));
    return;
  }
  const bool network = species->width >= 10;
  Field neutral = *species;
  neutral.column = network ? 1 : 0;
  columns_.push_back({"neutral", &GasBlock::neutral, neutral});
  if (network && !has("electrons")) columns_.push_back({"electrons", &GasBlock::electrons, *species});
  source.notes.push_back(
      fmt::format("neutral hydrogen: column {} of SpeciesFractions ({} columns)", neutral.column, species->width));
}

/// Gadget, AREPO, GIZMO and EAGLE use solar masses per year whatever their units.
void GasFields::add_star_formation(const Source& source) {
  const bool swift = source.units.code == Code::swift;
  auto sfr = source.find(
      {{"StarFormationRate", "StarFormationRates"}, swift ? FieldQuantity::mass_rate : FieldQuantity::none});
  if (!sfr) return;
  if (swift) sfr->factor /= solar_mass / year;
  negative_sfr_is_time_ = swift;
  columns_.push_back({"sfr", &GasBlock::sfr, *sfr});
}

void GasFields::add_smoothing(const Source& source) {
  auto length = source.find({{"SmoothingLength", "SmoothingLengths"}, FieldQuantity::length});
  if (!length) return;
  if (source.units.code == Code::swift) {
    const std::string name = source.input.text("/HydroScheme", "Kernel function").value_or("");
    const auto support = kernel_support(name);
    length->factor *= support.value_or(1.825742);
    source.notes.push_back(fmt::format("smoothing length: the kernel ends at {} of SWIFT's h ({})",
                                       support.value_or(1.825742),
                                       support ? name : "unknown kernel: the cubic spline is assumed"));
  }
  if (is_mesh(source.input)) {
    source.notes.push_back("SmoothingLength is not used: the gas is a mesh, not SPH");
  } else {
    columns_.push_back({"smoothing_length", &GasBlock::smoothing_length, *length});
  }
}

void GasFields::replace_missing(const Source& source) {
  const bool mass = has("mass"), density = has("density");
  if (!mass) table_mass_ = table_mass(source.input, source.particles, source.units);
  const bool need_volume = !density || (!mass && table_mass_ == 0);
  if (need_volume) volume_ = source.find({{"Volume", "Volumes"}, FieldQuantity::volume});
  const std::string file = source.input.path().string();
  if (!position_) {
    missing_ = file + ": /PartType0/Coordinates is missing";
  } else if (!mass && table_mass_ == 0 && !(density && volume_)) {
    missing_ = file +
               ": /PartType0/Masses is missing, and neither /Header@MassTable nor /PartType0/Density with "
               "/PartType0/Volume can replace it";
  } else if (!density && !volume_ && !has("smoothing_length")) {
    missing_ = file +
               ": /PartType0/Density is missing, and neither /PartType0/Volume (of cells, with Masses) nor "
               "/PartType0/SmoothingLength (of SPH particles) is available instead: add one of the three to the "
               "file (a subset of a snapshot must keep it)";
  }
  if (!mass && table_mass_ > 0) source.notes.push_back("mass of gas: /Header@MassTable");
  mass_from_volume_ = !mass && table_mass_ == 0 && density && volume_;
  density_from_volume_ = !density && volume_;
  if (mass_from_volume_) source.notes.push_back("mass of gas: Density times Volume");
  if (density_from_volume_) source.notes.push_back("density of gas: mass over Volume");
}

std::vector<Field> GasFields::all() const {
  std::vector<Field> fields;
  for (const Column& column : columns_) fields.push_back(column.field);
  if (volume_) fields.push_back(*volume_);
  return fields;
}

bool GasFields::has(const std::string& name) const {
  if (std::ranges::find(columns_, name, &Column::name) != columns_.end()) return true;
  return (name == "mass" && (table_mass_ > 0 || mass_from_volume_)) || (name == "density" && density_from_volume_);
}

void GasFields::read(const Input& input, std::uint64_t first, std::uint64_t count, GasBlock& block) const {
  block.count = count;
  for (const Column& column : columns_) read_field(input, column.field, first, count, block.*column.member);
  if (negative_sfr_is_time_) {
    // Negative values in SWIFT are the time when the gas last formed stars.
    for (double& sfr : block.sfr) sfr = sfr < 0 ? 0 : sfr;
  }
  if (table_mass_ > 0) block.mass.assign(count, table_mass_);
  if (!volume_) return;
  std::vector<double> volume;
  read_field(input, *volume_, first, count, volume);
  std::vector<double>& made = mass_from_volume_ ? block.mass : block.density;
  made.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    made[i] = mass_from_volume_ ? block.density[i] * volume[i] : block.mass[i] / volume[i];
  }
}

}  // namespace thor::io
