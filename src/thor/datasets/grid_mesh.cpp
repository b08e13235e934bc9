#include "thor/datasets/grid_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/datasets/grid_file.hpp"

namespace thor {

double GridMesh::volume(std::int64_t) const { return std::pow(shape_.cell_size, 3); }

CellNumbers GridMesh::numbers() const {
  const auto ny = std::uint64_t(shape_.count[1]), nz = std::uint64_t(shape_.count[2]);
  const auto [x, y, z] = box_.first;
  return {(std::uint64_t(x) * ny + std::uint64_t(y)) * nz + std::uint64_t(z), std::uint64_t(box_.count[2]),
          std::uint64_t(box_.count[1]), nz, ny * nz};
}

std::array<std::int32_t, 3> GridMesh::place(std::int64_t number) const {
  const std::int64_t ny = shape_.count[1], nz = shape_.count[2];
  return {std::int32_t(number / (ny * nz)), std::int32_t(number / nz % ny), std::int32_t(number % nz)};
}

HostMesh::Position GridMesh::centre(const std::array<std::int32_t, 3>& place) const {
  Position centre = low();
  for (std::size_t k = 0; k < 3; ++k) centre[k] += place[k] + 0.5;
  return centre;
}

HostMesh::Position GridMesh::low() const {
  Position corner{};
  for (std::size_t k = 0; k < 3; ++k) corner[k] = shape_.origin[k] / shape_.cell_size;
  return corner;
}

HostMesh::Position GridMesh::sides() const {
  return {double(shape_.count[0]), double(shape_.count[1]), double(shape_.count[2])};
}

std::optional<HostMesh::Site> GridMesh::locate(const Position& position) const {
  Site site;
  for (std::size_t k = 0; k < 3; ++k) {
    const double place = position[k] - low()[k];
    if (!(place >= 0 && place <= double(shape_.count[k]))) return {};
    site.place[k] = std::int32_t(std::min(std::int64_t(place), shape_.count[k] - 1));
    site.offset[k] = place - site.place[k];
  }
  return site;
}

std::vector<std::optional<HostMesh::Site>> GridMesh::copies(const Position& position) const {
  const CellIndex& tiles = shape_.tiles;
  std::vector<std::optional<Site>> all;
  for (std::int64_t i = 0; i < tiles[0] * tiles[1] * tiles[2]; ++i) {
    const CellIndex tile{i / (tiles[1] * tiles[2]), i / tiles[2] % tiles[1], i % tiles[2]};
    std::optional<Site> site(Site{});
    for (std::size_t k = 0; site && k < 3; ++k) {
      const std::int64_t cells = shape_.count[k] / tiles[k];
      const auto side = double(cells);
      double place = position[k] - low()[k];
      if (shape_.periodic) place -= side * std::floor(place / side);
      if (!(place >= 0 && place <= side)) {
        site.reset();
        break;
      }
      place += double(tile[k]) * side;
      site->place[k] = std::int32_t(std::clamp(place, 0., double(shape_.count[k]) - 1));
      site->offset[k] = place - site->place[k];
    }
    all.push_back(site);
  }
  return all;
}

void GridMesh::check_field(const io::Input& file, const std::string& field) const {
  const io::ArrayInfo info = file.array(field);
  for (std::size_t k = 0; k < 3; ++k) {
    if (info.shape.size() != 3 || !info.numeric || std::int64_t(info.shape[k]) * shape_.tiles[k] != shape_.count[k]) {
      throw Error(ExitCode::input,
                  fmt::format("{}: array \"{}\" has not the shape of the grid", file.path().string(), field));
    }
  }
}

void GridMesh::read_field(const std::string& path, const std::string& field, int threads,
                          const std::function<void(std::int64_t, double)>& take) const {
  thor::read_field(path, field, shape_, box_, threads, take);
}

std::vector<Derived> GridMesh::derived() const {
  return {{"cells", double(cells()), "", "total number"},
          {"cell_size", shape_.cell_size / (1e3 * constants::pc), "kpc", "side of a cell"},
          {"redshift", shape_.redshift, "", "redshift of the snapshot"},
          {"hubble", shape_.hubble * 1e6 * constants::pc / constants::km, "km s-1 Mpc-1",
           "H(z) along the paths; 0 if there is no Hubble flow"}};
}

void GridMesh::write(io::ArrayOutput& file) const {
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string axis(1, "xyz"[k]);
    file.attribute("/grid", "cells_" + axis, shape_.count[k]);
    file.attribute("/grid", "origin_" + axis, shape_.origin[k]);
  }
  file.attribute("/grid", "cell_size", shape_.cell_size);
  file.attribute("/grid", "periodic", shape_.periodic);
  file.attribute("/grid", "redshift", shape_.redshift);
  file.attribute("/grid", "hubble", shape_.hubble);
}

void set_grid(MediumOutline& medium, const GridShape& shape) {
  medium.grid = shape;
  medium.mesh = std::make_shared<GridMesh>(shape);
  medium.size = shape.cell_size, medium.redshift = shape.redshift, medium.hubble = shape.hubble;
}

}  // namespace thor
