#pragma once
#include "thor/parallel/border.hpp"
#include "thor/parallel/device/engine.hpp"

namespace thor::device {

/// As cpu::transport for the parts of a grid, with the steps done on a device: what begins, crosses a border or ends is
/// dealt with by the processor, between slices. There are no observers: their rays are the processor's.
template <class Real>
void transport(Device& device, const Setting<Real>& setting, Border<Real>& border, const Batch& batch,
               const Options& options, const cpu::Options& cpu);

}  // namespace thor::device
