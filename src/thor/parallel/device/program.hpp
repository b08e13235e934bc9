#pragma once
#include "thor/parallel/device/shares.hpp"
#include "thor/transport/fuse.hpp"
#include "thor/transport/history.hpp"
#include "thor/transport/ray.hpp"
#include "thor/transport/step.hpp"

/// What one lane of a device does, written once for every backend.
namespace thor::device {

/// What a slice of work tells the host.
struct Report {
  std::uint32_t live;       ///< lanes that go on in the next slice
  std::uint32_t records;    ///< photons handed over; may exceed the room there was
  std::uint64_t oldest;     ///< smallest id of those
  std::uint32_t idle;       ///< of `live`: lanes with a photon that has yet to start
  std::uint32_t events[3];  ///< rays that lanes have logged, by kind: of scatterings, jumps and births
  std::uint32_t rays;       ///< of them, those that wait after their first segments; may exceed the room there was
  std::uint32_t taken;      ///< of those, by lanes that trace them; may exceed how many there are
  std::uint32_t departed;   ///< rays that go on in another part of the gas
  std::uint32_t ran;        ///< 1 if there were lanes, and the slice took place
  ShareReport shares;
};

inline constexpr std::uint64_t no_photon = ~0ull;

/// Rays of an event that have room in a list, in the mean; and how a list says which event, and which observer.
inline constexpr int rays_of_event = 4, entry_bits = 27, all_observers = 31;

/// An event of a photon that waits for its rays; aligned, so that it travels in words of 16 bytes.
template <class Real>
struct alignas(16) WaitingEvent {
  Event<Real> event;
  std::uint64_t id;
  double weight;  ///< of the photon [erg/s]
};

/// A ray that has left the gas around its event.
template <class Real>
struct alignas(16) WaitingRay {
  Lane<Real> lane;
  Ray<Real> ray;
};

/// What rays to observers need. Each lane of a slice has room for some events and pauses when it is full, until the
/// rays of all events have been traced: memory is bounded, and nothing is lost.
template <class Real>
struct RayProgram {
  WaitingEvent<Real>* events;  ///< `room` for each lane
  std::uint32_t room;          ///< 0: there are no observers
  std::uint32_t* list;  ///< rays of a slice: an event and an observer above `entry_bits`, `list_room` for each kind
  std::uint32_t list_room;
  WaitingRay<Real>* waiting;  ///< the first `report.rays` of them come from other parts of the gas
  std::uint32_t waiting_room;
  WaitingRay<Real>* departed;  ///< has room for every ray of a slice
  const double (*towards)[3];
  int observers;
  RayRules rules;
  FuseRules fuse;
  FuseGroup<Real>* groups;  ///< of each lane for each observer; null: nothing is fused
  std::uint32_t spare;      ///< of `room`, at the front: for events of groups that are closed (see room_for_groups())
  Lookout<Real> lookout;
  ShareTables shares;
};

/// Everything that a slice reads and writes, beside the problem: plain data with pointers to device memory, passed by
/// value.
template <class Real>
struct Program {
  EmitterView<Real> emitter;
  TallyPlan plan;
  std::uint64_t* entries;  ///< of the tally, the first of them in `copies` neighbouring parts (see place_of)
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
  bool last;               ///< no photon starts any more
  bool keeps;              ///< a lane whose photon has ended is left to the host, and starts no other
  std::uint64_t fault;     ///< a photon whose start is a fault, to test what happens then
  RayProgram<Real> rays;
};

inline namespace THOR_ISA {

/// The tally's entries, of which a lane counts in a copy.
template <class Atomic, class Real>
THOR_FN SharedEntries<Atomic> entries_of(const Program<Real>& program, int copy) {
  return {program.entries, program.plan.own, program.copies, copy, program.rays.shares, program.report->shares};
}

/// A lane of a problem.
template <class P>
using LaneIn = Lane<typename P::Real, PlaceIn<typename P::Dataset>>;

/// The log of one lane, in the place of an EventLog: its events know their photon, and those that send no rays are left
/// out.
template <class Real>
struct LaneLog {
  WaitingEvent<Real>* events;
  int capacity, count;
  const Origin* origin;
  const RayRules* rules;
  std::uint64_t seed;
  const Lookout<Real>& lookout;
  std::uint32_t scattered = 0;  ///< number of collisions, logged or not
  int rays = 0;                 ///< at most, of the events
};
template <class Real>
THOR_FN bool is_full(const LaneLog<Real>& log) {
  return log.count + events_at_once > log.capacity ||
         log.rays + events_at_once * log.lookout.count > rays_of_event * log.capacity;
}
/// Number of bits that are set.
THOR_FN std::uint32_t bits_of(std::uint32_t set) {
  set -= (set >> 1) & 0x55555555u;
  set = (set & 0x33333333u) + ((set >> 2) & 0x33333333u);
  return (((set + (set >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}

/// The observers of a lookout that may see an event, bit by bit.
template <class Real>
THOR_FN std::uint32_t observers_of(const Lookout<Real>& lookout, const Event<Real>& event) {
  return std::uint32_t(event.seen) & ((1u << lookout.count) - 1);
}
template <class V>
THOR_FN void count_scattered(LaneLog<V>& log, IntOf<V> more) {
  log.scattered += std::uint32_t(more);
}
template <class V>
THOR_FN void forget_scatterings(LaneLog<V>& log, bool marked, IntOf<V> steps) {
  if (log.count == 0) return;
  Event<V>& last = log.events[log.count - 1].event;
  if (marked && is_scattering_before<V>(last.kind, last.steps, steps)) last.kind = EventKind::nothing;
}
template <class V, class P>
THOR_FN void store_event(const Event<V, P>& event, LaneLog<V>& log, int i) {
  const std::uint64_t id = log.origin->id;
  const auto thinning = [&]() THOR_INLINE_LAMBDA { return thinning_of(log.seed, id); };
  if (!sends_rays(*log.rules, event.kind, event.x, event.steps, thinning)) {
    log.count = i;
    return;
  }
  log.events[i] = {event_as<AnyPlace<V, IntOf<V>>>(event), id, log.origin->weight};
  log.rays += log.lookout.count > 0 ? int(bits_of(observers_of(log.lookout, log.events[i].event))) : 1;
}
/// The list that an event is put into; -1: none.
THOR_FN int list_of(std::int64_t kind) {
  const int k = event_kind(kind);
  return k == EventKind::nothing ? -1 : k == EventKind::by_jump ? 1 : k == EventKind::by_birth ? 2 : 0;
}
/// Of the room of a lane for events, what its log may not take, so that all groups that its events close have room
/// before those that are yet to be read: each closes at most one group for each observer and may stay itself, and the
/// end of the photon closes the last ones.
THOR_FN std::uint32_t room_for_groups(std::uint32_t room, int observers) {
  const auto n = std::uint32_t(observers);
  return room - (room - n) / (n + 1);
}

/// Lets the events of a lane's log join groups, and puts those that send rays in their place, from `out` on: drawn
/// members of groups that are closed, jumps and births. Returns their number. Called, not inlined, as it would take
/// registers from the step.
template <class P>
THOR_NOINLINE int fuse_events(const P& problem, const Program<typename P::Real>& program, std::uint32_t slot,
                              const LaneLog<typename P::Real>& log, WaitingEvent<typename P::Real>* out, bool ended) {
  using Real = typename P::Real;
  const RayProgram<Real>& rays = program.rays;
  const auto dataset = view<Real>(problem.dataset);
  FuseGroup<Real>* const groups = rays.groups + std::uint64_t(slot) * std::uint64_t(rays.observers);
  int count = 0;
  const auto close = [&](int o) {
    FuseGroup<Real>& group = groups[o];
    if (group.count == 0) return;
    group.drawn.seen = IntOf<Real>(1 << o);
    out[count++] = {group.drawn, group.id, weight_of(group)};
    group.count = 0;
  };
  for (int i = 0; i < log.count; ++i) {
    const WaitingEvent<Real> waiting = log.events[i];  // a copy: its place may be taken
    const int list = list_of(waiting.event.kind);
    if (list < 0) continue;
    for (int o = 0; o < rays.observers; ++o) {
      const bool seen = (waiting.event.seen >> o & 1) != 0;
      if (list == 2 || (list == 1 && seen)) close(o);
      if (list != 0 || !seen) continue;
      const double(&n)[3] = rays.towards[o];
      const auto event = event_as<PlaceIn<typename P::Dataset>>(waiting.event);
      const auto ray = peel_scattering(event, {Real(n[0]), Real(n[1]), Real(n[2])}, problem).lane;
      double place[3];
      dataset.coordinates(ray, 0, place);
      const RayKey key{log.seed, waiting.id, std::uint64_t(waiting.event.steps), o};
      join_or_open(groups[o], rays.fuse, waiting.event, ray.frequency, place, key, waiting.weight, [&] { close(o); });
    }
    if (list > 0) out[count++] = waiting;
  }
  for (int o = 0; ended && o < rays.observers; ++o) close(o);
  return count;
}

/// Hands over the lane's photon if it has ended, and starts others until one meets the medium. False: the lane has to
/// wait for room, also in its log, or for ids, or is idle for good. Called, not inlined, as it would take registers
/// from the step; some compilers inline all the same.
template <class Atomic, bool starts, class P>
THOR_NOINLINE bool renew(const P& problem, const Program<typename P::Real>& program, LaneIn<P>& lane, Origin& origin,
                         int copy, LaneLog<typename P::Real>* log) {
  if (program.keeps) return false;
  const auto entries = entries_of<Atomic>(program, copy);
  for (;;) {
    if (lane.phase != Phase::idle) {
      const Photon photon = end_photon<typename P::Real>(problem.dataset, lane, origin);
      if (program.records) {
        const std::uint32_t place = Atomic::add(&program.report->records, 1u);
        if (place >= program.room) return false;
        program.records[place] = photon;
      }
      count_end(program.plan, photon, entries);
      lane.phase = Phase::idle;
      origin.id = no_photon;
    }
    if constexpr (!starts) return false;
    if (origin.id == no_photon) origin.id = Atomic::add(program.next_id, std::uint64_t(1));
    if (origin.id >= program.granted || (log && is_full(*log))) return false;
    if (origin.id == program.fault) Atomic::fault();
    lane = start_photon(problem.dataset, problem.numerics, program.emitter, origin.id, origin);
    count_start(program.plan, origin.weight_initial, origin.weight, origin.generator, entries);
    if (log) {
      auto birth = event_at(lane);
      birth.kind = EventKind::by_birth;
      store_event(birth, *log, log->count++);
    }
    if (lane.phase == Phase::fly) return true;
  }
}

template <class P>
THOR_NOINLINE void jump_apart(const P& problem, LaneIn<P>& lane, LaneLog<typename P::Real>* log) {
  const LaneIn<P> before = lane;
  const JumpLight<typename P::Real> light = jump(lane, problem);
  if (log) log_jumps(*log, before, lane, light, problem);
}

/// Lists the rays that the log of a lane sends. Those of a kind are neighbours, so that lanes of a group make them in
/// the same way.
template <class Atomic, class P>
THOR_FN void list_rays(const P& problem, const Program<typename P::Real>& program, std::uint32_t index,
                       LaneLog<typename P::Real>& log, bool ended, int copy) {
  using Real = typename P::Real;
  const RayProgram<Real>& rays = program.rays;
  const std::uint32_t first_event = index * rays.room;
  const bool looks = rays.lookout.count > 0;
  std::uint32_t places[3] = {}, left_out = looks ? log.scattered * std::uint32_t(rays.observers) : 0;
  for (int i = 0; i < log.count; ++i) {
    const Event<Real>& event = log.events[i].event;
    const int list = list_of(event.kind);
    if (list < 0) continue;
    const std::uint32_t sent = looks ? bits_of(observers_of(rays.lookout, event)) : 1;
    places[list] += sent;
    if (looks && list < 2) left_out -= sent;
  }
  if (rays.groups) {
    log.count = fuse_events(problem, program, program.live[index], log, rays.events + first_event, ended);
    log.events = rays.events + first_event;
    for (int list = 0; list < 3; ++list) places[list] = 0;
    for (int i = 0; i < log.count; ++i) {
      const Event<Real>& event = log.events[i].event;
      places[list_of(event.kind)] += bits_of(observers_of(rays.lookout, event));
    }
  }
  for (int list = 0; list < 3; ++list) places[list] = Atomic::add(&program.report->events[list], places[list]);
  for (int i = 0; i < log.count; ++i) {
    const Event<Real>& event = log.events[i].event;
    const int list = list_of(event.kind);
    if (list < 0) continue;
    std::uint32_t* const listed = rays.list + std::uint64_t(list) * rays.list_room;
    const std::uint32_t place = first_event + std::uint32_t(i);
    if (!looks) listed[places[list]++] = place | std::uint32_t(all_observers) << entry_bits;
    for (std::uint32_t o = 0, seen = looks ? observers_of(rays.lookout, event) : 0; seen != 0; ++o, seen >>= 1) {
      if (seen & 1) listed[places[list]++] = place | o << entry_bits;
    }
  }
  const auto entries = entries_of<Atomic>(program, copy);
  entries.add(int(Counter::rays), left_out), entries.add(int(Counter::rays_cut), left_out);
}

enum class Slice {
  refills,  ///< photons may start and jump
  steps,    ///< no photon starts or jumps: a lane only steps until its photon ends, which has the shortest latency
  logs      ///< as `refills`, with a log of events for observers; a lane whose log is full waits for the next slice
};

/// The kind of slice that a program asks for.
template <class P>
THOR_FN Slice slice_of(const P& problem, const Program<typename P::Real>& program) {
  if (program.rays.room > 0) return Slice::logs;
  return program.last && problem.jumps.depth_count == 0 ? Slice::steps : Slice::refills;
}

/// Puts a lane back at the end of a slice; true if it has work in the next one.
template <class Atomic, Slice slice, class P>
THOR_FN bool leave_slice(const P& problem, const Program<typename P::Real>& program, std::uint32_t index,
                         std::uint32_t slot, const LaneIn<P>& lane, LaneLog<typename P::Real>& log, int copy) {
  using Real = typename P::Real;
  if constexpr (slice == Slice::logs) {
    const bool ended = !in_flight<Real>(lane) && !before_jump<Real>(lane);
    list_rays<Atomic>(problem, program, index, log, ended, copy);
  }
  store_lane(lane, program.lanes, slot);
  if (index == 0) program.report->ran = 1;
  const std::uint64_t id = program.origins[slot].id;
  const bool goes_on = program.keeps ? in_flight<Real>(lane) : lane.phase != Phase::idle || id < program.end;
  if (goes_on) Atomic::min(&program.report->oldest, id);
  if constexpr (slice == Slice::logs) {
    if (goes_on && program.rays.shares.slots > 0) set_bit<Atomic>(program.rays.shares.in_flight, id);
  }
  if (goes_on && lane.phase == Phase::idle) Atomic::add(&program.report->idle, 1u);
  return goes_on;
}

/// Lane `index` of one slice; true if it has work in the next one. `copy` is the part of the tally that it counts in.
/// Lanes that a backend runs in lockstep make up a group, which meets at every step: one that has started a photon
/// would otherwise go on alone, and the others after it. Lanes that have to jump, end or start wait until half of the
/// group has to, as all others wait for them then; and the slice ends when half of their logs are full. Threads of a
/// group that have no lane take part in its votes.
template <class Atomic, Slice slice, class P>
THOR_FN bool advance_lane(const P& problem, const Program<typename P::Real>& program, std::uint32_t index, int copy,
                          const auto& group) {
  using Real = typename P::Real;
  const bool has_lane = group.has_lane();
  const std::uint32_t slot = has_lane ? program.live[index] : 0;
  LaneIn<P> lane = load_lane<Real, PlaceIn<typename P::Dataset>>(program.lanes, slot);
  const RayProgram<Real>& rays = program.rays;
  const std::uint32_t first_event = index * rays.room;
  LaneLog<Real> log{rays.events + first_event + rays.spare,
                    int(rays.room - rays.spare),
                    0,
                    program.origins + slot,
                    &rays.rules,
                    program.emitter.seed,
                    rays.lookout};
  LaneLog<Real>* const logged = slice == Slice::logs ? &log : nullptr;
  // What is called has the lane in memory, a copy, so that the lane of the steps can be in registers.
  const auto go_on = [&] {
    LaneIn<P> other = lane;
    if constexpr (slice != Slice::steps) {
      if (before_jump<Real>(other)) jump_apart(problem, other, logged);
    }
    const bool goes = in_flight<Real>(other) || renew<Atomic, slice != Slice::steps>(
                                                    problem, program, other, program.origins[slot], copy, logged);
    lane = other;
    return goes && !(slice == Slice::logs && is_full(log));
  };
  bool going = has_lane && (in_flight<Real>(lane) || go_on());
  if constexpr (slice != Slice::steps) {
    bool full = false;
    for (int i = 0; i < program.steps && group.any(going) && !group.half(full, going || full);) {
      bool leaves = false, pauses = false;
      do {
        if (going && !leaves && !pauses) {
          leaves = step(lane, problem, logged);
          if constexpr (slice == Slice::logs) pauses = is_full(log);
        }
        ++i;
      } while (i < program.steps && !group.half(leaves || pauses, going));
      if (leaves) {
        going = go_on();
      } else if (pauses) {
        going = false;
      }
      if constexpr (slice == Slice::logs) full = !going && is_full(log);
    }
  } else {
    for (int i = 0; i < program.steps && going; ++i) going = !step(lane, problem);
    if (!going && has_lane) go_on();
  }
  return has_lane && leave_slice<Atomic, slice>(problem, program, index, slot, lane, log, copy);
}

}  // namespace THOR_ISA
}  // namespace thor::device
