#include "thor/datasets/grid_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>

#include "thor/config/nearest.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/core/message.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/io/array/units.hpp"
#include "thor/io/grid_format.hpp"

namespace thor {
namespace {

const char* const turbulence_field = "b_turb";
const char* const velocity_fields[] = {"velocity_x", "velocity_y", "velocity_z"};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ExitCode::input, path + ": " + what);
}

std::string ion_of(const Line& line) {
  std::string ion = line.first().ion;
  std::erase(ion, ' ');
  return ion;
}

/// The arrays of the gas that the line sees.
struct GasArrays {
  std::string density, temperature;
  std::array<std::string, 3> velocity;
  bool of_ion = false;  ///< weighted by the absorber's number; else by mass, of all gas

  std::vector<std::string> all() const { return {density, temperature, velocity[0], velocity[1], velocity[2]}; }
};

/// Temperature and velocity are those of the ion whose density is taken, where the file has them. All four or none.
GasArrays arrays_of(const io::Input& file, const config::Dataset& dataset, const Line& line) {
  GasArrays out;
  out.density = density_field(dataset, line);
  const std::string suffix = "_density";
  const std::string ion = out.density.ends_with(suffix) && out.density.size() > suffix.size()
                              ? out.density.substr(0, out.density.size() - suffix.size())
                              : ion_of(line);
  out.temperature = ion + "_temperature";
  out.of_ion = file.has(out.temperature);
  for (std::size_t k = 0; k < 3; ++k) {
    out.velocity[k] = ion + "_" + velocity_fields[k];
    out.of_ion = out.of_ion || file.has(out.velocity[k]);
  }
  if (out.of_ion) return out;
  out.temperature = "temperature";
  std::copy(std::begin(velocity_fields), std::end(velocity_fields), out.velocity.begin());
  return out;
}

double attribute(const io::Input& file, const char* name) {
  const auto value = file.number("/", name);
  if (file.numbers("/", name).size() > 1) {
    fail(file.path().string(), fmt::format("attribute \"{}\" of the root group is a list; expected a number", name));
  }
  if (const auto text = file.text("/", name)) {
    fail(file.path().string(),
         fmt::format("attribute \"{}\" of the root group is the text \"{}\"; expected a number", name, *text));
  }
  if (!value) {
    fail(file.path().string(),
         fmt::format(
             "no attribute \"{}\" in the root group: not a grid file (`thor grid` makes one of a snapshot or a cube)",
             name));
  }
  if (!std::isfinite(*value)) fail(file.path().string(), fmt::format("attribute \"{}\" is not a number", name));
  return *value;
}

/// One that need not be there.
double attribute(const io::Input& file, const char* name, double fallback) {
  return file.number("/", name) || file.text("/", name) ? attribute(file, name) : fallback;
}

/// Counts what cannot be gas, and remembers where the first one is.
class BadCounter {
 public:
  explicit BadCounter(const GridShape& shape) : cells_(std::size_t(shape.cells())) {}
  void add(const char* what, std::int64_t cell, double value) {
    const std::lock_guard lock(mutex_);
    bad_.resize(cells_);
    if (!bad_[std::size_t(cell)]) ++count_;
    bad_[std::size_t(cell)] = true;
    if (first_.empty() || cell < cell_) first_ = fmt::format("{} = {}", what, value), cell_ = cell;
  }
  std::int64_t count() const { return count_; }
  const std::vector<bool>& cells() const { return bad_; }  ///< empty: none
  std::string text(const GridShape& shape, const CellBox& box) const {
    const auto [nx, ny, nz] = shape.count;
    return fmt::format("{} of {} cells are bad, the first is [{}, {}, {}] with {}", count_, shape.cells(),
                       box.first[0] + cell_ / (ny * nz), box.first[1] + cell_ / nz % ny, box.first[2] + cell_ % nz,
                       first_);
  }

 private:
  std::mutex mutex_;
  std::size_t cells_;
  std::vector<bool> bad_;
  std::int64_t count_ = 0, cell_ = 0;
  std::string first_;
};

}  // namespace

double velocity_unit(const io::Input& file, const std::string& field) {
  if (io::units_of(file, field).empty()) {
    fail(file.path().string(),
         fmt::format("array {} has no attribute units; set it to \"km s-1\" or \"cm s-1\"", field));
  }
  return io::cgs_unit(file, field, Dimension::velocity);
}

