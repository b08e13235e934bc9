#include "thor/drivers/rays/cell_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "thor/core/error.hpp"
#include "thor/operators/keys.hpp"
#include "thor/operators/transfer.hpp"

namespace thor {
namespace {

bool is_velocity(const std::string& field) { return field == "velocity" || field.ends_with("_velocity"); }

}  // namespace

void CellFields::set_grid(const GridShape& grid, const CellBox& part) {
  outline_.has_cells = true, outline_.grid = grid, outline_.length = grid.cell_size;
  outline_.corner = grid.origin, outline_.periodic = grid.periodic;
  outline_.redshift = grid.redshift, outline_.hubble = grid.hubble;
  for (std::size_t k = 0; k < 3; ++k) {
    outline_.sides[k] = double(grid.count[k]);
    outline_.size[k] = grid.cell_size * outline_.sides[k];
    outline_.centre[k] = grid.origin[k] + 0.5 * outline_.size[k];
    first_[k] = int(part.first[k]);
  }
  const auto cells = std::make_shared<const GridFieldCells>(grid, part);
  mesh_ = cells->layout(), cells_ = cells;
}

void CellFields::set_mesh(const RayMesh& mesh) {
  outline_.has_cells = true, outline_.length = mesh.unit, outline_.periodic = mesh.mesh->periodic();
  outline_.redshift = mesh.redshift, outline_.hubble = mesh.hubble, outline_.sides = mesh.mesh->sides();
  for (std::size_t k = 0; k < 3; ++k) {
    outline_.corner[k] = mesh.mesh->low()[k] * mesh.unit, outline_.size[k] = outline_.sides[k] * mesh.unit;
    outline_.centre[k] = outline_.corner[k] + 0.5 * outline_.size[k];
  }
  outline_.cells_per_length = 4 * std::cbrt(double(mesh.mesh->cells())) / *std::ranges::max_element(outline_.sides);
  mesh_ = mesh.dataset, cells_ = std::make_shared<const MeshFieldCells>(mesh.mesh, mesh.unit);
}

int CellFields::add(FieldArray field) {
  if (fields_.size() == most_fields) {
    throw Error(ExitCode::usage, fmt::format("operators need more than {} fields: run them separately", most_fields));
  }
  fields_.push_back(std::move(field));
  return int(fields_.size()) - 1;
}

double CellFields::bytes() const {
  double bytes = 0;
  for (const FieldArray& field : fields_) bytes += 4. * double(field.count);
  return bytes;
}

/// The first of the three fields of a velocity.
int CellFields::velocity_of(const std::string& prefix) {
  const std::string key = prefix + " components";
  if (const auto found = uses_.find(key); found != uses_.end()) return found->second.quantity.velocity;
  std::array<FieldArray, 3> components;
  for (std::size_t k = 0; k < 3; ++k) components[k] = component_of(prefix, k);
  int first = -1;
  for (FieldArray& component : components) {
    const int index = add(std::move(component));
    if (first < 0) first = index;
  }
  uses_[key].quantity.velocity = first;
  return first;
}

FieldUse CellFields::use(const std::string& product) {
  const std::vector<std::string> factors = required_factors(product);
  const std::string key = fmt::format("{}", fmt::join(factors, "*"));
  if (const auto found = uses_.find(key); found != uses_.end()) return found->second;
  FieldUse use;
  std::vector<std::string> scalars;
  io::Unit unit;
  for (const std::string& factor : factors) {
    if (has(factor) && !(is_velocity(factor) && has(factor + "_x"))) {
      scalars.push_back(factor);
      unit = unit * unit_of(factor);
    } else if (is_velocity(factor)) {
      if (use.quantity.velocity >= 0) refuse_velocities();
      use.quantity.velocity = velocity_of(factor);
      unit = unit * io::Unit("km s-1");
    } else {
      refuse(factor);
    }
  }
  if (!scalars.empty()) {
    FieldArray field = product_of(scalars);
    use.unit = field.unit;
    use.quantity.field = add(std::move(field));
  }
  use.units = unit.text();
  return uses_[key] = use;
}

FieldUse CellFields::place(const std::string& product, config::FieldScale scale, double low, double high) {
  const std::string key = fmt::format("{} {} {} {}", product, int(scale), low, high);
  if (const auto found = uses_.find(key); found != uses_.end()) return found->second;
  const std::size_t fields_before = fields_.size();
  FieldUse use = this->use(product);
  if (use.quantity.velocity >= 0) {
    throw Error(ExitCode::usage, "field: the velocity along a ray has no transfer function; use an array of the file");
  }
  const bool log = scale == config::FieldScale::log;
  const double zero = log ? std::log(low) : low, width = (log ? std::log(high) : high) - zero;
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

double CellFields::mean_of(const std::string& product) {
  const FieldUse use = this->use(product);
  if (use.quantity.velocity >= 0)
    throw Error(ExitCode::usage, "brightness: expected an array of the file, not a velocity");
  return cells_->mean(field_of(use));
}

FieldUse CellFields::over_mean(const std::string& product) {
  if (!means_.contains(product)) means_[product] = mean_of(product);
  const double by = means_[product];
  const std::string key = fmt::format("{} over {}", product, by);
  if (const auto found = uses_.find(key); found != uses_.end()) return found->second;
  if (!(by > 0))
    throw Error(ExitCode::input, fmt::format("brightness: {} has mean {}; expected a positive value", product, by));
  FieldUse use = this->use(product);
  FieldArray scaled = field_of(use);
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
AnyScene<Real> CellFields::scene() const {
  return std::visit(
      [&]<template <class> class D>(const D<double>& dataset) -> AnyScene<Real> {
        if constexpr (!IsModel<D<double>>) {
          Scene<D<Real>> scene{};
          scene.dataset = convert<Real>(dataset);
          for (std::size_t k = 0; k < 3; ++k) {
            scene.zero[k] = -outline_.corner[k] / outline_.length, scene.first[k] = first_[k];
          }
          for (std::size_t k = 0; k < fields_.size(); ++k) {
            scene.fields[k] = {fields_[k].numbers.get(), fields_[k].count};
          }
          return AnyScene<Real>(scene);
        }
        throw Error(ExitCode::internal, "a model is no mesh");
      },
      mesh_);
}
template AnyScene<float> CellFields::scene() const;
template AnyScene<double> CellFields::scene() const;

}  // namespace thor
