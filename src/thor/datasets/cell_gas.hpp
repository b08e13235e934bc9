#pragma once
#include "thor/datasets/fields.hpp"
#include "thor/datasets/packed_cell.hpp"
#include "thor/math/gather.hpp"
#include "thor/math/vec3.hpp"

namespace thor {

/// What the cells of a mesh hold. The numbers of a cell lie side by side, so that a photon that enters it waits for
/// memory once:
///
///   n sigma_0 per unit length at the cell's own temperature, 1/w, v_x, v_y, v_z [, dust ratio] [, core scale]
///
/// w is the thermal speed, the dust ratio the extinction over n sigma_0, the core scale the length of core skipping at
/// a face (neighbourhood.hpp). Packed they are 12 bytes (packed_cell.hpp), 16 with the core scale.
struct GasRecords {
  Array<float> numbers;
  int stride;      ///< numbers of a cell
  int dust;        ///< which of them is the dust ratio; 0: none
  int core_scale;  ///< and the core scale
  bool packed;
  float velocity_step;  ///< packed: the unit of velocities

  static void for_each_field(auto f, auto&... g) {
    f(g.numbers...), f(g.stride...), f(g.dust...), f(g.core_scale...), f(g.packed...), f(g.velocity_step...);
  }
};

inline namespace THOR_ISA {

/// The gas of a cell.
template <class V>
struct CellGas {
  V opacity, inverse_width;
  Vec3<V> velocity;
  V dust_ratio, core_scale;
};

/// The gas of the cells whose records begin at each lane's address.
template <class V>
THOR_FN CellGas<V> gas_at(const GasRecords& gas, const LaneAddress<V>& address) {
  using Real = RealOf<V>;
  const Numbers<V> numbers{gas.numbers.data, address};
  CellGas<V> g;
  g.dust_ratio = g.core_scale = V(Real(0));
  if (gas.packed) {
    const auto part = [&](auto unpack, int k) THOR_INLINE_LAMBDA {
      return gather(address,
                    [&](std::int64_t i) THOR_INLINE_LAMBDA { return unpack(to_bits(gas.numbers.data[i + k])); });
    };
    const V step(Real(gas.velocity_step));
    g.opacity = part([](std::uint32_t word) { return unpack_wide(word >> 16); }, 0);
    g.inverse_width = part([](std::uint32_t word) { return unpack_narrow(word & 0xffff); }, 0);
    g.velocity.x = step * part([](std::uint32_t word) { return unpack_signed(word >> 16); }, 1);
    g.velocity.y = step * part([](std::uint32_t word) { return unpack_signed(word & 0xffff); }, 1);
    g.velocity.z = step * part([](std::uint32_t word) { return unpack_signed(word >> 16); }, 2);
    g.dust_ratio = part([](std::uint32_t word) { return unpack_wide(word & 0xffff); }, 2);
    if (gas.core_scale > 0) g.core_scale = numbers[3];
  } else {
    g.opacity = numbers[0], g.inverse_width = numbers[1];
    g.velocity = {numbers[2], numbers[3], numbers[4]};
    if (gas.dust > 0) g.dust_ratio = numbers[5];
    if (gas.core_scale > 0) g.core_scale = gas.dust > 0 ? numbers[6] : numbers[5];
  }
  return g;
}

}  // namespace THOR_ISA
}  // namespace thor
