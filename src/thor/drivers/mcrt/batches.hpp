#pragma once
#include "thor/comm/world.hpp"
#include "thor/drivers/mcrt/kernels.hpp"
#include "thor/drivers/mcrt/watch.hpp"

namespace thor {

/// Photons with consecutive ids.
using Ids = Pool::Block;

/// The photons that a run has counted so far, and those that it has not: what it needs to go on. A photon carries the
/// weight that it would have alone (for_one_photon), and light is shared by their number when it is written: so the
/// same photons give the same sample however many were asked for.
///
/// A photon is counted in quanta that depend on its id alone: 2^(b - 62) of the mean weight for ids below 2^b, with b =
/// 22 where no photon is much brighter than the others, and twice as much with each doubling of the id. So a batch ends
/// where the quanta change; its light has room in 64 bits, and that of all batches in the 128 of a Tally.
struct Sample {
  Tally tally;
  int first_octave = 30;        ///< b
  std::uint64_t next = 0;       ///< ids from here on have not been started,
  std::vector<Ids> missing{};   ///< nor have these before it
  bool known = true;            ///< whether that is all
  double seconds = 0;           ///< of transport, without that of this process
  std::uint64_t continued = 0;  ///< number of times that photons were added to a file
  std::uint64_t requested = 0;  ///< photons that were to be there, of a file
  std::uint64_t look = 0;       ///< photons at which the error of `until` is to be looked at next; 0: not known

  /// Number of doublings of the quanta of a photon.
  int doublings(std::uint64_t id) const;
  /// Runs of ids that have the same quanta.
  std::vector<Ids> octaves(Ids ids) const;
  /// Puts ids back that have not been started; `end` is the first that was not to be.
  void put_back(std::vector<Ids> left, std::uint64_t end);
  bool in_flight() const { return tally.unfinished() > 0; }
};

/// One without photons.
Sample build_sample(const config::Config& config, const Setup& setup);

/// Keeps what a run has counted every so often, so that little is lost where it ends without warning.
struct Checkpoints {
  double interval = 0;                             ///< [s]; 0: none
  std::function<void(std::uint64_t end)> write{};  ///< of a run that is to have the photons before `end`
  double last = 0;                                 ///< time of the last one [s of the run]
};

/// What runs batches, and who looks on.
struct Batches {
  const Kernels& kernels;
  Watch& watch;
  const Sink& sink;
  const comm::World& world;
  DomainOptions domains{};
  BorderTimes* traffic = nullptr;  ///< of a run on domains, summed over all ranks
  Checkpoints* checkpoints = nullptr;

  /// Runs all photons before `end` that the sample does not have. False if the run was stopped before. A batch that was
  /// cut with photons in flight is biased: with `whole` it is dropped if there were photons before it, and a batch has
  /// no more photons than this process has run before, so that at most half of the work is lost; with checkpoints it
  /// takes about as long as there is between two of them.
  bool run(Sample& sample, std::uint64_t end, bool whole) const;
  /// At all ranks but the first, whose run() it takes part in until end() is called there.
  void serve(Tally& tally) const;
  void end() const;

 private:
  /// Collective: runs a batch; at the first rank the tally has the photons of all, and the ids that were not started
  /// are returned.
  std::vector<Ids> run_batch(Ids ids, int doublings, Tally& tally, bool may_drop = false) const;
  /// Collective.
  void add_times(const BorderTimes& own) const;
  std::uint64_t most_in_batch() const;
  /// Photons of a batch on domains, whose light in bins waits until all have ended: as many as peel.memory has room
  /// for, by what those of the last batch needed.
  std::uint64_t most_joined(const Tally& tally, std::uint64_t last) const;
  bool keeps() const { return checkpoints && checkpoints->interval > 0; }
};

}  // namespace thor
