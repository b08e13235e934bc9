#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "commands.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/core/message.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/core/units.hpp"
#include "thor/io/array/output.hpp"
#include "thor/mock/box.hpp"
#include "thor/mock/galaxy.hpp"

namespace thor::command {
namespace {

struct MockArguments {
  std::string kind, output;
  std::optional<double> redshift;
  mock::GalaxyOptions galaxy;
  mock::BoxOptions box;
  int threads = 0;
  bool overwrite = false, quiet = false;
  std::vector<CLI::Option*> of_galaxy, of_box;
};

/// Parses a number in `unit`, or one with any unit of the dimension.
double read_quantity(const std::string& option, const std::string& text, Dimension dimension, double unit) {
  thor::Quantity quantity;
  try {
    quantity = parse_quantity(text);
    if (quantity.dimension != Dimension::none) quantity = parse_quantity(text, dimension);
  } catch (const std::invalid_argument& error) {
    throw Error(ExitCode::usage, option + ": " + error.what());
  }
  return quantity.dimension == Dimension::none ? quantity.value : quantity.value / unit;
}

/// Parses a whole number, also written as 1e5.
std::uint64_t read_count(const std::string& option, const std::string& text) {
  const double value = read_quantity(option, text, Dimension::none, 1);
  if (value < 0 || value != std::floor(value)) {
    throw Error(ExitCode::usage, fmt::format("{}: expected a whole number, got \"{}\"", option, text));
  }
  return std::uint64_t(std::min(value, 0x1p60));  // too large for any option
}

ExitCode make(const MockArguments& arguments) {
  const bool galaxy = arguments.kind == "galaxy";
  for (const CLI::Option* option : galaxy ? arguments.of_box : arguments.of_galaxy) {
    if (option->count() > 0) {
      throw Error(ExitCode::usage, fmt::format("{} is an option of `thor mock {}`, not of `thor mock {}`",
                                               option->get_name(), galaxy ? "box" : "galaxy", arguments.kind));
    }
  }
  const SignalGuard guard;
  mock::GalaxyOptions galaxy_options = arguments.galaxy;
  mock::BoxOptions box_options = arguments.box;
  galaxy_options.redshift = arguments.redshift.value_or(galaxy_options.redshift);
  box_options.redshift = arguments.redshift.value_or(box_options.redshift);
  box_options.seed = galaxy_options.seed;
  galaxy ? check(galaxy_options) : check(box_options);

  const std::string path = arguments.output.empty() ? arguments.kind + ".hdf5" : arguments.output;
  io::ArrayOutput file(path, arguments.overwrite);
  const int threads = arguments.threads ? arguments.threads : available_threads();
  const mock::Snapshot snapshot = galaxy ? make_galaxy(galaxy_options, threads) : make_box(box_options, threads);
  write(snapshot, file);
  file.commit(arguments.overwrite);
  if (!arguments.quiet) message("thor: wrote {}, a synthetic snapshot\n{}", path, describe(snapshot));
  return ExitCode::done;
}

}  // namespace

void add_mock(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<MockArguments>();
  CLI::App* command = app.add_subcommand("mock", "make a synthetic snapshot in the layout of IllustrisTNG");
  command->footer(
      "Examples:\n"
      "  thor mock galaxy -o galaxy.hdf5 --seed 7\n"
      "  thor mock galaxy --gas-particles 1e6 --halo-mass 1e12 --gas-mass 2e10 --disc-scale 4kpc\n"
      "  thor mock box --particles-per-side 128 --box-size 25Mpc --redshift 2\n"
      "Numbers without a unit are in the one named by the option; docs/mock.md describes the contents of a mock.");
  add_choice(*command, "KIND", arguments->kind, {"galaxy", "box"},
             "galaxy: a disc with clumps, an outflow, stars and gas around it; box: a periodic cosmological box")
      ->required();
  command->add_option("-o,--output", arguments->output, "file to write, HDF5 or .zarr (default: KIND.hdf5)")
      ->check(file_name());
  command->add_flag("--overwrite", arguments->overwrite, "replace an existing file");
  command->add_flag("--quiet", arguments->quiet, "no summary");
  command->add_option("--threads", arguments->threads, "worker threads (default: all); they do not change the result")
      ->check(CLI::Range(1, 4096));

  const auto count = [&](const std::string& name, std::uint64_t& target, const std::string& meaning) {
    return command->add_option_function<std::string>(
        name, [name, &target](const std::string& text) { target = read_count(name, text); },
        fmt::format("{} (default: {})", meaning, target));
  };
  const auto quantity = [&](const std::string& name, double& target, Dimension dimension, double unit,
                            const std::string& meaning) {
    return command->add_option_function<std::string>(
        name,
        [name, dimension, unit, &target](const std::string& text) {
          target = read_quantity(name, text, dimension, unit);
        },
        fmt::format("{} (default: {:g})", meaning, target));
  };
  mock::GalaxyOptions& g = arguments->galaxy;
  mock::BoxOptions& b = arguments->box;
  constexpr double kpc = 1e3 * constants::pc;
  count("--seed", g.seed, "random seed");
  command->add_option_function<std::string>(
      "--redshift",
      [arguments](const std::string& text) {
        arguments->redshift = read_quantity("--redshift", text, Dimension::none, 1);
      },
      fmt::format("redshift (default: {:g} for a galaxy, {:g} for a box)", g.redshift, b.redshift));
  arguments->of_galaxy = {
      count("--gas-particles", g.gas_particles, "galaxy: gas elements"),
      count("--stars", g.stars, "galaxy: star particles"),
      quantity("--halo-mass", g.halo_mass, Dimension::none, 1, "galaxy: mass of its halo, M_200 in M_sun"),
      quantity("--gas-mass", g.gas_mass, Dimension::none, 1,
               "galaxy: gas of the disc in M_sun; the outflow has a tenth"),
      quantity("--cgm-mass", g.cgm_mass, Dimension::none, 1, "galaxy: gas around it in M_sun"),
      quantity("--stellar-mass", g.stellar_mass, Dimension::none, 1, "galaxy: stellar mass at birth in M_sun"),
      quantity("--disc-scale", g.disc_scale, Dimension::length, kpc, "galaxy: scale length of the disc in kpc"),
      quantity("--outflow-speed", g.outflow_speed, Dimension::velocity, constants::km,
               "galaxy: speed of the outflow in km/s"),
  };
  arguments->of_box = {
      count("--particles-per-side", b.particles_per_side, "box: gas elements along a side, a power of two"),
      quantity("--box-size", b.box_size, Dimension::length, 1e3 * kpc, "box: comoving side in Mpc"),
  };
  command->callback([arguments, &action] { action = [arguments] { return make(*arguments); }; });
}

}  // namespace thor::command
