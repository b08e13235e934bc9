#include "thor/parallel/device/parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "thor/core/error.hpp"
#include "thor/parallel/device/counts.hpp"
#include "thor/parallel/device/squad.hpp"

namespace thor::device {
namespace {

constexpr std::size_t most_received = 1u << 16;  ///< rays that come from other parts, in a slice

/// How many lanes a device steps at once, each of which travels there and back with every slice; and, where there are
/// observers, how many events and rays wait.
template <class Real>
SquadSize size_of_parts(const Observers& observers, std::uint64_t asked, bool joins) {
  constexpr std::uint64_t unasked = 1u << 18, unasked_with_rays = 1u << 16;
  constexpr std::size_t fewest_events = 8;
  if (observers.empty()) return {std::size_t(asked ? asked : unasked), 0, 0, 0, 0, 0, 0};
  // All rays of a slice may have to wait, or to go elsewhere.
  const bool looks = observers.template lookout<Real>().count > 0;
  const std::size_t rays = looks ? rays_of_event : observers.towards.size();
  const std::size_t bytes = sizeof(WaitingEvent<Real>) + std::size_t(3) * rays_of_event * sizeof(std::uint32_t) +
                            2 * rays * sizeof(WaitingRay<Real>);
  const std::size_t most = std::clamp<std::size_t>(std::size_t(observers.memory / double(bytes)), 32 * fewest_events,
                                                   (std::size_t(1) << entry_bits) / rays);
  const std::size_t lanes = std::min<std::size_t>(asked ? asked : unasked_with_rays, most / fewest_events);
  const std::size_t events = std::min<std::size_t>(most, lanes * Squad<Real>::most_events);
  return {lanes, 0, events, rays * events + most_received, 0, joins ? slots_for(lanes, observers.memory) : 0, 0};
}

/// Lanes that a device steps in the gas of one part or another, and their rays.
template <class Real>
class PartStepper {
  static constexpr int longest_slice = 1 << 20;  ///< steps

 public:
  PartStepper(PartSession<Real>& session, const Setting<Real>& setting, const Border<Real>& border, const Batch& batch,
              const Options& options)
      : session_(session),
        border_(border),
        batch_(batch),
        slice_(options.slice),
        sources_(upload<Source<Real>>(device_, setting.emitter.sources)),
        towards_(upload<std::array<double, 3>>(device_, setting.observers.towards)),
        squad_(device_, 0, size_of_parts<Real>(setting.observers, options.lanes, batch.tally.joins())) {
    squad_.reset(device_);
    program_.copies = 1;
    program_.emitter = {setting.emitter.seed, sources_.data(), int(setting.emitter.sources.size())};
    program_.keeps = true;
    if (setting.observers.empty()) return;
    set_observers(setting.observers, towards_, program_.rays);
    departed_.emplace(device_, Memory::device, squad_.size.rays);
    counts_.emplace(device_, batch);
    counts_->bind(program_);
    // What photons add to bins waits at the host until they have ended everywhere.
    if (squad_.shares) device_.fill(0, squad_.shares->in_flight.data(), 0xff, squad_.shares->in_flight.bytes());
  }

  std::size_t lanes() const { return squad_.size.lanes; }
  /// Of the photon in each lane, for their rays.
  void set_origins(std::span<const Origin> origins) { origins_ = origins; }

  /// Slices of those that are in flight, until some time is over or some have ended.
  bool advance(const LaneArrays<Real>& lanes, const AnyProblem<Real>& problem) {
    void* const memory = lanes.px;  // the first of the arrays, which lie side by side
    std::vector<std::uint32_t> live;
    for (std::size_t i = 0; i < squad_.size.lanes; ++i) {
      if (is_in_flight(lanes.phase[i])) live.push_back(std::uint32_t(i));
    }
    const AnyProblem<Real>& there = on_device(problem);
    device_.copy_in(0, squad_.lanes.data(), memory, squad_.lanes.bytes());
    device_.copy_in(0, squad_.live[squad_.current].data(), live.data(), live.size() * sizeof(live[0]));
    if (!origins_.empty()) device_.copy_in(0, squad_.origins.data(), origins_.data(), origins_.size_bytes());
    for (const Origin& origin : origins_) newest_ = std::max(newest_, origin.id);
    const auto count = squad_.count = std::uint32_t(live.size());
    const auto start = Clock::now();
    do {
      run_slice(there);
      squad_.require_slice();
      squad_.count = squad_.seen[0].live;
      squad_.current = 1 - squad_.current;
    } while (departed_ && seconds_since(start) < slice_ && squad_.count > count - count / 8);
    device_.copy_out(0, memory, squad_.lanes.data(), squad_.lanes.bytes());
    device_.wait(0);
    return squad_.count < count;
  }

