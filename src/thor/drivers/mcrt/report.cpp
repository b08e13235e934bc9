#include "thor/drivers/mcrt/report.hpp"

#include <fmt/format.h>

#include "thor/core/message.hpp"
#include "thor/drivers/mcrt/caveats.hpp"
#include "thor/io/result/parts.hpp"

namespace thor {
namespace {

/// A share in per cent: 100 only if it is all.
std::string share_text(double share) {
  std::string text = fmt::format("{:.4g}", 100 * share);
  return text == "100" && share < 1 ? "more than 99.99" : text;
}

/// A number of photons to divide by.
double photons_of(const Tally& total) { return double(std::max<std::uint64_t>(total.photons(), 1)); }

void report_jumps(const Tally& total) {
  const auto jumps = double(total[Counter::jumps]), followed = double(total[Counter::followed]);
  const double all = std::max(double(total[Counter::scatterings]), 1.), photons = photons_of(total);
  message(
      "thor:   {} % of the scatterings are inside sphere jumps ({:.3g} a photon), and {:.3g} a photon are followed\n",
      share_text(1 - followed / all), jumps / photons, followed / photons);
}

void report_domains(int domains, const Tally& total, int threads, const RunFacts& facts) {
  const BorderTimes& traffic = facts.traffic;
  const double seconds = double(threads) * facts.ranks * std::max(facts.seconds, 1e-9);
  const std::string copies =
      traffic.copies > 0 ? fmt::format("; {} times a rank took over from another", traffic.copies) : "";
  message(
      "thor:   {} domains: {:.3g} travellers a photon, {:.3g} in a message; threads waited for {:.3g} % of the "
      "time{}\n",
      domains, double(traffic.travellers) / photons_of(total),
      double(traffic.travellers) / double(std::max<std::uint64_t>(traffic.messages, 1)),
      100 * traffic.waiting / seconds, copies);
}

void report_generators(const config::Config& config, const Tally& total) {
  for (std::size_t i = 0; config.generators.size() > 1 && i < config.generators.size(); ++i) {
    const auto light = [&](GeneratorCounter counter) { return total.light(int(i), counter); };
    const double unresolved = light(GeneratorCounter::light_unresolved);
    message("thor:   generator {}: {:.4g} erg/s emitted, {}{:.4g} escaped, {:.4g} absorbed, {:.4g} stopped\n",
            config.generators[i].name, light(GeneratorCounter::light_emitted),
            unresolved > 0 ? fmt::format("{:.4g} absorbed at birth, ", unresolved) : "",
            light(GeneratorCounter::light_escaped), light(GeneratorCounter::light_absorbed),
            light(GeneratorCounter::light_stopped));
  }
}

}  // namespace

void report(const config::Config& config, const Setup& setup, const RunOptions& options, const Tally& total,
            const RunFacts& facts) {
  const auto scatterings = double(total[Counter::scatterings]);
  message("thor: {} photons, {:.3g} scatterings each, {:.3g} scatterings/s in {:.3g} s on {}; {}; wrote {}\n",
          total.photons(), scatterings / photons_of(total), scatterings / facts.seconds, facts.seconds, facts.device,
          ends_text(total), options.output);
  if (facts.in_parts) {
    message("thor:   raw photons are in {}: `thor merge {}` joins them\n",
            io::names_of_parts(options.output, facts.ranks), options.output);
  }
  if (setup.jumps) report_jumps(total);
  if (setup.medium.divided) report_domains(setup.medium.divided->partition->count(), total, options.cpu.threads, facts);
  report_generators(config, total);
}

}  // namespace thor
