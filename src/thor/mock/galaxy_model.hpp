#pragma once
#include <vector>

#include "thor/mock/options.hpp"
#include "thor/mock/snapshot.hpp"

/// Structure of the galaxy, from its options. Lengths are in cm and relative to its centre, speeds in cm/s.
namespace thor::mock {

/// A clump of gas or stars: a Gaussian ball that moves as a whole.
struct Clump {
  Vector centre{}, velocity{};
  double sigma = 0;  ///< standard deviation of a coordinate [cm]
  double share = 0;  ///< cumulative fraction of the mass up to and including this clump
};

class GalaxyModel {
 public:
  explicit GalaxyModel(const GalaxyOptions& options);

  double virial_radius, flat_speed;  ///< R_200 and the speed of the flat rotation curve, 1.2 V_200
  double box;                        ///< side of the cube, 3 R_200
  double disc_scale, disc_height;    ///< of exp(-R/scale) and sech^2(z/height)
  double disc_edge;                  ///< outer edge of the disc, at 6 scale lengths
  double cone_cosine;                ///< cosine of the half opening angle of 30 degrees
  double cone_start, cone_end;       ///< inner and outer radius of the outflow
  double outflow_speed;
  double core;  ///< radius of the halo's core

  /// v_flat R/sqrt(R^2 + t^2), with t a quarter of the disc's scale length.
  double rotation(double radius) const;
  /// Velocity on a circular orbit at this position.
  Vector circular(const Vector& position) const;
  /// Radial outflow speed, which is approached over a disc scale length.
  double outflow(double radius) const { return outflow_speed * radius / (radius + disc_scale); }
  bool in_cone(const Vector& position) const;
  bool in_disc(const Vector& position) const;

  /// Density of a beta model with beta = 2/3, 1/(1 + (r/core)^2), in units of its central value.
  double halo_profile(double radius) const { return 1 / (1 + radius * radius / (core * core)); }
  /// Temperature in hydrostatic equilibrium, for halo_profile in the potential of the rotation curve.
  double halo_temperature(double radius) const;

  double disc_radius(Draw& draw) const;
  /// Random position in the disc; `height` is in units of that of the gas.
  Vector disc_place(Draw& draw, double height) const;
  /// Metal mass fraction at R: half solar at the centre, falling by 0.1 dex per scale length, with a scatter of 0.1
  /// dex.
  double metallicity(double radius, Draw& draw) const;

 private:
  std::vector<double> halo_temperature_;  ///< tabulated at equal steps of log radius
  double log_first_, log_step_;
};

/// Clumps in the disc, with half of its gas and its young stars.
std::vector<Clump> disc_clumps(const GalaxyModel& model, std::uint64_t seed);

/// Clump at this cumulative fraction of the mass.
const Clump& pick(const std::vector<Clump>& clumps, double share);
/// Random position in a clump.
Vector place_in(const Clump& clump, Draw& draw);

}  // namespace thor::mock
