#pragma once
#include "thor/math/value.hpp"
#include "thor/random/seed.hpp"

namespace thor {
inline namespace THOR_ISA {

/// sfc32, the small fast counting generator of C. Doty-Humphrey (PractRand 0.93): three words that are mixed and one
/// that counts, so that no cycle is shorter than 2^32 words; about 2^127 on average.
template <class V>
struct Sfc32 {
  using Word = WordOf<V>;
  Word s0, s1, s2, s3;  ///< a, b, c, counter

  THOR_FN Word next() {
    const Word result = s0 + s1 + s3;
    s3 += Word(1u);
    s0 = s1 ^ (s1 >> 9);
    s1 = s2 + (s2 << 3);
    s2 = ((s2 << 21) | (s2 >> 11)) + result;
    return result;
  }
};

/// A step is a bijection of the state: a random initial state, such as the stream key, needs no warm-up.
template <class V>
THOR_FN Sfc32<V> sfc(const StreamKey& key) {
  using Word = WordOf<V>;
  return {Word(key.word[0]), Word(key.word[1]), Word(key.word[2]), Word(key.word[3])};
}

/// State kept between steps, in four words.
template <class V>
THOR_FN const Sfc32<V>& words_of(const Sfc32<V>& random) {
  return random;
}

template <class M, class V>
THOR_FN Sfc32<V> select(M m, const Sfc32<V>& a, const Sfc32<V>& b) {
  return {select(m, a.s0, b.s0), select(m, a.s1, b.s1), select(m, a.s2, b.s2), select(m, a.s3, b.s3)};
}

}  // namespace THOR_ISA
}  // namespace thor
