#pragma once
#include <string>
#include <vector>

#include "thor/math/functions.hpp"
#include "thor/math/lookup.hpp"
#include "thor/operators/transfer.hpp"

namespace thor {

class FieldSource;
struct ImageTask;

inline constexpr int most_layers = 4;

/// One field and its transfer function, a table of red, green, blue and absorption per unit length. A field is stored
/// as its place in the table, from 0 to 1 (Fields::add_scaled); beyond, it is transparent where the table says so.
struct RenderLayer {
  FieldProduct place;       ///< in the table
  FieldProduct brightness;  ///< multiplies colours, not absorption
  int table;                ///< the first of its numbers, of which an entry has 4
};

/// Volume rendering (paper, section 3.5): C = Int c(s) mu(s) exp(-Int_0^s mu ds') ds along a ray from the camera, for
/// each colour, where absorption mu and colour c are those of the transfer functions; several layers add up.
struct Render {
  int layers;
  RenderLayer layer[most_layers];
  float stop;                                  ///< a ray ends where less of the light than this comes through
  static constexpr int planes() { return 4; }  ///< red, green, blue, opacity
};

inline namespace THOR_ISA {

/// (1 - e^-t)/t, to 1e-7.
template <class V>
THOR_FN V escape_share(V t) {
  using Real = RealOf<V>;
  const auto thin = t < V(Real(0.1));
  const V series = polynomial(t, 1., -1. / 2, 1. / 6, -1. / 24, 1. / 120, -1. / 720);
  const V one(Real(1));
  return select(thin, series, divide(one - exp_bounded(-t), select(thin, one, t)));
}

template <class V>
struct Rendering {
  using Real = RealOf<V>;
  const Render& render;
  const float* tables;
  V colour[3], through;

  THOR_FN Rendering(const Render& r, const float* t) : render(r), tables(t) {
    for (V& c : colour) c = V(Real(0));
    through = V(Real(1));
  }
  THOR_FN MaskOf<V> add(const auto& piece, V length, MaskOf<V>) {
    const V zero(Real(0)), one(Real(1));
    V light[3] = {zero, zero, zero}, absorption = zero;
    for (int k = 0; k < render.layers; ++k) {
      const RenderLayer& layer = render.layer[k];
      const V place = max(zero, min(one, piece.value(layer.place)));
      // Adding 1.5 2^23 (2^52) rounds to an integer, left in the low bits.
      const V magic(sizeof(Real) == 4 ? Real(12582912) : Real(6755399441055744));
      const auto bits = to_bits(fma(place, V(Real(colours - 1)), magic)) & BitsOf<V>(2 * colours - 1u);
      const IntOf<V> at = __builtin_bit_cast(IntOf<V>, bits) << 2;
      const float* const numbers = tables + layer.table;
      const V mu = lookup<V>(numbers + 3, at);
      if (!any(mu > zero)) continue;  // transparent, as most gas is
      V bright = mu;
      if (layer.brightness.field >= 0) bright = bright * piece.value(layer.brightness);
      for (int c = 0; c < 3; ++c) light[c] = fma(bright, lookup<V>(numbers + c, at), light[c]);
      absorption = absorption + mu;
    }
    if (!any(absorption > zero)) return MaskOf<V>(false);
    // Over a piece: Int c mu e^(-mu s) ds = c mu l (1 - e^(-mu l))/(mu l).
    const V depth = absorption * length;
    const V share = through * length * escape_share(depth);
    for (int c = 0; c < 3; ++c) colour[c] = fma(share, light[c], colour[c]);
    through = through * exp_bounded(-depth);
    return through < V(Real(render.stop));
  }
  /// Red, green and blue, and the share of the light behind it that is held back.
  THOR_FN void result(V (&out)[4]) const {
    for (int c = 0; c < 3; ++c) out[c] = colour[c];
    out[3] = V(Real(1)) - through;
  }
};

template <class V>
THOR_FN Rendering<V> on_ray(const Render& render, const float* tables) {
  return Rendering<V>(render, tables);
}

}  // namespace THOR_ISA

namespace config {

struct RenderLayerKeys {
  std::string field, brightness;
  Transfer transfer;

  bool operator==(const RenderLayerKeys&) const = default;
};

struct RenderOperator {
  using Plan = Render;
  static constexpr const char* type = "render";
  static constexpr const char* meaning = "a picture of the volume, by transfer functions of fields";
  static const Section<RenderOperator>& section();
  std::string name, camera;
  RenderLayerKeys layer;                ///< the first,
  std::vector<RenderLayerKeys> layers;  ///< and more
  std::uint64_t samples = 1;
  double stop = 0;
  double exposure = 1;  ///< factor of brightness

  std::vector<RenderLayerKeys> all_layers() const;
  /// Fields of which plan() takes the mean.
  std::vector<std::string> means() const;
  ImageTask plan(FieldSource& fields) const;
  bool operator==(const RenderOperator&) const = default;
};

}  // namespace config
}  // namespace thor
