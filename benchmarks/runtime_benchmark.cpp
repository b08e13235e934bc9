// Time against optical depth, with and without core skipping, on all processors and on a device side by side: one line
// of CSV per run, for runtime_plot.py.
//   runtime_benchmark [--device cuda|none] > runtime.csv
// Where following every photon to its end would take hours (no skipping, tau0 > 1e6), each is followed only for a fixed
// number of scatterings; these lines give the time per scattering, not that of a run.
#include "measure.hpp"

namespace {

using namespace thor;
using benchmark::Case, benchmark::Rate, benchmark::measure;

struct Run {
  const char* tau0;
  const char* skip;
  double on_device, on_cpu;  ///< photons
  const char* cap = "2000000000";
};

constexpr Run runs[] = {
    {"1e4", "none", 1e6, 1e5},        {"1e5", "none", 1e6, 2e4},        {"1e6", "none", 2e5, 4e3},
    {"1e7", "none", 4e5, 1e4, "1e5"}, {"1e8", "none", 4e5, 1e4, "1e5"}, {"1e4", "local", 1e6, 1e5},
    {"1e5", "local", 4e5, 2e4},       {"1e6", "local", 2e5, 1e4},       {"1e7", "local", 2e5, 1e4},
    {"1e8", "local", 2e5, 1e4},
};

void print(const char* where, const Run& run, const Rate& r) {
  fmt::print("{},{},{},{},{},{},{},{}\n", where, run.tau0, run.skip, run.cap, r.photons, r.scatterings, r.longest,
             r.seconds);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::string name = "cuda";
  if (argc == 3 && std::string(argv[1]) == "--device") name = argv[2];
  const int threads = available_threads();
  const auto device = name == "none" ? nullptr : device::open(name);
  fmt::print("where,tau0,skip,cap,photons,scatterings,longest,seconds\n");
  for (const Run& run : runs) {
    const Case c{"", "single", run.tau0, run.skip, 1, false, 1, "", run.cap};
    if (device) print("device", run, measure(c, run.on_device, {device.get(), {}, {threads, false, ""}}));
    print("cpu", run, measure(c, run.on_cpu, {nullptr, {}, {threads, false, ""}}));
  }
  const Run one{"1e5", "none", 0, 2e3};
  print("one lane", one, measure({"", "single", "1e5", "none"}, one.on_cpu, {nullptr, {}, {threads, true, ""}}));
}