  /// A ray that is traced with the next slice.
  void put(const WaitingRay<Real>& ray) {
    newest_ = std::max(newest_, ray.ray.id);
    received_.push_back(ray);
  }
  /// Traces some of the rays that wait. False: there are none.
  bool trace(const AnyProblem<Real>& problem) {
    if (received_.empty()) return false;
    squad_.count = 0;
    run_slice(on_device(problem));
    return true;
  }
  /// Rays that have left their part.
  std::vector<WaitingRay<Real>> take_departed() { return std::exchange(left_, {}); }

  /// Adds what the device has counted to the tally.
  void finish() {
    while (squad_.shares && squad_.seen[0].shares.kept > 0) {
      squad_.count = 0;
      run_slice(on_device(border_.whole()));
    }
    warn_of_split_shares(split_);
    if (counts_) counts_->read(0, batch_.tally);
  }

 private:
  const AnyProblem<Real>& on_device(const AnyProblem<Real>& problem) {
    return session_.copy(border_.domain_of(problem), problem);
  }

  void run_slice(const AnyProblem<Real>& problem) {
    Report report = Squad<Real>::nothing;
    if (departed_) {
      const std::size_t count = std::min(received_.size(), most_received);
      const WaitingRay<Real>* const last = received_.data() + (received_.size() - count);
      device_.copy_in(0, squad_.rays->data(), last, count * sizeof(*last));
      report.rays = std::uint32_t(count);
    }
    Program<Real> program = program_;
    squad_.bind(program, newest_ + (1ull << share_id_bits) / 2);
    program.rays.shares.spills = true;
    program.rays.departed = departed_ ? departed_->data() : nullptr;
    program.steps = steps_;
    device_.copy_in(0, squad_.report.data(), &report, sizeof(Report));
    device_.wait(0);
    const auto start = Clock::now();
    device_.advance(0, problem, program, spread(device_.info(), squad_.count));
    device_.copy_out(0, squad_.seen.data(), squad_.report.data(), sizeof(Report));
    device_.wait(0);
    if (squad_.count > 0) {
      const double factor = std::clamp(slice_ / std::max(seconds_since(start), 1e-6), 0.25, 4.);
      steps_ = std::clamp(int(steps_ * factor), 1, longest_slice);
    }
    received_.resize(received_.size() - report.rays);
    take_rays();
    split_ += squad_.take_shares(device_, batch_.tally);
    if (counts_) counts_->move(0, batch_.tally);
  }

  void take_rays() {
    const std::size_t count = squad_.seen[0].departed, before = left_.size();
    if (count == 0) return;
    left_.resize(before + count);
    device_.copy_out(0, left_.data() + before, departed_->data(), count * sizeof(left_[0]));
    device_.wait(0);
  }

  PartSession<Real>& session_;
  Device& device_ = session_.device;
  const Border<Real>& border_;
  const Batch batch_;
  const double slice_;
  int steps_ = 64;
  const Buffer<Source<Real>> sources_;
  const Buffer<std::array<double, 3>> towards_;
  Squad<Real> squad_;
  std::optional<Counts> counts_;
  std::optional<Buffer<WaitingRay<Real>>> departed_;  ///< none: there are no observers
  std::vector<WaitingRay<Real>> received_, left_;
  std::span<const Origin> origins_;
  std::uint64_t newest_ = 0, split_ = 0;  ///< largest id so far; shares that found no room
  Program<Real> program_{};
};

/// Rays that a device makes and traces with the photons that it steps.
template <class Real>
class PartRays final : public cpu::RaySender<Real> {
 public:
  PartRays(const typename cpu::RaySender<Real>::Thread& thread, PartStepper<Real>& stepper)
      : cpu::RaySender<Real>(thread), stepper_(stepper) {
    stepper.set_origins(thread.origins);
  }

