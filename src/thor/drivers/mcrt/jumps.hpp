#pragma once
#include <memory>

#include "thor/drivers/mcrt/config.hpp"
#include "thor/interactors/jump_tables.hpp"
#include "thor/line/line.hpp"

/// Sphere jumps of a run: which tables, and where they may be used.
namespace thor {

struct Medium;
namespace comm {
class World;
}

/// Collective: the tables of a run; none if it does not jump, or if no sphere in its gas is thick enough. A run that
/// asks for jumps but cannot have them follows every scattering, and a warning says why.
std::shared_ptr<const JumpTables> build_jump_tables(const config::Config& config, const Line& line,
                                                    const Medium& medium, const comm::World& world, int threads);

template <class Real>
Jumps<Real> build_jumps(const config::Config& config, const JumpTables& tables);

/// How far other transitions are from an absorbing one, in its thermal widths in gas of the medium's temperature.
struct JumpClearance {
  double distance = 0;       ///< the nearest: no exit of a jump may come near it. 0 where the photon does not jump
  double isotope = 1e10;     ///< the nearest of a rare isotope, which few photons of a jump meet
  double isotope_share = 0;  ///< its absorbers over those of this transition
};
JumpClearance jump_clearance(const Line& line, const Medium& medium, int transition);

}  // namespace thor
