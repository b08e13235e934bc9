#pragma once
#include <utility>

#include "thor/transport/lane.hpp"
#include "thor/transport/problem.hpp"

namespace thor {
inline namespace THOR_ISA {

/// What a collision draws, as far as it depends neither on where the photon is nor on its frequency. Drawn before the
/// flight, so that a processor has it to do while it waits for the flight's own chain of results.
template <class V, class P>
struct Draws {
  using Interactor = decltype(view<V>(std::declval<const typename P::Interactor&>()));
  using Schemes = SchemesOf<typename P::Numerics>;
  using Random = typename Schemes::template Random<V>;
  typename Schemes::template ParallelDraws<V> parallel;
  PerpendicularDraws<V> perpendicular;
  DipoleDraws<V> angle;
  WordOf<V> angle_word, second_word, dust_word, hidden_word;
  SinCos<V> azimuth;
  V tau;  ///< the next optical depth
  typename Interactor::Draws more;
  Random random;  ///< the state after it
};

template <class V, class D, class P>
THOR_FN Draws<V, P> draw_collision(const Lane<V, typename D::Place>& lane, const P& problem) {
  using Real = RealOf<V>;
  Draws<V, P> draws;
  const auto numerics = schemes(problem.numerics);
  auto random = numerics.template resume<V>(lane.s0, lane.s1, lane.s2, lane.s3);
  const auto choice = random.next(), proposal = random.next();
  const auto radius = random.next(), across = random.next();
  draws.angle_word = random.next();
  draws.second_word = random.next();
  const auto azimuth = random.next(), tau = random.next();
  if constexpr (D::dusty) {
    if (problem.dust.ratio > Real(0)) {
      draws.dust_word = random.next();
      if (problem.core_skip.local || problem.core_skip.x_crit > Real(0)) draws.hidden_word = random.next();
    }
  }
  draws.more = view<V>(problem.line).draw(random);
  draws.parallel = {numerics.template positive<V>(choice, random), numerics.template positive<V>(proposal, random),
                    proposal};
  draws.perpendicular = {numerics.template positive<V>(radius, random), across};
  draws.angle = {draws.angle_word, draws.second_word};
  draws.azimuth = random_angle<V>(azimuth);
  draws.tau = -log(numerics.template positive<V>(tau, random));
  draws.random = random;
  return draws;
}

}  // namespace THOR_ISA
}  // namespace thor