  EventLog<Real>* log() override { return nullptr; }
  void look() override {
    for (WaitingRay<Real>& departed : stepper_.take_departed()) {
      if (arrives(part_->partition, part_->domain, departed.lane)) {
        stepper_.put(departed);
      } else {
        outbox_.post({Traveller<Real>::ray, 0, departed.lane, {}, departed.ray});
      }
    }
  }
  void end(int) override {}
  void receive(const Traveller<Real>& ray) override {
    WaitingRay<Real> here{ray.lane, ray.burden};
    set_cell(here.lane, part_->to_part(cell_of(here.lane)).value());
    stepper_.put(here);
  }
  void trace() override {
    while (stepper_.trace(*problem_)) look();
  }

 private:
  void wait(const LaneArrays<Real>& from, int lane, const CellIndex& begun, const Ray<Real>& ray) override {
    if (!this->begins_elsewhere(from, lane, begun, ray)) stepper_.put({load_lane<Real>(from, lane), ray});
  }

  using cpu::RaySender<Real>::problem_, cpu::RaySender<Real>::outbox_, cpu::RaySender<Real>::part_;
  PartStepper<Real>& stepper_;
};

}  // namespace

template <class Real>
const AnyProblem<Real>& PartSession<Real>::copy(int domain, const AnyProblem<Real>& problem) {
  const auto found = held_.find(domain);
  if (found != held_.end() && device.info().shares_memory) {  // another copy of the part may have taken its place
    held_.erase(found);
  } else if (found != held_.end()) {
    found->second.used = ++asked_;
    return found->second.problem;
  }
  for (;;) {
    try {
      Copies arrays(device);
      AnyProblem<Real> there = arrays.copy(problem);
      return held_.emplace(domain, Held{std::move(arrays), std::move(there), ++asked_}).first->second.problem;
    } catch (const OutOfMemory& e) {
      if (held_.empty()) {
        throw Error(ExitCode::device,
                    describe(device.info(), e) +
                        " for a part of the gas; cut it into more (--domains), or run with --device cpu");
      }
      // The one that was used longest ago comes again when photons are there.
      held_.erase(std::ranges::min_element(held_, {}, [](const auto& held) { return held.second.used; }));
    }
  }
}

template <class Real>
void transport(PartSession<Real>& session, const Setting<Real>& setting, Border<Real>& border, const Batch& batch,
               const Options& options, const cpu::Options& cpu) {
  try {
    PartStepper<Real> stepper(session, setting, border, batch, options);
    cpu::Options host = cpu;
    host.threads = 1;
    const auto advance = [&](const LaneArrays<Real>& lanes, const AnyProblem<Real>& problem, EventLog<Real>*) {
      return stepper.advance(lanes, problem);
    };
    const auto rays = [&](const typename cpu::RaySender<Real>::Thread& thread) {
      return std::make_unique<PartRays<Real>>(thread, stepper);
    };
    cpu::transport<Real>(setting, border, batch, host, {int(stepper.lanes()), advance, int(stepper.lanes() / 8), rays});
    stepper.finish();
  } catch (const OutOfMemory& e) {
    border.give_up();
    throw Error(ExitCode::device,
                describe(session.device.info(), e) + " for photons in flight; lower --lanes or peel.memory");
  }
}

template class PartSession<float>;
template class PartSession<double>;
template void transport(PartSession<float>&, const Setting<float>&, Border<float>&, const Batch&, const Options&,
                        const cpu::Options&);
template void transport(PartSession<double>&, const Setting<double>&, Border<double>&, const Batch&, const Options&,
                        const cpu::Options&);

}  // namespace thor::device
