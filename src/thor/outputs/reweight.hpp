#pragma once
#include <span>
#include <vector>

/// Photons of a run as if their source had another spectrum and the gas had dust, without a new run (paper,
/// section 4.1): what thor.reweight of the Python package does, for programs in C++. docs/fits.md says where it fails.
namespace thor {

/// The velocities that light is emitted with [cm/s, relative to the line]: of a share of the photons Gaussian around 0,
/// of the others equal between two velocities.
struct EmittedVelocities {
  double sigma = 0;  ///< of the Gaussian
  double line = 1;   ///< its share, from 0 to 1
  double low = 0, high = 0;

  double density(double velocity) const;  ///< [s/cm]
  /// A line with an equivalent width, in the units of velocity, over a continuum between two velocities.
  static EmittedVelocities with_width(double sigma, double equivalent_width, double low, double high);
};

/// Weights of photons, by their velocities at emission. Error(usage) if a spectrum is impossible, or if a photon cannot
/// have come from that of the run.
std::vector<double> reweight(std::span<const double> velocities, const EmittedVelocities& run,
                             const EmittedVelocities& wanted);

/// What dust leaves of photons that met these columns, exp(-tau N / N_gas): with an optical depth of absorption along
/// the column of the gas.
std::vector<double> left_by_dust(std::span<const double> columns, double column_of_gas, double absorption);

/// The number of equal photons that would be as noisy: (sum w)^2 / sum w^2.
double effective_number(std::span<const double> weights);

}  // namespace thor
