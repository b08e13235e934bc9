#pragma once
#include "thor/core/constants.hpp"
#include "thor/math/functions.hpp"
#include "thor/outputs/parameters.hpp"

namespace thor {

/// From the frequency of a lane, w = c ln(nu/nu_0) in thermal units, to the quantities that people plot (cgs), about a
/// transition of reference.
struct FrequencyAxis {
  double thermal_speed;  ///< [cm/s]
  double wavelength;     ///< lambda of the reference [cm]
  double origin = 0;     ///< its w

  bool operator==(const FrequencyAxis&) const = default;
};

inline namespace THOR_ISA {

/// c (lambda/lambda_0 - 1); the cancellation costs 1e-5 cm/s.
THOR_FN double velocity(const FrequencyAxis& axis, double w) {
  return constants::c * (exp((axis.origin - w) * axis.thermal_speed / constants::c) - 1.);
}

THOR_FN double axis_value(const FrequencyAxis& axis, config::Axis kind, double w) {
  switch (kind) {
    case config::Axis::x:
      return w - axis.origin;
    case config::Axis::velocity:
      return velocity(axis, w);
    case config::Axis::wavelength:
      return axis.wavelength * exp((axis.origin - w) * axis.thermal_speed / constants::c);
    case config::Axis::frequency:
      return constants::c / axis.wavelength * exp((w - axis.origin) * axis.thermal_speed / constants::c);
  }
  return w;
}

}  // namespace THOR_ISA
}  // namespace thor
