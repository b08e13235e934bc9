#pragma once
#include "thor/drivers/rays/config.hpp"
#include "thor/drivers/rays/scene.hpp"
#include "thor/operators/image_task.hpp"
#include "thor/parallel/tracer.hpp"

/// What a configuration asks for, as the kernels take it: cameras and their rays, sightlines.
namespace thor {

/// A camera on its way: `progress` from 0 to 1. Throws an Error(usage) where it cannot look.
Camera build_camera(const config::Camera& camera, const RayScene& scene, double progress = 0);

/// How far along its way a camera is in a frame.
double progress_of(const config::CameraPath& path, std::uint64_t frame);

/// Gives an image its camera and its rays.
void look_through(ImageTask& task, const Camera& camera, const RayScene& scene);

/// Planes in the units of the task, in which parts of the gas can be joined.
void set_units(const ImageTask& task, std::span<double> planes);
/// The values of an image from the numbers of its pixels, plane after plane: NaN where there are none. Pictures have
/// four of each pixel, one pixel after the other.
std::vector<double> values_of(const ImageTask& task, std::span<const double> planes);

/// Where a sightline begins [cm], its direction and the rays that make it up.
struct SightlineList {
  std::vector<std::array<double, 3>> begins, directions;
  SightlineRays rays;
  double longest = 0;      ///< [cm]
  std::size_t missed = 0;  ///< number of those that do not meet the gas
};
/// Pieces of gas along one of the sightlines: in a grid at most, in a model about.
double pieces_of(const SightlineRays& rays, std::size_t sightline, const RayScene& scene);
/// Rays through a periodic box and its images, along a line from a distance to another [cm].
void add_images(const RayScene& scene, std::array<double, 3> position, const std::array<double, 3>& direction,
                double from, double to, SightlineRays& rays);
/// Memory that they take, at most.
double bytes_of_sightlines(const config::Sightlines& keys, const RayScene& scene);
/// Throws an Error(usage) for one of a list that misses the gas.
SightlineList build_sightlines(const config::Sightlines& keys, const RayScene& scene, std::uint64_t seed,
                               const std::string& key);

}  // namespace thor
