#pragma once
#include "thor/drivers/mcrt/kernels.hpp"
#include "thor/interactors/jump_tables.hpp"

namespace thor {

/// The frequency below which photons jump, and were absorbed at the start of the tables' histories: |x| < 1, with the
/// density e^{-x^2} that absorption in the core has.
inline constexpr double jump_trigger = 1;

/// Exact histories, every scattering, of `count` photons of Lya that were absorbed in the centre of a homogeneous
/// sphere of line-centre optical depth `depth`.
std::vector<SphereExit> sphere_exits(double a, double depth, std::uint64_t count, std::uint64_t seed,
                                     const Compute& compute);

/// The same for a deep table, with jumps of the tables that are not deep: photons that were absorbed in the core (x =
/// 0) or that begin at x, with the number of their scatterings in the core.
std::vector<SphereExit> deep_exits(double a, double depth, double x, std::uint64_t count, std::uint64_t seed,
                                   const Compute& compute);

}  // namespace thor
