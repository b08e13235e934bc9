#include "thor/drivers/rays/scene.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "thor/config/nearest.hpp"
#include "thor/core/constants.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/io/array/input.hpp"
#include "thor/io/array/units.hpp"
#include "thor/io/result/unit.hpp"
#include "thor/operators/keys.hpp"

namespace thor {
namespace {

const char* const axes[] = {"_x", "_y", "_z"};

/// "velocity" and "HI_velocity" are the component along a ray of arrays such as HI_velocity_x.
bool is_velocity(const std::string& field) { return field == "velocity" || field.ends_with("_velocity"); }

/// The factors of a product, at least one.
std::vector<std::string> required_factors(const std::string& product) {
  std::vector<std::string> factors = config::factors_of(product);
  if (!factors.empty()) return factors;
  throw Error(ExitCode::usage,
              fmt::format("expected a field, or a product of up to {} such as density * metallicity, got \"{:.100}\"",
                          config::most_factors, product));
}

[[noreturn]] void refuse_velocities() {
  throw Error(
      ExitCode::usage,
      "a product has at most one velocity along the ray: use components (such as HI_velocity_x) for the others");
}

}  // namespace

std::string ion_of(const Line& line) {
  std::string ion = line.first().ion;
  std::erase(ion, ' ');
  return ion;
}

RayScene::RayScene(const config::Dataset& dataset, const Line& line, int threads)
    : dataset_(dataset), ion_(ion_of(line)), threads_(threads), from_file_(!dataset_type(dataset.type).model) {
  if (from_file_) {
    is_grid_ = true;
    const std::vector<std::string> names = grid_fields(dataset.path);
    if (names.empty()) {
      throw Error(ExitCode::input,
                  dataset.path +
                      ": no three-dimensional array: not a grid file (`thor grid` makes one of a snapshot or a cube)");
    }
    reference_ = names.front();
    shape_ = read_grid_shape(dataset, std::vector{reference_});
    b_turb_ = dataset.b_turb;
  } else {
    const MediumOutline outline = outline_medium(dataset, line);
    medium_ = build_medium(outline, dataset, line, {false, threads});
    is_grid_ = std::holds_alternative<UniformGrid<double>>(medium_.dataset);
    shape_ = medium_.grid;
    length_ = medium_.size, b_turb_ = is_grid_ ? 0 : medium_.b_turb;
  }
  if (is_grid_) {
    length_ = shape_.cell_size;
    for (std::size_t k = 0; k < 3; ++k) {
      size_[k] = shape_.cell_size * double(shape_.count[k]);
      centre_[k] = shape_.origin[k] + 0.5 * size_[k];
    }
    part_ = shape_.box();
    if (!from_file_) make_fields_of_cells(line);
  } else {
    const ModelShape shape = std::visit(
        []<class D>(const D& dataset) {
          if constexpr (requires { shape_of_model(dataset); }) {
            return shape_of_model(dataset);
          } else {
            return ModelShape{false, {1, 1, 1}};  // of cells
          }
        },
        medium_.dataset);
    is_round_ = shape.round;
    for (std::size_t k = 0; k < 3; ++k) {
      infinite_[k] = !std::isfinite(shape.half[k]);
      size_[k] = 2 * length_ * (infinite_[k] ? 1 : shape.half[k]);
    }
  }
}

/// Cells of a model are in the units of a run: those of fields are made of them.
void RayScene::make_fields_of_cells(const Line& line) {
  const UniformGrid<double> layout = field_layout(shape_, part_);
  const Cells& cells = *medium_.cells;
  const AtomicTransition& first = line.first();
  FieldArray density = new_field(layout), temperature = new_field(layout), velocity[3];
  for (FieldArray& v : velocity) v = new_field(layout);
  const double per_kelvin = std::pow(first.thermal_speed(1, 0), 2);
  for (std::int64_t i = 0; i < shape_.cells(); ++i) {
    const CellGas<double> gas = cells.gas(i);
    const std::size_t at = place_of(layout, i);
    const double b = medium_.thermal_speed / gas.inverse_width;
    // n sigma_0 a cell at the temperature of the cell, where sigma_0 goes as 1/b.
    density.numbers.get()[at] = float(gas.opacity / (medium_.cross_section * medium_.size * gas.inverse_width));
    temperature.numbers.get()[at] = float((b * b - medium_.b_turb * medium_.b_turb) / per_kelvin);
    const double v[] = {gas.velocity.x, gas.velocity.y, gas.velocity.z};
    for (std::size_t k = 0; k < 3; ++k)
      velocity[k].numbers.get()[at] = float(v[k] * medium_.thermal_speed / constants::km);
  }
  made_["density"] = made_[ion_of(line) + "_density"] = density;
  made_["temperature"] = temperature;
  for (std::size_t k = 0; k < 3; ++k) made_["velocity" + std::string(axes[k])] = velocity[k];
  b_turb_ = medium_.b_turb;
}

void RayScene::set_part(const CellBox& box) {
  part_ = box;
  uses_.clear(), fields_.clear();
}

std::vector<std::string> RayScene::names() const {
  std::vector<std::string> names;
  if (from_file_) {
    names = grid_fields(dataset_.path);
  } else if (is_grid_) {
    for (const auto& entry : made_) names.push_back(entry.first);
  } else {
    names = {"density", ion_ + "_density", "temperature", "velocity", ion_ + "_velocity"};
  }
  std::vector<std::string> velocities;
  for (const std::string& name : names) {
    if (name.ends_with("velocity_x")) velocities.push_back(name.substr(0, name.size() - 2));
  }
  std::erase_if(names, [&](const std::string& name) { return std::ranges::count(velocities, name) > 0; });
  names.insert(names.end(), velocities.begin(), velocities.end());
  return names;
}

void RayScene::refuse(const std::string& field) const {
  const std::vector<std::string> there = names();
  const bool weighted = field == "temperature" || field == "velocity";
  if (from_file_ && io::Input(dataset_.path).has(field)) {
    throw Error(ExitCode::input,
                fmt::format("{}: {} is not a field: expected a three-dimensional array of numbers (fields: {})",
                            dataset_.path, field, fmt::join(there, ", ")));
  }
  throw Error(ExitCode::input,
              fmt::format("{}no field \"{}\"{} (fields: {}){}", from_file_ ? dataset_.path + ": " : "", field,
                          config::suggestion(field, there), fmt::join(there, ", "),
                          from_file_ && weighted ? "; `thor grid --mass-weighted` writes that of all gas" : ""));
}

void RayScene::require_shape(std::vector<std::string> fields) const {
  fields.insert(fields.begin(), reference_);
  read_grid_shape(dataset_, fields);
}

int RayScene::add(FieldArray field) {
  if (fields_.size() == most_fields) {
    throw Error(ExitCode::usage, fmt::format("operators need more than {} fields: run them separately", most_fields));
  }
  fields_.push_back(std::move(field));
  return int(fields_.size()) - 1;
}

double RayScene::bytes() const {
  double bytes = 0;
  for (const FieldArray& field : fields_) bytes += 4. * double(field.count);
  return bytes;
}

int RayScene::velocity_of_file(const std::string& prefix) {
  const std::string key = prefix + " components";
  if (const auto found = uses_.find(key); found != uses_.end()) return found->second.quantity.velocity;
  std::array<FieldArray, 3> components;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string name = prefix + axes[k];
    if (from_file_) {
      const io::Input file(dataset_.path);
      if (!file.has(name)) refuse(k == 0 ? prefix : name);
      require_shape({name});
      // In km/s, all with one unit.
      const double unit = velocity_unit(file, name) / constants::km;
      components[k] =
          read_product(dataset_.path, {name}, shape_, part_, dataset_.bad_cells == config::BadCells::drop, threads_);
      const double scale = components[k].unit * unit;
      change(components[k], threads_, [scale](double v) { return v * scale; });
      components[k].unit = 1;
    } else {
      if (!made_.contains(name)) refuse(prefix);
      components[k] = made_[name];
    }
  }
  int first = -1;
  for (FieldArray& component : components) {
    const int index = add(std::move(component));
    if (first < 0) first = index;
  }
  uses_[key].quantity.velocity = first;
  return first;
}

