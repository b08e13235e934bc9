#pragma once
#include "thor/parallel/border.hpp"
#include "thor/parallel/device/engine.hpp"

namespace thor::device {

/// As cpu::transport for the parts of a grid, with the steps done on a device: what begins, crosses a border or ends is
/// dealt with by the processor, between slices. There are no observers: their rays are the processor's.
template <class Real>
void transport(Device& device, Border<Real>& border, const Emitter<Real>& emitter, Pool& pool, const Options& options,
               const cpu::Options& cpu, Control& control, Tally& tally, const Sink& sink);

}  // namespace thor::device
