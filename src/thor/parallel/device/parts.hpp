#pragma once
#include <map>

#include "thor/parallel/border.hpp"
#include "thor/parallel/device/engine.hpp"

namespace thor::device {

/// The parts of a grid that are in the memory of a device, for all batches of a run; as many as there is room for.
template <class Real>
class PartSession {
 public:
  explicit PartSession(Device& device) : device(device) {}
  /// The problem of a domain there.
  const AnyProblem<Real>& copy(int domain, const AnyProblem<Real>& problem);

  Device& device;

 private:
  struct Held {
    Copies arrays;
    AnyProblem<Real> problem;
  };
  std::map<int, Held> held_;
};

/// As cpu::transport for the parts of a grid, with steps and rays done on a device: photons that begin, cross a border
/// or end, and rays that cross one, are dealt with by the processor, between slices.
template <class Real>
void transport(PartSession<Real>& session, const Setting<Real>& setting, Border<Real>& border, const Batch& batch,
               const Options& options, const cpu::Options& cpu);

}  // namespace thor::device
