#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "thor/comm/world.hpp"

namespace thor::comm {

/// Collective: does some work on every rank, in which no rank waits for another. Where it fails on some, `undo` is
/// called on all before the first of these throws its error, which ends the others: so that of files that belong
/// together none is left half-written.
void do_together(const World& world, const std::function<void()>& work, const std::function<void()>& undo);

/// Collective: replaces numbers by their sums over all ranks, on each of them.
void add_all(const World& world, std::span<std::uint64_t> numbers);
/// The same, added in the order of the ranks.
void add_all(const World& world, std::span<double> numbers);

/// Collective: the values that the ranks have, on each of them.
template <class T>
std::vector<T> of_all(const World& world, const T& own) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);
  using Bits = std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>;
  const auto bits = std::bit_cast<Bits>(own);
  const std::vector<std::uint64_t> words = world.from_first(world.at_first({bits.begin(), bits.end()}));
  std::vector<T> all;
  for (std::size_t i = 0; i < words.size(); i += bits.size()) {
    Bits one;
    for (std::size_t k = 0; k < one.size(); ++k) one[k] = words[i + k];
    all.push_back(std::bit_cast<T>(one));
  }
  return all;
}

}  // namespace thor::comm
