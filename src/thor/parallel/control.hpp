#pragma once
#include <atomic>
#include <functional>
#include <span>

#include "thor/transport/photon.hpp"

namespace thor {

/// What a run may change or watch while it goes on.
struct Control {
  std::atomic<bool> abort{false};   ///< leave what is in flight
  std::atomic<bool> flying{false};  ///< photons were started that did not end at once
  std::atomic<std::uint64_t> finished{0}, scatterings{0}, longest{0};
  std::atomic<double> error{0};  ///< Tally::error() some time ago; 0: not known yet
};

/// Takes finished photons, some hundred or more at a time; never called from two threads at once. `seen` takes the
/// light that the observer gets who is recorded (Observers).
struct Sink : std::function<void(std::span<const Photon>)> {
  using function::function;
  std::function<void(std::span<const Seen>)> seen{};
};

}  // namespace thor
