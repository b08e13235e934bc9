#pragma once
#include "thor/transport/collision.hpp"

/// JUMP: a collision in the line core that is replaced, with all that would follow, by one draw of how the photon
/// leaves the largest sphere of homogeneous gas around it.
namespace thor {
inline namespace THOR_ISA {

/// Overrides what apply() has done to lanes that jump. All random words come after those of the collision.
template <class V, class D, class I, class P>
THOR_FN void jump(Lane<V>& lane, const Collision<V, D, I, P>& c, const Flight<V, D, I>& flight,
                  const Draws<V, P>& draws, const D& dataset, const I& interactor, const P& problem) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const auto tables = view<V>(problem.jumps);
  const auto by_dust = (c.scattered || c.destroyed) && !c.by_line;
  auto jumps = flight.hit && !by_dust && abs(c.target.x) < V(tables.data.trigger);
  if (!any(jumps)) return;

  const V zero(Real(0)), one(Real(1));
  const auto& here = flight.here;
  const Vec3<V> p{lane.px, lane.py, lane.pz};
  const V strength = interactor.strength(c.target), opacity = dataset.opacity(here, p);
  const V kappa = strength * opacity;
  // Short by some rounding errors, so that the sphere does not reach beyond a face.
  V room = V(Real(1 - 1e-5)) * dataset.room(here, p, tables.data);
  V dust_absorption = zero;
  if constexpr (D::dusty) {
    if (problem.dust.ratio > Real(0)) {
      const V ratio = dataset.dust_ratio(here, problem.dust);
      const V turning = ratio * opacity * V(problem.dust.albedo * (Real(1) - problem.dust.g));
      room = min(room, divide(V(tables.data.dust_depth), max(turning, V(Real(1e-30)))));
      dust_absorption = divide(ratio * V(Real(1) - problem.dust.albedo), strength);
    }
  }
  const V depth = min(kappa * room, interactor.jump_depth(c.target));
  const auto place = tables.place(depth, c.target.a);
  jumps = jumps && place.exists;
  if (!any(jumps)) return;

  auto random = c.random;
  const auto first = random.next(), second = random.next(), third = random.next(), fourth = random.next();
  const auto exit = tables.draw(place, first, second, third, fourth);
  const auto cosine = random.next(), turn_word = random.next(), azimuth_word = random.next();
  const Vec3<V> normal = isotropic_direction<V>(cosine, turn_word);
  const SinCos<V> azimuth = random_angle<V>(azimuth_word);
  const Vec3<V> n = turn(normal, exit.mu, exit.sine, azimuth.cos, azimuth.sin);
  const V table_depth = depth * place.shrink, radius = divide(table_depth, max(kappa, V(Real(1e-30))));
  V path = exit.path_factor * table_depth, scatterings = exit.scatterings;
  MaskOf<V> absorbed(false);
  if constexpr (D::dusty) {
    if (problem.dust.ratio > Real(0)) {
      const V left = -log(uniform_positive<V>(random.next()));  // optical depth of dust that the photon can pass
      absorbed = jumps && left < dust_absorption * path;
      path = select(absorbed, divide(left, max(dust_absorption, V(Real(1e-30)))), path);
      // Scatterings come first and wing flights last: in the core a flight is two mean free paths long.
      scatterings = select(absorbed, max(min(scatterings, V(Real(0.5)) * path), one), scatterings);
    }
  }

  Lane<V> moved = lane;
  moved.dx = normal.x, moved.dy = normal.y, moved.dz = normal.z;
  dataset.advance(moved, select(jumps, radius, zero));
  add_column(moved, dataset.width(here).times(divide(path, strength)));
  const auto leaves = jumps && !absorbed;
  lane.px = select(leaves, moved.px, lane.px), lane.py = select(leaves, moved.py, lane.py);
  lane.pz = select(leaves, moved.pz, lane.pz);
  if constexpr (D::depth) lane.depth = select(leaves, moved.depth, lane.depth);
  V frequency = dataset.width(here).times(interactor.frequency_at(c.target, exit.x));
  if constexpr (D::substeps) {
    frequency = frequency + dataset.velocity_along(here, Vec3<V>{moved.px, moved.py, moved.pz}, n);
  }
  lane.dx = select(jumps, n.x, lane.dx), lane.dy = select(jumps, n.y, lane.dy), lane.dz = select(jumps, n.z, lane.dz);
  lane.frequency = select(jumps, frequency, lane.frequency);
  lane.tau = select(jumps, draws.tau, lane.tau);
  lane.flown = select(jumps, select(absorbed, zero, exit.last * radius), lane.flown);
  lane.column = select(jumps, moved.column, lane.column);
  lane.column_low = select(jumps, moved.column_low, lane.column_low);
  lane.scatterings = lane.scatterings - select(jumps && c.by_line, Int(1), Int(0));
  lane.jumps = lane.jumps + select(jumps, Int(1), Int(0));
  lane.tabulated = lane.tabulated + select(jumps, scatterings, zero);
  lane.phase = select(jumps, select(absorbed, Int(Phase::absorbed), Int(Phase::fly)), lane.phase);
  const auto words = words_of(random);
  lane.s0 = select(jumps, words.s0, lane.s0), lane.s1 = select(jumps, words.s1, lane.s1);
  lane.s2 = select(jumps, words.s2, lane.s2), lane.s3 = select(jumps, words.s3, lane.s3);
}

}  // namespace THOR_ISA
}  // namespace thor
