#pragma once
#include <optional>
#include <span>
#include <vector>

#include "thor/comm/world.hpp"
#include "thor/io/array/input.hpp"
#include "thor/io/array/output.hpp"
#include "thor/outputs/histories.hpp"
#include "thor/outputs/tally_plan.hpp"
#include "thor/outputs/trust.hpp"

namespace thor {

/// The light of an output [erg/s].
struct OutputLight {
  std::string type, name;
  config::Fate of;
  double within, beyond;  ///< light within and beyond the range
  bool observed;          ///< what an observer sees
  double leaves;          ///< light of its generators that leaves the gas
  double trusted;         ///< share of the light in bins whose errors can be trusted (outputs/trust.hpp); 1: no errors
};

class TallyPart;

/// Of what was counted, to tell whether the disk still has it.
std::string hash_of_entries(std::span<const std::uint64_t> entries);

__extension__ typedef unsigned __int128 Wide;  ///< sum of a counter over all batches

/// Which error of an output: that of all its light, of its brightest bin, or of a typical bin.
enum class ErrorOf { total, peak, bin_median };

/// What a run has counted: photons by fate, their light, and the outputs. See TallyPlan.
///
/// A run may count in batches. Light of photons by fate is counted in quanta that are larger in later ones (2^k of the
/// first): an entry has 64 bits, which hold the light of one batch, and between batches it is added to a sum of 128
/// bits. Bins have one quantum for all photons. Sums are exact, so they depend on which photons were counted and not on
/// how these were spread over batches.
class Tally {
 public:
  /// Number of entries that each thread has for itself (1 MiB): the counters, and as many outputs as fit, the smallest
  /// first. The entries of larger outputs are shared.
  static constexpr std::int64_t most_own = 1 << 17;

  /// For photons whose weights sum up to `luminosity` and their squares to `luminosity_squared`.
  Tally(std::vector<AnyOutput> outputs, const OutputContext& context, double luminosity, double luminosity_squared,
        int generators = 1);

  /// Counts a photon that starts with this weight, of which `left` is not absorbed at birth.
  void start(double weight, double left, int generator = 0);
  void accept(const Photon& photon);  ///< counts a photon at its end
  void merge(const Tally& other);     ///< adds the entries of another tally of the same plan
  /// Adds `own` entries of the plan, in `copies` neighbouring parts.
  void merge_own(const std::uint64_t* parts, int copies);
  /// Adds shared entries, `from` an entry on that is a multiple of bin_entries behind the own ones.
  void merge_shared(std::int64_t from, std::span<const std::uint64_t> shared);
  void merge(TallyPart& part);  ///< leaves the part empty
  /// Keeps shares of photons that are not known to have ended here.
  void wait_for_others(std::vector<Share>& shares);
  /// Collective: counts the shares that wait; no photon and no ray is on its way on any rank.
  void join_histories(const comm::World& world, int threads);
  std::uint64_t most_waited() const { return waited_; }  ///< shares at that time, of the rank that had most of them
  /// Collective: adds what all ranks have counted in this batch at the first rank, and leaves the others empty.
  void add_at_first(const comm::World& world);
  /// Writes all that was counted; the light of the outputs, as of light_of_outputs().
  std::vector<OutputLight> write(io::ArrayOutput& file) const;

  /// Adds what was counted to what earlier batches have, and counts in 2^doublings of the first quanta from here on.
  /// `may_drop`: drop_batch() may follow.
  void next_batch(int doublings, bool may_drop = false);
  void drop_batch();  ///< forgets what was counted since then
  /// Divides all light by the number of photons that share it, for weights that are those of one photon alone.
  void share_light(std::uint64_t photons) { sharing_ = double(photons); }
  /// Writes the entries with what they need to be read again, and their hashes.
  void write_entries(io::ArrayOutput& file, const std::string& group) const;
  /// Counts on from entries of a tally like this one, before anything else is counted. What is wrong with those of a
  /// file; empty if nothing is.
  std::string read_entries(const io::Input& file, const std::string& group);

