// Rays that march through the gas, one at a time: those towards observers start from events instead.
#pragma once
#include <limits>
#include <variant>
#include <vector>

#include "support/run.hpp"
#include "thor/generators/source.hpp"
#include "thor/transport/lane.hpp"

namespace test {

/// In units of the dataset: lengths in its size, the frequency c ln(nu/nu_0) in thermal speeds. In a grid it starts
/// inside.
struct Ray {
  double position[3], direction[3], frequency;
};

/// A ray at its start with a sum of zero. One that never meets the medium has escaped.
template <class Real, class D>
thor::Lane<Real, thor::PlaceIn<D>> start_ray(const D& data, const Ray& ray) {
  const auto dataset = thor::view<Real>(data);
  thor::Birth<Real, thor::PlaceIn<D>> birth{};
  birth.position = {Real(ray.position[0]), Real(ray.position[1]), Real(ray.position[2])};
  birth.direction = {Real(ray.direction[0]), Real(ray.direction[1]), Real(ray.direction[2])};
  dataset.place_on_surface(birth);
  dataset.settle(birth, false);
  thor::Lane<Real, thor::PlaceIn<D>> lane{};
  lane.px = birth.position.x, lane.py = birth.position.y, lane.pz = birth.position.z;
  lane.dx = birth.direction.x, lane.dy = birth.direction.y, lane.dz = birth.direction.z;
  lane.frequency = Real(ray.frequency);
  lane.phase = birth.misses ? thor::Phase::escaped : thor::Phase::fly;
  lane.place = birth.place;
  lane.s0 = lane.s1 = lane.s2 = lane.s3 = 1;  // never drawn from
  return lane;
}
template <class Real>
void start_ray(const thor::Medium& medium, const Ray& ray, const thor::LaneArrays<Real>& lanes) {
  std::visit([&](const auto& data) { thor::store_lane(start_ray<Real>(thor::convert<Real>(data), ray), lanes, 0); },
             medium.dataset);
}

/// The end of a march.
struct MarchResult {
  double sum;       ///< optical depth
  double length;    ///< of the ray, in units of the dataset's size
  thor::Phase end;  ///< escaped or stopped
};

/// Every ray to its end.
template <class Real>
std::vector<MarchResult> march(const thor::AnyProblem<Real>& problem, const thor::Medium& medium,
                               const std::vector<Ray>& rays) {
  const auto& kernel = thor::cpu::march_kernel<Real>(problem.kind(), "");
  const auto width = std::size_t(kernel.lanes);
  std::vector<double> memory(thor::lane_bytes<Real>(width) / sizeof(double) + 1);
  const thor::LaneArrays<Real> lanes = thor::lane_arrays<Real>(memory.data(), width);
  for (std::size_t i = 0; i < width; ++i) lanes.phase[i] = thor::Phase::idle;
  std::vector<MarchResult> results;
  for (const Ray& ray : rays) {
    start_ray(medium, ray, lanes);
    while (lanes.phase[0] == thor::Phase::fly)
      kernel.march(lanes, problem.data(), std::numeric_limits<Real>::max(), 4096);
    results.push_back({double(lanes.tau[0]), double(lanes.flown[0]), thor::Phase(int(lanes.phase[0]))});
  }
  return results;
}

}  // namespace test
