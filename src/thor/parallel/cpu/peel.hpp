#pragma once
#include <array>
#include <atomic>
#include <span>

#include "thor/parallel/batch.hpp"
#include "thor/parallel/border.hpp"
#include "thor/transport/fuse.hpp"

namespace thor::cpu {

/// The light that the photons of one thread send towards the observers of a run: the lanes log their events, each event
/// becomes a ray for every observer that may see it, a pack of them at a time, and rays are traced a thousand at a
/// time.
template <class Real>
class Peeler {
 public:
  /// `lanes`: photons that are moved together.
  Peeler(const Setting<Real>& setting, const Border<Real>* border, typename Border<Real>::Outbox& outbox, int lanes,
         std::string_view isa, TallyPart& tally, const std::atomic<bool>& abort);

  /// At a border: the part that photons and rays are in from now on. No ray may be waiting.
  void enter(const typename Border<Real>::Part& part) { part_ = &part, problem_ = &part.problem; }

  EventLog<Real>* log() { return &log_; }
  /// The light of a photon at its birth, in the dataset that it was started in.
  void emit(const Origin& origin, const void* dataset);
  /// Takes the events out of the log; `origins`: of the photon in each lane.
  void look(std::span<const Origin> origins);
  /// The photon of a lane has ended: its groups of fused rays are closed.
  void end(int lane);
  /// A ray that comes from another part.
  void receive(const Traveller<Real>& ray);
  /// Sends the rays of all events that wait, and traces them.
  void trace();

 private:
  static constexpr int room = 1024, events = 64;

  /// What a ray needs of its photon.
  struct Sender {
    std::uint64_t id;
    double weight;
  };
  /// Events of one kind that wait until a pack is full.
  struct Pack {
    EventLog<Real> log{};
    std::vector<double> memory;
    std::vector<Sender> origins;
    int count = 0;
  };
  /// Scatterings of all lanes that wait until it is known which group they join, and ends of groups among them.
  struct FusePack : Pack {
    std::vector<int> lanes;
  };
  void put(Pack& pack, int i, const Origin& origin, int first, int end);
  void fuse(int observer, int i, int lane, const Origin& origin);
  void end_group(int observer, int lane);
  void fuse_waiting(int observer);
  void close(FuseGroup<Real>& group, int observer);
  void send(Pack& pack, int first, int end);
  void trace_waiting();
  /// Whether a ray that has left a part goes on, here or elsewhere.
  enum class Goes { on, away, nowhere };
  Goes cross(int lane, const Ray<Real>& ray);
  /// Where a ray starts, which is in `pack_`.
  void locate(int lane, double (&position)[3]);
  /// Lets a ray wait, which has started as in `pack_` and is in `from` now.
  void wait(const LaneArrays<Real>& from, int lane, const Ray<Real>& ray);
  void see(const Ray<Real>& ray, double optical_depth, Phase end);

  const AnyProblem<Real>* problem_;
  const Border<Real>* const border_;
  typename Border<Real>::Outbox& outbox_;
  const typename Border<Real>::Part* part_ = nullptr;
  const EmitterView<Real> emitter_;
  const Observers& observers_;
  const int stride_;
  const MarchKernel<Real>& kernel_;
  const HistoryKernel<Real>& history_;
  TallyPart& tally_;
  const std::atomic<bool>& abort_;
  std::vector<double> log_memory_, pack_memory_, moved_memory_, trace_memory_, queue_memory_;
  EventLog<Real> log_{};
  std::vector<Pack> scatterings_, jumps_;  ///< for each observer that steps look at, or one for all
  std::vector<FusePack> fusing_;           ///< for each observer; none: nothing is fused
  std::vector<FuseGroup<Real>> groups_;    ///< of each lane for each observer
  std::vector<std::array<double, 3>> places_;
  std::vector<Real> frequencies_;
  std::vector<std::uint32_t> thinning_;  ///< of the photon in each lane
  LaneArrays<Real> pack_, moved_;        ///< rays that are made together: their starts, and after some segments
  LaneArrays<Real> traced_, queue_;      ///< rays that are traced together, and that wait
  std::vector<Ray<Real>> waiting_;
  std::vector<Real> weights_, ends_;
};

}  // namespace thor::cpu