FieldUse RayScene::use_of_file(const std::string& key, const std::vector<std::string>& factors) {
  if (const auto found = uses_.find(key); found != uses_.end()) return found->second;
  FieldUse use;
  std::vector<std::string> scalars;
  io::Unit unit;
  for (const std::string& factor : factors) {
    const auto has = [&](const std::string& name) {
      return from_file_ ? std::ranges::count(grid_fields(dataset_.path), name) > 0 : made_.contains(name);
    };
    if (has(factor) && !(is_velocity(factor) && has(factor + "_x"))) {
      scalars.push_back(factor);
      if (from_file_) {
        unit = unit * io::Unit(io::units_of(io::Input(dataset_.path), factor));
      } else {
        unit = unit * io::Unit(factor.ends_with("density") ? "cm-3" : factor == "temperature" ? "K" : "km s-1");
      }
    } else if (is_velocity(factor)) {
      if (use.quantity.velocity >= 0) refuse_velocities();
      use.quantity.velocity = velocity_of_file(factor);
      unit = unit * io::Unit("km s-1");
    } else {
      refuse(factor);
    }
  }
  if (!scalars.empty()) {
    FieldArray field;
    if (from_file_) {
      require_shape(scalars);
      field =
          read_product(dataset_.path, scalars, shape_, part_, dataset_.bad_cells == config::BadCells::drop, threads_);
    } else {
      field = made_[scalars.front()];
      field.numbers = std::make_shared<float[]>(field.count);
      for (std::size_t i = 0; i < field.count; ++i) {
        double value = 1;
        for (const std::string& name : scalars) value *= double(made_[name].numbers.get()[i]);
        field.numbers.get()[i] = float(value);
      }
    }
    use.unit = field.unit;
    use.quantity.field = add(std::move(field));
  }
  use.units = unit.text();
  return uses_[key] = use;
}

