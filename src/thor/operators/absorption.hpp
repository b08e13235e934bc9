#pragma once
#include <memory>
#include <string>
#include <vector>

#include "thor/line/voigt.hpp"
#include "thor/operators/sightlines.hpp"
#include "thor/operators/walk.hpp"

namespace thor {

class FieldSource;
class RayProduct;
class RayWork;
struct Line;

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
  int pieces;  ///< that each piece of gas is split into, each with the Hubble flow of its middle; 0: exact
  int transitions;
  AbsorbingTransition transition[most_absorbing];

  int numbers() const { return bins; }
};

/// No piece is split further.
inline constexpr int most_pieces = 4096;

inline namespace THOR_ISA {

/// H(a, x) for a < 0.1, good to 2e-4 in single precision. Beyond |x| = 12, where most bins are, the wings alone, by the
/// asymptotic series of H for large x^2.
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

/// Integral of H(a, x) over x from x >= 0 to infinity, to second order in a: (sqrt(pi)/2) erfc x + (2 a/sqrt(pi)) F(x)
/// - a^2 x e^{-x^2}, as H_1 = -(2/sqrt(pi)) F'. erfc by Abramowitz & Stegun (1964, 7.1.26), Dawson's integral F by a
/// fit good to 1.4e-5.
template <class V>
THOR_FN V voigt_beyond(V a, V x) {
  using Real = RealOf<V>;
  const V one(Real(1)), size = min(x, V(Real(1e3))), z = size * size, gaussian = exp_bounded(-z);
  const V t = divide(one, fma(size, V(Real(0.3275911)), one));
  const V erfc = t * polynomial(t, 0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429) * gaussian;
  const V dawson = size * divide(polynomial(z, 1., 0.09573257, 0.04209677, 0.00429501, 0.00134897),
                                 polynomial(z, 1., 0.76307974, 0.28038596, 0.07158097, 0.00735789, 0.00269795));
  const V first = fma(V(Real(1.1283791670955126)), dawson, -(a * size * gaussian));
  return fma(V(Real(0.8862269254527580)), erfc, a * first);
}

/// The mean of H(a, x) where x is spread evenly over a width, as the Hubble flow does it: in the wings the integral of
/// (1/x^2 + 3/2/x^4) a/sqrt(pi); else that of H, or for widths up to 1/2 three points (Gauss).
template <class V>
THOR_FN V mean_voigt(V a, V x, RealOf<V> width) {
  using Real = RealOf<V>;
  if (width == Real(0)) return voigt_with_wings(a, x);
  const V half(Real(0.5) * width), low = x - half, high = x + half, zero(Real(0));
  const auto far = low > V(Real(12)) || high < V(Real(-12));
  const V inverse = divide(V(Real(1)), select(far, low * high, V(Real(144))));
  const V more = fma(low, low, high * (low + high));
  V H = V(Real(0.5641895835477563)) * a * inverse * fma(V(Real(0.5)) * inverse * inverse, more, V(Real(1)));
  if (!any(!far)) return H;
  if (width > Real(0.5)) {
    // What lies beyond the ends, of which nothing is lost where both are on the same side.
    const V beyond_low = voigt_beyond(a, abs(low)), beyond_high = voigt_beyond(a, abs(high));
    const auto around = low < zero && high > zero;
    const V within =
        select(around, V(Real(1.7724538509055160)) - (beyond_low + beyond_high), abs(beyond_low - beyond_high));
    return select(far, H, divide(within, V(width)));
  }
  const auto at = [&](V place) THOR_INLINE_LAMBDA { return VoigtThor::eval(a, min(abs(place), V(Real(100)))).H; };
  const V beside(Real(0.3872983346207417) * width), sides = at(x - beside) + at(x + beside);
  return select(far, H, fma(V(Real(5. / 18)), sides, V(Real(4. / 9)) * at(x)));
}

/// Follows one ray and adds amplitude H(a, x_0 + i dx) to bin i for each piece and transition, or with a width the mean
/// of H over it. Returns the column density [cm^-2].
///
/// The Hubble flow spreads a piece of gas over dx = H l/b: the mean of H over it is taken where dx > 1/100. Fluxes are
/// good to 2e-4. Or the piece is split as it was asked for.
template <class Real, class S, class Numbers>
THOR_FN double follow_sightline(const S& scene, const StraightRay& ray, const Absorption& absorption,
                                const Numbers& bins) {
  double gone, column = 0;
  auto walk = start_walk(scene, ray, gone);
  while (walk.goes()) {
    double n = 0, temperature = 0, velocity = 0, length = 0;
    walk.next(scene, [&](const auto& piece, Real s) THOR_INLINE_LAMBDA {
      length = double(s);
      n = double(piece.value(absorption.density)) * absorption.density_unit;
      temperature = double(piece.value(absorption.temperature)) * absorption.temperature_unit;
      if (absorption.velocity.velocity >= 0) {
        velocity = double(piece.value(absorption.velocity)) * absorption.velocity_unit;
      }
    });
    const double begins = gone, whole = n * length * absorption.length;
    gone = gone + length;
    if (!(whole > 0)) continue;
    column += whole;
    for (int i = 0; i < absorption.transitions; ++i) {
      const AbsorbingTransition& t = absorption.transition[i];
      const double inverse = 1 / sqrt(t.speed2 * temperature + absorption.b_turb2);
      const double spread = absorption.hubble * length * inverse;
      const int pieces = absorption.pieces > 0 ? absorption.pieces : 1;
      const double width = absorption.pieces == 0 && spread > 0.01 ? spread : 0;
      for (int j = 0; j < pieces; ++j) {
        const double place = (j + 0.5) / pieces;
        const double w = velocity + absorption.hubble * (begins + place * length);
        const Real amplitude = Real(whole / pieces * t.strength * inverse), a = Real(t.damping * inverse);
        const Real x0 = Real((absorption.first - t.shift - w) * inverse), dx = Real(absorption.width * inverse);
        bins.each([&]<class V>(V bin, V depth) THOR_INLINE_LAMBDA {
          return fma(V(amplitude), mean_voigt(V(a), fma(bin, V(dx), V(x0)), Real(width)), depth);
        });
      }
    }
  }
  return column;
}

}  // namespace THOR_ISA

