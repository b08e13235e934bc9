#include <filesystem>
#include <memory>

#include "commands.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/core/message.hpp"
#include "thor/io/result/merge.hpp"

namespace thor::command {
namespace {

struct MergeArguments {
  io::Merge merge;
  bool remove = false, quiet = false;
  std::string progress = "auto";
};

ExitCode run(MergeArguments arguments) {
  io::Merge& merge = arguments.merge;
  while (merge.result.size() > 1 && merge.result.ends_with('/')) merge.result.pop_back();  // of a directory
  merge.output = result_name(merge.output);
  if (arguments.quiet) say_no_messages();
  const SignalGuard guard;
  Progress progress(arguments.quiet ? ProgressMode::never : progress_mode(arguments.progress), 0, "values");
  const auto parts = io::merge_parts(merge, [&](std::uint64_t rows, std::uint64_t all) {
    progress.expect(all);
    progress.update(rows);
  });
  progress.finish();
  for (const std::string& part : parts) {
    std::error_code error;
    if (arguments.remove) std::filesystem::remove_all(part, error);
    if (error) warning("{} could not be removed: {}", part, error.message());
  }
  if (!arguments.quiet) {
    message("thor: joined the photons of {} ranks; wrote {}{}\n", parts.size(),
            merge.output.empty() ? merge.result : merge.output, arguments.remove ? " and removed the parts" : "");
  }
  return ExitCode::done;
}

}  // namespace

void add_merge(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<MergeArguments>();
  CLI::App* command = app.add_subcommand("merge", "join the raw photons of a run on several ranks into one result");
  command->footer(
      "Examples:\n"
      "  mpirun -n 4 thor run galaxy.yaml -o galaxy.h5   galaxy.h5, and photons in galaxy.0.h5 to galaxy.3.h5\n"
      "  thor merge galaxy.h5 --remove                   all in galaxy.h5\n"
      "  thor merge galaxy.h5 -o all.h5                  all in another file\n"
      "docs/long-runs.md describes the files.");
  command->add_option("RESULT", arguments->merge.result, "result of thor run on several ranks (.h5 or .zarr)")
      ->required();
  CLI::Option* output =
      command
          ->add_option("-o,--output", arguments->merge.output,
                       "result to write, .h5 or .zarr (default: replace RESULT when the new one is complete)")
          ->check(file_name());
  command->add_flag("--remove", arguments->remove, "remove the files of the ranks after joining")->excludes(output);
  command->add_flag("--overwrite", arguments->merge.overwrite, "replace an existing file (-o)");
  add_progress(*command, arguments->progress);
  command->add_flag("--quiet", arguments->quiet, "no progress line and no summary");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace thor::command
