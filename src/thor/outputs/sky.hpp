#pragma once
#include "thor/outputs/binned.hpp"
#include "thor/outputs/sight.hpp"

namespace thor {

/// An image or a cube as it is counted: plain data.
struct SkyPlan {
  Bins bins;
  FrequencyAxis frequency;
  config::Fate of;
  SkyFrame sky;
  double half_width, half_height;  ///< [cm]
  std::int64_t pixels, rows;       ///< columns and rows of square pixels
  config::Axis axis;
  double low, high;
  std::int64_t channels;  ///< of a cube; 0: an image

  bool operator==(const SkyPlan&) const = default;
};

/// What images and cubes have in common.
struct SkyOutput {
  std::string name;
  config::Fate of = config::Fate::escaped;
  double width = 0;          ///< [cm]
  std::uint64_t pixels = 0;  ///< columns
  std::uint64_t rows = 0;    ///< 0: as many as columns
  config::Sight sight{};
  std::string reference{};  ///< the transition of lambda0; "" is the line's first
  std::string generator{};  ///< those whose photons it counts; "" are all
  bool errors = true;

  std::uint64_t height() const { return rows > 0 ? rows : pixels; }
  bool operator==(const SkyOutput&) const = default;
};

/// Plan of the pixels; the channels of a cube are added to it.
SkyPlan plan_sky(const SkyOutput& output, const OutputContext& context);

/// Writes the edges of the pixels, and the light of each per area of the sky and `channel`, to an array of a group.
void write_sky(io::ArrayOutput& file, const std::string& group, const std::string& array, const SkyOutput& output,
               const SkyPlan& plan, BinnedLight light, double channel, const std::string& unit);

inline namespace THOR_ISA {

/// Rows are upward, columns to the right; the channels of a cube are the slowest.
template <class Contributions>
THOR_FN void count(const SkyPlan& s, const Seen& seen, Contributions& bins) {
  const auto [place, frequency] = record(s.sky, seen);
  const double per_length = double(s.pixels) / (2 * s.half_width);
  const std::int64_t column = bin_at((place.right + s.half_width) * per_length, s.pixels);
  const std::int64_t row = bin_at((place.up + s.half_height) * per_length, s.rows);
  std::int64_t channel = 0;
  if (s.channels > 0) {
    const double value = axis_value(s.frequency, s.axis, frequency);
    channel = bin_at((value - s.low) / (s.high - s.low) * double(s.channels), s.channels);
  }
  const bool inside = column >= 0 && row >= 0 && channel >= 0;
  bins.add(inside ? (channel * s.rows + row) * s.pixels + column : -1, seen.light);
}

template <class Contributions>
THOR_FN void count(const SkyPlan& s, const Photon& photon, Contributions& bins) {
  look_at(s.sky, photon, [&](const Seen& seen) { count(s, seen, bins); });
}

}  // namespace THOR_ISA
}  // namespace thor
