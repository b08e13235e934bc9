#include "thor/operators/projection.hpp"

#include <cmath>

#include "thor/io/result/unit.hpp"
#include "thor/operators/image_task.hpp"
#include "thor/operators/keys.hpp"

namespace thor::config {

const Section<ProjectionOperator>& ProjectionOperator::section() {
  static const Section<ProjectionOperator> section = [] {
    Section<ProjectionOperator> s("");
    declare_name(s, "column");
    declare_camera(s);
    declare_field(s, &ProjectionOperator::field, "HI_density");
    declare_optional_field(s, "weight", &ProjectionOperator::weight,
                           "weight field w: the result is the mean ∫q w ds/∫w ds; by default ∫q ds");
    declare_samples(s);
    return s;
  }();
  return section;
}

ImageTask ProjectionOperator::plan(FieldSource& fields) const {
  const FieldUse q = fields.use(field);
  Projection projection{q.quantity, {}};
  ImageTask task;
  task.samples = int(samples);
  if (weight.empty()) {
    task.units = (io::Unit(q.units) * io::Unit("cm")).text(), task.scale[0] = q.unit * fields.outline().length;
    task.meaning = "integral of the field along the ray of each pixel";
  } else {
    const FieldUse w = fields.use(weight);
    projection.weight = w.quantity;
    task.units = q.units, task.scale[0] = q.unit * w.unit, task.scale[1] = w.unit;
    task.meaning = "mean of the field along the ray of each pixel";
    task.value = [](const Pixel& p) { return p[1] == 0 ? NAN : p[0] / p[1]; };
  }
  task.attributes = {{"field", field}, {"weight", weight}};
  task.job.set(projection);
  return task;
}

}  // namespace thor::config
