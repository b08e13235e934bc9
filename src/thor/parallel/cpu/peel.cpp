#include "thor/parallel/cpu/peel.hpp"

#include <numeric>

#include "thor/transport/peel.hpp"

namespace thor::cpu {
namespace {

constexpr int none = -1;  ///< the place of an event that only fills a pack

/// Fields of an event, each of the size of a Real.
constexpr int event_fields = sizeof(EventFields<double, std::int64_t>) / sizeof(double);

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
Peeler<Real>::Peeler(const AnyProblem<Real>& problem, Border<Real>* border, const EmitterView<Real>& emitter,
                     const Observers& observers, int lanes, std::string_view isa, TallyPart& tally,
                     const std::atomic<bool>& abort)
    : problem_(&problem),
      border_(border),
      emitter_(emitter),
      observers_(observers),
      stride_(lanes),
      kernel_(march_kernel<Real>(problem.kind(), isa)),
      history_(history_kernel<Real>(problem.history(), isa)),
      tally_(tally),
      abort_(abort),
      pack_memory_(lane_bytes<Real>(std::size_t(kernel_.lanes)) / sizeof(double) + 1),
      trace_memory_(pack_memory_.size()),
      queue_memory_(lane_bytes<Real>(room) / sizeof(double) + 1),
      pack_(lane_arrays<Real>(pack_memory_.data(), std::size_t(kernel_.lanes))),
      traced_(lane_arrays<Real>(trace_memory_.data(), std::size_t(kernel_.lanes))),
      queue_(lane_arrays<Real>(queue_memory_.data(), room)),
      weights_(std::size_t(kernel_.lanes)),
      keys_(std::size_t(kernel_.lanes)) {
  const std::size_t most = std::size_t(events) * std::size_t(lanes);
  log_ = log_in<Real>(log_memory_, most);
  log_.capacity = events;
  sorted_ = log_in<Real>(sorted_memory_, most + 2 * std::size_t(kernel_.lanes));
  waiting_.reserve(room);
}

template <class Real>
void Peeler<Real>::emit(const Origin& origin, const void* dataset) {
  for (int o = 0; o < int(observers_.towards.size()); ++o) {
    const auto& n = observers_.towards[std::size_t(o)];
    Origin birth;
    const double sent =
        history_.emit(pack_, 0, dataset, problem_->numerics(), emitter_, origin.id, {n[0], n[1], n[2]}, birth);
    if (!(sent > 0)) continue;
    tally_.accept(Seen{origin.id,
                       o,
                       true,
                       origin.weight_initial * sent,
                       double(pack_.frequency[0]),
                       {birth.position[0], birth.position[1], birth.position[2]},
                       origin.generator});
    if (part_) set_cell(pack_, 0, part_->frame.to_part(cell_of(pack_, 0)));
    if (pack_.phase[0] == Phase::fly) {
      wait(pack_, 0, origin, o, sent, end_of({emitter_.seed, origin.id, at_birth, o}));
    } else {  // it passes the medium by
      see({origin.id,
           origin.weight * sent,
           observers_.rules.cut,
           {birth.position[0], birth.position[1], birth.position[2]},
           pack_.frequency[0],
           0,
           o,
           origin.generator},
          0, Phase::escaped);
    }
  }
}

template <class Real>
const EventLog<Real>& Peeler<Real>::sort_events(std::span<const Origin> origins) {
  const auto stride = std::size_t(stride_), count = std::size_t(log_.count) * stride,
             width = std::size_t(kernel_.lanes);
  const auto& events = log_.arrays;
  const RayRules rules = observers_.rules;
  thinning_.clear();
  for (const Origin& origin : origins) thinning_.push_back(thinning_of(emitter_.seed, origin.id));
  place_.resize(count);
  jumps_.resize(count);
  std::size_t scatterings = 0, jumps = 0;
  bool thinned = false;
  for (std::size_t i = 0; i < count;) {
    for (std::size_t lane = 0; lane < stride; ++lane, ++i) {
      const int kind = event_kind(events.kind[i]), many = events_of(rules, kind, events.x[i], events.steps[i]);
      const bool jumped = kind == EventKind::by_jump;
      const bool drawn = many == 1 || is_drawn(thinning_[lane], events.steps[i], many);
      const bool sends = kind != EventKind::nothing && drawn;
      place_[scatterings] = jumps_[jumps] = int(i);
      scatterings += sends && !jumped;
      jumps += sends && jumped;
      thinned = thinned || many > 1;
    }
  }
  if (jumps == 0 && !thinned && stride % width == 0) {  // packs of scatterings, as they are
    std::iota(place_.begin(), place_.end(), 0);
    return log_;
  }
  place_.resize(scatterings);
  const auto fill_pack = [&] {
    while (place_.size() % width != 0) place_.push_back(none);
  };
  fill_pack();
  place_.insert(place_.end(), jumps_.begin(), jumps_.begin() + std::ptrdiff_t(jumps));
  fill_pack();
  for_each_event_field(sorted_.arrays, log_.arrays, [&](auto* to, const auto* from) {
    for (std::size_t i = 0; i < place_.size(); ++i) to[i] = from[std::max(place_[i], 0)];
  });
  for (std::size_t i = 0; i < place_.size(); ++i) {
    if (place_[i] == none) sorted_.arrays.kind[i] = EventKind::nothing;
  }
  return sorted_;
}

template <class Real>
void Peeler<Real>::look(std::span<const Origin> origins) {
  const EventLog<Real>& log = sort_events(origins);
  const int width = kernel_.lanes;
  for (int first = 0; first < int(place_.size()); first += width) {
    const bool jumps = event_kind(log.arrays.kind[first]) == EventKind::by_jump;
    const std::span<const int> places = std::span(place_).subspan(std::size_t(first), std::size_t(width));
    const auto origin_of = [&](int k) -> const Origin& {
      return origins[std::size_t(std::max(places[std::size_t(k)], 0) % stride_)];
    };
    for (int o = 0; o < int(observers_.towards.size()); ++o) {
      const auto& n = observers_.towards[std::size_t(o)];
      const auto key_of = [&](int k) {
        return RayKey{emitter_.seed, origin_of(k).id, std::uint64_t(log.arrays.steps[first + k]), o};
      };
      for (int k = 0; jumps && k < width; ++k) keys_[std::size_t(k)] = stream_of(key_of(k));
      kernel_.peel(log, first / width, problem_->data(), {n[0], n[1], n[2]}, keys_.data(), Real(observers_.rules.cut),
                   pack_, weights_.data());
      for (int k = 0; k < width; ++k) {
        const auto at = first + k;
        const int kind = event_kind(log.arrays.kind[at]);
        if (kind == EventKind::nothing) continue;
        const Origin& origin = origin_of(k);
        const int many = events_of(observers_.rules, kind, log.arrays.x[at], log.arrays.steps[at]);
        const double weight = double(weights_[std::size_t(k)]) * many;
        const bool flies = pack_.phase[k] == Phase::fly;
        const double end = flies ? end_of(key_of(k)) : 0;
        if (double(pack_.tau[k]) < end) {
          wait(pack_, k, origin, o, weight, end);
        } else {
          tally_.count_ray(Phase::absorbed, origin.weight * weight);
        }
      }
    }
  }
  log_.count = 0;
}

template <class Real>
void Peeler<Real>::wait(const LaneArrays<Real>& from, int lane, const Origin& origin, int observer, double weight,
                        double end) {
  // The sum of the ray starts so that it ends at the cut of all rays.
  RayBurden<Real> ray{origin.id, origin.weight * weight, end,
                      {},        from.frequency[lane],   Real(observers_.rules.cut - end),
                      observer,  origin.generator};
  CellIndex cell{};  // in the whole grid
  if (part_) {
    const CellIndex here = cell_of(from, lane);
    cell = part_->frame.to_whole(here);
    set_cell(from, lane, cell);
    history_.coordinates(from, lane, &border_->whole(), ray.position);
    set_cell(from, lane, here);
  } else {
    history_.coordinates(from, lane, problem_->dataset(), ray.position);
  }
  const std::size_t place = waiting_.size();
  copy_lane(from, std::size_t(lane), queue_, place);
  queue_.column[place] = ray.before;
  queue_.tabulated[place] = Real(observers_.rules.depth);
  if (part_ && !part_->frame.holds(cell)) {  // of a beam: its light towards the observer enters the grid elsewhere
    set_cell(queue_, int(place), cell);
    border_->post({Traveller<Real>::ray, 0, load_lane<Real>(queue_, int(place)), {}, ray});
    return;
  }
  waiting_.push_back(ray);
  if (waiting_.size() == room) trace();
}

template <class Real>
void Peeler<Real>::receive(const Traveller<Real>& ray) {
  const int place = int(waiting_.size());
  store_lane<Real>(ray.lane, queue_, place);
  set_cell(queue_, place, part_->frame.to_part(cell_of(queue_, place)));
  waiting_.push_back(ray.burden);
  if (waiting_.size() == room) trace();
}

template <class Real>
typename Peeler<Real>::Goes Peeler<Real>::cross(int lane, const RayBurden<Real>& ray) {
  if (!part_ || traced_.phase[lane] != Phase::escaped) return Goes::nowhere;
  switch (cross_border(part_->frame, border_->whole(), nullptr, traced_, lane)) {
    case Crossing::stays:
      return Goes::on;
    case Crossing::departs:
      if (traced_.tau[lane] > Real(observers_.rules.cut)) {
        traced_.phase[lane] = Phase::absorbed;
        return Goes::nowhere;
      }
      border_->post({Traveller<Real>::ray, 0, load_lane<Real>(traced_, lane), {}, ray});
      return Goes::away;
    case Crossing::ends:
      break;
  }
  return Goes::nowhere;
}

template <class Real>
void Peeler<Real>::trace() {
  constexpr int slice = 4096;
  const auto width = std::size_t(kernel_.lanes);
  const LaneArrays<Real>& lanes = traced_;
  std::vector<std::size_t> ray(width);
  std::size_t next = 0, live = 0;
  const auto refill = [&](std::size_t lane) {
    if (next == waiting_.size()) {
      lanes.phase[lane] = Phase::idle;
      set_cell(lanes, int(lane), {});  // one that there is
      return;
    }
    copy_lane(queue_, next, lanes, lane);
    ray[lane] = next++;
    ++live;
  };
  for (std::size_t lane = 0; lane < width; ++lane) refill(lane);
  // After an abort rays still have some time to end: photons that have ended are seen.
  for (int late = 0; live > 0 && late < 64; late += abort_.load(std::memory_order_relaxed)) {
    if (!kernel_.march(lanes, problem_->data(), MarchSum::optical_depth, Real(observers_.rules.cut), slice)) continue;
    for (std::size_t lane = 0; lane < width; ++lane) {
      if (lanes.phase[lane] == Phase::fly || lanes.phase[lane] == Phase::idle) continue;
      const RayBurden<Real>& burden = waiting_[ray[lane]];
      const Goes goes = cross(int(lane), burden);
      if (goes == Goes::on) continue;
      if (goes == Goes::nowhere) {
        see(burden, double(lanes.tau[lane]) - double(burden.before), Phase(int(lanes.phase[lane])));
      }
      --live;
      refill(lane);
    }
  }
  for (std::size_t i = 0; i < live + (waiting_.size() - next); ++i) tally_.count_ray(Phase::fly, 0);  // after an abort
  waiting_.clear();
}

template <class Real>
void Peeler<Real>::see(const RayBurden<Real>& ray, double optical_depth, Phase end) {
  if (optical_depth > ray.end) end = Phase::absorbed;  // in the segment in which it leaves the gas, too
  tally_.count_ray(end, ray.light);
  if (end != Phase::escaped && end != Phase::stopped) return;
  tally_.accept(Seen{ray.id,
                     ray.observer,
                     false,
                     ray.light * history_.left_of_ray(observers_.rules, optical_depth),
                     double(ray.frequency),
                     {ray.position[0], ray.position[1], ray.position[2]},
                     ray.generator});
}

template class Peeler<float>;
template class Peeler<double>;

}  // namespace thor::cpu
