#pragma once
#include "thor/operators/fields.hpp"
#include "thor/operators/ray_engine.hpp"
#include "thor/operators/sightlines.hpp"

/// Sightlines that a configuration asks for, as the kernels take them.
namespace thor {

/// Where a sightline begins [cm], its direction and the rays that make it up.
struct SightlineList {
  std::vector<std::array<double, 3>> begins, directions;
  SightlineRays rays;
  double longest = 0;      ///< [cm]
  std::size_t missed = 0;  ///< number of those that do not meet the gas
};
/// Throws an Error(usage) for one of a list that misses the gas.
SightlineList build_sightlines(const config::Sightlines& keys, const GasOutline& gas, std::uint64_t seed,
                               const std::string& key);
/// Memory that they take, at most.
double bytes_of_sightlines(const config::Sightlines& keys, const GasOutline& gas);

/// Pieces of gas along one of the sightlines: in a grid at most, else about.
double pieces_of(const SightlineRays& rays, std::size_t sightline, const GasOutline& gas);
/// Rays through a periodic box and its images, along a line from a distance to another [cm].
void add_images(const GasOutline& gas, std::array<double, 3> position, const std::array<double, 3>& direction,
                double from, double to, SightlineRays& rays);
/// Sightlines from one to before another.
SightlineRays part_of(const SightlineRays& all, std::size_t first, std::size_t end);

}  // namespace thor
