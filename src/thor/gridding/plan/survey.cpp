#include "thor/gridding/plan/survey.hpp"

#include <cmath>

#include "thor/core/error.hpp"

namespace thor::gridding {
namespace {

void add(Vector& sum, double factor, const Vector& v) {
  for (std::size_t a = 0; a < 3; ++a) sum[a] += factor * v[a];
}

}  // namespace

Vector densest(const io::Snapshot& snapshot) {
  Vector place{};
  double most = 0;
  snapshot.for_each_gas(block_size, [&](const io::GasBlock& block) {
    for (std::size_t i = 0; i < block.density.size(); ++i) {
      if (!(block.density[i] > most) || !std::isfinite(block.density[i])) continue;
      const Vector here = vector_at(block.position, i);
      if (!std::isfinite(dot(here, here))) continue;
      most = block.density[i], place = here;
    }
  });
  if (most == 0) throw Error(ExitCode::input, "--centre densest: no gas element of the snapshot has a density");
  return place;
}

void MotionSums::add(const io::GasBlock& block, const Frame& frame, double radius) {
  for (std::size_t i = 0; i < block.count && !block.velocity.empty(); ++i) {
    const double m = block.mass[i];
    const Vector d = frame.from_centre(vector_at(block.position, i)), v = vector_at(block.velocity, i);
    if (!(m > 0 && dot(d, d) < radius * radius && std::isfinite(m * dot(v, v)))) continue;
    mass += m;
    gridding::add(momentum, m, v);
    gridding::add(moment, m, d);
    gridding::add(angular_momentum, m, cross(d, v));
  }
}

Motion MotionSums::motion() const {
  if (!(mass > 0)) return {};
  const Vector velocity = 1 / mass * momentum;
  return {mass, velocity, angular_momentum - cross(moment, velocity)};
}

Motion motion_within(const io::Snapshot& snapshot, const Frame& frame, double radius) {
  MotionSums sums;
  snapshot.for_each_gas(block_size, [&](const io::GasBlock& block) { sums.add(block, frame, radius); });
  return sums.motion();
}

}  // namespace thor::gridding
