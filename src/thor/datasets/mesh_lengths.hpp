#pragma once
#include <span>
#include <vector>

#include "thor/comm/world.hpp"
#include "thor/datasets/mesh_file.hpp"

namespace thor {

/// The length of core skipping at the middle of each cell of a mesh: the shortest way to where a photon would get out
/// of thick gas or out of the line, as neighbourhood.hpp has it for grids,
///
///   l_i = min_j (l_j + |i - j|),   l_j = max(f, min over the faces of (d / c - (d - f_face))),
///
/// with d from the middle of a cell to that behind a face, c the fall of the density to it, or the difference of the
/// velocity in thermal widths if that is more, and f the way to a face, to the nearest but where it says which. At an
/// open side of the box l_j is not above the way to it. Ways go from cell to cell, and count for as much as a straight
/// one may be shorter (MeshCells::straightness).
///
/// A photon is as near to the nearest face as its place says, but gas may end behind another one. What is added to the
/// way to the nearest is the least over the faces of what is left of the way through each, behind the face.
///
/// Lengths are summed in whole numbers, so that they are the same in any order, and wherever a mesh is cut.
struct MeshLengths {
  std::vector<float> at_middle, at_face;  ///< l_i; what is added to the way to the nearest face
};
/// Collective if there is a world, whose ranks hold parts that make up the whole. In each of them the lengths of all
/// cells that it holds.
std::vector<MeshLengths> mesh_lengths(const comm::World* world, std::span<const MeshCells* const> parts, int threads);

}  // namespace thor
