#include "thor/parallel/device/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "thor/core/error.hpp"
#include "thor/core/message.hpp"
#include "thor/parallel/device/drain.hpp"
#include "thor/parallel/device/upload.hpp"

namespace thor::device {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t most_lanes =
    1u << 18;  ///< photons in flight, unless asked for more: about twice as many as run at once
constexpr std::uint32_t most_records = 1u << 18;  ///< photons handed over per slice and squad
constexpr std::size_t tally_memory = 64u << 20;   ///< bytes that copies of the tally may take
constexpr int most_copies = 32;
constexpr std::size_t live_tally_limit = 1u
                                         << 26;  ///< bytes of a tally that is still copied during a run, for its error
constexpr std::uint64_t fewest_events = 8, most_events = 1u << 12;  ///< of a lane in a slice
constexpr int first_steps = 64, most_steps = 1 << 20;               ///< of a lane in a slice

constexpr Report nothing{0, 0, no_photon, 0, {}, 0, 0, {}};

constexpr std::uint32_t most_spilled = 1u << 20;  ///< shares handed over to the host per slice and squad
constexpr std::size_t shares_of_a_photon = 128;   ///< room in a table for each lane, if there is memory

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A part of the lanes with a queue of its own. There are two, so that the device has work while the host looks at what
/// one of them has done, and while its finished photons travel.
template <class Real>
struct Squad {
  /// What its photons add to bins.
  struct Shares {
    Shares(Device& device, std::size_t slots)
        : slots(slots),
          tables{Buffer<ShareSlot>(device, Memory::device, slots), Buffer<ShareSlot>(device, Memory::device, slots)},
          in_flight(device, Memory::device, share_bits / 32),
          at_host(device, Memory::device, share_bits / 32),
          spilled(device, Memory::device, most_spilled) {}
    const std::size_t slots;
    Buffer<ShareSlot> tables[2];
    Buffer<std::uint32_t> in_flight, at_host;
    Buffer<Share> spilled;
    int current = 0;  ///< which of the tables is in use
  };

  Squad(Device& device, int queue, std::size_t lanes, std::uint32_t room, std::size_t events, std::size_t fusing,
        std::size_t slots, int copies)
      : queue(queue),
        capacity(lanes),
        lanes(device, Memory::device, lane_bytes<Real>(lanes)),
        origins(device, Memory::device, lanes),
        live{Buffer<std::uint32_t>(device, Memory::device, lanes),
             Buffer<std::uint32_t>(device, Memory::device, lanes)},
        report(device, Memory::device, 1),
        seen(device, Memory::pinned, 1),
        next_id(device, Memory::pinned, 1),
        counters(device, Memory::pinned, std::size_t(Counter::count) * std::size_t(copies)),
        count(std::uint32_t(lanes)) {
    if (room > 0) {
      records.emplace(device, Memory::device, room);
      staging.emplace(device, Memory::pinned, room);
    }
    if (events > 0) {
      waiting.emplace(device, Memory::device, events);
      list.emplace(device, Memory::device, std::size_t(3) * rays_of_event * events);
      rays.emplace(device, Memory::device, std::max<std::size_t>(events / 2, 1));
    }
    if (fusing > 0) groups.emplace(device, Memory::device, fusing * lanes);
    if (slots > 0) shares.emplace(device, slots);
  }

  /// Every lane idle.
  void reset(Device& device) {
    seen[0] = nothing;
    std::vector<std::uint32_t> all(capacity);
    std::iota(all.begin(), all.end(), 0u);
    static_assert(Phase::idle == -1 && no_photon == ~0ull);
    device.fill(queue, lanes.data(), 0xff, lanes.bytes());
    device.fill(queue, origins.data(), 0xff, origins.bytes());
    if (groups) device.fill(queue, groups->data(), 0, groups->bytes());
    device.copy_in(queue, live[0].data(), all.data(), live[0].bytes());
    if (shares) {
      for (const auto& table : shares->tables) device.fill(queue, table.data(), 0, table.bytes());
      device.fill(queue, shares->at_host.data(), 0, shares->at_host.bytes());
    }
    device.wait(queue);
  }

