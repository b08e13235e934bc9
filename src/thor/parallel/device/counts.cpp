#include "thor/parallel/device/counts.hpp"

#include <algorithm>
#include <numeric>

namespace thor::device {
namespace {

constexpr std::size_t tally_memory = 64u << 20;  ///< bytes that copies of the tally may take
constexpr int most_copies = 32;

}  // namespace

Counts::Counts(Device& device, const Batch& batch)
    : device_(device),
      batch_(batch),
      finished_before_(batch.control.finished),
      scatterings_before_(batch.control.scatterings),
      longest_before_(batch.control.longest),
      outputs_(upload<OutputPlan>(device, {batch.tally.plan().outputs, std::size_t(batch.tally.plan().output_count)})),
      copies_(int(std::clamp<std::size_t>(tally_memory / 8 / std::size_t(batch.tally.plan().own), 1, most_copies))),
      entries_(device, Memory::device, std::size_t(batch.tally.plan().room(copies_))) {
  device.fill(0, entries_.data(), 0, entries_.bytes());
  device.wait(0);
}

/// Those of one queue may be older than what the other has shown.
void Counts::show_counters(const std::uint64_t* counters_seen) const {
  const auto sum = [&](Counter c) {
    const std::uint64_t* parts = counters_seen + std::size_t(c) * std::size_t(copies_);
    return std::accumulate(parts, parts + copies_, std::uint64_t(0));
  };
  const std::uint64_t* longest = counters_seen + std::size_t(Counter::longest) * std::size_t(copies_);
  Control& control = batch_.control;
  control.finished =
      finished_before_ + sum(Counter::escaped) + sum(Counter::absorbed) + sum(Counter::lost) + sum(Counter::stopped);
  control.scatterings = scatterings_before_ + sum(Counter::scatterings);
  control.longest = std::max(longest_before_, *std::max_element(longest, longest + copies_));
}

void Counts::show(int queue, const std::uint64_t* counters_seen) {
  show_counters(counters_seen);
  if (Clock::now() < next_look_) return;
  next_look_ = Clock::now() + std::chrono::seconds(1);
  if (entries_.bytes() > live_tally_limit) return;
  Tally counted = batch_.tally;
  read(queue, counted);
  batch_.control.error = counted.error();
}

void Counts::finish(int queue, Tally& tally) const {
  std::vector<std::uint64_t> seen(counters());
  copy_counters(queue, seen.data());
  device_.wait(queue);
  show_counters(seen.data());
  read(queue, tally);
}

void Counts::read(int queue, Tally& tally) const {
  constexpr std::int64_t at_once = 1 << 20;
  const TallyPlan plan = tally.plan();
  std::vector<std::uint64_t> entries(std::size_t(plan.own * copies_));
  const auto copy = [&](std::int64_t from, std::size_t count) {
    entries.resize(count);
    device_.copy_out(queue, entries.data(), entries_.data() + from, count * sizeof(std::uint64_t));
    device_.wait(queue);
  };
  copy(0, entries.size());
  tally.merge_own(entries.data(), copies_);
  for (std::int64_t from = plan.own; from < plan.entries; from += at_once) {
    copy(place_of(from, plan.own, copies_, 0), std::size_t(std::min(at_once, plan.entries - from)));
    tally.merge_shared(from, entries);
  }
}

}  // namespace thor::device
