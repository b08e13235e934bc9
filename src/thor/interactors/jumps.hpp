#pragma once
#include "thor/datasets/fields.hpp"
#include "thor/math/gather.hpp"
#include "thor/random/uniform.hpp"

/// Sphere jumps. A photon that is absorbed in the line core, in the centre of a sphere of homogeneous gas, leaves that
/// sphere at a random point with a frequency, an angle and a path that depend on its line-centre optical depth and on
/// the Voigt parameter alone. One draw from tables of exact histories replaces all scatterings inside
/// (docs/acceleration.md#sphere-jumps).
namespace thor {

/// A record of a table.
struct JumpExit {
  float log_path;         ///< ln(path/tau), path in units of 1/(n sigma_0)
  float log_scatterings;  ///< ln of their number
  float mu;               ///< cosine between direction and normal
  float last;             ///< length of the last flight, in radii
};

/// Knots of ln |x| lie at equal steps of t, where the share q = t^2 (3 - 2 t) of the photons has a smaller |x|: a
/// median of three uniform numbers is such a t (the beta distribution 2, 2), and both tails are resolved. Each of the
/// strata of t has a number of equally probable exits.
inline constexpr int jump_intervals = 256, jump_strata = 64, jump_records = 64;
inline constexpr int jump_knots = jump_intervals + 1, jump_exits = jump_strata * jump_records;
/// Frequencies are interpolated in a: linearly between nodes that lie this much closer than those of the tables
/// (JumpTables::refine). Exits cannot be, one by one; they are those of either neighbour, by its share, and path and
/// scatterings are over their means, which are interpolated as frequencies are: at the end of each row of knots.
inline constexpr int jump_refinement = 4;
inline constexpr int jump_row = jump_knots + 2;

/// The tables as the kernel sees them, and where jumps are allowed.
template <class R>
struct Jumps {
  using Real = R;
  Array<float> frequency;  ///< for each a, for each depth: ln |x| at its knots, and two means; two more at the end
  Array<float> exits;      ///< as JumpExit, likewise, over the means
  int a_count, stride;     ///< nodes of a; tables for each
  int depth_count;         ///< of those, the ones that are used: the smallest; 0: no jumps
  Real log_a, per_log_a;   ///< ln of the first node, and nodes per unit of ln a
  Real log_depth, per_log_depth;  ///< the same for the optical depth of the radius
  Real depth_step;                ///< 1/per_log_depth
  Real trigger;                   ///< jumps begin at |x| below it
  Real shear;                     ///< largest change of velocity over a radius, in thermal speeds
  Real gradient;                  ///< largest relative change of density over a radius
  Real dust_depth;                ///< largest optical depth of a radius for dust that turns photons

