#pragma once
#include "thor/outputs/histories.hpp"
#include "thor/outputs/tally_plan.hpp"

/// What photons add to bins in parts (outputs/histories.hpp), joined in the memory of a device: a hash table of photon
/// and bin, from which those of photons that have ended are counted after each slice.
namespace thor::device {

struct ShareSlot {
  std::uint64_t key;  ///< lowest 30 bits of the id, and the entry; 0: the slot is free
  std::uint64_t share;
};

/// The tables of a squad: plain data. The other one is empty during a slice, and gets what stays.
struct ShareTables {
  ShareSlot *now, *next;
  std::uint64_t slots;  ///< of each, a power of two; 0: nothing is joined
  /// Bits for photons by a hash of their ids: those in flight, and those of which the host has shares. A bit may stand
  /// for several photons: what is counted later, or by the host, is the same.
  std::uint32_t *in_flight, *at_host;
  Share* spilled;  ///< what is handed over to the host
  std::uint32_t room;
  std::uint64_t last_id;  ///< no photon has a larger one, and none is 2^30 older
  bool spills;            ///< the host takes as much as it has room for
};

/// What a slice tells of them.
struct ShareReport {
  std::uint32_t kept, spilled;  ///< shares; the latter may exceed the room there was
  std::uint32_t split;          ///< found no room anywhere, and were counted as if they were all of a history
};

inline constexpr std::uint64_t share_id_bits = 30, share_entry_bits = 34, share_bits = 1u << 26;

inline namespace THOR_ISA {

THOR_FN std::uint64_t share_key(std::uint64_t id, std::int64_t entry) {
  return id << share_entry_bits | std::uint64_t(entry);
}
THOR_FN std::uint64_t id_of(const ShareTables& tables, std::uint64_t key) {
  constexpr std::uint64_t all = (1ull << share_id_bits) - 1;
  return tables.last_id - ((tables.last_id - (key >> share_entry_bits)) & all);
}
THOR_FN std::int64_t entry_of_key(std::uint64_t key) { return std::int64_t(key & ((1ull << share_entry_bits) - 1)); }

THOR_FN bool has_bit(const std::uint32_t* bits, std::uint64_t id) {
  const std::uint64_t place = mix64(id) % share_bits;
  return (bits[place / 32] >> (place % 32) & 1) != 0;
}
template <class Atomic>
THOR_FN void set_bit(std::uint32_t* bits, std::uint64_t id) {
  const std::uint64_t place = mix64(id) % share_bits;
  Atomic::set(bits + place / 32, 1u << (place % 32));
}

/// False: there is no room near its place.
template <class Atomic>
THOR_FN bool put(ShareSlot* slots, std::uint64_t count, std::uint64_t key, std::uint64_t share) {
  constexpr int nearby = 256;
  std::uint64_t i = mix64(key);
  for (int k = 0; k < nearby; ++k, ++i) {
    ShareSlot& slot = slots[i & (count - 1)];
    const std::uint64_t before = Atomic::set_if_zero(&slot.key, key);
    if (before != 0 && before != key) continue;
    Atomic::add(&slot.share, share);
    return true;
  }
  return false;
}

template <class Atomic>
THOR_FN bool spill(const ShareTables& tables, ShareReport& report, const Share& share) {
  const std::uint32_t place = Atomic::add(&report.spilled, 1u);
  if (place >= tables.room) return false;
  tables.spilled[place] = share;
  set_bit<Atomic>(tables.at_host, share.id);
  return true;
}

/// The tally's entries, shared by all lanes through the backend's atomic operations.
template <class Atomic>
struct SharedEntries {
  std::uint64_t* entries;
  std::int64_t own;
  int copies, copy;
  const ShareTables& tables;
  ShareReport& report;

  THOR_FN std::uint64_t add(std::int64_t i, std::uint64_t value) const {
    return Atomic::add(entries + place_of(i, own, copies, copy), value);
  }
  THOR_FN void raise(std::int64_t i, std::uint64_t value) const {
    Atomic::max(entries + place_of(i, own, copies, copy), value);
  }
  THOR_FN void join(std::uint64_t id, std::int64_t entry, std::uint64_t share) const {
    if (put<Atomic>(tables.now, tables.slots, share_key(id, entry), share)) return;
    if (!spill<Atomic>(tables, report, {id, entry, share})) split(id, entry, share);
  }
  THOR_FN void split(std::uint64_t id, std::int64_t entry, std::uint64_t share) const {
    add_sums(*this, entry, sums_of(share, id));
    Atomic::add(&report.split, 1u);
  }
};

/// After a slice: counts the shares in a slot of the table if their photon has ended, else keeps them in the other
/// table.
template <class Atomic>
THOR_FN void flush_slot(std::uint64_t i, const SharedEntries<Atomic>& entries) {
  const ShareTables& tables = entries.tables;
  ShareSlot& slot = tables.now[i];
  const ShareSlot full = slot;
  if (full.key == 0) return;
  slot = {0, 0};
  const Share share{id_of(tables, full.key), entry_of_key(full.key), full.share};
  const bool flies = has_bit(tables.in_flight, share.id);
  if (!flies && !has_bit(tables.at_host, share.id)) {
    add_sums(entries, share.entry, sums_of(share.share, share.id));
    return;
  }
  if ((!flies || tables.spills) && spill<Atomic>(tables, entries.report, share)) return;
  if (put<Atomic>(tables.next, tables.slots, full.key, share.share)) {
    Atomic::add(&entries.report.kept, 1u);
  } else if (!spill<Atomic>(tables, entries.report, share)) {
    entries.split(share.id, share.entry, share.share);
  }
}

}  // namespace THOR_ISA
}  // namespace thor::device
