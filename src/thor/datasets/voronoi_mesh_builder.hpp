#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace thor {

/// Cells of all sites and their faces. Cells are in the Morton order of their sites.
struct VoronoiFaces {
  struct Face {
    std::int32_t cell;  ///< the neighbour, or -1 to -6: the wall of an open box at -x, +x, -y, +y, -z, +z
    std::int8_t image;  ///< 9 x + 3 y + z of the shift of the neighbour by -1, 0 or 1 box; -image is the way back
  };

  std::vector<std::array<double, 3>> sites;
  std::vector<std::uint32_t> site_of;  ///< the cell of each site that was given
  std::vector<std::uint64_t> begin;    ///< faces of cell i are those from begin[i] to begin[i + 1]
  std::vector<Face> faces;
  std::vector<double> areas;    ///< of faces, the same from both sides
  std::vector<double> volumes;  ///< of cells

  std::size_t merged = 0;     ///< sites that were given more than once, without the first
  std::size_t one_sided = 0;  ///< faces left out that only one of their cells had: their area is 0 but for rounding
  std::size_t narrow = 0;     ///< faces left out that are no wider than the rounding of coordinates
  double one_sided_area = 0;  ///< the largest of those, as a share of the surface of its cell
  double closure = 0;         ///< the largest |sum of area vectors| / sum of areas of a cell
  std::size_t most_faces = 0;
};

/// By how many boxes the neighbour behind a face is shifted.
constexpr std::array<int, 3> shift_of(std::int8_t image) {
  const int code = image + 13;  // digits to base 3
  return {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
}

/// The Voronoi mesh of sites in a box. Errors are Error(input) and begin with `name`. Coordinates are rounded to about
/// 4e-16 of the box; sites that then are the same become one. The result does not depend on the number of threads.
///
/// Cells are cut with exact decisions (voronoi_cell.hpp), so that sites in lattices, planes and lines, and any other
/// that are degenerate, need not be moved. A face of more than no area is found from both sides: it exists if there is
/// a point as near to two sites as to none other, whichever of them asks. What only one side has is a face without
/// area, a remainder of the order in which a vertex of more than four cells was cut; it is left out.
VoronoiFaces build_voronoi(const std::string& name, std::vector<std::array<double, 3>> given,
                           const std::array<double, 3>& low, const std::array<double, 3>& size, bool periodic,
                           int threads);

}  // namespace thor
