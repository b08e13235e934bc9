#include "thor/datasets/voronoi_cell.hpp"

#include <algorithm>
#include <cmath>

#include "thor/core/target.hpp"
#include "thor/math/vector.hpp"

namespace thor {
namespace {

using Four = VoronoiFour;

constexpr double unit_roundoff = 0x1p-53;
constexpr double narrow_width = 64;    // units of the last place of coordinates; one of them is 1
constexpr double narrow_share = 1e-9;  // of the distance of two sites

using FourVectors = std::array<Four, 3>;

FourVectors cross(const FourVectors& a, const FourVectors& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

/// Four planes side by side.
struct VoronoiCell::FourPlanes {
  FourVectors n;
  Four c, length;

  explicit FourPlanes(const std::array<const Plane*, 4>& planes) {
    for (std::size_t i = 0; i < 4; ++i) {
      const Plane& p = *planes[i];
      n[0][i] = p.n[0], n[1][i] = p.n[1], n[2][i] = p.n[2], c[i] = p.c, length[i] = p.length;
    }
  }
};

void VoronoiCell::start_open(const std::array<double, 3>& low, const std::array<double, 3>& high) {
  std::array<Plane, 6> planes{};
  for (std::size_t k = 0; k < 6; ++k) {
    Plane& plane = planes[k];
    const bool is_high = k % 2 != 0;
    plane.n[k / 2] = is_high ? 1 : -1;
    plane.c = is_high ? high[k / 2] : low[k / 2];
    plane.length = 1, plane.cell = -1 - std::int32_t(k);
  }
  start(planes);
}

void VoronoiCell::start_periodic(std::int32_t cell, const std::array<double, 3>& sides) {
  constexpr std::array<std::int8_t, 6> images{-9, 9, -3, 3, -1, 1};
  std::array<Plane, 6> planes{};
  for (std::size_t k = 0; k < 6; ++k) {
    Plane& plane = planes[k];
    const double side = sides[k / 2];
    plane.n[k / 2] = k % 2 != 0 ? side : -side;
    plane.c = 0.5 * side * side;
    plane.length = side, plane.cell = cell, plane.image = images[k];
  }
  start(planes);
}

void VoronoiCell::start(const std::array<Plane, 6>& planes) {
  planes_.assign(planes.begin(), planes.end());
  reserve(64);
  size_ = 8;
  for (std::size_t k = 0; k < 8; ++k) {
    const auto bit = std::int32_t(k);
    Corner& corner = corners_[k];
    corner.plane = {bit & 1, 2 + (bit >> 1 & 1), 4 + (bit >> 2)};
    corner.next = {bit ^ 1, bit ^ 2, bit ^ 4};
    const bool is_right_handed = ((bit ^ bit >> 1 ^ bit >> 2) & 1) != 0;
    if (!is_right_handed) std::swap(corner.plane[1], corner.plane[2]), std::swap(corner.next[1], corner.next[2]);
  }
  constexpr std::array<std::size_t, 8> all{0, 1, 2, 3, 4, 5, 6, 7};
  place_vertices(all.data(), all.size());
  end_blocks();
}

void VoronoiCell::reserve(std::size_t vertices) {
  if (corners_.size() >= vertices) return;
  vertices = std::max(vertices, 2 * corners_.size());
  corners_.resize(vertices), is_off_.resize(vertices), off_.resize(vertices), blocks_.resize(vertices / 4 + 1),
      excess_.resize(vertices / 4 + 1);
}

ExactPlane VoronoiCell::exact(const Plane& plane) const {
  ExactPlane found{{std::int64_t(plane.n[0]), std::int64_t(plane.n[1]), std::int64_t(plane.n[2])}, 0};
  if (plane.cell < 0) {
    found.h = 2 * Int128(plane.c);
  } else {
    for (const std::int64_t n : found.n) found.h += Int128(n) * n;
  }
  return found;
}

/// The point common to three planes, by Cramer's rule; c_a, c_b and c_c are n.x of the planes, |n| their lengths and
/// D = n_a.(n_b x n_c). With unit roundoff u, the error of a sum of products is at most u times the sum of their sizes
/// times the number of operations on the way of one: that of D is less than 9 u |a||b||c|, and that of a coordinate of
/// the numerator less than 12 u |a||b||c| s, with s = c_a/|a| + c_b/|b| + c_c/|c|. So that of a coordinate of v is at
/// most 16 u (s + |v|) |a||b||c| / D, as long as the error of D is a small part of D.
void VoronoiCell::place_vertices(const std::size_t* places, std::size_t count) {
  for (std::size_t first = 0; first < count; first += 4) {
    std::array<std::size_t, 4> at{};
    std::array<std::array<const Plane*, 4>, 3> planes{};
    for (std::size_t k = 0; k < 4; ++k) {
      at[k] = places[std::min(first + k, count - 1)];
      for (std::size_t e = 0; e < 3; ++e) planes[e][k] = &planes_[std::size_t(corners_[at[k]].plane[e])];
    }
    const FourPlanes a(planes[0]), b(planes[1]), c(planes[2]);
    const FourVectors bc = cross(b.n, c.n), ca = cross(c.n, a.n), ab = cross(a.n, b.n);
    const Four determinant = a.n[0] * bc[0] + a.n[1] * bc[1] + a.n[2] * bc[2], lengths = a.length * b.length * c.length;
    const Four inverse = 1 / determinant;
    FourVectors v{};
    Four size{};
    for (std::size_t k = 0; k < 3; ++k) {
      v[k] = (a.c * bc[k] + b.c * ca[k] + c.c * ab[k]) * inverse;
      size += v[k] < 0 ? -v[k] : v[k];
    }
    const Four scale = a.c / a.length + b.c / b.length + c.c / c.length;
    const Four slack = 64 * unit_roundoff * lengths * inverse * (scale + size);
    for (std::size_t k = 0; k < 4; ++k) {
      if (determinant[k] > 0x1p-10 * lengths[k]) {
        store(at[k], {v[0][k], v[1][k], v[2][k]}, slack[k]);
      } else {
        place_exactly(at[k]);
      }
    }
  }
}

void VoronoiCell::place_exactly(std::size_t vertex) {
  const auto& triple = corners_[vertex].plane;
  const auto of = [&](std::size_t k) { return exact(planes_[std::size_t(triple[k])]); };
  const auto v = exact_vertex(of(0), of(1), of(2));
  store(vertex, v, 64 * unit_roundoff * (std::abs(v[0]) + std::abs(v[1]) + std::abs(v[2])));
}

void VoronoiCell::store(std::size_t vertex, const std::array<double, 3>& v, double slack) {
  Block& block = blocks_[vertex / 4];
  const std::size_t lane = vertex % 4;
  const double more = slack + 2;  // differences of coordinates of boxes are rounded by less than a unit
  const double size = std::abs(v[0]) + std::abs(v[1]) + std::abs(v[2]);
  block.x[lane] = v[0], block.y[lane] = v[1], block.z[lane] = v[2], block.slack[lane] = slack;
  block.reach2[lane] = (dot(v, v) + 2 * more * size + more * more) * (1 + 8 * unit_roundoff);
}

/// Vertex v is outside if n.v - c > 0. The error of that is at most 2 |n| times that of a coordinate, and
/// 8 u (|n||v| + c) of rounding; slack_ covers the first and 8 u |n||v|.
bool VoronoiCell::find_cut_off(const Plane& plane) {
  const double nx = plane.n[0], ny = plane.n[1], nz = plane.n[2], length = plane.length;
  const double less = plane.c - 16 * unit_roundoff * plane.c;
  const std::size_t blocks = (size_ + 3) / 4;
  auto is_above = Four{} > 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    const Block& block = blocks_[i];
    const Four excess = block.x * nx + block.y * ny + block.z * nz - less + block.slack * length;
    excess_[i].of = excess, is_above |= excess > 0;
  }
  if ((is_above[0] | is_above[1] | is_above[2] | is_above[3]) == 0) return false;
  count_off_ = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    if (excess_[i / 4].of[i % 4] > 0 && is_cut_off(i, plane)) off_[count_off_++] = i, is_off_[i] = 1;
  }
  return count_off_ > 0;
}

/// Of a vertex with a positive excess.
bool VoronoiCell::is_cut_off(std::size_t vertex, const Plane& plane) const {
  const double error = blocks_[vertex / 4].slack[vertex % 4] * plane.length + 16 * unit_roundoff * plane.c;
  if (excess_[vertex / 4].of[vertex % 4] > 2 * error) return true;
  const auto& triple = corners_[vertex].plane;
  const auto of = [&](std::size_t k) { return exact(planes_[std::size_t(triple[k])]); };
  return exact_side(of(0), of(1), of(2), exact(plane)) > 0;
}

THOR_ALSO_AVX2 bool VoronoiCell::clip(const std::array<double, 3>& d, std::int32_t cell, std::int8_t image) {
  const double d2 = dot(d, d);
  const Plane plane{d, 0.5 * d2, std::sqrt(d2), cell, image};
  if (!find_cut_off(plane)) return false;
  planes_.push_back(plane);
  find_ring();
  close_ring();
  end_blocks();
  return true;
}

/// The edges between what is cut off and what stays.
void VoronoiCell::find_ring() {
  ring_.clear();
  for (std::size_t j = 0; j < count_off_; ++j) {
    const Corner& corner = corners_[off_[j]];
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int32_t kept = corner.next[k];
      if (is_off_[std::size_t(kept)] == 0)
        ring_.push_back({corner.plane[(k + 1) % 3], corner.plane[(k + 2) % 3], kept});
    }
  }
  for (std::size_t j = 0; j < count_off_; ++j) is_off_[off_[j]] = 0;
}

