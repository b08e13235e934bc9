#pragma once
#include <variant>

#include "thor/drivers/mcrt/setup.hpp"
#include "thor/parallel/device/parts.hpp"

namespace thor {

/// The hardware of a run.
struct Compute {
  device::Device* device = nullptr;  ///< null: the processor
  device::Options options;           ///< for the device
  cpu::Options cpu;
};

/// The observers of a run that rays go to.
Observers build_observers(const config::Config& config, const MediumOutline& medium);

/// The problem of a run in one precision, in this gas, for the kernel that does no more than it needs.
template <class Real>
AnyProblem<Real> choose_problem(const config::Config& config, const Setup& setup, const AnyDataset& gas);

/// What kernels of one precision see of a set-up.
template <class Real>
struct KernelsOf {
  KernelsOf(const config::Config& config, const Setup& setup);
  Emitter<Real> emitter;
  std::optional<AnyProblem<Real>> problem{};  ///< none where ranks hold parts of a grid: each part has its own
  mutable std::optional<device::Session<Real>> session{};    ///< the copy on a device, from the first batch on
  mutable std::optional<device::PartSession<Real>> parts{};  ///< copies of parts on a device, kept from batch to batch
};

/// The kernels for dataset, line, precision and backend of a run, with all that they need: built once, and uploaded to
/// a device once, for any number of batches.
class Kernels {
 public:
  /// Uses the arguments for as long as it lives.
  Kernels(const config::Config& config, const Setup& setup, const Compute& hardware);

  const config::Config& config;
  const Setup& setup;
  const Compute compute;

  void run(const Batch& batch) const;
  /// The same where ranks hold parts of a grid, with the ids of a dealer.
  BorderTimes run(comm::Dealer& dealer, const DomainOptions& domains, const Batch& batch) const;

 private:
  Observers observers_;
  std::variant<KernelsOf<float>, KernelsOf<double>> of_;
};

/// The same for one batch.
void run_problem(const config::Config& config, const Setup& setup, Pool& pool, const Compute& compute, Control& control,
                 Tally& tally, const Sink& sink);

}  // namespace thor
