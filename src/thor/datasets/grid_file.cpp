#include "thor/datasets/grid_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "thor/config/nearest.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/datasets/bad_cells.hpp"
#include "thor/io/grid_format.hpp"

namespace thor {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ExitCode::input, path + ": " + what);
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
         fmt::format("no attribute \"{}\" in the root group: not a grid file {}", name,
                     file.number("/", "box_size") ? "but an octree or sites (dataset.type: octree, voronoi)"
                                                  : "(`thor grid` makes one of a snapshot or a cube)"));
  }
  if (!std::isfinite(*value)) fail(file.path().string(), fmt::format("attribute \"{}\" is not a number", name));
  return *value;
}

/// One that need not be there.
double attribute(const io::Input& file, const char* name, double fallback) {
  return file.number("/", name) || file.text("/", name) ? attribute(file, name) : fallback;
}

/// Size, place and expansion, as the file has them and the configuration overrides them.
GridShape read_attributes(const io::Input& file, const config::Dataset& dataset) {
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
  return shape;
}

io::ArrayInfo require_array(const io::Input& file, const std::string& field) {
  const std::string path = file.path().string();
  const std::vector<std::string> there = file.children("/");
  if (!file.has(field) && std::ranges::count(there, field) > 0) {
    fail(path, fmt::format("array \"{}\" is a link to a file or an array that is missing: copy that file too", field));
  }
  if (!file.has(field)) {
    fail(path, fmt::format("no array \"{}\"{} (arrays: {}){}", field, config::suggestion(field, there),
                           fmt::join(there, ", "),
                           field == "dust"
                               ? "; remove dataset.dust, set dataset.dust_field, or grid a snapshot with metallicities"
                               : ""));
  }
  io::ArrayInfo info = file.array(field);
  if (!info.numeric || info.shape.size() != 3) {
    fail(path, fmt::format("array \"{}\" is {} with {} dimensions; expected numbers with dimensions x, y, z", field,
                           info.type, info.shape.size()));
  }
  return info;
}

/// The number of cells, which all arrays have.
void read_count(const io::Input& file, const std::vector<std::string>& fields, GridShape& shape) {
  const std::string path = file.path().string();
  for (const std::string& field : fields) {
    const io::ArrayInfo info = require_array(file, field);
    for (std::size_t k = 0; k < 3; ++k) {
      if (info.shape[k] == 0 || info.shape[k] > (1u << 30)) {
        fail(path, fmt::format("array \"{}\" has {} cells along one side; expected 1 to 2^30", field, info.shape[k]));
      }
      if (shape.count[k] == 0) shape.count[k] = std::int64_t(info.shape[k]);
      if (shape.count[k] != std::int64_t(info.shape[k])) {
        fail(path, fmt::format("array \"{}\" is {} and \"{}\" is {}: they must have the same shape", field,
                               fmt::join(info.shape, " x "), fields.front(), fmt::join(shape.count, " x ")));
      }
    }
    file.require_whole(field);  // before there is memory for so many cells
  }
}

/// Refuses what cannot be a grid in cm and seconds.
void check_size(const std::string& path, const GridShape& shape) {
  const double side = shape.cell_size * double(std::ranges::max(shape.count));
  if (!(side < 1e32)) fail(path, fmt::format("the grid is {:.3g} cm wide; expected cell_size in cm", side));
  for (const double x : shape.origin) {
    if (!(std::abs(x) < 1e12 * shape.cell_size)) {
      fail(path, fmt::format("the origin {:.3g} cm is more than 1e12 cells away, which exceeds double "
                             "precision: use coordinates relative to the gas",
                             x));
    }
  }
  if (shape.hubble * side > 3 * constants::c) {  // photons of a periodic box are stopped before they cross it
    fail(path,
         fmt::format("hubble = {:.3g} per s gives {:.3g} km/s across the grid; expected H in 1/s and a smaller grid",
                     shape.hubble, shape.hubble * side / constants::km));
  }
}

}  // namespace

GridShape read_grid_shape(const config::Dataset& dataset, const Line& line) {
  const io::Input file(dataset.path);
  std::vector<std::string> needed = gas_arrays(file, dataset, line).all();
  if (file.has(turbulence_field)) needed.emplace_back(turbulence_field);
  if (dataset.dust) needed.push_back(dataset.dust_field);
  return read_grid_shape(dataset, needed);
}

std::vector<std::string> grid_fields(const std::string& path) {
  return arrays_where(io::Input(path), [](const io::ArrayInfo& info) { return info.shape.size() == 3; });
}

GridShape read_grid_shape(const config::Dataset& dataset, const std::vector<std::string>& needed) {
  const io::Input file(dataset.path);
  GridShape shape = read_attributes(file, dataset);
  read_count(file, needed, shape);
  for (std::size_t k = 0; k < 3; ++k) {
    shape.tiles[k] = std::int64_t(dataset.tiles);
    shape.count[k] *= shape.tiles[k];
    if (shape.count[k] > (1 << 30)) fail(dataset.path, "dataset.tiles: more than 2^30 cells along one side");
  }
  check_size(dataset.path, shape);
  return shape;
}

void read_field(const std::string& path, const std::string& field, const GridShape& shape, const CellBox& box,
                int threads, const TakeValue& take) {
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
  return fastest_velocity(dataset, line, [&](const std::string& field, const TakeValue& take) {
    read_field(dataset.path, field, shape, box, threads, take);
  });
}

std::shared_ptr<Cells> read_cells(const config::Dataset& dataset, const Line& line, const GridShape& whole,
                                  const CellUnits& units, const CellRequest& request) {
  const CellBox& box = request.box;
  const GridShape shape = whole.part(box);
  double fastest = request.fastest_known;
  if (dataset.packed && fastest == 0) fastest = read_fastest(dataset, line, whole, box, request.threads);
  auto cells = std::make_shared<Cells>(shape, CellLayout{dataset.packed, dataset.dust.has_value(), request.core_skip},
                                       units, fastest);
  BadCells bad(shape.cells());
  const GasSource source{dataset, line,
                         [&](const std::string& field, const TakeValue& take) {
                           read_field(dataset.path, field, whole, box, request.threads, take);
                         },
                         [&](const std::string& what, std::int64_t i, double value) { bad.add(what, i, value); }};
  if (!request.silent) warn_of_other_gas(source);
  fill_gas(source, shape.cells(), request.threads, *cells);
  bad.end(dataset, *cells, [&](std::int64_t i) {
    const std::int64_t ny = shape.count[1], nz = shape.count[2];
    return fmt::format("[{}, {}, {}]", box.first[0] + i / (ny * nz), box.first[1] + i / nz % ny, box.first[2] + i % nz);
  });
  return cells;
}

}  // namespace thor