  static void for_each_field(auto f, auto&... d) {
    f(d.frequency...), f(d.exits...), f(d.a_count...), f(d.stride...), f(d.depth_count...), f(d.log_a...),
        f(d.per_log_a...);
    f(d.log_depth...), f(d.per_log_depth...), f(d.depth_step...), f(d.trigger...), f(d.shear...), f(d.gradient...),
        f(d.dust_depth...);
  }
};

inline namespace THOR_ISA {

/// The largest integer that is at most x, or the one below where x is an integer; 0 <= x < 2^22.
template <class V>
THOR_FN V floor_positive(V x) {
  return max(round_to_integer(x - V(RealOf<V>(0.5))), V(RealOf<V>(0)));
}
/// An integer 0 <= x < 2^22 as the offset of an address.
template <class V>
THOR_FN LaneAddress<V> address_of(V x, unsigned size) {
  using Bits = BitsOf<V>;
  constexpr bool single = sizeof(RealOf<V>) == 4;
  const V shifted = x + V(single ? RealOf<V>(8388608) : RealOf<V>(4503599627370496));  // 2^23, 2^52
  return lane_address<V>(to_bits(shifted) & Bits(0x3fffffu), size, Bits(0u));
}

/// Where in the tables a jump is drawn.
template <class V>
struct JumpPlace {
  MaskOf<V> exists;
  V a, depth;  ///< place among the nodes; that of the depth is an integer
  V shrink;    ///< optical depth of the table over that of the room
};

/// A photon that leaves its sphere.
template <class V>
struct JumpDraw {
  V x;            ///< frequency in thermal units
  V mu, sine;     ///< direction from the normal
  V path_factor;  ///< path over the optical depth of the radius, in units of 1/(n sigma_0)
  V scatterings;
  V last;  ///< length of the last flight, in radii
};

template <class V>
struct JumpsView {
  using Real = RealOf<V>;
  using Word = WordOf<V>;
  const Jumps<Real>& data;

  /// The largest table that fits into a room of this optical depth.
  THOR_FN JumpPlace<V> place(V depth, V a) const {
    const V zero(Real(0)), tiny(Real(1e-30));
    const V k = (log(max(depth, tiny)) - V(data.log_depth)) * V(data.per_log_depth);
    const V i = (log(max(a, tiny)) - V(data.log_a)) * V(data.per_log_a);
    const V last_a(Real(data.a_count - 1));
    const auto exists = k >= zero && i >= zero && i <= last_a;
    const V whole_k = min(floor_positive(max(k, zero)), V(Real(data.depth_count - 1)));
    return {exists, min(max(i, zero), last_a), whole_k, exp((whole_k - k) * V(data.depth_step))};
  }

  /// Three words choose the frequency; of the fourth the lowest bit chooses the sign, the highest six the exit, and
  /// those between the table of it.
  THOR_FN JumpDraw<V> draw(const JumpPlace<V>& place, Word first, Word second, Word third, Word fourth) const {
    const V u = uniform<V>(first), v = uniform<V>(second), w = uniform<V>(third);
    const V t = max(min(u, v), min(max(u, v), w));
    const V scaled = t * V(Real(jump_intervals)), knot = floor_positive(scaled);
    const V stride(Real(data.stride)), one(Real(1));
    const V fine = place.a * V(Real(jump_refinement));
    const V lower = min(floor_positive(fine), V(Real((data.a_count - 1) * jump_refinement - 1)));
    const auto address_in_row = [&](V node, V column) THOR_INLINE_LAMBDA {
      return address_of(fma(fma(node, stride, place.depth), V(Real(jump_row)), column), 1);
    };
    const auto frequency = [&](V node) THOR_INLINE_LAMBDA {
      const auto address = address_in_row(node, knot);
      const Numbers<V> knots{data.frequency.data, address};
      return between(knots[0], knots[1], scaled - knot);
    };
    const V log_x = between(frequency(lower), frequency(lower + one), fine - lower);
    const auto below = address_in_row(lower, V(Real(jump_knots)));
    const auto above = address_in_row(lower + one, V(Real(jump_knots)));
    const Numbers<V> means_below{data.frequency.data, below}, means_above{data.frequency.data, above};
    const V log_path = between(means_below[0], means_above[0], fine - lower);
    const V log_scatterings = between(means_below[1], means_above[1], fine - lower);

    const V node = min(floor_positive(place.a + uniform<V>(fourth << 6)), V(Real(data.a_count - 1)));
    const V stratum = floor_positive(t * V(Real(jump_strata)));
    const V record = fma(stratum, V(Real(jump_records)), word_to_real<V>(fourth, 26));
    const auto address = address_of(fma(fma(node, stride, place.depth), V(Real(jump_exits)), record), 4);
    const Numbers<V> numbers{data.exits.data, address};
    JumpDraw<V> exit;
    exit.x = random_sign(exp(log_x), fourth);
    exit.path_factor = exp(log_path + numbers[0]), exit.scatterings = exp(log_scatterings + numbers[1]);
    exit.mu = numbers[2], exit.last = numbers[3];
    exit.sine = sqrt(max((one - exit.mu) * (one + exit.mu), V(Real(0))));
    return exit;
  }

 private:
  static THOR_FN V between(V a, V b, V weight) { return fma(weight, b - a, a); }
};

template <class V>
THOR_FN JumpsView<V> view(const Jumps<RealOf<V>>& data) {
  return {data};
}

}  // namespace THOR_ISA
}  // namespace thor
