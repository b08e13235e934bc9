#include "thor/parallel/cpu/engine.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "thor/core/error.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/parallel/cpu/peel.hpp"

namespace thor::cpu {
namespace {

/// Flushes denormal numbers of this thread to zero during its lifetime: they carry no information here and can cost a
/// hundred cycles each.
class FlushDenormals {
 public:
  FlushDenormals() : before_(control()) {
#if defined(__x86_64__)
    set_control(before_ | 0x8040);
#else
    set_control(before_ | (1u << 24));
#endif
  }
  FlushDenormals(const FlushDenormals&) = delete;
  ~FlushDenormals() { set_control(before_); }

 private:
#if defined(__x86_64__)
  static std::uint64_t control() { return _mm_getcsr(); }
  static void set_control(std::uint64_t word) { _mm_setcsr(unsigned(word)); }
#else
  static std::uint64_t control() {
    std::uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set_control(std::uint64_t word) { __asm__ volatile("msr fpcr, %0" : : "r"(word)); }
#endif
  const std::uint64_t before_;
};

/// What the workers of a run share.
template <class Real>
struct Shared {
  const AnyProblem<Real>& problem;
  const EmitterView<Real> emitter;
  Pool& pool;
  const int lanes;
  const Advance<Real> advance;
  const HistoryKernel<Real>& history;
  Control& control;
  const Sink& sink;
  std::span<const Flying<Real>> flying;
  std::atomic<std::size_t> next_flying{0};
  std::mutex mutex;  ///< of the sink and the tally
  Tally& tally;
  const Observers& observers;
  const std::string_view isa;
  /// Time between merges of a thread's counts: long enough that merging, a nanosecond per cell, takes a thousandth of
  /// it.
  const std::chrono::nanoseconds between_looks = std::max<std::chrono::nanoseconds>(
      std::chrono::seconds(1), std::chrono::nanoseconds(std::int64_t(1000) * tally.plan().cells));
};

/// One thread's pack of lanes: fill, advance, hand over what has ended, fill again.
template <class Real>
class Worker {
 public:
  explicit Worker(Shared<Real>& shared)
      : shared_(shared),
        memory_(lane_bytes<Real>(std::size_t(shared.lanes)) / sizeof(double) + 1),
        lanes_(lane_arrays<Real>(memory_.data(), std::size_t(shared.lanes))),
        origins_(std::size_t(shared.lanes)),
        tally_(shared.tally) {
    if (shared.observers.empty()) return;
    peeler_.emplace(shared.problem, shared.emitter, shared.observers, shared.lanes, shared.isa, tally_,
                    shared.control.abort);
    if (shared.sink.seen && shared.observers.recorded >= 0) tally_.keep(shared.observers.recorded, seen_);
  }

