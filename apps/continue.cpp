#include <cmath>
#include <filesystem>
#include <memory>

#include "commands.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/mcrt/earlier.hpp"
#include "thor/drivers/mcrt/mcrt.hpp"
#include "thor/drivers/mcrt/prepare.hpp"
#include "thor/drivers/mcrt/until.hpp"
#include "thor/io/partial.hpp"

namespace thor::command {
namespace {

struct ContinueArguments {
  std::string result, error, of, name;
  double photons = 0;
  EngineArguments engine;
};

/// A message on keys that were set by options, in the words of these.
std::string by_options(std::string text, const ContinueArguments& arguments, const std::string& output) {
  const std::pair<std::string, std::string> options[] = {
      {"error", "--until-error " + arguments.error},
      {"of", "--of " + arguments.of},
      {"output", "--until-output " + output},
  };
  for (const auto& [key, option] : options) {
    const std::string value = option.substr(option.find(' ') + 1);
    const std::string said = fmt::format("--set until.{0}={1}: until.{0}", key, value);
    for (std::size_t at = 0; (at = text.find(said, at)) != std::string::npos;) text.replace(at, said.size(), option);
  }
  return text;
}

/// Sets where the result goes, and how; whether it replaces the one that is continued.
bool set_output(const std::string& path, RunOptions& options) {
  // By name: a run that is killed may leave a result and its .previous as one file.
  const auto is_input = [&](const std::filesystem::path& name) {
    std::error_code none;
    return std::filesystem::weakly_canonical(name, none) == std::filesystem::weakly_canonical(path, none);
  };
  options.output = result_name(options.output);
  const bool replace = options.output.empty() || is_input(options.output);
  if (replace) options.output = path;
  options.overwrite = options.overwrite || replace;
  if (is_input(io::detail::previous_of(options.output))) {
    throw Error(ExitCode::usage, path + ": checkpoints of " + options.output +
                                     " would replace it: give another -o, or `thor continue` that file, which goes on "
                                     "from this one if it is damaged");
  }
  return replace;
}

/// Throws where a file has changed since this was called: somebody else may add photons at the same time, and be done
/// first.
std::function<void()> require_unchanged(const std::string& path) {
  std::error_code gone;
  const auto written = std::filesystem::last_write_time(path, gone);
  return [path, written, was_there = !gone] {
    std::error_code none;
    const auto now = std::filesystem::last_write_time(path, none);
    if (was_there ? now == written && !none : bool(none)) return;
    throw Error(ExitCode::output, path +
                                      ": has changed since photons were added to what it was, perhaps by another "
                                      "`thor continue`; it stays as it is: run the command again");
  };
}

/// The result, which is to have the configuration `asked`; null: whichever it has.
Earlier earlier_result(const std::string& path, const ConfigArguments* asked) {
  if (!asked) return open_earlier(path, nullptr);
  config::Document document = config::open_document(asked->path, asked->set);
  if (document.driver() == config::Driver::raytrace) {
    throw Error(ExitCode::usage, "--restart: rays cannot be continued, as they have no checkpoints: run " +
                                     document.name + " without it");
  }
  const config::Config wanted = config::check(std::move(document)).config;
  Earlier earlier = open_earlier(path, &wanted);
  require_same_config(earlier, wanted);
  return earlier;
}

/// The configuration of a result, with the error that the arguments ask for; `set` is what they change.
Prepared prepare_again(const config::Config& then, const ContinueArguments& arguments, const RunOptions& options,
                       std::vector<std::string>& set) {
  if (!arguments.error.empty()) set.push_back("until.error=" + arguments.error);
  if (!arguments.of.empty()) set.push_back("until.of=" + arguments.of);
  if (arguments.error.empty() && !then.until && !(arguments.of.empty() && arguments.name.empty())) {
    throw Error(ExitCode::usage, "--until-output and --of need --until-error, such as --until-error 2%");
  }
  std::string name = arguments.name;
  if (name.empty() && !set.empty() && !then.until && !then.outputs.empty()) {
    std::visit([&](const auto& output) { name = output.name; }, then.outputs.front());
  }
  if (!name.empty()) set.push_back("until.output=" + name);
  try {
    return prepare(config::parse_document(then.resolved, then.path, set),
                   {options.output, options.cpu.threads, options.quiet, options.domains});
  } catch (const Error& e) {
    throw Error(e.code(), by_options(e.what(), arguments, name));
  }
}

/// What a sample is continued to: `more` photons, or what its run had not reached; `is_new`: an error that the run did
/// not ask for.
Goal goal_of(const Sample& sample, const Prepared& run, std::uint64_t more, bool is_new, bool quiet) {
  const Emitter<double>& emitter = run.setup.emitter;
  if (more > 0) {
    const std::uint64_t unit = share_unit(emitter), all = (sample.next + more + unit - 1) / unit * unit;
    if (all != sample.next + more && !quiet) {
      message("thor: adding {} photons to complete the shares of the generators\n", all - sample.next);
    }
    return {all, false};
  }
  // Photons that --photons was to add are still owed; the error had been reached, or was not asked for.
  if (!is_new && sample.look == 0 && sample.requested > sample.tally.photons()) return {sample.requested, false};
  // The error is looked at where a run that was not cut would have done so: then both end with the same photons.
  if (run.config.until) return {std::max(sample.next, is_new ? 0 : sample.look), true};
  return {std::max({sample.next, emitter.count(), sample.requested}), false};
}

ExitCode run(const ContinueArguments& arguments, RunOptions options, const ConfigArguments* asked = nullptr) {
  std::string path = arguments.result;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();  // of a directory
  if (std::floor(arguments.photons) != arguments.photons) {
    throw Error(ExitCode::usage, "--photons: expected a whole number");
  }
  const bool replace = set_output(path, options);
  const SignalGuard guard;  // until the file is in its place
  if (replace) options.before_commit = require_unchanged(path);
  const Earlier earlier = earlier_result(path, asked);
  if (replace) options.replaces = earlier.path == path ? Replaces::this_run : Replaces::spoilt;
  std::vector<std::string> set;
  const Prepared prepared = prepare_again(earlier.config, arguments, options, set);
  require_same_inputs(earlier, prepared.config);
  Sample sample = read_sample(earlier, prepared.config, prepared.setup);
  const Goal goal = goal_of(sample, prepared, std::uint64_t(arguments.photons), !set.empty(), options.quiet);
  if (!goal.until && goal.photons == sample.next && sample.missing.empty()) {
    const std::string text =
        path + ": the run is complete: add photons with --photons N, or give an error with --until-error";
    if (!replace) throw Error(ExitCode::usage, text);
    message("thor: {}\n", text);  // the end of a job that was sent again
    return ExitCode::done;
  }
  return run_mcrt(prepared.config, prepared.setup, options, std::move(sample), goal);
}

}  // namespace

ExitCode restart(const std::string& result, const ConfigArguments& config, RunOptions options) {
  ContinueArguments arguments;
  arguments.result = result;
  return run(arguments, std::move(options), &config);
}

void add_continue(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<ContinueArguments>();
  CLI::App* command = app.add_subcommand(
      "continue", "add photons to a result, as if it were one long run, or complete a run that was cut");
  command->add_option("RESULT", arguments->result, "result of thor run (.h5 or .zarr)")->required();
  CLI::Option* photons = command->add_option("--photons", arguments->photons, "number of photons to add")
                             ->check(number_between(1, 0x1p52));
  command->add_option("--until-error", arguments->error, "add photons until this error is reached: 1%")
      ->excludes(photons);
  command->add_option("--of", arguments->of, "which error: total, peak or bin-median (default: as in until)");
  command->add_option("--until-output", arguments->name,
                      "output whose error is to be reached (default: as in until, or the first output)");
  command
      ->add_option("-o,--output", arguments->engine.options.output,
                   "result to write, .h5 or .zarr (default: replace RESULT when the new one is complete)")
      ->check(file_name());
  add_threads(*command, arguments->engine.threads);
  add_engine(*command, arguments->engine);
  command->callback([arguments, &action] {
    action = [arguments] {
      return run_on_ranks(arguments->engine, [&](RunOptions options) { return run(*arguments, std::move(options)); });
    };
  });
}

}  // namespace thor::command
