#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "thor/config/nearest.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/rays/cell_fields.hpp"
#include "thor/io/array/input.hpp"
#include "thor/io/array/units.hpp"

namespace thor {
namespace {

/// Arrays of a file, with a number for each cell of its mesh.
class FileFields : public CellFields {
 public:
  FileFields(const config::Dataset& dataset, int threads) : CellFields(dataset, threads) { b_turb_ = dataset.b_turb; }
  std::string units_of(const std::string& field) const override {
    const io::Input file(dataset_.path);
    return file.has(field) ? io::Unit(io::units_of(file, field)).text() : units_in_model(field);
  }

 protected:
  virtual void require_shape(std::vector<std::string> arrays) const = 0;  ///< that of all
  bool has(const std::string& array) const override { return std::ranges::count(own_names(), array) > 0; }
  io::Unit unit_of(const std::string& array) const override {
    return io::Unit(io::units_of(io::Input(dataset_.path), array));
  }
  FieldArray product_of(const std::vector<std::string>& arrays) override {
    require_shape(arrays);
    return read(arrays);
  }
  FieldArray component_of(const std::string& velocity, std::size_t axis) override;
  [[noreturn]] void refuse(const std::string& field) const override;
  std::string density_of(const Line& line) const override { return ion_of(line) + "_density"; }
  void set_cgs(Absorber& a, const std::string& density, const std::string& temperature) const override {
    const io::Input file(dataset_.path);
    a.density.unit *= io::cgs_unit(file, density, Dimension::number_density);
    a.temperature.unit *= io::cgs_unit(file, temperature, Dimension::temperature);
  }
  FieldUse broadened(const Absorber& a, const Line& line) override;

 private:
  FieldArray read(const std::vector<std::string>& arrays) const {
    return read_product(dataset_.path, arrays, cells(), dataset_.bad_cells == config::BadCells::drop, threads_);
  }
};

/// Of a grid, or a part of it.
class GridFields final : public FileFields {
 public:
  GridFields(const config::Dataset& dataset, int threads) : FileFields(dataset, threads) {
    const std::vector<std::string> names = grid_fields(dataset.path);
    if (names.empty()) {
      throw Error(ExitCode::input,
                  dataset.path +
                      ": no three-dimensional array: not a grid file (`thor grid` makes one of a snapshot or a cube)");
    }
    reference_ = names.front();
    const GridShape grid = read_grid_shape(dataset, std::vector{reference_});
    set_grid(grid, grid.box());
  }
  std::unique_ptr<RayScene> part(const CellBox& box) const override {
    auto part = std::make_unique<GridFields>(*this);
    part->forget();
    part->set_grid(outline_.grid, box);
    return part;
  }

 protected:
  std::vector<std::string> own_names() const override { return grid_fields(dataset_.path); }
  void require_shape(std::vector<std::string> arrays) const override {
    arrays.insert(arrays.begin(), reference_);
    read_grid_shape(dataset_, arrays);
  }

 private:
  std::string reference_;  ///< an array whose shape is that of the grid, and of all others
};

/// Of any other mesh.
class MeshFields final : public FileFields {
 public:
  MeshFields(const config::Dataset& dataset, int threads, const RayMesh& mesh)
      : FileFields(dataset, threads), names_(mesh.fields), mesh_(mesh.mesh) {
    set_mesh(mesh);
  }

 protected:
  std::vector<std::string> own_names() const override { return names_; }
  void require_shape(std::vector<std::string> arrays) const override {
    const io::Input file(dataset_.path);
    for (const std::string& array : arrays) mesh_->check_field(file, array), file.require_whole(array);
  }

 private:
  const std::vector<std::string> names_;
  const std::shared_ptr<const HostMesh> mesh_;
};

FieldArray FileFields::component_of(const std::string& velocity, std::size_t axis) {
  const std::string name = velocity + velocity_axes[axis];
  const io::Input file(dataset_.path);
  if (!file.has(name)) refuse(axis == 0 ? velocity : name);
  require_shape({name});
  const double unit = velocity_unit(file, name) / constants::km;
  FieldArray component = read({name});
  const double scale = component.unit * unit;
  change(component, threads_, [scale](double v) { return v * scale; });
  component.unit = 1;
  return component;
}

void FileFields::refuse(const std::string& field) const {
  const std::vector<std::string> there = names();
  if (io::Input(dataset_.path).has(field)) {
    throw Error(ExitCode::input,
                fmt::format("{}: {} is not a field: expected {} (fields: {})", dataset_.path, field,
                            outline_.is_lattice() ? "a three-dimensional array of numbers" : "a number for each cell",
                            fmt::join(there, ", ")));
  }
  const bool weighted = field == "temperature" || field == "velocity";
  throw Error(ExitCode::input, fmt::format("{}: no field \"{}\"{} (fields: {}){}", dataset_.path, field,
                                           config::suggestion(field, there), fmt::join(there, ", "),
                                           weighted ? "; `thor grid --mass-weighted` writes that of all gas" : ""));
}

/// The temperature at which lines are as wide as with the turbulence of the cells: T + b_turb^2/b(1 K)^2.
FieldUse FileFields::broadened(const Absorber& a, const Line& line) {
  if (!has_turbulence(dataset_)) return a.temperature;
  const double speed = line.first().thermal_speed(1, 0);
  const std::string key =
      fmt::format("{} {} with b_turb of {}", a.density.quantity.field, a.temperature.quantity.field, speed);
  if (const auto found = uses_.find(key); found != uses_.end()) return found->second;
  if (has_isotopes(line)) {
    throw Error(
        ExitCode::input,
        fmt::format("{}: array b_turb cannot be used with line {}, whose isotopes have different widths: remove it",
                    dataset_.path, line.name));
  }
  require_shape({"b_turb"});
  const double unit = velocity_unit(io::Input(dataset_.path), "b_turb");
  const bool drop = dataset_.bad_cells == config::BadCells::drop;
  FieldArray field = read({"b_turb"});
  const FieldArray& density = field_of(a.density);
  const float* const kelvin = field_of(a.temperature).numbers.get();
  std::size_t bad = 0;
  for (std::size_t i = 0; i < field.count; ++i) {
    double b = double(field.numbers.get()[i]) * field.unit * unit;
    if (!(b >= 0 && b <= fastest_gas)) {
      if (density.numbers.get()[i] != 0) ++bad;
      if (drop) density.numbers.get()[i] = 0;
      b = 0;
    }
    field.numbers.get()[i] = float(double(kelvin[i]) * a.temperature.unit + b * b / (speed * speed));
  }
  if (bad > 0) {
    const std::string what =
        fmt::format("{}: array b_turb: {} cells with absorbing gas have less than 0 or more than {:.0f} km/s",
                    dataset_.path, bad, fastest_gas / constants::km);
    if (!drop) {
      throw Error(ExitCode::input, what + ": correct the file, or set dataset.bad_cells: drop to make them empty");
    }
    warning("{}; they are read as empty", what);
  }
  FieldUse use{{}, 1, "K"};
  field.unit = 1;
  use.quantity.field = add(std::move(field));
  return uses_[key] = use;
}

}  // namespace

std::unique_ptr<RayScene> open_file_fields(const config::Dataset& dataset, int threads) {
  const auto mesh = dataset_type(dataset.type).mesh_of_rays;
  if (mesh) return std::make_unique<MeshFields>(dataset, threads, mesh(dataset));
  return std::make_unique<GridFields>(dataset, threads);
}

}  // namespace thor