  void run() {
    const FlushDenormals flush;
    const int lanes = shared_.lanes;
    for (int lane = 0; lane < lanes; ++lane) refill(lane);
    while (live_ > 0 && !shared_.control.abort.load(std::memory_order_relaxed)) {
      const bool ended = shared_.advance(lanes_, shared_.problem.data(), slice, peeler_ ? peeler_->log() : nullptr);
      if (peeler_) peeler_->look(origins_);
      if (seen_.size() >= most_seen) hand_over();
      if (ended) collect();
      if (Clock::now() >= next_look_) publish();
    }
    for (int lane = 0; lane < lanes; ++lane) {
      if (lanes_.phase[lane] != Phase::idle) record(lane);
    }
    while (take_flying(0)) record(0);  // after an abort
    if (peeler_) peeler_->trace();
    publish();
    shared_.pool.give_back(block_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int slice = 4096;  ///< steps between checks of the control: about a millisecond
  static constexpr std::size_t batch = 256, most_seen = 4096;

  void collect() {
    for (int lane = 0; lane < shared_.lanes; ++lane) {
      const auto phase = lanes_.phase[lane];
      if (is_in_flight(phase) || phase == Phase::idle) continue;
      record(lane);
      refill(lane);
    }
  }

  /// Puts photons into this lane until one meets the medium, or leaves it idle.
  void refill(int l) {
    while (take_flying(l)) {
      if (is_in_flight(lanes_.phase[l])) return;
      record(l);
    }
    for (;;) {
      if (block_.empty()) block_ = shared_.pool.take();
      if (block_.empty() || shared_.pool.closed()) {
        lanes_.phase[l] = Phase::idle;
        return;
      }
      Origin& origin = origins_[std::size_t(l)];
      const AnyProblem<Real>& problem = shared_.problem;
      shared_.history.start(lanes_, l, problem.dataset(), problem.numerics(), shared_.emitter, block_.next++, origin);
      ++live_;
      tally_.start(origin.weight_initial, origin.weight, origin.generator);
      if (peeler_) peeler_->emit(origin);
      if (lanes_.phase[l] == Phase::fly) return;
      record(l);
    }
  }

  bool take_flying(int l) {
    const std::size_t flying = shared_.next_flying.fetch_add(1, std::memory_order_relaxed);
    if (flying >= shared_.flying.size()) return false;
    store_lane<Real>(shared_.flying[flying].lane, lanes_, l);
    origins_[std::size_t(l)] = shared_.flying[flying].origin;
    ++live_;
    return true;
  }

  void record(int l) {
    finished_.push_back(shared_.history.end(lanes_, l, shared_.problem.dataset(), origins_[std::size_t(l)]));
    --live_;
    if (finished_.size() >= batch) hand_over();
  }

  void hand_over() {
    std::uint64_t scatterings = 0, longest = 0;
    for (const Photon& p : finished_) {
      tally_.accept(p);
      scatterings += std::uint64_t(p.scatterings);
      longest = std::max(longest, std::uint64_t(p.scatterings));
    }
    if (shared_.sink) {
      const std::lock_guard lock(shared_.mutex);
      shared_.sink(finished_);
    }
    if (!seen_.empty()) {
      const std::lock_guard lock(shared_.mutex);
      shared_.sink.seen(seen_);
      seen_.clear();
    }
    Control& control = shared_.control;
    control.scatterings.fetch_add(scatterings, std::memory_order_relaxed);
    control.finished.fetch_add(finished_.size(), std::memory_order_relaxed);
    for (auto seen = control.longest.load(); longest > seen && !control.longest.compare_exchange_weak(seen, longest);) {
    }
    finished_.clear();
  }

  /// Adds what this thread has counted to what all have, now and then and at the end.
  void publish() {
    hand_over();
    const std::lock_guard lock(shared_.mutex);
    shared_.tally.merge(tally_);
    shared_.control.error = shared_.tally.error();
    next_look_ = Clock::now() + shared_.between_looks;
  }

  Shared<Real>& shared_;
  Clock::time_point next_look_ = Clock::now() + shared_.between_looks;
  std::vector<double> memory_;
  LaneArrays<Real> lanes_;
  std::vector<Origin> origins_;
  TallyPart tally_;
  std::optional<Peeler<Real>> peeler_;
  std::vector<Photon> finished_;
  std::vector<Seen> seen_;
  Pool::Block block_;
  int live_ = 0;
};

}  // namespace

template <class Real>
void transport(const AnyProblem<Real>& problem, const Emitter<Real>& emitter, Pool& pool, const Options& options,
               Control& control, Tally& tally, const Sink& sink, std::span<const Flying<Real>> flying,
               const Observers& observers) {
  const StepKernel<Real>& kernel = step_kernel<Real>(problem.kind(), options.isa);
  Shared<Real> shared{problem,
                      emitter.view(),
                      pool,
                      options.one_lane ? 1 : kernel.lanes,
                      options.one_lane ? kernel.advance_one : kernel.advance,
                      history_kernel<Real>(problem.history(), kernel.isa),
                      control,
                      sink,
                      flying,
                      {},
                      {},
                      tally,
                      observers,
                      kernel.isa};
  std::exception_ptr failure;
  {
    std::vector<std::jthread> threads;
    const auto work = [&] {
      try {
        Worker<Real>(shared).run();
      } catch (...) {
        const std::lock_guard lock(shared.mutex);
        if (!failure) failure = std::current_exception();
        control.abort = true;
      }
    };
    try {
      for (int i = 0; i < options.threads; ++i) threads.emplace_back(work);
    } catch (const std::system_error& e) {
      control.abort = true;
      throw Error(ExitCode::device,
                  fmt::format("cannot start {} threads ({}): lower --threads", options.threads, e.what()));
    }
  }
  if (failure) std::rethrow_exception(failure);
}

template void transport(const AnyProblem<float>&, const Emitter<float>&, Pool&, const Options&, Control&, Tally&,
                        const Sink&, std::span<const Flying<float>>, const Observers&);
template void transport(const AnyProblem<double>&, const Emitter<double>&, Pool&, const Options&, Control&, Tally&,
                        const Sink&, std::span<const Flying<double>>, const Observers&);

template <class Real>
std::vector<MarchResult> march(const AnyProblem<Real>& problem, std::span<const Ray> rays, MarchSum what,
                               const Options& options) {
  constexpr int slice = 4096;
  const MarchKernel<Real>& kernel = march_kernel<Real>(problem.kind(), options.isa);
  const HistoryKernel<Real>& history = history_kernel<Real>(problem.history(), kernel.isa);
  const auto width = std::size_t(kernel.lanes);
  std::vector<MarchResult> results(rays.size());
  parallel_for(options.threads, rays.size(), 64 * width, [&](std::size_t first, std::size_t end) {
    const FlushDenormals flush;
    std::vector<double> memory(lane_bytes<Real>(width) / sizeof(double) + 1);
    const LaneArrays<Real> lanes = lane_arrays<Real>(memory.data(), width);
    std::vector<std::size_t> ray(width);
    std::size_t next = first, live = 0;
    // Takes the result out of a lane that has ended, and puts rays into it until one meets the medium.
    const auto refill = [&](std::size_t lane) {
      for (; next < end; ++next) {
        history.place(lanes, int(lane), problem.dataset(), rays[next]);
        ray[lane] = next;
        if (lanes.phase[lane] == Phase::fly) {
          ++next, ++live;
          return;
        }
        results[ray[lane]] = {0, 0, Phase::escaped};
      }
      lanes.phase[lane] = Phase::idle;
    };
    for (std::size_t lane = 0; lane < width; ++lane) refill(lane);
    while (live > 0) {
      if (!kernel.march(lanes, problem.data(), what, std::numeric_limits<Real>::max(), slice)) continue;
      for (std::size_t lane = 0; lane < width; ++lane) {
        if (lanes.phase[lane] == Phase::fly || lanes.phase[lane] == Phase::idle) continue;
        results[ray[lane]] = {double(lanes.tau[lane]), double(lanes.flown[lane]), Phase(int(lanes.phase[lane]))};
        --live;
        refill(lane);
      }
    }
  });
  return results;
}
template std::vector<MarchResult> march(const AnyProblem<float>&, std::span<const Ray>, MarchSum, const Options&);
template std::vector<MarchResult> march(const AnyProblem<double>&, std::span<const Ray>, MarchSum, const Options&);

}  // namespace thor::cpu
