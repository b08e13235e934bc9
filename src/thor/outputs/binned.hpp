#pragma once
#include <functional>
#include <string>
#include <vector>

#include "thor/outputs/frequency_axis.hpp"
#include "thor/outputs/observer.hpp"
#include "thor/random/seed.hpp"
#include "thor/transport/photon.hpp"

/// What every binned output is made of. Light is counted in integers, in quanta of 2^-62 of the light of a batch:
/// sums are exact and the same in any order, for any number of threads and lanes, on a CPU or a device.
///
/// What is rounded away: the light that one photon adds to one bin is summed in double precision and rounded once, to
/// the nearest quantum, so at most half a quantum (2^-63 = 1.1e-19 of all light) is lost or gained for each photon and
/// bin: 1e-10 of the light for 1e9 photons, even if each of them were fainter than that. With groups (below) it is half
/// a quantum for each contribution: 1e-7 of the light for 1e12 of them. A bin may hold four times all light: an output
/// that counts light more often than once has to scale it down.
///
/// The squares are integers too, in units of 2^-62 of the sum of the squared weights of a batch, and the same in any
/// order. The square of what one of its N photons adds is good to 1e-6 where that is more than 3.3e-7 sqrt(N) of its
/// weight (1 % of it for N = 1e9); outputs of fainter contributions take groups, which have no squares.
namespace thor {

namespace io {
class ArrayOutput;
}
namespace config {
template <class T>
class Section;
}

/// Number of groups into which photons are sorted by their ids, where the error cannot be found history by history.
inline constexpr int id_groups = 32;

/// The bins of an output and their cells in a tally, plain data: first the light beyond the bins, then the sums, then
/// the sums of squares. `most` is how many bins one photon may add to, all in one call of count(): what it adds to a
/// bin is summed before it is squared, since its contributions are not independent. An output with most = 0, or with
/// `groups`, adds to any number of bins at any time; it has no squares but the sums of each group of photons, whose
/// scatter is the error (itself good to 13 %).
template <int most>
struct Bins {
  std::int64_t count = 0;   ///< number of bins
  bool groups = most == 0;  ///< errors by groups of photons
  // Set by the tally:
  std::int64_t first = 0;  ///< first cell in the tally
  double quantum = 0;      ///< [erg/s]
  double quanta_per_light = 0, quanta_per_square = 0;

  std::int64_t cells() const { return 1 + count * (groups ? id_groups : 2); }
  bool operator==(const Bins&) const = default;
};

/// What a binned output has counted, bin by bin [erg/s].
struct BinnedLight {
  std::vector<double> light, error;
  std::vector<float> vov;  ///< variance of the variance, of errors by groups; else empty (outputs/trust.hpp)
  double beyond = 0;
  std::string error_method;  ///< as in the file
  double total_error = 0;    ///< of all light in the bins, which share photons
};

/// Generators whose photons an output counts, plain data: from the first to the one before the end.
struct GeneratorRange {
  int first = 0, end = 0x7fffffff;  ///< by default all

  bool operator==(const GeneratorRange&) const = default;
};

/// Properties of a run that the plan of an output depends on.
struct OutputContext {
  std::function<FrequencyAxis(const std::string&)> axis;  ///< relative to a transition, "" for the first
  double size = 1;                                        ///< a lane's unit of length [cm]
  std::vector<config::Observer> observers{};
  std::uint64_t seed = 0;
  Distances distances{};
  double hubble = 0;            ///< [1/s]
  std::array<double, 3> box{};  ///< sides of a periodic box [cm]; 0: there is none
  double peak = 1;              ///< of phase functions and cones of sources, over that of light into all directions
  std::vector<std::string> generators{};  ///< their names, those that are equal side by side

