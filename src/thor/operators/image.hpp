#pragma once
#include "thor/operators/camera.hpp"
#include "thor/operators/projection.hpp"
#include "thor/operators/render.hpp"
#include "thor/operators/slice.hpp"
#include "thor/operators/walk.hpp"

/// Images: what an operator finds along the ray of each pixel.
namespace thor {

enum class ImageKind : int { projection, render, slice };

/// The image of one operator and one camera, the same for all lanes.
struct ImageJob {
  Camera camera;
  ImageKind kind;
  int samples;  ///< rays of a pixel are samples x samples
  Projection projection;
  Render render;
  Slice slice;
};

/// A rectangle of its pixels.
struct ImageTile {
  int column, row, columns, rows;
};

/// Numbers of a pixel that an operator gives, at most, and those that are of use.
inline constexpr int image_planes = 4;
constexpr int planes_of(const ImageJob& job) {
  if (job.kind == ImageKind::render) return 4;                                  // red, green, blue, opacity
  return job.kind == ImageKind::slice || job.projection.is_weighted() ? 2 : 1;  // a value, and its weight
}

inline namespace THOR_ISA {

/// Follows rays to their ends, or until an operator has seen enough.
template <class V, class S, class Operator>
THOR_FN void follow(WalkOf<V, S>& walk, const S& scene, Operator& op) {
  while (any(walk.goes())) {
    const auto live = walk.goes();
    MaskOf<V> done(false);
    walk.next(scene, [&](const auto& piece, V length) THOR_INLINE_LAMBDA { done = op.add(piece, length, live); });
    walk.end(done);
  }
}

template <class V, class S>
THOR_FN void trace_image(WalkOf<V, S>& walk, const S& scene, const ImageJob& job, V (&out)[image_planes]) {
  if (job.kind == ImageKind::projection) {
    ProjectionSums<V> sums(job.projection);
    follow<V>(walk, scene, sums);
    sums.result(out);
  } else if (job.kind == ImageKind::render) {
    Rendering<V> rendering(job.render);
    follow<V>(walk, scene, rendering);
    rendering.result(out);
  } else {
    SliceValue<V> value(job.slice);
    follow<V>(walk, scene, value);
    value.result(out);
  }
}

/// The ray of sample (i, j) of a pixel.
template <class S>
THOR_FN auto start_pixel(const S& scene, const ImageJob& job, int column, int row, int i, int j) {
  double begins;
  const double n = job.samples;
  return start_walk(scene, camera_ray(job.camera, column + (i + 0.5) / n, row + (j + 0.5) / n), begins);
}

}  // namespace THOR_ISA
}  // namespace thor
