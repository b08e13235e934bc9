#pragma once
#include "thor/math/value.hpp"
#include "thor/random/seed.hpp"

namespace thor {
inline namespace THOR_ISA {

/// xoshiro128++ 1.0 (Blackman & Vigna 2021, ACM TOMS 47, 36): 128 bits of state, period 2^128 - 1, on 32-bit words.
template <class V>
struct Xoshiro128 {
  using Word = WordOf<V>;
  Word s0, s1, s2, s3;

  static THOR_FN Word rotate_left(Word x, int k) { return (x << k) | (x >> (32 - k)); }

  THOR_FN Word next() {
    const Word result = rotate_left(s0 + s3, 7) + s0;
    const Word t = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= t;
    s3 = rotate_left(s3, 11);
    return result;
  }
};

template <class V>
THOR_FN Xoshiro128<V> xoshiro(const StreamKey& key) {
  using Word = WordOf<V>;
  return {Word(key.word[0]), Word(key.word[1]), Word(key.word[2]), Word(key.word[3])};
}

/// State kept between steps, in four words.
template <class V>
THOR_FN const Xoshiro128<V>& words_of(const Xoshiro128<V>& random) {
  return random;
}

template <class M, class V>
THOR_FN Xoshiro128<V> select(M m, const Xoshiro128<V>& a, const Xoshiro128<V>& b) {
  return {select(m, a.s0, b.s0), select(m, a.s1, b.s1), select(m, a.s2, b.s2), select(m, a.s3, b.s3)};
}

}  // namespace THOR_ISA
}  // namespace thor