bool has_isotopes(const Line& line) {
  return std::ranges::any_of(line.absorbing(), [&](const AtomicTransition* t) { return t->ion != line.first().ion; });
}

bool has_turbulence(const config::Dataset& dataset) { return io::Input(dataset.path).has(turbulence_field); }

std::string density_field(const config::Dataset& dataset, const Line& line) {
  return dataset.density_field.empty() ? ion_of(line) + "_density" : dataset.density_field;
}

GridShape read_grid_shape(const config::Dataset& dataset, const Line& line) {
  const io::Input file(dataset.path);
  std::vector<std::string> needed = arrays_of(file, dataset, line).all();
  if (file.has(turbulence_field)) needed.emplace_back(turbulence_field);
  if (dataset.dust) needed.push_back(dataset.dust_field);
  return read_grid_shape(dataset, needed);
}

std::vector<std::string> grid_fields(const std::string& path) {
  const io::Input file(path);
  std::vector<std::string> names;
  for (const std::string& name : file.children("/")) {
    try {
      const io::ArrayInfo info = file.array(name);
      if (info.numeric && info.shape.size() == 3) names.push_back(name);
    } catch (const Error&) {  // a group
    }
  }
  return names;
}

GridShape read_grid_shape(const config::Dataset& dataset, const std::vector<std::string>& needed) {
  const io::Input file(dataset.path);
  if (const double version = attribute(file, "format_version", 1);
      !(version >= 1 && version <= io::grid_format_version)) {
    fail(dataset.path,
         fmt::format("its format_version is {}; this thor reads grids up to {}: use a newer thor, or grid the "
                     "snapshot again",
                     version, io::grid_format_version));
  }
  GridShape shape;
  shape.cell_size = attribute(file, "cell_size");
  const char* const origins[] = {"origin_x", "origin_y", "origin_z"};
  for (std::size_t k = 0; k < 3; ++k) shape.origin[k] = attribute(file, origins[k]);
  if (!(shape.cell_size > 0))
    fail(dataset.path, fmt::format("attribute cell_size is {}; expected a value above 0, in cm", shape.cell_size));
  shape.periodic = attribute(file, "periodic", 0) != 0;
  shape.redshift = attribute(file, "redshift", 0);
  if (!(shape.redshift > -1 && shape.redshift < 1e4)) {
    fail(dataset.path,
         fmt::format("attribute redshift is {}; expected a value above -1 and below 10000", shape.redshift));
  }
  shape.hubble = dataset.hubble_flow ? attribute(file, "hubble", 0) : 0;
  if (!(shape.hubble >= 0 && shape.hubble < 1))
    fail(dataset.path,
         fmt::format("attribute hubble is {}; expected the Hubble rate, from 0 to 1 per s", shape.hubble));
  if (dataset.boundary != config::Boundary::file) shape.periodic = dataset.boundary == config::Boundary::periodic;

  const std::vector<std::string> there = file.children("/");
  for (const std::string& field : needed) {
    if (!file.has(field) && std::ranges::count(there, field) > 0) {
      fail(dataset.path,
           fmt::format("array \"{}\" is a link to a file or an array that is missing: copy that file too", field));
    }
    if (!file.has(field)) {
      fail(dataset.path,
           fmt::format(
               "no array \"{}\"{} (arrays: {}){}", field, config::suggestion(field, there), fmt::join(there, ", "),
               field == "dust" ? "; remove dataset.dust, set dataset.dust_field, or grid a snapshot with metallicities"
                               : ""));
    }
    const io::ArrayInfo info = file.array(field);
    if (!info.numeric || info.shape.size() != 3) {
      fail(dataset.path, fmt::format("array \"{}\" is {} with {} dimensions; expected numbers with dimensions x, y, z",
                                     field, info.type, info.shape.size()));
    }
    for (std::size_t k = 0; k < 3; ++k) {
      if (info.shape[k] == 0 || info.shape[k] > (1u << 30)) {
        fail(dataset.path,
             fmt::format("array \"{}\" has {} cells along one side; expected 1 to 2^30", field, info.shape[k]));
      }
      if (shape.count[k] == 0) shape.count[k] = std::int64_t(info.shape[k]);
      if (shape.count[k] != std::int64_t(info.shape[k])) {
        fail(dataset.path, fmt::format("array \"{}\" is {} and \"{}\" is {}: they must have the same shape", field,
                                       fmt::join(info.shape, " x "), needed.front(), fmt::join(shape.count, " x ")));
      }
    }
    file.require_whole(field);  // before there is memory for so many cells
  }
  for (std::size_t k = 0; k < 3; ++k) {
    shape.tiles[k] = std::int64_t(dataset.tiles);
    shape.count[k] *= shape.tiles[k];
    if (shape.count[k] > (1 << 30)) fail(dataset.path, "dataset.tiles: more than 2^30 cells along one side");
  }
  const double side = shape.cell_size * double(std::ranges::max(shape.count));
  if (!(side < 1e32)) fail(dataset.path, fmt::format("the grid is {:.3g} cm wide; expected cell_size in cm", side));
  for (const double x : shape.origin) {
    if (!(std::abs(x) < 1e12 * shape.cell_size)) {
      fail(dataset.path, fmt::format("the origin {:.3g} cm is more than 1e12 cells away, which exceeds double "
                                     "precision: use coordinates relative to the gas",
                                     x));
    }
  }
  if (shape.hubble * side > 3 * constants::c) {  // photons of a periodic box are stopped before they cross it
    fail(dataset.path,
         fmt::format("hubble = {:.3g} per s gives {:.3g} km/s across the grid; expected H in 1/s and a smaller grid",
                     shape.hubble, shape.hubble * side / constants::km));
  }
  return shape;
}

