#pragma once
#include <cstdint>

#include "thor/datasets/dataset.hpp"
#include "thor/interactors/core_skip.hpp"
#include "thor/interactors/dust.hpp"
#include "thor/interactors/jumps.hpp"
#include "thor/interactors/multiplet.hpp"
#include "thor/interactors/resonant_line.hpp"
#include "thor/interactors/selected_numerics.hpp"

namespace thor {

/// A photon beyond these is lost.
struct Limits {
  std::int32_t scatterings;
  std::int32_t steps;
};

/// Everything that a step reads: plain data, copied to a device as it is.
template <class D, class I, class N>
struct Problem {
  using Dataset = D;
  using Interactor = I;
  using Numerics = N;
  using Real = typename D::Real;
  D dataset;
  I line;
  Dust<Real> dust;
  CoreSkip<Real> core_skip;
  Jumps<Real> jumps;
  Limits limits;
  N numerics;
};

/// The same problem where the gas is no part of a larger whole.
template <class P>
auto as_whole(const P& p) {
  using D = typename WholeOf<typename P::Dataset>::type;
  return Problem<D, typename P::Interactor, typename P::Numerics>{D{p.dataset}, p.line,   p.dust,    p.core_skip,
                                                                  p.jumps,      p.limits, p.numerics};
}

template <class D>
using LineProblem = Problem<D, ResonantLine<typename D::Real>, DefaultNumerics>;
/// Two transitions, nothing else.
template <class D>
using DoubletProblem = Problem<D, Multiplet<typename D::Real, true>, DefaultNumerics>;
template <class D>
using MultipletProblem = Problem<D, Multiplet<typename D::Real>, DefaultNumerics>;
/// Any line, any scheme.
template <class D>
using SelectedProblem = Problem<D, Multiplet<typename D::Real>, SelectedNumerics>;

}  // namespace thor