  /// The sky that an output looks at; of no observer if it names none.
  SkyFrame sky(const config::Sight& sight) const;
  /// The generators of this name; "" are all.
  GeneratorRange range_of(const std::string& generator) const;
};

namespace config {

/// Photons that an output counts: all as they were emitted, or those of a fate (transport/fates.hpp).
enum class Fate : int { emitted = -1, escaped = Phase::escaped, absorbed = Phase::absorbed, stopped = Phase::stopped };

}  // namespace config

/// A value of an axis in the rest frame of the object, from that of an observer for whom wavelengths are stretched.
double in_rest_frame(config::Axis axis, double value, double stretch);
/// What the edges of an axis are.
std::string meaning_of(config::Axis axis, double stretch);

/// Writes the errors of the bins, in the units of their light, and what tells whether these can be trusted.
void write_errors(io::ArrayOutput& file, const std::string& group, const std::vector<double>& error,
                  const std::vector<std::uint64_t>& shape, const std::string& unit, const BinnedLight& light);
/// Writes the attributes that the group of every binned output has.
void write_attributes(io::ArrayOutput& file, const std::string& group, config::Fate of, const std::string& generator,
                      const FrequencyAxis& frequency, const BinnedLight& light, const Distances& distances = {});
/// Writes those of an output that belongs to an observer.
void write_attributes(io::ArrayOutput& file, const std::string& group, const config::Sight& sight, const SkyFrame& sky);

inline namespace THOR_ISA {

/// The group of a photon. Each block of 32 consecutive ids has one photon in every group, so groups are equally large;
/// which of them is random, since ids are dealt to the sources in a regular order: the remainder of an id, or its
/// product with the golden ratio, would give every group its own sources.
THOR_FN int group_of(std::uint64_t id) { return static_cast<int>((id ^ mix64(id / id_groups)) % id_groups); }
static_assert(id_groups == 1 << 5);

THOR_FN bool contains(const GeneratorRange& range, int generator) {
  return generator >= range.first && generator < range.end;
}

THOR_FN std::uint64_t rounded(double quanta) { return static_cast<std::uint64_t>(quanta + 0.5); }

/// Rounded up or down at random, so that contributions of less than a quantum count in the mean. The draw is a hash of
/// what is added: sums are the same in any order.
THOR_FN std::uint64_t dithered(double quanta, double light, std::uint64_t id, std::int64_t bin) {
  const std::uint64_t word = mix64(mix64(id ^ 0x646974686572ull) ^ to_bits(light) ^ (std::uint64_t(bin) << 32));
  return static_cast<std::uint64_t>(quanta + double(word >> 11) * 0x1p-53);
}

/// Light that an observer sees is that of a source that shines the same in all directions, and may be more than all
/// light: its quanta are 2^-50 of that, and a bin holds 16384 times as much.
inline constexpr int seen_quantum = -50;

/// What one photon adds to the bins of one output; `cells.add(i, value)` adds to cell i of the tally.
template <int most, class Cells>
class Contributions {
 public:
  THOR_FN Contributions(const Bins<most>& bins, std::uint64_t id, Cells& cells) : bins_(bins), id_(id), cells_(cells) {}

  /// Adds luminosity [erg/s] to a bin, or to the light beyond the range if `bin` is negative.
  THOR_FN void add(std::int64_t bin, double light) {
    if (bin < 0 || bins_.groups) {
      const double quanta = light * bins_.quanta_per_light;
      const double bounded = quanta < 0x1p62 ? quanta : 0x1p62;
      const std::int64_t place = bin < 0 ? 0 : 1 + group_of(id_) * bins_.count + bin;
      cells_.add(bins_.first + place, bins_.groups ? dithered(bounded, light, id_, bin) : rounded(bounded));
    } else if constexpr (most > 0) {
      int i = 0;
      while (i < used_ && bin_[i] != bin) ++i;
      if (i == most) close(i = most - 1), light_[i] = 0;  // more bins than the output has promised
      if (i == used_) light_[used_++] = 0;
      bin_[i] = bin;
      light_[i] += light;
    }
  }

  /// To call after the last add().
  THOR_FN void finish() {
    if constexpr (most > 0) {
      for (int i = 0; i < used_; ++i) close(i);
    }
  }

 private:
  THOR_FN void close(int i) {
    cells_.add(bins_.first + 1 + bin_[i], rounded(light_[i] * bins_.quanta_per_light));
    cells_.add(bins_.first + 1 + bins_.count + bin_[i], rounded(light_[i] * light_[i] * bins_.quanta_per_square));
  }

  const Bins<most>& bins_;
  std::uint64_t id_;
  Cells& cells_;
  int used_ = 0;
  static constexpr int room = most + (most == 0);  // an array has at least one element
  std::int64_t bin_[room];
  double light_[room];
};

/// Bin at a place on an axis of unit bins; -1 beyond its ends, and for NaN.
THOR_FN std::int64_t bin_at(double place, std::int64_t bins) {
  return place >= 0 && place < double(bins) ? static_cast<std::int64_t>(place) : -1;
}

/// The part of a photon that an output counts: its light [erg/s] and frequency, if `any`.
struct CountedLight {
  bool any;
  double light, frequency;
};
THOR_FN CountedLight counted_light(config::Fate of, const Photon& photon) {
  if (of == config::Fate::emitted) return {true, photon.weight_initial, photon.frequency_initial};
  const double frequency = of == config::Fate::stopped ? photon.frequency_scattered : photon.frequency_final;
  return {int(of) == int(photon.fate), photon.weight, frequency};
}

}  // namespace THOR_ISA
}  // namespace thor
