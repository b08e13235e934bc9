#pragma once
#include <cstdint>

#include "thor/core/target.hpp"

namespace thor {
inline namespace THOR_ISA {

/// 128 bits that initialise the random stream of one photon.
struct StreamKey {
  std::uint32_t word[4];
};

/// Stafford's variant 13 of the MurmurHash3 finaliser, as in SplitMix64 (Steele, Lea & Flood 2014): every input bit
/// changes every output bit with probability 1/2.
THOR_FN std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// The stream depends only on (seed, photon id). Neighbouring ids go through two rounds of mixing, so their
/// streams are uncorrelated from the first draw on.
THOR_FN StreamKey stream_key(std::uint64_t seed, std::uint64_t id) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ull;
  const std::uint64_t h = mix64(mix64(seed + golden) ^ (id * golden + 0x632be59bd9b4e019ull));
  const std::uint64_t a = mix64(h + golden);
  const std::uint64_t b = mix64(h + 2 * golden) | 1u;  // never the all-zero state
  return {{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32), static_cast<std::uint32_t>(b),
           static_cast<std::uint32_t>(b >> 32)}};
}

}  // namespace THOR_ISA
}  // namespace thor
