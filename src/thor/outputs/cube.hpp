#pragma once
#include "thor/outputs/sky.hpp"

namespace thor {

/// Surface brightness by frequency, as an observer with an integral-field spectrograph sees it.
struct CubeOutput : SkyOutput {
  static constexpr const char* type = "cube";
  static constexpr const char* meaning = "a spectrum in every pixel of an image, with its Monte Carlo error";

  config::Axis axis = config::Axis::velocity;
  double low = 0, high = 0;  ///< dimensionless, [cm/s], [cm] or [Hz], by the axis
  std::uint64_t bins = 0;

  static const config::Section<CubeOutput>& section();
  SkyPlan plan(const OutputContext& context) const;
  void write(io::ArrayOutput& file, const SkyPlan& plan, BinnedLight light) const;

  bool operator==(const CubeOutput&) const = default;
};

}  // namespace thor
