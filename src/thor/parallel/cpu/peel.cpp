#include "thor/parallel/cpu/peel.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace thor::cpu {
namespace {

/// Fields of an event, each of the size of a Real.
constexpr int event_fields = sizeof(Event<double>) / sizeof(double);

/// A log in memory for so many events.
template <class Real>
EventLog<Real> log_in(std::vector<double>& memory, std::size_t capacity) {
  memory.resize(event_fields * capacity);
  EventLog<Real> log{};
  char* place = reinterpret_cast<char*>(memory.data());
  for_each_event_field(log.arrays, log.arrays, [&](auto& field, auto&) {
    field = reinterpret_cast<std::remove_reference_t<decltype(field)>>(place);
    place += capacity * sizeof(Real);
  });
  return log;
}

/// Copies one lane.
template <class Real>
void copy_lane(const LaneArrays<Real>& from, std::size_t i, const LaneArrays<Real>& to, std::size_t j) {
  for_each_field(from, to, [&](const auto* a, auto* b) { b[j] = a[i]; });
}

}  // namespace

template <class Real>
Peeler<Real>::Peeler(const typename RaySender<Real>::Thread& thread)
    : RaySender<Real>(thread),
      stride_(thread.lanes),
      kernel_(march_kernel<Real>(problem_->kind(), thread.isa)),
      abort_(thread.abort),
      pack_memory_(lane_bytes<Real>(std::size_t(kernel_.lanes)) / sizeof(double) + 1),
      moved_memory_(pack_memory_.size()),
      trace_memory_(pack_memory_.size()),
      queue_memory_(lane_bytes<Real>(room) / sizeof(double) + 1),
      pack_(lane_arrays<Real>(pack_memory_.data(), std::size_t(kernel_.lanes))),
      moved_(lane_arrays<Real>(moved_memory_.data(), std::size_t(kernel_.lanes))),
      traced_(lane_arrays<Real>(trace_memory_.data(), std::size_t(kernel_.lanes))),
      queue_(lane_arrays<Real>(queue_memory_.data(), room)),
      weights_(std::size_t(kernel_.lanes)),
      ends_(std::size_t(kernel_.lanes)) {
  log_ = log_in<Real>(log_memory_, std::size_t(events) * std::size_t(stride_));
  log_.capacity = events;
  log_.lookout = observers_.template lookout<Real>();
  const auto make = [&](Pack& pack) {
    pack.log = log_in<Real>(pack.memory, std::size_t(kernel_.lanes));
    pack.origins.resize(std::size_t(kernel_.lanes));
  };
  for (auto* packs : {&scatterings_, &jumps_}) {
    packs->resize(std::size_t(std::max(log_.lookout.count, 1)));
    std::ranges::for_each(*packs, make);
  }
  if (observers_.fuses()) {
    fusing_.resize(std::size_t(log_.lookout.count));
    for (FusePack& pack : fusing_) make(pack), pack.lanes.resize(std::size_t(kernel_.lanes));
    groups_.resize(fusing_.size() * std::size_t(stride_));
    places_.resize(std::size_t(kernel_.lanes)), frequencies_.resize(std::size_t(kernel_.lanes));
  }
  waiting_.reserve(room);
}

template <class Real>
void Peeler<Real>::look() {
  const auto& events = log_.arrays;
  const int observers = int(observers_.towards.size());
  thinning_.clear();
  for (const Origin& origin : origins_) thinning_.push_back(thinning_of(emitter_.seed, origin.id));
  const bool looked_at = log_.lookout.count > 0;
  std::uint64_t rays = 0, left_out = 0;
  for (auto& scattered : log_.scattered) left_out += looked_at * std::uint64_t(std::exchange(scattered, 0) * observers);
  for (int i = 0; i < log_.count * stride_;) {
    for (int lane = 0; lane < stride_; ++lane, ++i) {
      const auto seen = std::uint32_t(events.seen[i]);
      if (seen == 0) continue;
      const int kind = event_kind(events.kind[i]);
      if (kind == EventKind::nothing) continue;
      const auto at = std::size_t(lane);
      const auto thinning = [&] { return thinning_[at]; };
      if (!sends_rays(observers_.rules, kind, events.x[i], events.steps[i], thinning)) continue;
      auto& packs = kind == EventKind::by_jump ? jumps_ : scatterings_;
      if (!looked_at) {
        put(packs.front(), i, origins_[at], 0, observers);
      } else {
        for (std::uint32_t left = seen; left != 0; left &= left - 1, ++rays) {
          const int o = std::countr_zero(left);
          if (!fusing_.empty()) {
            if (kind != EventKind::by_jump) {
              fuse(o, i, lane, origins_[at]);
              continue;
            }
            end_group(o, lane);
          }
          put(packs[std::size_t(o)], i, origins_[at], o, o + 1);
        }
      }
    }
  }
  tally_.count_hidden(left_out - rays);
  log_.count = 0;
}

