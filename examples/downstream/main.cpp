// downstream CONFIG: runs a configuration in memory, prints how much light escapes and its mean frequency shift.
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>

#include "thor/core/error.hpp"
#include "thor/drivers/mcrt/config.hpp"
#include "thor/drivers/mcrt/kernels.hpp"

int main(int argc, char** argv) try {
  if (argc != 2) throw thor::Error(thor::ExitCode::usage, "usage: downstream CONFIG");
  std::ifstream file(argv[1]);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto config = thor::config::parse(text, argv[1]);
  const auto setup = thor::build_setup(config);

  thor::Compute compute;  // the processor; compute.device would be a GPU
  compute.cpu.threads = 2;
  thor::Pool pool(0, setup.emitter.count(), 16 * 2);
  thor::Control control;
  thor::Tally tally = thor::build_tally(config, setup);
  double shift = 0;  // |x| = |c ln(nu / nu_0)| / v_th
  thor::run_problem(config, setup, pool, compute, control, tally, [&](std::span<const thor::Photon> photons) {
    for (const auto& photon : photons) {
      if (photon.fate == thor::Phase::escaped) shift += std::abs(photon.frequency_final);
    }
  });
  const auto escaped = double(tally[thor::Counter::escaped]);
  std::cout << "escape_fraction " << escaped / double(tally.photons()) << "\nmean_abs_x " << shift / escaped << '\n';
} catch (const thor::Error& error) {
  std::cerr << error.what() << '\n';
  return static_cast<int>(error.code());
}
