// Scatterings per second of the whole transport on the processor, on one thread and more, one lane and many.
//   transport_benchmark [photons] [case ...]             cases: see below; default all
//   transport_benchmark --ratios [photons] [case ...]    each case in turn, seven times over: the median of its rate
//   over
//                                                        that of the first case, which drifts of the machine leave
//                                                        alone
#include <algorithm>
#include <set>

#include "measure.hpp"

namespace {

using namespace thor;
using benchmark::Case, benchmark::Rate, benchmark::measure;

void print_ratios(const std::vector<Case>& cases, double photons) {
  std::vector<std::vector<double>> rates(cases.size());
  for (int repeat = 0; repeat < 7; ++repeat) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Case& c = cases[i];
      const Rate r = measure(c, photons * c.share, {nullptr, {}, {c.threads, c.one_lane, ""}});
      rates[i].push_back(r.per_second());
    }
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::vector<double> ratio;
    for (std::size_t k = 0; k < rates[i].size(); ++k) ratio.push_back(rates[0][k] / rates[i][k]);
    std::ranges::sort(ratio);
    fmt::print("{:<20} time per scattering over that of {}: {:.3f} ({:.3f} to {:.3f})\n", cases[i].name, cases[0].name,
               ratio[ratio.size() / 2], ratio.front(), ratio.back());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool ratios = !arguments.empty() && arguments.front() == "--ratios";
  if (ratios) arguments.erase(arguments.begin());
  const double photons = arguments.empty() ? 2048 : std::stod(arguments.front());
  const std::set<std::string> wanted(arguments.begin() + std::min<long>(1, long(arguments.size())), arguments.end());
  const int threads = available_threads();
  std::vector<Case> cases = {
      {"single", "single", "1e6", "none"},
      {"double", "double", "1e6", "none"},
      {"single-one-lane", "single", "1e6", "none", 1, true, 0.125},
      {"double-one-lane", "double", "1e6", "none", 1, true, 0.125},
      {"single-two-threads", "single", "1e6", "none", 2, false, 2},
      {"single-all-threads", "single", "1e6", "none", threads, false, double(threads)},
      {"tau0-1e4", "single", "1e4", "none", 1, false, 50},
      {"tau0-1e5", "single", "1e5", "none", 1, false, 6},
      {"tau0-1e7", "single", "1e7", "none", 1, false, 0.125},
      {"skip-local-1e6", "single", "1e6", "local", 1, false, 4},
      {"skip-local-1e8", "single", "1e8", "local", 1, false, 100},
      {"skip-global-1e7", "single", "1e7", "global", 1, false, 500},
      {"skip-fixed-3-1e7", "single", "1e7", "{fixed: 3}", 1, false, 250},
      {"shell-general", "single", "1e6", "none", 1, false, 0.25, ", dust: {tau: 1e-12}"},
      {"shell-outflow-200", "single", "8.3e6", "global", 1, false, 100, ", velocity: {profile: linear, max: 200 km/s}"},
  };
  fmt::print("{} ({} threads), static sphere T = 2e4 K unless stated otherwise, {} photons\n", cpu::processor_name(),
             threads, photons);
  fmt::print("{:<20} {:<10} {:>12} {:>12} {:>10} {:>8} {:>8}\n", "case", "kernel", "scatt./s", "scatt./ph", "steps/sc.",
             "threads", "s");
  std::erase_if(cases, [&](const Case& c) { return !wanted.empty() && !wanted.count(c.name); });
  if (ratios) {
    print_ratios(cases, photons);
    return 0;
  }
  for (const auto isa : cpu::instruction_sets()) {
    const bool best = isa == cpu::instruction_sets().back();
    for (const Case& c : cases) {
      if (!best && c.name != "single" && c.name != "double") continue;
      const Rate r =
          measure(c, photons * c.share * (best ? 1 : 0.125), {nullptr, {}, {c.threads, c.one_lane, std::string(isa)}});
      fmt::print("{:<20} {:<10} {:>12.4g} {:>12.4g} {:>10.4f} {:>8} {:>8.2f}\n", c.name, isa, r.per_second(),
                 r.scatterings / r.photons, r.steps / r.scatterings, c.threads, r.seconds);
      std::fflush(stdout);
    }
  }
}
