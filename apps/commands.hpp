#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <optional>

#include "thor/core/error.hpp"
#include "thor/core/progress.hpp"
#include "thor/drivers/options.hpp"
#include "thor/io/array/contents.hpp"

/// The subcommands of thor, one function each, which adds the subcommand to the application and sets the action to run
/// when it is called.
namespace thor::command {

using Action = std::function<ExitCode()>;

void add_run(CLI::App& app, Action& action);
void add_sweep(CLI::App& app, Action& action);
void add_fit(CLI::App& app, Action& action);
void add_continue(CLI::App& app, Action& action);
void add_merge(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_init(CLI::App& app, Action& action);
void add_schema(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_lines(CLI::App& app, Action& action);
void add_grid(CLI::App& app, Action& action);
void add_mock(CLI::App& app, Action& action);
void add_devices(CLI::App& app, Action& action);
void add_view(CLI::App& app, Action& action);
void add_help(CLI::App& app, Action& action);
/// `manual` and `completion`, which are generated from the application itself.
void add_manual(CLI::App& app, Action& action);

std::string version_text();

/// Description of a grid file or a snapshot with its contents, which a folder of snapshots has not; empty if the file
/// is neither.
std::optional<std::string> describe_input(const std::string& path, const std::vector<io::Object>& objects, bool json);

/// Allowed words of an option, for the completions.
std::map<const CLI::Option*, std::vector<std::string>>& choices();

/// Adds an option with a fixed choice of words.
inline CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                               const std::vector<std::string>& words, const std::string& description) {
  CLI::Option* option = command.add_option(name, value, description)->check(CLI::IsMember(words));
  choices()[option] = words;
  return option;
}

/// A configuration and how it is read: the arguments that `run` and `check` have in common.
struct ConfigArguments {
  std::string path;
  std::vector<std::string> set;
  int threads = 0;  ///< 0: all that there are
};
void add_config(CLI::App& command, ConfigArguments& arguments);
void add_threads(CLI::App& command, int& threads);

/// How a run is done: the arguments that `run` and `continue` have in common.
struct EngineArguments {
  RunOptions options;
  int threads = 0;  ///< 0: all that there are
  std::string progress = "auto";

  RunOptions resolved() const;  ///< the options, with defaults that depend on the machine
};
void add_engine(CLI::App& command, EngineArguments& arguments);
/// Does the work of this rank: mpirun may have started several, of which the first one speaks. An error of any ends
/// all.
ExitCode on_ranks(const std::function<ExitCode(const comm::World& world)>& work);
/// Cores for each of the ranks that share a machine, unless the launcher has dealt them out.
int threads_of_rank(const comm::World& world);
/// A run on ranks.
ExitCode run_on_ranks(const EngineArguments& arguments, const std::function<ExitCode(RunOptions options)>& work);
/// `thor continue` with a result, once it is seen to be that of a configuration.
ExitCode restart(const std::string& result, const ConfigArguments& config, RunOptions options);
/// Prints the error that is being handled; its exit code.
ExitCode report_failure();
/// Without a slash at its end; an error if a result cannot have this name.
std::string result_name(std::string path);

void add_progress(CLI::App& command, std::string& word);
ProgressMode progress_mode(const std::string& word);

/// A number from `low` to `high`; CLI::Range lets through what is not a number.
inline CLI::Validator number_between(double low, double high) {
  return CLI::Validator(
      [low, high](const std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return "";
        return fmt::format("{} is not a number from {:g} to {:g}", text, low, high);
      },
      fmt::format("FLOAT in [{:g} - {:g}]", low, high));
}

/// Check for a number that cannot be negative, and would wrap around.
inline CLI::Validator not_negative() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        return text.starts_with('-') ? text + " is not a whole number from 0 on" : "";
      },
      "");
}

/// Check for a possible file name.
inline const CLI::Validator& file_name() {
  static const CLI::Validator validator(
      [](const std::string& text) -> std::string { return text.empty() ? "give a file name" : ""; }, "");
  return validator;
}

/// Prints data to stdout, without what a terminal would take for a command; an error if it cannot be written.
void print(const std::string& text);
/// The same, where no error can be thrown.
ExitCode try_to_print(const std::string& text);

}  // namespace thor::command
