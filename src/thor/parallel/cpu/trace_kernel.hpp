#pragma once
#include "thor/operators/absorption.hpp"
#include "thor/operators/image.hpp"
#include "thor/operators/tracer.hpp"
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
  /// Adds the optical depth along a ray to the bins of `tau`, which has room for whole packs of them, and returns the
  /// column density.
  double (*absorb)(const void* scene, const StraightRay& ray, const Absorption& absorption, Real* tau);
  std::int64_t (*record)(const void* scene, const StraightRay& ray, const Trace& trace, std::int64_t room,
                         double* begins, double* lengths, float* const* values);
};

template <class Real>
std::span<const TraceKernel<Real>* const> trace_kernels();
template <class Real>
const TraceKernel<Real>& trace_kernel(DatasetKind kind, std::string_view isa);

}  // namespace thor::cpu
