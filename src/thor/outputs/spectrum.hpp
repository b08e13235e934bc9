#pragma once
#include <optional>

#include "thor/outputs/binned.hpp"
#include "thor/outputs/sight.hpp"

namespace thor {

/// A spectrum as it is counted: plain data.
struct SpectrumPlan {
  Bins bins;
  FrequencyAxis frequency;
  config::Axis axis;
  config::Fate of;
  double low, high;
  SkyFrame sky;          ///< of the observer whose light it is, if there is one
  double inner, radius;  ///< of the aperture on that sky [cm]

  bool operator==(const SpectrumPlan&) const = default;
};

/// What a spectrum is in units of its file.
struct SpectrumScale {
  double light;  ///< of a bin [erg/s], where the spectrum is one
  std::string unit, meaning;
};

/// The part of a sky that is counted.
struct Aperture {
  double radius = 0, inner = 0;  ///< [cm]

  static const config::Section<Aperture>& section();
  bool operator==(const Aperture&) const = default;
};

/// A histogram of luminosity over frequency, of photons that escaped, were absorbed or stopped, or of all as they were
/// emitted; or of the light that an observer sees.
struct SpectrumOutput {
  static constexpr const char* type = "spectrum";
  static constexpr const char* meaning = "luminosity over frequency, with its Monte Carlo error";

  std::string name;
  config::Fate of = config::Fate::escaped;
  config::Axis axis = config::Axis::velocity;
  double low = 0;  ///< dimensionless, [cm/s], [cm] or [Hz], by the axis
  double high = 0;
  std::uint64_t bins = 0;
  std::string reference{};  ///< the transition of lambda0; "" is the line's first
  config::Sight sight{};
  std::optional<Aperture> aperture{};
  std::string generator{};  ///< those whose photons it counts; "" are all
  bool errors = true;

  static const config::Section<SpectrumOutput>& section();
  SpectrumPlan plan(const OutputContext& context) const;
  void write(io::ArrayOutput& file, const SpectrumPlan& plan, const BinnedLight& light) const;
  SpectrumScale scale(const SpectrumPlan& plan) const;
  void write_axis(io::ArrayOutput& file, const SpectrumPlan& plan) const;

  bool operator==(const SpectrumOutput&) const = default;
};

inline namespace THOR_ISA {

template <class Contributions>
THOR_FN void count(const SpectrumPlan& s, const Seen& seen, Contributions& bins) {
  const auto [place, frequency] = record(s.sky, seen);
  const double r2 = place.right * place.right + place.up * place.up;
  if (!(r2 >= s.inner * s.inner && r2 < s.radius * s.radius)) return;
  const double value = axis_value(s.frequency, s.axis, frequency);
  bins.add(bin_at((value - s.low) / (s.high - s.low) * double(s.bins.count), s.bins.count), seen.light);
}

template <class Contributions>
THOR_FN void count(const SpectrumPlan& s, const Photon& photon, Contributions& bins) {
  if (s.sky.observer >= 0) return look_at(s.sky, photon, [&](const Seen& seen) { count(s, seen, bins); });
  const CountedLight counted = counted_light(s.of, photon);
  if (!counted.any) return;
  const double value = axis_value(s.frequency, s.axis, counted.frequency);
  bins.add(bin_at((value - s.low) / (s.high - s.low) * double(s.bins.count), s.bins.count), counted.light);
}

}  // namespace THOR_ISA
}  // namespace thor
