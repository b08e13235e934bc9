#pragma once
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

/// What a photon adds to a bin comes in parts, one for each of its rays, and is joined before it is squared.
namespace thor {

/// A part of what a photon adds to a bin, in 2^-32 w (outputs/binned.hpp).
struct Share {
  std::uint64_t id;
  std::int64_t cell;
  std::uint64_t share;
};

/// Adds up the shares of each photon and bin.
inline void join(std::vector<Share>& shares) {
  std::ranges::sort(shares, {}, [](const Share& s) { return std::tuple(s.id, s.cell); });
  std::size_t joined = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (joined > 0 && shares[joined - 1].id == shares[i].id && shares[joined - 1].cell == shares[i].cell) {
      shares[joined - 1].share += shares[i].share;
    } else {
      shares[joined++] = shares[i];
    }
  }
  shares.resize(joined);
}

}  // namespace thor
