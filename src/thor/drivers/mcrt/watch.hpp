#pragma once
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "thor/comm/dealer.hpp"
#include "thor/drivers/options.hpp"
#include "thor/parallel/control.hpp"
#include "thor/transport/pool.hpp"

namespace thor {

/// When and how a run is stopped.
struct TimeLimits {
  double max_walltime = 0;           ///< seconds; 0: none
  double drain = 5;                  ///< after a signal or that limit, how long photons in flight may go on [s]
  std::optional<double> max_time{};  ///< after this no photon is started, and those in flight go on to their end [s]
  std::optional<Hold> hold{};
};

/// Watches the batches of a run from a thread of its own: progress, signals, limits.
class Watch {
 public:
  enum class Stop { none, signal, walltime, max_time };  ///< a lower one comes first

  Watch(ProgressMode progress, const TimeLimits& limits);
  ~Watch();

  /// A batch of photons, watched while this object exists.
  class Batch {
   public:
    Batch(Watch& watch, Pool& pool, Control& control, comm::Dealer& dealer);
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

   private:
    Watch& watch_;
  };

  void expect(std::uint64_t photons);                   ///< number in all batches
  std::uint64_t finished() const { return finished_; }  ///< number in all batches that have ended
  Stop stopped() const { return stop_; }
  double seconds() const { return progress_.seconds(); }
  /// Number of photons that may be started now.
  std::uint64_t allowed() const;

 private:
  void loop();
  void look();
  void show();
  void stop(Stop why);
  bool is_ready() const;  ///< as Hold says
  void tell_others();     ///< exchanges news with the other ranks

  const TimeLimits limits_;
  Progress progress_;
  std::uint64_t finished_ = 0, own_ = 0, scatterings_ = 0, longest_ = 0;  ///< of earlier batches; `own_`: photons here
  Pool* pool_ = nullptr;
  Control* control_ = nullptr;
  comm::Dealer* dealer_ = nullptr;
  std::uint64_t told_ = 0,
                of_all_ = 0;  ///< photons of the batch that have ended: here, as others know, and in all ranks
  double closed_at_ = -1;
  std::atomic<Stop> stop_{Stop::none};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace thor
