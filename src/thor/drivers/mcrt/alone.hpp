#pragma once
#include "thor/drivers/mcrt/batches.hpp"

namespace thor {

/// Runs all photons of a configuration in this process, without a file: bit for bit those of run_mcrt(). They share the
/// light. With control.abort they are left in flight. The sink has each photon as it ends.
Tally run_alone(const config::Config& config, const Setup& setup, const Compute& compute, Control& control,
                const Sink& sink);

}  // namespace thor
