#include "thor/parallel/cpu/engine.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "thor/core/error.hpp"
#include "thor/parallel/cpu/denormals.hpp"
#include "thor/parallel/cpu/peel.hpp"

namespace thor::cpu {
namespace {

/// What the workers of a run share.
template <class Real>
struct Shared {
  const Setting<Real> setting;  ///< at a border: with the problem of the whole mesh
  const Batch batch;
  const Mover<Real> mover;
  const std::string_view isa;
  const std::span<const Flying<Real>> flying{};
  Border<Real>* const border = nullptr;  ///< null: all gas is here

  const HistoryKernel<Real>& history = history_kernel<Real>(setting.problem.history(), isa);
  std::atomic<std::size_t> next_flying{0};
  std::mutex mutex{};  ///< of the sink and the tally
  /// Time between merges of a thread's counts: long enough that merging, a nanosecond per entry, takes a thousandth of
  /// it.
  const std::chrono::nanoseconds between_looks = std::max<std::chrono::nanoseconds>(
      std::chrono::seconds(1), std::chrono::nanoseconds(std::int64_t(1000) * batch.tally.plan().entries));
  std::chrono::steady_clock::time_point next_error = std::chrono::steady_clock::now() + between_looks;
};

/// One thread's pack of lanes: fill, advance, hand over what has ended, fill again.
template <class Real>
class Worker {
 public:
  explicit Worker(Shared<Real>& shared)
      : shared_(shared),
        memory_(lane_bytes<Real>(std::size_t(count_)) / sizeof(double) + 1),
        lanes_(lane_arrays<Real>(memory_.data(), std::size_t(count_))),
        origins_(std::size_t(count_)),
        tally_(shared.batch.tally) {
    const Observers& observers = shared.setting.observers;
    if (observers.empty()) return;
    const typename RaySender<Real>::Thread thread{shared.setting, shared.border, outbox_, count_,
                                                  origins_,       shared.isa,    tally_,  control_.abort};
    rays_ = shared.mover.rays ? shared.mover.rays(thread) : std::make_unique<Peeler<Real>>(thread);
    if (shared.batch.sink.seen && observers.recorded >= 0) tally_.keep(observers.recorded, seen_);
  }

