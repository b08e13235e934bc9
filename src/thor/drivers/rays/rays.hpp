#pragma once
#include "thor/drivers/rays/config.hpp"
#include "thor/operators/image_task.hpp"

/// Cameras of a configuration, as the kernels take them.
namespace thor {

/// A camera on its way: `progress` from 0 to 1. Throws an Error(usage) where it cannot look.
Camera build_camera(const config::Camera& camera, const GasOutline& gas, double progress = 0);

/// How far along its way a camera is in a frame.
double progress_of(const config::CameraPath& path, std::uint64_t frame);

/// Gives an image its camera and its rays.
void look_through(ImageTask& task, const Camera& camera, const GasOutline& gas);

/// Planes in the units of the task, in which parts of the gas can be joined.
void set_units(const ImageTask& task, std::span<double> planes);
/// The values of an image from the numbers of its pixels, plane after plane: NaN where there are none. Pictures have
/// four of each pixel, one pixel after the other.
std::vector<double> values_of(const ImageTask& task, std::span<const double> planes);

}  // namespace thor
