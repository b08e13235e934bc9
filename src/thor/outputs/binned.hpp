#pragma once
#include <functional>
#include <string>
#include <vector>

#include "thor/outputs/frequency_axis.hpp"
#include "thor/outputs/observer.hpp"
#include "thor/random/seed.hpp"
#include "thor/transport/photon.hpp"

/// What every binned output is made of. A bin has sums over histories: of s, all light that one photon adds to it, of
/// s^2 and of s^4. They are integers, so that they are the same in any order, for any number of threads and lanes, on a
/// CPU or a device; each has a quantum of its own. Squares and fourth powers are rounded at random, by a hash of the
/// photon, so that what is less than a quantum counts in the mean.
///
/// With w the unit of light, sum W^2/sum W of the weights W (of a run, the mean weight times a power of two):
///   s     in 2^-32 w, 74 bits: the light of 4e12 photons
///   s^2   in 2^-44 w^2, 86 bits: an error is good to 1e-3 in a bin of 20 photons that add 2e-6 w each
///   s^4   in 2^-52 w^4, 96 bits: a VOV is good to 10 % in a bin of 20 photons that add 2e-4 w each
/// A sum that has no room stays at half of its range: the error, or the VOV, is then unknown (outputs/trust.hpp).
namespace thor {

namespace io {
class ArrayOutput;
}
namespace config {
template <class T>
class Section;
}

/// The sums of a bin as they are in the entries of a tally: three numbers, and what they have above 64 bits.
struct BinSums {
  std::uint64_t light = 0, square = 0, fourth = 0;
  std::uint64_t high = 0;  ///< of the light 10 bits, of the squares 22, of the fourth powers 32
};
inline constexpr int bin_entries = 4;

/// The bins of an output and their entries in a tally, plain data: those of each bin, of the sum of all bins where a
/// photon adds to several of them, and last the light beyond them. An output without errors has one entry a bin.
struct Bins {
  std::int64_t count = 0;  ///< number of bins
  bool errors = true;
  // Set by the tally:
  bool joined = false;          ///< light of a photon comes in several parts
  std::int64_t first = 0;       ///< first entry in the tally
  double quanta_per_light = 0;  ///< 2^32/w

  THOR_FN std::int64_t entry(std::int64_t bin) const { return first + (errors ? bin_entries : 1) * bin; }
  THOR_FN std::int64_t beyond() const { return errors ? entry(count + 1) : entry(count); }
  /// Number of entries, so that those of a bin are in one piece of memory.
  std::int64_t entries() const { return (beyond() - first) / bin_entries * bin_entries + bin_entries; }
  bool operator==(const Bins&) const = default;
};

/// What a binned output has counted, bin by bin [erg/s].
struct BinnedLight {
  std::vector<double> light;
  std::vector<float> relative_error, vov;  ///< variance of the variance (outputs/trust.hpp)
  double beyond = 0;
  double total = 0, total_error = 0;  ///< of all light in the bins, which share photons

