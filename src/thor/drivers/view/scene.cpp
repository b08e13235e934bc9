#include "thor/drivers/view/scene.hpp"

#include <algorithm>
#include <cmath>

namespace thor {

ViewScene::ViewScene(const config::Raytrace& config, const RunOptions& options)
    : config_(config),
      options_(options),
      device_(choose_device(options)),
      device_name_(describe(device_.get(), options.cpu)),
      scene_(open_scene(config.dataset, line_of_rays(config, config.line, "line"), options.cpu.threads)) {}

ViewScene::~ViewScene() = default;

void ViewScene::forget() {
  engine_.reset();
  scene_->forget();
}

RayEngine& ViewScene::engine() {
  if (engine_ && fields_ == scene_->fields_in_use()) return *engine_;
  engine_.reset();  // a device may have no room for both
  engine_ = engine_of(*scene_, config_.precision, options_.cpu, device_.get());
  fields_ = scene_->fields_in_use();
  return *engine_;
}

std::vector<double> ViewScene::trace(const ImageTask& plan) {
  const ImageJob& job = plan.job;
  std::vector<double> planes(std::size_t(job.planes) * std::size_t(job.camera.columns) * std::size_t(job.camera.rows));
  engine().image(job, planes);
  set_units(plan, planes);
  return planes;
}

const ValueRange& ViewScene::range_of(const std::string& product) {
  if (const auto found = ranges_.find(product); found != ranges_.end()) return found->second;
  if (scene_->outline().has_cells) return ranges_[product] = scene_->range_of(product);
  config::Camera camera;
  camera.name = "view", camera.pixels = camera.rows = 128;
  camera.width = scene_->outline().longest();
  ValueRange range{HUGE_VAL, HUGE_VAL, -HUGE_VAL, 0, 0};
  for (const std::size_t axis : {0, 2}) {
    camera.direction = {}, camera.up = {0, 1, 0};
    camera.direction[axis] = 1;
    ImageTask plan = config::SliceOperator{"", "", product}.plan(*scene_);
    look_through(plan, build_camera(camera, scene_->outline()), scene_->outline());
    for (const double value : values_of(plan, trace(plan))) {
      if (!std::isfinite(value)) continue;
      range.least = std::min(range.least, value), range.largest = std::max(range.largest, value);
      if (value > 0) range.least_positive = std::min(range.least_positive, value);
    }
  }
  range.low = range.least_positive < HUGE_VAL ? range.least_positive : range.least;
  range.high = range.largest;
  return ranges_[product] = range;
}

}  // namespace thor
