#pragma once
#include "thor/drivers/config.hpp"
#include "thor/operators/any_operator.hpp"
#include "thor/operators/camera_keys.hpp"

namespace thor::config {

/// The configuration of `driver: raytrace`, checked and in cgs.
struct Raytrace : CommonKeys {
  std::vector<Camera> cameras;
  std::vector<Operator> operators;
  std::string frames;  ///< folder for those of cameras that move

  std::vector<std::string> input_files() const;  ///< that a run reads, beside the configuration
  const Camera& camera(const std::string& name) const;
};

/// Throws thor::Error(usage) that names every mistake at once.
Raytrace check_raytrace(Document document);

const Schema& raytrace_schema();

}  // namespace thor::config
