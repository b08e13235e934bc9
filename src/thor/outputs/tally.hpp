#pragma once
#include <vector>

#include "thor/io/array/output.hpp"
#include "thor/outputs/tally_plan.hpp"

namespace thor {

/// The light of an output [erg/s].
struct OutputLight {
  std::string type, name;
  config::Fate of;
  double within, beyond;  ///< light within and beyond the range
  bool observed;          ///< what an observer sees
};

class TallyPart;

/// What a run has counted: photons by fate, their light, and the outputs. See TallyPlan.
class Tally {
 public:
  /// Number of cells that each thread has for itself (1 MiB): the counters, and as many outputs as fit, the smallest
  /// first. The cells of larger outputs are shared.
  static constexpr std::int64_t most_own = 1 << 17;

  /// For photons whose weights sum up to `luminosity` and their squares to `luminosity_squared`.
  Tally(std::vector<AnyOutput> outputs, const OutputContext& context, double luminosity, double luminosity_squared,
        int generators = 1);

  /// Counts a photon that starts with this weight, of which `left` is not absorbed at birth.
  void start(double weight, double left, int generator = 0);
  void accept(const Photon& photon);  ///< counts a photon at its end
  /// Adds the cells of another tally of the same plan, the first of them in `copies` neighbouring parts.
  void merge(const std::uint64_t* parts, int copies = 1);
  void merge(const Tally& other) { merge(other.cells_.data()); }
  void merge(TallyPart& part);  ///< leaves the part empty
  void write(io::ArrayOutput& file) const;

  bool operator==(const Tally& other) const;
  TallyPlan plan() const;
  std::uint64_t operator[](Counter c) const { return cell(std::int64_t(c)); }
  std::uint64_t photons() const;  ///< number of those that have a fate, or were cut in flight
  double light(Counter c) const { return double((*this)[c]) * quantum_; }
  double light(int generator, GeneratorCounter c) const;
  std::vector<OutputLight> light_of_outputs() const;
  BinnedLight binned(std::size_t output) const;
  /// The relative Monte Carlo error of the first output: of one of its bins, averaged with the light as weight; without
  /// an output that of the escape fraction. 0 where nothing has been counted.
  double error() const;
  /// Conservation: every photon started has one fate, and their light and what was absorbed at birth is what was
  /// emitted, to the last quantum.
  bool conserves() const;

 private:
  friend TallyPart;
  std::uint64_t cell(std::int64_t i) const;

  std::vector<AnyOutput> outputs_;
  std::vector<OutputPlan> plans_;
  int generators_;
  std::int64_t own_ = 0;
  std::vector<std::uint64_t> cells_;
  double quantum_, quantum_squared_;
};

/// What one thread counts: in cells of its own, and in the shared ones of the tally that it is a part of.
class TallyPart {
 public:
  explicit TallyPart(Tally& tally);

  void start(double weight, double left, int generator);
  void accept(const Photon& photon);
  void accept(const Seen& seen);  ///< counts light that an observer sees
  /// Counts a ray to an observer that started with this light; `absorbed`: it ended in thick gas.
  void count_ray(Phase end, double light);

 private:
  friend Tally;
  TallyPlan plan_;
  std::vector<std::uint64_t> own_;
  std::uint64_t* shared_;
};

}  // namespace thor
