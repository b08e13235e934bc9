#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <thread>

#include "thor/comm/dealer.hpp"
#include "thor/comm/mail.hpp"
#include "thor/datasets/medium.hpp"
#include "thor/generators/emitter.hpp"
#include "thor/parallel/cpu/kernel.hpp"
#include "thor/transport/any_problem.hpp"
#include "thor/transport/pool.hpp"
#include "thor/transport/ray.hpp"

namespace thor {

/// The cell of a lane: the integers of its place.
template <class Lanes>
CellIndex cell_of(const Lanes& lanes, int i) {
  const auto& cell = lanes.place.integer;
  return {cell[0][i], cell[1][i], cell[2][i]};
}
template <class Real>
CellIndex cell_of(const Lane<Real>& lane) {
  const auto& cell = lane.place.integer;
  return {cell[0], cell[1], cell[2]};
}
template <class Lanes>
void set_cell(const Lanes& lanes, int i, const CellIndex& cell) {
  using Int = std::remove_reference_t<decltype(lanes.phase[i])>;
  for (std::size_t k = 0; k < 3; ++k) lanes.place.integer[k][i] = Int(cell[k]);
}
template <class Real>
void set_cell(Lane<Real>& lane, const CellIndex& cell) {
  for (std::size_t k = 0; k < 3; ++k) lane.place.integer[k] = IntOf<Real>(cell[k]);
}

/// Lets a lane that departs fly on: in the same part if that holds its cell, which may be so in a periodic box (true),
/// else with its cell of the whole mesh. Nothing is rounded on the way, so that a history is the same, bit for bit,
/// however a mesh is cut.
template <class Get, class Set>
bool arrives(const Partition& partition, int domain, const Get& cell, const Set& set) {
  const CellIndex whole = partition.to_whole(domain, cell());
  const std::optional<CellIndex> here = partition.to_part(domain, whole);
  set(here.value_or(whole));
  return here.has_value();
}
template <class Lanes>
bool arrives(const Partition& partition, int domain, const Lanes& lanes, int i) {
  lanes.phase[i] = Phase::fly;
  return arrives(
      partition, domain, [&] { return cell_of(lanes, i); }, [&](const CellIndex& c) { set_cell(lanes, i, c); });
}
template <class Real>
bool arrives(const Partition& partition, int domain, Lane<Real>& lane) {
  lane.phase = Phase::fly;
  return arrives(
      partition, domain, [&] { return cell_of(lane); }, [&](const CellIndex& c) { set_cell(lane, c); });
}

/// A photon or a ray on its way from one part of a mesh to another. Its cell is that of the whole mesh.
template <class Real>
struct Traveller {
  enum Kind : int { birth, photon, ray };
  Kind kind;
  int domain;  ///< where it is going
  Lane<Real> lane;
  Origin origin;  ///< of a photon; of a birth the id alone
  Ray<Real> burden;
};

/// How photons travel between the parts of a mesh.
struct BorderOptions {
  std::uint64_t in_flight = 0;  ///< photons of all ranks, which bounds the memory of each; 0: automatic
  std::size_t message = 512;    ///< most travellers in a message
  bool no_relief = false;       ///< ranks that have nothing to do take no copies of domains that have too much
};

/// Where the time of a rank went in a run on domains, and what has travelled.
struct BorderTimes {
  double waiting = 0, managing = 0;  ///< seconds of its threads of photons; of the thread of the border
  std::uint64_t travellers = 0, messages = 0, bytes = 0, copies = 0;
};

/// The borders of the parts of a mesh that this process holds: what leaves a part goes to whoever holds the next.
///
/// A thread of its own does all that threads of photons should not wait for: it finds out where ids that are dealt
/// begin, moves the mail, and asks whether all is done.
template <class Real>
class Border {
 public:
  using Any = Traveller<Real>;
  using BuildProblem = std::function<AnyProblem<Real>(const AnyDataset&)>;

  /// A part with the travellers that wait to be followed in it.
  struct Part {
    Part(const Partition& of, GasPart gas, Emitter<Real> light, AnyProblem<Real> of_it)
        : partition(of),
          domain(gas.domain),
          cells(std::move(gas.cells)),
          emitter(std::move(light)),
          problem(std::move(of_it)) {}
    CellIndex to_whole(const CellIndex& here) const { return partition.to_whole(domain, here); }
    std::optional<CellIndex> to_part(const CellIndex& whole) const { return partition.to_part(domain, whole); }

    const Partition& partition;
    const int domain;
    const std::shared_ptr<const CellRecords> cells;
    const Emitter<Real> emitter;
    const AnyProblem<Real> problem;
    std::deque<Any> photons{}, rays{};    ///< that wait; rays come first, as photons make more of them
    std::atomic<std::size_t> waiting{0};  ///< number of both, which threads may look at without the lock
  };

