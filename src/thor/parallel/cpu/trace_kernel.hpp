#pragma once
#include "thor/operators/image.hpp"
#include "thor/operators/record.hpp"
#include "thor/operators/sightline_job.hpp"
#include "thor/parallel/cpu/kernel.hpp"

namespace thor::cpu {

/// Straight rays and their operators, in a scene that is given as bytes.
template <class Real>
struct TraceKernel {
  std::string_view isa;
  DatasetKind kind;
  int lanes;
  /// The numbers of the pixels of a tile, plane after plane, row after row; by packs, or one ray at a time.
  void (*image)(const void* scene, const ImageJob& job, const ImageTile& tile, Real* out);
  void (*image_one)(const void* scene, const ImageJob& job, const ImageTile& tile, Real* out);
  /// Adds what is found along a ray to the numbers of its sightline, which have room for whole packs of them, and
  /// returns what it adds to the sum.
  double (*sightline)(const void* scene, const StraightRay& ray, const SightlineJob& job, Real* numbers);
  std::int64_t (*record)(const void* scene, const StraightRay& ray, const Quantities& quantities, std::int64_t room,
                         double* begins, double* lengths, float* const* values);
};

template <class Real>
std::span<const TraceKernel<Real>* const> trace_kernels();
template <class Real>
const TraceKernel<Real>& trace_kernel(DatasetKind kind, std::string_view isa);

}  // namespace thor::cpu