  bool operator==(const Tally& other) const;
  bool joins() const;  ///< whether what a photon adds to a bin may come in several parts
  TallyPlan plan() const;
  std::uint64_t operator[](Counter c) const { return std::uint64_t(counter(std::int64_t(c))); }
  std::uint64_t photons() const;  ///< number of those that have a fate, or were cut in flight
  /// Photons and rays that were on their way when the run was cut, so that their light is counted in part.
  std::uint64_t unfinished() const { return (*this)[Counter::in_flight] + (*this)[Counter::rays_in_flight]; }
  double light(Counter c) const { return double(counter(std::int64_t(c))) * quantum_ / sharing_; }
  double light(int generator, GeneratorCounter c) const;
  std::vector<OutputLight> light_of_outputs() const;
  BinnedLight binned(std::size_t output) const;
  /// The relative Monte Carlo error of the first output: of one of its bins, averaged with the light as weight; without
  /// an output that of the escape fraction. 0 where nothing has been counted.
  double error() const;
  /// A relative Monte Carlo error of an output; none where it has no light.
  ///   total       of the sum S of all bins: sqrt(sum s^2 - S^2/N)/S, where N photons add s each, since their number is
  ///               fixed
  ///   peak        of the brightest bin, as its error in the file says
  ///   bin_median  half of the light within the range lies in bins whose relative errors are at most this
  std::optional<double> error(std::size_t output, ErrorOf of) const;
  /// Conservation: every photon started has one fate, and their light and what was absorbed at birth is what was
  /// emitted, to the last quantum.
  bool conserves() const;

 private:
  friend TallyPart;
  OutputLight light_of(std::size_t output, const BinnedLight& binned) const;
  GeneratorRange generators_of(std::size_t output) const;
  double photons_of(std::size_t output) const;  ///< number of those of its generators
  std::int64_t first_bin() const { return (counters_ + bin_entries - 1) / bin_entries * bin_entries; }
  Wide counter(std::int64_t i) const;   ///< of all batches, in the first quanta
  bool is_light(std::int64_t i) const;  ///< whether a counter is in quanta
  /// Calls bin(entry) for those with sums, single(entry) for others, from an entry on to the one before the end.
  void for_each_bin(std::int64_t from, std::int64_t end, const auto& bin, const auto& single) const;
  BinSums sums(std::int64_t entry) const;

  std::vector<AnyOutput> outputs_;
  std::vector<OutputPlan> plans_;
  std::vector<std::size_t> place_;  ///< of each output among the plans
  int generators_;
  std::int64_t counters_ = 0, own_ = 0;          ///< number of counters, and of entries that each thread has for itself
  std::vector<std::uint64_t> entries_;           ///< counters of this batch, and bins
  std::vector<std::uint64_t> before_, carries_;  ///< counters of earlier ones, and their upper halves
  std::vector<std::uint64_t> kept_;              ///< bins as they were before this batch, if that may be dropped
  std::vector<Share> waiting_;
  std::uint64_t waited_ = 0;
  double quantum_, unit_;  ///< the first quantum, and the unit of light of bins
  int doublings_ = 0;
  double sharing_ = 1;  ///< number of photons that share the light
};

/// What one thread counts: in entries of its own, and in the shared ones of the tally that it is a part of.
class TallyPart {
 public:
  explicit TallyPart(Tally& tally);

  void start(double weight, double left, int generator);
  void accept(const Photon& photon);
  void accept(const Seen& seen);  ///< counts light that an observer sees
  /// Whether so many shares wait that they should be joined.
  bool is_crowded() const { return shares_.size() >= room_; }
  std::vector<Share>& shares() { return shares_; }
  /// Counts the shares of all photons but those that are still on their way, or whose rays are.
  void join_histories(std::span<const std::uint64_t> on_their_way);
  /// From here on, light that was sent to this observer is also put into a list.
  void keep(int observer, std::vector<Seen>& list) { kept_ = observer, list_ = &list; }
  /// Counts a ray to an observer; `absorbed`: it ended in thick gas.
  void count_ray(Phase end);
  /// Counts rays that ended in the gas around their events.
  void count_hidden(std::uint64_t rays);

 private:
  friend Tally;
  TallyPlan plan_;
  std::vector<std::uint64_t> own_;
  std::uint64_t* shared_;
  std::vector<Share> shares_;
  std::size_t room_ = 1 << 15;
  int kept_ = -1;
  std::vector<Seen>* list_ = nullptr;
};

}  // namespace thor
