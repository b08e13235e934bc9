#pragma once
#include <array>

#include "thor/parallel/cpu/ray_sender.hpp"
#include "thor/transport/fuse.hpp"

namespace thor::cpu {

/// The rays of one thread, on a processor: the lanes log their events, each event becomes a ray for every observer that
/// may see it, a pack of them at a time, and rays are traced a thousand at a time.
template <class Real>
class Peeler final : public RaySender<Real> {
 public:
  explicit Peeler(const typename RaySender<Real>::Thread& thread);

  EventLog<Real>* log() override { return &log_; }
  void look() override;
  /// Closes the groups of fused rays of the photon.
  void end(int lane) override;
  void receive(const Traveller<Real>& ray) override;
  void trace() override;

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
  void wait(const LaneArrays<Real>& from, int lane, const CellIndex& begun, const Ray<Real>& ray) override;

  using RaySender<Real>::problem_, RaySender<Real>::outbox_, RaySender<Real>::part_, RaySender<Real>::emitter_,
      RaySender<Real>::observers_, RaySender<Real>::history_, RaySender<Real>::origins_, RaySender<Real>::tally_;
  const int stride_;
  const MarchKernel<Real>& kernel_;
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