  const int queue;
  const std::size_t capacity;
  Buffer<std::byte> lanes;
  Buffer<Origin> origins;
  Buffer<std::uint32_t> live[2];
  Buffer<Report> report;
  std::optional<Buffer<Photon>> records, staging;
  std::optional<Buffer<WaitingEvent<Real>>> waiting;  ///< for observers
  std::optional<Buffer<std::uint32_t>> list;
  std::optional<Buffer<WaitingRay<Real>>> rays;
  std::optional<Buffer<FuseGroup<Real>>> groups;  ///< of rays that are fused
  std::optional<Shares> shares;
  Buffer<Report> seen;             ///< the last report
  Buffer<std::uint64_t> next_id;   ///< of the pool, at the last report
  Buffer<std::uint64_t> counters;  ///< of the whole tally, at the last report
  std::uint32_t count;             ///< live lanes
  int current = 0;                 ///< which of `live` holds them
  int steps = 0;                   ///< of the slice on its way, or the last one
  int wanted = first_steps;        ///< steps that would take the time of a slice
  std::uint64_t granted = 0;       ///< at its launch: lanes may hold ids from here on that they have not started
  Clock::time_point launched;
};

template <class Real>
class Engine {
  static constexpr std::size_t bytes_of_event = sizeof(WaitingEvent<Real>) +
                                                std::size_t(3) * rays_of_event * sizeof(std::uint32_t) +
                                                sizeof(WaitingRay<Real>) / 2;

 public:
  Engine(Device& device, const AnyProblem<Real>& problem, const Emitter<Real>& emitter, Pool& pool,
         const Options& options, Control& control, Tally& tally, const Sink& sink, const Observers& observers)
      : device_(device),
        problem_(problem),
        pool_(pool),
        options_(options),
        control_(control),
        tally_(tally),
        sink_(sink),
        memory_of_events_(observers.empty() ? 0 : observers.memory),
        fusing_(observers.fuses() ? int(observers.towards.size()) : 0),
        joins_(tally.joins()),
        ids_(pool.take_all()),
        info_(device.info()),
        sources_(upload<Source<Real>>(device, mirrored(emitter.sources))),
        towards_(upload<std::array<double, 3>>(device, observers.towards)),
        outputs_(upload<OutputPlan>(device, {tally.plan().outputs, std::size_t(tally.plan().output_count)})),
        copies_(int(std::clamp<std::size_t>(tally_memory / 8 / std::size_t(tally.plan().own), 1, most_copies))),
        cells_(device, Memory::device, std::size_t(tally.plan().room(copies_))),
        next_id_(upload<std::uint64_t>(device, std::vector{ids_.next})),
        next_seen_(ids_.next),
        granted_(ids_.next) {
    device.fill(0, cells_.data(), 0, cells_.bytes());
    device.wait(0);
    problem_.mirror([this](const void* data, std::size_t bytes) { return copy_of(data, bytes); });
    program_.emitter = {emitter.seed, sources_.data(), int(emitter.sources.size())};
    program_.plan = tally.plan();
    program_.plan.outputs = outputs_.data();
    program_.cells = cells_.data(), program_.copies = copies_;
    program_.next_id = next_id_.data();
    program_.end = ids_.end;
    program_.fault = options.fault;
    program_.rays.towards = reinterpret_cast<const double(*)[3]>(towards_.data());
    program_.rays.observers = int(observers.towards.size());
    program_.rays.rules = observers.rules;
    program_.rays.fuse = observers.fuse;
    program_.rays.lookout = observers.template lookout<Real>();
  }

  /// Nothing may be on its way to memory that goes away.
  ~Engine() {
    for (int queue = 0; queue < Device::queues; ++queue) {
      try {
        device_.wait(queue);
      } catch (const Error&) {  // told already
      }
    }
  }

