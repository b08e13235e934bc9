#include "thor/datasets/voronoi_mesh_builder.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "thor/core/parallel_for.hpp"
#include "thor/datasets/voronoi_cell.hpp"
#include "thor/datasets/voronoi_search.hpp"
#include "thor/datasets/voronoi_sites.hpp"

namespace thor {
namespace {

constexpr std::size_t groups_of_piece = 8, cells_of_piece = 1024;

/// What has been found of a cell: its faces are in one of the pieces.
struct CutRow {
  VoronoiSide* sides;
  std::uint32_t count;
};

/// All cells, as each sees itself.
struct CutCells {
  std::vector<std::vector<VoronoiSide>> pieces;
  std::vector<CutRow> rows;
  std::vector<double> volumes;
};

CutCells cut_cells(const VoronoiSites& sites, int threads) {
  const VoronoiTree tree(sites);
  const std::vector<std::uint32_t>& groups = tree.groups();
  CutCells cells{std::vector<std::vector<VoronoiSide>>((groups.size() + groups_of_piece - 1) / groups_of_piece),
                 std::vector<CutRow>(sites.at.size()), std::vector<double>(sites.at.size())};
  const auto cut = [&, search = VoronoiSearch(sites, tree), cell = VoronoiCell(), found = std::vector<VoronoiSide>()](
                       std::size_t begin, std::size_t end) mutable {
    found.clear();
    for (std::size_t g = begin; g < end; ++g) {
      const VoronoiTree::Node& node = tree.node(groups[g]);
      search.start_group(groups[g]);
      for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
        const std::size_t before = found.size();
        search.cut(i, cell);
        cells.volumes[i] = cell.measure(found);
        cells.rows[i].count = std::uint32_t(found.size() - before);
      }
    }
    std::vector<VoronoiSide>& piece = cells.pieces[begin / groups_of_piece];
    piece = std::vector<VoronoiSide>(found.begin(), found.end());
    VoronoiSide* at = piece.data();
    const VoronoiTree::Node& last = tree.node(groups[end - 1]);
    for (std::uint32_t i = tree.node(groups[begin]).first; i < last.first + last.count; ++i) {
      cells.rows[i].sides = at, at += cells.rows[i].count;
    }
  };
  parallel_for(threads, groups.size(), groups_of_piece, cut);
  return cells;
}

/// The same face from the other side, or null.
const VoronoiSide* other_side(const CutCells& cells, std::size_t cell, const VoronoiSide& side) {
  const CutRow& row = cells.rows[std::size_t(side.cell)];
  for (std::uint32_t k = 0; k < row.count; ++k) {
    const VoronoiSide& other = row.sides[k];
    if (other.cell == std::int32_t(cell) && other.image == -side.image) return &other;
  }
  return nullptr;
}

/// Adds to the result what pieces of cells have found, in any order.
class FoundFaces {
 public:
  explicit FoundFaces(VoronoiFaces& mesh) : mesh_(mesh) {}

  void add(const VoronoiFaces& part) {
    const std::lock_guard lock(mutex_);
    mesh_.one_sided += part.one_sided, mesh_.narrow += part.narrow;
    mesh_.one_sided_area = std::max(mesh_.one_sided_area, part.one_sided_area);
    mesh_.closure = std::max(mesh_.closure, part.closure);
    mesh_.most_faces = std::max(mesh_.most_faces, part.most_faces);
  }

