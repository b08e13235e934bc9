#pragma once
#include "thor/outputs/frequency_axis.hpp"
#include "thor/transport/photon.hpp"

namespace thor {

/// A luminosity in units of a tally's quanta, and its square.
struct Quanta {
  std::uint64_t weight, square;
};

/// A histogram of luminosity over frequency, of photons that escaped, were absorbed or stopped, or of all as they were
/// emitted: as plain data, with its cells in a tally: the light beyond the range, the sums, the sums of squares.
struct SpectrumBins {
  FrequencyAxis frequency;
  config::Axis axis;
  config::Fate of;
  double low, high;
  int bins;
  int first;  ///< its first cell

  int cells() const { return 1 + 2 * bins; }
  bool operator==(const SpectrumBins&) const = default;
};

inline namespace THOR_ISA {

/// Counts a photon, with its light at emission and at the end; `cells.add(i, value)` adds to cell i.
template <class Cells>
THOR_FN void count_in_spectrum(const SpectrumBins& s, const Photon& photon, Quanta initial, Quanta final,
                               Cells& cells) {
  const bool emitted = s.of == config::Fate::emitted;
  if (!emitted && int(s.of) != int(photon.fate)) return;
  const Quanta quanta = emitted ? initial : final;
  const double frequency = emitted                         ? photon.frequency_initial
                           : s.of == config::Fate::stopped ? photon.frequency_scattered
                                                           : photon.frequency_final;
  const double value = axis_value(s.frequency, s.axis, frequency);
  const double place = (value - s.low) / (s.high - s.low) * double(s.bins);
  if (place >= 0 && place < double(s.bins)) {
    const int bin = static_cast<int>(place);
    cells.add(s.first + 1 + bin, quanta.weight);
    cells.add(s.first + 1 + s.bins + bin, quanta.square);
  } else {
    cells.add(s.first, quanta.weight);
  }
}

}  // namespace THOR_ISA
}  // namespace thor
