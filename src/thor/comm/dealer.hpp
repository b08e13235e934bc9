#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "thor/comm/world.hpp"

namespace thor::comm {

/// Deals the ids of a batch to the ranks, in windows that shrink towards the end, so that fast and slow ranks finish
/// together. The first rank keeps what is left, and answers the others from a thread of its own. It also passes on what
/// all must know: how many photons have ended, and whether the run is to be stopped. Where photons travel between
/// ranks, it finds out when all have ended.
class Dealer {
 public:
  struct Window {
    std::uint64_t next = 0, end = 0;
    bool more = false;  ///< empty, and there may be ids later
  };
  struct News {
    std::uint64_t finished;  ///< photons of all ranks that have ended
    int stop;                ///< why the run is to be stopped, the lowest number of all ranks; 0: it is not
  };
  /// A rank between which and others photons travel.
  struct State {
    std::uint64_t finished = 0;               ///< photons that have ended here
    std::uint64_t posted = 0, delivered = 0;  ///< travellers
    std::uint64_t waiting = 0;                ///< travellers that wait to be followed
    bool idle = false;                        ///< nothing is followed, nor waits to be
  };
  struct Orders {
    bool done = false;          ///< all ranks are idle, and nothing is on its way
    std::uint64_t copies = 0;   ///< number of copies of domains that ranks have been told to take
    std::uint64_t waiting = 0;  ///< travellers that wait in all ranks
  };
  /// A rank that takes a copy of what another one has too much of.
  struct Relief {
    int busy = 0, idle = 0;
  };

  /// Collective: for ids from `all.next` to before `all.end`. `in_flight`: photons that may have been dealt and not yet
  /// ended; `relieves`: ranks that have nothing to do take over from others; `most`: ids that are dealt before a stop.
  Dealer(const World& world, Window all, std::uint64_t in_flight = ~0ull, bool relieves = false,
         std::uint64_t most = ~0ull);
  ~Dealer();
  Dealer(const Dealer&) = delete;
  Dealer& operator=(const Dealer&) = delete;

  /// Ids that this rank may start: a quarter of an equal share of what is left, or `least` if that is more and there
  /// are as many; none at the end, or after a stop.
  Window take(std::uint64_t least = 1);
  /// Tells how many photons have ended here since the last time, and why this rank is to be stopped, if it is.
  News report(std::uint64_t finished, int stop);
  /// Tells how this rank stands, where photons travel. To be asked again and again until all is done.
  Orders report(const State& state);
  /// The copy of this number.
  Relief relief(std::uint64_t number);
  /// Collective, at the end: the first rank waits for the others, and gets the ids that no rank took.
  Window finish();

 private:
  enum Kind : std::uint64_t { take_kind, report_kind, state_kind, relief_kind, done_kind };
  Words reply(int rank, const Words& question);
  Words ask(const Words& question);
  bool all_is_over(int rank, const State& state, std::uint64_t wave);
  void watch(int rank, bool idle);
  void relieve(int rank);

  const World& world_;
  const std::uint64_t first_;
  std::uint64_t next_, end_, finished_ = 0;
  const std::uint64_t in_flight_;
  const bool relieves_;
  const std::uint64_t most_;
  int stop_ = 0, done_ = 0;
  /// Two waves of reports of idle ranks with the same counts, where all that was posted was delivered: then nothing can
  /// have been on its way between them (Mattern 1987).
  std::vector<State> states_;
  std::vector<std::uint64_t> waves_;  ///< the wave in which each rank has reported last
  std::uint64_t wave_ = 1, posted_before_ = ~0ull, seen_wave_ = 0;
  std::vector<Relief> reliefs_;
  std::vector<int> partner_;                   ///< of each rank, the one that it relieves; -1: none yet
  std::vector<std::uint64_t> delivered_then_;  ///< of each rank, when it was last told to
  /// How long a rank has had nothing to do, less what it has had to do meanwhile.
  struct Leisure {
    std::chrono::steady_clock::time_point seen = std::chrono::steady_clock::now();
    std::chrono::duration<double> idle{0};
  };
  std::vector<Leisure> leisure_;
  std::mutex mutex_;
  std::jthread thread_;  ///< of the first rank
};

}  // namespace thor::comm
