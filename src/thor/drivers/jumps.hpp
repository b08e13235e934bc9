#pragma once
#include <memory>

#include "thor/drivers/config.hpp"
#include "thor/interactors/jump_tables.hpp"
#include "thor/line/line.hpp"

/// Sphere jumps of a run: which tables, and where they may be used.
namespace thor {

struct Medium;

/// The tables of a run; none if it does not jump, or if no sphere in its gas is thick enough. A run that asks for jumps
/// but cannot have them follows every scattering, and a warning says why.
std::shared_ptr<const JumpTables> build_jump_tables(const config::Config& config, const Line& line,
                                                    const Medium& medium, int threads);

template <class Real>
Jumps<Real> build_jumps(const config::Acceleration& acceleration, const JumpTables& tables);

/// The distance from an absorbing transition to the nearest other one, in its thermal widths in gas of the medium's
/// temperature: no exit of a jump may come near that. 0 where the upper level can decay otherwise.
double jump_clearance(const Line& line, const Medium& medium, int transition);

}  // namespace thor
