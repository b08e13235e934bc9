#pragma once
#include "thor/drivers/options.hpp"
#include "thor/drivers/rays/config.hpp"
#include "thor/drivers/rays/scene.hpp"
#include "thor/parallel/ray_engine.hpp"

namespace thor {

/// The gas of a run, all of it or some parts, with what its operators need: resident for any number of images.
class RayParts {
 public:
  RayParts(const config::Raytrace& config, const RunOptions& options);
  ~RayParts();

  struct Part {
    int domain;
    std::unique_ptr<RayScene> scene;
    std::unique_ptr<RayEngine> engine;  ///< after prepare()
  };
  /// Puts the fields that have been used onto the device. Those that are used after that are not there.
  void prepare();

  const std::vector<Part>& parts() const { return parts_; }
  bool is_cut() const { return domains_ != nullptr; }
  const Domains& domains() const { return *domains_; }
  const std::string& device() const { return device_name_; }
  bool is_on_device() const { return device_ != nullptr; }  ///< after prepare()

 private:
  const config::Raytrace& config_;
  const RunOptions& options_;
  std::unique_ptr<Domains> domains_;
  std::unique_ptr<device::Device> device_;  ///< which the engines of the parts use until they end
  std::string device_name_;
  std::vector<Part> parts_;
};

/// The line of a configuration.
Line line_of_rays(const config::Raytrace& config, const std::string& name, const std::string& key);

/// Follows rays through a scene, in single precision if it can; `device`: null for the processor.
std::unique_ptr<RayEngine> engine_of(const RayScene& scene, config::Precision precision, const cpu::Options& options,
                                     device::Device* device);

}  // namespace thor
