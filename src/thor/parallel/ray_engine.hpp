#pragma once
#include <memory>

#include "thor/operators/any_scene.hpp"
#include "thor/operators/ray_engine.hpp"
#include "thor/parallel/cpu/engine.hpp"
#include "thor/parallel/device/device.hpp"

namespace thor {

/// The scene points to memory that has to live as long as the engine.
template <class Real>
std::unique_ptr<RayEngine> make_ray_engine(const AnyScene<Real>& scene, const cpu::Options& options);
/// On a device, which gets a copy of the scene.
template <class Real>
std::unique_ptr<RayEngine> make_ray_engine(const AnyScene<Real>& scene, const cpu::Options& options,
                                           device::Device& device);

}  // namespace thor