  void run() {
    const FlushDenormals flush;
    if (!shared_.border) {
      follow();
    } else {
      while ((part_ = shared_.border->wait()) != nullptr) {
        problem_ = &part_->problem;
        if (rays_) rays_->enter(*part_);
        follow();
        outbox_.send();
        hand_over();
      }
    }
    join_histories();
    publish();
    shared_.batch.pool.give_back(block_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t batch = 256, most_seen = 4096;

  /// Follows photons until there are no more.
  void follow() {
    for (int lane = 0; lane < count_; ++lane) refill(lane);
    if (live_ > 0) control_.flying.store(true, std::memory_order_relaxed);
    while (live_ > 0 && !control_.abort.load(std::memory_order_relaxed)) {
      if (part_ && rays_ && shared_.border->is_congested()) trace_waiting();
      const bool ended = shared_.mover.advance(lanes_, *problem_, rays_ ? rays_->log() : nullptr);
      if (rays_) rays_->look();
      if (tally_.is_crowded()) join_histories();
      if (seen_.size() >= most_seen) hand_over();
      if (ended) collect();
      if (part_) exchange();
      if (live_ < shared_.mover.fewest && shared_.border->has_waiting()) put_back();
      if (Clock::now() >= next_look_) publish();
    }
    for (int lane = 0; lane < count_; ++lane) {
      if (lanes_.phase[lane] != Phase::idle) record(lane);
    }
    while (control_.abort && take_waiting(0)) record(0);
    if (rays_) rays_->trace();
  }

  /// At a border: sends on those that have left, and takes those that wait for this part.
  void exchange() {
    outbox_.look();
    if (live_ == count_ || (travellers_.empty() && part_->waiting.load(std::memory_order_relaxed) == 0)) return;
    for (int lane = 0; lane < count_; ++lane) {
      if (lanes_.phase[lane] == Phase::idle) refill(lane);
    }
  }

  /// Counts what photons have added to bins that observers see. Those that have been elsewhere before, or may go there,
  /// have added more than is known here.
  void join_histories() {
    if (shared_.border || !shared_.flying.empty()) {
      const std::lock_guard lock(shared_.mutex);
      return shared_.batch.tally.wait_for_others(tally_.shares());
    }
    if (rays_) rays_->trace();
    std::vector<std::uint64_t> flying;
    for (int l = 0; l < count_; ++l) {
      if (lanes_.phase[l] != Phase::idle) flying.push_back(origins_[std::size_t(l)].id);
    }
    tally_.join_histories(flying);
  }

  /// Lets the last photons of a part wait, where a device would have little to do while those of other parts wait.
  void put_back() {
    for (int l = 0; l < count_; ++l) {
      if (lanes_.phase[l] == Phase::idle) continue;
      set_cell(lanes_, l, part_->to_whole(cell_of(lanes_, l)));
      outbox_.post({Traveller<Real>::photon, 0, load_lane<Real>(lanes_, l), origins_[std::size_t(l)], {}});
      lanes_.phase[l] = Phase::idle;
      --live_;
    }
    for (const Traveller<Real>& traveller : travellers_) outbox_.post(traveller);  // they are of this part, too
    travellers_.clear();
  }

  void collect() {
    for (int lane = 0; lane < count_; ++lane) {
      const auto phase = lanes_.phase[lane];
      if (is_in_flight(phase) || phase == Phase::idle || crosses(lane)) continue;
      record(lane);
      refill(lane);
    }
  }

  /// Whether a photon that has left a part of the gas goes on, here or elsewhere; then the lane has been dealt with.
  bool crosses(int l) {
    if (lanes_.phase[l] != Phase::departs) return false;
    if (arrives(part_->partition, part_->domain, lanes_, l)) return true;
    outbox_.post({Traveller<Real>::photon, 0, load_lane<Real>(lanes_, l), origins_[std::size_t(l)], {}});
    --live_;
    refill(l);
    return true;
  }

  /// Puts a traveller into this lane, alive or over; rays are put aside. False: there are no more.
  bool take_traveller(int l) {
    for (;;) {
      if (travellers_.empty()) shared_.border->take(*part_, std::size_t(count_), travellers_);
      if (travellers_.empty()) return false;
      const Traveller<Real> traveller = travellers_.back();
      travellers_.pop_back();
      const std::uint64_t id = traveller.origin.id;
      Origin& origin = origins_[std::size_t(l)];
      if (traveller.kind == Traveller<Real>::ray) {
        rays_->receive(traveller);
      } else if (traveller.kind == Traveller<Real>::birth && shared_.batch.pool.closed()) {
        shared_.batch.pool.give_back({id, id + 1});
      } else if (traveller.kind == Traveller<Real>::birth) {
        start(l, id);
        return true;
      } else {
        store_lane(traveller.lane, lanes_, l);
        set_cell(lanes_, l, part_->to_part(cell_of(lanes_, l)).value());
        origin = traveller.origin;
        ++live_;
        return true;
      }
    }
  }

  /// Traces rays of any part until those of all ranks are few enough for photons to make more.
  void trace_waiting() {
    const Border<Real>& border = *shared_.border;
    rays_->trace();
    while (border.is_congested() && !control_.abort) {
      outbox_.send();
      std::vector<Traveller<Real>> rays;
      if (const auto* part = shared_.border->take_rays(1024, rays)) {
        rays_->enter(*part);
        for (const Traveller<Real>& ray : rays) rays_->receive(ray);
        rays_->trace();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    }
    rays_->enter(*part_);
  }

  /// Starts a photon in this lane.
  void start(int l, std::uint64_t id) {
    Origin& origin = origins_[std::size_t(l)];
    const EmitterView<Real> emitter = (part_ ? part_->emitter : shared_.setting.emitter).view();
    shared_.history.start(lanes_, l, problem_->dataset(), problem_->numerics(), emitter, id, origin);
    ++live_;
    tally_.start(origin.weight_initial, origin.weight, origin.generator);
    if (rays_) rays_->emit(origin);
  }

  /// Puts photons into this lane until one meets the medium, or leaves it idle.
  void refill(int l) {
    while (take_waiting(l) || (!part_ && start_next(l))) {
      if (is_in_flight(lanes_.phase[l])) return;
      record(l);
    }
    lanes_.phase[l] = Phase::idle;
    if (part_) set_cell(lanes_, l, {});  // one that there is
  }

  /// Starts the next photon of the pool in this lane. False: there are no more.
  bool start_next(int l) {
    if (block_.empty()) block_ = shared_.batch.pool.take();
    if (block_.empty() || shared_.batch.pool.closed()) return false;
    start(l, block_.next++);
    return true;
  }

  /// Puts a photon that was started before into this lane. False: there are no more.
  bool take_waiting(int l) { return part_ ? take_traveller(l) : take_flying(l); }

  bool take_flying(int l) {
    const std::size_t flying = shared_.next_flying.fetch_add(1, std::memory_order_relaxed);
    if (flying >= shared_.flying.size()) return false;
    store_lane(shared_.flying[flying].lane, lanes_, l);
    origins_[std::size_t(l)] = shared_.flying[flying].origin;
    ++live_;
    return true;
  }

  void record(int l) {
    finished_.push_back(shared_.history.end(lanes_, l, problem_->dataset(), origins_[std::size_t(l)]));
    if (rays_) rays_->end(l);
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
    if (shared_.batch.sink) {
      const std::lock_guard lock(shared_.mutex);
      shared_.batch.sink(finished_);
    }
    if (!seen_.empty()) {
      const std::lock_guard lock(shared_.mutex);
      shared_.batch.sink.seen(seen_);
      seen_.clear();
    }
    control_.scatterings.fetch_add(scatterings, std::memory_order_relaxed);
    control_.finished.fetch_add(finished_.size(), std::memory_order_relaxed);
    if (shared_.border) shared_.border->count_ended(finished_.size());
    for (auto seen = control_.longest.load();
         longest > seen && !control_.longest.compare_exchange_weak(seen, longest);) {
    }
    finished_.clear();
  }

  /// Adds what this thread has counted to what all have, now and then and at the end.
  void publish() {
    hand_over();
    const std::lock_guard lock(shared_.mutex);
    shared_.batch.tally.merge(tally_);
    const Clock::time_point now = Clock::now();
    next_look_ = now + shared_.between_looks;
    if (now < shared_.next_error) return;  // of an image it takes some time
    shared_.next_error = next_look_;
    control_.error = shared_.batch.tally.error();
  }

  Shared<Real>& shared_;
  Control& control_ = shared_.batch.control;
  const int count_ = shared_.mover.lanes;
  const AnyProblem<Real>* problem_ = &shared_.setting.problem;
  typename Border<Real>::Part* part_ = nullptr;  ///< that photons are in; null: all gas is here
  std::vector<Traveller<Real>> travellers_;
  typename Border<Real>::Outbox outbox_{shared_.border};
  Clock::time_point next_look_ = Clock::now() + shared_.between_looks;
  std::vector<double> memory_;
  LaneArrays<Real> lanes_;
  std::vector<Origin> origins_;
  TallyPart tally_;
  std::unique_ptr<RaySender<Real>> rays_;  ///< null: nobody looks
  std::vector<Photon> finished_;
  std::vector<Seen> seen_;
  Pool::Block block_;
  int live_ = 0;
};

/// Runs a worker in each thread, and rethrows what one of them has thrown.
template <class Real>
void run_workers(Shared<Real>& shared, int count) {
  std::exception_ptr failure;
  {
    std::vector<std::jthread> threads;
    const auto fail = [&] {
      shared.batch.control.abort = true;
      if (shared.border) shared.border->give_up();
    };
    const auto work = [&] {
      try {
        Worker<Real>(shared).run();
      } catch (...) {
        const std::lock_guard lock(shared.mutex);
        if (!failure) failure = std::current_exception();
        fail();
      }
    };
    try {
      for (int i = 0; i < count; ++i) threads.emplace_back(work);
    } catch (const std::system_error& e) {
      fail();
      throw Error(ExitCode::device, fmt::format("cannot start {} threads ({}): lower --threads", count, e.what()));
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

template <class Real>
Mover<Real> mover(ProblemKind kind, const Options& options) {
  constexpr int slice = 4096;  // steps between checks of the control: about a millisecond
  const StepKernel<Real>& kernel = step_kernel<Real>(kind, options.isa);
  const Advance<Real> advance = options.one_lane ? kernel.advance_one : kernel.advance;
  return {options.one_lane ? 1 : kernel.lanes,
          [advance](const LaneArrays<Real>& lanes, const AnyProblem<Real>& problem, EventLog<Real>* log) {
            return advance(lanes, problem.data(), slice, log);
          }};
}

template <class Real>
void transport(const Setting<Real>& setting, const Batch& batch, const Options& options,
               std::span<const Flying<Real>> flying) {
  const ProblemKind kind = setting.problem.kind();
  Shared<Real> shared{setting, batch, mover<Real>(kind, options), step_kernel<Real>(kind, options.isa).isa, flying};
  run_workers(shared, options.threads);
}

template <class Real>
void transport(const Setting<Real>& setting, Border<Real>& border, const Batch& batch, const Options& options,
               const Mover<Real>& mover) {
  const auto isa = step_kernel<Real>(setting.problem.kind(), options.isa).isa;
  Shared<Real> shared{setting, batch, mover, isa, {}, &border};
  run_workers(shared, options.threads);
}

template Mover<float> mover(ProblemKind, const Options&);
template Mover<double> mover(ProblemKind, const Options&);
template void transport(const Setting<float>&, const Batch&, const Options&, std::span<const Flying<float>>);
template void transport(const Setting<double>&, const Batch&, const Options&, std::span<const Flying<double>>);
template void transport(const Setting<float>&, Border<float>&, const Batch&, const Options&, const Mover<float>&);
template void transport(const Setting<double>&, Border<double>&, const Batch&, const Options&, const Mover<double>&);

}  // namespace thor::cpu
