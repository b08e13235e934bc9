#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "thor/operators/image.hpp"
#include "thor/operators/record.hpp"
#include "thor/operators/sightline_job.hpp"

namespace thor {

/// Rays that make up sightlines, one after the other: those of sightline i are first[i] to first[i + 1]. In a periodic
/// box a sightline is one ray for each image of the box that it crosses.
struct SightlineRays {
  std::vector<StraightRay> rays{};
  std::vector<std::uint32_t> first{0};

  std::size_t count() const { return first.size() - 1; }
};

/// The run of quantities along a ray.
struct RayRun {
  std::vector<double> begins, lengths;     ///< of its pieces, in units of the dataset
  std::vector<std::vector<float>> values;  ///< of each quantity
};

/// Follows rays through a scene that stays in memory, of this machine or of a device. One thread at a time calls it.
class RayEngine {
 public:
  virtual ~RayEngine() = default;
  /// Tiles of an image one after the other, each plane after plane.
  virtual void image(const ImageJob& job, std::span<const ImageTile> tiles, std::span<double> numbers) = 0;
  /// All of it.
  void image(const ImageJob& job, std::span<double> numbers) {
    const ImageTile all{0, 0, job.camera.columns, job.camera.rows};
    image(job, {&all, 1}, numbers);
  }
  /// The numbers of each sightline, one sightline after the other, and its sum.
  virtual void follow(const SightlineRays& sightlines, const SightlineJob& job, std::span<float> numbers,
                      std::span<double> sums) = 0;
  virtual RayRun record(const StraightRay& ray, const Quantities& quantities) = 0;
};

}  // namespace thor
