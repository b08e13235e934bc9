#include "thor/parallel/device/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "thor/core/error.hpp"
#include "thor/core/message.hpp"
#include "thor/parallel/device/counts.hpp"
#include "thor/parallel/device/drain.hpp"
#include "thor/parallel/device/squad.hpp"

namespace thor::device {
namespace {

constexpr std::uint64_t most_lanes =
    1u << 18;  ///< photons in flight, unless asked for more: about twice as many as run at once
constexpr std::uint32_t most_records = 1u << 18;  ///< photons handed over per slice and squad
constexpr std::uint64_t fewest_events = 8;        ///< of a lane in a slice
constexpr int most_steps = 1 << 20;               ///< of a lane in a slice

/// Runs the photons of a batch, a slice of steps at a time.
template <class Real>
class Engine {
  static constexpr std::size_t bytes_of_event = sizeof(WaitingEvent<Real>) +
                                                std::size_t(3) * rays_of_event * sizeof(std::uint32_t) +
                                                sizeof(WaitingRay<Real>) / 2;

 public:
  Engine(const Session<Real>& session, const Batch& batch, const Options& options)
      : session_(session),
        batch_(batch),
        options_(options),
        memory_of_events_(observers().empty() ? 0 : observers().memory),
        fusing_(observers().fuses() ? observers().towards.size() : 0),
        joins_(batch.tally.joins()),
        ids_(batch.pool.take_all()),
        counts_(device_, batch),
        next_id_(upload<std::uint64_t>(device_, std::vector{ids_.next})),
        next_seen_(ids_.next),
        granted_(ids_.next) {
    counts_.bind(program_);
    program_.next_id = next_id_.data();
    program_.end = ids_.end;
    program_.fault = options.fault;
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
    if (batch_.sink) drain_.emplace(batch_.sink);
    try {
      grant(2 * lanes);
      for (auto& squad : squads_) launch(squad);
      batch_.control.flying = true;
      for (;;) {
        for (auto& squad : squads_) {
          if (!busy_[squad.queue]) continue;
          finish(squad);
          if (!batch_.control.abort && !done(few) && squad.count > 0) launch(squad);
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
  const Observers& observers() const { return session_.setting.observers; }

  /// Allocates the lanes: as many as asked for, or as many as pay and have room.
  std::uint64_t place_squads() {
    const std::uint64_t photons = ids_.end - ids_.next;
    std::uint64_t lanes = options_.lanes ? options_.lanes : std::min(photons, most_lanes);
    // For each squad, and so that 32 bits number them.
    const auto events =
        std::uint64_t(std::min(memory_of_events_ / 2 / double(bytes_of_event), double(1 << entry_bits)));
    const std::size_t m = fusing_, fewest = (m + 1) * fewest_events + m;  // see room_for_groups()
    if (events > 0) lanes = std::min(lanes, std::max<std::uint64_t>(2 * events / fewest, 64));
    for (;;) {
      try {
        const std::size_t half = std::max<std::size_t>((lanes / 2 + 31) / 32 * 32, 32);
        const std::uint32_t room = batch_.sink ? std::uint32_t(std::clamp<std::size_t>(half, 1024, most_records)) : 0;
        const std::size_t logs = events > 0 ? std::clamp(events, half * fewest, half * Squad<Real>::most_events) : 0;
        squads_.clear();
        squads_.reserve(Device::queues);
        for (int queue = 0; queue < Device::queues; ++queue) {
          squads_.emplace_back(
              device_, queue,
              SquadSize{half, room, logs, std::max<std::size_t>(logs / 2, 1), m, slots_of(half), counts_.counters()});
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

  /// Two tables for each squad take as much memory as events may.
  std::size_t slots_of(std::size_t lanes) const {
    return joins_ && memory_of_events_ > 0 ? slots_for(lanes, memory_of_events_ / Device::queues) : 0;
  }

  /// Lets lanes start `more` further photons; after pool.close() none.
  void grant(std::uint64_t more) {
    if (batch_.pool.closed() || batch_.control.abort) {
      program_.granted = program_.end = 0;
    } else {
      const std::uint64_t newest = joins_ ? oldest() + (1ull << share_id_bits) / 2 : ~0ull;  // 30 bits tell ids apart
      program_.granted = granted_ = std::max(granted_, std::min({next_seen_ + more, newest, ids_.end}));
    }
  }

  std::uint64_t oldest() const { return std::min({squads_[0].seen[0].oldest, squads_[1].seen[0].oldest, next_seen_}); }

  void launch(Squad<Real>& squad) {
    device_.copy_in(squad.queue, squad.report.data(), &Squad<Real>::nothing, sizeof(Report));
    if (squad.shares && squad.count > 0) {
      device_.fill(squad.queue, squad.shares->in_flight.data(), 0, squad.shares->in_flight.bytes());
    }
    Program<Real> program = program_;
    squad.bind(program, granted_);
    program.steps = squad.steps = steps_;
    program.last = batch_.pool.closed() || (next_seen_ >= ids_.end && squad.seen[0].idle == 0);
    squad.granted = program.granted;
    device_.advance(squad.queue, session_.problem, program, spread(info_, squad.count, Device::queues));
    device_.copy_out(squad.queue, squad.seen.data(), squad.report.data(), sizeof(Report));
    device_.copy_out(squad.queue, squad.next_id.data(), next_id_.data(), sizeof(std::uint64_t));
    counts_.copy_counters(squad.queue, squad.counters.data());
    squad.launched = Clock::now();
    busy_[squad.queue] = true;
  }

  /// Waits for a slice and takes what it has done.
  void finish(Squad<Real>& squad) {
    device_.wait(squad.queue);
    const double seconds = seconds_since(squad.launched);
    busy_[squad.queue] = false;
    squad.require_slice();
    const Report report = squad.seen[0];
    bool full = false;
    if (squad.records) {
      const std::uint32_t count = std::min(report.records, squad.size.records);
      full = report.records > squad.size.records;
      drain_->wait(squad.queue);
      device_.copy_out(squad.queue, squad.staging->data(), squad.records->data(), count * sizeof(Photon));
      device_.wait(squad.queue);
      drain_->put(squad.queue, {squad.staging->data(), count});
    }
    split_ += squad.take_shares(device_, batch_.tally);
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
    grant(std::max<std::uint64_t>(2 * (squads_[0].size.lanes + squads_[1].size.lanes), 8 * started));
    counts_.show(squad.queue, squad.counters.data());
  }

  /// Nothing left, or so little that the rest goes elsewhere.
  bool done(std::uint32_t few) const {
    const std::uint32_t left = squads_[0].count + squads_[1].count;
    const bool all_started = next_seen_ >= ids_.end && std::ranges::all_of(squads_, [&](const Squad<Real>& s) {
                               return s.count == 0 || (s.granted >= ids_.end && s.seen[0].idle == 0);
                             });
    return left == 0 || (left <= few && (batch_.pool.closed() || all_started));
  }

  /// The tally of the device, and the photons that are still in flight there.
  std::vector<Flying<Real>> collect() {
    for (auto& squad : squads_) {  // what photons in flight have added so far
      const std::uint32_t live = std::exchange(squad.count, 0);
      while (squad.shares && squad.seen[0].shares.kept > 0) {
        launch(squad);
        device_.wait(squad.queue);
        busy_[squad.queue] = false;
        split_ += squad.take_shares(device_, batch_.tally);
      }
      squad.count = live;
    }
    warn_of_split_shares(split_);
    counts_.finish(0, batch_.tally);
    std::vector<Flying<Real>> flying;
    for (const auto& squad : squads_) {
      if (squad.count == 0) continue;
      std::vector<std::byte> memory(squad.lanes.bytes());
      std::vector<Origin> origins(squad.size.lanes);
      std::vector<std::uint32_t> live(squad.count);
      device_.copy_out(squad.queue, memory.data(), squad.lanes.data(), memory.size());
      device_.copy_out(squad.queue, origins.data(), squad.origins.data(), squad.origins.bytes());
      device_.copy_out(squad.queue, live.data(), squad.live[squad.current].data(), live.size() * sizeof(live[0]));
      device_.wait(squad.queue);
      const LaneArrays<Real> arrays = lane_arrays<Real>(memory.data(), squad.size.lanes);
      for (const std::uint32_t slot : live) {
        const Flying<Real> photon{load_lane<Real>(arrays, slot), origins[slot]};
        if (photon.lane.phase != Phase::idle) flying.push_back(photon);
      }
    }
    return flying;
  }

  const Session<Real>& session_;
  Device& device_ = session_.device;
  const Batch batch_;
  const Options& options_;
  const double memory_of_events_;  ///< [byte]
  const std::size_t fusing_;       ///< observers whose rays are fused
  const bool joins_;               ///< light of a photon in a bin comes in parts
  std::uint64_t split_ = 0;
  const Pool::Block ids_;
  const Info info_ = device_.info();
  Counts counts_;
  const Buffer<std::uint64_t> next_id_;
  Program<Real> program_ = session_.program;
  std::vector<Squad<Real>> squads_;
  std::optional<Drain> drain_;
  bool busy_[Device::queues] = {};
  int steps_ = Squad<Real>::first_steps;  ///< of the next slice, those of the slower squad for both: all photons get on
                                          ///< alike
  std::uint64_t next_seen_, granted_;
};

[[noreturn]] void refuse(const Device& device, const OutOfMemory& e) {
  throw Error(ExitCode::device,
              describe(device.info(), e) +
                  " for the grid, the sources and the outputs; take fewer cells (or dataset.packed), ask for fewer "
                  "bins, or run with --device cpu");
}

}  // namespace

template <class Real>
Session<Real>::Session(Device& device, const Setting<Real>& setting) try
    : device(device),
      setting(setting),
      arrays(device),
      problem(arrays.copy(setting.problem)),
      sources(upload<Source<Real>>(device, arrays.copy(setting.emitter.sources))),
      towards(upload<std::array<double, 3>>(device, setting.observers.towards)) {
  program.emitter = {setting.emitter.seed, sources.data(), int(setting.emitter.sources.size())};
  set_observers(setting.observers, towards, program.rays);
} catch (const OutOfMemory& e) {
  refuse(device, e);
}

template <class Real>
void transport(const Session<Real>& session, const Batch& batch, const Options& options, const cpu::Options& cpu) {
  const Setting<Real>& setting = session.setting;
  const auto& kernel = cpu::step_kernel<Real>(setting.problem.kind(), cpu.isa);
  // Groups of fused rays that are open stay on the device, and so do their photons.
  const bool hands_over = options.stragglers && cpu::fused(kernel.isa) && !setting.observers.fuses();
  std::vector<Flying<Real>> flying;
  try {
    Engine<Real> engine(session, batch, options);
    flying = engine.run(hands_over ? std::uint32_t(cpu.threads * (cpu.one_lane ? 1 : kernel.lanes)) : 0);
  } catch (const OutOfMemory& e) {
    refuse(session.device, e);
  }
  const comm::World alone{comm::World::Alone()};
  if (!flying.empty()) {
    // A history goes on here as it would there: photons are the same on every device.
    cpu::Options here = cpu;
    here.one_lane = cpu.one_lane || flying.size() <= std::size_t(cpu.threads);
    Pool nobody(0, 0, 1);
    cpu::transport<Real>(setting, {nobody, batch.control, batch.tally, batch.sink}, here, flying);
  }
  batch.tally.join_histories(alone, cpu.threads);
}

template struct Session<float>;
template struct Session<double>;
template void transport(const Session<float>&, const Batch&, const Options&, const cpu::Options&);
template void transport(const Session<double>&, const Batch&, const Options&, const cpu::Options&);

}  // namespace thor::device
