#include "thor/datasets/voronoi_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/core/parallel_for.hpp"

namespace thor {
namespace {

constexpr double seconds_of_site = 40e-6;  ///< on one thread, of clumped sites

/// Twice as many bits as a number has.
void store_site(const std::array<double, 3>& at, float* six) {
  for (std::size_t k = 0; k < 3; ++k) six[k] = float(at[k]), six[3 + k] = float(at[k] - double(six[k]));
}

/// The way from a site to the one behind a face of its cell, or to its mirror image behind a wall.
Vec3<float> way_of(const VoronoiMemory& memory, std::size_t cell, const VoronoiFaces::Face& face) {
  float box[6];
  std::ranges::copy(memory.box, box);
  const float* const here = memory.site(cell);
  if (face.cell < 0) return way_behind<float>(voronoi_site(here), voronoi_site(here), box, false, face.cell);
  const float* const there = memory.site(std::size_t(face.cell));
  const std::array<int, 3> shift = shift_of(face.image);
  const auto along = [&](std::size_t k) {
    return way_along(here[k], here[3 + k], there[k], there[3 + k], box[k], box[3 + k], float(shift[k]));
  };
  return {along(0), along(1), along(2)};
}

/// Whether the way to the site behind each face is that to its nearest image.
bool are_nearest(const VoronoiMemory& memory, const VoronoiFaces& built, std::size_t cell) {
  float box[6];
  std::ranges::copy(memory.box, box);
  for (std::size_t row = built.begin[cell]; row < built.begin[cell + 1]; ++row) {
    const VoronoiFaces::Face& face = built.faces[row];
    const float* const there = memory.site(std::size_t(face.cell));
    const Vec3<float> nearest =
        way_behind<float>(voronoi_site(memory.site(cell)), voronoi_site(there), box, true, face.cell);
    const Vec3<float> way = way_of(memory, cell, face);
    if (way.x != nearest.x || way.y != nearest.y || way.z != nearest.z) return false;
  }
  return true;
}

/// Lines without a face.
void set_lines(std::vector<FourFaces>& lines, std::size_t count) {
  lines.reserve(count);
  prefer_large_pages(lines.data(), lines.capacity() * sizeof(FourFaces));
  lines.assign(count, {{}, {}, {}, {no_face, no_face, no_face, no_face}});
}

}  // namespace

VoronoiMesh::VoronoiMesh(const std::string& path, std::vector<std::array<double, 3>> sites, const MeshBox& box,
                         bool compact, int threads)
    : box_(box) {
  const std::size_t count = sites.size();
  if (constexpr std::size_t many = 300000; count > many) {
    message("thor: building the Voronoi mesh of {} sites with {} threads: about {:.0f} s\n", count, threads,
            seconds_of_site * double(count) / threads);
  }
  const VoronoiFaces built =
      build_voronoi(path, std::move(sites), box.origin, {box.size, box.size, box.size}, box.periodic, threads);
  // A cell leaves at most three places of its last line empty.
  if (const std::size_t places = built.faces.size() + 3 * built.sites.size(); places > std::size_t(INT32_MAX)) {
    throw Error(ExitCode::input,
                fmt::format("{}: {} faces of {} cells are more than the {} there is room for: take fewer sites", path,
                            built.faces.size(), built.sites.size(), INT32_MAX));
  }
  merged_ = built.merged, faces_ = built.faces.size(), most_faces_ = built.most_faces;
  cell_of_ = built.site_of;
  first_of_.assign(built.sites.size(), UINT32_MAX);
  for (std::size_t i = count; i-- > 0;) first_of_[cell_of_[i]] = std::uint32_t(i);
  if (count > 1 && built.sites.size() < count / 2) {
    throw Error(ExitCode::input,
                fmt::format("{}: {} of {} sites stand where another one does: check their coordinates, and the "
                            "attribute units of x, y and z (cm, kpc, ...), against box_size",
                            path, merged_, count));
  }
  if (merged_ > 0) {
    warning("{}: {} of {} sites stand where another one does; the gas of the first of them is taken", path, merged_,
            count);
  }
  unit_ = box.size / std::cbrt(double(built.sites.size()));
  keep(built, compact, threads);
  if (compact && memory_.behind.empty()) {
    warning(
        "{}: dataset.compact has no effect, as a cell reaches half way through the box; the mesh takes {:.0f} bytes a "
        "cell",
        path, memory_.bytes() / double(cells()));
  }
  build_table(threads);
}

/// The planes of both sides of a face are the same numbers but for their sign.
void VoronoiMesh::keep(const VoronoiFaces& built, bool compact, int threads) {
  const std::size_t count = built.sites.size();
  volumes_ = built.volumes;
  memory_.sites.resize(6 * count + 2);
  store_site(sides(), memory_.box.data());
  for (std::size_t cell = 0; cell < count; ++cell) {
    Position at{};
    for (std::size_t k = 0; k < 3; ++k) at[k] = (built.sites[cell][k] - box_.origin[k]) / unit_;
    store_site(at, &memory_.sites[6 * cell]);
  }
  std::atomic<bool> twins = false, nearest = true;
  const auto for_each_cell = [&](const auto& use) {
    parallel_for(threads, count, 1 << 12, [&](std::size_t first, std::size_t end) {
      for (std::size_t cell = first; cell < end; ++cell) use(cell);
    });
  };
  for_each_cell([&](std::size_t cell) {
    std::vector<std::int32_t> neighbours;
    for (std::size_t row = built.begin[cell]; row < built.begin[cell + 1]; ++row) {
      neighbours.push_back(built.faces[row].cell);
    }
    std::ranges::sort(neighbours);
    if (std::ranges::adjacent_find(neighbours) != neighbours.end()) twins = true;
    if (compact && box_.periodic && !are_nearest(memory_, built, cell)) nearest = false;
  });
  twins_ = twins;
  memory_.firsts.assign(1, 0);
  const std::size_t places = compact && nearest ? 1 : 4;  // of faces, that a cell has some number of
  for (std::size_t cell = 0; cell < count; ++cell) {
    const std::size_t faces = built.begin[cell + 1] - built.begin[cell];
    memory_.firsts.push_back(memory_.firsts.back() + std::int32_t((faces + places - 1) / places * places));
  }
  if (places == 1) {
    memory_.behind.resize(built.faces.size());
    for (std::size_t i = 0; i < built.faces.size(); ++i) memory_.behind[i] = built.faces[i].cell;
    return;
  }
  set_lines(memory_.lines, std::size_t(memory_.firsts.back()) / 4);
  for_each_cell([&](std::size_t cell) {
    auto place = std::size_t(memory_.firsts[cell]);
    for (std::size_t row = built.begin[cell]; row < built.begin[cell + 1]; ++row, ++place) {
      const Vec3<float> m = plane_across(way_of(memory_, cell, built.faces[row]));
      FourFaces& line = memory_.lines[place / 4];
      line.x[place % 4] = m.x, line.y[place % 4] = m.y, line.z[place % 4] = m.z;
      line.behind[place % 4] = built.faces[row].cell;
    }
  });
}

VoronoiMemory VoronoiMesh::part(const MeshPart& part) const {
  VoronoiMemory of;
  const CellsHeld held = part.cells();
  of.firsts.assign(1, 0);
  const auto first = [this](std::int32_t cell) { return memory_.firsts[std::size_t(cell)]; };
  for (const std::int32_t cell : part.held) {
    of.firsts.push_back(of.firsts.back() + (first(cell + 1) - first(cell) + 3) / 4 * 4);
    of.sites.insert(of.sites.end(), memory_.site(std::size_t(cell)), memory_.site(std::size_t(cell)) + 6);
  }
  of.sites.resize(of.sites.size() + 2), of.box = memory_.box;
  set_lines(of.lines, std::size_t(of.firsts.back()) / 4);
  const Voronoi<double> data = view();
  const auto mesh = thor::view<double>(data);
  for (std::size_t i = 0; i < part.held.size(); ++i) {
    auto place = std::size_t(of.firsts[i]);
    mesh.for_each_face(part.held[i], [&](Vec3<double> m, std::int64_t behind) {
      FourFaces& line = of.lines[place / 4];
      const std::size_t k = place++ % 4;
      line.x[k] = float(m.x), line.y[k] = float(m.y), line.z[k] = float(m.z);
      line.behind[k] = std::int32_t(behind < 0 ? behind : held.to_part(std::int32_t(behind)));
    });
  }
  return of;
}

void VoronoiMesh::build_table(int threads) {
  memory_.cubes = int(std::clamp(std::cbrt(0.5 * double(cells())), 1., 512.));
  const auto n = std::size_t(memory_.cubes);
  memory_.table.resize(n * n * n);
  const Voronoi<double> data = view();
  const auto mesh = thor::view<double>(data);
  parallel_for(threads, n, 1, [&](std::size_t x, std::size_t) {
    std::int32_t near = 0;
    for (std::size_t i = x * n * n; i < (x + 1) * n * n; ++i) {
      const double side = data.sides[0] / double(n);
      const double middle[3] = {(double(x) + 0.5) * side, (double(i / n % n) + 0.5) * side,
                                (double(i % n) + 0.5) * side};
      double offset[3];
      memory_.table[i] = near = mesh.locate_from(near, middle, offset);
    }
  });
}

VoronoiCellArrays VoronoiMemory::view() const {
  const auto array = [](const auto& of) { return Array<std::remove_cvref_t<decltype(of[0])>>{of.data(), of.size()}; };
  VoronoiCellArrays cells{array(firsts), array(lines), array(behind), array(sites), array(table), cubes, {}};
  std::ranges::copy(box, cells.box);
  return cells;
}

Voronoi<double> VoronoiMesh::view() const {
  Voronoi<double> mesh{};
  mesh.cells = memory_.view();
  mesh.twins = twins_, mesh.periodic = box_.periodic;
  for (std::size_t k = 0; k < 3; ++k) mesh.sides[k] = sides()[k], mesh.zero[k] = -low()[k];
  return mesh;
}

double VoronoiMemory::bytes() const {
  return 64. * double(lines.size()) + 4. * double(firsts.size() + behind.size() + table.size() + sites.size());
}

double VoronoiMesh::bytes() const { return memory_.bytes() + 12 * double(cells()) + 4 * double(cell_of_.size()); }

HostMesh::Position VoronoiMesh::centre(const std::array<std::int32_t, 3>& place) const {
  Position found = low();
  const float* const six = memory_.site(std::size_t(place[0]));
  for (std::size_t k = 0; k < 3; ++k) found[k] += double(six[k]) + double(six[3 + k]);
  return found;
}

HostMesh::Position VoronoiMesh::low() const {
  return {box_.origin[0] / unit_, box_.origin[1] / unit_, box_.origin[2] / unit_};
}

std::optional<HostMesh::Site> VoronoiMesh::locate(const Position& position) const {
  double point[3], offset[3];
  for (std::size_t k = 0; k < 3; ++k) {
    point[k] = position[k] - low()[k];
    if (!(point[k] >= 0 && point[k] <= sides()[k])) return {};
  }
  const Voronoi<double> data = view();
  const std::int32_t cell = thor::view<double>(data).locate(point, offset);
  return Site{{cell, 0, 0}, {offset[0], offset[1], offset[2]}};
}

std::vector<std::optional<HostMesh::Site>> VoronoiMesh::copies(const Position& position) const {
  Position inside = position;
  if (box_.periodic) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double side = sides()[k], place = position[k] - low()[k];
      inside[k] = low()[k] + place - side * std::floor(place / side);
    }
  }
  return {locate(inside)};
}

