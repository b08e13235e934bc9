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
/// scatterings are over their means, which are interpolated as frequencies are: at the end of each row of knots, with
/// two numbers for recoil (see draw).
inline constexpr int jump_refinement = 4;
inline constexpr int jump_row = jump_knots + 4;

/// Deep tables: of spheres with so large an a tau that a photon's history depends on a tau alone, and for photons that
/// begin in the wing at x, too. With w = (a tau)^{1/3} they hold x/w, and hardly change with a tau; above their last
/// node they do not (docs/acceleration.md#deep-spheres). Row 0 is of photons that begin in the core, row j of those at
/// x = xi_j w. A photon in the wing has the sphere with a tau = (x/xi_j)^3, for the smallest xi_j that fits, so nothing
/// is interpolated in xi. A row begins where its sphere has an optical depth of 2 at x, a tau/(sqrt(pi) x^2), and no
/// lower than where it depends on a.
inline constexpr int deep_rows = 12, deep_nodes = 5;
inline constexpr double deep_log_xi = -0.79850769621777162, deep_log_xi_step = 0.23104906018664842;  // ln 0.45, ln(2)/3
inline constexpr double deep_log_node_step = 1.7269388197455342;                                     // 3/4 ln 10
inline constexpr int deep_core_rows = 4;  ///< whose photons are often in the core
inline constexpr double deep_log_core = 8.0063675676502459, deep_log_wing = 6.9077552789821368;  // ln 3000, ln 1000
inline constexpr double deep_log_least = 9.2103403719761836;                                     ///< of row 0: ln 10000
inline constexpr double deep_log_thick = 3.7965363707577137;                                     // 3 ln(2 sqrt(pi))

/// The tables as the kernel sees them, and where jumps are allowed.
template <class R>
struct Jumps {
  using Real = R;
  Array<float> frequency;         ///< for each a, for each depth: ln |x| at its knots, and four numbers; deep: (x/w)^3
  Array<float> exits;             ///< as JumpExit, likewise, over the means
  int a_count, stride;            ///< nodes of a; tables for each
  int depth_count;                ///< of those, the ones that are used: the smallest; 0: no jumps
  Real log_a, per_log_a;          ///< ln of the first node, and nodes per unit of ln a
  Real log_depth, per_log_depth;  ///< the same for the optical depth of the radius
  Real depth_step;                ///< 1/per_log_depth
  Real trigger;                   ///< jumps begin at |x| below it
  Real shear;                     ///< largest change of velocity over a radius, in thermal speeds
  Real gradient;                  ///< largest relative change of density over a radius
  Real dust_depth;                ///< largest optical depth of a radius for dust that turns photons
  int recoils;                    ///< whether scatterings shift photons to the red
  int deep;                       ///< deep tables are there, behind the others
  int deep_row, deep_exits;       ///< rows of frequencies and tables of exits before them
  Real deep_depth;                ///< largest optical depth of a radius for them
  Real wing_trigger;              ///< jumps in the wing begin at |x| above it,
  Real wing_least, wing_depth;    ///< and with at least this a tau and a tau/x^2 of the room

