#pragma once
#include "thor/math/functions.hpp"
#include "thor/math/vec3.hpp"

/// Conversion of random words to real numbers. Each draw takes one 32-bit word; uniform numbers do not use the word's
/// lowest bit, so it can serve as an independent sign (random_sign).
namespace thor {
inline namespace THOR_ISA {

/// Uniform on [0, 1), resolution 2^-24 (single) or 2^-31 (double).
template <class V>
THOR_FN V uniform(WordOf<V> word) {
  if constexpr (sizeof(RealOf<V>) == 4) {
    return word_to_real<V>(word, 8) * V(0x1p-24f);
  } else {
    return word_to_real<V>(word, 1) * V(0x1p-31);
  }
}

/// Uniform on (0, 1], at least 2^-32: the resolution near 0 is 2^-31 in both precisions, so that the tails of -ln(u)
/// reach 22 in single precision too.
template <class V>
THOR_FN V uniform_positive(WordOf<V> word) {
  using Real = RealOf<V>;
  return fma(word_to_real<V>(word, 1), V(Real(0x1p-31)), V(Real(0x1p-32)));
}

/// Uniform on (0, 1] with a resolution of 2^-62 near 0, for events too rare for one word to resolve.
template <class V>
THOR_FN V uniform_fine(WordOf<V> word, WordOf<V> fine_word) {
  using Real = RealOf<V>;
  return fma(word_to_real<V>(word, 1), V(Real(0x1p-31)), V(Real(0x1p-31)) * uniform_positive<V>(fine_word));
}

/// x with its sign changed where the word's lowest bit is set.
template <class V>
THOR_FN V random_sign(V x, WordOf<V> word) {
  return from_bits(static_cast<BitsOf<V>>(to_bits(x) ^ (word_to_bits<V>(word) << (8 * int(sizeof(RealOf<V>)) - 1))));
}

/// Sine and cosine of a random angle: a random part of a quarter turn, with signs from the two lowest bits.
template <class V>
THOR_FN SinCos<V> random_angle(WordOf<V> word) {
  using Real = RealOf<V>;
  constexpr bool single = sizeof(Real) == 4;
  const V part = word_to_real<V>(word, single ? 8 : 2) * V(single ? Real(0x1p-24) : Real(0x1p-30));
  return {random_sign(sin_quarter_turn(part), word), random_sign(cos_quarter_turn(part), word >> 1)};
}

/// Two independent Gaussians of variance 1/2 each, density e^{-u^2}/sqrt(pi) (Box & Muller 1958).
template <class V>
struct GaussianPair {
  V first, second;
};
template <class V>
THOR_FN GaussianPair<V> gaussian_pair(WordOf<V> radius_word, WordOf<V> angle_word) {
  const V radius = sqrt(-log(uniform_positive<V>(radius_word)));
  const SinCos<V> angle = sincos_2pi(uniform<V>(angle_word));
  return {radius * angle.cos, radius * angle.sin};
}

/// A direction uniform on the sphere.
template <class V>
THOR_FN Vec3<V> isotropic_direction(WordOf<V> mu_word, WordOf<V> phi_word) {
  using Real = RealOf<V>;
  const V mu = fma(uniform<V>(mu_word), V(Real(2)), V(Real(-1)));
  const V st = sqrt(max(fma(-mu, mu, V(Real(1))), V(Real(0))));
  const SinCos<V> phi = random_angle<V>(phi_word);
  return {st * phi.cos, st * phi.sin, mu};
}

}  // namespace THOR_ISA
}  // namespace thor
