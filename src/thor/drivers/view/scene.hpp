#pragma once
#include <map>
#include <memory>

#include "thor/drivers/rays/parts.hpp"
#include "thor/drivers/rays/rays.hpp"

namespace thor {

/// The gas of `thor view`: fields are read when a picture first needs them, and stay in memory and on the device. One
/// thread at a time uses it, and always the same one, to which a device belongs.
class ViewScene {
 public:
  ViewScene(const config::Raytrace& config, const RunOptions& options);
  ~ViewScene();

  RayScene& scene() { return *scene_; }
  const RayScene& scene() const { return *scene_; }
  /// Has all fields that have been used so far.
  RayEngine& engine();
  /// Planes of an image in its units, as values_of() takes them.
  std::vector<double> trace(const ImageTask& plan);
  /// That of a model is found in its middle planes.
  const ValueRange& range_of(const std::string& product);

  /// Does the work, and once more without the fields of earlier pictures if there is no room for all of them.
  template <class Work>
  auto with_room(const Work& work) {
    if (!scene_->outline().has_cells) forget();  // each use of a model's field is a new one
    try {
      return work();
    } catch (const Error& e) {
      const bool is_full = scene_->fields_in_use() > most_fields - most_at_once;
      if (!is_full && e.code() != ExitCode::device) throw;
    }
    forget();
    return work();
  }

  const config::Raytrace& config() const { return config_; }
  const std::string& device() const { return device_name_; }

 private:
  static constexpr int most_at_once = 8;  ///< fields of a picture, or of a spectrum
  void forget();

  const config::Raytrace& config_;
  const RunOptions& options_;
  std::unique_ptr<device::Device> device_;
  std::string device_name_;
  std::unique_ptr<RayScene> scene_;
  std::unique_ptr<RayEngine> engine_;
  int fields_ = 0;  ///< that the engine has
  std::map<std::string, ValueRange> ranges_;
};

}  // namespace thor