/// The spectrum of a line, in fine bins.
struct AbsorptionPlan {
  Absorption absorption{};
  int oversampling = 1;            ///< fine bins in a bin
  double wavelength0 = 0;          ///< [cm]
  double bluest = 0, reddest = 0;  ///< shifts of the transitions, in c ln(lambda/lambda_0) [cm/s]
  std::vector<double> edges{};     ///< of the bins, in c ln(lambda/lambda_0) [cm/s]
};

namespace config {

enum class AbsorptionAxis { velocity, wavelength };
enum class GasBeyond { unknown, empty };

struct AbsorptionOperator {
  using Plan = Absorption;
  static constexpr const char* type = "absorption";
  static constexpr const char* meaning = "spectra of what a line absorbs along sightlines";
  static const Section<AbsorptionOperator>& section();
  std::string name, line, density_field;
  Sightlines sightlines;
  AbsorptionAxis axis = AbsorptionAxis::velocity;
  double low = 0, high = 0;  ///< [cm/s] or [cm]
  std::uint64_t bins = 0;
  std::uint64_t oversampling = 0, subsampling = 0;  ///< 0: as many as it takes
  double lsf = 0;                                   ///< FWHM [cm/s]; 0: none
  double signal_to_noise = 0;                       ///< of a bin of the continuum; 0: no noise
  GasBeyond beyond = GasBeyond::unknown;            ///< of an open box with Hubble flow

  /// `coldest`: temperature of all of the gas [K]; `longest`: of the sightlines [cm]; `key`: of the operator.
  AbsorptionPlan plan(const Line& line, FieldSource& fields, double coldest, double longest,
                      const std::string& key) const;
  std::unique_ptr<RayProduct> product(RayWork& work, std::size_t op) const;
  bool operator==(const AbsorptionOperator&) const = default;
};

}  // namespace config
}  // namespace thor
