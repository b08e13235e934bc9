#pragma once
#include <atomic>
#include <span>

#include "thor/parallel/batch.hpp"
#include "thor/parallel/border.hpp"

namespace thor::cpu {

/// The light that the photons of one thread send towards the observers of a run. That of births is the same for all;
/// who follows the rays, and makes those of scatterings and jumps, is up to a processor or a device.
template <class Real>
class RaySender {
 public:
  /// What a thread has for it.
  struct Thread {
    const Setting<Real>& setting;
    const Border<Real>* border;  ///< null: all gas is here
    typename Border<Real>::Outbox& outbox;
    int lanes;                        ///< photons that are moved together
    std::span<const Origin> origins;  ///< of the photon in each lane
    std::string_view isa;
    TallyPart& tally;
    const std::atomic<bool>& abort;
  };

  explicit RaySender(const Thread& thread);
  virtual ~RaySender() = default;

  /// At a border: the part that photons and rays are in from now on. No ray may be waiting.
  void enter(const typename Border<Real>::Part& part) {
    part_ = &part, problem_ = &part.problem, emitter_ = part.emitter.view();
  }
  /// The light of a photon at its birth.
  void emit(const Origin& origin);

  /// Where the lanes log their events; null: they are moved elsewhere.
  virtual EventLog<Real>* log() = 0;
  /// After the lanes have been moved: takes their events.
  virtual void look() = 0;
  /// The photon of a lane has ended.
  virtual void end(int lane) = 0;
  /// A ray that comes from another part.
  virtual void receive(const Traveller<Real>& ray) = 0;
  /// Traces the rays of all events that wait.
  virtual void trace() = 0;

 protected:
  /// Lets a ray wait, which has begun in a cell and is in a lane of `from` now.
  virtual void wait(const LaneArrays<Real>& from, int lane, const CellIndex& begun, const Ray<Real>& ray) = 0;
  /// Sends a ray on that begins in another part, as that of a jump that ends there or a beam that enters there.
  bool begins_elsewhere(const LaneArrays<Real>& from, int lane, const CellIndex& begun, const Ray<Real>& ray);
  void see(const Ray<Real>& ray, double optical_depth, Phase end);

  const AnyProblem<Real>* problem_;
  typename Border<Real>::Outbox& outbox_;
  const typename Border<Real>::Part* part_ = nullptr;
  EmitterView<Real> emitter_;
  const Observers& observers_;
  const HistoryKernel<Real>& history_;
  const std::span<const Origin> origins_;
  TallyPart& tally_;

 private:
  std::vector<double> memory_;
  const LaneArrays<Real> born_;  ///< one lane
};

}  // namespace thor::cpu
