#pragma once
#include "thor/generators/emitter.hpp"
#include "thor/outputs/tally.hpp"
#include "thor/parallel/control.hpp"
#include "thor/parallel/cpu/engine.hpp"
#include "thor/parallel/device/device.hpp"

namespace thor::device {

struct Options {
  std::uint64_t lanes = 0;  ///< photons in flight at once; 0: as many as pay
  double slice = 0.025;     ///< seconds that a launch should take
  int steps = 0;            ///< that it takes instead, for profilers, which stretch the clock; 0: as many as fit
  bool stragglers = true;   ///< the last photons move to the processor, which takes less time for a step
  std::uint64_t fault = no_photon;
};

/// As cpu::transport, on a device. `cpu` is for the last photons.
template <class Real>
void transport(Device& device, const AnyProblem<Real>& problem, const Emitter<Real>& emitter, Pool& pool,
               const Options& options, const cpu::Options& cpu, Control& control, Tally& tally, const Sink& sink,
               const Observers& observers = {});

}  // namespace thor::device
