#include "thor/datasets/medium.hpp"

#include "thor/datasets/dataset_type.hpp"

namespace thor {

const DatasetType& dataset_type(std::string_view name) {
  for (const DatasetType* type : dataset_types()) {
    if (name == type->name) return *type;
  }
  throw Error(ExitCode::internal, "there is no dataset type " + std::string(name));
}

MediumOutline outline_medium(const config::Dataset& dataset, const Line& line, const Refuse& refuse) {
  return dataset_type(dataset.type).outline(dataset, line, refuse);
}

Medium build_medium(const MediumOutline& outline, const config::Dataset& dataset, const Line& line,
                    const CellOptions& options) {
  Medium medium{outline, nullptr, {}, nullptr};
  if (const auto add_cells = dataset_type(dataset.type).add_cells) add_cells(medium, dataset, line, options);
  if (medium.cells && !medium.divided) medium.statistics = medium.cells->statistics();
  return medium;
}

}  // namespace thor
