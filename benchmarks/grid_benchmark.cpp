// A sphere of T = 2e4 K on a uniform grid and without one: scatterings and steps (scatterings, faces
// crossed, rejected proposals) per second.
//   grid_benchmark [--device cuda] [--cells 128] [--photons 400] [--threads 1] [--skip local] [--precision single]
//                  [--case 1e4]
#include "measure.hpp"

int main(int argc, char** argv) {
  using namespace benchmark;
  std::unique_ptr<thor::device::Device> gpu;
  std::string skip = "none", only, precisions;
  int cells = 128, threads = 1;
  double photons = 400;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--device") gpu = thor::device::open(argv[i + 1]);
    if (key == "--cells") cells = std::stoi(argv[i + 1]);
    if (key == "--threads") threads = std::stoi(argv[i + 1]);
    if (key == "--photons") photons = std::stod(argv[i + 1]);
    if (key == "--skip") skip = argv[i + 1];
    if (key == "--precision") precisions = argv[i + 1];
    if (key == "--case") only = argv[i + 1];
  }
  const thor::Compute compute{gpu.get(), {}, {threads, false, ""}};
  const std::string grid = fmt::format(", cells: {}", cells);
  const std::string flow = ", velocity: {profile: linear, max: 200 km/s}";
  struct Row {
    const char* name;
    const char* tau0;
    std::string dataset;
    double more;  ///< photons
  } const rows[] = {{"sphere, tau0 = 1e4", "1e4", "", 1},
                    {"grid, tau0 = 1e4", "1e4", grid, 1},
                    {"grid, 1e4, 200 km/s", "1e4", flow + grid, 4},
                    {"grid, tau0 = 1e2", "1e2", grid, 60},
                    {"grid, tau0 = 1e6", "1e6", grid, 0.01}};
  fmt::print("{:<22} {:<8} {:>12} {:>14} {:>14} {:>10}\n", "case", "", "scatterings", "scatterings/s", "steps/s",
             "seconds");
  for (const char* precision : {"single", "double"}) {
    if (!precisions.empty() && precisions != precision) continue;
    for (const Row& row : rows) {
      if (std::string(row.name).find(only) == std::string::npos) continue;
      Case c{row.name, precision, row.tau0, skip};
      c.dataset = row.dataset;
      const Rate r = measure(c, photons * row.more, compute);
      fmt::print("{:<22} {:<8} {:>12.3g} {:>14.3g} {:>14.3g} {:>10.2f}\n", row.name, precision, r.scatterings,
                 r.per_second(), r.steps / r.seconds, r.seconds);
      std::fflush(stdout);
    }
  }
}
