#include "thor/parallel/cpu/engine.hpp"

#include <exception>
#include <mutex>
#include <thread>

#include "thor/distributions/exponential.hpp"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

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

/// Memory for the fields of `count` lanes.
template <class Real>
class LaneStorage {
 public:
  explicit LaneStorage(int count) : reals_(11 * count), ints_(4 * count), words_(4 * count) {
    Real* r = reals_.data();
    Int* i = ints_.data();
    std::uint32_t* w = words_.data();
    for_each_field(arrays, arrays, [&](auto& field, auto&) {
      using T = std::remove_pointer_t<std::remove_reference_t<decltype(field)>>;
      if constexpr (std::is_same_v<T, Real>)
        field = r, r += count;
      else if constexpr (std::is_same_v<T, Int>)
        field = i, i += count;
      else
        field = w, w += count;
    });
  }
  LaneArrays<Real> arrays;

 private:
  using Int = IntOf<Real>;
  std::vector<Real> reals_;
  std::vector<Int> ints_;
  std::vector<std::uint32_t> words_;
};

/// One thread's pack of lanes: fill, advance, hand over what has ended, fill again.
template <class P>
class Worker {
  using Real = typename P::Real;

 public:
  Worker(int index, const P& problem, const Emitter<Real>& emitter, Pool& pool, const Kernel<P>& kernel,
         Control& control, const Sink& sink)
      : index_(index),
        problem_(problem),
        emitter_(emitter),
        pool_(pool),
        kernel_(kernel),
        control_(control),
        sink_(sink),
        storage_(kernel.lanes),
        lanes_(storage_.arrays),
        birth_(kernel.lanes) {}

  void run() {
    flush_denormals();
    for (int lane = 0; lane < kernel_.lanes; ++lane) refill(lane);
    while (live_ > 0 && !control_.abort.load(std::memory_order_relaxed)) {
      if (kernel_.advance(lanes_, problem_, slice)) collect();
    }
    for (int lane = 0; lane < kernel_.lanes; ++lane) {
      if (lanes_.phase[lane] != Phase::idle) record(lane);
    }
    hand_over();
  }

 private:
  static constexpr int slice = 4096;  ///< steps between looks at the control: about a millisecond
  static constexpr std::size_t batch = 256;

  struct BirthRecord {
    std::uint64_t id;
    double weight, frequency;
  };

  void collect() {
    for (int lane = 0; lane < kernel_.lanes; ++lane) {
      const auto phase = lanes_.phase[lane];
      if (phase == Phase::fly || phase == Phase::collide || phase == Phase::idle) continue;
      record(lane);
      refill(lane);
    }
  }

  /// Starts photons in this lane until one meets the medium, or leaves it idle.
  void refill(int lane) {
    for (;;) {
      if (block_.empty()) block_ = pool_.take();
      if (block_.empty() || pool_.closed()) {
        lanes_.phase[lane] = Phase::idle;
        return;
      }
      if (start(lane, block_.next++)) return;
      record(lane);
    }
  }

  bool start(int l, std::uint64_t id) {
    const std::size_t source = emitter_.source_of(id);
    auto random = xoshiro<Real>(stream_key(emitter_.seed, id));
    const Birth<Real> b = emit(emitter_.sources[source], problem_.dataset, random);
    lanes_.px[l] = b.position.x, lanes_.py[l] = b.position.y, lanes_.pz[l] = b.position.z;
    lanes_.dx[l] = b.direction.x, lanes_.dy[l] = b.direction.y, lanes_.dz[l] = b.direction.z;
    lanes_.frequency[l] = b.frequency;
    lanes_.tau[l] = sample_exponential<Real>(random.next());
    lanes_.flown[l] = lanes_.column[l] = lanes_.column_low[l] = 0;
    lanes_.cell[l] = b.cell;
    lanes_.scatterings[l] = lanes_.steps[l] = 0;
    lanes_.s0[l] = random.s0, lanes_.s1[l] = random.s1, lanes_.s2[l] = random.s2, lanes_.s3[l] = random.s3;
    lanes_.phase[l] = b.misses ? Phase::escaped : Phase::fly;
    birth_[l] = {id, emitter_.weight[source], double(b.frequency)};
    ++live_;
    control_.started.fetch_add(1, std::memory_order_relaxed);
    return !b.misses;
  }

  void record(int l) {
    const double flown = lanes_.flown[l];
    Photon p;
    p.id = birth_[l].id, p.weight = birth_[l].weight;
    p.frequency_initial = birth_[l].frequency, p.frequency_final = lanes_.frequency[l];
    p.direction[0] = lanes_.dx[l], p.direction[1] = lanes_.dy[l], p.direction[2] = lanes_.dz[l];
    p.position[0] = lanes_.px[l] - flown * p.direction[0];
    p.position[1] = lanes_.py[l] - flown * p.direction[1];
    p.position[2] = lanes_.pz[l] - flown * p.direction[2];
    p.column = double(lanes_.column[l]) - double(lanes_.column_low[l]);
    p.scatterings = lanes_.scatterings[l], p.steps = lanes_.steps[l];
    p.fate = static_cast<Phase>(lanes_.phase[l]);
    finished_.push_back(p);
    --live_;
    if (finished_.size() >= batch) hand_over();
  }

  void hand_over() {
    std::uint64_t scatterings = 0, longest = 0;
    for (const Photon& p : finished_) {
      scatterings += std::uint64_t(p.scatterings);
      longest = std::max(longest, std::uint64_t(p.scatterings));
    }
    sink_(index_, finished_);
    control_.scatterings.fetch_add(scatterings, std::memory_order_relaxed);
    control_.finished.fetch_add(finished_.size(), std::memory_order_relaxed);
    for (auto seen = control_.longest.load();
         longest > seen && !control_.longest.compare_exchange_weak(seen, longest);) {
    }
    finished_.clear();
  }

  const int index_;
  const P& problem_;
  const Emitter<Real>& emitter_;
  Pool& pool_;
  const Kernel<P>& kernel_;
  Control& control_;
  const Sink& sink_;
  LaneStorage<Real> storage_;
  LaneArrays<Real> lanes_;
  std::vector<BirthRecord> birth_;
  std::vector<Photon> finished_;
  Pool::Block block_;
  int live_ = 0;
};

}  // namespace

template <class P>
void transport(const P& problem, const Emitter<typename P::Real>& emitter, Pool& pool, const Options& options,
               Control& control, const Sink& sink) {
  const Kernel<P> kernel = find_kernel<P>(options.isa, options.one_lane);
  std::exception_ptr failure;
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < options.threads; ++i) {
      threads.emplace_back([&, i] {
        try {
          Worker<P>(i, problem, emitter, pool, kernel, control, sink).run();
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
          control.abort = true;
        }
      });
    }
  }
  if (failure) std::rethrow_exception(failure);
}

#define THOR_TRANSPORT(dataset, real)                                                                           \
  template void transport(const Problem<dataset<real>>&, const Emitter<real>&, Pool&, const Options&, Control&, \
                          const Sink&);
THOR_TRANSPORT(Sphere, float)
THOR_TRANSPORT(Sphere, double)
THOR_TRANSPORT(Shell, float)
THOR_TRANSPORT(Shell, double)
THOR_TRANSPORT(Slab, float)
THOR_TRANSPORT(Slab, double)
#undef THOR_TRANSPORT

}  // namespace thor::cpu
