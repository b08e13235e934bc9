#pragma once
#include "thor/line/voigt.hpp"
#include "thor/operators/walk.hpp"

namespace thor {

inline constexpr int most_absorbing = 8;

/// A transition, velocities in cm/s.
struct AbsorbingTransition {
  double shift;     ///< c ln(lambda/lambda_0), from the first transition of the line
  double strength;  ///< sigma_0 b, times the share of the ions that absorb in it [cm^3/s]
  double damping;   ///< a b
  double speed2;    ///< b^2 at 1 K
};

/// Absorption spectra (paper, section 3.5): each piece of gas adds dN sigma_0 H(a, x), with the damping wings, at every
/// frequency of the spectrum. The axis is w = c ln(lambda/lambda_0), in which shifts add: gas that moves with v along
/// its ray, at position + s direction, absorbs around v + H s.
struct Absorption {
  FieldProduct density, temperature, velocity;           ///< of the ion
  double density_unit, temperature_unit, velocity_unit;  ///< of the fields: cm^-3, K, cm/s
  double length;                                         ///< unit of length of the dataset [cm]
  double hubble;                                         ///< H, over a unit of length [cm/s]
  double b_turb2;                                        ///< [cm^2/s^2]
  double first, width;                                   ///< middle of the first bin, width of a bin [cm/s]
  int bins;
  int pieces;         ///< that each piece of gas is split into; 0: such that
  double resolution;  ///< the Hubble flow in each of them is at most so many b
  int transitions;
  AbsorbingTransition transition[most_absorbing];
};

/// No piece is split further.
inline constexpr int most_pieces = 4096;

inline namespace THOR_ISA {

/// H(a, x) for a < 0.1, good to 1e-4. Beyond |x| = 12, where most bins are, the wings alone, by the asymptotic series
/// of H for large x^2.
template <class V>
THOR_FN V voigt_with_wings(V a, V x) {
  using Real = RealOf<V>;
  const V z = fma(x, x, a * a);
  const auto near = z < V(Real(144));
  const V inverse = divide(V(Real(1)), max(z, V(Real(1))));
  V H = V(Real(0.5641895835477563)) * a * inverse * polynomial(inverse, 1., 1.5, 3.75);
  if (any(near)) H = select(near, VoigtThor::eval(a, min(abs(x), V(Real(100)))).H, H);
  return H;
}

/// Follows one ray and calls deposit(amplitude, a, x_0, dx) for each piece and transition: it adds amplitude H(a, x_0 +
/// i dx) to bin i. Returns the column density [cm^-2].
template <class Real, class S, class Deposit>
THOR_FN double follow_sightline(const S& scene, const StraightRay& ray, const Absorption& absorption,
                                const Deposit& deposit) {
  double gone, column = 0;
  auto walk = start_walk(scene, ray, gone);
  while (walk.goes()) {
    double n = 0, temperature = 0, velocity = 0, length = 0;
    walk.next(scene, [&](const auto& piece, Real s) THOR_INLINE_LAMBDA {
      length = double(s);
      n = double(piece.value(absorption.density)) * absorption.density_unit;
      temperature = double(piece.value(absorption.temperature)) * absorption.temperature_unit;
      if (absorption.velocity.velocity >= 0)
        velocity = double(piece.value(absorption.velocity)) * absorption.velocity_unit;
    });
    const double begins = gone, whole = n * length * absorption.length;
    gone = gone + length;
    if (!(whole > 0)) continue;
    column += whole;
    const double narrowest = sqrt(absorption.transition[0].speed2 * temperature + absorption.b_turb2);
    int pieces = absorption.pieces;
    if (pieces == 0) {
      const double spread = absorption.hubble * length / (absorption.resolution * narrowest);
      pieces = spread < most_pieces - 1 ? 1 + int(spread) : most_pieces;
    }
    for (int j = 0; j < pieces; ++j) {
      const double w = velocity + absorption.hubble * (begins + (j + 0.5) / pieces * length);
      for (int i = 0; i < absorption.transitions; ++i) {
        const AbsorbingTransition& t = absorption.transition[i];
        const double inverse = 1 / sqrt(t.speed2 * temperature + absorption.b_turb2);
        deposit(Real(whole / pieces * t.strength * inverse), Real(t.damping * inverse),
                Real((absorption.first - t.shift - w) * inverse), Real(absorption.width * inverse));
      }
    }
  }
  return column;
}

}  // namespace THOR_ISA
}  // namespace thor
