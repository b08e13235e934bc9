#pragma once
#include "thor/drivers/mcrt.hpp"
#include "thor/drivers/rays.hpp"

namespace thor {

/// Straight rays and their operators, from a configuration to a result file.
ExitCode run_raytrace(const config::Raytrace& config, const RunOptions& options);

/// What a run will take.
struct RaysCost {
  double rays;
  double memory;                    ///< [byte]
  std::vector<std::string> fields;  ///< that there are
};
/// Reads the fields that the operators need, and traces nothing.
RaysCost check_rays(const config::Raytrace& config, int threads);

/// The gas of a run, all of it or some parts, with what its operators need: resident for any number of images.
class RayParts {
 public:
  RayParts(const config::Raytrace& config, const RunOptions& options);
  ~RayParts();

  struct Part {
    int domain;
    RayScene scene;
    std::unique_ptr<Tracer> tracer;  ///< after prepare()
  };
  /// Puts the fields that have been used onto the device. Those that are used after that are not there.
  void prepare();

  std::vector<Part>& parts() { return parts_; }
  RayScene& scene() { return parts_.front().scene; }  ///< any of them, for what all have in common
  bool is_cut() const { return domains_ != nullptr; }
  const Domains& domains() const { return *domains_; }
  const std::string& device() const { return device_name_; }

 private:
  const config::Raytrace& config_;
  const RunOptions& options_;
  std::unique_ptr<Domains> domains_;
  std::unique_ptr<device::Device> device_;  ///< which the tracers of the parts use until they end
  std::string device_name_;
  std::vector<Part> parts_;
};

/// The line of a configuration.
Line line_of_rays(const config::Raytrace& config, const std::string& name, const std::string& key);

}  // namespace thor
