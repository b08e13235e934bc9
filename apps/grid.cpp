#include <limits>
#include <memory>

#include "commands.hpp"
#include "thor/core/cosmology.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/core/units.hpp"
#include "thor/gridding/arrays/arrays.hpp"
#include "thor/gridding/grid_octree.hpp"
#include "thor/gridding/grid_particles.hpp"
#include "thor/gridding/grid_snapshot.hpp"
#include "thor/gridding/grid_voronoi.hpp"

namespace thor::command {
namespace {

using namespace gridding;

/// Options as written on the command line; those with a unit are text.
struct GridArguments {
  GridOptions options;
  std::string centre = "box", size, cells = "128", rotate, orient = "as-is", subtract_bulk = "no", boundary = "auto";
  std::string method = "kernel", kernel_size = "auto", ionization = "auto", emission = "lya", sources = "auto";
  std::string on_bad_cells = "error", precision = "double", comoving = "auto", box, temperature_floor, memory;
  std::string eos_temperature = "1e4 K", eos_emission = "no";
  std::string ions, lines, fields, progress = "auto", mesh = "uniform", density = "snapshot";
  std::string refine_mass;
  bool no_self_shielding = false;
  const CLI::App* command = nullptr;

  bool has(const char* option) const { return command->count(option) > 0; }
};

template <class T>
T choice(const std::string& word, const std::vector<std::pair<std::string, T>>& words) {
  for (const auto& [name, value] : words) {
    if (name == word) return value;
  }
  throw Error(ExitCode::internal, "no such choice: " + word);
}

double quantity(const std::string& text, Dimension dimension, const char* option) {
  try {
    return parse_quantity(text, dimension).value;
  } catch (const std::invalid_argument& e) {
    throw Error(ExitCode::usage, fmt::format("{} {}: {}", option, text, e.what()));
  }
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::int64_t> parse_cells(const std::string& text) {
  std::vector<std::int64_t> cells;
  for (const auto& part : split(text)) {
    const double n = quantity(part, Dimension::none, "--cells");
    if (n < 1 || n > 1e6 || n != std::floor(n)) {
      throw Error(ExitCode::usage, fmt::format("--cells {}: expected whole numbers from 1 to 1000000", text));
    }
    cells.push_back(std::int64_t(n));
  }
  if (cells.size() != 1 && cells.size() != 3) {
    throw Error(ExitCode::usage, fmt::format("--cells {}: expected one number, or three for x, y and z", text));
  }
  return cells;
}

void read_region(const GridArguments& a, RegionOptions& region) {
  if (a.centre == "box") {
    region.centre = Centre::box;
  } else if (a.centre == "densest") {
    region.centre = Centre::densest;
  } else {
    region.centre = parse_vector(a.centre, false, "--centre");
  }
  if (!a.size.empty()) region.size = parse_lengths(a.size, "--size");
  region.cells = parse_cells(a.cells);
  if (a.has("--rotate")) region.rotation = parse_rotation(a.rotate, "--rotate");
  region.orientation = choice<Orientation>(
      a.orient, {{"as-is", Orientation::as_is}, {"face-on", Orientation::face_on}, {"edge-on", Orientation::edge_on}});
  if (a.subtract_bulk == "no" || a.subtract_bulk == "gas") {
    region.velocity = a.subtract_bulk == "gas" ? Bulk::subtract : Bulk::keep;
  } else {
    const auto velocity = parse_vector(a.subtract_bulk, true, "--subtract-bulk");
    if (std::hypot(velocity[0], velocity[1], velocity[2]) > fastest_gas) {
      throw Error(ExitCode::usage,
                  "--subtract-bulk: faster than a tenth of the speed of light; the formulas are not relativistic");
    }
    region.velocity = velocity;
  }
  if (a.boundary != "auto") region.periodic = a.boundary == "periodic";
  if (region.size.empty() && region.is_rotated()) {
    throw Error(ExitCode::usage, "--rotate and --orient need a region: give its --size");
  }
}

void check_temperature(const char* option, double temperature) {
  if (temperature >= coldest_gas && temperature <= hottest_gas) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: expected a temperature from {:g} K to {:g} K", option, coldest_gas, hottest_gas));
}

void read_options(GridArguments& a) {
  GridOptions& o = a.options;
  read_region(a, o.region);
  o.method = choice<Method>(a.method, {{"kernel", Method::kernel}, {"nearest", Method::nearest}});
  o.kernel_size = choice<KernelSize>(
      a.kernel_size,
      {{"auto", KernelSize::automatic}, {"volume", KernelSize::volume}, {"smoothing", KernelSize::smoothing}});
  o.neutral = choice<NeutralFraction>(a.ionization, {{"auto", NeutralFraction::automatic},
                                                     {"snapshot", NeutralFraction::snapshot},
                                                     {"equilibrium", NeutralFraction::equilibrium},
                                                     {"table", NeutralFraction::table},
                                                     {"collisional", NeutralFraction::collisional}});
  o.self_shielding = !a.no_self_shielding;
  o.emission = a.emission == "lya";
  o.sources_asked = a.sources != "auto";
  o.sources = choice<SourceKind>(a.sources, {{"auto", SourceKind::stars},
                                             {"stars", SourceKind::stars},
                                             {"sfr", SourceKind::sfr},
                                             {"none", SourceKind::none}});
  o.on_bad_cells = choice<OnBadCells>(
      a.on_bad_cells, {{"error", OnBadCells::error}, {"drop", OnBadCells::drop}, {"floor", OnBadCells::floor}});
  o.single = a.precision == "single";
  if (a.comoving != "auto") o.read.comoving = a.comoving == "yes";
  if (!a.memory.empty()) {
    o.memory = quantity(a.memory, Dimension::memory, "--memory");
    if (!(*o.memory > 0)) throw Error(ExitCode::usage, fmt::format("--memory {}: must be above 0", a.memory));
  }
  if (!a.box.empty()) o.read.box = quantity(a.box, Dimension::length, "--box");
  o.eos_asked = a.has("--eos-temperature") || a.has("--eos-emission");
  o.eos_emission = a.eos_emission == "yes";
  o.eos_temperature = std::nullopt;
  if (a.eos_temperature != "snapshot") {
    o.eos_temperature = quantity(a.eos_temperature, Dimension::temperature, "--eos-temperature");
    check_temperature("--eos-temperature", *o.eos_temperature);
  }
  if (!a.temperature_floor.empty()) {
    o.temperature_floor = quantity(a.temperature_floor, Dimension::temperature, "--temperature-floor");
    check_temperature("--temperature-floor", o.temperature_floor);
  }
  const auto needs = [&](const char* option, bool good, const char* what) {
    if (a.has(option) && !good) throw Error(ExitCode::usage, fmt::format("{}: needs {}", option, what));
  };
  needs("--uvb", o.neutral == NeutralFraction::equilibrium, "--ionization equilibrium");
  needs("--no-self-shielding", o.neutral == NeutralFraction::equilibrium, "--ionization equilibrium");
  needs("--table", o.neutral == NeutralFraction::table, "--ionization table");
  needs("--ion-table", a.has("--ions") || a.has("--emissivity"), "--ions or --emissivity");
  needs("--sfr-efficiency", o.sources == SourceKind::sfr, "--sources sfr");
  needs("--density-floor", o.on_bad_cells == OnBadCells::floor, "--on-bad-cells floor");
  needs("--temperature-floor", o.on_bad_cells == OnBadCells::floor, "--on-bad-cells floor");
  for (const auto& [option, value] : {std::pair("--solar-metallicity", o.solar_metallicity),
                                      {"--f-ion", o.f_ion},
                                      {"--tolerance", o.tolerance},
                                      {"--sfr-efficiency", o.sfr_efficiency},
                                      {"--density-floor", o.density_floor.value_or(0)},
                                      {"--metallicity", o.metallicity.value_or(0)}}) {
    if (std::isnan(value)) throw Error(ExitCode::usage, fmt::format("{}: expected a number", option));
  }
  o.ions = split(a.ions);
  o.lines = split(a.lines);
  if (o.threads == 0) o.threads = available_threads();
  o.progress = progress_mode(a.progress);
}

ExitCode cube(const GridArguments& a) {
  const GridOptions& o = a.options;
  for (const char* option :
       {"--centre",        "--cells",         "--rotate",           "--orient",       "--subtract-bulk",
        "--allow-outside", "--method",        "--kernel-size",      "--density",      "--ion-table",
        "--ions",          "--emissivity",    "--eos-temperature",  "--eos-emission", "--mass-weighted",
        "--metallicity",   "--sources",       "--sfr-efficiency",   "--tolerance",    "--unit-length",
        "--unit-mass",     "--unit-velocity", "--assume-tng-units", "--box",          "--comoving",
        "--precision",     "--memory"}) {
    if (a.has(option))
      throw Error(ExitCode::usage, fmt::format("{}: not an option for a cube (--fields); leave it out", option));
  }
  if (o.read.redshift && !(*o.read.redshift > -1)) throw Error(ExitCode::usage, "--redshift: must be above -1");
  ArraysOptions c;
  c.input = o.snapshot;
  c.output = o.output;
  c.fields = parse_array_fields(a.fields);
  if (o.region.size.size() != 1) throw Error(ExitCode::usage, "--fields: give one --size, the side along x");
  c.size = o.region.size[0];
  c.periodic = a.boundary == "periodic";
  c.redshift = o.read.redshift.value_or(0);
  if (o.read.h && !is_hubble(*o.read.h))
    throw Error(ExitCode::usage, fmt::format("--hubble {:g}: {}", *o.read.h, not_hubble));
  if (o.read.redshift) {
    Cosmology cosmology;
    cosmology.h = o.read.h.value_or(cosmology.h);
    cosmology.omega_m = o.read.omega_m.value_or(cosmology.omega_m);
    cosmology.omega_lambda = o.read.omega_lambda.value_or(cosmology.omega_lambda);
    c.hubble = cosmology.hubble(c.redshift);
  }
  c.ionization = choose_ionization(o, c.redshift);
  c.emission = o.emission, c.overwrite = o.overwrite, c.dry_run = o.dry_run, c.compression = o.compression;
  c.quiet = o.quiet;
  c.solar_metallicity = o.solar_metallicity, c.f_ion = o.f_ion;
  c.on_bad_cells = o.on_bad_cells, c.temperature_floor = o.temperature_floor, c.density_floor = o.density_floor;
  print(grid_arrays(c));
  return ExitCode::done;
}

void refuse_options(const GridArguments& a, const std::vector<const char*>& options, const std::string& why) {
  for (const char* option : options) {
    if (a.has(option)) throw Error(ExitCode::usage, fmt::format("{}: {}; leave it out", option, why));
  }
}

/// A mesh that is as fine as the simulation.
ExitCode own_mesh(const GridArguments& a) {
  GridOptions options = a.options;
  const std::string mesh = "not an option for --mesh " + a.mesh;
  refuse_options(a, {"--cells", "--method", "--precision", "--compress"}, mesh);
  if (a.mesh == "voronoi") {
    refuse_options(a, {"--kernel-size", "--tolerance"}, mesh + ", which takes the gas elements as they are");
    refuse_options(a, {"--refine-number", "--refine-mass"}, mesh);
  } else {
    refuse_options(a, {"--density"}, mesh);
  }
  const io::Snapshot snapshot(options.snapshot, options.read);
  const bool has_leaves = snapshot.has("level"), particles = a.mesh == "octree" && !has_leaves;
  if (a.mesh == "octree" && has_leaves) {
    refuse_options(a, {"--centre",          "--size",          "--rotate",      "--orient",    "--subtract-bulk",
                       "--allow-outside",   "--memory",        "--box",         "--comoving",  "--kernel-size",
                       "--tolerance",       "--refine-number", "--refine-mass", "--redshift",  "--hubble",
                       "--omega-m",         "--omega-lambda",  "--unit-length", "--unit-mass", "--unit-velocity",
                       "--assume-tng-units"},
                   mesh + " of a simulation that has leaves, which are taken as they are");
  }
  if (options.on_bad_cells == OnBadCells::floor && !(particles && options.density_floor)) {
    throw Error(ExitCode::usage, fmt::format("--on-bad-cells floor: not with --mesh {}; {}use drop", a.mesh,
                                             particles ? "give a --density-floor, or " : ""));
  }
  if (a.has("--refine-mass")) {
    refuse_options(a, {"--refine-number"}, "not with --refine-mass");
    options.refine_mass = quantity(a.refine_mass, Dimension::mass, "--refine-mass");
    if (!(*options.refine_mass > 0)) throw Error(ExitCode::usage, "--refine-mass: expected a mass above 0");
    options.refine_number = std::numeric_limits<std::uint64_t>::max();
  }
  options.density_of_cells = a.density == "mass";
  print(particles            ? grid_particles(snapshot, options)
        : a.mesh == "octree" ? grid_octree(snapshot, options)
                             : grid_voronoi(options));
  return ExitCode::done;
}

ExitCode grid(GridArguments& a, const comm::World& world) {
  GridOptions& o = a.options;
  read_options(a);
  if (!o.dry_run && o.output.empty()) throw Error(ExitCode::usage, "--output: give the grid file to write");
  if (!o.output.empty() && !o.output.ends_with(".h5") && !o.output.ends_with(".hdf5") && !o.output.ends_with(".zarr")) {
    throw Error(ExitCode::usage, fmt::format("--output {}: a grid file ends in .h5, .hdf5 or .zarr", o.output));
  }
  const SignalGuard guard;
  // A cube is not read in parts: the first rank has all of it.
  if (!a.fields.empty()) return world.is_first() ? cube(a) : ExitCode::done;
  if (a.mesh == "uniform") {
    refuse_options(a, {"--density"}, "is for --mesh voronoi");
    refuse_options(a, {"--refine-number", "--refine-mass"}, "is for --mesh octree");
  }
  if (a.mesh != "uniform") return world.is_first() ? own_mesh(a) : ExitCode::done;
  if (!world.is_alone()) {
    o.world = &world;
    if (!a.has("--threads")) o.threads = threads_of_rank(world);
    o.quiet = o.quiet || !world.is_first();
  }
  const std::string text = grid_snapshot(o);
  if (world.is_first()) print(text);
  return ExitCode::done;
}

void add_reading(CLI::App& command, GridArguments& a) {
  io::SnapshotOptions& read = a.options.read;
  command.add_option("--unit-length", read.unit_length, "code length in cm, if the file does not give it");
  command.add_option("--unit-mass", read.unit_mass, "code mass in g");
  command.add_option("--unit-velocity", read.unit_velocity, "code velocity in cm/s");
  command.add_flag("--assume-tng-units", read.assume_tng_units,
                   "assume kpc/h, 1e10 Msun/h and km/s if the file has no units");
  command.add_option("--hubble", read.h, "h = H0/(100 km/s/Mpc), such as 0.6774");
  command.add_option("--omega-m", read.omega_m, "matter density");
  command.add_option("--omega-lambda", read.omega_lambda, "density of the cosmological constant");
  command.add_option("--redshift", read.redshift, "redshift of the snapshot");
  command.add_option("--box", a.box, "side of the box, physical: \"50 Mpc\"");
  add_choice(command, "--comoving", a.comoving, {"auto", "yes", "no"}, "lengths are comoving: auto, yes or no");
}

void add_region(CLI::App& command, GridArguments& a) {
  command.add_option("--centre,--center", a.centre,
                     "box, densest, or a position: \"1 Mpc, 2 Mpc, 3 Mpc\" (default: box)");
  command.add_option("--size", a.size, "side of the region, physical; one or three lengths (default: the box)");
  command.add_option("--cells", a.cells, "cells along x, or along x,y,z; cells are cubic (default: 128)");
  command.add_option("--rotate", a.rotate, "rotation about the centre in degrees: x:30,z:-90");
  add_choice(
      command, "--orient", a.orient, {"as-is", "face-on", "edge-on"},
      "orientation by the angular momentum of the gas, seen from +z: as-is, face-on or edge-on (default: as-is)");
  command.add_option("--subtract-bulk", a.subtract_bulk,
                     "velocity to subtract: no, gas (mean of the gas in the region) or vx,vy,vz (default: no)");
  add_choice(command, "--boundary", a.boundary, {"auto", "periodic", "open"},
             "boundary of the box: periodic, open or auto (periodic if cosmological)");
  command.add_flag("--allow-outside", a.options.region.allow_outside, "allow the region to extend beyond an open box");
}

void add_gas(CLI::App& command, GridArguments& a) {
  GridOptions& o = a.options;
  add_choice(command, "--method", a.method, {"kernel", "nearest"},
             "kernel (cubic spline, conservative) or nearest (Voronoi sampling) (default: kernel)");
  add_choice(command, "--kernel-size", a.kernel_size, {"auto", "volume", "smoothing"},
             "volume: 2.5 (3V/4pi)^(1/3); smoothing: the smoothing length; auto: smoothing if available");
  add_choice(command, "--ionization", a.ionization, {"auto", "snapshot", "equilibrium", "table", "collisional"},
             "neutral fraction: snapshot, equilibrium, table, collisional; auto is snapshot, which must then have it");
  command.add_option("--uvb", o.uv_background, "UV background for equilibrium (TREECOOL file)");
  command.add_flag("--no-self-shielding", a.no_self_shielding, "equilibrium without self-shielding");
  command.add_option("--table", o.ionization_table, "neutral fractions for table (HDF5)");
  command.add_option("--ion-table", o.ion_table, "ions and emissivities of metals (HDF5)");
  command.add_option("--ions", a.ions, "ions of the ion table to write: MgII,CIV");
  command.add_option("--emissivity", a.lines, "lines of the ion table whose emissivity is written");
  add_choice(command, "--emission", a.emission, {"lya", "none"}, "emissivities of the gas: lya or none (default: lya)");
  command.add_option("--eos-temperature", a.eos_temperature,
                     "temperature of star-forming gas, which also sets its ionisation; or snapshot (default: 1e4 K)");
  add_choice(command, "--eos-emission", a.eos_emission, {"no", "yes"},
             "whether star-forming gas emits: no or yes (default: no)");
  command.add_flag("--mass-weighted", o.mass_weighted,
                   "also write temperature and velocity of all gas, not only those of each ion");
  command.add_option("--metallicity", o.metallicity, "mass fraction of metals, if the snapshot has none")
      ->check(CLI::Range(0., 1.));
  command.add_option("--solar-metallicity", o.solar_metallicity, "solar mass fraction of metals (default: 0.0127)")
      ->check(CLI::Range(1e-4, 1.));
  command.add_option("--f-ion", o.f_ion, "dust in ionised gas relative to neutral gas (default: 0.01)")
      ->check(CLI::Range(0., 1.));
  add_choice(command, "--sources", a.sources, {"auto", "stars", "sfr", "none"},
             "point sources: stars, sfr (star-forming gas) or none (default: stars if there are any)");
  command.add_option("--sfr-efficiency", o.sfr_efficiency, "f_eff in L = f_eff SFR 1e42 erg/s (default: 1)")
      ->check(CLI::Range(0., 1e6));
}

void add_faults(CLI::App& command, GridArguments& a) {
  GridOptions& o = a.options;
  add_choice(command, "--on-bad-cells", a.on_bad_cells, {"error", "drop", "floor"},
             "gas with NaN, zero or negative numbers: error, drop or floor (default: error)");
  command
      .add_option("--density-floor", o.density_floor,
                  "density for --on-bad-cells floor, in g/cm^3 (default: the mass in one cell)")
      ->check(CLI::PositiveNumber);
  command.add_option("--temperature-floor", a.temperature_floor,
                     "temperature for --on-bad-cells floor (default: 10 K)");
  command
      .add_option("--tolerance", o.tolerance,
                  "largest relative difference between totals of snapshot and grid (default: 1e-6)")
      ->check(CLI::Range(0., 1.));
}

}  // namespace

void add_grid(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<GridArguments>();
  GridOptions& o = arguments->options;
  o.threads = 0;
  CLI::App* command = app.add_subcommand("grid", "put a simulation snapshot, or a cube, on a grid that a run can read");
  arguments->command = command;
  command->add_option("SNAPSHOT", o.snapshot, "snapshot: a file, any file of a split snapshot, or its directory")
      ->required();
  add_choice(*command, "--mesh", arguments->mesh, {"uniform", "octree", "voronoi"},
             "uniform: cubic cells; octree: the leaves of a RAMSES output as they are, of any other leaves that are as "
             "fine as its gas; voronoi: the gas elements as sites of a Voronoi mesh (default: uniform)");
  command
      ->add_option("--refine-number", o.refine_number,
                   "--mesh octree: a leaf with more gas elements is split (default: 8)")
      ->check(CLI::Range(std::uint64_t(1), std::uint64_t(1000000000)));
  command->add_option("--refine-mass", arguments->refine_mass,
                      "--mesh octree: a leaf with more mass is split, in place of the number: \"1e5 Msun\"");
  add_choice(*command, "--density", arguments->density, {"snapshot", "mass"},
             "--mesh voronoi: the density of the snapshot, or mass over the volume of the cell (default: snapshot)");
  command->add_option("-o,--output", o.output, "grid file (.h5, .hdf5 or .zarr)")->check(file_name());
  command->add_flag("--overwrite", o.overwrite, "replace an existing file");
  command->add_flag("--dry-run", o.dry_run, "print the plan and the memory it needs, and write nothing");
  add_region(*command, *arguments);
  add_gas(*command, *arguments);
  add_faults(*command, *arguments);
  add_reading(*command, *arguments);
  command->add_option("--fields", arguments->fields,
                      "SNAPSHOT is a cube; its fields: density=rho:g/cm3,temperature=T:K,velocity_x=0,...");
  add_choice(*command, "--precision", arguments->precision, {"single", "double"},
             "precision of the sums: double, or single with half the memory (default: double)");
  command->add_option("--memory", arguments->memory,
                      "maximum memory per rank: \"2 GB\", \"500 MB\"; a larger grid is made in slabs, with one pass "
                      "over the snapshot each (default: free memory)");
  command->add_option("--compress", o.compression, "deflate level of the arrays, 0 to 9 (default: 0)")
      ->check(CLI::Range(0, 9));
  command->add_option("--threads", o.threads, "worker threads (default: all)")->check(CLI::Range(1, 4096));
  add_progress(*command, arguments->progress);
  command->add_flag("--quiet", o.quiet, "print only the name and the arrays of the file");
  command->callback([arguments, &action] {
    action = [arguments] { return on_ranks([&](const comm::World& world) { return grid(*arguments, world); }); };
  });
}

}  // namespace thor::command
