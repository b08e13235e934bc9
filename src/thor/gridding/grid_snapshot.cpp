#include "thor/gridding/grid_snapshot.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "thor/core/cosmology.hpp"
#include "thor/core/error.hpp"
#include "thor/core/message.hpp"
#include "thor/core/progress.hpp"
#include "thor/emission/stars.hpp"
#include "thor/gridding/deposit/cell_values.hpp"
#include "thor/gridding/deposit/nearest.hpp"
#include "thor/gridding/grid_file.hpp"
#include "thor/gridding/plan/plan.hpp"
#include "thor/gridding/plan/survey.hpp"
#include "thor/io/partial.hpp"

namespace thor::gridding {
namespace {

struct Job {
  const GridOptions& options;
  const io::Snapshot& snapshot;
  const GridRegion& region;
  const GasOptions& gas;
  std::vector<std::string>& warnings;  ///< printed, and stored in the file

  void warn(const std::string& text) const {
    say_warning(text);
    warnings.push_back(text);
  }
};

[[noreturn]] void refuse(const Job& job, const std::string& why) {
  throw Error(ExitCode::input, job.options.snapshot + ": " + why);
}

void refuse_bad_cells(const Job& job, const Defects& bad) {
  if (job.options.on_bad_cells != OnBadCells::error || bad.total() == 0) return;
  refuse(job, fmt::format("{} gas elements have impossible values:\n{}--on-bad-cells drop skips them, "
                          "--on-bad-cells floor replaces zero and negative values by floors and skips the rest",
                          bad.total(), bad.describe()));
}

void refuse_wide_kernels(const Job& job, const Particles& particles) {
  const auto widest = std::max_element(particles.radius.begin(), particles.radius.end());
  if (widest == particles.radius.end() || *widest <= widest_kernel) return;
  refuse(job,
         fmt::format("the kernel of a gas element is {:.3g} cells wide, more than {:.0g}: the cells are too small for "
                     "this snapshot (a larger --size, fewer --cells, or --method nearest), or its density is wrong",
                     2 * *widest, 2 * widest_kernel));
}

/// Deposits all gas in the cells.
template <class T>
void fill(const Job& job, CellSums<T>& sums, Gatherer& gatherer, Sources& sources) {
  const GridOptions& o = job.options;
  Progress progress(o.quiet ? ProgressMode::never : o.progress, job.snapshot.gas_count(), "gas elements");
  NearestSampler sampler(job.gas.fields.count);
  std::uint64_t done = 0;
  job.snapshot.for_each_gas(block_size, [&](const io::GasBlock& block) {
    const Particles particles = gatherer.gather(block);
    if (o.method == Method::kernel) {
      refuse_wide_kernels(job, particles);
      const Shares s = shares(job.region.lattice, particles, o.threads);
      gatherer.count_cut(particles, s.inside);
      deposit(sums, particles, s, o.threads);
    } else {
      gatherer.count_cut(particles, centres_inside(job.region.lattice, particles));
      sampler.add(particles);
    }
    if (o.sources == SourceKind::sfr) add_star_forming(block, gatherer.used(), job.region, o.sfr_efficiency, sources);
    progress.update(done += block.count);
  });
  refuse_bad_cells(job, gatherer.defects());
  if (o.method == Method::nearest) sampler.fill(sums, o.threads);
}

void find_sources(const Job& job, Sources& sources) {
  const GridOptions& o = job.options;
  if (o.sources == SourceKind::sfr && !job.snapshot.has("sfr")) {
    refuse(job, "--sources sfr: the gas has no star-formation rate");
  }
  if (o.sources == SourceKind::stars) {
    try {
      job.snapshot.for_each_star(block_size,
                                 [&](const io::StarBlock& block) { add_stars(block, job.region, sources); });
    } catch (const NoLight& e) {
      if (o.sources_asked) throw;
      job.warn(fmt::format("no sources written: {}", e.what()));
      sources = {};
    }
    if (sources.found == 0 && o.sources_asked) refuse(job, "--sources stars: there are no stars");
  }
}

std::string describe_sources(const GridOptions& o, const Sources& s) {
  if (o.sources == SourceKind::none || s.found == 0) return "sources      none\n";
  return fmt::format("sources      {} of {} {} ({:.6g} erg/s written, {:.6g} outside the region{})\n", s.count(),
                     s.found, o.sources == SourceKind::stars ? "stars" : "star-forming gas elements", s.input - s.cut,
                     s.cut, s.bad ? fmt::format(", {} skipped: bad values", s.bad) : "");
}

std::string describe_gas_found(const Job& job, const Gatherer& gatherer, std::uint64_t empty) {
  const Totals& t = gatherer.totals();
  const Defects& bad = gatherer.defects();
  std::string out = fmt::format("gas elements {}\n", t.elements);
  if (t.star_forming > 0) {
    out +=
        fmt::format("star-forming {} gas elements, with {:.3g} of the mass and {:.3g} of the HI: {}\n", t.star_forming,
                    t.star_forming_mass_share(), t.star_forming_HI_share(), describe_star_forming(job.gas.model));
  }
  if (t.beyond > 0 && job.region.frame.wraps) {
    out += fmt::format("wrapped      {} gas elements with coordinates beyond the box\n", t.beyond);
  }
  if (bad.total() > 0) {
    out += fmt::format("bad cells    {}: {} skipped with a mass of {:.6g} Msun, {} set to a floor\n{}", bad.total(),
                       bad.dropped, bad.mass_dropped / emission::solar_mass, bad.floored, bad.describe());
  }
  return out +
         fmt::format("empty cells  {} of {}, set to {:.0e} K\n", empty, job.region.lattice.count(), empty_temperature);
}

/// Warns of what is suspicious but no error.
void warn_of(const Job& job, const Totals& t, const std::vector<double>& gridded) {
  if (t.beyond > t.elements / 10) {
    job.warn(
        fmt::format("{} of {} gas elements have coordinates beyond the box of {:.6g} kpc: is that its size (--box)?",
                    t.beyond, t.elements, job.region.frame.box[0] / (1e3 * constants::pc)));
  }
  const FieldList& fields = job.gas.fields;
  for (int s = 0; s < fields.species(); ++s) {
    if (gridded[std::size_t(fields.number_of(s))] > 0) continue;
    job.warn(fmt::format("there is no {} in the grid: its line is not absorbed anywhere", fields.species_name(s)));
  }
}

template <class T>
std::string run(const Job& job, io::ArrayOutput& file) {
  const GridOptions& o = job.options;
  const FieldList& fields = job.gas.fields;
  Sources sources;
  find_sources(job, sources);
  CellSums<T> sums(job.region.lattice, fields.count);
  Gatherer gatherer(job.region, job.gas, o.threads);
  fill(job, sums, gatherer, sources);
  if (sources.bad > 0 && o.on_bad_cells == OnBadCells::error) {
    refuse(job, fmt::format("{} of {} sources have impossible values; --on-bad-cells drop skips them", sources.bad,
                            sources.found));
  }
  const std::vector<double> gridded = sum_cells(sums, fields, o.threads);
  if (gridded[mass] == 0) refuse(job, "there is no gas in the region");
  const Budget budget = make_budget(gatherer.totals(), gridded, fields);
  if (o.method == Method::kernel && !(budget.worst() <= o.tolerance)) {
    refuse(job, fmt::format("the grid does not conserve its input to {:.1e} (--tolerance):\n{}", o.tolerance,
                            budget.to_text()));
  }
  warn_of(job, gatherer.totals(), gridded);
  const std::uint64_t empty = finish(sums, fields, o.solar_metallicity, o.threads);

  const io::SnapshotHeader& header = job.snapshot.header();
  GridFileInfo info{job.region.lattice, 0, 0};
  if (header.cosmological) {
    info.redshift = header.redshift;
    info.hubble = Cosmology{header.h, header.omega_m, header.omega_lambda}.hubble(header.redshift);
  }
  write_head(file, info);
  const auto& cells = job.region.lattice.cells;
  const std::vector<std::uint64_t> shape{std::uint64_t(cells[0]), std::uint64_t(cells[1]), std::uint64_t(cells[2])};
  const std::unique_ptr<float[]> values(new float[job.region.lattice.count()]);
  for (const CellArray& array : cell_arrays(fields)) {
    copy_array(sums, array.field, values.get(), o.threads);
    file.write<float>(array.name, std::span<const float>(values.get(), job.region.lattice.count()), shape, array.units,
                      array.description, o.compression);
  }
  write_sources(file, sources, o.sources);
  write_provenance(
      file, {job.snapshot, o, job.gas, job.region, budget, gatherer.defects(), gatherer.totals(), job.warnings, empty});
  file.commit(o.overwrite);

  std::string clamped;
  if (job.gas.model.ionization && job.gas.model.ionization->clamped() > 0) {
    clamped = fmt::format("ionisation   {} look-ups beyond the table took the value at its edge\n",
                          job.gas.model.ionization->clamped());
  }
  if (job.gas.model.table && job.gas.model.table->clamped() > 0) {
    clamped += fmt::format("ion table    {} look-ups beyond the table took the value at its edge\n",
                           job.gas.model.table->clamped());
  }
  return describe_gas_found(job, gatherer, empty) + clamped + describe_sources(o, sources) + budget.to_text();
}

}  // namespace

std::string grid_snapshot(const GridOptions& options) {
  const io::Snapshot snapshot(options.snapshot, options.read);
  const GasOptions gas = plan_gas(snapshot, options);
  if (!options.quiet) {
    for (const auto& line : describe_gas(snapshot, options, gas)) message("thor: {}\n", line);
  }
  const Lattice lattice = choose_lattice(snapshot.header(), options.region);
  const MemoryPlan memory = plan_memory(snapshot, options, lattice, gas.fields);
  if (!options.dry_run) require(memory, available_memory());
  const GridRegion region = choose_region(snapshot, options.region);
  std::string text = describe_plan(region, memory, gas.fields);
  if (options.dry_run) return text;
  for (const auto& input : snapshot.files()) io::detail::require_apart(options.output, input);
  io::ArrayOutput file(options.output, options.overwrite);
  std::vector<std::string> warnings;
  const Job job{options, snapshot, region, gas, warnings};
  return text + (options.single ? run<float>(job, file) : run<double>(job, file));
}

}  // namespace thor::gridding
