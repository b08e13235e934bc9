#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "thor/transport/fates.hpp"

namespace thor::config {

template <class T>
class Section;

/// Of which photons: all as they were emitted, or those of a fate (transport/fates.hpp).
enum class Fate : int { emitted = -1, escaped = Phase::escaped, absorbed = Phase::absorbed, stopped = Phase::stopped };
enum class Axis { x, velocity, wavelength, frequency };

struct SpectrumOutput {
  std::string name;
  Fate of = Fate::escaped;
  Axis axis = Axis::velocity;
  double low = 0;  ///< dimensionless, [cm/s], [cm] or [Hz], by the axis
  double high = 0;
  std::uint64_t bins = 0;
  std::string reference{};  ///< the transition of lambda0; "" is the line's first

  bool operator==(const SpectrumOutput&) const = default;
};

enum class PhotonField {
  id,
  weight,
  velocity_initial,
  velocity_final,
  velocity_scattered,
  position,
  direction,
  scatterings,
  column,
  position_initial,
  generator,
  source
};

struct PhotonsOutput {
  std::vector<PhotonField> fields;  ///< each at most once, at least one

  bool operator==(const PhotonsOutput&) const = default;
};

enum class OutputType { spectrum, photons };

/// One element of the list of outputs.
struct Output {
  OutputType type = OutputType::spectrum;
  SpectrumOutput spectrum;
  PhotonsOutput photons;
};

const Section<Output>& output_section();

}  // namespace thor::config
