// Cost of a step with one line, a doublet, fluorescence and five lines, and with schemes other than the defaults:
// time per step, and its ratio to that of one line in the same run.
//   multiplet_benchmark [--device cuda] [--photons 1000] [--repeat 5] [--schemes no]
#include "measure.hpp"

int main(int argc, char** argv) {
  using namespace thor;
  using benchmark::Case;
  std::unique_ptr<device::Device> gpu;
  double photons = 1000;
  int repeat = 5;
  bool schemes = true;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--device") gpu = device::open(argv[i + 1]);
    if (key == "--photons") photons = std::stod(argv[i + 1]);
    if (key == "--repeat") repeat = std::stoi(argv[i + 1]);
    if (key == "--schemes") schemes = argv[i + 1] == std::string("yes");
  }
  const auto with = [](std::string name, std::string line, std::string dataset = "", std::string numerics = "",
                       double share = 1, std::string precision = "single") {
    Case c{std::move(name), std::move(precision), "1e5", "none"};
    c.line = std::move(line), c.dataset = std::move(dataset), c.numerics = std::move(numerics), c.share = share;
    return c;
  };
  const std::string outflow = ", velocity: {profile: linear, max: 20 km/s}", shell = ", dust: {tau: 1e-12}";
  std::vector<std::vector<Case>> groups = {
      {with("sphere, Lya", "Lya"), with("sphere, AlII", "AlII"), with("sphere, MgII", "MgII"),
       with("sphere, SiII_1190", "SiII_1190", "", "", 100), with("sphere, FeII_UV", "FeII_UV")},
      {with("sphere in double, Lya", "Lya", "", "", 1, "double"), with("MgII", "MgII", "", "", 1, "double")},
      {with("shell, Lya", "Lya", shell), with("shell, MgII", "MgII", shell)},
      {with("outflow, Lya", "Lya", outflow, "", 10), with("outflow, MgII", "MgII", outflow, "", 100)},
      {with("shell, Lya, defaults", "Lya", shell), with("voigt: thor", "Lya", shell, "voigt: thor"),
       with("voigt: S15", "Lya", shell, "voigt: S15"), with("voigt: T06", "Lya", shell, "voigt: T06"),
       with("voigt: H82", "Lya", shell, "voigt: H82"), with("voigt: S18", "Lya", shell, "voigt: S18"),
       with("rejection: squeezed", "Lya", shell, "rejection: squeezed"),
       with("u_parallel: S07", "Lya", shell, "u_parallel: S07", 0.3),
       with("u_parallel: L09", "Lya", shell, "u_parallel: L09", 0.3),
       with("u_parallel: S15", "Lya", shell, "u_parallel: S15", 0.3),
       with("u_parallel: D20", "Lya", shell, "u_parallel: D20", 0.3),
       with("u_parallel: SK20", "Lya", shell, "u_parallel: SK20", 0.3),
       with("generator: philox4x32", "Lya", shell, "generator: philox4x32", 0.3),
       with("generator: sfc32", "Lya", shell, "generator: sfc32"),
       with("uniform: unbiased", "Lya", shell, "uniform: unbiased")},
  };
  if (!schemes) groups.pop_back();
  fmt::print("{}, static sphere T = 2e4 K, tau0 = 1e5, {} photons per case, best of {}\n",
             gpu ? gpu->info().name : cpu::processor_name() + ", one thread", photons, repeat);
  fmt::print("{:<26} {:>12} {:>12} {:>12} {:>8}\n", "case", "steps/s", "scatt./s", "steps/sc.", "ratio");
  for (const auto& group : groups) {
    std::vector<double> best(group.size(), 1e30), scatterings(group.size()), steps(group.size());
    for (int r = 0; r < repeat; ++r) {  // interleaved, so that all see the same drift
      for (std::size_t i = 0; i < group.size(); ++i) {
        const auto rate = benchmark::measure(group[i], photons * group[i].share, {gpu.get(), {}, {1, false, ""}});
        best[i] = std::min(best[i], rate.seconds / rate.steps);
        scatterings[i] = rate.scatterings, steps[i] = rate.steps;
      }
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      fmt::print("{:<26} {:>12.4g} {:>12.4g} {:>12.3f} {:>8.3f}\n", group[i].name, 1 / best[i],
                 scatterings[i] / steps[i] / best[i], steps[i] / scatterings[i], best[i] / best[0]);
      std::fflush(stdout);
    }
  }
}
