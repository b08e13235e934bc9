#pragma once
#include "thor/drivers/options.hpp"
#include "thor/drivers/rays/config.hpp"
#include "thor/drivers/rays/scene.hpp"
#include "thor/parallel/tracer.hpp"

namespace thor {

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
  bool is_on_device() const { return device_ != nullptr; }  ///< after prepare()

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

/// Numbers of all ranks at the first one, one after the other.
std::vector<double> at_first(const comm::World& world, const std::vector<double>& own);
/// Numbers of all ranks on all of them.
std::vector<double> everywhere(const comm::World& world, const std::vector<double>& own);

}  // namespace thor