  bool has_errors() const { return !relative_error.empty(); }
  double error(std::size_t bin) const { return light[bin] * double(relative_error[bin]); }
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

/// Writes the light of the bins and its errors, both over per(bin), with what tells whether these can be trusted.
void write_bins(io::ArrayOutput& file, const std::string& group, const std::string& array,
                const std::vector<std::uint64_t>& shape, const std::string& unit, const std::string& meaning,
                BinnedLight light, const std::function<double(std::size_t)>& per);
/// Writes the attributes that the group of every binned output has.
void write_attributes(io::ArrayOutput& file, const std::string& group, config::Fate of, const std::string& generator,
                      const FrequencyAxis& frequency, const BinnedLight& light, const Distances& distances = {});
/// Writes those of an output that belongs to an observer.
void write_attributes(io::ArrayOutput& file, const std::string& group, const config::Sight& sight, const SkyFrame& sky);

inline namespace THOR_ISA {

THOR_FN bool contains(const GeneratorRange& range, int generator) {
  return generator >= range.first && generator < range.end;
}

THOR_FN std::uint64_t rounded(double quanta) { return static_cast<std::uint64_t>(quanta + 0.5); }

/// The parts of the upper entry of a bin, each with its highest bit: a sum that has reached it stays there.
inline constexpr std::uint64_t high_light = 0x3ffull << 54, high_square = 0x3fffffull << 32,
                               high_fourth = 0xffffffffull;
inline constexpr std::uint64_t full_light = 1ull << 63, full_square = 1ull << 53, full_fourth = 1ull << 31;

/// A bit pattern for a photon, the same for all bins: outputs of parts of the photons add up to that of all.
THOR_FN std::uint64_t rounding_word(std::uint64_t id) { return mix64(mix64(id ^ 0x646974686572ull)); }

/// The sums of one history that adds `share` of 2^-32 w to a bin.
THOR_FN BinSums sums_of(std::uint64_t share, std::uint64_t id) {
  const std::uint64_t word = rounding_word(id);
  const double s = static_cast<double>(share), s2 = s * s;
  const auto add = [](double value, std::uint64_t bits, int at, double most, std::uint64_t& low, std::uint64_t& high) {
    const double whole = min(value, most) + static_cast<double>(bits & 0x1fffffffu) * 0x1p-29;
    const auto upper = static_cast<std::uint64_t>(whole * 0x1p-64);
    low = static_cast<std::uint64_t>(whole - static_cast<double>(upper) * 0x1p64);
    high += upper << at;
  };
  BinSums sums;
  sums.light = share;
  add(s2 * 0x1p-20, word >> 4, 32, 0x1p85, sums.square, sums.high);
  add(s2 * s2 * 0x1p-76, word >> 33, 0, 0x1p95, sums.fourth, sums.high);
  return sums;
}

/// Adds to the sums of a bin; `entries.add(i, value)` adds to entry i of the tally and returns what was there.
template <class Entries>
THOR_FN void add_sums(Entries& entries, std::int64_t at, const BinSums& more) {
  const std::uint64_t light = entries.add(at, more.light), square = entries.add(at + 1, more.square);
  const std::uint64_t fourth = entries.add(at + 2, more.fourth);
  const auto carry = [](std::uint64_t then, std::uint64_t value) { return std::uint64_t(then + value < then); };
  const std::uint64_t high =
      more.high + (carry(light, more.light) << 54) + (carry(square, more.square) << 32) + carry(fourth, more.fourth);
  if (high == 0) return;
  const std::uint64_t before = entries.add(at + 3, high);
  std::uint64_t undone = 0;
  if (before & full_light) undone += high & high_light;
  if (before & full_square) undone += high & high_square;
  if (before & full_fourth) undone += high & high_fourth;
  if (undone != 0) entries.add(at + 3, 0 - undone);
}

/// What one photon adds to the bins of one output; `entries` as of add_sums(), and `entries.join(id, entry, share)`
/// lets a part of what a photon adds to a bin wait for the others.
template <class Entries>
class Contributions {
 public:
  THOR_FN Contributions(const Bins& bins, std::uint64_t id, Entries& entries)
      : bins_(bins), id_(id), entries_(entries) {}

  /// Adds luminosity [erg/s] to a bin, or to the light beyond the range if `bin` is negative.
  THOR_FN void add(std::int64_t bin, double light) {
    const double quanta = light * bins_.quanta_per_light;
    const std::uint64_t share = rounded(quanta < 0x1p61 ? quanta : 0x1p61);
    if (bin < 0 || !bins_.errors) {
      const std::int64_t entry = bin < 0 ? bins_.beyond() : bins_.entry(bin);
      entries_.add(entry, (share + (rounding_word(id_ ^ mix64(share)) & 0xfff)) >> 12);
    } else if (bins_.joined) {
      entries_.join(id_, bins_.entry(bin), share), entries_.join(id_, bins_.entry(bins_.count), share);
    } else {
      add_sums(entries_, bins_.entry(bin), sums_of(share, id_));
    }
  }

 private:
  const Bins& bins_;
  std::uint64_t id_;
  Entries& entries_;
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
