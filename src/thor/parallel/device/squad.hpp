#pragma once
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "thor/core/message.hpp"
#include "thor/outputs/tally.hpp"
#include "thor/parallel/device/upload.hpp"
#include "thor/transport/observers.hpp"

namespace thor::device {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Slots of a table of shares for so many lanes, of which two take so many bytes.
inline std::size_t slots_for(std::size_t lanes, double memory) {
  constexpr std::size_t shares_of_a_photon = 128;  // if there is memory
  const double most = memory / (2. * sizeof(ShareSlot));
  return std::min(std::bit_ceil(lanes * shares_of_a_photon), std::size_t(1) << std::lround(std::log2(most)));
}

inline void warn_of_split_shares(std::uint64_t count) {
  if (count == 0) return;
  warning(
      "{} parts of the light of photons found no room, and the errors of their bins are too small: raise peel.memory",
      count);
}

template <class Real>
void set_observers(const Observers& observers, const Buffer<std::array<double, 3>>& towards,
                   RayProgram<Real>& program) {
  program.towards = reinterpret_cast<const double(*)[3]>(towards.data());
  program.observers = int(observers.towards.size());
  program.rules = observers.rules;
  program.fuse = observers.fuse;
  program.lookout = observers.template lookout<Real>();
}

/// How much memory a squad takes.
struct SquadSize {
  std::size_t lanes;
  std::uint32_t records;  ///< photons handed over per slice; 0: they are only counted
  std::size_t events;     ///< that wait for their rays; 0: there are no observers
  std::size_t rays;       ///< that wait after their first segments
  std::size_t fusing;     ///< observers whose rays are fused
  std::size_t slots;      ///< of a table of shares; 0: nothing is joined
  std::size_t counters;   ///< entries of the counters of the tally
};

/// A part of the lanes with a queue of its own. There are two, so that the device has work while the host looks at what
/// one of them has done, and while its finished photons travel.
template <class Real>
struct Squad {
  static constexpr int first_steps = 64;                   ///< of a lane in a slice
  static constexpr std::uint64_t most_events = 1u << 12;   ///< of a lane in a slice
  static constexpr std::uint32_t most_spilled = 1u << 20;  ///< shares handed over to the host per slice
  static constexpr Report nothing{0, 0, no_photon, 0, {}, 0, 0, 0, 0, {}};

  /// Refuses the report of a slice that did not take place: a runtime may lose an error.
  void require_slice() const {
    if (count > 0 && seen[0].ran == 0)
      throw Error(ExitCode::device, "a kernel did not run, and the runtime gave no reason");
  }

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

  Squad(Device& device, int queue, const SquadSize& size)
      : queue(queue),
        size(size),
        lanes(device, Memory::device, lane_bytes<Real>(size.lanes)),
        origins(device, Memory::device, size.lanes),
        live{Buffer<std::uint32_t>(device, Memory::device, size.lanes),
             Buffer<std::uint32_t>(device, Memory::device, size.lanes)},
        report(device, Memory::device, 1),
        seen(device, Memory::pinned, 1),
        next_id(device, Memory::pinned, 1),
        counters(device, Memory::pinned, size.counters),
        count(std::uint32_t(size.lanes)) {
    if (size.records > 0) {
      records.emplace(device, Memory::device, size.records);
      staging.emplace(device, Memory::pinned, size.records);
    }
    if (size.events > 0) {
      waiting.emplace(device, Memory::device, size.events);
      list.emplace(device, Memory::device, std::size_t(3) * rays_of_event * size.events);
      rays.emplace(device, Memory::device, size.rays);
    }
    if (size.fusing > 0) groups.emplace(device, Memory::device, size.fusing * size.lanes);
    if (size.slots > 0) shares.emplace(device, size.slots);
  }

  /// Every lane idle.
  void reset(Device& device) {
    seen[0] = nothing;
    std::vector<std::uint32_t> all(size.lanes);
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

  /// Lets a program work in this memory, with no photon beyond an id.
  void bind(Program<Real>& program, std::uint64_t last_id) const {
    program.lanes = lane_arrays<Real>(lanes.data(), size.lanes);
    program.origins = origins.data();
    program.live = live[current].data(), program.next_live = live[1 - current].data();
    program.report = report.data();
    program.records = records ? records->data() : nullptr, program.room = size.records;
    if (waiting) bind_rays(program.rays);
    if (!shares) return;
    program.rays.shares = {shares->tables[shares->current].data(),
                           shares->tables[1 - shares->current].data(),
                           shares->slots,
                           shares->in_flight.data(),
                           shares->at_host.data(),
                           shares->spilled.data(),
                           most_spilled,
                           last_id,
                           count == 0 || seen[0].shares.kept > shares->slots / 2};
  }

  /// Hands over to the tally what a slice has left to it of what photons add to bins. Returns how many parts found no
  /// room.
  std::uint32_t take_shares(Device& device, Tally& tally) {
    if (!shares) return 0;
    const ShareReport told = seen[0].shares;
    shares->current = 1 - shares->current;
    std::vector<Share> spilled(std::min(told.spilled, most_spilled));
    if (!spilled.empty()) {
      device.copy_out(queue, spilled.data(), shares->spilled.data(), spilled.size() * sizeof(Share));
      device.wait(queue);
      tally.wait_for_others(spilled);
    }
    return told.split;
  }

  const int queue;
  const SquadSize size;
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
  std::chrono::steady_clock::time_point launched;

 private:
  void bind_rays(RayProgram<Real>& program) const {
    program.room = std::uint32_t(std::min<std::uint64_t>(size.events / std::max(count, 1u), most_events));
    program.events = waiting->data(), program.list = list->data();
    program.list_room = std::uint32_t(rays_of_event * size.events);
    program.waiting = rays->data();
    program.waiting_room = std::uint32_t(rays->bytes() / sizeof(WaitingRay<Real>));
    if (!groups) return;
    program.groups = groups->data();
    program.spare = room_for_groups(program.room, int(size.fusing));
  }
};

}  // namespace thor::device
