#pragma once
#include <cmath>

#include "thor/config/config.hpp"
#include "thor/core/constants.hpp"
#include "thor/line/line.hpp"

namespace thor {

/// From the frequency of a lane, w = c ln(nu/nu_0) in thermal units, to the quantities that people plot (cgs).
struct FrequencyAxis {
  double thermal_speed;  ///< [cm/s]
  double wavelength;     ///< lambda_0 [cm]

  double velocity(double w) const { return constants::c * std::expm1(-w * thermal_speed / constants::c); }

  double value(config::Axis axis, double w) const {
    switch (axis) {
      case config::Axis::x:
        return w;
      case config::Axis::velocity:
        return velocity(w);
      case config::Axis::wavelength:
        return wavelength * std::exp(-w * thermal_speed / constants::c);
      case config::Axis::frequency:
        return constants::c / wavelength * std::exp(w * thermal_speed / constants::c);
    }
    return w;
  }
};

}  // namespace thor
