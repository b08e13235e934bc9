#pragma once
#include <vector>

#include "thor/io/hdf5.hpp"
#include "thor/outputs/frequency_axis.hpp"
#include "thor/transport/photon.hpp"

namespace thor {

/// A histogram of luminosity over frequency, of photons that escaped, were absorbed, or of all as they were emitted.
/// The error of a bin is that of a weighted count, sqrt(sum w^2).
class Spectrum {
 public:
  Spectrum(const config::SpectrumOutput& output, const FrequencyAxis& axis);

  void accept(const Photon& photon);
  void merge(const Spectrum& other);
  void write(io::File& file) const;

 private:
  config::SpectrumOutput output_;
  FrequencyAxis axis_;
  std::vector<double> sum_, sum_squares_;
  double beyond_ = 0;  ///< luminosity outside the range
};

}  // namespace thor