void VoronoiMesh::check_field(const io::Input& file, const std::string& field) const {
  require_one_a_cell(file, field, cell_of_.size(), words_of_sites);
}

void VoronoiMesh::read_field(const std::string& path, const std::string& field, int threads,
                             const std::function<void(std::int64_t, double)>& take) const {
  const io::Input file(path);
  check_field(file, field);
  file.read_blocks<float>(field, threads, [&](const io::Block<float>& block) {
    for (std::uint64_t i = 0; i < block.count[0]; ++i) {
      const auto site = std::size_t(block.first[0] + i);
      if (first_of_[cell_of_[site]] == site) take(cell_of_[site], double(block.values[i]));
    }
  });
}

std::vector<Derived> VoronoiMesh::derived() const {
  const double kpc = 1e3 * constants::pc;
  const auto [least, most] = std::ranges::minmax_element(volumes_);
  std::vector<Derived> all{{"cells", double(cells()), "", "number of cells"},
                           {"finest", std::cbrt(*least) / kpc, "kpc", "cube root of the smallest volume of a cell"},
                           {"coarsest", std::cbrt(*most) / kpc, "kpc", "cube root of the largest volume of a cell"},
                           {"faces", double(faces_) / double(cells()), "", "mean number of faces of a cell"},
                           {"most_faces", double(most_faces_), "", "number of faces of the cell that has most"},
                           {"mesh_memory", memory_.bytes() / 1e9, "GB", "memory of the mesh on a GPU, beside the gas"}};
  for (Derived& one : derived_of_box(box_)) all.push_back(std::move(one));
  return all;
}

