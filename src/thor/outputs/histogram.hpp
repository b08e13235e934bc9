#pragma once
#include <array>

#include "thor/outputs/bin_axis.hpp"
#include "thor/outputs/binned.hpp"

namespace thor {

/// Property of a photon that an axis of a histogram measures. `impact` is the distance of its last flight from the
/// centre: where an observer far away sees it, so that over a symmetric source it is the radius of a surface-brightness
/// profile. The first ones are those of config::Axis.
enum class PhotonProperty { x, velocity, wavelength, frequency, radius, impact, scatterings, cosine };
static_assert(int(PhotonProperty::x) == int(config::Axis::x) &&
              int(PhotonProperty::velocity) == int(config::Axis::velocity) &&
              int(PhotonProperty::wavelength) == int(config::Axis::wavelength) &&
              int(PhotonProperty::frequency) == int(config::Axis::frequency));

struct HistogramAxis {
  PhotonProperty quantity = PhotonProperty::velocity;
  double low = 0, high = 0;  ///< in cgs
  std::uint64_t bins = 0;
  bool logarithmic = false;

  bool operator==(const HistogramAxis&) const = default;
};

/// A histogram as it is counted: plain data, the last axis being the fastest.
struct HistogramPlan {
  static constexpr int most_axes = 3;
  struct Axis {
    PhotonProperty quantity;
    BinAxis along;

    bool operator==(const Axis&) const = default;
  };

  Bins bins;
  FrequencyAxis frequency;
  config::Fate of;
  double size, centre[3];  ///< unit of length and centre [cm]
  int rank;
  Axis axes[most_axes];

  bool operator==(const HistogramPlan&) const = default;
};

/// Luminosity over one to three properties of photons.
struct HistogramOutput {
  static constexpr const char* type = "histogram";
  static constexpr const char* meaning =
      "luminosity over one to three properties of photons, with its Monte Carlo error";

  std::string name;
  config::Fate of = config::Fate::escaped;
  std::vector<HistogramAxis> axes;
  std::array<double, 3> centre{};  ///< [cm]
  std::string reference{};         ///< the transition of lambda0; "" is the line's first
  std::string generator{};         ///< those whose photons it counts; "" are all
  bool errors = true;

  static const config::Section<HistogramOutput>& section();
  HistogramPlan plan(const OutputContext& context) const;
  void write(io::ArrayOutput& file, const HistogramPlan& plan, const BinnedLight& light) const;

  bool operator==(const HistogramOutput&) const = default;
};

inline namespace THOR_ISA {

THOR_FN double value_of(const HistogramPlan& h, PhotonProperty quantity, const Photon& photon, double frequency) {
  const auto& place = h.of == config::Fate::emitted ? photon.position_initial : photon.position;
  const auto from_centre = [&](int i) { return place[i] * h.size - h.centre[i]; };
  const double r[3] = {from_centre(0), from_centre(1), from_centre(2)};
  const auto& n = photon.direction;
  switch (quantity) {
    case PhotonProperty::radius:
      return sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    case PhotonProperty::impact: {  // |r x n|
      const double c[3] = {r[1] * n[2] - r[2] * n[1], r[2] * n[0] - r[0] * n[2], r[0] * n[1] - r[1] * n[0]};
      return sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
    }
    case PhotonProperty::scatterings:
      return double(photon.scatterings);
    case PhotonProperty::cosine: {  // light along z belongs to the bin below 1, however its direction is rounded
      constexpr double most = 1 - 0x1p-52;
      return n[2] > most ? most : n[2] < -1 ? -1 : n[2];
    }
    default:
      return axis_value(h.frequency, config::Axis(int(quantity)), frequency);
  }
}

template <class Contributions>
THOR_FN void count(const HistogramPlan& h, const Photon& photon, Contributions& bins) {
  const CountedLight counted = counted_light(h.of, photon);
  if (!counted.any) return;
  std::int64_t bin = 0;
  for (int i = 0; i < h.rank; ++i) {
    const HistogramPlan::Axis& axis = h.axes[i];
    const std::int64_t along = bin_on(axis.along, value_of(h, axis.quantity, photon, counted.frequency));
    bin = along < 0 || bin < 0 ? -1 : bin * axis.along.bins + along;
  }
  bins.add(bin, counted.light);
}

}  // namespace THOR_ISA
}  // namespace thor
