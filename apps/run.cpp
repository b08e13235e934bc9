#include <memory>

#include "commands.hpp"
#include "thor/drivers/mcrt.hpp"
#include "thor/outputs/frequency_axis.hpp"

namespace thor::command {
namespace {

struct RunArguments {
  std::string config, precision, seed, progress = "auto";
  std::vector<std::string> set;
  std::optional<std::uint64_t> replay;
  RunOptions options;
};

void print_photon(const config::Config& config, const Photon& p) {
  const Setup setup = build_setup(config);
  const FrequencyAxis axis = frequency_axis(setup);
  const double size = setup.medium.size;
  print(fmt::format("id: {}\nfate: {}\nweight: {} erg/s\n", p.id, fate_of(p.fate).name, p.weight));
  print(fmt::format("generator: {}\nsource: {}\n", p.generator, p.source));
  print(fmt::format("velocity_initial: {} km/s\nvelocity_final: {} km/s\n",
                    velocity(axis, p.frequency_initial) / constants::km,
                    velocity(axis, p.frequency_final) / constants::km));
  const auto print_place = [size](const char* name, const double(&r)[3]) {
    print(fmt::format("{}: [{} cm, {} cm, {} cm]\n", name, r[0] * size, r[1] * size, r[2] * size));
  };
  print_place("position_initial", p.position_initial);
  print_place("position", p.position);
  print(fmt::format("direction: [{}, {}, {}]\n", p.direction[0], p.direction[1], p.direction[2]));
  print(fmt::format("scatterings: {}\ncolumn: {} cm^-2\n", p.scatterings, p.column / setup.medium.cross_section));
}

ExitCode run(RunArguments& arguments) {
  if (!arguments.precision.empty()) arguments.set.push_back("precision=" + arguments.precision);
  if (!arguments.seed.empty()) arguments.set.push_back("seed=" + arguments.seed);
  const config::Config config = config::load(arguments.config, arguments.set);
  RunOptions& options = arguments.options;
  if (options.cpu.threads == 0) options.cpu.threads = available_threads();
  if (options.output.empty()) options.output = config.output_path;
  while (options.output.size() > 1 && options.output.ends_with('/')) options.output.pop_back();  // of a directory
  if (!options.output.ends_with(".h5") && !options.output.ends_with(".zarr")) {
    throw Error(ExitCode::usage, "--output " + options.output + ": a result ends in .h5 or .zarr");
  }
  options.progress = arguments.progress == "plain"   ? ProgressMode::plain
                     : arguments.progress == "never" ? ProgressMode::never
                                                     : ProgressMode::automatic;
  if (arguments.replay) {
    print_photon(config, replay(config, *arguments.replay, options.cpu));
    return ExitCode::done;
  }
  return run_mcrt(config, options);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<RunArguments>();
  RunOptions& options = arguments->options;
  options.cpu.threads = 0;
  CLI::App* command = app.add_subcommand("run", "run a configuration and write its result file");
  command->add_option("CONFIG", arguments->config, "configuration (YAML); - is stdin")->required();
  command->add_option("--set", arguments->set, "override a key: a.b=value")->take_all()->allow_extra_args(false);
  command->add_option("-o,--output", options.output, "result: .h5 or .zarr (default: output.path)")->check(file_name());
  command->add_flag("--overwrite", options.overwrite, "replace an existing result file");
  command->add_option("--seed", arguments->seed, "random seed");
  add_choice(*command, "--precision", arguments->precision, {"single", "double"}, "single or double");
  command->add_option("--device", options.device, "where to run: auto, cpu, cuda, cuda:1, ... (default: auto)");
  command->add_option("--threads", options.cpu.threads, "worker threads (default: all)")->check(CLI::Range(1, 4096));
  command->add_option("--lanes", options.device_options.lanes, "photons in flight on a GPU (default: automatic)")
      ->check(CLI::Range(std::uint64_t(1), std::uint64_t(1) << 31));
  command->add_option("--max-walltime", options.max_walltime, "stop after this many seconds")
      ->check(number_between(1e-3, 1e9));
  command
      ->add_option("--drain", options.drain, "seconds that photons in flight get after a signal or limit (default: 5)")
      ->check(number_between(0, 1e9));
  add_choice(*command, "--progress", arguments->progress, {"auto", "plain", "never"},
             "progress line: auto, plain or never (default: auto)");
  command->add_flag("--quiet", options.quiet, "no progress, no summary");
  command->add_option("--isa", options.cpu.isa, "kernel instruction set (see thor devices)");
  command->add_flag("--one-lane", options.cpu.one_lane, "one photon at a time: the scalar reference");
  command->add_option("--replay", arguments->replay, "run the one photon of this id and print it");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace thor::command
