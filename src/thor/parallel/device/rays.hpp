#pragma once
#include "thor/parallel/device/program.hpp"
#include "thor/transport/march.hpp"
#include "thor/transport/peel.hpp"

/// Rays from events to observers on a device, as cpu::Peeler traces them: the same light in the same quanta.
namespace thor::device {

/// Counts of rays, which are too many for atomic operations on cells that all lanes share.
struct RayCounts {
  std::uint64_t rays, lost, cut;

  THOR_FN void add(Counter counter, std::uint64_t value) {
    (counter == Counter::rays ? rays : counter == Counter::rays_lost ? lost : cut) += value;
  }
};

/// A lane that traces rays, and the one on its way.
struct Tracer {
  std::uint32_t next, last;  ///< events that the lane has taken, the first of which is at work
  RayCounts counts;
  std::uint64_t id;
  int observer;
  double light;      ///< at its start [erg/s]
  double end;        ///< optical depth at which it ends
  double before;     ///< what the sum starts with, so that the ray ends at the cut of all rays
  double frequency;  ///< with which it started: what the Hubble flow does is up to the observer
  double position[3];
};

inline namespace THOR_ISA {

/// Counts a ray that has ended.
template <class Real, class Cells>
THOR_FN void see(const Program<Real>& program, Tracer& ray, double optical_depth, int end, Cells cells) {
  const RayRules& rules = program.rays.rules;
  if (optical_depth > ray.end) end = Phase::absorbed;  // in the segment in which it leaves the gas, too
  count_ray(Phase(end), ray.counts);
  if (end != Phase::escaped && end != Phase::stopped) return;
  count_seen(program.plan,
             Seen{ray.id,
                  ray.observer,
                  false,
                  ray.light * left_of_ray(rules, optical_depth),
                  ray.frequency,
                  {ray.position[0], ray.position[1], ray.position[2]},
                  number_of(program.emitter, ray.id).generator},
             cells);
}

/// Counts the ray of a lane, if it has ended, and starts the next one that flies. False: there is none. Called, not
/// inlined, as it would take registers from the march.
template <class Atomic, class P>
THOR_NOINLINE bool next_ray(const P& problem, const Program<typename P::Real>& program, Lane<typename P::Real>& lane,
                            Tracer& ray, int copy) {
  using Real = typename P::Real;
  const RayProgram<Real>& rays = program.rays;
  const auto dataset = view<Real>(problem.dataset);
  const auto cells = cells_of<Atomic>(program, copy);
  if (lane.phase != Phase::idle) {
    see(program, ray, double(lane.tau) - ray.before, int(lane.phase), cells);
    lane.phase = Phase::idle;
  }
  const std::uint32_t(&events)[3] = program.report->events;
  const std::uint32_t count = events[0] + events[1] + events[2];
  const auto place_of_event = [&](std::uint32_t i) {
    if (i < events[0]) return rays.list[i];
    if (i < events[0] + events[1]) return rays.list[rays.list_room + (i - events[0])];
    return rays.list[2 * rays.list_room + (i - events[0] - events[1])];
  };
  // Few atomic operations where there are many events.
  const std::uint32_t at_once = count < (1u << 20) ? 1 : count < (32u << 20) ? count >> 20 : 32;
  int observer = ray.observer;
  for (;;) {
    if (++observer == rays.observers) observer = 0, ++ray.next;
    if (ray.next == ray.last) {
      ray.next = Atomic::add(&program.report->taken, at_once);
      ray.last = ray.next + at_once;
    }
    if (ray.next >= count) return false;
    const WaitingEvent<Real>& waiting = rays.events[place_of_event(ray.next)];
    const int kind = event_kind(waiting.event.kind);
    if (rays.lookout.count > 0 && (waiting.event.seen >> observer & 1) == 0) continue;
    const double(&n)[3] = rays.towards[observer];
    const Vec3<Real> towards{Real(n[0]), Real(n[1]), Real(n[2])};
    if (kind == EventKind::by_birth) {
      const double sent = sent_towards(program.emitter.sources[number_of(program.emitter, waiting.id).generator], n);
      if (!(sent > 0)) continue;
      ray.id = waiting.id, ray.observer = observer, ray.light = waiting.weight * sent;
      Origin birth;
      lane = start_photon(problem.dataset, problem.numerics, program.emitter, waiting.id, birth, &towards);
      ray.frequency = double(lane.frequency);
      count_seen(program.plan,
                 Seen{waiting.id,
                      observer,
                      true,
                      birth.weight_initial * sent,
                      ray.frequency,
                      {birth.position[0], birth.position[1], birth.position[2]},
                      birth.generator},
                 cells);
      if (lane.phase != Phase::fly) {  // it passes the medium by
        ray.end = rays.rules.cut;
        for (int k = 0; k < 3; ++k) ray.position[k] = birth.position[k];
        see(program, ray, 0, Phase::escaped, cells);
        lane.phase = Phase::idle;
        continue;
      }
      ray.end = end_of_ray(rays.rules, RayKey{program.emitter.seed, waiting.id, at_birth, observer});
      lane.column = Real(rays.rules.cut - ray.end), lane.tabulated = Real(rays.rules.depth);
    } else {
      const Event<Real> event = waiting.event;
      PeelRay<Real> peeled;
      if (kind == EventKind::by_jump) {
        peeled = peel_jump(event, towards, problem);
      } else {
        peeled = peel_scattering(event, towards, problem);
      }
      release(peeled, event, rays.rules);
      lane = peeled.lane;
      const int many = events_of(rays.rules, kind, event.x, event.steps);
      ray.light = waiting.weight * (double(peeled.weight) * many), ray.end = double(peeled.end);
    }
    ray.id = waiting.id, ray.observer = observer;
    dataset.coordinates(lane, 0, ray.position);
    ray.frequency = double(lane.frequency);
    ray.before = double(lane.column);
    return true;
  }
}

/// One lane takes rays until there are no more. It works for the events of one slice, which are all there before.
template <class Atomic, class P>
THOR_FN void trace_rays(const P& problem, const Program<typename P::Real>& program, int copy, const auto& group) {
  using Real = typename P::Real;
  Lane<Real> lane{};
  lane.phase = Phase::idle;
  Tracer ray{};
  ray.next = ray.last - 1, ray.observer = program.rays.observers - 1;  // no event is at work
  const auto next = [&] {  // what is called has the lane in memory, as in advance_lane()
    Lane<Real> other = lane;
    const bool goes = next_ray<Atomic>(problem, program, other, ray, copy);
    lane = other;
    return goes;
  };
  bool going = next();
  while (group.any(going)) {
    bool ended = false;
    do {
      if (going && !ended) ended = march(lane, problem, MarchSum::optical_depth, Real(program.rays.rules.cut));
    } while (!group.half(ended, going));
    if (ended) going = next();
  }
  const auto cells = cells_of<Atomic>(program, copy);
  cells.add(int(Counter::rays), ray.counts.rays);
  cells.add(int(Counter::rays_lost), ray.counts.lost);
  cells.add(int(Counter::rays_cut), ray.counts.cut);
}

}  // namespace THOR_ISA
}  // namespace thor::device
