#pragma once
#include "thor/datasets/parameters.hpp"
#include "thor/drivers/config.hpp"
#include "thor/operators/camera_keys.hpp"
#include "thor/operators/list.hpp"

namespace thor::config {

/// The configuration of `driver: raytrace`, checked and in cgs.
struct Raytrace {
  std::string path;      ///< of the file, as given
  std::string resolved;  ///< YAML with every default written out
  std::string line;      ///< as which the gas of a model is seen
  std::string line_list;
  std::uint64_t seed = 0;
  Precision precision = Precision::single_;
  Dataset dataset;
  std::vector<Camera> cameras;
  std::vector<Operator> operators;
  std::string output_path;  ///< relative to the working directory
  std::string frames;       ///< folder for those of cameras that move

  const Camera& camera(const std::string& name) const;
};

/// Whether a text asks for the raytracing driver; false for one that cannot be read.
bool asks_for_rays(const std::string& yaml_text, const std::string& name, const std::vector<std::string>& overrides);

/// Throws thor::Error(usage) that names every mistake at once.
Raytrace check_raytrace(const std::string& yaml_text, const std::string& name,
                        const std::vector<std::string>& overrides = {});

const Schema& raytrace_schema();

}  // namespace thor::config
