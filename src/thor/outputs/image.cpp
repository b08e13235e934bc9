#include "thor/outputs/image.hpp"

#include "thor/io/array/output.hpp"
#include "thor/outputs/keys.hpp"

namespace thor {

const config::Section<ImageOutput>& ImageOutput::section() {
  using namespace config;
  static const Section<ImageOutput> section = [] {
    Section<ImageOutput> s("");
    declare_sky(s, false);
    return s;
  }();
  return section;
}

SkyPlan ImageOutput::plan(const OutputContext& context) const { return plan_sky(*this, context); }

void ImageOutput::write(io::ArrayOutput& file, const SkyPlan& plan, BinnedLight light) const {
  write_sky(file, "/images/" + name, "surface_brightness", *this, plan, std::move(light), 1,
            units_of(plan.sky.distances).brightness);
}

}  // namespace thor