/// Lets event i of the log wait until there is a pack of such events for observers from `first` to `end`.
template <class Real>
void Peeler<Real>::put(Pack& pack, int i, const Origin& origin, int first, int end) {
  for_each_event_field(pack.log.arrays, log_.arrays, [&](auto* to, const auto* from) { to[pack.count] = from[i]; });
  pack.origins[std::size_t(pack.count++)] = {origin.id, origin.weight};
  if (pack.count == kernel_.lanes) send(pack, first, end);
}

template <class Real>
void Peeler<Real>::end(int lane) {
  for (int o = 0; o < int(fusing_.size()); ++o) end_group(o, lane);
}

/// Lets event i of the log wait until there is a pack of such events for an observer.
template <class Real>
void Peeler<Real>::fuse(int observer, int i, int lane, const Origin& origin) {
  FusePack& pack = fusing_[std::size_t(observer)];
  for_each_event_field(pack.log.arrays, log_.arrays, [&](auto* to, const auto* from) { to[pack.count] = from[i]; });
  pack.lanes[std::size_t(pack.count)] = lane;
  pack.origins[std::size_t(pack.count++)] = {origin.id, origin.weight};
  if (pack.count == kernel_.lanes) fuse_waiting(observer);
}

/// Closes the group of a lane after the scatterings that wait.
template <class Real>
void Peeler<Real>::end_group(int observer, int lane) {
  FusePack& pack = fusing_[std::size_t(observer)];
  if (pack.count == 0) return close(groups_[std::size_t(lane) * fusing_.size() + std::size_t(observer)], observer);
  for_each_event_field(pack.log.arrays, pack.log.arrays, [&](auto* to, auto* from) { to[pack.count] = from[0]; });
  pack.log.arrays.kind[pack.count] = EventKind::nothing;
  pack.lanes[std::size_t(pack.count++)] = lane;
  if (pack.count == kernel_.lanes) fuse_waiting(observer);
}

/// Lets the scatterings of a pack join groups, in their order.
template <class Real>
void Peeler<Real>::fuse_waiting(int observer) {
  FusePack& pack = fusing_[std::size_t(observer)];
  if (pack.count == 0) return;
  const auto& events = pack.log.arrays;
  for (int k = pack.count; k < kernel_.lanes; ++k) {
    for_each_event_field(events, events, [&](auto* to, const auto* from) { to[k] = from[0]; });
    events.kind[k] = EventKind::nothing;
  }
  const auto& n = observers_.towards[std::size_t(observer)];
  kernel_.start(pack.log, problem_->data(), {n[0], n[1], n[2]}, pack_);
  for (int k = 0; k < pack.count; ++k) {  // before close() needs the memory
    double place[3] = {};
    if (events.kind[k] != EventKind::nothing) history_.coordinates(pack_, k, problem_->dataset(), place);
    places_[std::size_t(k)] = {place[0], place[1], place[2]};
    frequencies_[std::size_t(k)] = pack_.frequency[k];
  }
  for (int k = 0; k < pack.count; ++k) {
    const auto at = std::size_t(k);
    FuseGroup<Real>& group = groups_[std::size_t(pack.lanes[at]) * fusing_.size() + std::size_t(observer)];
    if (events.kind[k] == EventKind::nothing) {
      close(group, observer);
      continue;
    }
    Event<Real> event;
    for_each_event_field(event, events, [&](auto& to, const auto* from) { to = from[k]; });
    const Sender& origin = pack.origins[at];
    const double place[3] = {places_[at][0], places_[at][1], places_[at][2]};
    const RayKey key{emitter_.seed, origin.id, std::uint64_t(event.steps), observer};
    join_or_open(group, observers_.fuse, event, frequencies_[at], place, key, origin.weight,
                 [&] { close(group, observer); });
  }
  pack.count = 0;
}

/// Lets the member that was drawn wait for its ray, with the light of all.
template <class Real>
void Peeler<Real>::close(FuseGroup<Real>& group, int observer) {
  if (group.count == 0) return;
  Pack& pack = scatterings_[std::size_t(observer)];
  for_each_event_field(pack.log.arrays, group.drawn, [&](auto* to, const auto& from) { to[pack.count] = from; });
  pack.origins[std::size_t(pack.count++)] = {group.id, weight_of(group)};
  group.count = 0;
  if (pack.count == kernel_.lanes) send(pack, observer, observer + 1);
}

