#pragma once
#include <array>
#include <string>
#include <vector>

#include "thor/math/functions.hpp"

namespace thor {

namespace config {

template <class T>
class Section;

/// Somebody who is far away.
struct Observer {
  std::string name;
  std::array<double, 3> direction{};  ///< from the object to the observer; of any length
  std::array<double, 3> up{};         ///< what is upwards in images

  bool operator==(const Observer&) const = default;
};
const Section<Observer>& observer_section();

/// How light is peeled off.
struct Peel {
  double cut = 0;       ///< optical depth at which every ray ends
  double roulette = 0;  ///< optical depth from which rays end at random

  bool operator==(const Peel&) const = default;
};
const Section<Peel>& peel_section();

}  // namespace config

/// The sky as one observer sees it, plain data: the plane through `centre` across the line of sight.
struct SkyFrame {
  int observer = -1;  ///< none
  double towards[3] = {}, right[3] = {}, up[3] = {};
  double size = 1;        ///< a lane's unit of length [cm]
  double centre[3] = {};  ///< [cm]

  bool operator==(const SkyFrame&) const = default;
};

/// The sky of the observer of this name; of none if there is no such observer.
SkyFrame sky_of(const std::vector<config::Observer>& observers, const std::string& name, double size);

inline namespace THOR_ISA {

/// A place on the sky, to the right of the centre and above it [cm].
struct SkyPlace {
  double right, up;
};
THOR_FN SkyPlace project(const SkyFrame& sky, const double (&position)[3]) {
  SkyPlace place{0, 0};
  for (int k = 0; k < 3; ++k) {
    const double r = position[k] * sky.size - sky.centre[k];
    place.right += r * sky.right[k], place.up += r * sky.up[k];
  }
  return place;
}

}  // namespace THOR_ISA
}  // namespace thor
