#pragma once
#include "thor/datasets/dataset.hpp"
#include "thor/distributions/exponential.hpp"
#include "thor/line/voigt.hpp"
#include "thor/transport/lane.hpp"
#include "thor/transport/problem.hpp"

/// The life of a photon, one bounded piece of work at a time: FLY, then COLLIDE in the same call. No loops, no libm; a
/// lane that is not concerned computes along and keeps its state.
namespace thor {
inline namespace THOR_ISA {

/// The critical frequency of core skipping at the lane's place.
template <class V, class D>
THOR_FN V critical_frequency(const CoreSkip<RealOf<V>>& skip, const D& dataset, const Lane<V>& lane, V a,
                             Vec3<V> position, Vec3<V> direction) {
  using Real = RealOf<V>;
  V x_crit(skip.x_crit);
  if (skip.local) {
    const V a_tau = a * dataset.opacity(lane.cell, position) * dataset.core_scale(position, direction);
    const V root = fast_cbrt(max(a_tau, V(Real(1))));
    x_crit = select(a_tau >= V(Real(1)), min(V(Real(0.2)) * root, V(skip.cap)), V(Real(0)));
  }
  return x_crit;
}

/// The path that core skipping hides, in units of 1/(n sigma_0). A scattering within |x| < x_crit stands for all those
/// with a perpendicular speed below x_crit before the first one above: N = e^{x_crit^2} - 1 of them, or as many as it
/// takes to leave through the wing, each with a flight of <1/H>. The constants are fits to a simulation of that
/// sequence for 1e-4 < a < 1e-2 and x_crit < 6; tests/statistics/hidden_path_test.cpp holds it to 10 per cent for
/// a = 4.7e-4 to 1e-2 and x_crit = 1 to 3.
template <class V>
THOR_FN V hidden_path(V x_crit, V a) {
  using Real = RealOf<V>;
  const V one(Real(1)), x2 = x_crit * x_crit;
  const V tail = divide(one, max(V(Real(0.93)) * (exp(x2) - one), V(Real(1e-10))));
  const V wing = divide(V(Real(0.76)) * a, max(x2 * x_crit, V(Real(1e-10))));
  const V flight = min(fma(x2, V(Real(0.265)), one), x_crit + V(Real(0.2)));
  return divide(flight, tail + wing);
}

/// What a collision draws, as far as it depends neither on where the photon is nor on its frequency. Drawn before the
/// flight, so that a processor has it to do while it waits for the flight's own chain of results.
template <class V>
struct Draws {
  typename ParallelVelocity<V>::Draws parallel;
  PerpendicularDraws<V> perpendicular;
  DipoleDraws<V> angle;
  WordOf<V> angle_word, second_word, dust_word, hidden_word;
  SinCos<V> azimuth;
  V tau;                 ///< the next optical depth
  Xoshiro128<V> random;  ///< the state after it
};

template <class V, class D>
THOR_FN Draws<V> draw_collision(const Lane<V>& lane, const ResonantLine<RealOf<V>>& line,
                                const CoreSkip<RealOf<V>>& core_skip) {
  using Real = RealOf<V>;
  Draws<V> draws;
  Xoshiro128<V> random{lane.s0, lane.s1, lane.s2, lane.s3};
  const auto choice = random.next(), proposal = random.next();
  const auto radius = random.next(), across = random.next();
  draws.angle_word = random.next();
  draws.second_word = random.next();
  const auto azimuth = random.next(), tau = random.next();
  if constexpr (D::dusty) {
    if (line.dust_ratio > Real(0)) {
      draws.dust_word = random.next();
      if (core_skip.local || core_skip.x_crit > Real(0)) draws.hidden_word = random.next();
    }
  }
  draws.parallel = {choice, proposal};
  draws.perpendicular = {radius, across};
  draws.angle = {draws.angle_word, draws.second_word};
  draws.azimuth = random_angle<V>(azimuth);
  draws.tau = sample_exponential<V>(tau);
  draws.random = random;
  return draws;
}

/// Where a flight leaves the lane.
template <class V>
struct Flight {
  MaskOf<V> hit;  ///< at its collision point, in this call
  V x;            ///< frequency in the gas frame where the opacity was taken
  VoigtProfile<V> profile;
};

/// FLY: spend optical depth up to the collision, the end of a sub-step, a face, or the way out.
template <class V, class D>
THOR_FN Flight<V> fly_step(Lane<V>& lane, const D& dataset, const ResonantLine<RealOf<V>>& line) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const V zero(Real(0)), half(Real(0.5));
  const auto flying = equal<V>(lane.phase, Phase::fly);
  const Vec3<V> p{lane.px, lane.py, lane.pz}, d{lane.dx, lane.dy, lane.dz};
  const auto segment = dataset.segment(lane.cell, p, d);

  V x = lane.frequency;
  V limit(no_limit<Real>);
  Vec3<V> middle = p;
  if constexpr (!D::uniform) {
    limit = segment.length();
    if (dataset.varies()) {
      limit = min(dataset.max_step(lane.cell, p, d, x - dataset.velocity_along(p, d)), limit);
      middle = along(p, half * limit, d);
      x = x - dataset.velocity_along(middle, d);
    }
  }
  const VoigtProfile<V> profile = Voigt::eval(V(line.a), x);
  V cross_section = profile.H;
  if constexpr (D::dusty) cross_section = cross_section + V(line.dust_ratio);
  const V density = dataset.opacity(lane.cell, middle);
  const V kappa = density * cross_section;
  const V to_collision = divide(lane.tau, max(kappa, V(Real(1e-30))));

  V s = to_collision;
  MaskOf<V> hit(false);
  if constexpr (D::uniform) {
    // The last flight stays to be flown: end_photon in history.hpp.
    const auto out = flying && segment.reaches(to_collision);
    hit = flying && !out;
    lane.phase = select(out, Int(Phase::escaped), lane.phase);
    s = select(hit, s, zero);
  } else {
    const auto ends = to_collision >= limit;
    hit = flying && !ends;
    s = select(ends, limit, to_collision);
    const auto face = flying && ends && segment.reaches(limit);
    const Int next = segment.next();
    lane.phase = select(face && equal<V>(next, outside), Int(Phase::escaped), lane.phase);
    lane.cell = select(face, next, lane.cell);
    lane.tau = select(flying && ends, max(fma(-kappa, limit, lane.tau), zero), lane.tau);
    s = select(flying, s, zero);
  }
  const Vec3<V> q = along(p, s, d);
  lane.px = q.x, lane.py = q.y, lane.pz = q.z;
  lane.flown = lane.flown + s;
  add_column(lane, s * density);
  return {hit, x, profile};
}

/// COLLIDE: one proposal for the atom; if accepted, a new direction, frequency and optical depth.
template <class V, class D>
THOR_FN void collide_step(Lane<V>& lane, const Flight<V>& flight, const Draws<V>& draws, const D& dataset,
                          const ResonantLine<RealOf<V>>& line, const CoreSkip<RealOf<V>>& core_skip) {
  using Real = RealOf<V>;
  using Int = IntOf<V>;
  const V zero(Real(0));
  const auto colliding = flight.hit || equal<V>(lane.phase, Phase::collide);
  const Vec3<V> p{lane.px, lane.py, lane.pz}, d{lane.dx, lane.dy, lane.dz};
  const ResonantLineView<V> interactor{line};

  V x = flight.x;
  V gaussian = flight.profile.gaussian;
  if constexpr (!D::uniform) {
    if (dataset.varies()) {  // the opacity was taken at mid-step
      x = lane.frequency - dataset.velocity_along(p, d);
      gaussian = exp(-x * x);
    }
  }
  V x_crit = critical_frequency(core_skip, dataset, lane, V(line.a), p, d);
  x_crit = select(abs(x) < x_crit, x_crit, zero);

  Xoshiro128<V> random = draws.random;
  const auto atom = interactor.prepare(x, gaussian, draws.parallel, random);
  const V perpendicular = sample_perpendicular_velocity(x_crit, draws.perpendicular);
  auto outcome = interactor.sample(x, atom, perpendicular, draws.angle);
  auto scattered = colliding && atom.accepted;
  auto by_line = scattered;
  MaskOf<V> destroyed(false);
  if constexpr (D::dusty) {
    if (line.dust_ratio > Real(0)) {
      // One choice per collision, by share of opacity, in the call that arrives there. In the core the share may be
      // 1e-10, hence the fine draw; its second word counts only where the first is zero, so it need not be its own.
      const V share = divide(V(line.dust_ratio), flight.profile.H + V(line.dust_ratio));
      const V fine = uniform_fine<V>(draws.dust_word, draws.second_word);
      const auto dust = flight.hit && fine <= share;
      if (any(dust)) {
        const auto reflected = interactor.sample_dust(x, draws.angle_word);
        outcome.mu = select(dust, reflected.mu, outcome.mu);
        outcome.sine = select(dust, reflected.sine, outcome.sine);
        outcome.x = select(dust, reflected.x, outcome.x);
        destroyed = dust && fine > V(line.albedo) * share;
        by_line = by_line && !dust;
        scattered = (scattered || dust) && !destroyed;
      }
      if (core_skip.local || core_skip.x_crit > Real(0)) {
        // Absorption on the hidden path: their number is geometric, so the share that survives is 1/(1 + depth).
        const V depth = V(line.dust_ratio * (Real(1) - line.albedo)) * hidden_path(x_crit, V(line.a));
        const auto caught = by_line && x_crit > zero && abs(x - atom.parallel) < V(Real(0.2)) &&
                            uniform_fine<V>(draws.hidden_word, draws.second_word) * (V(Real(1)) + depth) <= depth;
        destroyed = destroyed || caught;
        by_line = by_line && !caught;
        scattered = scattered && !caught;
      }
    }
  }

  const Vec3<V> n = turn(d, outcome.mu, outcome.sine, draws.azimuth.cos, draws.azimuth.sin);
  V frequency = outcome.x;
  if constexpr (!D::uniform) frequency = frequency + dataset.velocity_along(p, n);

  lane.dx = select(scattered, n.x, d.x), lane.dy = select(scattered, n.y, d.y), lane.dz = select(scattered, n.z, d.z);
  lane.frequency = select(scattered, frequency, lane.frequency);
  lane.tau = select(scattered, draws.tau, lane.tau);
  lane.flown = select(scattered, zero, lane.flown);
  lane.scatterings = lane.scatterings + select(by_line, Int(1), Int(0));
  lane.phase = select(colliding, select(scattered, Int(Phase::fly), Int(Phase::collide)), lane.phase);
  if constexpr (D::dusty) lane.phase = select(destroyed, Int(Phase::absorbed), lane.phase);
  lane.s0 = select(colliding, random.s0, lane.s0), lane.s1 = select(colliding, random.s1, lane.s1);
  lane.s2 = select(colliding, random.s2, lane.s2), lane.s3 = select(colliding, random.s3, lane.s3);
}

/// One step of every lane; true where a lane has ended.
template <class V, class P>
THOR_FN MaskOf<V> step(Lane<V>& lane, const P& problem) {
  using Int = IntOf<V>;
  const auto dataset = view<V>(problem.dataset);
  const auto active = equal<V>(lane.phase, Phase::fly) || equal<V>(lane.phase, Phase::collide);
  const Draws<V> draws = draw_collision<V, decltype(dataset)>(lane, problem.line, problem.core_skip);
  const Flight<V> flight = fly_step(lane, dataset, problem.line);
  collide_step(lane, flight, draws, dataset, problem.line, problem.core_skip);

  lane.steps = lane.steps + select(active, Int(1), Int(0));
  const auto live = equal<V>(lane.phase, Phase::fly) || equal<V>(lane.phase, Phase::collide);
  const auto too_many = at_least<V>(lane.scatterings, problem.caps.scatterings);
  const auto too_long = at_least<V>(lane.steps, problem.caps.steps);
  const auto over = live && (too_many || too_long);
  lane.phase = select(over, Int(Phase::lost), lane.phase);
  return (active && !live) || over;
}

}  // namespace THOR_ISA
}  // namespace thor
