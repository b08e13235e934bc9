#pragma once
#include "thor/outputs/spectrum.hpp"

/// Counts and sums of light in integers. Light is counted in quanta, 2^-62 of all that the sources emit, so that sums
/// are exact and the same in any order: for any number of threads and lanes, on a CPU or a device. (A photon of a run
/// of 1e9 is 4e9 quanta: its weight is rounded to 1e-10.)
namespace thor {

/// The cells of a tally, before those of the generators and the spectra. Fates are in the order of their table
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
  light_unresolved,  ///< of it: absorbed at birth, on scales that are not resolved
  scatterings,
  steps,
  longest,  ///< scatterings of the longest history: a maximum, not a sum
  count
};
static_assert(int(Counter::in_flight) == fate_index(Phase::fly) && int(Counter::light_escaped) == fate_count);

/// The cells of each generator, which follow.
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

/// How to count: plain data.
struct TallyPlan {
  double quanta_per_light, quanta_per_square;
  const SpectrumBins* spectra;
  int spectra_count;
  int cells;  ///< in all
};

inline namespace THOR_ISA {

THOR_FN int cell_of(int generator, GeneratorCounter counter) {
  return int(Counter::count) + generator * int(GeneratorCounter::count) + int(counter);
}

THOR_FN Quanta quanta_of(const TallyPlan& plan, double weight) {
  return {static_cast<std::uint64_t>(weight * plan.quanta_per_light + 0.5),
          static_cast<std::uint64_t>(weight * weight * plan.quanta_per_square + 0.5)};
}

/// A photon that is emitted with a weight, and of which `left` is not absorbed at birth.
template <class Cells>
THOR_FN void count_start(const TallyPlan& plan, double weight, double left, int generator, Cells cells) {
  const std::uint64_t light = quanta_of(plan, weight).weight;
  const std::uint64_t unresolved = light - quanta_of(plan, left).weight;
  cells.add(int(Counter::started), 1);
  cells.add(int(Counter::light_emitted), light);
  cells.add(cell_of(generator, GeneratorCounter::started), 1);
  cells.add(cell_of(generator, GeneratorCounter::light_emitted), light);
  if (unresolved > 0) {
    cells.add(int(Counter::light_unresolved), unresolved);
    cells.add(cell_of(generator, GeneratorCounter::light_unresolved), unresolved);
  }
}

/// `cells.add(i, value)` adds to cell i, `cells.raise(i, value)` raises it to at least that.
template <class Cells>
THOR_FN void count_end(const TallyPlan& plan, const Photon& photon, Cells cells) {
  const Quanta initial = quanta_of(plan, photon.weight_initial), final = quanta_of(plan, photon.weight);
  const int fate = fate_index(photon.fate);
  cells.add(fate, 1);
  cells.add(int(Counter::light_escaped) + fate, final.weight);
  cells.add(cell_of(photon.generator, GeneratorCounter::light_escaped) + fate, final.weight);
  cells.add(int(Counter::scatterings), std::uint64_t(photon.scatterings));
  cells.add(int(Counter::steps), std::uint64_t(photon.steps));
  cells.raise(int(Counter::longest), std::uint64_t(photon.scatterings));
  for (int i = 0; i < plan.spectra_count; ++i) count_in_spectrum(plan.spectra[i], photon, initial, final, cells);
}

}  // namespace THOR_ISA
}  // namespace thor
