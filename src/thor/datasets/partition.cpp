#include "thor/datasets/partition.hpp"

#include <algorithm>

namespace thor {

std::vector<int> holders_of(int domain, int domains, int ranks) {
  if (ranks < domains) return {domain % ranks};
  std::vector<int> holders;
  for (int rank = domain; rank < ranks; rank += domains) holders.push_back(rank);
  return holders;
}

std::vector<int> Partition::held_by(int rank, int ranks) const {
  std::vector<int> held;
  for (int domain = 0; domain < count(); ++domain) {
    if (std::ranges::count(holders(domain, ranks), rank) > 0) held.push_back(domain);
  }
  return held;
}

}  // namespace thor
