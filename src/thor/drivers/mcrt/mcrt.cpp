#include "thor/drivers/mcrt/mcrt.hpp"

#include <utility>

#include "thor/comm/together.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/mcrt/caveats.hpp"
#include "thor/drivers/mcrt/earlier.hpp"
#include "thor/drivers/mcrt/estimate.hpp"
#include "thor/drivers/mcrt/rank_files.hpp"
#include "thor/drivers/mcrt/report.hpp"
#include "thor/drivers/mcrt/result_content.hpp"
#include "thor/drivers/mcrt/result_file.hpp"
#include "thor/drivers/mcrt/until.hpp"
#include "thor/drivers/run.hpp"
#include "thor/io/partial.hpp"
#include "thor/random/seed.hpp"

namespace thor {
namespace {

/// In every run: see Tally::conserves.
void check_conservation(const Tally& t) {
  if (t.conserves()) return;
  throw Error(
      ExitCode::internal,
      fmt::format("photons are not conserved: {} started, {} ended; {} erg/s emitted, {} erg/s "
                  "escaped. Please report this with the configuration.",
                  t[Counter::started], t.photons(), t.light(Counter::light_emitted), t.light(Counter::light_escaped)));
}

/// Place of an output among those that are binned.
std::size_t index_of(const config::Config& config, const std::string& name) {
  const auto is_it = [&](const AnyOutput& any) {
    return std::visit([&](const auto& output) { return output.name == name; }, any);
  };
  return std::size_t(std::ranges::find_if(config.outputs, is_it) - config.outputs.begin());
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
  const config::Config& config = batches.kernels.config;
  const std::uint64_t before = sample.tally.photons(), unit = share_unit(batches.kernels.setup.emitter);
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

/// A run, by its stages: validate, open, transport, write, report.
class McrtRun {
 public:
  McrtRun(const config::Config& config, const Setup& setup, const RunOptions& options, Sample sample, const Goal& goal);
  McrtRun(const McrtRun&) = delete;

  ExitCode run();

 private:
  void validate() const;
  void open();
  void serve();
  void transport();
  void keep(std::uint64_t photons_in_the_end, double seconds);
  void settle();
  void write();
  void write_result(const Ending& how, double seconds);
  void commit();
  void say() const;
  ExitCode exit_code() const;

  bool is_met() const { return reached_ && reached_->met(*config_.until); }
  /// Raw photons of the ranks are in files beside the result.
  bool keeps_parts() const { return part_ && ending_.dropped_photons.empty(); }

  const config::Config& config_;
  const Setup& setup_;
  const RunOptions& options_;
  const Goal goal_;
  const comm::World& world_;
  const std::vector<InputFile> inputs_;  ///< as they were when the run began
  const bool rays_travel_;               ///< between domains
  const bool in_parts_;                  ///< each rank writes its own raw photons
  const bool open_ended_;  ///< the number of photons is not fixed, or they have been written before: only whole batches
                           ///< are worth it
  Sample sample_;
  std::unique_ptr<device::Device> device_;
  std::string where_;  ///< the device, in words
  Setup one_;          ///< with photons that have the weight that each would have alone
  std::optional<Kernels> kernels_;
  DomainOptions domains_;
  std::optional<ResultFile> file_;
  std::optional<RankFile> part_;
  std::optional<RawPhotons> photons_;  ///< of one process
  Ending ending_;
  std::optional<Reached> reached_;
  BorderTimes traffic_;
  Caveats caveats_;
  bool parts_in_place_ = true;
};

McrtRun::McrtRun(const config::Config& config, const Setup& setup, const RunOptions& options, Sample sample,
                 const Goal& goal)
    : config_(config),
      setup_(setup),
      options_(options),
      goal_(goal),
      world_(options.world()),
      inputs_(fingerprints(config.input_files())),
      rays_travel_(setup.medium.divided && config.sends_rays()),
      in_parts_(!world_.is_alone() && config.has_raw_photons()),
      open_ended_(goal.until || sample.continued > 0 || options.checkpoint > 0),
      sample_(std::move(sample)),
      one_(setup),
      domains_(options.domains) {
  one_.emitter = for_one_photon(setup.emitter);
  ending_.requested = goal.photons, ending_.depth_of_rays = config.peel.cut;
  ending_.continues = tally_size(config) > 0;
  const bool is_limited = config.limits.max_scatterings < config::Limits::most;
  if (config.acceleration.jumps && is_limited) {
    ending_.jumps = JumpsUse::off_by_limit;
  } else if (!config.acceleration.jumps && !is_limited &&
             config.acceleration.core_skip.mode == config::CoreSkipMode::none) {
    ending_.jumps = JumpsUse::off;
  }
}

ExitCode McrtRun::run() {
  validate();
  open();
  if (!world_.is_first()) {
    serve();
    return ExitCode::done;
  }
  const std::uint64_t before = sample_.tally.photons();
  transport();
  if (ending_.cut && sample_.continued > 0 && sample_.tally.photons() == before) {
    throw Error(ExitCode::stopped, "stopped before a batch of photons had ended; nothing was written");
  }
  if (ending_.cut && options_.checkpoint > 0 && (sample_.in_flight() || !sample_.known)) {
    throw Error(ExitCode::stopped,
                "stopped before the first batch of photons had ended; nothing was written: allow more time "
                "(--max-walltime, --drain)");
  }
  settle();
  write();
  commit();
  say();
  forget_warnings();
  return exit_code();
}

void McrtRun::validate() const {
  if (options_.checkpoint > 0 && (config_.has_raw_photons() || tally_size(config_) == 0)) {
    throw Error(ExitCode::usage,
                "--checkpoint: needs a tally (output.tally: always) and no raw photons: remove the output of type "
                "photons, or set output.tally: always");
  }
  if (options_.checkpoint > 0 && options_.output.ends_with(".zarr")) {
    throw Error(ExitCode::usage,
                "--checkpoint: checkpoints need a .h5 result: a .zarr directory cannot be replaced atomically");
  }
  // All have read what the first rank may replace, and have read the same.
  std::uint64_t read = io::hash_of(config_.resolved);
  for (const InputFile& input : inputs_) read = mix64(read ^ input.print.hash) + input.print.bytes;
  require_same_files(world_, read);
  if (rays_travel_ && config_.peel.fuse) {
    throw Error(ExitCode::usage, "--domains: peel.fuse needs the whole grid on each rank: remove either");
  }
}

/// The device, and the files of all ranks.
void McrtRun::open() {
  // On domains, processors take less time than a GPU as a rule: what crosses a border is dealt with by one of them.
  if (options_.device != "auto" || !one_.medium.divided) device_ = choose_device(options_, config_.peeled.has_value());
  where_ = describe(device_.get(), options_.cpu);
  kernels_.emplace(config_, one_, Compute{device_.get(), options_.device_options, options_.cpu});
  if (domains_.border.in_flight == 0) {
    const std::uint64_t own = device_ ? 1 << 19 : std::uint64_t(options_.cpu.threads) * 8 * 16;
    domains_.border.in_flight = std::max<std::uint64_t>(world_.largest(own) * std::uint64_t(world_.ranks()), 1 << 18);
  }
  const std::string run = in_parts_ ? RankFile::identity(world_, config_) : "";
  const auto open_files = [&] {
    const auto write_head = [this](io::ArrayOutput& out) {
      write_header(out, config_, setup_, where_);
      write_inputs(out, config_, inputs_, options_.output);
    };
    if (world_.is_first()) file_.emplace(config_, setup_, options_, write_head, in_parts_);
    if (in_parts_) part_.emplace(world_, config_, setup_, options_, goal_.photons, run);
  };
  comm::do_together(world_, open_files, [&] { file_.reset(), part_.reset(); });
  if (!world_.is_first() || in_parts_) return;
  photons_.emplace(config_, setup_, goal_.photons, **file_, [this](const Error& why, const std::string& text) {
    file_->start_again();
    ending_.dropped_photons = why.what();
    if (!text.empty()) message("\nthor: {}\n", text);
  });
}

/// At all ranks but the first.
void McrtRun::serve() {
  Watch watch(ProgressMode::never, {options_.max_walltime, options_.drain, std::nullopt, options_.hold});
  const Sink sink = part_ ? part_->sink() : Sink();
  Batches{*kernels_, watch, sink, world_, domains_}.serve(sample_.tally);
  const auto write_head = [&](io::ArrayOutput& out) { write_header(out, config_, setup_, where_); };
  if (part_ && part_->finish(write_head)) part_->follow();
}

void McrtRun::transport() {
  Watch watch(options_.shown(), {options_.max_walltime, options_.drain,
                                 goal_.until ? config_.until->max_time : std::nullopt, options_.hold});
  const Sink sink = part_ ? part_->sink() : photons_->sink();
  Checkpoints checkpoints{options_.checkpoint,
                          [&](std::uint64_t photons) { keep(photons, sample_.seconds + watch.seconds()); }};
  const Batches batches{*kernels_, watch, sink, world_, domains_, &traffic_, &checkpoints};
  const BatchesEnd end = run_batches(batches, goal_, open_ended_, sample_);
  batches.end();
  sample_.seconds += watch.seconds();
  ending_.cut = !end.all;
  reached_ = end.reached;
}

/// A checkpoint: the result of the photons so far, which `thor continue` completes.
void McrtRun::keep(std::uint64_t photons_in_the_end, double seconds) {
  Ending so_far = ending_;
  so_far.requested = photons_in_the_end;
  so_far.cut = so_far.all_light = so_far.checkpoint = true;
  sample_.tally.share_light(sample_.tally.photons());
  file_->require_mine();
  try {
    write_result(so_far, seconds);
    file_->commit(true);
  } catch (const Error& e) {
    if (e.code() != ExitCode::output) throw;
    warning("checkpoint not written ({}); the run continues", e.what());
  }
  file_->start_again();
  sample_.tally.share_light(1);
}

/// What the run has come to: its photons share the light.
void McrtRun::settle() {
  Tally& total = sample_.tally;
  const bool whole = open_ended_ && !sample_.in_flight();
  if (whole && (goal_.until || !ending_.cut)) ending_.requested = total.photons();
  ending_.all_light = whole;
  if (goal_.until && !is_met()) ending_.unmet = describe(*config_.until, *reached_);
  if (goal_.until && is_met() && config_.until->of == ErrorOf::total) ending_.met_in_all = config_.until->output;
  total.share_light(std::max<std::uint64_t>(whole ? total.photons() : ending_.requested, 1));
}

/// Raw photons for which there is no room must not cost the rest.
void McrtRun::write() {
  constexpr double many_entries = 4e6;  // a second or so
  if (!options_.quiet && config::count_entries(config_.outputs) > many_entries) {
    message("thor: writing {:.2g} bins to {}\n", config::count_bins(config_.outputs), options_.output);
  }
  const auto write_head = [&](io::ArrayOutput& out) { write_header(out, config_, setup_, where_); };
  if (part_ && !part_->finish(write_head)) ending_.dropped_photons = part_->dropped();
  try {
    write_result(ending_, sample_.seconds);
  } catch (const Error& e) {
    if (e.code() != ExitCode::output || !(keeps_parts() || (photons_ && *photons_))) throw;
    if (keeps_parts()) {
      part_->drop();
      file_->start_again();
      ending_.dropped_photons = e.what();
    } else {
      photons_->drop(e);
    }
    write_result(ending_, sample_.seconds);
  }
}

void McrtRun::write_result(const Ending& how, double seconds) {
  check_conservation(sample_.tally);
  io::ArrayOutput& out = **file_;
  if (photons_) photons_->finish();
  if (part_ && how.dropped_photons.empty()) io::write_parts(out, part_->parts());
  caveats_ = caveats_of(sample_.tally, sample_.tally.write(out), how);
  write_ending(out, sample_.tally, caveats_.stored, how);
  out.attribute("/summary", "equal_weights", setup_.emitter.equal_weights());
  write_generators(out, config_);
  if (reached_) write_reached(out, *config_.until, *reached_);
  write_sample(out, config_, sample_);
  write_effort(out, seconds, options_);
  if (setup_.medium.divided) write_traffic(out, setup_.medium.divided->partition->count(), traffic_);
  out.finish();
}

void McrtRun::commit() {
  file_->commit(false);
  parts_in_place_ = !keeps_parts() || part_->commit();
  file_->remove_old_parts(keeps_parts() ? world_.ranks() : 0);
}

void McrtRun::say() const {
  if (!options_.quiet) {
    report(config_, setup_, options_, sample_.tally,
           {where_, sample_.seconds, world_.ranks(), keeps_parts(), traffic_});
    if (is_met()) message("thor: {}\n", describe(*config_.until, *reached_));
  }
  for (const std::string& caveat : caveats_.printed) warning("{}", caveat);
}

ExitCode McrtRun::exit_code() const {
  if (!ending_.dropped_photons.empty() || !parts_in_place_) return ExitCode::output;
  const bool met = goal_.until ? is_met() : !ending_.cut;
  if (!ending_.complete(sample_.tally) || !met) return ExitCode::stopped;
  return is_reliable(sample_.tally) ? ExitCode::done : ExitCode::unreliable;
}

}  // namespace

ExitCode run_mcrt(const config::Config& config, const Setup& setup, const RunOptions& options) {
  const std::uint64_t photons = setup.emitter.count();
  const Goal goal{config.until ? std::min(photons, config.until->max_photons) : photons, config.until.has_value()};
  return run_mcrt(config, setup, options, build_sample(config, setup), goal);
}

ExitCode run_mcrt(const config::Config& config, const Setup& setup, const RunOptions& options, Sample sample,
                  const Goal& goal) {
  return McrtRun(config, setup, options, std::move(sample), goal).run();
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
