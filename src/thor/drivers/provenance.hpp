#pragma once
#include <memory>

#include "thor/drivers/mcrt/mcrt.hpp"
#include "thor/io/array/output.hpp"

namespace thor {

/// How a result was made.
struct Provenance {
  std::string config;  ///< resolved
  std::uint64_t seed;
  config::Precision precision;
  std::string device;
};

/// Root attributes that every result has.
void write_provenance(io::ArrayOutput& file, const Provenance& made);

/// "auto" is the first device there is, the next one for the next rank on this machine, or the processor (null).
std::unique_ptr<device::Device> choose_device(const RunOptions& options, bool writes_peeled_light, int rank_on_node);
/// "cuda: NVIDIA H200 (sm_90)", "cpu: ...".
std::string describe(const device::Device* device, const cpu::Options& options);

}  // namespace thor
