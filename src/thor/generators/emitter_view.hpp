#pragma once
#include <cstdint>

#include "thor/generators/source.hpp"

namespace thor {

/// All generators of a run as a kernel sees them. A photon is a function of (seed, id), and so is where it comes from:
/// ids are dealt over the generators and over the sources of each such that every run of ids from 0 on has close to
/// their shares of it. Neither depends on how many photons are asked for: a longer run of the same shares begins with
/// the photons of a shorter one.
template <class Real>
struct EmitterView {
  std::uint64_t seed;
  const Source<Real>* sources;
  int count;  ///< of generators
};

inline namespace THOR_ISA {

/// (a b + c)/2^64.
THOR_FN std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b + c) >> 64);
}

/// How many of the first `photons` a generator has whose share of them is share/2^64: to the nearest.
THOR_FN std::uint64_t dealt(std::uint64_t photons, std::uint64_t share) {
  return multiply_high(photons, share, std::uint64_t(1) << 63);
}

/// The slot of photon `number` of a generator. The slots lie side by side from 0 to 1, and a photon takes the one at
/// u = start + number step, modulo 1: with a step near the golden ratio any number of photons is spread evenly
/// (Weyl 1916). All in units of 2^-64.
THOR_FN std::uint64_t slot_of(const SourceTable& table, std::uint64_t number) {
  return multiply_high(table.start + number * table.step, table.slots, 0);
}

/// The source with this slot, in a table that has it.
THOR_FN std::uint64_t source_of(const SourceTable& table, std::uint64_t number) {
  return first_beyond(table.end, table.count, slot_of(table, number));
}

/// Where a photon comes from: a generator, and which of its sources where it has a table.
struct PhotonSource {
  int generator;
  std::uint64_t index;     ///< among all
  double weight;           ///< luminosity that it is emitted with [erg/s]
  double escape_fraction;  ///< what is left of it
};

/// The generator of a photon, and which of its photons that is.
struct Numbered {
  int generator;
  std::uint64_t number;
};

/// The first generator takes its share of the ids, evenly spread; the second its share of those that are left; and so
/// on. The photons of a generator are numbered in the order of their ids.
template <class Real>
THOR_FN Numbered number_of(const EmitterView<Real>& emitter, std::uint64_t id) {
  Numbered photon{0, id};
  for (; photon.generator + 1 < emitter.count; ++photon.generator) {
    const std::uint64_t share = emitter.sources[photon.generator].photon_share, before = dealt(photon.number, share);
    const bool here = dealt(photon.number + 1, share) > before;
    photon.number = here ? before : photon.number - before;
    if (here) break;
  }
  return photon;
}

template <class Real>
THOR_FN PhotonSource source_of_photon(const EmitterView<Real>& emitter, std::uint64_t id) {
  const auto [generator, number] = number_of(emitter, id);
  const Source<Real>& s = emitter.sources[generator];
  if (s.table.count == 0) return {generator, 0, s.weight, s.escape_fraction};
  const std::uint64_t index = source_of(s.table, number);
  const double weight = s.table.weight ? s.table.weight[index] * s.weight : s.weight;
  return {generator, s.table.number(index), weight, s.escape_fraction};
}

}  // namespace THOR_ISA
}  // namespace thor
