#include "thor/parallel/cpu/engine.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "thor/core/error.hpp"

namespace thor::cpu {
namespace {

/// Denormal numbers are worth nothing here and can cost a hundred cycles each.
void flush_denormals() {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
  std::uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  __asm__ volatile("msr fpcr, %0" : : "r"(fpcr | (1u << 24)));
#endif
}

/// What the workers of a run share.
template <class P>
struct Shared {
  using Real = typename P::Real;
  const P& problem;
  const EmitterView<Real> emitter;
  Pool& pool;
  const Kernel<P> kernel;
  Control& control;
  const Sink& sink;
  std::span<const Flying<Real>> flying;
  std::atomic<std::size_t> next_flying{0};
  std::mutex mutex;  ///< of the sink and the tally
  Tally& tally;
  /// Between looks at a thread's counts: so long that merging them, a nanosecond a cell, is a thousandth of it.
  const std::chrono::nanoseconds between_looks = std::max<std::chrono::nanoseconds>(
      std::chrono::seconds(1), std::chrono::nanoseconds(std::int64_t(1000) * tally.plan().cells));
};

/// One thread's pack of lanes: fill, advance, hand over what has ended, fill again.
template <class P>
class Worker {
  using Real = typename P::Real;

 public:
  explicit Worker(Shared<P>& shared)
      : shared_(shared),
        memory_(lane_bytes<Real>(std::size_t(shared.kernel.lanes)) / sizeof(double) + 1),
        lanes_(lane_arrays<Real>(memory_.data(), std::size_t(shared.kernel.lanes))),
        origins_(std::size_t(shared.kernel.lanes)),
        tally_(shared.tally) {}

  void run() {
    flush_denormals();
    const int lanes = shared_.kernel.lanes;
    for (int lane = 0; lane < lanes; ++lane) refill(lane);
    while (live_ > 0 && !shared_.control.abort.load(std::memory_order_relaxed)) {
      if (shared_.kernel.advance(lanes_, shared_.problem, slice)) collect();
      if (Clock::now() >= next_look_) publish();
    }
    for (int lane = 0; lane < lanes; ++lane) {
      if (lanes_.phase[lane] != Phase::idle) record(lane);
    }
    while (take_flying(0)) record(0);  // after an abort
    publish();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int slice = 4096;  ///< steps between looks at the control: about a millisecond
  static constexpr std::size_t batch = 256;

  void collect() {
    for (int lane = 0; lane < shared_.kernel.lanes; ++lane) {
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
      shared_.kernel.start(lanes_, l, shared_.problem, shared_.emitter, block_.next++, origin);
      ++live_;
      tally_.start(origin.weight_initial, origin.weight, origin.generator);
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
    finished_.push_back(shared_.kernel.end(lanes_, l, shared_.problem, origins_[std::size_t(l)]));
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

  Shared<P>& shared_;
  Clock::time_point next_look_ = Clock::now() + shared_.between_looks;
  std::vector<double> memory_;
  LaneArrays<Real> lanes_;
  std::vector<Origin> origins_;
  TallyPart tally_;
  std::vector<Photon> finished_;
  Pool::Block block_;
  int live_ = 0;
};

}  // namespace

template <class P>
void transport(const P& problem, const Emitter<typename P::Real>& emitter, Pool& pool, const Options& options,
               Control& control, Tally& tally, const Sink& sink, std::span<const Flying<typename P::Real>> flying) {
  Shared<P> shared{problem, emitter.view(), pool,   find_kernel<P>(options.isa, options.one_lane),
                   control, sink,           flying, {},
                   {},      tally};
  std::exception_ptr failure;
  {
    std::vector<std::jthread> threads;
    const auto work = [&] {
      try {
        Worker<P>(shared).run();
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

#define THOR_TRANSPORT(problem, dataset, real)                                                                  \
  template void transport(const problem<dataset<real>>&, const Emitter<real>&, Pool&, const Options&, Control&, \
                          Tally&, const Sink&, std::span<const Flying<real>>);
THOR_FOR_EACH_PROBLEM(THOR_TRANSPORT)
#undef THOR_TRANSPORT

}  // namespace thor::cpu
