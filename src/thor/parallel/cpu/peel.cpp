#include "thor/parallel/cpu/peel.hpp"

#include <cmath>
#include <limits>

#include "thor/random/seed.hpp"

namespace thor::cpu {
namespace {

/// Fields of an event, each of the size of a Real.
constexpr int event_fields = sizeof(EventFields<double, std::int64_t>) / sizeof(double);

/// Copies one lane.
template <class Real>
void copy_lane(const LaneArrays<Real>& from, std::size_t i, const LaneArrays<Real>& to, std::size_t j) {
  for_each_field(from, to, [&](const auto* a, auto* b) { b[j] = a[i]; });
}

/// The random stream of what an observer sees of one event: no stream of a photon.
StreamKey peel_key(std::uint64_t seed, std::uint64_t id, std::uint64_t event, int observer) {
  return stream_key(mix64(seed ^ 0x7065656c206f6666ull) + std::uint64_t(observer), mix64(id) + event);
}

}  // namespace

template <class Real>
Peeler<Real>::Peeler(const AnyProblem<Real>& problem, const EmitterView<Real>& emitter, const Observers& observers,
                     int lanes, std::string_view isa, TallyPart& tally, const std::atomic<bool>& abort)
    : problem_(problem),
      emitter_(emitter),
      observers_(observers),
      stride_(lanes),
      kernel_(march_kernel<Real>(problem.kind(), isa)),
      history_(history_kernel<Real>(problem.history(), isa)),
      tally_(tally),
      abort_(abort),
      log_memory_(std::size_t(event_fields * (events * lanes + kernel_.lanes))),
      pack_memory_(lane_bytes<Real>(std::size_t(kernel_.lanes)) / sizeof(double) + 1),
      trace_memory_(pack_memory_.size()),
      queue_memory_(lane_bytes<Real>(room) / sizeof(double) + 1),
      pack_(lane_arrays<Real>(pack_memory_.data(), std::size_t(kernel_.lanes))),
      traced_(lane_arrays<Real>(trace_memory_.data(), std::size_t(kernel_.lanes))),
      queue_(lane_arrays<Real>(queue_memory_.data(), room)),
      weights_(std::size_t(kernel_.lanes)),
      keys_(std::size_t(kernel_.lanes)) {
  log_.capacity = events;
  char* place = reinterpret_cast<char*>(log_memory_.data());
  for_each_event_field(log_.arrays, log_.arrays, [&](auto& field, auto&) {
    field = reinterpret_cast<std::remove_reference_t<decltype(field)>>(place);
    place += std::size_t(events * lanes + kernel_.lanes) * sizeof(Real);
  });
  waiting_.reserve(room);
}

template <class Real>
void Peeler<Real>::emit(const Origin& origin) {
  for (int o = 0; o < int(observers_.towards.size()); ++o) {
    const auto& n = observers_.towards[std::size_t(o)];
    Origin birth;
    if (!history_.emit(pack_, 0, problem_.dataset(), problem_.numerics(), emitter_, origin.id, {n[0], n[1], n[2]},
                       birth)) {
      return;
    }
    tally_.accept(Seen{origin.id,
                       o,
                       true,
                       origin.weight_initial,
                       double(pack_.frequency[0]),
                       {birth.position[0], birth.position[1], birth.position[2]}});
    if (pack_.phase[0] == Phase::fly) {
      wait(pack_, 0, origin, o, 1);
    } else {  // it passes the medium by
      see({origin.id, o, origin.weight, {birth.position[0], birth.position[1], birth.position[2]}}, 0,
          double(pack_.frequency[0]), Phase::escaped);
    }
  }
}

template <class Real>
void Peeler<Real>::look(std::span<const Origin> origins) {
  const int width = kernel_.lanes, count = log_.count * stride_;
  // With one lane a pack holds events of one photon, of which the last ones may not exist.
  for (int i = count; i < count + width; ++i) log_.arrays.kind[i] = EventKind::nothing;
  for (int first = 0; first < count; first += width) {
    bool any = false, jumps = false;
    for (int k = 0; k < width; ++k) {
      const int kind = int(log_.arrays.kind[first + k]) & ((1 << event_bits) - 1);
      any = any || kind != EventKind::nothing;
      jumps = jumps || kind == EventKind::by_jump;
    }
    if (!any) continue;
    for (int o = 0; o < int(observers_.towards.size()); ++o) {
      const auto& n = observers_.towards[std::size_t(o)];
      for (int k = 0; jumps && k < width; ++k) {
        const Origin& origin = origins[std::size_t((first + k) % stride_)];
        keys_[std::size_t(k)] = peel_key(emitter_.seed, origin.id, std::uint64_t(log_.arrays.steps[first + k]), o);
      }
      kernel_.peel(log_, first / width, problem_.data(), {n[0], n[1], n[2]}, keys_.data(), Real(observers_.cut), pack_,
                   weights_.data());
      for (int k = 0; k < width; ++k) {
        if (log_.arrays.kind[first + k] == EventKind::nothing) continue;
        const Origin& origin = origins[std::size_t((first + k) % stride_)];
        if (pack_.phase[k] == Phase::fly) {
          wait(pack_, k, origin, o, double(weights_[std::size_t(k)]));
        } else {
          tally_.count_ray(Phase::absorbed, origin.weight * double(weights_[std::size_t(k)]));
        }
      }
    }
  }
  log_.count = 0;
}

template <class Real>
void Peeler<Real>::wait(const LaneArrays<Real>& from, int lane, const Origin& origin, int observer, double weight) {
  Waiting ray{origin.id, observer, origin.weight * weight, {}};
  history_.coordinates(from, lane, problem_.dataset(), ray.position);
  copy_lane(from, std::size_t(lane), queue_, waiting_.size());
  waiting_.push_back(ray);
  if (waiting_.size() == room) trace();
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
      return;
    }
    copy_lane(queue_, next, lanes, lane);
    ray[lane] = next++;
    ++live;
  };
  for (std::size_t lane = 0; lane < width; ++lane) refill(lane);
  while (live > 0 && !abort_.load(std::memory_order_relaxed)) {
    if (!kernel_.march(lanes, problem_.data(), MarchSum::optical_depth, Real(observers_.cut), slice)) continue;
    for (std::size_t lane = 0; lane < width; ++lane) {
      const auto phase = lanes.phase[lane];
      if (phase == Phase::fly || phase == Phase::idle) continue;
      // A ray that was stopped has the frequency with which it started, as a photon that was stopped has.
      const auto& frequency = phase == Phase::stopped ? queue_.frequency[ray[lane]] : lanes.frequency[lane];
      see(waiting_[ray[lane]], double(lanes.tau[lane]), double(frequency), Phase(int(phase)));
      --live;
      refill(lane);
    }
  }
  for (std::size_t i = 0; i < live + (waiting_.size() - next); ++i) tally_.count_ray(Phase::lost, 0);  // after an abort
  waiting_.clear();
}

template <class Real>
void Peeler<Real>::see(const Waiting& ray, double optical_depth, double frequency, Phase end) {
  tally_.count_ray(end, ray.light);
  if (end != Phase::escaped && end != Phase::stopped) return;
  tally_.accept(Seen{ray.id,
                     ray.observer,
                     false,
                     ray.light * std::exp(-optical_depth),
                     frequency,
                     {ray.position[0], ray.position[1], ray.position[2]}});
}

template class Peeler<float>;
template class Peeler<double>;

}  // namespace thor::cpu
