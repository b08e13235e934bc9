#pragma once
#include "thor/operators/image.hpp"
#include "thor/operators/sightline_job.hpp"

/// What one lane of a device does for the raytracing driver, written once for every backend.
namespace thor::device {

/// Sightlines in the memory of a device: the rays of sightline i are first[i] to first[i + 1].
struct Sightlines {
  const StraightRay* rays;
  const std::uint32_t* first;
  std::uint32_t count;
};

/// What the kernels of rays are called with.
template <class Real>
struct ImageArguments {
  const ImageJob& job;
  const ImageTile& tile;
  int planes;
  Real* out;
};
template <class Real>
struct SightlineArguments {
  const Sightlines& sightlines;
  const SightlineJob& job;
  Real* numbers;
  double* sums;
};

inline namespace THOR_ISA {

/// One pixel of a tile, and its numbers in each plane.
template <class S>
THOR_FN void trace_pixel(const S& scene, const ImageJob& job, const ImageTile& tile, int planes, int column, int row,
                         typename S::Real* out) {
  using Real = typename S::Real;
  Real sums[image_planes] = {};
  if (job.in_step.axis >= 0) {
    trace_in_step<Real>(scene, job, tile.column + column, tile.row + row, IntOf<Real>(0), IntOf<Real>(0), 1, sums);
  }
  const Real share = Real(1. / (job.samples * job.samples));
  for (int sample = 0; job.in_step.axis < 0 && sample < job.samples * job.samples; ++sample) {
    auto walk = start_pixel(scene, job, tile.column + column, tile.row + row, sample);
    Real numbers[image_planes];
    trace_image<Real>(walk, scene, job, numbers);
    for (int p = 0; p < image_planes; ++p) sums[p] = fma(share, numbers[p], sums[p]);
  }
  const std::int64_t plane = std::int64_t(tile.columns) * tile.rows, pixel = std::int64_t(row) * tile.columns + column;
  for (int p = 0; p < planes; ++p) out[p * plane + pixel] = sums[p];
}

/// The numbers `lane`, lane + lanes, ... of a sightline.
template <class Real>
struct LaneNumbers {
  Real* numbers;
  int count, lane, lanes;

  /// Replaces number i by change(i, number).
  template <class Change>
  THOR_FN void each(const Change& change) const {
    for (int i = lane; i < count; i += lanes) numbers[i] = change(Real(i), numbers[i]);
  }
};

/// Those of one sightline: all lanes follow the same rays.
template <class S>
THOR_FN void trace_numbers(const S& scene, const Sightlines& sightlines, const SightlineJob& job,
                           std::uint32_t sightline, int lane, int lanes, typename S::Real* numbers, double* sums) {
  using Real = typename S::Real;
  const LaneNumbers<Real> own{numbers + std::int64_t(sightline) * job.numbers, job.numbers, lane, lanes};
  double sum = 0;
  for (std::uint32_t k = sightlines.first[sightline]; k < sightlines.first[sightline + 1]; ++k) {
    sum += trace_sightline<Real>(scene, sightlines.rays[k], job, own);
  }
  if (lane == 0) sums[sightline] = sum;
}

}  // namespace THOR_ISA
}  // namespace thor::device