void read_field(const std::string& path, const std::string& field, const GridShape& shape, const CellBox& box,
                int threads, const std::function<void(std::int64_t, double)>& take) {
  // Where in the box a cell of the file comes to lie along each axis: nowhere, or more than once in a grid of tiles.
  std::array<std::vector<std::vector<std::int64_t>>, 3> places;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::int64_t count = shape.count[k] / shape.tiles[k];
    places[k].resize(std::size_t(count));
    for (std::int64_t i = 0; i < box.count[k]; ++i) {
      const std::int64_t cell = (box.first[k] + i) % count;
      places[k][std::size_t(cell < 0 ? cell + count : cell)].push_back(i);
    }
  }
  const auto wanted = [&](const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& count) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint64_t end = std::min<std::uint64_t>(first[k] + count[k], places[k].size());
      bool any = false;
      for (std::uint64_t i = first[k]; i < end && !any; ++i) any = !places[k][i].empty();
      if (!any) return false;
    }
    return true;
  };
  const auto [nx, ny, nz] = box.count;
  io::Input(path).read_blocks<float>(
      field, threads,
      [&, ny = ny, nz = nz](const io::Block<float>& block) {
        const float* value = block.values.data();
        for (std::uint64_t x = 0; x < block.count[0]; ++x) {
          for (std::uint64_t y = 0; y < block.count[1]; ++y, value += block.count[2]) {
            for (const std::int64_t i : places[0][block.first[0] + x]) {
              for (const std::int64_t j : places[1][block.first[1] + y]) {
                for (std::uint64_t z = 0; z < block.count[2]; ++z) {
                  for (const std::int64_t k : places[2][block.first[2] + z]) {
                    take((i * ny + j) * nz + k, double(value[z]));
                  }
                }
              }
            }
          }
        }
      },
      wanted);
}

double read_fastest(const config::Dataset& dataset, const Line& line, const GridShape& shape, const CellBox& box,
                    int threads) {
  const io::Input file(dataset.path);
  const GasArrays arrays = arrays_of(file, dataset, line);
  std::atomic<double> largest{0};
  for (const std::string& field : arrays.velocity) {
    const double unit = velocity_unit(file, field);
    read_field(dataset.path, field, shape, box, threads, [&](std::int64_t, double v) {
      const double speed = std::abs(v * unit);
      for (double seen = largest; speed > seen && speed <= fastest_gas && !largest.compare_exchange_weak(seen, speed);)
        ;
    });
  }
  return largest;
}