/// Sends the rays of a pack of events.
template <class Real>
void Peeler<Real>::send(Pack& pack, int first, int end) {
  const auto& events = pack.log.arrays;
  for (int k = pack.count; k < kernel_.lanes; ++k) {
    for_each_event_field(events, events, [&](auto* to, const auto* from) { to[k] = from[0]; });
    events.kind[k] = EventKind::nothing;
  }
  for (int o = first; o < end && pack.count > 0; ++o) {
    const auto& n = observers_.towards[std::size_t(o)];
    kernel_.peel(pack.log, problem_->data(), observers_.rules, {n[0], n[1], n[2]}, pack_, moved_, weights_.data(),
                 ends_.data());
    for (int k = 0; k < pack.count; ++k) {
      if (moved_.phase[k] == Phase::absorbed) {
        tally_.count_ray(Phase::absorbed);
        continue;
      }
      const auto at = std::size_t(k);
      const Sender& origin = pack.origins[at];
      const double light =
          light_of_ray(observers_.rules, origin.weight, weights_[at], events.kind[k], events.x[k], events.steps[k]);
      Ray<Real> ray{origin.id, light, double(ends_[at]), {}, pack_.frequency[k], pack_.column[k], o};
      history_.coordinates(pack_, k, problem_->dataset(), ray.position);
      wait(moved_, k, cell_of(pack_, k), ray);
    }
  }
  pack.count = 0;
}

template <class Real>
void Peeler<Real>::wait(const LaneArrays<Real>& from, int lane, const CellIndex& begun, const Ray<Real>& ray) {
  if (this->begins_elsewhere(from, lane, begun, ray)) return;
  copy_lane(from, std::size_t(lane), queue_, waiting_.size());
  waiting_.push_back(ray);
  if (waiting_.size() == room) trace_waiting();
}

template <class Real>
void Peeler<Real>::receive(const Traveller<Real>& ray) {
  const int place = int(waiting_.size());
  store_lane(ray.lane, queue_, place);
  set_cell(queue_, place, part_->to_part(cell_of(queue_, place)).value());
  waiting_.push_back(ray.burden);
  if (waiting_.size() == room) trace_waiting();
}

template <class Real>
typename Peeler<Real>::Goes Peeler<Real>::cross(int lane, const Ray<Real>& ray) {
  if (traced_.phase[lane] != Phase::departs) return Goes::nowhere;
  if (arrives(part_->partition, part_->domain, traced_, lane)) return Goes::on;
  outbox_.post({Traveller<Real>::ray, 0, load_lane<Real>(traced_, lane), {}, ray});
  return Goes::away;
}

template <class Real>
void Peeler<Real>::trace() {
  const int observers = int(observers_.towards.size()), looked_at = log_.lookout.count;
  for (int o = 0; o < int(fusing_.size()); ++o) fuse_waiting(o);
  for (int o = 0; o < int(scatterings_.size()); ++o) {
    const int end = looked_at == 0 ? observers : o + 1;
    send(scatterings_[std::size_t(o)], o, end), send(jumps_[std::size_t(o)], o, end);
  }
  trace_waiting();
}

template <class Real>
void Peeler<Real>::trace_waiting() {
  constexpr int slice = 4096;
  const auto width = std::size_t(kernel_.lanes);
  const LaneArrays<Real>& lanes = traced_;
  std::vector<std::size_t> ray(width);
  std::size_t next = 0, live = 0;
  bool ended = false;
  const auto refill = [&](std::size_t lane) {
    if (next == waiting_.size()) {
      lanes.phase[lane] = Phase::idle;
      set_cell(lanes, int(lane), {});  // one that there is
      return;
    }
    copy_lane(queue_, next, lanes, lane);
    ended = ended || lanes.phase[lane] != Phase::fly;
    ray[lane] = next++;
    ++live;
  };
  for (std::size_t lane = 0; lane < width; ++lane) refill(lane);
  // After an abort rays still have some time to end: photons that have ended are seen.
  for (int late = 0; live > 0 && late < 64; late += abort_.load(std::memory_order_relaxed)) {
    ended = ended || kernel_.march(lanes, problem_->data(), Real(observers_.rules.cut), slice);
    if (!std::exchange(ended, false)) continue;
    for (std::size_t lane = 0; lane < width; ++lane) {
      if (lanes.phase[lane] == Phase::fly || lanes.phase[lane] == Phase::idle) continue;
      const Ray<Real>& burden = waiting_[ray[lane]];
      const Goes goes = cross(int(lane), burden);
      if (goes == Goes::on) continue;
      if (goes == Goes::nowhere) {
        this->see(burden, double(lanes.tau[lane]) - double(burden.before), Phase(int(lanes.phase[lane])));
      }
      --live;
      refill(lane);
    }
  }
  for (std::size_t i = 0; i < live + (waiting_.size() - next); ++i) tally_.count_ray(Phase::fly);  // after an abort
  waiting_.clear();
}

template class Peeler<float>;
template class Peeler<double>;

}  // namespace thor::cpu