  /// Everything that was in flight when the run was cut, or when so few are left that the caller takes over.
  std::vector<Flying<Real>> run(std::uint32_t few) {
    const std::uint64_t lanes = place_squads();
    if (sink_) drain_.emplace(sink_);
    try {
      grant(2 * lanes);
      for (auto& squad : squads_) launch(squad);
      control_.flying = true;
      for (;;) {
        for (auto& squad : squads_) {
          if (!busy_[squad.queue]) continue;
          finish(squad);
          if (!control_.abort && !done(few) && squad.count > 0) launch(squad);
        }
        if (!busy_[0] && !busy_[1]) break;
      }
    } catch (const Error& e) {
      if (e.code() != ExitCode::device) throw;
      throw Error(e.code(),
                  fmt::format("{}; photons {} to {} were in flight, nothing is written. Please report this with "
                              "the configuration; --device cpu may do.",
                              e.what(), oldest(), std::max(granted_, ids_.next + 1) - 1));
    }
    if (drain_) {
      drain_->wait(0), drain_->wait(1);
      drain_.reset();
    }
    return collect();
  }

 private:
  /// A copy on the device of something that a dataset or a source points to.
  const void* copy_of(const void* data, std::size_t bytes) {
    arrays_.push_back(upload<std::byte>(device_, {static_cast<const std::byte*>(data), bytes}));
    return arrays_.back().data();
  }
  std::vector<Source<Real>> mirrored(std::vector<Source<Real>> sources) {
    for (auto& source : sources) {
      for_each_array(source, [this]<class U>(const U*& array, std::size_t count) {
        array = static_cast<const U*>(copy_of(array, count * sizeof(U)));
      });
    }
    return sources;
  }

  /// Allocates the lanes: as many as asked for, or as many as pay and have room.
  std::uint64_t place_squads() {
    const std::uint64_t photons = ids_.end - ids_.next;
    std::uint64_t lanes = options_.lanes ? options_.lanes : std::min(photons, most_lanes);
    // For each squad, and so that 32 bits number them.
    const auto events =
        std::uint64_t(std::min(memory_of_events_ / 2 / double(bytes_of_event), double(1 << entry_bits)));
    const auto m = std::uint64_t(fusing_), fewest = (m + 1) * fewest_events + m;  // see room_for_groups()
    if (events > 0) lanes = std::min(lanes, std::max<std::uint64_t>(2 * events / fewest, 64));
    for (;;) {
      try {
        const std::size_t half = std::max<std::size_t>((lanes / 2 + 31) / 32 * 32, 32);
        const std::uint32_t room = sink_ ? std::uint32_t(std::clamp<std::size_t>(half, 1024, most_records)) : 0;
        const std::size_t logs = events > 0 ? std::clamp(events, half * fewest, half * most_events) : 0;
        squads_.clear();
        squads_.reserve(Device::queues);
        for (int queue = 0; queue < Device::queues; ++queue) {
          squads_.emplace_back(device_, queue, half, room, logs, m, slots_of(half), copies_);
        }
        for (auto& squad : squads_) squad.reset(device_);
        return 2 * half;
      } catch (const OutOfMemory& e) {
        squads_.clear();
        const std::string text = fmt::format("{} for {} photons in flight", describe(device_.info(), e), lanes);
        if (options_.lanes || lanes <= 64) {
          throw Error(ExitCode::device, text + "; lower --lanes, or run with --device cpu");
        }
        lanes /= 4;
        warning("{}; trying {}", text, lanes);
      }
    }
  }

  /// Slots of a table of shares, for so many lanes: two tables for each squad take as much memory as events may.
  std::size_t slots_of(std::size_t lanes) const {
    if (!joins_ || !(memory_of_events_ > 0)) return 0;
    const double most = memory_of_events_ / (2. * Device::queues * sizeof(ShareSlot));
    return std::min(std::bit_ceil(lanes * shares_of_a_photon), std::size_t(1) << std::lround(std::log2(most)));
  }

  /// Lets lanes start `more` further photons; after pool.close() none.
  void grant(std::uint64_t more) {
    if (pool_.closed() || control_.abort) {
      program_.granted = program_.end = 0;
    } else {
      const std::uint64_t newest = joins_ ? oldest() + (1ull << share_id_bits) / 2 : ~0ull;  // 30 bits tell ids apart
      program_.granted = granted_ = std::max(granted_, std::min({next_seen_ + more, newest, ids_.end}));
    }
  }