std::shared_ptr<Cells> read_cells(const config::Dataset& dataset, const Line& line, const GridShape& whole,
                                  const CellUnits& units, const CellRequest& request) {
  const std::string& path = dataset.path;
  const CellBox& box = request.box;
  const GridShape shape = whole.part(box);
  const int threads = request.threads;
  BadCounter bad(shape);
  const auto refuse = [&](const char* what, std::int64_t i, double value) { bad.add(what, i, value); };
  const auto read = [&](const std::string& field, const std::function<void(std::int64_t, double)>& take) {
    read_field(path, field, whole, box, threads, take);
  };

  const io::Input file(path);
  const GasArrays arrays = arrays_of(file, dataset, line);
  if (!arrays.of_ion && !request.silent) {
    const std::string ion = ion_of(line);
    warning(
        "{}: no arrays {}_temperature and {}_velocity_x, _y, _z: the temperature and velocity of all gas are used for "
        "{}. Write the grid with `thor grid`.",
        path, ion, ion, ion);
  }
  double unit[3];
  for (std::size_t k = 0; k < 3; ++k) unit[k] = velocity_unit(file, arrays.velocity[k]);
  const double per_volume = io::cgs_unit(file, arrays.density, Dimension::number_density);
  const double kelvin = io::cgs_unit(file, arrays.temperature, Dimension::temperature);
  const double dust_unit = dataset.dust ? io::cgs_unit(file, dataset.dust_field, Dimension::number_density) : 1;
  double fastest = request.fastest_known;
  if (dataset.packed && fastest == 0) fastest = read_fastest(dataset, line, whole, box, threads);
  auto cells = std::make_shared<Cells>(shape, CellLayout{dataset.packed, dataset.dust.has_value(), request.core_skip},
                                       units, fastest);
  read(arrays.density, [&](std::int64_t i, double value) {
    const double n = value * per_volume;
    const bool good = n >= 0 && n < 1e30;
    if (!good) refuse("density", i, n);
    cells->set_density(i, good ? n : 0);
  });
  const bool turbulent = file.has(turbulence_field);
  if (turbulent) {
    const double speed = velocity_unit(file, turbulence_field);
    read(turbulence_field, [&](std::int64_t i, double value) {
      const double b = value * speed;
      const bool good = b >= 0 && b <= fastest_gas;
      if (!good) refuse(turbulence_field, i, value);
      cells->set_turbulence(i, good ? b : 0);
    });
  }
  read(arrays.temperature, [&](std::int64_t i, double value) {
    const double temperature = value * kelvin;
    const bool good = temperature >= coldest_gas && temperature <= hottest_gas;
    if (!good) refuse(arrays.temperature.c_str(), i, temperature);
    cells->set_temperature(i, good ? temperature : 1e4, turbulent ? cells->turbulence(i) : 0);
  });
  for (int k = 0; k < 3; ++k) {
    const auto a = std::size_t(k);
    read(arrays.velocity[a], [&](std::int64_t i, double v) {
      const bool good = std::abs(v * unit[a]) <= fastest_gas;
      if (!good) refuse(arrays.velocity[a].c_str(), i, v);
      cells->set_velocity(i, k, good ? v * unit[a] : 0);
    });
  }
  parallel_for(threads, std::size_t(shape.cells()), 1 << 16, [&](std::size_t first, std::size_t end) {
    for (auto i = std::int64_t(first); i < std::int64_t(end); ++i) {
      const auto v = cells->gas(i).velocity;
      const double speed = std::hypot(v.x, v.y, v.z) * units.reference_speed;
      if (speed > (1 + 1e-4) * fastest_gas) refuse("speed [km/s]", i, speed / constants::km);
    }
  });
  if (dataset.dust) {
    read(dataset.dust_field, [&](std::int64_t i, double value) {
      const double dust = value * dust_unit;
      const bool good = dust >= 0 && dust < 1e30;
      if (!good) refuse(dataset.dust_field.c_str(), i, dust);
      cells->set_dust(i, good ? dust : 0);
    });
  }
  if (bad.count() > 0) {
    if (dataset.bad_cells == config::BadCells::error) {
      fail(path, bad.text(shape, box) + "; correct the file, or set dataset.bad_cells: drop to make them empty");
    }
    std::vector<std::int64_t> dropped;
    for (std::int64_t i = 0; i < shape.cells(); ++i) {
      if (!bad.cells()[std::size_t(i)]) continue;
      cells->clear(i);
      dropped.push_back(i);
    }
    cells->set_dropped(std::move(dropped));
  }
  return cells;
}

}  // namespace thor
