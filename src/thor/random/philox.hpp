#pragma once
#include "thor/math/value.hpp"
#include "thor/random/seed.hpp"

namespace thor {
inline namespace THOR_ISA {

/// State of a Philox stream between the steps of a photon: its key and the lower half of its counter.
template <class V>
struct PhiloxState {
  WordOf<V> s0, s1, s2, s3;
};

/// Philox4x32-10 (Salmon et al. 2011, SC'11): a counter-based generator, four words per block of ten rounds.
template <class V>
struct Philox4x32 {
  using Word = WordOf<V>;
  Word counter[4];
  Word key[2];
  Word block[4];
  int used = 4;  // words of the block already used; the same in every lane

  /// High and low half of the product of a word and a constant, from 16-bit halves, since packs have no wider word.
  static THOR_FN void multiply(std::uint32_t m, Word x, Word& high, Word& low) {
    const Word ml(m & 0xffffu), mh(m >> 16), xl = x & Word(0xffffu), xh = x >> 16;
    const Word ll = ml * xl, lh = ml * xh, hl = mh * xl;
    const Word middle = (ll >> 16) + (lh & Word(0xffffu)) + (hl & Word(0xffffu));
    high = mh * xh + (lh >> 16) + (hl >> 16) + (middle >> 16);
    low = (middle << 16) | (ll & Word(0xffffu));
  }

  THOR_FN void refill() {
    Word c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      Word high0, low0, high1, low1;
      multiply(0xd2511f53u, c0, high0, low0);
      multiply(0xcd9e8d57u, c2, high1, low1);
      c0 = high1 ^ c1 ^ k0;
      c1 = low1;
      c2 = high0 ^ c3 ^ k1;
      c3 = low0;
      k0 += Word(0x9e3779b9u);
      k1 += Word(0xbb67ae85u);
    }
    block[0] = c0, block[1] = c1, block[2] = c2, block[3] = c3;
    counter[0] += Word(1u);
    const auto carry = counter[0] == Word(0u);
    counter[1] += select(carry, Word(1u), Word(0u));  // 2^64 blocks per key: no carry into the upper half
    used = 0;
  }

  THOR_FN Word next() {
    if (used == 4) refill();
    return block[used++];
  }

  /// State in four words, for streams whose upper counter is zero. The rest of a partly used block is dropped.
  THOR_FN PhiloxState<V> to_words() const { return {key[0], key[1], counter[0], counter[1]}; }
  static THOR_FN Philox4x32 from_words(Word s0, Word s1, Word s2, Word s3) {
    const Word zero(0u);
    return {{s2, s3, zero, zero}, {s0, s1}, {zero, zero, zero, zero}, 4};
  }
};

/// Takes the key from the first half of the stream key, the counter from the second: it starts anywhere in its 2^64
/// blocks, so that streams differ even if their keys agree.
template <class V>
THOR_FN Philox4x32<V> philox(const StreamKey& key) {
  using Word = WordOf<V>;
  return Philox4x32<V>::from_words(Word(key.word[0]), Word(key.word[1]), Word(key.word[2]), Word(key.word[3]));
}

template <class V>
THOR_FN PhiloxState<V> words_of(const Philox4x32<V>& random) {
  return random.to_words();
}

/// Drops the rest of a partly used block, so that the lanes stay in step.
template <class M, class V>
THOR_FN Philox4x32<V> select(M m, const Philox4x32<V>& a, const Philox4x32<V>& b) {
  Philox4x32<V> r = b;
  for (int i = 0; i < 4; ++i) r.counter[i] = select(m, a.counter[i], b.counter[i]);
  for (int i = 0; i < 2; ++i) r.key[i] = select(m, a.key[i], b.key[i]);
  r.used = 4;
  return r;
}

}  // namespace THOR_ISA
}  // namespace thor
