#pragma once
#include "thor/core/progress.hpp"
#include "thor/drivers/rays/parts.hpp"
#include "thor/drivers/rays/rays.hpp"

namespace thor {

/// What the products of a run share, of its configuration.
class RaytraceWork final : public RayWork {
 public:
  RaytraceWork(const config::Raytrace& config, const RunOptions& options);

  const config::Raytrace& config;
  const RunOptions& options;
  RayParts ray_parts;

  bool is_cut() const override { return ray_parts.is_cut(); }
  bool is_on_device() const override { return ray_parts.is_on_device(); }
  std::size_t parts() const override { return ray_parts.parts().size(); }
  RayScene& gas(std::size_t part) const override { return *ray_parts.parts()[part].scene; }
  RayEngine& engine(std::size_t part) const override { return *ray_parts.parts()[part].engine; }
  Line line(const std::string& name, const std::string& key) const override { return line_of_rays(config, name, key); }
  void progress(double rays) override;
  void stop_if_due() const override;

  void begin(double rays);  ///< of the run, from where its clock counts
  double seconds() const { return progress_->seconds(); }
  void end() { progress_.reset(); }

 private:
  std::unique_ptr<Progress> progress_;
  double done_ = 0;
};

/// For an operator with a camera.
std::unique_ptr<RayProduct> make_image(RaytraceWork& work, std::size_t op);

}  // namespace thor
