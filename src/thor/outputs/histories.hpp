#pragma once
#include <cstdint>
#include <vector>

/// What a photon adds to a bin comes in parts, one for each of its rays, and is joined before it is squared.
namespace thor {

/// A part of what a photon adds to a bin, in 2^-32 w (outputs/binned.hpp).
struct Share {
  std::uint64_t id;
  std::int64_t entry;
  std::uint64_t share;
};

/// Adds up the shares of each photon and bin; those of a photon are neighbours then.
void join(std::vector<Share>& shares);

}  // namespace thor