  static void for_each_field(auto f, auto&... d) {
    f(d.frequency...), f(d.exits...), f(d.a_count...), f(d.stride...), f(d.depth_count...), f(d.log_a...),
        f(d.per_log_a...);
    f(d.log_depth...), f(d.per_log_depth...), f(d.depth_step...), f(d.trigger...), f(d.shear...), f(d.gradient...),
        f(d.dust_depth...);
    f(d.recoils...), f(d.deep...), f(d.deep_row...), f(d.deep_exits...), f(d.deep_depth...), f(d.wing_trigger...),
        f(d.wing_least...), f(d.wing_depth...);
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
  V a, depth;  ///< place among the nodes; that of the depth is an integer. Of deep tables: of a tau, and the row
  V shrink;    ///< optical depth of the table over that of the room
  MaskOf<V> deep;
  V x;       ///< frequency at which the photon begins, 0 in the core
  V width;   ///< (a tau)^{1/3}, with the sign of x
  V radius;  ///< the optical depth of the radius
  V recoil;  ///< mean shift to the red of a scattering, in thermal units
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
  using Mask = MaskOf<V>;
  const Jumps<Real>& data;

  /// The largest table that fits into a room of this optical depth, for a photon in the core.
  THOR_FN JumpPlace<V> place(V depth, V a) const {
    const V zero(Real(0)), tiny(Real(1e-30));
    const V k = (log(max(depth, tiny)) - V(data.log_depth)) * V(data.per_log_depth);
    const V i = (log(max(a, tiny)) - V(data.log_a)) * V(data.per_log_a);
    const V last_a(Real(data.a_count - 1));
    const auto exists = k >= zero && i >= zero && i <= last_a;
    const V whole_k = min(floor_positive(max(k, zero)), V(Real(data.depth_count - 1)));
    const V shrink = exp((whole_k - k) * V(data.depth_step));
    return {exists, min(max(i, zero), last_a), whole_k, shrink, Mask(false), zero, zero, depth * shrink, zero};
  }

  /// The same for a photon at x, in the wing or in the core, with deep tables where the others end.
  THOR_FN JumpPlace<V> place(V depth, V a, V x, Mask wing) const {
    const V zero(Real(0)), one(Real(1)), tiny(Real(1e-30)), third(Real(1. / 3));
    JumpPlace<V> place = this->place(depth, a);
    const auto known = place.exists;
    place.exists = known && !wing;
    if (data.deep == 0) return place;
    const V log_room = log(max(a * min(depth, V(data.deep_depth)), tiny)), log_x = log(max(abs(x), tiny));
    const V above = (log_x - third * log_room - V(Real(deep_log_xi))) * V(Real(1 / deep_log_xi_step));
    const V row = select(wing, one + select(above > zero, one + floor_positive(max(above, zero)), zero), zero);
    const V log_xi = fma(row - one, V(Real(deep_log_xi_step)), V(Real(deep_log_xi)));
    const V log_a_tau = select(wing, V(Real(3)) * (log_x - log_xi), log_room);
    const V low = select(row < V(Real(deep_core_rows)), V(Real(deep_log_core)), V(Real(deep_log_wing)));
    const V thick = select(wing, fma(V(Real(6)), log_xi, V(Real(deep_log_thick))), low);
    const V node = (log_a_tau - max(low, thick)) * V(Real(1 / deep_log_node_step));
    // In the core the exact tables come first.
    const auto beyond = wing || (log_room >= V(Real(deep_log_least)) &&
                                 place.depth > V(Real(data.depth_count) - Real(1.5)) && place.shrink < V(Real(0.75)));
    const auto deep = known && node >= zero && row < V(Real(deep_rows)) && beyond;
    place.exists = place.exists || deep, place.deep = deep;
    place.a = select(deep, min(max(node, zero), V(Real(deep_nodes - 1))), place.a);
    place.depth = select(deep, row, place.depth);
    place.shrink = select(deep, divide(exp(log_a_tau), max(a * depth, tiny)), place.shrink);
    place.radius = depth * place.shrink;
    const V width = exp(third * log_a_tau);
    place.width = select(wing && x < zero, -width, width), place.x = select(wing, x, zero);
    return place;
  }

  /// Three words choose the frequency; of the fourth the lowest bit, or with recoil the lower half, chooses the sign,
  /// the highest six the exit, and those between the table of it.
  THOR_FN JumpDraw<V> draw(const JumpPlace<V>& place, Word first, Word second, Word third, Word fourth) const {
    return data.deep != 0 ? draw_from<true>(place, first, second, third, fourth)
                          : draw_from<false>(place, first, second, third, fourth);
  }

 private:
  template <bool has_deep>
  THOR_FN JumpDraw<V> draw_from(const JumpPlace<V>& place, Word first, Word second, Word third, Word fourth) const {
    const V one(Real(1)), zero(Real(0)), two(Real(2)), refinement{Real(jump_refinement)};
    const auto choose = [&](V deep, V other) THOR_INLINE_LAMBDA {
      if constexpr (has_deep) return select(place.deep, deep, other);
      return other;
    };
    const V stride = choose(V(Real(deep_rows)), V(Real(data.stride)));
    const V last_node = choose(V(Real(deep_nodes - 1)), V(Real(data.a_count - 1)));
    const V first_row = choose(V(Real(data.deep_row)) + place.depth, place.depth);
    const V first_table = choose(V(Real(data.deep_exits)) + place.depth, place.depth);
    const V fine = place.a * refinement;
    const V lower = min(floor_positive(fine), fma(last_node, refinement, -one));
    const auto address_in_row = [&](V node, V column) THOR_INLINE_LAMBDA {
      return address_of(fma(fma(node, stride, first_row), V(Real(jump_row)), column), 1);
    };
    const auto below = address_in_row(lower, V(Real(jump_knots)));
    const auto above = address_in_row(lower + one, V(Real(jump_knots)));
    const Numbers<V> means_below{data.frequency.data, below}, means_above{data.frequency.data, above};
    const V log_path = between(means_below[0], means_above[0], fine - lower);
    const V log_scatterings = between(means_below[1], means_above[1], fine - lower);

    const V u = uniform<V>(first), v = uniform<V>(second), w = uniform<V>(third);
    V t = max(min(u, v), min(max(u, v), w)), bias = zero;
    if (data.recoils != 0) {
      bias = place.recoil * between(means_below[2], means_above[2], fine - lower);
      if constexpr (has_deep) {
        // Recoil makes an exit at x e^{-c g x} times as probable, with c of 1 to 2. To first order the quantile q of a
        // deep table moves by q (1 - q) (bias + skew (2 q - 1)); dq/dt = 6 t (1 - t).
        const V skew = place.recoil * between(means_below[3], means_above[3], fine - lower);
        const V q = t * t * fma(-two, t, V(Real(3)));
        const V moved = t * (one - t) * fma(-two, t, V(Real(3))) * fma(two, t, one) * V(Real(1. / 6));
        const V by = place.width * fma(skew, fma(two, q, -one), bias);
        t = select(place.deep, min(max(fma(-by, moved, t), zero), V(Real(1 - 1e-6))), t);
      }
    }
    const V scaled = t * V(Real(jump_intervals)), knot = floor_positive(scaled);
    const auto frequency = [&](V node) THOR_INLINE_LAMBDA {
      const auto address = address_in_row(node, knot);
      const Numbers<V> knots{data.frequency.data, address};
      return between(knots[0], knots[1], scaled - knot);
    };
    const V value = between(frequency(lower), frequency(lower + one), fine - lower);

    const V node = min(floor_positive(place.a + uniform<V>(fourth << 6)), last_node);
    const V stratum = floor_positive(t * V(Real(jump_strata)));
    const V record = fma(stratum, V(Real(jump_records)), word_to_real<V>(fourth, 26));
    const auto address = address_of(fma(fma(node, stride, first_table), V(Real(jump_exits)), record), 4);
    const Numbers<V> numbers{data.exits.data, address};
    JumpDraw<V> exit;
    const V x = exp(choose(V(Real(1. / 3)) * log(max(abs(value), V(Real(1e-30)))), value));
    exit.x = random_sign(x, fourth);
    if (data.recoils != 0) {
      const auto red = uniform<V>(fourth << 16) * (one + exp(two * bias * x)) >= one;
      exit.x = select(red, -x, x);
    }
    exit.path_factor = exp(log_path + numbers[0]);
    exit.scatterings = exp(log_scatterings + choose(zero, numbers[1]));
    exit.mu = numbers[2], exit.last = numbers[3];
    if constexpr (has_deep) leave_deep(exit, place, copysign(x, value), numbers[1]);
    exit.sine = sqrt(max((one - exit.mu) * (one + exit.mu), zero));
    return exit;
  }

  /// The exit of a deep sphere, from units of its width. Scatterings in the core: as many as the table says for each
  /// unit of optical depth; in the wing, with an opacity of a/(sqrt(pi) x^2), as many as the path has at the mean of
  /// x^2.
  THOR_FN void leave_deep(JumpDraw<V>& exit, const JumpPlace<V>& place, V x, V scatterings) const {
    const V one(Real(1)), two(Real(2));
    const auto deep = place.deep;
    const V width = select(deep, abs(place.width), one);
    exit.x = select(deep, place.width * x, exit.x);
    exit.path_factor = width * exit.path_factor;
    exit.last = min(divide(exit.last, width), two * exit.mu);
    const V squares = fma(exit.x, exit.x, fma(place.x, place.x, abs(exit.x * place.x)));
    const V wing = divide(V(Real(1.692568751)) * width * width * width * exit.path_factor, max(squares, V(Real(30))));
    exit.scatterings = select(deep, fma(scatterings, place.radius, one + wing), exit.scatterings);
  }

  static THOR_FN V between(V a, V b, V weight) { return fma(weight, b - a, a); }
};

template <class V>
THOR_FN JumpsView<V> view(const Jumps<RealOf<V>>& data) {
  return {data};
}

}  // namespace THOR_ISA
}  // namespace thor
