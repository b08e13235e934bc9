#pragma once
#include <atomic>
#include <span>

#include "thor/generators/emitter.hpp"
#include "thor/outputs/tally.hpp"
#include "thor/parallel/cpu/kernel.hpp"
#include "thor/transport/any_problem.hpp"
#include "thor/transport/observers.hpp"

namespace thor::cpu {

/// The light that the photons of one thread send towards the observers of a run: the lanes log their events, each event
/// becomes a ray for every observer that may see it, and rays are traced a thousand at a time.
template <class Real>
class Peeler {
 public:
  /// `lanes`: photons that are moved together.
  Peeler(const AnyProblem<Real>& problem, const EmitterView<Real>& emitter, const Observers& observers, int lanes,
         std::string_view isa, TallyPart& tally, const std::atomic<bool>& abort);

  EventLog<Real>* log() { return &log_; }
  /// The light of a photon at its birth.
  void emit(const Origin& origin);
  /// Takes the events out of the log; `origins`: of the photon in each lane.
  void look(std::span<const Origin> origins);
  /// Traces the rays that are waiting.
  void trace();

 private:
  /// What a waiting ray stands for.
  struct Waiting {
    std::uint64_t id;
    int observer;
    double light;  ///< at its start
    double end;    ///< optical depth at which it ends
    double position[3];
  };
  static constexpr int room = 1024, events = 64;

  /// The events of the log that send rays, scatterings and jumps each in whole packs.
  const EventLog<Real>& sort_events(std::span<const Origin> origins);
  double end_of(const RayKey& key) const { return history_.end_of_ray(observers_.rules, key); }
  void wait(const LaneArrays<Real>& from, int lane, const Origin& origin, int observer, double weight, double end);
  void see(const Waiting& ray, double optical_depth, double frequency, Phase end);

  const AnyProblem<Real>& problem_;
  const EmitterView<Real> emitter_;
  const Observers& observers_;
  const int stride_;
  const MarchKernel<Real>& kernel_;
  const HistoryKernel<Real>& history_;
  TallyPart& tally_;
  const std::atomic<bool>& abort_;
  std::vector<double> log_memory_, sorted_memory_, pack_memory_, trace_memory_, queue_memory_;
  EventLog<Real> log_{}, sorted_{};
  std::vector<std::uint32_t> thinning_;     ///< of the photon in each lane
  std::vector<int> place_, jumps_;          ///< of each event in the log; of those that are jumps
  LaneArrays<Real> pack_, traced_, queue_;  ///< rays that are made together, traced together, and wait
  std::vector<Waiting> waiting_;
  std::vector<Real> weights_;
  std::vector<StreamKey> keys_;
};

}  // namespace thor::cpu
