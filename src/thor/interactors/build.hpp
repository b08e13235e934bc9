#pragma once
#include "thor/datasets/medium.hpp"
#include "thor/interactors/dust.hpp"
#include "thor/interactors/multiplet.hpp"
#include "thor/interactors/parameters.hpp"
#include "thor/interactors/resonant_line.hpp"

/// From atomic data and the state of the gas to what the kernel sees.
namespace thor {

/// Whether one transition absorbs and decays only back.
bool is_single(const Line& line);

/// Whether two transitions of one ion absorb, and a run needs nothing else of them: see Multiplet.
bool is_pair(const Line& line, const config::Physics& physics);

/// c ln(nu/nu_0) of a transition in thermal units of the medium.
double frequency_offset(const AtomicTransition& transition, const Line& line, const MediumOutline& medium);

template <class Real>
ResonantLine<Real> build_resonant_line(const Line& line, const Medium& medium, const config::Physics& physics);

/// `Pair`: is_pair() holds.
template <class Real, bool Pair>
Multiplet<Real, Pair> build_multiplet(const Line& line, const Medium& medium, const config::Physics& physics);

/// The schemes of a run: `default` resolved, and what is too inaccurate for the Voigt parameters of the line refused.
config::Numerics build_numerics(const config::Numerics& numerics, const Line& line, const MediumOutline& medium,
                                const Refuse& refuse = refuse_at_once);

/// Warns where the profile is inaccurate in the coldest cells of a grid.
void warn_of_cold_cells(const Line& line, const Medium& medium);

/// In a grid each cell has its own ratio; the number then only says that there is dust.
template <class Real>
Dust<Real> build_dust(const Medium& medium) {
  const double ratio = medium.cells ? (medium.dust.tau > 0 ? 1 : 0) : medium.dust.tau / medium.tau0;
  return {Real(ratio), Real(medium.dust.albedo), Real(medium.dust.g)};
}

}  // namespace thor
