#include "thor/operators/most.hpp"

#include <cmath>

#include "thor/operators/image_task.hpp"
#include "thor/operators/keys.hpp"

namespace thor::config {

const Section<MostOperator>& MostOperator::section() {
  static const Section<MostOperator> section = [] {
    Section<MostOperator> s("");
    declare_name(s, "peak");
    declare_camera(s);
    declare_field(s, &MostOperator::field, "temperature");
    return s;
  }();
  return section;
}

ImageTask MostOperator::plan(FieldSource& fields) const {
  const FieldUse use = fields.use(field);
  ImageTask task;
  task.job.set(Most{use.quantity});
  task.units = use.units, task.scale[0] = use.unit;
  task.meaning = "largest value along the ray of each pixel", task.attributes = {{"field", field}};
  task.value = [](const Pixel& p) { return p[1] > 0 ? p[0] : NAN; };
  task.join = [](Pixel& p, const Pixel& other) {
    if (other[1] > 0 && !(p[1] > 0 && p[0] > other[0])) p = other;
  };
  return task;
}

}  // namespace thor::config
