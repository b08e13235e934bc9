#include "thor/gridding/grid_snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "thor/core/cosmology.hpp"
#include "thor/gridding/census.hpp"
#include "thor/gridding/deposit/cell_values.hpp"
#include "thor/gridding/filler.hpp"
#include "thor/gridding/grid_file.hpp"
#include "thor/gridding/plan/plan.hpp"
#include "thor/gridding/plan/survey.hpp"
#include "thor/gridding/slab_output.hpp"
#include "thor/io/partial.hpp"

namespace thor::gridding {
namespace {

void write_head(const Job& job, io::ArrayOutput& file) {
  const io::SnapshotHeader& header = job.snapshot.header();
  GridFileInfo info{job.region.lattice, 0, 0};
  if (header.cosmological) {
    info.redshift = header.redshift;
    info.hubble = Cosmology{header.h, header.omega_m, header.omega_lambda}.hubble(header.redshift);
  }
  gridding::write_head(file, info);
}

/// Collective: numbers of all ranks, one after the other, at the first.
std::vector<double> at_first(const comm::World& world, const std::vector<double>& own) {
  std::vector<std::uint64_t> words;
  for (const double value : own) words.push_back(std::bit_cast<std::uint64_t>(value));
  std::vector<double> all;
  for (const std::uint64_t word : world.at_first(words)) all.push_back(std::bit_cast<double>(word));
  return all;
}

template <class T>
std::string run(const Job& job, const comm::World& world, const MemoryPlan& memory, SlabOutput& output) {
  const GridOptions& o = job.options;
  const FieldList& fields = job.gas.fields;
  const Lattice& lattice = job.region.lattice;
  const bool first_rank = world.is_first();
  Sources sources;
  output.together([&] {
    if (!first_rank) return;
    find_sources(job, sources);
    // A full disk is better found before the first of many passes than after it.
    if (memory.slabs() > 1 && o.compression == 0) output.file().reserve(std::uint64_t(file_size(lattice, fields)));
    write_head(job, output.file());
  });
  output.begin(cell_arrays(fields), lattice, memory, o.compression);
  Filler filler(job, memory);
  std::vector<double> total(std::size_t(fields.count), 0.);
  Budget budget;
  std::uint64_t empty = 0;
  const std::int64_t all = lattice.cells[0], in_turn = memory.ranks * memory.layers;
  for (std::int64_t turn = 0; turn < all; turn += in_turn) {
    const std::int64_t first = turn + world.rank() * memory.layers;
    std::optional<CellSums<T>> sums;
    std::vector<double> layers;
    output.together([&] {
      if (first >= all) return;
      sums.emplace(lattice, fields.count, Layers{first, std::min(first + memory.layers, all)});
      filler.fill(*sums, sources);
      if (first_rank) refuse_bad_sources(job, sources);
      layers = sum_layers(*sums, o.threads);
    });
    add_layers(at_first(world, layers), total);
    output.together([&] {
      if (first_rank && turn + in_turn >= all) {
        budget = settle(job, filler.census().totals(), in_cgs(total, fields, lattice));
      }
      if (sums) empty += finish(*sums, fields, o.solar_metallicity, o.threads);
    });
    output.write([&](const CellArray& array, float* values) { copy_array(*sums, array.field, values, o.threads); });
  }
  output.finish();
  const std::vector<std::uint64_t> empties = world.at_first({empty});
  if (!first_rank) return {};
  empty = std::accumulate(empties.begin(), empties.end(), std::uint64_t(0));
  const Gatherer& census = filler.census();
  io::ArrayOutput& file = output.file();
  write_sources(file, sources, o.sources);
  write_provenance(
      file, {job.snapshot, o, job.gas, job.region, budget, census.defects(), census.totals(), job.warnings, empty});
  file.commit(o.overwrite);
  std::vector<std::string> written;
  for (const CellArray& array : cell_arrays(fields)) written.push_back(array.name);
  if (o.sources != SourceKind::none && sources.count() > 0) written.push_back("sources");
  std::string wrote = describe_file(o.output, lattice, written);
  if (o.quiet) return wrote;
  return describe_gas_found(job, census) +
         fmt::format("empty cells  {} of {}, set to {:.0e} K\n", empty, lattice.count(), empty_temperature) +
         describe_clamped(job.gas.model) + describe_sources(o, sources) + budget.to_text() + wrote;
}

/// Collective: the memory of a rank, in slabs that all agree on.
MemoryPlan share_memory(const comm::World& world, const MemoryPlan& own) {
  if (world.is_alone()) return own;
  MemoryPlan plan = own;
  plan.layers = std::int64_t(~world.largest(~std::uint64_t(own.layers)));  // the fewest of all
  plan.grid *= double(plan.layers) / double(own.layers), plan.field *= double(plan.layers) / double(own.layers);
  return on_ranks(plan, world.ranks());
}

constexpr double for_files = 64 << 20;  ///< [bytes] caches of HDF5 and stacks of threads, beside the plan

}  // namespace

std::string grid_snapshot(const GridOptions& options) {
  const comm::World alone{comm::World::Alone{}};
  const comm::World& world = options.world ? *options.world : alone;
  const io::Snapshot snapshot(options.snapshot, options.read);
  const GasOptions gas = plan_gas(snapshot, options);
  if (!options.quiet) {
    for (const auto& line : describe_gas(snapshot, options, gas)) message("thor: {}\n", line);
  }
  const Lattice lattice = choose_lattice(snapshot.header(), options.region);
  const MemoryRoom room{options.memory, std::max(available_memory(world.ranks_on_node()) - for_files, 0.)};
  const MemoryPlan memory = share_memory(world, plan_memory(snapshot, options, lattice, gas.fields, room));
  if (!options.dry_run || options.memory) require(memory, room);
  const GridRegion region = choose_region(snapshot, options.region);
  std::string text = describe_plan(region, memory, gas.fields, room);
  if (options.dry_run) return text;
  for (const auto& input : snapshot.files()) io::detail::require_apart(options.output, input);
  SlabOutput output(world, options.output, options.overwrite);
  std::vector<std::string> warnings;
  const Job job{options, snapshot, region, gas, warnings};
  for (const std::string& warning : snapshot.header().warnings) job.warn(warning);
  const std::string done =
      options.single ? run<float>(job, world, memory, output) : run<double>(job, world, memory, output);
  return options.quiet ? done : text + done;
}

}  // namespace thor::gridding
