#include <memory>

#include "commands.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/drivers/mcrt/mcrt.hpp"
#include "thor/drivers/mcrt/prepare.hpp"
#include "thor/drivers/rays/raytrace.hpp"
#include "thor/drivers/sweep/config.hpp"
#include "thor/outputs/frequency_axis.hpp"

namespace thor::command {
namespace {

struct RunArguments {
  ConfigArguments config;
  EngineArguments engine;
  std::string precision, seed, restart;
  std::optional<std::uint64_t> replay;
};

void print_photon(const Setup& setup, const Photon& p) {
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

ExitCode run(const RunArguments& arguments, RunOptions options) {
  options.output = result_name(options.output);
  if (!options.world().is_alone() && arguments.config.path == "-") {
    throw Error(ExitCode::usage, "- (stdin) is readable on one rank only: give the name of a configuration file");
  }
  if (!arguments.restart.empty()) return restart(arguments.restart, arguments.config, std::move(options));
  std::optional<SignalGuard> guard;  // until the file is in its place
  if (!arguments.replay) guard.emplace();
  config::Document document = config::open_document(arguments.config.path, arguments.config.set);
  if (sweep::is_sweep(document)) {
    throw Error(ExitCode::usage, fmt::format("{0}: has many models: thor sweep {0}", arguments.config.path));
  }
  if (document.driver() == config::Driver::raytrace) {
    if (arguments.replay)
      throw Error(ExitCode::usage, "--replay: not possible with driver: raytrace, which has no photons");
    if (options.checkpoint > 0)
      throw Error(ExitCode::usage, "--checkpoint: not possible with driver: raytrace; leave it out");
    const config::Raytrace rays = config::check_raytrace(std::move(document));
    if (options.output.empty()) options.output = rays.output_path;
    return run_raytrace(rays, options);
  }
  const auto [config, setup] = prepare(std::move(document), {options.output, options.cpu.threads, options.quiet,
                                                             arguments.replay ? DomainOptions{} : options.domains});
  if (arguments.replay) {
    print_photon(setup, replay(config, setup, *arguments.replay, options.cpu));
    return ExitCode::done;
  }
  if (options.output.empty()) options.output = config.output_path;
  return run_mcrt(config, setup, options);
}

ExitCode run(RunArguments& arguments) {
  std::vector<std::string>& set = arguments.config.set;
  if (!arguments.precision.empty()) set.push_back("precision=" + arguments.precision);
  if (!arguments.seed.empty()) set.push_back("seed=" + arguments.seed);
  arguments.engine.threads = arguments.config.threads;
  return run_on_ranks(arguments.engine, [&](RunOptions options) { return run(arguments, std::move(options)); });
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "run a configuration and write its result file");
  add_config(*command, arguments->config);
  command->add_option("-o,--output", arguments->engine.options.output, "result: .h5 or .zarr (default: output.path)")
      ->check(file_name());
  command->add_option("--seed", arguments->seed, "random seed")->check(not_negative());
  add_choice(*command, "--precision", arguments->precision, {"single", "double"}, "single or double");
  add_engine(*command, arguments->engine);
  command
      ->add_option("--restart", arguments->restart,
                   "continue this result or checkpoint of the configuration, as `thor continue` does (default for -o: "
                   "replace it)")
      ->check(file_name());
  command->add_option("--replay", arguments->replay, "run only the photon with this id and print it")
      ->check(not_negative())
      ->excludes("--restart");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace thor::command
