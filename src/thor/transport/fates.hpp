#pragma once
#include <cstdint>

#include "thor/core/target.hpp"

namespace thor {

/// What a lane is doing. One that collides with transition k of a multiplet has the phase collide + 8 k: what it hit is
/// chosen once, and kept until a proposal for the atom's velocity is accepted. `jumping` is added to either where the
/// collision may be a jump (transport/jump.hpp), which is decided before the next step. One that `departs` has left the
/// part of a grid that it was followed in for another, and its cell is there, counted on from this one.
enum Phase : int {
  fly = 0,
  collide = 1,
  escaped = 2,
  absorbed = 3,
  lost = 4,
  stopped = 5,
  jumping = 6,
  departs = 10,
  idle = -1
};
inline constexpr int phase_bits = 3;
inline constexpr bool is_in_flight(std::int64_t phase) { return (phase & 6) == 0; }

/// The fates of a photon: one table for tallies, files, `thor info` and Python.
struct FateInfo {
  const char* name;
  Phase phase;
  const char* meaning;
};
inline constexpr FateInfo fates[] = {
    {"escaped", Phase::escaped, "it left the gas"},
    {"absorbed", Phase::absorbed, "dust absorbed it"},
    {"lost", Phase::lost, "it was over the cap on scatterings or steps"},
    {"stopped", Phase::stopped, "it was shifted beyond stop_shift of a grid"},
    {"in_flight", Phase::fly, "it was still in flight when the run was cut"},
};
inline constexpr int fate_count = sizeof(fates) / sizeof(fates[0]);

inline namespace THOR_ISA {

/// The place in that table of a photon that ended in this phase.
THOR_FN constexpr int fate_index(int phase) {
  return phase >= Phase::escaped && phase <= Phase::stopped ? phase - Phase::escaped : fate_count - 1;
}

}  // namespace THOR_ISA

static_assert([] {
  for (int i = 0; i < fate_count; ++i) {
    if (fate_index(fates[i].phase) != i) return false;
  }
  return true;
}());

inline const FateInfo& fate_of(Phase phase) { return fates[fate_index(phase)]; }

}  // namespace thor
