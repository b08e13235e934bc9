#pragma once
#include <vector>

#include "thor/mock/options.hpp"
#include "thor/mock/snapshot.hpp"

/// The shape of the galaxy, from its options. Lengths in cm and from its centre, speeds in cm/s.
namespace thor::mock {

/// Where gas or stars gather: a Gaussian ball that moves as a whole.
struct Clump {
  Vector centre{}, velocity{};
  double sigma = 0;  ///< of a coordinate [cm]
  double share = 0;  ///< of the mass of all, summed up to this one
};

class GalaxyModel {
 public:
  explicit GalaxyModel(const GalaxyOptions& options);

  double virial_radius, flat_speed;  ///< R_200 and the speed of the flat rotation curve, 1.2 V_200
  double box;                        ///< side of the cube, 3 R_200
  double disc_scale, disc_height;    ///< of exp(-R/scale) and sech^2(z/height)
  double disc_edge;                  ///< the disc ends here, at 6 scale lengths
  double cone_cosine;                ///< of its half opening angle of 30 degrees
  double cone_start, cone_end;       ///< radii between which there is an outflow
  double outflow_speed;
  double core;  ///< radius of the halo's core

  /// v_flat R/sqrt(R^2 + t^2), with t a quarter of the disc's scale length.
  double rotation(double radius) const;
  /// The velocity on a circular orbit there.
  Vector circular(const Vector& position) const;
  /// Outwards along the radius: it is reached over a disc scale length.
  double outflow(double radius) const { return outflow_speed * radius / (radius + disc_scale); }
  bool in_cone(const Vector& position) const;
  bool in_disc(const Vector& position) const;

  /// Beta model with beta = 2/3, 1/(1 + (r/core)^2), in units of its value at the centre.
  double halo_profile(double radius) const { return 1 / (1 + radius * radius / (core * core)); }
  /// In hydrostatic equilibrium with the halo_profile in the potential of the rotation curve.
  double halo_temperature(double radius) const;

  double disc_radius(Draw& draw) const;
  /// A place in the disc; `height` in units of that of the gas.
  Vector disc_place(Draw& draw, double height) const;
  /// Mass fraction at R: half of solar at the centre, falling by 0.1 dex a scale length, with a scatter of 0.1 dex.
  double metallicity(double radius, Draw& draw) const;

 private:
  std::vector<double> halo_temperature_;  ///< at equal steps of log radius
  double log_first_, log_step_;
};

/// Clumps in the disc, where half of its gas is and young stars are born.
std::vector<Clump> disc_clumps(const GalaxyModel& model, std::uint64_t seed);

/// The clump that has this share of the mass below it.
const Clump& pick(const std::vector<Clump>& clumps, double share);
/// A place in a clump.
Vector place_in(const Clump& clump, Draw& draw);

}  // namespace thor::mock
