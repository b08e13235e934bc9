#pragma once
#include "thor/parallel/device/program.hpp"
#include "thor/transport/march.hpp"

/// Rays from events to observers on a device, as cpu::Peeler traces them: the same light in the same quanta.
namespace thor::device {

/// Counts of rays, which are too many for atomic operations on entries that all lanes share.
struct RayCounts {
  std::uint64_t rays, lost, cut;

  THOR_FN void add(Counter counter, std::uint64_t value) {
    (counter == Counter::rays ? rays : counter == Counter::rays_lost ? lost : cut) += value;
  }
};

inline namespace THOR_ISA {

/// Counts a ray that has ended.
template <class Real, class Entries>
THOR_FN void see(const Program<Real>& program, const Ray<Real>& ray, double optical_depth, int end, RayCounts& counts,
                 const Entries& entries) {
  const Phase fate = end_of(ray, optical_depth, Phase(end));
  count_ray(fate, counts);
  if (!is_seen(fate)) return;
  count_seen(program.plan, seen_of(ray, left_of_ray(program.rays.rules, optical_depth), program.emitter), entries);
}

/// Whether this problem may be that of a part of the gas.
template <class P>
inline constexpr bool may_be_part = !std::is_same_v<typename WholeOf<typename P::Dataset>::type, typename P::Dataset>;

/// Whether the gas is the whole, in the usual form, so that kernels of WholeOf will do.
template <class P>
bool is_whole(const P& problem) {
  const auto dataset = view<typename P::Real>(problem.dataset);
  if constexpr (requires { dataset.is_compact(); }) {
    if (dataset.is_compact()) return false;
  }
  return !dataset.is_part();
}

/// Counts a ray that has ended, or hands over one that goes on in another part.
template <class Atomic, bool departs, class Real, class Q>
THOR_FN void end_ray(const Program<Real>& program, const Lane<Real, Q>& lane, const Ray<Real>& ray, RayCounts& counts,
                     const SharedEntries<Atomic>& entries) {
  if constexpr (departs) {
    if (lane.phase == Phase::departs) {
      const std::uint32_t place = Atomic::add(&program.report->departed, 1u);
      program.rays.departed[place] = {lane_as<AnyPlace<Real, IntOf<Real>>>(lane), ray};
      return;
    }
  }
  see(program, ray, double(lane.tau) - double(ray.before), int(lane.phase), counts, entries);
}

/// The ray of a birth towards an observer. False: there is none, or it passes the medium by and has been counted.
template <class Atomic, class P>
THOR_NOINLINE bool start_birth(const P& problem, const Program<typename P::Real>& program,
                               const WaitingEvent<typename P::Real>& waiting, LaneIn<P>& lane,
                               Ray<typename P::Real>& ray, RayCounts& counts, const SharedEntries<Atomic>& entries) {
  using Real = typename P::Real;
  const RayRules& rules = program.rays.rules;
  const int observer = ray.observer;
  const double(&n)[3] = program.rays.towards[observer];
  const Vec3<Real> towards{Real(n[0]), Real(n[1]), Real(n[2])};
  const double sent = sent_towards(program.emitter.sources[number_of(program.emitter, waiting.id).generator], n);
  if (!(sent > 0)) return false;
  Origin birth;
  lane = start_photon(problem.dataset, problem.numerics, program.emitter, waiting.id, birth, &towards);
  count_seen(program.plan, seen_at_birth(birth, observer, sent, lane.frequency), entries);
  const bool flies = lane.phase == Phase::fly;
  const double end =
      flies ? end_of_ray(rules, RayKey{program.emitter.seed, waiting.id, at_birth, observer}) : rules.cut;
  ray = ray_of_birth(birth, observer, sent, lane.frequency, end, rules);
  lane.column = ray.before, lane.tabulated = Real(rules.depth);
  if (!flies) see(program, ray, 0, Phase::escaped, counts, entries);  // it passes the medium by
  return flies;
}

/// The ray of an event towards an observer. False: there is none.
template <class Atomic, class P>
THOR_FN bool start_ray(const P& problem, const Program<typename P::Real>& program,
                       const WaitingEvent<typename P::Real>& waiting, int observer, LaneIn<P>& lane,
                       Ray<typename P::Real>& ray, RayCounts& counts, const SharedEntries<Atomic>& entries) {
  using Real = typename P::Real;
  const RayProgram<Real>& rays = program.rays;
  const int kind = event_kind(waiting.event.kind);
  ray.id = waiting.id, ray.observer = observer;
  if (kind == EventKind::by_birth) return start_birth<Atomic>(problem, program, waiting, lane, ray, counts, entries);
  const double(&n)[3] = rays.towards[observer];
  const Vec3<Real> towards{Real(n[0]), Real(n[1]), Real(n[2])};
  const auto event = event_as<PlaceIn<typename P::Dataset>>(waiting.event);
  auto peeled =
      kind == EventKind::by_jump ? peel_jump(event, towards, problem) : peel_scattering(event, towards, problem);
  release(peeled, event, rays.rules);
  lane = peeled.lane;
  ray.light = light_of_ray(rays.rules, waiting.weight, peeled.weight, event.kind, event.x, event.steps);
  ray.end = double(peeled.end);
  view<Real>(problem.dataset).coordinates(lane, 0, ray.position);
  ray.frequency = lane.frequency, ray.before = lane.column;
  if constexpr (may_be_part<P>) {
    if (peeled.beyond) lane.phase = Phase::departs;
  }
  return true;
}

template <class Atomic>
THOR_FN void add_counts(const RayCounts& counts, const SharedEntries<Atomic>& entries) {
  entries.add(int(Counter::rays), counts.rays);
  entries.add(int(Counter::rays_lost), counts.lost);
  entries.add(int(Counter::rays_cut), counts.cut);
}

/// Thread `first` of so many makes rays and follows them through their first segments, where most end; the others wait,
/// if there is room.
template <class Atomic, class P>
THOR_FN void start_rays(const P& problem, const Program<typename P::Real>& program, int copy, std::uint32_t first,
                        std::uint32_t threads) {
  using Real = typename P::Real;
  constexpr int first_segments = 4;
  const RayProgram<Real>& rays = program.rays;
  const auto entries = entries_of<Atomic>(program, copy);
  const Real cut(rays.rules.cut);
  RayCounts counts{};
  for (int list = 0; list < 3; ++list) {
    const std::uint32_t count = program.report->events[list];
    const std::uint32_t* const listed = rays.list + std::uint64_t(list) * rays.list_room;
    for (std::uint32_t i = first; i < count; i += threads) {
      const WaitingEvent<Real>& waiting = rays.events[listed[i] & ((1u << entry_bits) - 1)];
      const int which = int(listed[i] >> entry_bits);
      const bool all = which == all_observers;
      for (int o = all ? 0 : which; o < (all ? rays.observers : which + 1); ++o) {
        LaneIn<P> lane;
        Ray<Real> ray;
        if (!start_ray<Atomic>(problem, program, waiting, o, lane, ray, counts, entries)) continue;
        bool ended = may_be_part<P> && lane.phase == Phase::departs;
        for (int k = 0; k < first_segments && !ended; ++k) ended = march(lane, problem, cut);
        if (!ended) {
          const std::uint32_t place = Atomic::add(&program.report->rays, 1u);
          if (place < rays.waiting_room) {
            rays.waiting[place] = {lane_as<AnyPlace<Real, IntOf<Real>>>(lane), ray};
            continue;
          }
          while (!ended) ended = march(lane, problem, cut);
        }
        end_ray<Atomic, may_be_part<P>>(program, lane, ray, counts, entries);
      }
    }
  }
  add_counts(counts, entries);
}

/// Counts the ray of a lane, if it has ended, and takes the next one. False: there is none. Called, not inlined, as it
/// would take registers from the march.
template <class Atomic, bool departs, class Real, class Q>
THOR_NOINLINE bool next_ray(const Program<Real>& program, Lane<Real, Q>& lane, Ray<Real>& ray, RayCounts& counts,
                            int copy) {
  const RayProgram<Real>& rays = program.rays;
  if (lane.phase != Phase::idle) {
    end_ray<Atomic, departs>(program, lane, ray, counts, entries_of<Atomic>(program, copy));
    lane.phase = Phase::idle;
  }
  const std::uint32_t waiting = program.report->rays;
  const std::uint32_t place = Atomic::add(&program.report->taken, 1u);
  if (place >= (waiting < rays.waiting_room ? waiting : rays.waiting_room)) return false;
  lane = lane_as<Q>(rays.waiting[place].lane), ray = rays.waiting[place].ray;
  return true;
}

/// One lane takes rays that wait until there are no more.
template <class Atomic, class P>
THOR_FN void trace_rays(const P& problem, const Program<typename P::Real>& program, int copy, const auto& group) {
  using Real = typename P::Real;
  LaneIn<P> lane{};
  lane.phase = Phase::idle;
  Ray<Real> ray;
  RayCounts counts{};
  const auto next = [&] {  // what is called has the lane in memory, as in advance_lane()
    LaneIn<P> other = lane;
    const bool goes = next_ray<Atomic, may_be_part<P>>(program, other, ray, counts, copy);
    lane = other;
    return goes;
  };
  bool going = next();
  while (group.any(going)) {
    bool ended = false;
    do {
      if (going && !ended) ended = march(lane, problem, Real(program.rays.rules.cut));
    } while (!group.half(ended, going));
    if (ended) going = next();
  }
  add_counts(counts, entries_of<Atomic>(program, copy));
}

}  // namespace THOR_ISA
}  // namespace thor::device
