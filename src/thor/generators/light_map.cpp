#include "thor/generators/light_map.hpp"

#include <algorithm>
#include <cmath>

#include "thor/comm/together.hpp"

namespace thor {
LightMap::LightMap(const Emitter<double>& emitter, const HostMesh& mesh, const EmitterOptions& options) : mesh_(mesh) {
  // A block for each cell of a small grid, whose sides are in cells.
  for (std::size_t k = 0; k < 3; ++k)
    blocks_[k] = std::clamp(std::int64_t(mesh.sides()[k]), std::int64_t(1), most_blocks);
  sums_.resize(index(blocks_[0], blocks_[1], blocks_[2]) + 1);
  const auto all = double(emitter.count());
  const bool is_first = !options.partition || options.world->is_first();
  for (std::size_t i = 0; i < emitter.sources.size(); ++i) {
    const Source<double>& source = emitter.sources[i];
    const double share = double(emitter.light[i].photons) / all;
    if (!emitter.divided || !emitter.divided->generators[i]) {
      if (is_first) add(source, share);
      continue;
    }
    const comm::World& world = *options.world;
    for (const int domain : options.partition->held_by(world.rank(), world.ranks())) {
      if (!options.partition->counts(domain, world.rank(), world.ranks())) continue;
      add(emitter.divided->list(i, domain)->table(), emitter.divided->generators[i].get(), share);
    }
  }
  if (options.partition) comm::add_all(*options.world, std::span(sums_));
  add_up();
}

void LightMap::add(const Source<double>& source, double share) {
  if (source.shape == BirthPlace::point) add_light({source.place[0], source.place[1], source.place[2]}, share);
  if (source.shape == BirthPlace::table) add(source.table, nullptr, share);
}  // a surface or a beam: not known, and so everywhere

/// `slots`: of a domain, between whose runs there are those of others; null: the table has all.
void LightMap::add(const SourceTable& table, const DividedLight::Slots* slots, double share) {
  std::uint64_t before = 0;
  std::size_t run = 0;
  for (std::uint64_t k = 0; k < table.count; before = table.end[k++]) {
    while (slots && table.number(k) >= slots->cell[run]) before = slots->end[run++];
    if (table.end[k] == before) continue;
    const std::int32_t* at = table.place + 3 * k;
    add_light(table.place ? std::array{at[0], at[1], at[2]} : mesh_.place(std::int64_t(table.number(k))),
              share * double(table.end[k] - before) / double(table.slots));
  }
}

void LightMap::add_light(const std::array<std::int32_t, 3>& place, double share) {
  const HostMesh::Position centre = mesh_.centre(place), low = mesh_.low(), sides = mesh_.sides();
  Block block{};
  for (std::size_t k = 0; k < 3; ++k) {
    const auto at = std::int64_t((centre[k] - low[k]) / sides[k] * double(blocks_[k]));
    block[k] = std::clamp<std::int64_t>(at, 0, blocks_[k] - 1);
  }
  sums_[index(block[0] + 1, block[1] + 1, block[2] + 1)] += share;
}

void LightMap::add_up() {
  for (std::int64_t x = 1; x <= blocks_[0]; ++x) {
    for (std::int64_t y = 1; y <= blocks_[1]; ++y) {
      for (std::int64_t z = 1; z <= blocks_[2]; ++z) {
        sums_[index(x, y, z)] += sums_[index(x - 1, y, z)] + sums_[index(x, y - 1, z)] + sums_[index(x, y, z - 1)] -
                                 sums_[index(x - 1, y - 1, z)] - sums_[index(x - 1, y, z - 1)] -
                                 sums_[index(x, y - 1, z - 1)] + sums_[index(x - 1, y - 1, z - 1)];
      }
    }
  }
}

double LightMap::below(const Place& corner) const {
  // Between corners of blocks the sum is linear along each axis.
  double sum = 0;
  for (int k = 0; k < 8; ++k) {
    double weight = 1;
    Block at{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double low = std::min(std::floor(corner[axis]), double(blocks_[axis] - 1)), rest = corner[axis] - low;
      const bool upper = (k >> axis & 1) != 0;
      at[axis] = std::int64_t(low) + (upper ? 1 : 0);
      weight *= upper ? rest : 1 - rest;
    }
    if (weight > 0) sum += weight * sums_[index(at[0], at[1], at[2])];
  }
  return sum;
}

double LightMap::operator()(const Place& low, const Place& high) const {
  double sum = 0;
  for (int k = 0; k < 8; ++k) {
    Place corner{};
    int sign = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool upper = (k >> axis & 1) != 0;
      corner[axis] = (upper ? high : low)[axis] * double(blocks_[axis]);
      sign *= upper ? 1 : -1;
    }
    sum += sign * below(corner);
  }
  return sum;
}

}  // namespace thor
