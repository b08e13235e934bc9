#include "thor/drivers/view/scene.hpp"

#include <algorithm>
#include <cmath>

namespace thor {

ViewScene::ViewScene(const config::Raytrace& config, const RunOptions& options)
    : config_(config),
      options_(options),
      device_(choose_device(options)),
      device_name_(describe(device_.get(), options.cpu)),
      empty_(std::in_place, config.dataset, line_of_rays(config, config.line, "line"), options.cpu.threads),
      scene_(empty_) {}

ViewScene::~ViewScene() = default;

void ViewScene::forget() {
  tracer_.reset();
  scene_ = empty_;
}

Tracer& ViewScene::tracer() {
  if (tracer_ && fields_ == scene_->fields_in_use()) return *tracer_;
  tracer_.reset();  // a device may have no room for both
  const auto make = [&]<class Real>(const AnyScene<Real>& scene) {
    return device_ ? make_tracer(scene, options_.cpu, *device_) : make_tracer(scene, options_.cpu);
  };
  const bool single = config_.precision == config::Precision::single_;
  tracer_ = single ? make(scene_->scene<float>()) : make(scene_->scene<double>());
  fields_ = scene_->fields_in_use();
  return *tracer_;
}

std::vector<double> ViewScene::trace(const ImageTask& plan) {
  const ImageJob& job = plan.job;
  std::vector<double> planes(std::size_t(job.planes()) * std::size_t(job.camera.columns) *
                             std::size_t(job.camera.rows));
  tracer().image(job, planes);
  set_units(plan, planes);
  return planes;
}

const RayScene::Spread& ViewScene::spread_of(const std::string& product) {
  if (const auto found = spreads_.find(product); found != spreads_.end()) return found->second;
  if (scene_->is_grid()) return spreads_[product] = scene_->spread_of(product);
  config::Camera camera;
  camera.name = "view", camera.pixels = camera.rows = 128;
  camera.width = *std::ranges::max_element(scene_->size());
  RayScene::Spread spread{HUGE_VAL, HUGE_VAL, -HUGE_VAL, 0, 0};
  for (const std::size_t axis : {0, 2}) {
    camera.direction = {}, camera.up = {0, 1, 0};
    camera.direction[axis] = 1;
    ImageTask plan = config::SliceOperator{"", "", product}.plan(*scene_);
    look_through(plan, build_camera(camera, *scene_), *scene_);
    for (const double value : values_of(plan, trace(plan))) {
      if (!std::isfinite(value)) continue;
      spread.least = std::min(spread.least, value), spread.largest = std::max(spread.largest, value);
      if (value > 0) spread.least_positive = std::min(spread.least_positive, value);
    }
  }
  spread.low = spread.least_positive < HUGE_VAL ? spread.least_positive : spread.least;
  spread.high = spread.largest;
  return spreads_[product] = spread;
}

}  // namespace thor
