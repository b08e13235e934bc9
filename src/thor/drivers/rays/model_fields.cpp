#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "thor/config/nearest.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/datasets/medium.hpp"
#include "thor/drivers/rays/cell_fields.hpp"
#include "thor/operators/keys.hpp"
#include "thor/operators/transfer.hpp"

namespace thor {
namespace {

[[noreturn]] void refuse_field(const std::string& field, const std::vector<std::string>& there) {
  throw Error(ExitCode::input, fmt::format("no field \"{}\"{} (fields: {})", field, config::suggestion(field, there),
                                           fmt::join(there, ", ")));
}

/// Fields of a model with cells.
class ModelCellFields final : public CellFields {
 public:
  ModelCellFields(const config::Dataset& dataset, const Medium& medium, const Line& line, int threads)
      : CellFields(dataset, threads), ion_(ion_of(line)) {
    set_grid(medium.grid, medium.grid.box());
    make_fields(medium, line);
    b_turb_ = medium.b_turb;
  }
  std::string units_of(const std::string& field) const override { return units_in_model(field); }
  Absorber absorber(const Line& line, const std::string& density_field) override {
    require_ion(line, ion_);
    return CellFields::absorber(line, density_field);
  }

 protected:
  std::vector<std::string> own_names() const override {
    std::vector<std::string> names;
    for (const auto& entry : made_) names.push_back(entry.first);
    return names;
  }
  bool has(const std::string& array) const override { return made_.contains(array); }
  io::Unit unit_of(const std::string& array) const override { return io::Unit(units_in_model(array)); }
  FieldArray product_of(const std::vector<std::string>& arrays) override {
    FieldArray field = made_[arrays.front()];
    field.numbers = std::make_shared<float[]>(field.count);
    for (std::size_t i = 0; i < field.count; ++i) {
      double value = 1;
      for (const std::string& name : arrays) value *= double(made_[name].numbers.get()[i]);
      field.numbers.get()[i] = float(value);
    }
    return field;
  }
  FieldArray component_of(const std::string& velocity, std::size_t axis) override {
    const std::string name = velocity + velocity_axes[axis];
    if (!has(name)) refuse(velocity);
    return made_[name];
  }
  [[noreturn]] void refuse(const std::string& field) const override { refuse_field(field, names()); }
  std::string density_of(const Line&) const override { return "density"; }

 private:
  void make_fields(const Medium& medium, const Line& line);

  const std::string ion_;
  std::map<std::string, FieldArray> made_;
};

/// Cells of a model are in the units of a run: those of fields are made of them.
void ModelCellFields::make_fields(const Medium& medium, const Line& line) {
  const CellRecords& gas_in_cells = *medium.cells;
  const AtomicTransition& first = line.first();
  FieldArray density = new_field(cells()), temperature = new_field(cells()), velocity[3];
  for (FieldArray& v : velocity) v = new_field(cells());
  const double per_kelvin = std::pow(first.thermal_speed(1, 0), 2);
  for (std::int64_t i = 0; i < cells().cells(); ++i) {
    const CellGas<double> gas = gas_in_cells.gas(i);
    const std::size_t at = cells().index(i);
    const double b = medium.thermal_speed / gas.inverse_width;
    // n sigma_0 a cell at the temperature of the cell, where sigma_0 goes as 1/b.
    density.numbers.get()[at] = float(gas.opacity / (medium.cross_section * medium.size * gas.inverse_width));
    temperature.numbers.get()[at] = float((b * b - medium.b_turb * medium.b_turb) / per_kelvin);
    const double v[] = {gas.velocity.x, gas.velocity.y, gas.velocity.z};
    for (std::size_t k = 0; k < 3; ++k)
      velocity[k].numbers.get()[at] = float(v[k] * medium.thermal_speed / constants::km);
  }
  made_["density"] = made_[ion_ + "_density"] = density;
  made_["temperature"] = temperature;
  for (std::size_t k = 0; k < 3; ++k) made_["velocity" + std::string(velocity_axes[k])] = velocity[k];
}

/// Fields of a model without cells, by formulas of its opacity.
class RegionFields final : public RayScene {
 public:
  RegionFields(Medium medium, const Line& line) : ion_(ion_of(line)), medium_(std::move(medium)) {
    const ModelShape shape = std::visit(
        []<class D>(const D& dataset) -> ModelShape {
          if constexpr (IsModel<D>) return shape_of_model(dataset);
          throw Error(ExitCode::internal, "cells are no model");
        },
        medium_.dataset);
    outline_.length = medium_.size, outline_.is_round = shape.round;
    for (std::size_t k = 0; k < 3; ++k) {
      outline_.is_infinite[k] = !std::isfinite(shape.half[k]);
      outline_.size[k] = 2 * outline_.length * (outline_.is_infinite[k] ? 1 : shape.half[k]);
    }
    b_turb_ = medium_.b_turb;
  }
  void forget() override { uses_.clear(), fields_.clear(); }

  FieldUse use(const std::string& product) override {
    const std::vector<std::string> factors = required_factors(product);
    return use_as(fmt::format("{}", fmt::join(factors, "*")), factors);
  }
  FieldUse place(const std::string& product, config::FieldScale scale, double low, double high) override;
  FieldUse over_mean(const std::string& product) override {
    mean_of(product);
    return {};
  }
  double mean_of(const std::string& product) override {
    use(product);
    throw Error(ExitCode::usage,
                "brightness: needs gas in cells (dataset.type uniform_grid or octree, or dataset.cells)");
  }
  void set_mean(const std::string&, double) override {}
  ValueRange range_of(const std::string& product) override {
    use(product);
    throw Error(ExitCode::usage, "spread: needs gas in cells (dataset.type uniform_grid or octree, or dataset.cells)");
  }
  std::string units_of(const std::string& field) const override { return units_in_model(field); }

