#pragma once
#include "thor/random/xoshiro.hpp"

namespace test {

/// A random stream for every lane of V.
template <class V>
thor::Xoshiro128<V> stream(std::uint64_t seed) {
  using Word = thor::WordOf<V>;
  constexpr int lanes = thor::Value<V>::lanes;
  std::uint32_t s[4][lanes];
  for (int lane = 0; lane < lanes; ++lane)
    for (int k = 0; k < 4; ++k) s[k][lane] = thor::stream_key(seed, lane).word[k];
  return {thor::load<Word>(s[0]), thor::load<Word>(s[1]), thor::load<Word>(s[2]), thor::load<Word>(s[3])};
}

}  // namespace test
