#include "thor/drivers/mcrt/alone.hpp"

namespace thor {

Tally run_alone(const config::Config& config, const Setup& setup, const Compute& compute, Control& control,
                const Sink& sink) {
  Setup one = setup;
  one.emitter = for_one_photon(setup.emitter);
  const Kernels kernels(config, one, compute);
  Sample sample = build_sample(config, setup);
  const std::uint64_t photons = setup.emitter.count();
  for (const Ids& ids : sample.octaves({0, photons})) {
    sample.tally.next_batch(sample.doublings(ids.next));
    Pool pool(ids.next, ids.end, std::uint64_t(compute.cpu.threads) * 16);
    kernels.run({pool, control, sample.tally, sink});
  }
  sample.tally.share_light(photons);
  return std::move(sample.tally);
}

}  // namespace thor
