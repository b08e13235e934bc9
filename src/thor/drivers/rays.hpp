#pragma once
#include "thor/drivers/ray_scene.hpp"
#include "thor/drivers/raytrace_config.hpp"
#include "thor/parallel/tracer.hpp"

/// What a configuration asks for, as the kernels take it: cameras, transfer functions, sightlines.
namespace thor {

/// A camera on its way: `progress` from 0 to 1. Throws an Error(usage) where it cannot look.
Camera build_camera(const config::Camera& camera, const RayScene& scene, double progress = 0);

/// How far along its way a camera is in a frame.
double progress_of(const config::CameraPath& path, std::uint64_t frame);

/// Red, green, blue and absorption per unit length, for each of `colours` places in the range.
std::vector<float> build_table(const config::Transfer& transfer, const RayScene& scene, double exposure);

/// An image and the units of its numbers.
struct ImageTask {
  ImageJob job{};
  int samples = 1;                   ///< rays along a side of a pixel, where it is not divided at faces of cells
  double offset = 0;                 ///< of the plane of a slice, towards the camera [cm]
  std::vector<float> tables{};       ///< which the job points to
  double unit = 1, weight_unit = 1;  ///< of its values and weights, in
  std::string units{};               ///< these units
};
/// Gives an image its camera and its rays. Those of a slice begin in its plane and end there. Pixels of a projection are
/// divided at the faces of cells, where these are parallel to their sides and to the rays.
void look_through(ImageTask& task, const Camera& camera, const RayScene& scene);
/// Number of rays of an image.
double rays_of(const ImageJob& job);
ImageTask plan_image(const config::SliceOperator& op, RayScene& scene);
ImageTask plan_image(const config::ProjectionOperator& op, RayScene& scene);
/// `means`: of the fields of brightness, in the order of the layers.
ImageTask plan_image(const config::RenderOperator& op, RayScene& scene, const std::vector<double>& means);
/// All layers of a picture.
std::vector<config::RenderLayerKeys> layers_of(const config::RenderOperator& op);

/// Planes in the units of the plan, in which those of several parts add up.
void set_units(const ImageTask& plan, std::span<double> planes);
/// The values of an image from such planes: integrals, means, or values; NaN where there is no gas. Pictures stay as
/// they are, pixel after pixel with four numbers each.
std::vector<double> values_of(const ImageTask& plan, std::span<const double> planes);

/// Where a sightline begins [cm], its direction and the rays that make it up.
struct SightlineList {
  std::vector<std::array<double, 3>> begins, directions;
  SightlineRays rays;
  double longest = 0;      ///< [cm]
  std::size_t missed = 0;  ///< number of those that do not meet the gas
};
/// Throws an Error(usage) for one of a list that misses the gas.
SightlineList build_sightlines(const config::Sightlines& keys, const RayScene& scene, std::uint64_t seed,
                               const std::string& key);

/// The spectrum of a line, in fine bins.
struct AbsorptionPlan {
  Absorption absorption{};
  int oversampling = 1;         ///< fine bins in a bin
  double wavelength0 = 0;       ///< [cm]
  std::vector<double> edges{};  ///< of the bins, in c ln(lambda/lambda_0) [cm/s]
};
/// `coldest`: temperature of the gas, in all parts of it [K].
AbsorptionPlan plan_absorption(const config::AbsorptionOperator& op, const Line& line, RayScene& scene, double coldest,
                               double longest, const std::string& key);

}  // namespace thor