  std::uint64_t oldest() const { return std::min({squads_[0].seen[0].oldest, squads_[1].seen[0].oldest, next_seen_}); }

  void launch(Squad<Real>& squad) {
    device_.copy_in(squad.queue, squad.report.data(), &nothing, sizeof(Report));
    Program<Real> program = program_;
    program.lanes = lane_arrays<Real>(squad.lanes.data(), squad.capacity);
    program.origins = squad.origins.data();
    program.live = squad.live[squad.current].data();
    program.next_live = squad.live[1 - squad.current].data();
    program.report = squad.report.data();
    program.records = squad.records ? squad.records->data() : nullptr;
    program.room = squad.records ? std::uint32_t(squad.records->bytes() / sizeof(Photon)) : 0;
    if (squad.waiting) {
      const std::uint64_t events = squad.waiting->bytes() / sizeof(WaitingEvent<Real>);
      program.rays.room = std::uint32_t(std::min(events / std::max(squad.count, 1u), most_events));
      program.rays.events = squad.waiting->data(), program.rays.list = squad.list->data();
      program.rays.list_room = std::uint32_t(rays_of_event * events);
      program.rays.waiting = squad.rays->data();
      program.rays.waiting_room = std::uint32_t(squad.rays->bytes() / sizeof(WaitingRay<Real>));
      if (squad.groups) {
        program.rays.groups = squad.groups->data();
        program.rays.spare = room_for_groups(program.rays.room, fusing_);
      }
    }
    if (squad.shares) {
      auto& shares = *squad.shares;
      if (squad.count > 0) device_.fill(squad.queue, shares.in_flight.data(), 0, shares.in_flight.bytes());
      program.rays.shares = {shares.tables[shares.current].data(),
                             shares.tables[1 - shares.current].data(),
                             shares.slots,
                             shares.in_flight.data(),
                             shares.at_host.data(),
                             shares.spilled.data(),
                             most_spilled,
                             granted_,
                             squad.count == 0 || squad.seen[0].shares.kept > shares.slots / 2};
    }
    program.steps = squad.steps = steps_;
    program.last = next_seen_ >= ids_.end || pool_.closed();
    squad.granted = program.granted;
    device_.advance(squad.queue, problem_, program, spread(info_, squad.count, Device::queues));
    device_.copy_out(squad.queue, squad.seen.data(), squad.report.data(), sizeof(Report));
    device_.copy_out(squad.queue, squad.next_id.data(), next_id_.data(), sizeof(std::uint64_t));
    device_.copy_out(squad.queue, squad.counters.data(), cells_.data(), squad.counters.bytes());
    squad.launched = Clock::now();
    busy_[squad.queue] = true;
  }

  /// Waits for a slice and takes what it has done.
  void finish(Squad<Real>& squad) {
    device_.wait(squad.queue);
    const double seconds = seconds_since(squad.launched);
    busy_[squad.queue] = false;
    const Report report = squad.seen[0];
    bool full = false;
    if (squad.records) {
      const auto room = std::uint32_t(squad.records->bytes() / sizeof(Photon));
      const std::uint32_t count = std::min(report.records, room);
      full = report.records > room;
      drain_->wait(squad.queue);
      device_.copy_out(squad.queue, squad.staging->data(), squad.records->data(), count * sizeof(Photon));
      device_.wait(squad.queue);
      drain_->put(squad.queue, {squad.staging->data(), count});
    }
    take_shares(squad);
    squad.count = report.live;
    squad.current = 1 - squad.current;
    const double factor = full ? 0.5 : std::clamp(options_.slice / std::max(seconds, 1e-6), 0.25, 4.);
    squad.wanted = options_.steps > 0 ? options_.steps : std::clamp(int(double(squad.steps) * factor), 1, most_steps);
    steps_ = options_.steps > 0 ? options_.steps : most_steps;
    for (const auto& s : squads_) {
      if (s.count > 0) steps_ = std::min(steps_, s.wanted);
    }

    const std::uint64_t started = squad.next_id[0] - std::min(squad.next_id[0], next_seen_);
    next_seen_ = std::max(next_seen_, squad.next_id[0]);
    grant(std::max<std::uint64_t>(2 * (squads_[0].capacity + squads_[1].capacity), 8 * started));
    show_progress(squad);
  }

