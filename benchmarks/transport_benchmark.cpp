// Scatterings per second of the whole transport, on one thread and more, one lane and many.
//   transport_benchmark [photons] [case ...]             cases: see below; default all
//   transport_benchmark --ratios [photons] [case ...]    each case in turn, seven times over: the median of its rate
//   over
//                                                        that of the first case, which drifts of the machine leave
//                                                        alone
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>

#include "thor/config/config.hpp"
#include "thor/drivers/mcrt.hpp"
#include "thor/drivers/setup.hpp"

namespace {

using namespace thor;

struct Case {
  std::string name, precision, tau0, skip;
  int threads = 1;
  bool one_lane = false;
  double share = 1;  ///< of the photons asked for
  std::string dataset = "";
};

struct Rate {
  double scatterings, steps, seconds, photons, mean_x;
};

Rate measure(const Case& c, double photons, const std::string& isa) {
  const auto count = std::uint64_t(std::max(1., photons * c.share));
  const std::string yaml = fmt::format(
      "line: Lya\nprecision: {}\ndataset: {{type: shell, outer_radius: 1 kpc, temperature: 2e4 K, tau0: {}{}}}\n"
      "generators: [{{type: point, photons: {}}}]\nacceleration: {{core_skip: {}}}\noutput: {{path: none.h5}}\n",
      c.precision, c.tau0, c.dataset, count, c.skip);
  const config::Config config = config::parse(yaml, "benchmark");
  const Setup setup = build_setup(config);
  Pool pool(0, count, std::uint64_t(c.threads) * 16);
  cpu::Control control;
  std::vector<Rate> sums(std::size_t(c.threads), Rate{});
  const cpu::Sink sink = [&](int worker, std::span<const Photon> batch) {
    Rate& r = sums[std::size_t(worker)];
    for (const Photon& p : batch) {
      r.scatterings += double(p.scatterings), r.steps += double(p.steps), r.mean_x += std::abs(p.frequency_final);
    }
  };
  const auto start = std::chrono::steady_clock::now();
  run_problem(config, setup, pool, {c.threads, c.one_lane, isa}, control, sink);
  Rate total{};
  total.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const Rate& r : sums) total.scatterings += r.scatterings, total.steps += r.steps, total.mean_x += r.mean_x;
  total.photons = double(count), total.mean_x /= double(count);
  return total;
}

void print_ratios(const std::vector<Case>& cases, double photons) {
  std::vector<std::vector<double>> rates(cases.size());
  for (int repeat = 0; repeat < 7; ++repeat) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Rate r = measure(cases[i], photons, "");
      rates[i].push_back(r.scatterings / r.seconds);
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
  fmt::print("{} ({} threads), static sphere T = 2e4 K unless named otherwise, {} photons\n", cpu::processor_name(),
             threads, photons);
  fmt::print("{:<20} {:<10} {:>12} {:>12} {:>10} {:>8} {:>8} {:>8}\n", "case", "kernel", "scatt./s", "scatt./ph",
             "steps/sc.", "<|x|>", "threads", "s");
  std::erase_if(cases, [&](const Case& c) { return !wanted.empty() && !wanted.count(c.name); });
  if (ratios) {
    print_ratios(cases, photons);
    return 0;
  }
  for (const auto isa : cpu::instruction_sets()) {
    const bool best = isa == cpu::instruction_sets().back();
    for (const Case& c : cases) {
      if (!best && c.name != "single" && c.name != "double") continue;
      const Rate r = measure(c, best ? photons : photons / 8, std::string(isa));
      fmt::print("{:<20} {:<10} {:>12.4g} {:>12.4g} {:>10.4f} {:>8.3f} {:>8} {:>8.2f}\n", c.name, isa,
                 r.scatterings / r.seconds, r.scatterings / r.photons, r.steps / r.scatterings, r.mean_x, c.threads,
                 r.seconds);
      std::fflush(stdout);
    }
  }
}
