#include "thor/datasets/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "thor/core/error.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/datasets/equal_cells.hpp"
#include "thor/datasets/neighbourhood.hpp"

namespace thor {
namespace {

float bits_to_float(std::uint32_t bits) { return from_bits(bits); }

constexpr std::size_t cells_at_a_time = 1 << 16;

}  // namespace

void require_memory(const GridShape& shape, double cells, const CellLayout& layout, int processes) {
  const double bytes = cells * layout.bytes_at_most(), available = available_memory(processes);
  if (bytes <= available) return;
  const bool many = processes > 1;
  throw Error(
      ExitCode::input,
      fmt::format(
          "a grid of {} x {} x {} cells takes {} at {:.0f} bytes a cell{}, {} are free{}: {}{}take fewer "
          "cells, or a machine with more memory",
          shape.count[0], shape.count[1], shape.count[2], size_text(bytes), layout.bytes_at_most(),
          many ? fmt::format(" on each of {} ranks of this machine", processes) : "", size_text(available),
          many ? " for each" : "", layout.packed ? "" : "set dataset.packed: true (12 bytes), ",
          many ? "start fewer ranks on a machine, with more threads each, or give each a part (--domains), " : ""));
}

Cells::Cells(const GridShape& shape, const CellLayout& layout, const CellUnits& units, double largest_velocity)
    : shape_(shape), layout_(layout), units_(units) {
  UniformGrid<double>& g = dataset_;
  g.tile = std::ranges::min(shape.count) >= 8 || shape.cells() > 1'000'000'000 ? 2 : 0;
  double room = 1;  // number of cells, including those that fill the last tiles
  for (std::size_t k = 0; k < 3; ++k) {
    g.shape[k] = int(shape.count[k]);
    g.tiles[k] = int((shape.count[k] + (1 << g.tile) - 1) >> g.tile);
    g.zero[k] = -shape.origin[k] / shape.cell_size;
    room *= double(g.tiles[k]) * (1 << g.tile);
  }
  require_memory(shape, room, layout, 1);
  if (room > std::exp2(32 + 3 * g.tile))
    throw Error(ExitCode::input, "a grid has at most 2^32 blocks of 4 x 4 x 4 cells");
  g.stride = layout.stride(), g.dust = layout.dust_at(), g.core_scale = layout.core_scale_at();
  g.packed = layout.packed, g.periodic = shape.periodic;
  g.velocity_step = float(std::max(largest_velocity / units.reference_speed, 1e-30) / 32767);
  const std::size_t count = std::size_t(room) * std::size_t(layout.stride()) + 3;  // which Numbers may read
  numbers_ = std::make_unique_for_overwrite<float[]>(count);
  g.cells = {numbers_.get(), count};
}

float* Cells::record(std::int64_t i) const {
  const auto [nx, ny, nz] = shape_.count;
  return numbers_.get() + cell_address<double>(dataset_, i / (ny * nz), i / nz % ny, i % nz).of[0];
}

void Cells::set_density(std::int64_t i, double n) { record(i)[0] = float(n); }

// In the place of the width, or of the first velocity of a packed cell, which are set later.
void Cells::set_turbulence(std::int64_t i, double b) { record(i)[1] = float(b); }
double Cells::turbulence(std::int64_t i) const { return double(record(i)[1]); }

void Cells::set_temperature(std::int64_t i, double temperature, double turbulence) {
  float* r = record(i);
  const double thermal = units_.speed_per_root_kelvin * std::sqrt(temperature);
  const double inverse = units_.reference_speed / std::hypot(thermal, std::hypot(units_.b_turb, turbulence));
  const float opacity = std::max(float(double(r[0]) * units_.opacity * inverse), least_opacity);
  if (layout_.packed) {
    r[0] = bits_to_float((pack_wide(opacity) << 16) | pack_narrow(float(inverse)));
    r[1] = r[2] = 0;
  } else {
    r[0] = opacity;
    r[1] = float(inverse);
  }
}

void Cells::set_velocity(std::int64_t i, int axis, double velocity) {
  float* r = record(i);
  const double v = velocity / units_.reference_speed;
  if (!layout_.packed) {
    r[2 + axis] = float(v);
    return;
  }
  const std::uint32_t bits = pack_signed(float(std::clamp(v / double(dataset_.velocity_step), -32767., 32767.)));
  float& word = r[1 + axis / 2];
  word = bits_to_float(axis == 1 ? (to_bits(word) & 0xffff0000u) | bits : (to_bits(word) & 0xffffu) | (bits << 16));
}

void Cells::set_dust(std::int64_t i, double dust) {
  float* r = record(i);
  const double extinction = dust * units_.dust;
  if (layout_.packed && extinction > gas(i).opacity * largest_wide) {  // so little gas that the ratio has no room
    const auto opacity = float(extinction / (0.99 * largest_wide));
    r[0] = bits_to_float((pack_wide(opacity) << 16) | (to_bits(r[0]) & 0xffffu));
  }
  const auto ratio = float(extinction / gas(i).opacity);
  if (layout_.packed) {
    r[2] = bits_to_float((to_bits(r[2]) & 0xffff0000u) | (dust > 0 ? pack_wide(ratio) : 0u));
  } else {
    r[layout_.dust_at()] = ratio;
  }
}

void Cells::clear(std::int64_t i) {
  set_density(i, 0);
  set_temperature(i, 1e4);
  for (int axis = 0; axis < 3; ++axis) set_velocity(i, axis, 0);
  if (layout_.dust) set_dust(i, 0);
}

CellGas<double> Cells::gas(std::int64_t i) const {
  const auto [nx, ny, nz] = shape_.count;
  return view<double>(dataset_).at(i / (ny * nz), i / nz % ny, i % nz);
}

bool Cells::same(std::int64_t i, std::int64_t j) const {
  const float *a = record(i), *b = record(j);
  return to_bits(*a) == to_bits(*b) && std::memcmp(a, b, sizeof(float) * std::size_t(layout_.stride())) == 0;
}

void Cells::finish(int threads, bool join) {
  if (layout_.core_skip) set_core_scale(neighbourhood_scale(*this, threads), threads);
  if (join && has_equal_cells(*this, threads)) {
    this->join({*this, shape_.box(), shape_.count}, shape_.box(), threads);
  }
  survey(threads, shape_.box());
}

void Cells::set_core_scale(const std::vector<float>& scale, int threads) {
  const int at = layout_.core_scale_at();
  parallel_for(threads, scale.size(), cells_at_a_time, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) record(std::int64_t(i))[at] = scale[i] - 0.5f;
  });
}

