#include "thor/datasets/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "thor/core/error.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/datasets/equal_cells.hpp"
#include "thor/datasets/neighbourhood.hpp"

namespace thor {

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

UniformGrid<double> without_gas(const GridShape& shape) {
  UniformGrid<double> g{};
  g.tile = std::ranges::min(shape.count) >= 8 || shape.cells() > 1'000'000'000 ? 2 : 0;
  for (std::size_t k = 0; k < 3; ++k) {
    g.shape[k] = int(shape.count[k]);
    g.tiles[k] = int((shape.count[k] + (1 << g.tile) - 1) >> g.tile);
    g.zero[k] = -shape.origin[k] / shape.cell_size;
    g.whole[k] = g.shape[k];
  }
  g.periodic = g.repeats = shape.periodic;
  return g;
}

namespace {

/// Number of cells, including those that fill the last tiles, for which there is memory.
std::size_t room_for(const GridShape& shape, const CellLayout& layout) {
  const UniformGrid<double> g = without_gas(shape);
  double room = 1;
  for (const int tiles : g.tiles) room *= double(tiles) * (1 << g.tile);
  require_memory(shape, room, layout, 1);
  if (room > std::exp2(32 + 3 * g.tile))
    throw Error(ExitCode::input, "a grid has at most 2^32 blocks of 4 x 4 x 4 cells");
  return std::size_t(room);
}

}  // namespace

Cells::Cells(const GridShape& shape, const CellLayout& layout, const CellUnits& units, double largest_velocity)
    : CellRecords(room_for(shape, layout), layout, units, largest_velocity),
      shape_(shape),
      dataset_(without_gas(shape)) {
  dataset_.gas = records();
}

std::int64_t Cells::record(std::int64_t cell) const {
  const auto at = place(cell);
  return cell_address<double>(dataset_, at.x, at.y, at.z, 1).of[0];
}

void Cells::finish(int threads, bool join) {
  if (layout_.core_skip) set_core_scale(neighbourhood_scale(*this, threads), threads);
  if (join && has_equal_cells(*this, threads)) {
    this->join({*this, shape_.box(), shape_.count}, shape_.box(), threads);
  }
  survey(threads, shape_.box());
}

void Cells::join(const CellsOfGrid& known, const CellBox& box, int threads) {
  UniformGrid<double>& g = dataset_;
  const std::size_t count = (g.gas.numbers.count - 3) / std::size_t(g.gas.stride) + 3;
  if (const double bytes = 4. * double(count), available = available_memory(); bytes > available) {
    throw Error(ExitCode::input,
                fmt::format("neighbours that are equal, through which photons jump, take {} for 4 bytes a cell, {} are "
                            "free: {}set acceleration.jumps: false, or take a machine with more memory",
                            size_text(bytes), size_text(available),
                            layout_.packed ? "" : "set dataset.packed: true (16 bytes a cell), "));
  }
  around_ = std::make_unique<float[]>(count);
  std::atomic<bool> some = false;
  equal_cells_around(known, box, threads, [&](std::int64_t i, float digits) {
    around_[std::size_t(record(i))] = digits;
    if (digits > 0) some = true;
  });
  if (!some) return around_.reset();
  g.around = {around_.get(), count};
  layout_.joined = true;
}

void Cells::survey(int threads, const CellBox& counted) {
  std::mutex mutex;
  const std::int64_t step[3] = {shape_.count[1] * shape_.count[2], shape_.count[2], 1};
  const double hubble = shape_.hubble * shape_.cell_size / units().reference_speed;
  CellStatistics sum;
  const auto add_row = [&](std::int64_t x, std::int64_t y, CellStatistics& p) {
    for (std::int64_t z = counted.first[2]; z < counted.first[2] + counted.count[2]; ++z) {
      const std::int64_t i = x * step[0] + y * step[1] + z, index[3] = {x, y, z};
      const CellGas<double> g = gas(i);
      p.add_cell(g);
      if (layout_.core_skip)
        p.largest_x_crit = std::max(p.largest_x_crit, critical_frequency(g, g.core_scale + 0.5, hubble));
      for (std::size_t k = 0; k < 3; ++k) {
        if (g.opacity >= thick_cell && index[k] + 1 < shape_.count[k]) p.add_face(g, gas(i + step[k]));
      }
    }
  };
  const std::int64_t rows = counted.count[0] * counted.count[1];
  const std::size_t at_a_time = std::max<std::size_t>((1 << 16) / std::size_t(counted.count[2]), 1);
  parallel_for(threads, std::size_t(rows), at_a_time, [&](std::size_t first, std::size_t end) {
    CellStatistics p;
    for (auto row = std::int64_t(first); row < std::int64_t(end); ++row) {
      add_row(counted.first[0] + row / counted.count[1], counted.first[1] + row % counted.count[1], p);
    }
    const std::lock_guard lock(mutex);
    sum.add(p);
  });
  finish_statistics(sum, double(counted.cells()));
}

GridShape GridShape::part(const CellBox& box) const {
  GridShape shape = *this;
  shape.count = box.count;
  for (std::size_t k = 0; k < 3; ++k) shape.origin[k] += double(box.first[k]) * cell_size;
  shape.periodic = periodic && box.count == count;
  return shape;
}

}  // namespace thor
