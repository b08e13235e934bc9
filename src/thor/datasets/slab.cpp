#include "thor/datasets/slab.hpp"

#include "thor/config/section.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/datasets/model.hpp"

namespace thor {
namespace {

void add_slab_keys(config::Section<config::Dataset>& s) {
  s.quantity("half_thickness", &config::Dataset::half_thickness, Dimension::length, config::positive,
             {.meaning = "distance from the mid-plane to the surface", .example = "1 kpc", .when = {"type", {"slab"}}});
}

MediumOutline outline_slab(const config::Dataset& dataset, const Line& line, const Refuse& refuse) {
  const Model model = build_model(dataset, line, dataset.half_thickness, 0, refuse);
  MediumOutline m = model.medium;
  m.dataset = Slab<double>{model.profile};
  return m;
}

}  // namespace

extern const DatasetType slab_type;  // for the generated table
const DatasetType slab_type{.name = "slab",
                            .meaning = "a slab, infinite in x and y, its mid-plane at z = 0",
                            .model = true,
                            .flows = true,
                            .gridded = false,
                            .peak = 1.066,  // Neufeld (1990)
                            .add_keys = add_slab_keys,
                            .outline = outline_slab,
                            .add_cells = nullptr};

}  // namespace thor