  /// Takes what a slice has handed over of what photons add to bins.
  void take_shares(Squad<Real>& squad) {
    if (!squad.shares) return;
    const ShareReport report = squad.seen[0].shares;
    squad.shares->current = 1 - squad.shares->current;
    split_ += report.split;
    const std::size_t count = std::min(report.spilled, most_spilled);
    if (count == 0) return;
    spilled_.resize(count);
    device_.copy_out(squad.queue, spilled_.data(), squad.shares->spilled.data(), count * sizeof(Share));
    device_.wait(squad.queue);
    tally_.wait_for_others(spilled_);
  }

  /// Shows what the counters of the tally say. Those of one squad may be older than what the other has shown.
  void show(const std::uint64_t* counters) {
    const auto sum = [&](Counter c) {
      const std::uint64_t* parts = counters + std::size_t(c) * std::size_t(copies_);
      return std::accumulate(parts, parts + copies_, std::uint64_t(0));
    };
    const std::uint64_t* longest = counters + std::size_t(Counter::longest) * std::size_t(copies_);
    control_.finished =
        finished_before_ + sum(Counter::escaped) + sum(Counter::absorbed) + sum(Counter::lost) + sum(Counter::stopped);
    control_.scatterings = scatterings_before_ + sum(Counter::scatterings);
    control_.longest = std::max(longest_before_, *std::max_element(longest, longest + copies_));
  }

  void show_progress(const Squad<Real>& squad) {
    show(squad.counters.data());
    if (Clock::now() < next_look_) return;
    next_look_ = Clock::now() + std::chrono::seconds(1);
    if (cells_.bytes() > live_tally_limit) return;
    Tally counted = tally_;
    read_tally(squad.queue, counted);
    control_.error = counted.error();
  }

  /// Adds the counts of the device so far, copied through a queue.
  void read_tally(int queue, Tally& tally) {
    constexpr std::int64_t at_once = 1 << 20;
    const TallyPlan plan = tally.plan();
    std::vector<std::uint64_t> cells(std::size_t(plan.own * copies_));
    const auto read = [&](std::int64_t from, std::size_t count) {
      cells.resize(count);
      device_.copy_out(queue, cells.data(), cells_.data() + from, count * sizeof(std::uint64_t));
      device_.wait(queue);
    };
    read(0, cells.size());
    show(cells.data());
    tally.merge_own(cells.data(), copies_);
    for (std::int64_t from = plan.own; from < plan.cells; from += at_once) {
      read(place_of(from, plan.own, copies_, 0), std::size_t(std::min(at_once, plan.cells - from)));
      tally.merge_shared(from, cells);
    }
  }

  /// Nothing left, or so little that the rest goes elsewhere.
  bool done(std::uint32_t few) const {
    const std::uint32_t left = squads_[0].count + squads_[1].count;
    const bool all_started = next_seen_ >= ids_.end && std::ranges::all_of(squads_, [&](const Squad<Real>& s) {
                               return s.count == 0 || (s.granted >= ids_.end && s.seen[0].idle == 0);
                             });
    return left == 0 || (left <= few && (pool_.closed() || all_started));
  }

  /// The tally of the device, and the photons that are still in flight there.
  std::vector<Flying<Real>> collect() {
    for (auto& squad : squads_) {  // what photons in flight have added so far
      const std::uint32_t live = std::exchange(squad.count, 0);
      while (squad.shares && squad.seen[0].shares.kept > 0) {
        launch(squad);
        device_.wait(squad.queue);
        busy_[squad.queue] = false;
        take_shares(squad);
      }
      squad.count = live;
    }
    if (split_ > 0) {
      warning(
          "{} parts of the light of photons found no room, and the errors of their bins are too small: raise "
          "peel.memory",
          split_);
    }
    read_tally(0, tally_);
    std::vector<Flying<Real>> flying;
    for (const auto& squad : squads_) {
      if (squad.count == 0) continue;
      std::vector<std::byte> memory(squad.lanes.bytes());
      std::vector<Origin> origins(squad.capacity);
      std::vector<std::uint32_t> live(squad.count);
      device_.copy_out(squad.queue, memory.data(), squad.lanes.data(), memory.size());
      device_.copy_out(squad.queue, origins.data(), squad.origins.data(), squad.origins.bytes());
      device_.copy_out(squad.queue, live.data(), squad.live[squad.current].data(), live.size() * sizeof(live[0]));
      device_.wait(squad.queue);
      const LaneArrays<Real> arrays = lane_arrays<Real>(memory.data(), squad.capacity);
      for (const std::uint32_t slot : live) {
        const Flying<Real> photon{load_lane<Real>(arrays, slot), origins[slot]};
        if (photon.lane.phase != Phase::idle) flying.push_back(photon);
      }
    }
    return flying;
  }

