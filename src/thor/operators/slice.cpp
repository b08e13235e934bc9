#include "thor/operators/slice.hpp"

#include <cmath>

#include "thor/operators/image_task.hpp"
#include "thor/operators/keys.hpp"

namespace thor::config {

const Section<SliceOperator>& SliceOperator::section() {
  static const Section<SliceOperator> section = [] {
    Section<SliceOperator> s("");
    declare_name(s, "cut");
    declare_camera(s);
    declare_field(s, &SliceOperator::field, "temperature");
    s.quantity("offset", &SliceOperator::offset, Dimension::length, anything,
               {.meaning = "distance of the plane from the centre, towards the camera", .fallback = "0 kpc"});
    return s;
  }();
  return section;
}

ImageTask SliceOperator::plan(FieldSource& fields) const {
  const FieldUse use = fields.use(field);
  ImageTask task;
  task.job.set(Slice{use.quantity});
  task.units = use.units, task.scale[0] = use.unit;
  task.meaning = "the field in a plane", task.attributes = {{"field", field}};
  task.plane = offset;
  task.value = [](const Pixel& p) { return p[1] > 0 ? p[0] : NAN; };
  // A point is in one part of the gas; on a face between parts it has the value of the first.
  task.join = [](Pixel& p, const Pixel& other) {
    if (!(p[1] > 0)) p = other;
  };
  return task;
}

}  // namespace thor::config
