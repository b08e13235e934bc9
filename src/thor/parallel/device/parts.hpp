#pragma once
#include <map>

#include "thor/parallel/border.hpp"
#include "thor/parallel/device/engine.hpp"

namespace thor::device {

/// The parts of a mesh that are in the memory of a device, for all batches of a run; as many as there is room for.
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
    std::uint64_t used;  ///< when it was asked for last
  };
  std::map<int, Held> held_;
  std::uint64_t asked_ = 0;
};

/// Follows photons and rays of the parts of a mesh on a device. Between slices, the processor deals with those that
/// begin, end or cross a border.
template <class Real>
void transport(PartSession<Real>& session, const Setting<Real>& setting, Border<Real>& border, const Batch& batch,
               const Options& options, const cpu::Options& cpu);

}  // namespace thor::device