FieldUse RayScene::use_of_model(const std::string& key, const std::vector<std::string>& factors) {
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
      refuse(factor);
    }
  }
  if (field.power > 2) throw Error(ExitCode::usage, "a product has at most two densities of a model");
  use.unit = std::exp2(std::floor(std::log2(field.scale)));
  field.scale /= use.unit;
  if (model_fields_.size() == most_fields)
    throw Error(ExitCode::usage, "operators need too many fields: run them separately");
  model_fields_.push_back(field);
  use.quantity.field = int(model_fields_.size()) - 1;
  use.units = unit.text();
  return uses_[key] = use;
}

FieldUse RayScene::use(const std::string& product) {
  const std::vector<std::string> factors = required_factors(product);
  const std::string key = fmt::format("{}", fmt::join(factors, "*"));
  return is_grid_ ? use_of_file(key, factors) : use_of_model(key, factors);
}

FieldUse RayScene::place(const std::string& product, config::FieldScale scale, double low, double high) {
  const std::string key = fmt::format("{} {} {} {}", product, int(scale), low, high);
  if (const auto found = uses_.find(key); found != uses_.end()) return found->second;
  const std::size_t fields_before = fields_.size();
  FieldUse use = is_grid_ ? this->use(product) : use_of_model(key, required_factors(product));
  if (use.quantity.velocity >= 0) {
    throw Error(ExitCode::usage, "field: the velocity along a ray has no transfer function; use an array of the grid");
  }
  const bool log = scale == config::FieldScale::log;
  const double zero = log ? std::log(low) : low, width = (log ? std::log(high) : high) - zero;
  if (!is_grid_) {
    ModelField<double>& field = model_fields_[std::size_t(use.quantity.field)];
    field.logarithmic = log;
    const double factor = field.scale * use.unit;
    field.offset = ((log ? std::log(factor) : 0) - zero) / width;
    field.scale = (log ? double(field.power) : factor) / width;
    use.unit = 1;
    return uses_[key] = use;
  }
  const bool is_new = fields_.size() > fields_before;  // then the values themselves are not needed
  FieldArray placed = fields_[std::size_t(use.quantity.field)];
  if (!is_new) {
    const std::shared_ptr<float[]> raw = placed.numbers;
    placed.numbers = std::make_shared<float[]>(placed.count);
    std::copy_n(raw.get(), placed.count, placed.numbers.get());
  }
  const double unit = placed.unit;
  change(placed, threads_, [=](double v) {
    v *= unit;
    const double t = log ? (v > 0 ? std::log(v) : -1e30) : v;
    return std::clamp((t - zero) / width, -1., 2.);
  });
  placed.unit = use.unit = 1;
  if (is_new) {
    fields_[std::size_t(use.quantity.field)] = std::move(placed);
    std::erase_if(uses_, [&](const auto& entry) {
      return entry.second.quantity.field == use.quantity.field && entry.second.quantity.velocity < 0;
    });
  } else {
    use.quantity.field = add(std::move(placed));
  }
  return uses_[key] = use;
}