  /// What a thread sends on, many travellers at a time: all threads of a process meet at one lock.
  class Outbox {
   public:
    explicit Outbox(Border* border) : border_(border) {}
    void post(const Any& traveller) {
      travellers_.push_back(traveller);
      if (travellers_.size() >= at_a_time) send();
    }
    void send() {
      if (!travellers_.empty()) border_->post(travellers_);
      travellers_.clear();
      age_ = 0;
    }
    /// Between steps: none waits here for long, nor while a thread has nothing to do.
    void look() {
      if (!travellers_.empty() && (++age_ >= 16 || border_->idle_ > 0)) send();
    }

   private:
    static constexpr std::size_t at_a_time = 64;
    Border* border_;
    std::vector<Any> travellers_;
    int age_ = 0;
  };

  /// `build`: the problem of a part. `workers`: threads that will call wait().
  Border(const comm::World& world, comm::Dealer& dealer, const Medium& medium, const Emitter<Real>& emitter,
         BuildProblem build, Pool& pool, const BorderOptions& options, int workers, std::string_view isa);
  ~Border();
  Border(const Border&) = delete;
  Border& operator=(const Border&) = delete;

  /// The problem of the whole mesh, without gas.
  const AnyProblem<Real>& whole() const { return whole_; }
  /// The domain of the problem of a part; -1: that of the whole mesh.
  int domain_of(const AnyProblem<Real>& problem) const;

  /// Waits for a part with travellers, the one with most of them; null: all ranks are done.
  Part* wait();
  /// Wakes all that wait, and lets nobody wait again: for a thread that has failed.
  void give_up();
  /// Whether travellers wait in any part.
  bool has_waiting() const { return waiting_.load(std::memory_order_relaxed) > 0; }
  /// Moves up to `count` travellers from those that wait in a part, rays first.
  void take(Part& part, std::size_t count, std::vector<Any>& into);
  /// Whether so many travellers wait somewhere that photons should not make more rays.
  bool is_congested() const { return congested_.load(std::memory_order_relaxed); }
  /// Some part with rays that wait, which are moved; null: there is none.
  Part* take_rays(std::size_t count, std::vector<Any>& into);
  /// Sends travellers to whoever holds their cells.
  void post(std::span<Any> travellers);
  /// Photons that have ended here in all.
  void count_ended(std::uint64_t photons) { ended_ += photons; }

  BorderTimes times() const;

 private:
  void manage(const std::stop_token& stop);
  /// A failure is that of whoever waits.
  void run_or_fail(const std::function<void()>& work);
  bool holds(int domain) const {
    const std::lock_guard lock(mutex_);
    return parts_.contains(domain);
  }
  void hold(GasPart part);
  bool deal();
  int domain_of_birth(std::uint64_t id);
  void send(const Any& traveller);
  void put(const Any& traveller);
  void obey(std::uint64_t copies);
  void send_core_scale(int rank, int domain);
  void receive_core_scale(std::span<const std::byte> letter);
  void read_when_known(int domain);
  void read(int domain, std::vector<float> core_scale);
  comm::Dealer::State state();

  const comm::World& world_;
  comm::Dealer& dealer_;
  const Medium& medium_;
  const Partition& partition_;
  const Emitter<Real>& emitter_;
  const BuildProblem build_;
  Pool& pool_;
  const int workers_;
  const std::uint64_t most_waiting_;  ///< travellers in all ranks
  const AnyProblem<Real> whole_;
  std::vector<double> memory_;
  const LaneArrays<Real> birth_;  ///< one lane
  comm::Mail<Any> mail_;
  const cpu::HistoryKernel<Real>& history_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::map<int, Part> parts_;               ///< by domain
  std::map<int, std::vector<Any>> strays_;  ///< for a domain that is yet to be read
  std::vector<std::vector<int>> holders_;   ///< ranks, of every domain
  std::vector<std::size_t> next_holder_;
  std::atomic<std::size_t> waiting_{0};
  std::atomic<bool> congested_{false};
  std::atomic<std::uint64_t> ended_{0};
  std::atomic<int> idle_{0};  ///< threads that wait
  bool done_ = false, dealt_all_ = false;
  Pool::Block window_;  ///< ids that this rank was dealt
  std::uint64_t copies_ = 0;
  double seconds_waited_ = 0, seconds_managed_ = 0;
  std::exception_ptr failure_;
  std::set<int> known_;                            ///< domains whose lengths have all come
  std::set<int> wanted_;                           ///< domains of other ranks that are here too, or will be
  std::map<int, std::vector<float>> core_scales_;  ///< of domains that are to be read, as far as they have come
  std::jthread reader_, thread_;
};

}  // namespace thor
