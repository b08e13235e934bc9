#include "thor/drivers/mcrt.hpp"

#include <cmath>
#include <filesystem>
#include <utility>

#include "thor/comm/together.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/caveats.hpp"
#include "thor/drivers/earlier.hpp"
#include "thor/drivers/estimate.hpp"
#include "thor/drivers/provenance.hpp"
#include "thor/drivers/rank_files.hpp"
#include "thor/drivers/result_file.hpp"
#include "thor/drivers/until.hpp"
#include "thor/io/partial.hpp"
#include "thor/random/seed.hpp"

namespace thor {
namespace {

bool skips(const config::Config& config) { return config.acceleration.core_skip.mode != config::CoreSkipMode::none; }

void write_header(io::ArrayOutput& file, const config::Config& config, const Setup& setup, const std::string& device) {
  const auto set = [&](const char* name, const auto& value) { file.attribute("/", name, value); };
  write_provenance(file, {config.resolved, config.seed, config.precision, device});
  set("line", setup.line.name);
  set("wavelength0", setup.line.first().wavelength / constants::angstrom);
  set("thermal_velocity", setup.medium.thermal_speed / constants::km);
  set("voigt_parameter", setup.medium.a);
  set("tau0", setup.medium.tau0);
  set("column_density", setup.medium.column_density);
  set("acceleration", std::string(setup.jumps ? "jumps" : skips(config) ? "core_skip" : "none"));
  if (const Distances d = distances_of(config.sky); d.known()) {
    file.attribute("/sky", "redshift", d.redshift);
    file.attribute("/sky", "frame", std::string(units_of(distances_of_outputs(config.sky)).frame));
    file.attribute("/sky", "distance_luminosity", d.luminosity / (1e3 * cm_per_kpc));
    file.attribute("/sky", "distance_angular", d.angular / (1e3 * cm_per_kpc));
    file.attribute("/sky", "kpc_per_arcsec", d.angular * rad_per_arcsec / cm_per_kpc);
  }
  if (!setup.medium.cells) return;
  const GridShape& grid = setup.medium.grid;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string axis(1, "xyz"[k]);
    file.attribute("/grid", "cells_" + axis, grid.count[k]);
    file.attribute("/grid", "origin_" + axis, grid.origin[k]);
  }
  file.attribute("/grid", "cell_size", grid.cell_size);
  file.attribute("/grid", "periodic", grid.periodic);
  file.attribute("/grid", "redshift", grid.redshift);
  file.attribute("/grid", "hubble", grid.hubble);
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

/// In every run: see Tally::conserves.
void check_conservation(const Tally& t) {
  if (t.conserves()) return;
  throw Error(
      ExitCode::internal,
      fmt::format("photons are not conserved: {} started, {} ended; {} erg/s emitted, {} erg/s "
                  "escaped. Please report this with the configuration.",
                  t[Counter::started], t.photons(), t.light(Counter::light_emitted), t.light(Counter::light_escaped)));
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

/// The end of the run, its warnings and its caveats, one per line.
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
  set("caveats", joined(caveats));
  set("warnings", joined(warnings_said()));
}

/// What photons and rays did between the domains of a grid.
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

/// Place of an output among those that are binned.
std::size_t index_of(const config::Config& config, const std::string& name) {
  const auto is_it = [&](const AnyOutput& any) {
    return std::visit([&](const auto& output) { return output.name == name; }, any);
  };
  return std::size_t(std::ranges::find_if(config.outputs, is_it) - config.outputs.begin());
}

/// A share in per cent: 100 only if it is all.
std::string share_text(double share) {
  std::string text = fmt::format("{:.4g}", 100 * share);
  return text == "100" && share < 1 ? "more than 99.99" : text;
}

const char* name_of(Watch::Stop stop) {
  constexpr const char* names[] = {"", "signal", "walltime", "max_time"};
  return names[int(stop)];
}

/// How batches ended: whether all photons of the goal were run, and where an error stands that is to be reached.
struct BatchesEnd {
  bool all;
  std::optional<Reached> reached;
};

/// Runs batches until the goal is reached or the run is stopped.
BatchesEnd run_batches(const Batches& batches, const Goal& goal, bool whole, Sample& sample) {
  const config::Config& config = batches.config;
  const std::uint64_t before = sample.tally.photons(), unit = share_unit(batches.setup.emitter);
  std::uint64_t target = goal.photons;
  for (;;) {
    if (goal.until) sample.look = target;
    batches.watch.expect(target - std::min(before, target));
    const bool all = batches.run(sample, target, whole);
    if (!config.until) return {all, std::nullopt};
    const config::Until& until = *config.until;
    Reached reached{sample.tally.photons(),
                    sample.seconds + batches.watch.seconds(),
                    sample.tally.error(index_of(config, until.output), until.of),
                    {}};
    const std::uint64_t next = goal.until ? next_look(until, reached, unit) : 0;
    if (goal.until && reached.met(until)) {
      reached.ended = "met";
    } else if (!all) {
      reached.ended = name_of(batches.watch.stopped());
    } else if (next <= target) {
      reached.ended = !goal.until ? "photons" : reached.is_dark() ? "dark" : "max_photons";
    } else {
      target = next;
      continue;
    }
    return {all, reached};
  }
}

}  // namespace

ExitCode run_mcrt(const config::Config& config, const Setup& setup, const RunOptions& options) {
  const std::uint64_t photons = setup.emitter.count();
  const Goal goal{config.until ? std::min(photons, config.until->max_photons) : photons, config.until.has_value()};
  return run_mcrt(config, setup, options, build_sample(config, setup), goal);
}

ExitCode run_mcrt(const config::Config& config, const Setup& setup, const RunOptions& options, Sample sample,
                  const Goal& goal) {
  const std::vector<InputFile> inputs = inputs_of(config);
  const comm::World alone{comm::World::Alone{}}, &world = options.world ? *options.world : alone;
  if (options.checkpoint > 0 && (config.has_raw_photons() || tally_size(config) == 0)) {
    throw Error(ExitCode::usage,
                "--checkpoint: needs a tally (output.tally: always) and no raw photons: remove the output of type "
                "photons, or set output.tally: always");
  }
  if (options.checkpoint > 0 && options.output.ends_with(".zarr")) {
    throw Error(ExitCode::usage,
                "--checkpoint: checkpoints need a .h5 result: a .zarr directory cannot be replaced atomically");
  }
  // All have read what the first rank may replace, and have read the same.
  std::uint64_t read = io::hash_of(config.resolved);
  for (const InputFile& input : inputs) read = mix64(read ^ input.print.hash) + input.print.bytes;
  if (world.largest(read) != ~world.largest(~read)) {
    throw Error(
        ExitCode::input,
        "ranks read different configurations or input files of the same name: copy the same files to all machines");
  }
  const bool rays_travel = setup.medium.spread && !build_observers(config, setup.medium).empty();
  if (rays_travel && options.device != "auto" && options.device != "cpu") {
    throw Error(ExitCode::usage, "--domains: observers are possible on CPUs only: use --device cpu");
  }
  if (rays_travel && config.peel.fuse) {
    throw Error(ExitCode::usage, "--domains: peel.fuse needs the whole grid on each rank: remove either");
  }
  const std::unique_ptr<device::Device> device =
      rays_travel ? nullptr : choose_device(options, config.peeled.has_value(), world.rank_on_node());
  const Compute compute{device.get(), options.device_options, options.cpu};
  Setup one = setup;
  one.emitter = for_one_photon(setup.emitter);
  DomainOptions domains = options.domains;
  if (domains.border.in_flight == 0) {
    const std::uint64_t own = device ? 1 << 19 : std::uint64_t(options.cpu.threads) * 8 * 16;
    domains.border.in_flight = std::max<std::uint64_t>(world.largest(own) * std::uint64_t(world.ranks()), 1 << 18);
  }
  const std::string where = describe(device.get(), options.cpu);
  const auto write_head = [&](io::ArrayOutput& out) {
    write_header(out, config, setup, where);
    write_line(out, setup.line);
  };
  const bool in_parts = !world.is_alone() && config.has_raw_photons();
  const std::string run = in_parts ? RankFile::identity(world, config) : "";
  std::optional<ResultFile> opened;
  std::optional<RankFile> part;
  const auto open = [&] {
    const auto write_all = [&](io::ArrayOutput& out) {
      write_head(out);
      write_inputs(out, config, inputs, options.output);
    };
    if (world.is_first()) opened.emplace(config, setup, options, write_all, in_parts);
    if (in_parts) part.emplace(world, config, setup, options, goal.photons, run);
  };
  comm::do_together(world, open, [&] { opened.reset(), part.reset(); });
  if (!world.is_first()) {
    Watch watch(ProgressMode::never, {options.max_walltime, options.drain, std::nullopt, options.hold});
    const Sink sink = part ? part->sink() : Sink();
    Batches{config, one, compute, watch, sink, world, domains}.serve(sample.tally);
    if (part && part->finish(write_head)) part->follow();
    return ExitCode::done;
  }
  ResultFile& file = *opened;
  Ending ending{.requested = goal.photons, .depth_of_rays = config.peel.cut};
  ending.continues = tally_size(config) > 0;
  const bool is_limited = config.limits.max_scatterings < config::Limits::most;
  if (config.acceleration.jumps && is_limited) {
    ending.jumps = JumpsUse::off_by_limit;
  } else if (!config.acceleration.jumps && !is_limited &&
             config.acceleration.core_skip.mode == config::CoreSkipMode::none) {
    ending.jumps = JumpsUse::off;
  }
  std::optional<RawPhotons> photons;  // of one process
  if (!in_parts) {
    photons.emplace(config, setup, goal.photons, *file, [&](const Error& why, const std::string& text) {
      file.start_again();
      ending.dropped_photons = why.what();
      if (!text.empty()) message("\nthor: {}\n", text);
    });
  }
  const Sink sink = part ? part->sink() : photons->sink();

  // Of a run whose number of photons is not fixed, or which has been written before, only whole batches are worth it.
  const bool open_ended = goal.until || sample.continued > 0 || options.checkpoint > 0;
  const std::uint64_t before = sample.tally.photons();
  std::optional<Reached> reached;
  BorderTimes traffic;
  Caveats caveats;
  const auto write = [&](const Ending& how, double seconds) {
    check_conservation(sample.tally);
    if (photons) photons->finish();
    if (part && how.dropped_photons.empty()) io::write_parts(*file, part->parts());
    caveats = caveats_of(sample.tally, sample.tally.write(*file), how);
    write_ending(*file, sample.tally, caveats.stored, how);
    file->attribute("/summary", "equal_weights", setup.emitter.equal_weights());
    for (std::size_t i = 0; i < config.generators.size(); ++i) {
      const std::string group = "/generators/" + std::to_string(i);
      file->attribute(group, "name", config.generators[i].name);
      file->attribute(group, "escape_fraction", config.generators[i].escape_fraction);
    }
    if (reached) write_reached(*file, *config.until, *reached);
    write_sample(*file, config, sample);
    file->attribute("/summary", "transport_seconds", seconds);
    file->attribute("/summary", "threads", std::int64_t(options.cpu.threads));
    file->attribute("/summary", "ranks", std::int64_t(world.ranks()));
    if (setup.medium.spread) write_traffic(*file, setup.medium.spread->domains.count(), traffic);
    file->finish();
  };
  {
    Watch watch(
        options.quiet ? ProgressMode::never : options.progress,
        {options.max_walltime, options.drain, goal.until ? config.until->max_time : std::nullopt, options.hold});
    // A checkpoint is the result of the photons so far, which `thor continue` completes.
    const auto keep = [&](std::uint64_t photons_in_the_end) {
      Ending so_far = ending;
      so_far.requested = photons_in_the_end;
      so_far.cut = so_far.all_light = so_far.checkpoint = true;
      sample.tally.share_light(sample.tally.photons());
      file.require_mine();
      try {
        write(so_far, sample.seconds + watch.seconds());
        file.commit(true);
      } catch (const Error& e) {
        if (e.code() != ExitCode::output) throw;
        warning("checkpoint not written ({}); the run continues", e.what());
      }
      file.start_again();
      sample.tally.share_light(1);
    };
    Checkpoints checkpoints{options.checkpoint, keep};
    const Batches batches{config, one, compute, watch, sink, world, domains, &traffic, &checkpoints};
    const BatchesEnd end = run_batches(batches, goal, open_ended, sample);
    batches.end();
    sample.seconds += watch.seconds();
    ending.cut = !end.all;
    reached = end.reached;
  }
  Tally& total = sample.tally;
  if (ending.cut && sample.continued > 0 && total.photons() == before) {
    throw Error(ExitCode::stopped, "stopped before a batch of photons had ended; nothing was written");
  }
  if (ending.cut && options.checkpoint > 0 && (sample.in_flight() || !sample.known)) {
    throw Error(ExitCode::stopped,
                "stopped before the first batch of photons had ended; nothing was written: allow more time "
                "(--max-walltime, --drain)");
  }
  const double seconds = sample.seconds;
  const bool whole = open_ended && !sample.in_flight();
  if (whole && (goal.until || !ending.cut)) ending.requested = total.photons();
  ending.all_light = whole;
  if (goal.until && !reached->met(*config.until)) ending.unmet = describe(*config.until, *reached);
  if (goal.until && reached->met(*config.until) && config.until->of == ErrorOf::total) {
    ending.met_in_all = config.until->output;
  }
  total.share_light(std::max<std::uint64_t>(whole ? total.photons() : ending.requested, 1));

  constexpr double many_cells = 4e6;  // a second or so
  if (!options.quiet && config::count_cells(config.outputs) > many_cells) {
    message("thor: writing {:.2g} bins to {}\n", config::count_bins(config.outputs), options.output);
  }
  if (part && !part->finish(write_head)) ending.dropped_photons = part->dropped();
  const bool parts_kept = part && ending.dropped_photons.empty();
  try {
    write(ending, seconds);
  } catch (const Error& e) {
    if (e.code() != ExitCode::output || !(parts_kept || (photons && *photons))) throw;
    if (parts_kept) {
      part->drop();
      file.start_again();
      ending.dropped_photons = e.what();
    } else {
      photons->drop(e);
    }
    write(ending, seconds);
  }
  file.commit(false);
  const bool parts_in_place = !part || !ending.dropped_photons.empty() || part->commit();
  file.remove_old_parts(part && ending.dropped_photons.empty() ? world.ranks() : 0);

  if (!options.quiet) {
    message("thor: {} photons, {:.3g} scatterings each, {:.3g} scatterings/s in {:.3g} s on {}; {}; wrote {}\n",
            total.photons(), double(total[Counter::scatterings]) / double(std::max<std::uint64_t>(total.photons(), 1)),
            double(total[Counter::scatterings]) / seconds, seconds, where, ends_text(total), options.output);
    if (part && ending.dropped_photons.empty()) {
      message("thor:   raw photons are in {}: `thor merge {}` joins them\n",
              io::names_of_parts(options.output, world.ranks()), options.output);
    }
    if (setup.jumps) {
      const auto photons = double(std::max<std::uint64_t>(total.photons(), 1));
      const auto jumps = double(total[Counter::jumps]), followed = double(total[Counter::followed]);
      const double all = std::max(double(total[Counter::scatterings]), 1.);
      message(
          "thor:   {} % of the scatterings are inside sphere jumps ({:.3g} a photon), and {:.3g} a photon are "
          "followed\n",
          share_text(1 - followed / all), jumps / photons, followed / photons);
    }
    if (setup.medium.spread) {
      const double threads = double(options.cpu.threads) * world.ranks() * std::max(seconds, 1e-9);
      message(
          "thor:   {} domains: {:.3g} travellers a photon, {:.3g} in a message; threads waited for {:.3g} % of the "
          "time{}\n",
          setup.medium.spread->domains.count(),
          double(traffic.travellers) / double(std::max<std::uint64_t>(total.photons(), 1)),
          double(traffic.travellers) / double(std::max<std::uint64_t>(traffic.messages, 1)),
          100 * traffic.waiting / threads,
          traffic.copies > 0 ? fmt::format("; {} times a rank took over from "
                                           "another",
                                           traffic.copies)
                             : "");
    }
    for (std::size_t i = 0; config.generators.size() > 1 && i < config.generators.size(); ++i) {
      const double emitted = total.light(int(i), GeneratorCounter::light_emitted);
      const double unresolved = total.light(int(i), GeneratorCounter::light_unresolved);
      message("thor:   generator {}: {:.4g} erg/s emitted, {}{:.4g} escaped, {:.4g} absorbed, {:.4g} stopped\n",
              config.generators[std::size_t(i)].name, emitted,
              unresolved > 0 ? fmt::format("{:.4g} absorbed at birth, ", unresolved) : "",
              total.light(int(i), GeneratorCounter::light_escaped),
              total.light(int(i), GeneratorCounter::light_absorbed),
              total.light(int(i), GeneratorCounter::light_stopped));
    }
  }
  if (reached && reached->met(*config.until) && !options.quiet) {
    message("thor: {}\n", describe(*config.until, *reached));
  }
  for (const std::string& caveat : caveats.printed) warning("{}", caveat);
  forget_warnings();
  if (!ending.dropped_photons.empty() || !parts_in_place) return ExitCode::output;
  const bool met = goal.until ? reached->met(*config.until) : !ending.cut;
  if (!ending.complete(total) || !met) return ExitCode::stopped;
  return is_reliable(total) ? ExitCode::done : ExitCode::unreliable;
}

Photon replay(const config::Config& config, const Setup& setup, std::uint64_t id, const cpu::Options& options) {
  if (id >= setup.emitter.count()) {
    throw Error(ExitCode::usage,
                fmt::format("photon {} does not exist: ids run from 0 to {}", id, setup.emitter.count() - 1));
  }
  Photon photon{};
  Pool pool(id, id + 1, 1);
  Control control;
  cpu::Options one = options;
  one.threads = 1;
  Tally tally = build_tally(config, setup);
  run_problem(config, setup, pool, {nullptr, {}, one}, control, tally, [&](std::span<const Photon> batch) {
    if (!batch.empty()) photon = batch.front();
  });
  return photon;
}

}  // namespace thor
