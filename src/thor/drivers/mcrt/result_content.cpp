#include "thor/drivers/mcrt/result_content.hpp"

#include <cmath>

#include "thor/drivers/run.hpp"

namespace thor {
namespace {

bool skips(const config::Config& config) { return config.acceleration.core_skip.mode != config::CoreSkipMode::none; }

void write_root(io::ArrayOutput& file, const config::Config& config, const Setup& setup, const std::string& device) {
  const auto set = [&](const char* name, const auto& value) { file.attribute("/", name, value); };
  write_provenance(file, config, device);
  set("line", setup.line.name);
  set("wavelength0", setup.line.first().wavelength / constants::angstrom);
  set("thermal_velocity", setup.medium.thermal_speed / constants::km);
  set("voigt_parameter", setup.medium.a);
  set("tau0", setup.medium.tau0);
  set("column_density", setup.medium.column_density);
  set("acceleration", std::string(setup.jumps ? "jumps" : skips(config) ? "core_skip" : "none"));
}

void write_sky(io::ArrayOutput& file, const config::Config& config) {
  const Distances d = distances_of(config.sky);
  if (!d.known()) return;
  file.attribute("/sky", "redshift", d.redshift);
  file.attribute("/sky", "frame", std::string(units_of(distances_of_outputs(config.sky)).frame));
  file.attribute("/sky", "distance_luminosity", d.luminosity / (1e3 * cm_per_kpc));
  file.attribute("/sky", "distance_angular", d.angular / (1e3 * cm_per_kpc));
  file.attribute("/sky", "kpc_per_arcsec", d.angular * rad_per_arcsec / cm_per_kpc);
}

/// The atomic data that the run used, which a line list of the user's may have changed.
void write_line(io::ArrayOutput& file, const Line& line) {
  file.attribute("/line", "name", line.name);
  file.attribute("/line", "source", line.source);
  for (const AtomicTransition& t : line.transitions) {
    const auto set = [&](const char* name, const auto& value) { file.attribute("/line/" + t.name, name, value); };
    set("lower", t.lower);
    set("upper", t.upper);
    set("ion", t.ion);
    set("mass_u", t.mass / constants::m_u);
    set("wavelength_angstrom", t.wavelength / constants::angstrom);
    set("oscillator_strength", t.oscillator_strength);
    set("einstein_A_per_second", t.einstein_A);
    set("branching", t.branching);
    set("damping_per_second", t.damping);
    set("population", t.population);
    set("E1", t.core);
    set("E1_wing", t.wing);
  }
}

}  // namespace

void write_header(io::ArrayOutput& file, const config::Config& config, const Setup& setup, const std::string& device) {
  write_root(file, config, setup, device);
  write_sky(file, config);
  if (setup.medium.mesh) setup.medium.mesh->write(file);
  write_line(file, setup.line);
}

void write_ending(io::ArrayOutput& file, const Tally& tally, const std::vector<std::string>& caveats,
                  const Ending& ending) {
  const auto set = [&](const char* name, const auto& value) { file.attribute("/summary", name, value); };
  set("photons_requested", ending.requested);
  if (const double emitted = tally.light(Counter::light_emitted); tally[Counter::rays] > 0 && emitted > 0) {
    const double light = std::ldexp(tally.light(Counter::light_sent), sent_bits);
    set("share_lost_by_rays_cut", std::min(std::exp(-ending.depth_of_rays) * light / emitted, 1.));
  }
  set("complete", ending.complete(tally));
  if (ending.checkpoint) set("checkpoint", true);
  set("reliable", is_reliable(tally));
  write_doubts(file, caveats);
}

void write_generators(io::ArrayOutput& file, const config::Config& config) {
  for (std::size_t i = 0; i < config.generators.size(); ++i) {
    const std::string group = "/generators/" + std::to_string(i);
    file.attribute(group, "name", config.generators[i].name);
    file.attribute(group, "escape_fraction", config.generators[i].escape_fraction);
  }
}

void write_traffic(io::ArrayOutput& file, int domains, const BorderTimes& traffic) {
  const auto set = [&](const char* name, const auto& value) { file.attribute("/domains", name, value); };
  set("count", std::int64_t(domains));
  set("travellers", traffic.travellers);
  set("messages", traffic.messages);
  set("message_bytes", traffic.bytes);
  set("copies", traffic.copies);
  set("waiting_seconds", traffic.waiting);
  set("managing_seconds", traffic.managing);
}

}  // namespace thor
