// Scatterings per second of the whole transport on a device.
//   device_benchmark [--device cuda:0] [--repeat 2] [case ...]   cases: see below; default all
#include <set>

#include "measure.hpp"

namespace {

using namespace thor;
using benchmark::Case, benchmark::Rate, benchmark::measure;

struct DeviceCase {
  Case problem;
  double photons;
  device::Options options = {};
};

device::Options no_stragglers() {
  device::Options options;
  options.stragglers = false;
  return options;
}
device::Options lanes(std::uint64_t count) {
  device::Options options;
  options.lanes = count;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string name = "cuda";
  int repeat = 2;
  std::set<std::string> wanted;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--device" && i + 1 < arguments.size())
      name = arguments[++i];
    else if (arguments[i] == "--repeat" && i + 1 < arguments.size())
      repeat = std::stoi(arguments[++i]);
    else
      wanted.insert(arguments[i]);
  }
  const int threads = available_threads();
  const std::vector<DeviceCase> cases = {
      {{"sphere-1e5", "single", "1e5", "none"}, 1e6},
      {{"sphere-1e6", "single", "1e6", "none"}, 2e5},
      {{"sphere-1e6-gpu-only", "single", "1e6", "none"}, 2e5, no_stragglers()},
      {{"sphere-1e5-131072-lanes", "single", "1e5", "none"}, 1e6, lanes(131072)},
      {{"double-1e5", "double", "1e5", "none"}, 1e6},
      {{"double-1e6", "double", "1e6", "none"}, 2e5},
      {{"sphere-1e4", "single", "1e4", "none"}, 4e6},
      {{"local-1e7", "single", "1e7", "local"}, 1e6},
      {{"global-1e7", "single", "1e7", "global"}, 4e7},
      {{"shell-general", "single", "1e5", "none", 1, false, 1, ", dust: {tau: 1e-12}"}, 1e6},
      {{"shell-outflow", "single", "8.3e6", "global", 1, false, 1, ", velocity: {profile: linear, max: 200 km/s}"},
       1e7},
  };
  const auto device = device::open(name);
  fmt::print("{} ({}), {} threads for the last photons, static sphere T = 2e4 K\n", device->info().name,
             device->info().architecture, threads);
  fmt::print("{:<24} {:>9} {:>11} {:>11} {:>11} {:>10} {:>8}\n", "case", "photons", "scatt./s", "scatt./ph", "longest",
             "steps/sc.", "s");
  for (const DeviceCase& c : cases) {
    if (!wanted.empty() && !wanted.count(c.problem.name)) continue;
    for (int i = 0; i < repeat; ++i) {
      const Rate r = measure(c.problem, c.photons, {device.get(), c.options, {threads, false, ""}});
      fmt::print("{:<24} {:>9.0e} {:>11.4g} {:>11.4g} {:>11.4g} {:>10.4f} {:>8.3f}\n", c.problem.name, r.photons,
                 r.per_second(), r.scatterings / r.photons, r.longest, r.steps / r.scatterings, r.seconds);
      std::fflush(stdout);
    }
  }
}