void VoronoiMesh::write(io::ArrayOutput& file) const {
  file.attribute("/grid", "sites", std::int64_t(cell_of_.size()));
  file.attribute("/grid", "cells", cells());
  write_box(file, box_);
}

VoronoiCells::VoronoiCells(const std::shared_ptr<const VoronoiMesh>& mesh, std::shared_ptr<const MeshPart> part,
                           const CellLayout& layout, const CellUnits& units, double largest_velocity)
    : MeshCells(mesh->cells(), std::move(part), layout, units, largest_velocity, words_of_sites), mesh_(mesh) {
  if (!this->part()) return;
  memory_ = mesh_->part(*this->part());
  whole_ = {mesh_->view().cells, this->part()->cells()};
}

Voronoi<double> VoronoiCells::view() const {
  Voronoi<double> cells = mesh_->view();
  if (!part()) return cells;
  cells.cells = memory_.view();
  cells.held = std::int32_t(this->cells()), cells.whole.it = &whole_;
  return cells;
}

AnyDataset VoronoiCells::dataset() const {
  Voronoi<double> cells = view();
  cells.gas = records();
  return cells;
}

double VoronoiCells::side(std::int64_t cell) const { return std::cbrt(mesh_->volume(to_whole(cell))) / mesh_->unit(); }

