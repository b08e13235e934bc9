#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "commands.hpp"
#include "thor/comm/world.hpp"
#include "thor/core/message.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/drivers/config.hpp"

namespace thor::command {

void add_threads(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "worker threads (default: all)")->check(CLI::Range(1, 4096));
}

void add_config(CLI::App& command, ConfigArguments& arguments) {
  command.add_option("CONFIG", arguments.path, "configuration (YAML); - is stdin")->required();
  command.add_option("--set", arguments.set, "override a key: a.b=value")->take_all()->allow_extra_args(false);
  add_threads(command, arguments.threads);
}

void add_engine(CLI::App& command, EngineArguments& arguments) {
  RunOptions& options = arguments.options;
  command.add_flag("--overwrite", options.overwrite, "replace an existing result file");
  command.add_option("--device", options.device, fmt::format("where to run: {} (default: auto)", device::choices()));
  command.add_option("--lanes", options.device_options.lanes, "photons in flight on a GPU (default: automatic)")
      ->check(CLI::Range(std::uint64_t(1), std::uint64_t(1) << 31));
  command
      .add_option("--slice-steps", options.device_options.steps,
                  "steps of a photon in one launch on a GPU, for profilers (default: as many as take 25 ms)")
      ->check(CLI::Range(1, 1 << 20));
  command.add_option("--max-walltime", options.max_walltime, "stop after this many seconds")
      ->check(number_between(1e-3, 1e9));
  command
      .add_option("--drain", options.drain, "seconds for photons in flight to end after a signal or limit (default: 5)")
      ->check(number_between(0, 1e9));
  command
      .add_option("--checkpoint", options.checkpoint,
                  "interval in seconds at which the result so far is written, for `thor continue`")
      ->check(number_between(1e-3, 1e9));
  DomainOptions& domains = options.domains;
  command
      .add_option("--domains", domains.count,
                  "number of parts of a grid or mesh, which are shared among the ranks (default: 1)")
      ->check(CLI::Range(1, 1 << 20));
  command.add_flag(
      "--by-light", domains.by_light,
      "cut by the photons that begin in cells, for half of their weight (default: as many cells in each part)");
  command.add_option("--margin", domains.margin, "cells by which parts overlap on each side (default: 4)")
      ->check(CLI::Range(0, 1 << 20));
  command
      .add_option("--in-flight", domains.border.in_flight,
                  "photons in flight in all parts of a grid, which limits the memory (default: automatic)")
      ->check(CLI::Range(std::uint64_t(1), std::uint64_t(1) << 40));
  command
      .add_option("--message", domains.border.message,
                  "maximum number of photons in a message between ranks (default: 512)")
      ->check(CLI::Range(std::size_t(1), std::size_t(1) << 20));
  command.add_flag("--no-relief", domains.border.no_relief,
                   "idle ranks do not copy parts of busy ones (default: they do)");
  add_progress(command, arguments.progress);
  command.add_flag("--quiet", options.quiet, "no progress line and no summary");
  command.add_option("--isa", options.cpu.isa, "kernel instruction set (see thor devices)");
  command.add_flag("--one-lane", options.cpu.one_lane, "one photon at a time: the scalar reference");
}

RunOptions EngineArguments::resolved() const {
  RunOptions result = options;
  result.cpu.threads = threads ? threads : available_threads();
  result.progress = progress_mode(progress);
  result.hold = Hold::wanted();
  return result;
}

int threads_of_rank(const comm::World& world) {
  const int available = available_threads(), ranks = world.ranks_on_node();
  return available * ranks <= int(std::thread::hardware_concurrency()) ? available : std::max(available / ranks, 1);
}

ExitCode report_failure() {
  try {
    throw;
  } catch (const Error& e) {
    say_error(e.what());
    return e.code();
  } catch (const std::bad_alloc&) {
    say_error("out of memory; use fewer bins, fewer threads (--threads) or fewer lanes (--lanes)");
    return ExitCode::device;
  } catch (const std::filesystem::filesystem_error& e) {
    say_error(fmt::format("cannot use the file '{}': {}; give another name", e.path1().string(), e.code().message()));
    return ExitCode::output;
  } catch (const std::system_error& e) {  // a thread could not be started
    say_error(fmt::format("out of memory or threads ({}); use fewer threads (--threads)", e.code().message()));
    return ExitCode::device;
  } catch (const std::exception& e) {
    say_error(fmt::format("internal error: {} (please report)", e.what()));
    return ExitCode::internal;
  }
}

ExitCode run_on_ranks(const EngineArguments& arguments, const std::function<ExitCode(RunOptions options)>& work) {
  return on_ranks([&](const comm::World& world) {
    RunOptions options = arguments.resolved();
    if (options.quiet) say_no_messages();
    if (world.is_alone()) return work(options);
    options.domains.world = &world;
    if (arguments.threads == 0) options.cpu.threads = threads_of_rank(world);
    options.quiet = options.quiet || !world.is_first();
    return work(options);
  });
}

ExitCode on_ranks(const std::function<ExitCode(const comm::World&)>& work) {
  const comm::World world;
  if (world.is_alone()) return work(world);
  if (!world.is_first()) say_errors_only();
  try {
    return work(world);
  } catch (...) {
    // The first rank reports errors that all ranks have, and ends the others while they wait.
    if (!world.is_first()) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      say_error(fmt::format("on rank {} of {}:", world.rank(), world.ranks()));
    }
    world.abort(int(report_failure()));
  }
}

std::string result_name(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();  // of a directory
  if (!path.empty() && !config::is_result_name(path)) {
    throw Error(ExitCode::usage, "--output " + path + ": expected a name that ends in .h5 or .zarr, such as result.h5");
  }
  return path;
}

void add_progress(CLI::App& command, std::string& word) {
  add_choice(command, "--progress", word, {"auto", "plain", "never"},
             "progress line: auto, plain or never (default: auto)");
}

ProgressMode progress_mode(const std::string& word) {
  return word == "plain" ? ProgressMode::plain : word == "never" ? ProgressMode::never : ProgressMode::automatic;
}

std::map<const CLI::Option*, std::vector<std::string>>& choices() {
  static std::map<const CLI::Option*, std::vector<std::string>> map;
  return map;
}

}  // namespace thor::command