/// New vertices where the last plane meets the edges, in the places of those that are cut off and behind the last one.
void VoronoiCell::close_ring() {
  const auto plane = std::int32_t(planes_.size() - 1);
  const std::size_t count = ring_.size();
  reserve(size_ + count), start_at_.resize(planes_.size());
  for (std::size_t k = count_off_; k < count; ++k) off_[k] = size_++;
  for (std::size_t k = 0; k < count; ++k) {
    const Cut& cut = ring_[k];
    const auto place = std::int32_t(off_[k]);
    start_at_[std::size_t(cut.left)] = place;
    Corner& stays = corners_[std::size_t(cut.kept)];
    for (std::size_t e = 0; e < 3; ++e) {
      const bool is_same = stays.plane[(e + 1) % 3] == cut.right && stays.plane[(e + 2) % 3] == cut.left;
      if (is_same) stays.next[e] = place;
    }
    corners_[off_[k]] = {{plane, cut.left, cut.right}, {cut.kept, 0, 0}};
  }
  for (std::size_t k = 0; k < count; ++k) {
    const std::int32_t after = start_at_[std::size_t(ring_[k].right)];
    corners_[off_[k]].next[1] = after;
    corners_[std::size_t(after)].next[2] = std::int32_t(off_[k]);
  }
  place_vertices(off_.data(), count);
  if (count < count_off_) remove_rest();
}

