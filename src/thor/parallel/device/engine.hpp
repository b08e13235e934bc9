#pragma once
#include "thor/parallel/cpu/engine.hpp"
#include "thor/parallel/device/upload.hpp"

namespace thor::device {

struct Options {
  std::uint64_t lanes = 0;  ///< photons in flight at once; 0: as many as pay
  double slice = 0.025;     ///< seconds that a launch should take
  int steps = 0;            ///< that it takes instead, for profilers, which stretch the clock; 0: as many as fit
  bool stragglers = true;   ///< the last photons move to the processor, which takes less time for a step
  std::uint64_t fault = no_photon;
};

/// What all batches of a run share, in the memory of a device: the gas, the tables of line and sources, the observers.
template <class Real>
struct Session {
  Session(Device& device, const Setting<Real>& setting);

  Device& device;
  const Setting<Real> setting;
  Copies arrays;
  const AnyProblem<Real> problem;
  const Buffer<Source<Real>> sources;
  const Buffer<std::array<double, 3>> towards;
  Program<Real> program{};  ///< of every slice, as far as it is the same in all of them
};

/// As cpu::transport, on a device. `cpu` is for the last photons.
template <class Real>
void transport(const Session<Real>& session, const Batch& batch, const Options& options, const cpu::Options& cpu);

}  // namespace thor::device
