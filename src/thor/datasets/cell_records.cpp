#include "thor/datasets/cell_records.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "thor/core/memory.hpp"
#include "thor/core/parallel_for.hpp"

namespace thor {
namespace {

float bits_to_float(std::uint32_t bits) { return from_bits(bits); }

}  // namespace

CellRecords::CellRecords(std::size_t records, const CellLayout& layout, const CellUnits& units, double largest_velocity)
    : layout_(layout), units_(units) {
  const std::size_t count = records * std::size_t(layout.stride()) + 3;  // which Numbers may read
  numbers_ = std::make_unique_for_overwrite<float[]>(count);
  prefer_large_pages(numbers_.get(), count * sizeof(float));
  records_ = {{numbers_.get(), count}, layout.stride(),
              layout.dust_at(),        layout.core_scale_at(),
              layout.packed,           float(std::max(largest_velocity / units.reference_speed, 1e-30) / 32767)};
}

void CellRecords::set_density(std::int64_t i, double n) { numbers(i)[0] = float(n); }

// In the place of the width, or of the first velocity of a packed cell, which are set later.
void CellRecords::set_turbulence(std::int64_t i, double b) { numbers(i)[1] = float(b); }
double CellRecords::turbulence(std::int64_t i) const { return double(numbers(i)[1]); }

void CellRecords::set_temperature(std::int64_t i, double temperature, double turbulence) {
  float* r = numbers(i);
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

void CellRecords::set_velocity(std::int64_t i, int axis, double velocity) {
  float* r = numbers(i);
  const double v = velocity / units_.reference_speed;
  if (!layout_.packed) {
    r[2 + axis] = float(v);
    return;
  }
  const std::uint32_t bits = pack_signed(float(std::clamp(v / double(records_.velocity_step), -32767., 32767.)));
  float& word = r[1 + axis / 2];
  word = bits_to_float(axis == 1 ? (to_bits(word) & 0xffff0000u) | bits : (to_bits(word) & 0xffffu) | (bits << 16));
}

void CellRecords::set_dust(std::int64_t i, double dust) {
  float* r = numbers(i);
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

void CellRecords::clear(std::int64_t i) {
  set_density(i, 0);
  set_temperature(i, 1e4);
  for (int axis = 0; axis < 3; ++axis) set_velocity(i, axis, 0);
  if (layout_.dust) set_dust(i, 0);
}

CellGas<double> CellRecords::gas(std::int64_t i) const {
  return gas_at<double>(records_, {{record(i) * layout_.stride()}});
}

bool CellRecords::same(std::int64_t i, std::int64_t j) const {
  const float *a = numbers(i), *b = numbers(j);
  return to_bits(*a) == to_bits(*b) && std::memcmp(a, b, sizeof(float) * std::size_t(layout_.stride())) == 0;
}

void CellRecords::set_core_scale(const std::vector<float>& scale, int threads, float to_face) {
  const int at = layout_.core_scale_at();
  parallel_for(threads, scale.size(), 1 << 16, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) numbers(std::int64_t(i))[at] = scale[i] - to_face;
  });
}

double CellRecords::critical_frequency(const CellGas<double>& gas, double length, double hubble) const {
  const double scale = std::min(length, 1 / std::max(gas.inverse_width * hubble, 1e-30));
  return 0.2 * std::cbrt(units_.a * gas.inverse_width * gas.opacity * scale);
}

void CellRecords::finish_statistics(const CellStatistics& sums, double cells) {
  CellStatistics& s = statistics_ = sums;
  s.density /= units_.opacity;
  s.cells = cells;
  s.velocity_step = layout_.packed ? double(records_.velocity_step) * s.largest_a : 0;
  s.largest_a *= units_.a;
}

void CellStatistics::add_cell(const CellGas<double>& gas) {
  density += gas.opacity / gas.inverse_width;
  largest_opacity = std::max(largest_opacity, gas.opacity);
  largest_a = std::max(largest_a, gas.inverse_width);
  if (gas.opacity > 1e-12) {  // less is nothing along any path
    const double speed = std::hypot(gas.velocity.x, gas.velocity.y, gas.velocity.z);
    fastest = std::max(fastest, speed + 4 / gas.inverse_width);
  }
}

void CellStatistics::add_face(const CellGas<double>& here, const CellGas<double>& behind) {
  if (here.opacity < thick_cell || behind.opacity < thick_cell) return;
  const double jump = std::hypot(here.velocity.x - behind.velocity.x, here.velocity.y - behind.velocity.y,
                                 here.velocity.z - behind.velocity.z) *
                      std::max(here.inverse_width, behind.inverse_width);
  faces += 1;
  jumps += jump > 1 ? 1 : 0;
  largest_jump = std::max(largest_jump, jump);
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