  Absorber absorber(const Line& line, const std::string&) override {
    require_ion(line, ion_);
    Absorber a{use("density"), use("temperature"), {}};
    a.velocity.quantity.velocity = 0, a.velocity.unit = constants::km;
    return a;
  }
  double coldest(const FieldUse&) const override { return medium_.temperature; }
  double hottest(const FieldUse&) const override { return medium_.temperature; }
  double fastest(const FieldUse&) const override { return 0; }

  int fields_in_use() const override { return int(fields_.size()); }
  double bytes() const override { return 0; }
  bool has_single_places() const override { return true; }
  AnyScene<float> single_scene() const override { return scene<float>(); }
  AnyScene<double> double_scene() const override { return scene<double>(); }

 protected:
  std::vector<std::string> own_names() const override {
    return {"density", ion_ + "_density", "temperature", "velocity", ion_ + "_velocity"};
  }

 private:
  FieldUse use_as(const std::string& key, const std::vector<std::string>& factors);
  template <class Real>
  AnyScene<Real> scene() const;

  const std::string ion_;
  const Medium medium_;
  std::map<std::string, FieldUse> uses_;
  std::vector<ModelField<double>> fields_;
};

FieldUse RegionFields::use_as(const std::string& key, const std::vector<std::string>& factors) {
  if (const auto found = uses_.find(key); found != uses_.end()) return found->second;
  FieldUse use;
  ModelField<double> field{1, 0, 0, false};
  io::Unit unit;
  for (const std::string& factor : factors) {
    if (factor == "density" || factor == ion_ + "_density") {
      field.scale /= medium_.cross_section * medium_.size, ++field.power;
      unit = unit * io::Unit("cm-3");
    } else if (factor == "temperature") {
      field.scale *= medium_.temperature;
      unit = unit * io::Unit("K");
    } else if (factor == "velocity" || factor == ion_ + "_velocity") {
      if (use.quantity.velocity >= 0) refuse_velocities();
      use.quantity.velocity = 0;
      unit = unit * io::Unit("km s-1");
    } else {
      refuse_field(factor, names());
    }
  }
  if (field.power > 2) throw Error(ExitCode::usage, "a product has at most two densities of a model");
  use.unit = std::exp2(std::floor(std::log2(field.scale)));
  field.scale /= use.unit;
  if (fields_.size() == most_fields)
    throw Error(ExitCode::usage, "operators need too many fields: run them separately");
  fields_.push_back(field);
  use.quantity.field = int(fields_.size()) - 1;
  use.units = unit.text();
  return uses_[key] = use;
}

FieldUse RegionFields::place(const std::string& product, config::FieldScale scale, double low, double high) {
  const std::string key = fmt::format("{} {} {} {}", product, int(scale), low, high);
  if (const auto found = uses_.find(key); found != uses_.end()) return found->second;
  FieldUse use = use_as(key, required_factors(product));
  if (use.quantity.velocity >= 0) {
    throw Error(ExitCode::usage, "field: the velocity along a ray has no transfer function; use an array of the grid");
  }
  const bool log = scale == config::FieldScale::log;
  const double zero = log ? std::log(low) : low, width = (log ? std::log(high) : high) - zero;
  ModelField<double>& field = fields_[std::size_t(use.quantity.field)];
  field.logarithmic = log;
  const double factor = field.scale * use.unit;
  field.offset = ((log ? std::log(factor) : 0) - zero) / width;
  field.scale = (log ? double(field.power) : factor) / width;
  use.unit = 1;
  return uses_[key] = use;
}

template <class Real>
AnyScene<Real> RegionFields::scene() const {
  return std::visit(
      [&]<template <class> class D>(const D<double>& dataset) -> AnyScene<Real> {
        if constexpr (IsModel<D<double>>) {
          Scene<D<Real>> scene{};
          scene.dataset = convert<Real>(dataset);
          for (std::size_t k = 0; k < fields_.size(); ++k) {
            const ModelField<double>& f = fields_[k];
            scene.fields[k] = {Real(f.scale), f.power, Real(f.offset), f.logarithmic};
          }
          scene.speed = Real(medium_.thermal_speed / constants::km);
          return AnyScene<Real>(scene);
        }
        throw Error(ExitCode::internal, "cells are no model");
      },
      medium_.dataset);
}

}  // namespace

const char* units_in_model(const std::string& field) {
  return field.ends_with("density") ? "cm-3" : field == "temperature" ? "K" : "km s-1";
}

std::vector<std::string> required_factors(const std::string& product) {
  std::vector<std::string> factors = config::factors_of(product);
  if (!factors.empty()) return factors;
  throw Error(ExitCode::usage,
              fmt::format("expected a field, or a product of up to {} such as density * metallicity, got \"{:.100}\"",
                          config::most_factors, product));
}

void refuse_velocities() {
  throw Error(
      ExitCode::usage,
      "a product has at most one velocity along the ray: use components (such as HI_velocity_x) for the others");
}

void require_ion(const Line& line, const std::string& ion) {
  if (ion_of(line) == ion) return;
  throw Error(ExitCode::usage, fmt::format("the gas is {} (key line), and {} is a line of {}: set the key line to it",
                                           ion, line.name, ion_of(line)));
}

std::unique_ptr<RayScene> open_scene(const config::Dataset& dataset, const Line& line, int threads) {
  if (!dataset_type(dataset.type).model) return open_file_fields(dataset, threads);
  Medium medium = build_medium(outline_medium(dataset, line), dataset, line, {false, threads});
  if (medium.cells) return std::make_unique<ModelCellFields>(dataset, medium, line, threads);
  return std::make_unique<RegionFields>(std::move(medium), line);
}

}  // namespace thor
