#pragma once
#include "thor/datasets/domains.hpp"
#include "thor/datasets/uniform_grid.hpp"
#include "thor/transport/lane.hpp"
#include "thor/transport/problem.hpp"

/// From one part of a grid to another. A kernel sees a part as if it were all of the grid, in cells that are counted
/// from its own corner, and a lane that leaves it has escaped. Positions are a cell and an offset, so that nothing is
/// rounded on the way to the cell behind the face: a history is the same, bit for bit, however a grid is cut.
namespace thor {

/// The cells of a part, and those of the whole grid.
struct PartFrame {
  CellBox box;  ///< of the part
  CellIndex whole;
  bool periodic;

  CellIndex to_whole(CellIndex cell) const {
    for (std::size_t k = 0; k < 3; ++k) cell[k] = wrapped(cell[k] + box.first[k], k);
    return cell;
  }
  /// Not in the part, if it is not there.
  CellIndex to_part(CellIndex cell) const {
    for (std::size_t k = 0; k < 3; ++k) cell[k] = wrapped(cell[k] - box.first[k], k);
    return cell;
  }
  bool holds(const CellIndex& cell) const { return has(to_part(cell)); }
  /// The same for a cell of the part.
  bool has(const CellIndex& there) const {
    return there[0] >= 0 && there[0] < box.count[0] && there[1] >= 0 && there[1] < box.count[1] && there[2] >= 0 &&
           there[2] < box.count[2];
  }

 private:
  std::int64_t wrapped(std::int64_t cell, std::size_t k) const {
    if (!periodic) return cell;
    const std::int64_t rest = cell % whole[k];
    return rest < 0 ? rest + whole[k] : rest;
  }
};

inline namespace THOR_ISA {

template <class Lanes>
CellIndex cell_of(const Lanes& lanes, int i) {
  const auto& cell = lanes.place.integer;
  return {cell[0][i], cell[1][i], cell[2][i]};
}
template <class Real>
CellIndex cell_of(const Lane<Real>& lane) {
  const auto& cell = lane.place.integer;
  return {cell[0], cell[1], cell[2]};
}
template <class Lanes>
void set_cell(const Lanes& lanes, int i, const CellIndex& cell) {
  using Int = std::remove_reference_t<decltype(lanes.phase[i])>;
  for (std::size_t k = 0; k < 3; ++k) lanes.place.integer[k][i] = Int(cell[k]);
}

/// What has become of a lane that has left a part.
enum class Crossing {
  stays,    ///< in the part, which it has entered again across a face of a periodic box
  departs,  ///< to a cell that the part does not hold
  ends      ///< outside the whole grid, or because it is stopped or lost there
};

/// Puts a lane that has escaped from a part into the cell behind the face, as a step of the whole grid would have done,
/// and then counts its cells in the whole grid unless it stays. `limits`: of a photon; a ray has none.
template <class Real>
Crossing cross_border(const PartFrame& frame, const UniformGrid<Real>& whole, const Limits* limits,
                      const LaneArrays<Real>& lanes, int i) {
  const Real slope[3] = {lanes.dx[i], lanes.dy[i], lanes.dz[i]};
  Real* const offset[3] = {&lanes.px[i], &lanes.py[i], &lanes.pz[i]};
  const CellIndex here = cell_of(lanes, i);
  CellIndex there = frame.to_whole(here);
  if (!frame.has(here)) {  // a jump has ended there
    lanes.phase[i] = Phase::fly;
    const bool stays = frame.holds(there);
    set_cell(lanes, i, stays ? frame.to_part(there) : there);
    return stays ? Crossing::stays : Crossing::departs;
  }
  for (std::size_t k = 0; k < 3; ++k) {
    // A lane that does not move along an axis may lie in a face of the part all the way.
    if (slope[k] == Real(0)) continue;
    const bool up = slope[k] > Real(0);
    if (here[k] != (up ? frame.box.count[k] - 1 : 0) || *offset[k] != (up ? -at_face<Real> : at_face<Real>)) continue;
    const std::int64_t next = there[k] + (up ? 1 : -1);
    if (!frame.periodic && (next < 0 || next >= frame.whole[k])) break;
    there[k] = next < 0 ? frame.whole[k] - 1 : next == frame.whole[k] ? 0 : next;
    *offset[k] = -*offset[k];
    lanes.phase[i] = Phase::fly;
    break;
  }
  set_cell(lanes, i, there);
  if (lanes.phase[i] != Phase::fly) return Crossing::ends;
  if (whole.stop > Real(0) && lanes.frequency[i] < -whole.stop && lanes.flown[i] >= whole.stop_flight) {
    lanes.phase[i] = Phase::stopped;
  } else if (limits && (lanes.scatterings[i] >= limits->scatterings || lanes.steps[i] >= limits->steps)) {
    lanes.phase[i] = Phase::lost;
  }
  if (lanes.phase[i] != Phase::fly) return Crossing::ends;
  if (!frame.holds(there)) return Crossing::departs;
  set_cell(lanes, i, frame.to_part(there));
  return Crossing::stays;
}

}  // namespace THOR_ISA
}  // namespace thor
