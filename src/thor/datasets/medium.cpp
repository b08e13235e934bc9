#include "thor/datasets/medium.hpp"

#include "thor/datasets/dataset_type.hpp"

namespace thor {

const DatasetType& dataset_type(std::string_view name) {
  for (const DatasetType* type : dataset_types()) {
    if (name == type->name) return *type;
  }
  throw Error(ExitCode::internal, "there is no dataset type " + std::string(name));
}

Medium build_medium(const config::Dataset& dataset, const Line& line, const Refuse& refuse) {
  return dataset_type(dataset.type).build(dataset, line, refuse);
}

void load_cells(Medium& m, const config::Dataset& dataset, const Line& line, bool core_skip, int threads) {
  if (const auto load = dataset_type(dataset.type).load) load(m, dataset, line, {core_skip, threads});
}

}  // namespace thor
