#pragma once
#include "thor/outputs/sky.hpp"

namespace thor {

/// Surface brightness as an observer sees it.
struct ImageOutput : SkyOutput {
  static constexpr const char* type = "image";
  static constexpr const char* meaning = "surface brightness as an observer sees it, with its Monte Carlo error";

  static const config::Section<ImageOutput>& section();
  SkyPlan plan(const OutputContext& context) const;
  void write(io::ArrayOutput& file, const SkyPlan& plan, BinnedLight light) const;

  bool operator==(const ImageOutput&) const = default;
};

}  // namespace thor
