#pragma once
#include <fmt/format.h>

#include "thor/core/progress.hpp"
#include "thor/drivers/rays/parts.hpp"
#include "thor/drivers/rays/rays.hpp"
#include "thor/io/array/output.hpp"

/// What a run with straight rays makes: images, spectra, traces.
namespace thor {

/// What all products of a run share.
class RayWork {
 public:
  RayWork(const config::Raytrace& config, const RunOptions& options);

  const config::Raytrace& config;
  const RunOptions& options;
  const comm::World alone;
  const comm::World& world;
  RayParts parts;

  std::string key(std::size_t op) const { return fmt::format("operators.{}", op); }
  /// Throws an Error(device) where there is not so much.
  void require_memory(const std::string& key, double bytes) const;
  /// The sightlines of an operator, for which there is memory. Says how many do not meet the gas.
  SightlineList sightlines(std::size_t op, const config::Sightlines& keys);
  void begin(double rays);     ///< of the run, from where its clock counts
  void progress(double rays);  ///< more of them have been traced
  void stop_if_due() const;    ///< throws an Error(stopped) where a signal or the clock says so; progress() does, too
  double seconds() const { return progress_->seconds(); }
  void end() { progress_.reset(); }

 private:
  std::unique_ptr<Progress> progress_;
  double done_ = 0;
};

/// One that an operator makes. When they are built, products use the fields that they need.
class RayProduct {
 public:
  virtual ~RayProduct() = default;
  virtual double rays() const = 0;
  virtual double bytes() const = 0;    ///< of memory that it takes
  virtual double written() const = 0;  ///< bytes of the result file, at most
  /// On the first rank, before anything is traced: throws an Error(output) where files are in the way.
  virtual void open() {}
  /// All ranks trace, and the first one writes; others have no file.
  virtual void write(io::ArrayOutput* file) = 0;
};

/// For an operator with a camera.
std::unique_ptr<RayProduct> make_image(RayWork& work, std::size_t op);
std::unique_ptr<RayProduct> make_spectra(RayWork& work, std::size_t op);
std::unique_ptr<RayProduct> make_traces(RayWork& work, std::size_t op);

}  // namespace thor
