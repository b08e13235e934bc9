#pragma once
#include "thor/operators/camera.hpp"
#include "thor/operators/in_step.hpp"
#include "thor/operators/list.hpp"

/// Images: what an operator finds along the ray of each pixel.
namespace thor {

/// Numbers of a pixel that an operator gives, at most.
inline constexpr int image_planes = 4;

/// The image of one operator and one camera, the same for all lanes.
struct ImageJob {
  RayPlan plan;          ///< of the operator
  int planes = 0;        ///< numbers of a pixel that are of use
  bool adds_up = false;  ///< they are sums over pieces of gas, in any order, and can be averages over a pixel's area
  Camera camera;
  int samples = 1;      ///< rays along a side of a pixel
  InStep in_step;       ///< its pixels are such rays, if any
  Array<float> tables;  ///< that the operator reads

  template <class Plan>
  void set(const Plan& p) {
    plan.set(ImageOperators(), p);
    planes = p.planes(), adds_up = requires { Plan::adds_up; };
  }
};

/// A rectangle of its pixels.
struct ImageTile {
  int column, row, columns, rows;
  std::size_t pixels() const { return std::size_t(columns) * std::size_t(rows); }
};

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
  for (V& number : out) number = V(RealOf<V>(0));
  job.plan.visit(ImageOperators(), [&](const auto& plan) THOR_INLINE_LAMBDA {
    auto found = on_ray<V>(plan, job.tables.data);
    follow<V>(walk, scene, found);
    found.result(out);
  });
}

/// The same for rays in step: of a pack that begins with ray (column, row), or of that one.
template <class V, class S>
THOR_FN void trace_in_step(const S& scene, const ImageJob& job, int column, int row, IntOf<V> lanes_u, IntOf<V> lanes_v,
                           int lanes, V (&out)[image_planes]) {
  for (V& number : out) number = V(RealOf<V>(0));
  job.plan.visit(ImageOperators(), [&]<class Plan>(const Plan& plan) THOR_INLINE_LAMBDA {
    if constexpr (requires { Plan::adds_up; } && is_lattice<typename S::Dataset>) {
      auto found = on_ray<V>(plan, job.tables.data);
      follow_in_step<V>(scene, job.in_step, job.camera.forward, column, row, lanes_u, lanes_v, lanes, found);
      found.result(out);
    }
  });
}

/// One of the rays of a pixel.
template <class S>
THOR_FN auto start_pixel(const S& scene, const ImageJob& job, int column, int row, int sample) {
  const int n = job.samples, i = sample % n, j = sample / n;
  double begins;
  return start_walk(scene, camera_ray(job.camera, column + (i + 0.5) / n, row + (j + 0.5) / n), begins);
}

}  // namespace THOR_ISA
}  // namespace thor