 private:
  VoronoiFaces& mesh_;
  std::mutex mutex_;
};

/// Decides which faces are kept, and gives both sides of a face the area that the first of them has found: the one
/// with the lower number, or with the lower image where a cell is its own neighbour. Returns the number kept.
std::size_t match_sides(const CutCells& cells, std::size_t cell, VoronoiFaces& tally) {
  const CutRow& row = cells.rows[cell];
  double surface = 0;
  std::size_t kept = 0;
  for (std::uint32_t k = 0; k < row.count; ++k) surface += row.sides[k].area;
  for (std::uint32_t k = 0; k < row.count; ++k) {
    VoronoiSide& side = row.sides[k];
    const bool is_wall = side.cell < 0;
    const VoronoiSide* other = is_wall ? &side : other_side(cells, cell, side);
    const bool is_first =
        is_wall || (side.cell == std::int32_t(cell) ? side.image < 0 : side.cell > std::int32_t(cell));
    if (other == nullptr) {
      side.is_kept = false, ++tally.one_sided;
      tally.one_sided_area = std::max(tally.one_sided_area, side.area / surface);
      continue;
    }
    side.is_kept = !(is_first ? side : *other).narrow;
    if (!is_first) side.area = other->area;
    if (side.is_kept) ++kept;
    if (!side.is_kept && is_first) ++tally.narrow;
  }
  return kept;
}

/// |sum of area vectors| / sum of areas, which is 0 but for rounding.
double closure_of(const VoronoiSites& sites, std::size_t cell, const CutRow& row) {
  std::array<double, 3> sum{};
  double areas = 0;
  for (std::uint32_t k = 0; k < row.count; ++k) {
    const VoronoiSide& side = row.sides[k];
    if (!side.is_kept) continue;
    std::array<double, 3> normal{};
    if (side.cell < 0) {
      const auto wall = std::size_t(-1 - side.cell);
      normal[wall / 2] = wall % 2 != 0 ? 1 : -1;
    } else {
      const auto shift = shift_of(side.image);
      for (std::size_t a = 0; a < 3; ++a) {
        normal[a] = sites.at[std::size_t(side.cell)][a] + shift[a] * sites.sides[a] - sites.at[cell][a];
      }
    }
    const double length = std::hypot(normal[0], normal[1], normal[2]);
    for (std::size_t a = 0; a < 3; ++a) sum[a] += side.area * normal[a] / length;
    areas += side.area;
  }
  return std::hypot(sum[0], sum[1], sum[2]) / areas;
}

/// Copies the faces that are kept to where they belong.
void store_cell(const VoronoiSites& sites, const CutCells& cells, std::size_t cell, VoronoiFaces& mesh) {
  const CutRow& row = cells.rows[cell];
  std::size_t at = mesh.begin[cell];
  for (std::uint32_t k = 0; k < row.count; ++k) {
    const VoronoiSide& side = row.sides[k];
    if (!side.is_kept) continue;
    mesh.faces[at] = {side.cell, side.image};
    mesh.areas[at++] = side.area * sites.unit * sites.unit;
  }
}

void place_sites(const VoronoiSites& sites, const std::array<double, 3>& low, const std::array<double, 3>& size,
                 VoronoiFaces& mesh, int threads) {
  mesh.sites.resize(sites.at.size());
  parallel_for(threads, sites.at.size(), cells_of_piece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        mesh.sites[i][k] = std::min(low[k] + sites.at[i][k] * sites.unit, low[k] + size[k]);
      }
    }
  });
}

}  // namespace

VoronoiFaces build_voronoi(const std::string& name, std::vector<std::array<double, 3>> given,
                           const std::array<double, 3>& low, const std::array<double, 3>& size, bool periodic,
                           int threads) {
  VoronoiSites sites(name, given, low, size, periodic, threads);
  given = {};
  CutCells cells = cut_cells(sites, threads);
  const std::size_t count = sites.at.size();
  VoronoiFaces mesh;
  mesh.merged = sites.site_of.size() - count, mesh.site_of = std::move(sites.site_of);
  mesh.volumes = std::move(cells.volumes);
  mesh.begin.resize(count + 1);
  FoundFaces tally(mesh);
  parallel_for(threads, count, cells_of_piece, [&](std::size_t begin, std::size_t end) {
    VoronoiFaces part;
    for (std::size_t i = begin; i < end; ++i) {
      mesh.begin[i + 1] = match_sides(cells, i, part);
      part.most_faces = std::max(part.most_faces, std::size_t(mesh.begin[i + 1]));
    }
    tally.add(part);
  });
  for (std::size_t i = 0; i < count; ++i) mesh.begin[i + 1] += mesh.begin[i];
  mesh.faces.resize(mesh.begin[count]), mesh.areas.resize(mesh.begin[count]);
  parallel_for(threads, count, cells_of_piece, [&](std::size_t begin, std::size_t end) {
    VoronoiFaces part;
    for (std::size_t i = begin; i < end; ++i) {
      part.closure = std::max(part.closure, closure_of(sites, i, cells.rows[i]));
      store_cell(sites, cells, i, mesh);
      mesh.volumes[i] *= sites.unit * sites.unit * sites.unit;
    }
    tally.add(part);
  });
  place_sites(sites, low, size, mesh, threads);
  return mesh;
}

}  // namespace thor
