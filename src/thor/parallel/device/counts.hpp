#pragma once
#include <chrono>

#include "thor/parallel/batch.hpp"
#include "thor/parallel/device/upload.hpp"

namespace thor::device {

/// What a device counts of a batch, and what the control shows of it during the run.
class Counts {
 public:
  Counts(Device& device, const Batch& batch);

  /// Lets a program count here.
  template <class Real>
  void bind(Program<Real>& program) const {
    program.plan = batch_.tally.plan();
    program.plan.outputs = outputs_.data();
    program.entries = entries_.data(), program.copies = copies_;
  }

  /// Number of entries that the counters take, in all copies.
  std::size_t counters() const { return std::size_t(Counter::count) * std::size_t(copies_); }
  void copy_counters(int queue, std::uint64_t* counters_seen) const {
    device_.copy_out(queue, counters_seen, entries_.data(), counters() * sizeof(std::uint64_t));
  }
  /// Shows what counters say and, now and then, the error of the tally, which is copied through a queue.
  void show(int queue, const std::uint64_t* counters_seen);
  /// Adds the counts so far to a tally, copied through a queue.
  void read(int queue, Tally& tally) const;
  /// The same at the end, and shows them.
  void finish(int queue, Tally& tally) const;
  /// The same now and then, and starts again from nothing: for lanes whose photons are counted elsewhere.
  void move(int queue, Tally& tally) {
    if (Clock::now() < next_look_ || entries_.bytes() > live_tally_limit) return;
    next_look_ = Clock::now() + std::chrono::seconds(1);
    read(queue, tally);
    device_.fill(queue, entries_.data(), 0, entries_.bytes());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t live_tally_limit =
      1u << 26;  ///< bytes of a tally that is still copied during a run, for its error
  void show_counters(const std::uint64_t* counters_seen) const;

  Device& device_;
  const Batch batch_;
  const std::uint64_t finished_before_, scatterings_before_, longest_before_;  ///< of earlier ids of the pool
  const Buffer<OutputPlan> outputs_;
  const int copies_;
  const Buffer<std::uint64_t> entries_;
  Clock::time_point next_look_ = Clock::now() + std::chrono::seconds(1);
};

}  // namespace thor::device
