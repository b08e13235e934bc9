#include "thor/parallel/device/shares.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

/// What photons add to bins, joined in tables of a device: the same as if all of it were sorted, however small they
/// are.
namespace shares_test {

using namespace thor;
using namespace thor::device;

/// There are no other threads.
struct Plain {
  template <class T>
  static T add(T* p, T v) {
    return std::exchange(*p, *p + v);
  }
  static std::uint64_t set_if_zero(std::uint64_t* p, std::uint64_t v) { return *p == 0 ? std::exchange(*p, v) : *p; }
  static void set(std::uint32_t* p, std::uint32_t bits) { *p |= bits; }
};

constexpr int bins = 50;

struct Joined {
  std::vector<std::uint64_t> entries = std::vector<std::uint64_t>(4 * bins);
  std::uint64_t spilled = 0, split = 0, most_kept = 0;
};

/// Adds what the host has been given, all at once.
void add_all(std::vector<Share> shares, std::vector<std::uint64_t>& entries) {
  join(shares);
  const ShareTables none{};
  ShareReport report{};
  const SharedEntries<Plain> all{entries.data(), 0, 1, 0, none, report};
  for (const Share& s : shares) add_sums(all, s.entry, sums_of(s.share, s.id));
}

/// Photons that live for some slices and add to some bins in each, with tables of so many slots.
Joined run(std::size_t slots, std::uint32_t room, std::uint64_t first_id, std::vector<Share>* everything = nullptr) {
  Joined joined;
  std::mt19937 random(5);
  std::vector<ShareSlot> tables[2] = {std::vector<ShareSlot>(slots), std::vector<ShareSlot>(slots)};
  std::vector<std::uint32_t> in_flight(share_bits / 32), at_host(share_bits / 32);
  std::vector<Share> spilled(room), host;
  std::set<std::uint64_t> flying;
  std::uint64_t next = first_id;
  ShareReport report{};
  for (int slice = 0; slice < 60 || report.kept > 0; ++slice) {
    while (slice < 40 && flying.size() < 20) flying.insert(next++);
    const bool crowded = report.kept > slots / 2;
    report = {};
    const ShareTables now{tables[slice % 2].data(),
                          tables[1 - slice % 2].data(),
                          slots,
                          in_flight.data(),
                          at_host.data(),
                          spilled.data(),
                          room,
                          next,
                          crowded};
    const SharedEntries<Plain> entries{joined.entries.data(), 0, 1, 0, now, report};
    for (const std::uint64_t id : flying) {
      for (std::uint32_t i = random() % 6; i > 0; --i) {
        const Share share{id, std::int64_t(4 * (random() % bins)), random()};
        entries.join(share.id, share.entry, share.share);
        if (everything) everything->push_back(share);
      }
    }
    std::erase_if(flying, [&](std::uint64_t) { return random() % 8 == 0 || slice > 50; });
    std::ranges::fill(in_flight, 0);
    for (const std::uint64_t id : flying) set_bit<Plain>(in_flight.data(), id);
    for (std::uint64_t i = 0; i < slots; ++i) flush_slot(i, entries);
    const std::size_t count = std::min(report.spilled, room);
    host.insert(host.end(), spilled.begin(), spilled.begin() + std::ptrdiff_t(count));
    joined.spilled += count, joined.split += report.split;
    joined.most_kept = std::max<std::uint64_t>(joined.most_kept, report.kept);
  }
  add_all(host, joined.entries);
  return joined;
}

TEST(Shares, AreJoinedInTablesOfAnySize) {
  constexpr std::uint64_t near_the_end_of_30_bits = (7ull << 30) - 50;
  for (const std::uint64_t first : {std::uint64_t(0), near_the_end_of_30_bits}) {
    std::vector<Share> everything;
    const Joined large = run(1 << 14, 64, first, &everything);
    EXPECT_EQ(large.spilled, 0u);
    EXPECT_GT(large.most_kept, 100u);
    std::vector<std::uint64_t> expected(4 * bins);
    add_all(everything, expected);
    EXPECT_EQ(large.entries, expected);
    const Joined small = run(256, 1000, first);
    EXPECT_GT(small.spilled, 100u);
    EXPECT_EQ(small.split, 0u);
    EXPECT_EQ(small.entries, expected) << "what has no room is joined by the host";
    const Joined tiny = run(64, 1, first);
    EXPECT_GT(tiny.split, 100u) << "the twin: counted as histories of their own";
    for (int i = 0; i < bins; ++i) {
      const auto at = std::size_t(4 * i);
      EXPECT_NEAR(double(tiny.entries[at]) / double(expected[at]), 1, 1e-6) << "light is never lost";
    }
    EXPECT_NE(tiny.entries, expected);
  }
}

}  // namespace shares_test
