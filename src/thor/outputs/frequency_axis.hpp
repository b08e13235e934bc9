#pragma once
#include "thor/core/constants.hpp"
#include "thor/math/functions.hpp"

namespace thor {

namespace config {
enum class Axis { x, velocity, wavelength, frequency };
}

/// Converts the frequency of a lane, w = c ln(nu/nu_0) in thermal units, to the quantities that people plot (cgs),
/// relative to a reference transition.
struct FrequencyAxis {
  double thermal_speed;  ///< [cm/s]
  double wavelength;     ///< lambda of the reference transition [cm]
  double origin = 0;     ///< w of the reference transition

  bool operator==(const FrequencyAxis&) const = default;
};

/// How an axis is written to a file.
struct AxisUnits {
  const char* name;
  const char* unit;
  const char* per;  ///< unit of the axis, in that of light per unit of it
  double in_cgs;    ///< the unit of the file in cgs
  const char* meaning;
};

inline AxisUnits units_of(config::Axis axis) {
  switch (axis) {
    case config::Axis::x:
      return {"x", "", "", 1, "dimensionless frequency (c/v_th) ln(nu/nu_0), positive to the blue"};
    case config::Axis::velocity:
      return {"velocity", "km s-1", " / (km s-1)", constants::km,
              "Doppler velocity c (lambda/lambda_0 - 1), positive to the red"};
    case config::Axis::wavelength:
      return {"wavelength", "Angstrom", " Angstrom-1", constants::angstrom, "vacuum wavelength"};
    case config::Axis::frequency:
      return {"frequency", "Hz", " Hz-1", 1, "frequency"};
  }
  return {};
}

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
