#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "thor/core/message.hpp"
#include "thor/core/version.hpp"
#include "thor/drivers/mcrt.hpp"
#include "thor/drivers/setup.hpp"
#include "thor/io/hdf5.hpp"
#include "thor/outputs/frequency_axis.hpp"

namespace {

using namespace thor;

struct RunArguments {
  std::string config, precision, seed, progress = "auto";
  std::vector<std::string> set;
  std::optional<std::uint64_t> replay;
  RunOptions options;
};

void print_photon(const config::Config& config, const Photon& p) {
  const Setup setup = build_setup(config);
  const FrequencyAxis axis{setup.medium.thermal_speed, setup.line.wavelength};
  const char* fate = p.fate == Phase::escaped ? "escaped" : p.fate == Phase::absorbed ? "absorbed" : "lost";
  const double size = setup.medium.size;
  fmt::print("id: {}\nfate: {}\nweight: {} erg/s\n", p.id, fate, p.weight);
  fmt::print("velocity_initial: {} km/s\nvelocity_final: {} km/s\n",
             velocity(axis, p.frequency_initial) / constants::km, velocity(axis, p.frequency_final) / constants::km);
  fmt::print("position: [{} cm, {} cm, {} cm]\n", p.position[0] * size, p.position[1] * size, p.position[2] * size);
  fmt::print("direction: [{}, {}, {}]\n", p.direction[0], p.direction[1], p.direction[2]);
  fmt::print("scatterings: {}\ncolumn: {} cm^-2\n", p.scatterings, p.column / setup.medium.cross_section);
}

ExitCode run(RunArguments& arguments) {
  if (!arguments.precision.empty()) arguments.set.push_back("precision=" + arguments.precision);
  if (!arguments.seed.empty()) arguments.set.push_back("seed=" + arguments.seed);
  const config::Config config = config::load(arguments.config, arguments.set);
  RunOptions& options = arguments.options;
  if (options.cpu.threads == 0) options.cpu.threads = available_threads();
  if (options.output.empty()) options.output = config.output_path;
  if (!options.output.ends_with(".h5")) {
    throw Error(ExitCode::usage, "--output " + options.output + ": a result file ends in .h5");
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

ExitCode devices() {
  const auto sets = cpu::instruction_sets();
  fmt::print("cpu   {}\n      {} threads\n", cpu::processor_name(), available_threads());
  for (const auto name : sets) {
    const auto single = cpu::find_kernel<Problem<Sphere<float>>>(name, false);
    const auto dual = cpu::find_kernel<Problem<Sphere<double>>>(name, false);
    fmt::print("      kernel {:<10} {:2} lanes single, {:2} lanes double{}\n", name, single.lanes, dual.lanes,
               name == sets.back() ? "  (default)" : "");
  }
  const auto gpus = device::list();
  for (const device::Info& gpu : gpus) {
    fmt::print("{:<5} {}\n      device {}:{}, {}, {:.1f} GiB of memory\n", gpu.backend, gpu.name, gpu.backend,
               gpu.index, gpu.architecture, double(gpu.memory) / 0x1p30);
  }
  if (gpus.empty()) fmt::print("cuda  {}\n", device::why_none("cuda"));
  return ExitCode::done;
}

std::string version_text() {
  std::string kernels;
  for (const auto name : cpu::instruction_sets()) kernels += fmt::format(" {}", name);
  return fmt::format("thor {} ({})\ncompiler {}\nHDF5 {}\nMPI not in this build\nbackends cpu ({} ), cuda ({})",
                     version, git_commit, compiler, io::version(), kernels, device::version("cuda"));
}

}  // namespace

/// A process may be started without the standard streams; a result file must not get their descriptors.
void keep_standard_streams() {
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) _exit(1);
  }
}

int main(int argc, char** argv) {
  keep_standard_streams();
  CLI::App app{
      "thor: Monte Carlo radiative transfer of resonant emission lines\n\n"
      "Examples:\n"
      "  thor run examples/neufeld/sphere.yaml\n"
      "  thor run sphere.yaml --set dataset.tau0=1e7 --precision double -o thick.h5\n"
      "  thor run sphere.yaml --replay 42\n"
      "  thor devices\n"};
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text);

  RunArguments arguments;
  RunOptions& options = arguments.options;
  CLI::App* run_command = app.add_subcommand("run", "run a configuration and write its result file");
  run_command->add_option("CONFIG", arguments.config, "configuration (YAML)")->required();
  run_command->add_option("--set", arguments.set, "override a key: a.b=value")->take_all()->allow_extra_args(false);
  run_command->add_option("--device", options.device, "where to run: auto, cpu, cuda, cuda:1, ...");
  run_command->add_option("--threads", options.cpu.threads, "worker threads (default: all)")
      ->check(CLI::Range(1, 4096));
  run_command->add_option("--lanes", options.device_options.lanes, "photons in flight on a GPU (default: automatic)")
      ->check(CLI::Range(std::uint64_t(1), std::uint64_t(1) << 31));
  run_command->add_option("--precision", arguments.precision, "single or double")
      ->check(CLI::IsMember({"single", "double"}));
  run_command->add_option("--seed", arguments.seed, "random seed");
  run_command->add_option("-o,--output", options.output, "result file (default: output.path)");
  run_command->add_flag("--overwrite", options.overwrite, "replace an existing result file");
  run_command->add_option("--max-walltime", options.max_walltime, "stop after this many seconds")
      ->check(CLI::Range(1e-3, 1e9));
  run_command->add_option("--drain", options.drain, "seconds that photons in flight get after a signal or limit")
      ->check(CLI::Range(0., 1e9));
  run_command->add_flag("--quiet", options.quiet, "no progress, no summary");
  run_command->add_option("--progress", arguments.progress, "progress line")
      ->check(CLI::IsMember({"auto", "plain", "never"}));
  run_command->add_option("--isa", options.cpu.isa, "kernel instruction set (see thor devices)");
  run_command->add_flag("--one-lane", options.cpu.one_lane, "one photon at a time: the scalar reference");
  run_command->add_option("--replay", arguments.replay, "run the one photon of this id and print it");
  options.cpu.threads = 0;
  CLI::App* devices_command = app.add_subcommand("devices", "list what thor can run on");

  try {
    app.parse(argc, argv);
    const ExitCode code = run_command->parsed()       ? run(arguments)
                          : devices_command->parsed() ? devices()
                                                      : ExitCode::done;
    return static_cast<int>(code);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : static_cast<int>(ExitCode::usage);
  } catch (const Error& e) {
    message("thor: {}\n", e.what());
    return static_cast<int>(e.code());
  } catch (const std::bad_alloc&) {
    message("thor: out of memory\n");
    return static_cast<int>(ExitCode::device);
  } catch (const std::exception& e) {
    message("thor: internal error: {} (please report)\n", e.what());
    return static_cast<int>(ExitCode::internal);
  }
}
