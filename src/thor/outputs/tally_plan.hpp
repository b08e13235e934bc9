#pragma once
#include "thor/outputs/list.hpp"

/// Counts and sums of light in integers, in quanta. A photon of a run of up to 1e9 is 4e9 quanta: its weight is rounded
/// to 1e-10.
namespace thor {

/// The entries of a tally, before those of the generators and the outputs. Fates are in the order of their table
/// (transport/fates.hpp).
enum class Counter : int {
  escaped,
  absorbed,
  lost,
  stopped,
  in_flight,
  light_escaped,
  light_absorbed,
  light_lost,
  light_stopped,
  light_in_flight,
  started,
  light_emitted,
  light_unresolved,  ///< part of light_emitted that is absorbed at birth, on scales that are not resolved
  scatterings,
  followed,  ///< of them: those that are not of the tables of jumps
  jumps,
  steps,
  rays,            ///< towards observers
  rays_cut,        ///< of them: those that ended in gas, by peel.roulette or peel.cut
  light_sent,      ///< at most, by all events towards an observer, in 2^sent_bits quanta
  rays_lost,       ///< those that did not end
  rays_in_flight,  ///< those that were still on their way when the run was cut
  longest,         ///< scatterings of the longest history: a maximum, not a sum
  count
};
static_assert(int(Counter::in_flight) == fate_index(Phase::fly) && int(Counter::light_escaped) == fate_count);

inline constexpr int sent_bits = 28;

/// The entries of each generator, which follow.
enum class GeneratorCounter : int {
  started,
  light_emitted,
  light_unresolved,
  light_escaped,
  light_absorbed,
  light_lost,
  light_stopped,
  light_in_flight,
  count
};

/// How to count: plain data. The entries are those of Counter, of the generators, and of the outputs. The first ones,
/// `own`, are few and often added to: every thread has them for itself, and a device has several copies. The others are
/// those of large outputs: there is one copy, and additions to it are atomic.
struct TallyPlan {
  double quanta_per_light;
  const OutputPlan* outputs;  ///< by their observers: those of one are neighbours
  int output_count;
  std::int64_t own, entries;  ///< number of `own` ones, and of all

  /// Number of entries in memory, with `copies` of each of the first ones side by side.
  std::int64_t room(int copies) const { return own * copies + (entries - own); }
};

inline namespace THOR_ISA {

THOR_FN int entry_of(int generator, GeneratorCounter counter) {
  return int(Counter::count) + generator * int(GeneratorCounter::count) + int(counter);
}

/// Index of an entry in memory.
THOR_FN std::int64_t place_of(std::int64_t entry, std::int64_t own, int copies, int copy) {
  return entry < own ? entry * copies + copy : entry + own * (copies - 1);
}

/// Counts a photon that is emitted with a weight, of which `left` is not absorbed at birth.
template <class Entries>
THOR_FN void count_start(const TallyPlan& plan, double weight, double left, int generator, Entries entries) {
  const std::uint64_t light = rounded(weight * plan.quanta_per_light);
  const std::uint64_t unresolved = light - rounded(left * plan.quanta_per_light);
  entries.add(int(Counter::started), 1);
  entries.add(int(Counter::light_emitted), light);
  entries.add(entry_of(generator, GeneratorCounter::started), 1);
  entries.add(entry_of(generator, GeneratorCounter::light_emitted), light);
  if (unresolved > 0) {
    entries.add(int(Counter::light_unresolved), unresolved);
    entries.add(entry_of(generator, GeneratorCounter::light_unresolved), unresolved);
  }
}

/// Counts a photon in all outputs. Called, not inlined: all types of output in the loop of steps would cost it
/// registers.
template <class Entries>
THOR_NOINLINE void count_in_outputs(const TallyPlan& plan, const Photon& photon, Entries entries) {
  for (int i = 0; i < plan.output_count; ++i) {
    if (!contains(plan.outputs[i].generators, photon.generator)) continue;
    plan.outputs[i].visit([&](const auto& output) {
      Contributions contributions(output.bins, photon.id, entries);
      count(output, photon, contributions);
    });
  }
}

/// The first of the plans that count what an observer, or one after it, sees by rays: there may be thousands of them.
THOR_FN int first_plan(const TallyPlan& plan, int observer) {
  int low = 0, high = plan.output_count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (plan.outputs[middle].observer < observer) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Counts light that an observer sees. Called, as count_in_outputs() is.
template <class Entries>
THOR_NOINLINE void count_seen(const TallyPlan& plan, const Seen& seen, Entries entries) {
  for (int i = first_plan(plan, seen.observer); i < plan.output_count && plan.outputs[i].observer == seen.observer;
       ++i) {
    if (!contains(plan.outputs[i].generators, seen.generator)) continue;
    plan.outputs[i].visit([&](const auto& output) {
      if constexpr (requires { output.sky; }) {
        if ((output.of == config::Fate::emitted) != seen.emitted) return;
        Contributions contributions(output.bins, seen.id, entries);
        count(output, seen, contributions);
      }
    });
  }
}

/// Counts a ray to an observer; `absorbed`: it ended in thick gas. `counts.add(counter, value)` adds to a counter.
template <class Counts>
THOR_FN void count_ray(Phase end, Counts& counts) {
  counts.add(Counter::rays, 1);
  if (end == Phase::lost) counts.add(Counter::rays_lost, 1);
  if (end == Phase::fly) counts.add(Counter::rays_in_flight, 1);  // on processors only: devices end what they began
  if (end == Phase::absorbed) counts.add(Counter::rays_cut, 1);
}

/// Counts a photon at its end. `entries` as of Contributions, and `entries.raise(i, value)` raises entry i to at least
/// that.
template <class Entries>
THOR_FN void count_end(const TallyPlan& plan, const Photon& photon, Entries entries) {
  const std::uint64_t light = rounded(photon.weight * plan.quanta_per_light);
  const int fate = fate_index(photon.fate);
  entries.add(fate, 1);
  entries.add(int(Counter::light_escaped) + fate, light);
  entries.add(entry_of(photon.generator, GeneratorCounter::light_escaped) + fate, light);
  entries.add(int(Counter::scatterings), std::uint64_t(photon.scatterings));
  entries.add(int(Counter::followed), std::uint64_t(photon.followed));
  entries.add(int(Counter::jumps), std::uint64_t(photon.jumps));
  entries.add(int(Counter::steps), std::uint64_t(photon.steps));
  entries.raise(int(Counter::longest), std::uint64_t(photon.scatterings));
  const double events = double(photon.steps) + double(photon.jumps) + 1;  // no more than that
  const double sent = photon.weight * plan.quanta_per_light / double(1ull << sent_bits) * events;
  entries.add(int(Counter::light_sent), std::uint64_t(min(sent, 0x1p60)) + 1);
  count_in_outputs(plan, photon, entries);
}

}  // namespace THOR_ISA
}  // namespace thor