/// Moves the last vertices to the places of those that are cut off and not used again.
void VoronoiCell::remove_rest() {
  for (std::size_t k = count_off_; k-- > ring_.size();) {
    const std::size_t place = off_[k], last = --size_;
    if (place == last) continue;
    const Corner& moved = corners_[last];
    for (std::size_t e = 0; e < 3; ++e) {
      Corner& other = corners_[std::size_t(moved.next[e])];
      for (std::int32_t& next : other.next) {
        if (next == std::int32_t(last)) next = std::int32_t(place);
      }
    }
    corners_[place] = moved;
    const Block& from = blocks_[last / 4];
    Block& to = blocks_[place / 4];
    const std::size_t i = last % 4, lane = place % 4;
    to.x[lane] = from.x[i], to.y[lane] = from.y[i], to.z[lane] = from.z[i];
    to.slack[lane] = from.slack[i], to.reach2[lane] = from.reach2[i];
  }
}

/// Fills the last block with vertices at the site, and finds the farthest one.
void VoronoiCell::end_blocks() {
  for (std::size_t i = size_; i % 4 != 0; ++i) {
    Block& block = blocks_[i / 4];
    const std::size_t k = i % 4;
    block.x[k] = block.y[k] = block.z[k] = block.slack[k] = 0, block.reach2[k] = -1;
  }
  Four far = blocks_[0].reach2;
  for (std::size_t i = 1; i < (size_ + 3) / 4; ++i) far = far > blocks_[i].reach2 ? far : blocks_[i].reach2;
  far2_ = std::max(std::max(far[0], far[1]), std::max(far[2], far[3]));
}

