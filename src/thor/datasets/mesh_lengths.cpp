#include "thor/datasets/mesh_lengths.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "thor/core/parallel_for.hpp"

namespace thor {
namespace {

using MeshLength = std::int64_t;  ///< in 2^-30 of the unit of length: a box has at most 2^30 of them along a side
constexpr double mesh_step = 0x1p-30;
constexpr MeshLength not_found = MeshLength(1) << 62;
constexpr std::size_t lengths_of_piece = 1 << 12;

MeshLength mesh_steps(double length) { return std::llround(length / mesh_step); }

/// What the gas of a cell and of those behind its faces says: l_j, and how much of it lies behind the faces.
struct CellLength {
  double at_middle, at_face;
};
CellLength gradient_length(const MeshCells& cells, std::int64_t cell) {
  const std::int64_t whole = cells.to_whole(cell);
  const CellGas<double> g = cells.gas(cell);
  const double here = g.opacity / g.inverse_width;
  CellLength least{1e9, 1e9};
  cells.for_each_behind(whole, [&](const MeshCells::Behind& face) {
    double beyond = 0;
    if (face.cell >= 0) {
      const CellGas<double> other = cells.gas(cells.part() ? cells.part()->to_part(face.cell) : face.cell);
      const double fall = (here - other.opacity / other.inverse_width) / std::max(here, 1e-30);
      const double jump =
          std::hypot(other.velocity.x - g.velocity.x, other.velocity.y - g.velocity.y, other.velocity.z - g.velocity.z);
      const double change = std::max(std::max(fall, jump * g.inverse_width), 1e-10);
      beyond = face.apart / change - face.apart;
    }
    least.at_face = std::min(least.at_face, std::max(beyond, 0.));
    least.at_middle = std::min(least.at_middle, face.to_face + beyond);
  });
  return {std::max(cells.to_face(whole), least.at_middle), least.at_face};
}

/// Gives all ranks what each has found of its cells.
void share_lengths(const comm::World& world, std::span<const MeshCells* const> parts,
                   std::vector<MeshLength>& lengths) {
  std::vector<std::uint64_t> own;
  for (const MeshCells* cells : parts) {
    const auto [first, end] = cells->own_in_whole();
    own.push_back(std::uint64_t(first)), own.push_back(std::uint64_t(end));
    for (std::int64_t i = first; i < end; ++i) own.push_back(std::uint64_t(lengths[std::size_t(i)]));
  }
  const auto all = world.exchange(std::vector<std::vector<std::uint64_t>>(std::size_t(world.ranks()), own));
  for (std::size_t at = 0; at < all.size();) {
    const std::uint64_t first = all[at], end = all[at + 1];
    at += 2;
    for (std::uint64_t i = first; i < end; ++i) lengths[i] = MeshLength(all[at++]);
  }
}

/// Until no length can become less by way of a neighbour. Any order of the steps leads to the same.
void relax_lengths(const MeshCells& cells, std::vector<MeshLength>& lengths, int threads) {
  const std::size_t count = lengths.size();
  std::vector<std::uint8_t> lowered(count, 1), next(count, 0);
  for (std::atomic<bool> any = true; any;) {
    any = false;
    parallel_for(threads, count, lengths_of_piece, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (lowered[i] == 0) continue;
        lowered[i] = 0;
        const MeshLength from = std::atomic_ref(lengths[i]).load(std::memory_order_relaxed);
        cells.for_each_behind(std::int64_t(i), [&](const MeshCells::Behind& face) {
          if (face.cell < 0) return;
          const MeshLength through = from + mesh_steps(face.apart * cells.straightness());
          const std::atomic_ref length(lengths[std::size_t(face.cell)]);
          MeshLength before = length.load(std::memory_order_relaxed);
          while (through < before && !length.compare_exchange_weak(before, through, std::memory_order_relaxed)) {
          }
          if (through >= before) return;
          std::atomic_ref(next[std::size_t(face.cell)]).store(1, std::memory_order_relaxed);
          any.store(true, std::memory_order_relaxed);
        });
      }
    });
    lowered.swap(next);
  }
}

}  // namespace

std::vector<MeshLengths> mesh_lengths(const comm::World* world, std::span<const MeshCells* const> parts, int threads) {
  const auto count = std::size_t(parts.front()->cells_of_whole());
  std::vector<MeshLength> lengths(count, not_found), beyond(count, not_found);
  for (const MeshCells* cells : parts) {
    const std::pair<std::int64_t, std::int64_t> range = cells->own_in_whole();
    const auto first = std::size_t(range.first), count_of_own = std::size_t(range.second) - first;
    const std::int64_t own = cells->part() ? cells->part()->own : 0;
    parallel_for(threads, count_of_own, lengths_of_piece, [&](std::size_t begin, std::size_t last) {
      for (std::size_t i = begin; i < last; ++i) {
        const CellLength found = gradient_length(*cells, own + std::int64_t(i));
        lengths[first + i] = mesh_steps(found.at_middle);
        beyond[first + i] = mesh_steps(found.at_face);
      }
    });
  }
  if (world && !world->is_alone()) share_lengths(*world, parts, lengths), share_lengths(*world, parts, beyond);
  relax_lengths(*parts.front(), lengths, threads);
  std::vector<MeshLengths> all;
  for (const MeshCells* cells : parts) {
    MeshLengths& found = all.emplace_back();
    found.at_middle.resize(std::size_t(cells->cells())), found.at_face.resize(std::size_t(cells->cells()));
    parallel_for(threads, found.at_face.size(), lengths_of_piece, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::int64_t whole = cells->to_whole(std::int64_t(i));
        double least = double(beyond[std::size_t(whole)]) * mesh_step;
        cells->for_each_behind(whole, [&](const MeshCells::Behind& face) {
          if (face.cell < 0) return;
          const double way = double(lengths[std::size_t(face.cell)]) * mesh_step + face.apart * cells->straightness();
          least = std::min(least, std::max(way - face.to_face, 0.));
        });
        found.at_middle[i] = float(double(lengths[std::size_t(whole)]) * mesh_step), found.at_face[i] = float(least);
      }
    });
  }
  return all;
}

}  // namespace thor
