#pragma once
#include <memory>
#include <span>
#include <vector>

#include "thor/operators/absorption.hpp"
#include "thor/operators/any_scene.hpp"
#include "thor/operators/image.hpp"
#include "thor/operators/tracer.hpp"
#include "thor/parallel/cpu/engine.hpp"
#include "thor/parallel/device/device.hpp"

namespace thor {

/// Rays that make up sightlines, one after the other: those of sightline i are first[i] to first[i + 1]. In a periodic
/// box a sightline is one ray for each image of the box that it crosses.
struct SightlineRays {
  std::vector<StraightRay> rays;
  std::vector<std::uint32_t> first{0};

  std::size_t count() const { return first.size() - 1; }
};

/// The run of quantities along a ray.
struct RayRun {
  std::vector<double> begins, lengths;     ///< of its pieces, in units of the dataset
  std::vector<std::vector<float>> values;  ///< of each quantity
};

/// Traces rays through a scene that stays in memory, of this machine or of a device. One thread at a time calls it.
class Tracer {
 public:
  virtual ~Tracer() = default;
  /// Parts of an image one after the other, each plane after plane.
  virtual void image(const ImageJob& job, std::span<const ImageTile> parts, std::span<double> numbers) = 0;
  /// All of it.
  void image(const ImageJob& job, std::span<double> numbers) {
    const ImageTile all{0, 0, job.camera.columns, job.camera.rows};
    image(job, {&all, 1}, numbers);
  }
  /// Optical depth in the bins of each sightline, and its column density [cm^-2].
  virtual void absorb(const SightlineRays& sightlines, const Absorption& absorption, std::span<float> tau,
                      std::span<double> columns) = 0;
  virtual RayRun record(const StraightRay& ray, const Trace& trace) = 0;
};

/// The scene points to memory that has to live as long as the tracer.
template <class Real>
std::unique_ptr<Tracer> make_tracer(const AnyScene<Real>& scene, const cpu::Options& options);
/// On a device, which gets a copy of the scene.
template <class Real>
std::unique_ptr<Tracer> make_tracer(const AnyScene<Real>& scene, const cpu::Options& options, device::Device& device);

}  // namespace thor
