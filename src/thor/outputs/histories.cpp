#include "thor/outputs/histories.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "thor/random/seed.hpp"

namespace thor {
namespace {

/// Puts the shares of a photon into one of so many buckets, and returns where these end: what is sorted after that fits
/// into a cache.
std::vector<std::size_t> sort_into_buckets(std::vector<Share>& shares, std::size_t buckets) {
  const auto bucket_of = [&](const Share& s) { return std::size_t(mix64(s.id)) & (buckets - 1); };
  std::vector<std::size_t> ends(buckets + 1);
  for (const Share& s : shares) ++ends[bucket_of(s) + 1];
  for (std::size_t i = 1; i <= buckets; ++i) ends[i] += ends[i - 1];
  std::vector<Share> sorted(shares.size());
  for (const Share& s : shares) sorted[ends[bucket_of(s)]++] = s;
  shares = std::move(sorted);
  ends.pop_back();
  return ends;
}

}  // namespace

void join(std::vector<Share>& shares) {
  constexpr std::size_t at_once = 1 << 13;
  std::vector<std::size_t> ends{shares.size()};
  if (shares.size() > 8 * at_once) ends = sort_into_buckets(shares, std::bit_ceil(shares.size() / at_once));
  std::size_t joined = 0, first = 0;
  for (const std::size_t end : ends) {
    std::sort(shares.begin() + std::ptrdiff_t(first), shares.begin() + std::ptrdiff_t(end),
              [](const Share& a, const Share& b) { return std::tie(a.id, a.entry) < std::tie(b.id, b.entry); });
    for (std::size_t i = first; i < end; ++i) {
      if (joined > 0 && shares[joined - 1].id == shares[i].id && shares[joined - 1].entry == shares[i].entry) {
        shares[joined - 1].share += shares[i].share;
      } else {
        shares[joined++] = shares[i];
      }
    }
    first = end;
  }
  shares.resize(joined);
}

}  // namespace thor
