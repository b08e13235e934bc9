#pragma once
#include "thor/outputs/tally_plan.hpp"
#include "thor/transport/history.hpp"
#include "thor/transport/step.hpp"

/// What one lane of a device does, written once for every backend.
namespace thor::device {

/// What a slice of work tells the host.
struct Report {
  std::uint32_t live;     ///< lanes that go on in the next slice
  std::uint32_t records;  ///< photons handed over; may exceed the room there was
  std::uint64_t oldest;   ///< smallest id of those
};

inline constexpr std::uint64_t no_photon = ~0ull;

/// Everything that a slice reads and writes, beside the problem: plain data with pointers to device memory, passed by
/// value.
template <class Real>
struct Program {
  EmitterView<Real> emitter;
  TallyPlan plan;
  std::uint64_t* cells;  ///< of the tally, the first of them in `copies` neighbouring parts (see place_of)
  int copies;
  LaneArrays<Real> lanes;
  Origin* origins;
  const std::uint32_t* live;  ///< the lanes of this slice
  std::uint32_t* next_live;   ///< those of the next one, in any order
  Report* report;
  std::uint64_t* next_id;  ///< the pool: ids are claimed one by one,
  std::uint64_t granted;   ///< started if below this, kept for a later slice
  std::uint64_t end;       ///< if below this
  Photon* records;         ///< finished photons for the host; none: they are only counted
  std::uint32_t room;      ///< capacity of `records`
  int steps;               ///< of each lane in this slice
  bool last;               ///< no photon waits for a lane
  std::uint64_t fault;     ///< a photon whose start is a fault, to test what happens then
};

inline namespace THOR_ISA {

/// The tally's cells, shared by all lanes through the backend's atomic operations.
template <class Atomic>
struct SharedCells {
  std::uint64_t* cells;
  std::int64_t own;
  int copies, copy;
  THOR_FN void add(std::int64_t i, std::uint64_t value) { Atomic::add(cells + place_of(i, own, copies, copy), value); }
  THOR_FN void raise(std::int64_t i, std::uint64_t value) {
    Atomic::max(cells + place_of(i, own, copies, copy), value);
  }
};

/// Hands over the lane's photon if it has ended, and starts others until one meets the medium. False: the lane has to
/// wait for room or for ids, or is idle for good. Called, not inlined, as it would take registers from the step.
template <class Atomic, class P>
THOR_NOINLINE bool renew(const P& problem, const Program<typename P::Real>& program, Lane<typename P::Real>& lane,
                         Origin& origin, int copy) {
  const SharedCells<Atomic> cells{program.cells, program.plan.own, program.copies, copy};
  for (;;) {
    if (lane.phase != Phase::idle) {
      const Photon photon = end_photon<typename P::Real>(problem.dataset, lane, origin);
      if (program.records) {
        const std::uint32_t place = Atomic::add(&program.report->records, 1u);
        if (place >= program.room) return false;
        program.records[place] = photon;
      }
      count_end(program.plan, photon, cells);
      lane.phase = Phase::idle;
      origin.id = no_photon;
    }
    if (origin.id == no_photon) origin.id = Atomic::add(program.next_id, std::uint64_t(1));
    if (origin.id >= program.granted) return false;
    if (origin.id == program.fault) Atomic::fault();
    lane = start_photon(problem.dataset, problem.numerics, program.emitter, origin.id, origin);
    count_start(program.plan, origin.weight_initial, origin.weight, origin.generator, cells);
    if (lane.phase == Phase::fly) return true;
  }
}

template <class Real, class P>
THOR_NOINLINE void jump_apart(const P& problem, Lane<Real>& lane) {
  jump(lane, problem);
}

/// Lane `slot` for one slice; true if it has work in the next one. `copy` is the part of the tally that it counts in.
/// Lanes that a backend runs in lockstep make up a group, which meets at every step: one that has started a photon
/// would otherwise go on alone, and the others after it. Without `Refills`, for slices in which no photon waits for a
/// lane and nothing jumps, a lane only steps until its photon ends: that has the shortest latency.
template <class Atomic, bool Refills, class P>
THOR_FN bool advance_lane(const P& problem, const Program<typename P::Real>& program, std::uint32_t slot, int copy,
                          const auto& group) {
  using Real = typename P::Real;
  using Dataset = decltype(view<Real>(problem.dataset));
  Lane<Real> lane = load_lane<Real, Dataset>(program.lanes, slot);
  // What is called has the lane in memory, a copy, so that the lane of the steps can be in registers.
  const auto go_on = [&] {
    Lane<Real> other = lane;
    if (before_jump<Real>(other)) jump_apart(problem, other);
    const bool goes = in_flight<Real>(other) || renew<Atomic>(problem, program, other, program.origins[slot], copy);
    lane = other;
    return goes;
  };
  bool going = in_flight<Real>(lane) || go_on();
  if constexpr (Refills) {
    for (int i = 0; i < program.steps && group.any(going);) {
      bool leaves = false;
      do {
        leaves = going && step(lane, problem);
        ++i;
      } while (i < program.steps && !group.any(leaves));
      if (leaves) going = go_on();
    }
  } else {
    for (int i = 0; i < program.steps && going; ++i) going = !step(lane, problem);
    if (!going) go_on();
  }
  store_lane<Real, Dataset>(lane, program.lanes, slot);
  const std::uint64_t id = program.origins[slot].id;
  const bool goes_on = lane.phase != Phase::idle || id < program.end;
  if (goes_on) Atomic::min(&program.report->oldest, id);
  return goes_on;
}

}  // namespace THOR_ISA
}  // namespace thor::device
