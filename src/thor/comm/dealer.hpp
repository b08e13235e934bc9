#pragma once
#include <cstdint>
#include <mutex>
#include <thread>

#include "thor/comm/world.hpp"

namespace thor::comm {

/// Deals the ids of a batch to the ranks, in windows that shrink towards the end, so that fast and slow ranks finish
/// together. The first rank keeps what is left, and answers the others from a thread of its own. It also passes on what
/// all must know: how many photons have ended, and whether the run is to be stopped.
class Dealer {
 public:
  struct Window {
    std::uint64_t next = 0, end = 0;
  };
  struct News {
    std::uint64_t finished;  ///< photons of all ranks that have ended
    int stop;                ///< why the run is to be stopped, the lowest number of all ranks; 0: it is not
  };

  /// Collective: for ids from `all.next` to before `all.end`.
  Dealer(const World& world, Window all);
  ~Dealer();
  Dealer(const Dealer&) = delete;
  Dealer& operator=(const Dealer&) = delete;

  /// Ids that this rank may start: a quarter of an equal share of what is left, or `least` if that is more and there
  /// are as many; none at the end, or after a stop.
  Window take(std::uint64_t least = 1);
  /// Tells how many photons have ended here since the last time, and why this rank is to be stopped, if it is.
  News report(std::uint64_t finished, int stop);
  /// Collective, at the end: the first rank waits for the others, and gets the ids that no rank took.
  Window finish();

 private:
  enum Kind : std::uint64_t { take_kind, report_kind, done_kind };
  Words reply(int rank, const Words& question);
  Words ask(const Words& question);

  const World& world_;
  std::uint64_t next_, end_, finished_ = 0;
  int stop_ = 0, done_ = 0;
  std::mutex mutex_;
  std::jthread thread_;  ///< of the first rank
};

}  // namespace thor::comm