  Device& device_;
  AnyProblem<Real> problem_;
  Pool& pool_;
  const Options& options_;
  Control& control_;
  Tally& tally_;
  const Sink& sink_;
  const double memory_of_events_;  ///< [byte]
  const int fusing_;               ///< observers whose rays are fused
  const bool joins_;               ///< light of a photon in a bin comes in parts
  std::vector<Share> spilled_;
  std::uint64_t split_ = 0;
  const Pool::Block ids_;
  const std::uint64_t finished_before_ = control_.finished, scatterings_before_ = control_.scatterings,
                      longest_before_ = control_.longest;  ///< of earlier ids of the pool
  const Info info_;
  std::vector<Buffer<std::byte>> arrays_;  ///< cells of a grid, tables of sources
  Buffer<Source<Real>> sources_;
  Buffer<std::array<double, 3>> towards_;
  Buffer<OutputPlan> outputs_;
  const int copies_;
  Buffer<std::uint64_t> cells_;
  Buffer<std::uint64_t> next_id_;
  Program<Real> program_{};
  std::vector<Squad<Real>> squads_;
  std::optional<Drain> drain_;
  bool busy_[Device::queues] = {};
  int steps_ = first_steps;  ///< of the next slice, those of the slower squad for both: all photons get on alike
  std::uint64_t next_seen_, granted_;
  Clock::time_point next_look_ = Clock::now() + std::chrono::seconds(1);
};

}  // namespace

template <class Real>
void transport(Device& device, const AnyProblem<Real>& problem, const Emitter<Real>& emitter, Pool& pool,
               const Options& options, const cpu::Options& cpu, Control& control, Tally& tally, const Sink& sink,
               const Observers& observers) {
  const auto& kernel = cpu::step_kernel<Real>(problem.kind(), cpu.isa);
  // Groups of fused rays that are open stay on the device, and so do their photons.
  const bool hands_over = options.stragglers && cpu::fused(kernel.isa) && !observers.fuses();
  std::vector<Flying<Real>> flying;
  try {
    Engine<Real> engine(device, problem, emitter, pool, options, control, tally, sink, observers);
    flying = engine.run(hands_over ? std::uint32_t(cpu.threads * (cpu.one_lane ? 1 : kernel.lanes)) : 0);
  } catch (const OutOfMemory& e) {
    throw Error(
        ExitCode::device,
        describe(device.info(), e) +
            " for the grid, the sources and the outputs; take fewer cells (or dataset.packed), ask for fewer bins, "
            "or run with --device cpu");
  }
  const comm::World alone{comm::World::Alone()};
  if (flying.empty()) return tally.join_histories(alone);
  // A history goes on here as it would there: photons are the same on every device.
  cpu::Options here = cpu;
  here.one_lane = cpu.one_lane || flying.size() <= std::size_t(cpu.threads);
  Pool nobody(0, 0, 1);
  cpu::transport<Real>(problem, emitter, nobody, here, control, tally, sink, flying, observers);
  tally.join_histories(alone);
}

template void transport(Device&, const AnyProblem<float>&, const Emitter<float>&, Pool&, const Options&,
                        const cpu::Options&, Control&, Tally&, const Sink&, const Observers&);
template void transport(Device&, const AnyProblem<double>&, const Emitter<double>&, Pool&, const Options&,
                        const cpu::Options&, Control&, Tally&, const Sink&, const Observers&);

}  // namespace thor::device