THOR_ALSO_AVX2 bool VoronoiCell::could_cut(const std::array<double, 3>& centre,
                                           const std::array<double, 3>& half) const {
  auto found = Four{} > 0;
  for (std::size_t i = 0; i < (size_ + 3) / 4; ++i) {
    const Block& block = blocks_[i];
    Four sum{};
    for (std::size_t k = 0; k < 3; ++k) {
      const Four apart = (k == 0 ? block.x : k == 1 ? block.y : block.z) - centre[k];
      const Four away = (apart < 0 ? -apart : apart) - half[k];
      sum += away > 0 ? away * away : Four{};
    }
    found |= sum <= block.reach2;
  }
  return (found[0] | found[1] | found[2] | found[3]) != 0;
}

std::array<double, 3> VoronoiCell::at(std::size_t vertex) const {
  const Block& block = blocks_[vertex / 4];
  const std::size_t k = vertex % 4;
  return {block.x[k], block.y[k], block.z[k]};
}

/// The next vertex of a face, with its outside to the right-handed sense of rotation.
std::size_t VoronoiCell::next_around(std::size_t vertex, std::int32_t plane) const {
  const Corner& corner = corners_[vertex];
  const std::size_t k = corner.plane[0] == plane ? 0 : corner.plane[1] == plane ? 1 : 2;
  return std::size_t(corner.next[(k + 1) % 3]);
}

VoronoiSide VoronoiCell::measure_face(std::int32_t plane, std::size_t first) const {
  const std::array<double, 3> origin = at(first);
  const Plane& p = planes_[std::size_t(plane)];
  std::array<double, 3> before{};
  double sum = 0, extent2 = 0;
  for (std::size_t i = next_around(first, plane); i != first; i = next_around(i, plane)) {
    std::array<double, 3> now = at(i);
    for (std::size_t k = 0; k < 3; ++k) now[k] -= origin[k];
    sum += dot(p.n, cross(before, now));
    extent2 = std::max(extent2, dot(now, now)), before = now;
  }
  const double area = 0.5 * std::abs(sum) / p.length, apart = 2 * p.c / p.length;
  const double width = std::min(narrow_width, narrow_share * apart);
  return {area, p.cell, p.image, area * area <= width * width * extent2};
}

THOR_ALSO_AVX2 double VoronoiCell::measure(std::vector<VoronoiSide>& sides) const {
  constexpr std::size_t none = ~std::size_t(0);
  std::vector<std::size_t> first(planes_.size(), none);
  for (std::size_t i = size_; i-- > 0;) {
    for (const std::int32_t plane : corners_[i].plane) first[std::size_t(plane)] = i;
  }
  double volume = 0;
  for (std::size_t k = 0; k < planes_.size(); ++k) {
    if (first[k] == none) continue;
    sides.push_back(measure_face(std::int32_t(k), first[k]));
    volume += sides.back().area * planes_[k].c / planes_[k].length / 3;
  }
  return volume;
}

}  // namespace thor