void Cells::join(const CellsOfGrid& known, const CellBox& box, int threads) {
  UniformGrid<double>& g = dataset_;
  const std::size_t count = (g.cells.count - 3) / std::size_t(g.stride) + 3;
  if (const double bytes = 4. * double(count), available = available_memory(); bytes > available) {
    throw Error(ExitCode::input,
                fmt::format("neighbours that are equal, through which photons jump, take {} for 4 bytes a cell, {} are "
                            "free: {}set acceleration.jumps: false, or take a machine with more memory",
                            size_text(bytes), size_text(available),
                            layout_.packed ? "" : "set dataset.packed: true (16 bytes a cell), "));
  }
  around_ = std::make_unique<float[]>(count);
  UniformGrid<double> one = g;
  one.stride = 1;
  const std::int64_t ny = shape_.count[1], nz = shape_.count[2];
  std::atomic<bool> some = false;
  equal_cells_around(known, box, threads, [&](std::int64_t i, float digits) {
    around_[std::size_t(cell_address<double>(one, i / (ny * nz), i / nz % ny, i % nz).of[0])] = digits;
    if (digits > 0) some = true;
  });
  if (!some) return around_.reset();
  g.around = {around_.get(), count};
  layout_.joined = true;
}

void Cells::survey(int threads, const CellBox& counted) {
  std::mutex mutex;
  const auto [nx, ny, nz] = shape_.count;
  const std::int64_t step[3] = {ny * nz, nz, 1};
  const double hubble = shape_.hubble * shape_.cell_size / units_.reference_speed;
  const std::int64_t rows = counted.count[0] * counted.count[1];
  parallel_for(threads, std::size_t(rows), std::max<std::size_t>(cells_at_a_time / std::size_t(counted.count[2]), 1),
               [&](std::size_t first, std::size_t end) {
                 CellStatistics p;
                 for (auto row = std::int64_t(first); row < std::int64_t(end); ++row) {
                   const std::int64_t x = counted.first[0] + row / counted.count[1];
                   const std::int64_t y = counted.first[1] + row % counted.count[1];
                   for (std::int64_t z = counted.first[2]; z < counted.first[2] + counted.count[2]; ++z) {
                     const std::int64_t i = x * step[0] + y * step[1] + z, index[3] = {x, y, z};
                     const CellGas<double> g = gas(i);
                     p.density += g.opacity / g.inverse_width;
                     p.largest_opacity = std::max(p.largest_opacity, g.opacity);
                     p.largest_a = std::max(p.largest_a, g.inverse_width);
                     if (g.opacity > 1e-12) {  // less is nothing along any path
                       const double speed = std::hypot(g.velocity.x, g.velocity.y, g.velocity.z);
                       p.fastest = std::max(p.fastest, speed + 4 / g.inverse_width);
                     }
                     const double scale = std::min(g.core_scale + 0.5, 1 / std::max(g.inverse_width * hubble, 1e-30));
                     const double a_tau = units_.a * g.inverse_width * g.opacity * scale;
                     if (layout_.core_skip) p.largest_x_crit = std::max(p.largest_x_crit, 0.2 * std::cbrt(a_tau));
                     for (std::size_t k = 0; k < 3; ++k) {
                       if (index[k] + 1 >= shape_.count[k] || g.opacity < 1e-3)
                         continue;  // thin cells are passed through
                       const CellGas<double> other = gas(i + step[k]);
                       if (other.opacity < 1e-3) continue;
                       const double jump = std::hypot(g.velocity.x - other.velocity.x, g.velocity.y - other.velocity.y,
                                                      g.velocity.z - other.velocity.z) *
                                           std::max(g.inverse_width, other.inverse_width);
                       p.faces += 1;
                       p.jumps += jump > 1 ? 1 : 0;
                       p.largest_jump = std::max(p.largest_jump, jump);
                     }
                   }
                 }
                 const std::lock_guard lock(mutex);
                 statistics_.add(p);
               });
  CellStatistics& s = statistics_;
  s.density /= units_.opacity;
  s.cells = double(counted.cells());
  s.velocity_step = layout_.packed ? double(dataset_.velocity_step) * s.largest_a : 0;
  s.largest_a *= units_.a;
}

GridShape GridShape::part(const CellBox& box) const {
  GridShape shape = *this;
  shape.count = box.count;
  for (std::size_t k = 0; k < 3; ++k) shape.origin[k] += double(box.first[k]) * cell_size;
  shape.periodic = periodic && box.count == count;
  return shape;
}

void CellStatistics::add(const CellStatistics& other) {
  density += other.density, cells += other.cells, faces += other.faces, jumps += other.jumps;
  largest_opacity = std::max(largest_opacity, other.largest_opacity);
  largest_a = std::max(largest_a, other.largest_a);
  largest_jump = std::max(largest_jump, other.largest_jump);
  largest_x_crit = std::max(largest_x_crit, other.largest_x_crit);
  velocity_step = std::max(velocity_step, other.velocity_step);
  fastest = std::max(fastest, other.fastest);
}

}  // namespace thor
