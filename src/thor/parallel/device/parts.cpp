#include "thor/parallel/device/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "thor/core/error.hpp"

namespace thor::device {
namespace {

using Clock = std::chrono::steady_clock;

/// Lanes that a device steps in the gas of one part or another.
template <class Real>
class PartStepper {
  static constexpr std::uint64_t lanes_unasked = 1u << 18;  ///< each travels to the device and back with every slice
  static constexpr int longest_slice = 1 << 20;             ///< steps

 public:
  PartStepper(Device& device, const Options& options)
      : device_(device),
        info_(device.info()),
        lanes_(std::size_t(options.lanes ? options.lanes : lanes_unasked)),
        slice_(options.slice),
        arrays_(device),
        memory_(device, Memory::device, lane_bytes<Real>(lanes_)),
        origins_(device, Memory::device, lanes_),
        live_(device, Memory::device, lanes_),
        next_live_(device, Memory::device, lanes_),
        report_(device, Memory::device, 1),
        seen_(device, Memory::pinned, 1) {
    device.fill(0, origins_.data(), 0, origins_.bytes());
    program_.lanes = lane_arrays<Real>(memory_.data(), lanes_);
    program_.origins = origins_.data();
    program_.live = live_.data(), program_.next_live = next_live_.data();
    program_.report = report_.data();
    program_.copies = 1;
    program_.keeps = true;
  }

  std::size_t lanes() const { return lanes_; }

  /// One slice of those that are in flight.
  bool advance(const LaneArrays<Real>& lanes, const AnyProblem<Real>& problem) {
    void* const memory = lanes.px;  // the first of the arrays, which lie side by side
    std::vector<std::uint32_t> live;
    for (std::size_t i = 0; i < lanes_; ++i) {
      if (is_in_flight(lanes.phase[i])) live.push_back(std::uint32_t(i));
    }
    const Report blank{0, 0, no_photon, 0, {}, 0, 0, {}};
    const AnyProblem<Real>& there = on_device(problem);
    device_.copy_in(0, memory_.data(), memory, memory_.bytes());
    device_.copy_in(0, live_.data(), live.data(), live.size() * sizeof(live[0]));
    device_.copy_in(0, report_.data(), &blank, sizeof(Report));
    device_.wait(0);
    program_.steps = steps_;
    const auto start = Clock::now();
    const auto count = std::uint32_t(live.size());
    device_.advance(0, there, program_, spread(info_, count));
    device_.wait(0);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    steps_ = std::clamp(int(steps_ * std::clamp(slice_ / std::max(seconds, 1e-6), 0.25, 4.)), 1, longest_slice);
    device_.copy_out(0, memory, memory_.data(), memory_.bytes());
    device_.copy_out(0, seen_.data(), report_.data(), sizeof(Report));
    device_.wait(0);
    return seen_[0].live < count;
  }

 private:
  /// The problem of a part, which is uploaded when it is first met.
  const AnyProblem<Real>& on_device(const AnyProblem<Real>& problem) {
    const auto found = problems_.find(&problem);
    return found != problems_.end() ? found->second : problems_.emplace(&problem, arrays_.copy(problem)).first->second;
  }

  Device& device_;
  const Info info_;
  const std::size_t lanes_;
  const double slice_;
  int steps_ = 64;
  Copies arrays_;
  Buffer<std::byte> memory_;
  Buffer<Origin> origins_;
  Buffer<std::uint32_t> live_, next_live_;
  Buffer<Report> report_, seen_;
  std::map<const AnyProblem<Real>*, AnyProblem<Real>> problems_;
  Program<Real> program_{};
};

}  // namespace

template <class Real>
void transport(Device& device, const Setting<Real>& setting, Border<Real>& border, const Batch& batch,
               const Options& options, const cpu::Options& cpu) {
  try {
    PartStepper<Real> stepper(device, options);
    cpu::Options host = cpu;
    host.threads = 1;
    const auto advance = [&](const LaneArrays<Real>& lanes, const AnyProblem<Real>& problem, EventLog<Real>*) {
      try {
        return stepper.advance(lanes, problem);
      } catch (const OutOfMemory& e) {
        throw Error(ExitCode::device,
                    describe(device.info(), e) +
                        " for a part of the grid; cut it into more (--domains), or run with --device cpu");
      }
    };
    cpu::transport<Real>(setting, border, batch, host, {int(stepper.lanes()), advance, int(stepper.lanes() / 8)});
  } catch (const OutOfMemory& e) {
    border.give_up();
    throw Error(ExitCode::device, describe(device.info(), e) + " for photons in flight; lower --lanes");
  }
}

template void transport(Device&, const Setting<float>&, Border<float>&, const Batch&, const Options&,
                        const cpu::Options&);
template void transport(Device&, const Setting<double>&, Border<double>&, const Batch&, const Options&,
                        const cpu::Options&);

}  // namespace thor::device