double RayScene::mean_of(const std::string& product) {
  const FieldUse use = this->use(product);
  if (!is_grid_) throw Error(ExitCode::usage, "brightness: needs a grid (dataset.type uniform_grid, or dataset.cells)");
  if (use.quantity.velocity >= 0)
    throw Error(ExitCode::usage, "brightness: expected an array of the grid, not a velocity");
  const FieldArray& field = fields_[std::size_t(use.quantity.field)];
  double sum = 0;  // cells that fill up the last tiles are 0
  for (std::size_t i = 0; i < field.count; ++i) sum += double(field.numbers.get()[i]);
  return sum * field.unit / double(shape_.cells());
}

FieldUse RayScene::over_mean(const std::string& product) {
  if (!means_.contains(product)) means_[product] = mean_of(product);
  const double by = means_[product];
  const std::string key = fmt::format("{} over {}", product, by);
  if (const auto found = uses_.find(key); found != uses_.end()) return found->second;
  if (!(by > 0))
    throw Error(ExitCode::input, fmt::format("brightness: {} has mean {}; expected a positive value", product, by));
  FieldUse use = this->use(product);
  FieldArray scaled = fields_[std::size_t(use.quantity.field)];
  if (std::any_of(scaled.numbers.get(), scaled.numbers.get() + scaled.count, [](float v) { return v < 0; })) {
    throw Error(ExitCode::input, fmt::format("brightness: {} has negative values; expected none", product));
  }
  const FieldArray raw = scaled;
  scaled.numbers = std::make_shared<float[]>(raw.count);
  std::copy_n(raw.numbers.get(), raw.count, scaled.numbers.get());
  change(scaled, threads_, [factor = raw.unit / by](double v) { return v * factor; });
  scaled.unit = use.unit = 1;
  use.quantity.field = add(std::move(scaled));
  return uses_[key] = use;
}

template <class Real>
AnyScene<Real> RayScene::scene() const {
  if (is_grid_) {
    Scene<UniformGrid<Real>> scene{};
    scene.dataset = convert<Real>(field_layout(shape_, part_));
    for (std::size_t k = 0; k < 3; ++k) {
      scene.zero[k] = -shape_.origin[k] / shape_.cell_size;
      scene.first[k] = int(part_.first[k]);
    }
    for (std::size_t k = 0; k < fields_.size(); ++k) scene.fields[k] = {fields_[k].numbers.get(), fields_[k].count};
    return AnyScene<Real>(scene);
  }
  return std::visit(
      [&]<template <class> class D>(const D<double>& dataset) -> AnyScene<Real> {
        if constexpr (std::is_same_v<D<double>, UniformGrid<double>>) {
          throw Error(ExitCode::internal, "a grid is no model");
        } else {
          Scene<D<Real>> scene{};
          scene.dataset = convert<Real>(dataset);
          for (std::size_t k = 0; k < model_fields_.size(); ++k) {
            const ModelField<double>& f = model_fields_[k];
            scene.fields[k] = {Real(f.scale), f.power, Real(f.offset), f.logarithmic};
          }
          scene.speed = Real(medium_.thermal_speed / constants::km);
          return AnyScene<Real>(scene);
        }
      },
      medium_.dataset);
}
template AnyScene<float> RayScene::scene() const;
template AnyScene<double> RayScene::scene() const;

}  // namespace thor
