#include "thor/datasets/medium.hpp"

#include <algorithm>

#include "thor/datasets/bad_cells.hpp"
#include "thor/datasets/cell_physics.hpp"
#include "thor/datasets/counted_cells.hpp"
#include "thor/datasets/dataset_type.hpp"

namespace thor {

const DatasetType& dataset_type(std::string_view name) {
  for (const DatasetType* type : dataset_types()) {
    if (name == type->name) return *type;
  }
  throw Error(ExitCode::internal, "there is no dataset type " + std::string(name));
}

std::string type_of_file(const std::string& path) {
  const io::Input file(path);
  for (const DatasetType* type : dataset_types()) {
    if (type->is_in && type->is_in(file)) return type->name;
  }
  return "uniform_grid";
}

std::vector<CountedCells> counted_cells(const Medium& medium, const comm::World& world) {
  if (!medium.divided) {
    constexpr std::int64_t run = 1 << 16;
    CountedCells all{medium.cells.get(), {}};
    const std::int64_t count = all.cells->cells();
    for (std::int64_t i = 0; i < count; i += run) all.runs.emplace_back(i, std::min(i + run, count));
    return {all};
  }
  const Partition& partition = *medium.divided->partition;
  std::vector<CountedCells> counted;
  for (const GasPart& part : medium.divided->parts) {
    counted.push_back({part.cells.get(), {}});
    if (partition.counts(part.domain, world.rank(), world.ranks()))
      counted.back().runs = partition.own_cells(part.domain);
  }
  return counted;
}

std::vector<std::int64_t> find_dropped(const MediumOutline& outline, const config::Dataset& dataset, const Line& line,
                                       const comm::World& world, int threads) {
  if (dataset.bad_cells != config::BadCells::drop) return {};
  const std::vector<std::int64_t> own = dataset_type(dataset.type).find_dropped(outline, dataset, line, world, threads);
  const std::vector<std::uint64_t> found(own.begin(), own.end()), bad = world.from_first(world.at_first(found));
  std::vector<std::int64_t> all(bad.begin(), bad.end());
  std::ranges::sort(all);
  say_dropped(dataset, all);
  return all;
}

MediumOutline outline_medium(const config::Dataset& dataset, const Line& line, const Refuse& refuse) {
  std::optional<FileStamp> stamp;
  if (!dataset_type(dataset.type).model) stamp.emplace(dataset.path);
  MediumOutline outline = dataset_type(dataset.type).outline(dataset, line, refuse);
  outline.stamp = stamp;
  return outline;
}

Medium build_medium(const MediumOutline& outline, const config::Dataset& dataset, const Line& line,
                    const CellOptions& options) {
  Medium medium{outline, nullptr, {}, nullptr};
  if (const auto add_cells = dataset_type(dataset.type).add_cells) add_cells(medium, dataset, line, options);
  if (medium.cells && !medium.divided) medium.statistics = medium.cells->statistics();
  return medium;
}

}  // namespace thor