double VoronoiCells::to_face(std::int64_t whole) const {
  double least = 1e30;
  for_each_behind(whole, [&](const Behind& face) { least = std::min(least, face.to_face); });
  return least;
}

void VoronoiCells::for_each_behind(std::int64_t whole, const std::function<void(const Behind&)>& take) const {
  const Voronoi<double> mesh = mesh_->view();
  thor::view<double>(mesh).for_each_face(whole, [&](Vec3<double> m, std::int64_t behind) {
    const double to_face = 1 / std::sqrt(std::max(dot(m, m), 1e-60));
    if (behind != no_face) take({behind < 0 ? -1 : behind, 2 * to_face, to_face});
  });
}

void VoronoiCells::survey(int threads, bool core_skip, double hubble) {
  const Voronoi<double> data = view();
  const auto mesh = thor::view<double>(data);
  std::mutex mutex;
  CellStatistics sum;
  const double per_unit = 1 / std::pow(mesh_->unit(), 3);
  parallel_for(threads, std::size_t(own_cells()), 1 << 14, [&](std::size_t first, std::size_t end) {
    CellStatistics p;
    for (auto i = first_own() + std::int64_t(first); i < first_own() + std::int64_t(end); ++i) {
      CellGas<double> here = gas(i);
      if (core_skip)
        p.largest_x_crit =
            std::max(p.largest_x_crit, critical_frequency(here, here.core_scale + to_face(to_whole(i)), hubble));
      const double density = here.opacity / here.inverse_width;
      here.opacity *= side(i);  // of the cell
      p.add_cell(here);
      p.density += mesh_->volume(to_whole(i)) * per_unit * density - here.opacity / here.inverse_width;
      mesh.for_each_face(i, [&](Vec3<double>, std::int64_t other) {
        if (other <= i) return;  // each face once
        CellGas<double> behind = gas(other);
        behind.opacity *= side(other);
        p.add_face(here, behind);
      });
    }
    const std::lock_guard lock(mutex);
    sum.add(p);
  });
  finish_statistics(sum, double(own_cells()));
}

}  // namespace thor
