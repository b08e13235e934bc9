#include "thor/io/snapshot/stars.hpp"

#include <algorithm>
#include <cmath>

#include "thor/core/cosmology.hpp"

namespace thor::io {
namespace {

// Birth times are usually in single precision, so rounding can make them later than now.
constexpr double rounding = 1e-6;

}  // namespace

/// The error of interpolation in a is at most (da)^2 t''/8, about 100 yr today: less than that of a birth time in
/// single precision, which is rounded to 800 yr.
AgeTable::AgeTable(const SnapshotHeader& header) {
  constexpr std::size_t steps = 4096;
  const Cosmology cosmology{.h = header.h, .omega_m = header.omega_m, .omega_lambda = header.omega_lambda};
  step_ = header.scale_factor / steps;
  age_.push_back(0);
  for (std::size_t i = 1; i <= steps; ++i) age_.push_back(cosmology.age(1 / (step_ * static_cast<double>(i)) - 1));
}

double AgeTable::at(double scale_factor) const {
  if (std::isnan(scale_factor)) return scale_factor;
  const double place = std::max(0., scale_factor) / step_;
  const auto i = static_cast<std::size_t>(std::min(place, static_cast<double>(age_.size() - 2)));
  return std::lerp(age_[i], age_[i + 1], place - static_cast<double>(i));
}

StarFields::StarFields(const Input& input, const ParticleType& particles, const SnapshotUnits& units,
                       SnapshotHeader& header)
    : cosmological_(header.cosmological) {
  const auto add = [&](std::vector<double> StarBlock::*member, const Wanted& wanted) {
    auto field = find_field(input, particles, wanted, units);
    if (field) columns_.push_back({member, *field});
    return field;
  };
  using Q = FieldQuantity;
  position_ = add(&StarBlock::position, {{"Coordinates"}, Q::length, 3});
  if (!position_) missing_ = input.path().string() + ": /PartType4/Coordinates is missing";
  add(&StarBlock::velocity, {{"Velocities", "Velocity"}, Q::velocity, 3});
  if (!add(&StarBlock::mass, {{"Masses", "Mass"}, Q::mass})) {
    table_mass_ = table_mass(input, particles, units);
    if (table_mass_ > 0) header.notes.push_back("mass of stars: /Header@MassTable");
  }
  add(&StarBlock::initial_mass, {{"GFM_InitialMass", "InitialMass", "InitialMasses"}, Q::mass});
  add(&StarBlock::ionizing_rate, {{"IonizingRate", "IonizingRates"}});
  if (const auto metals = find_metallicity(input, particles, units, header.notes)) {
    columns_.push_back({&StarBlock::metallicity, *metals});
  }

  const char* swift_birth = cosmological_ ? "BirthScaleFactors" : "BirthTimes";
  birth_ = find_field(input, particles,
                      {{"GFM_StellarFormationTime", "StellarFormationTime", swift_birth, "FormationTime"},
                       cosmological_ ? Q::none : Q::time},
                      units);
  if (!birth_) {
    header.notes.push_back("the file has no birth times: the ages of its stars are unknown");
    return;
  }
  wind_ = birth_->path.ends_with("/GFM_StellarFormationTime");
  knows_age_ = cosmological_ || units.time;
  if (cosmological_) {
    ages_ = AgeTable(header);
    now_ = header.scale_factor;
  } else if (units.time) {
    now_ = *units.time * birth_->factor;
  } else {
    header.notes.push_back("the file has no Time: the ages of its stars are unknown");
  }
}

double StarFields::age(double birth) const {
  if (birth > now_ && birth < now_ * (1 + rounding)) return 0;
  return cosmological_ ? ages_.now() - ages_.at(birth) : now_ - birth;
}

std::vector<Field> StarFields::all() const {
  std::vector<Field> fields;
  for (const Column& column : columns_) fields.push_back(column.field);
  if (birth_) fields.push_back(*birth_);
  return fields;
}

void StarFields::read(const Input& input, std::uint64_t first, std::uint64_t count, StarBlock& block) const {
  block.count = count;
  for (const Column& column : columns_) read_field(input, column.field, first, count, block.*column.member);
  if (table_mass_ > 0) block.mass.assign(count, table_mass_);
  if (!birth_) return;
  read_field(input, *birth_, first, count, block.age);
  if (wind_) drop_wind(block);
  if (!knows_age_) {
    block.age.clear();
  } else {
    for (double& value : block.age) value = age(value);
  }
}

/// Called before birth times are converted to ages.
void StarFields::drop_wind(StarBlock& block) const {
  const std::vector<double> birth = block.age;
  const auto keep = [&](std::vector<double>& values, std::size_t components) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < birth.size(); ++i) {
      if (birth[i] <= 0) continue;
      for (std::size_t k = 0; k < components; ++k) values[kept++] = values[i * components + k];
    }
    values.resize(kept);
  };
  for (const Column& column : columns_) keep(block.*column.member, column.field.components);
  keep(block.age, 1);
  block.count = block.age.size();
  if (table_mass_ > 0) block.mass.resize(block.count);
}

std::uint64_t StarFields::count_stars(const Input& input, std::uint64_t first, std::uint64_t count) const {
  std::vector<double> birth;
  read_field(input, *birth_, first, count, birth);
  return count - static_cast<std::uint64_t>(std::ranges::count_if(birth, [](double b) { return b <= 0; }));
}

}  // namespace thor::io
