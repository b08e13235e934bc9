#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace thor {

/// The photons that are still to be started, handed out in blocks of ids that shrink towards the end.
class Pool {
 public:
  Pool(std::uint64_t first, std::uint64_t end, std::uint64_t consumers)
      : end_(end), consumers_(consumers), next_(first) {}

  struct Block {
    std::uint64_t next = 0, end = 0;
    bool empty() const { return next == end; }
  };

  Block take() {
    if (closed_.load(std::memory_order_relaxed)) return {};
    const std::uint64_t seen = next_.load(std::memory_order_relaxed);
    const std::uint64_t left = seen < end_ ? end_ - seen : 0;
    const std::uint64_t size = std::clamp<std::uint64_t>(left / (8 * consumers_), 1, 256);
    const std::uint64_t first = next_.fetch_add(size, std::memory_order_relaxed);
    if (first >= end_) return {};
    return {first, std::min(first + size, end_)};
  }

  /// All that is left, for a consumer that hands it out itself.
  Block take_rest() {
    const std::uint64_t first = std::min(next_.exchange(end_, std::memory_order_relaxed), end_);
    return closed() ? Block{} : Block{first, end_};
  }

  /// Photons of a block that were not started, after close().
  void give_back(const Block& block) {
    const std::lock_guard lock(mutex_);
    if (!block.empty()) given_back_.push_back(block);
  }
  /// The photons that were not started, as far as the consumers say; to call when they are done.
  std::vector<Block> left() const {
    std::vector<Block> left = given_back_;
    if (next_ < end_) left.push_back({next_, end_});
    std::ranges::sort(left, {}, &Block::next);
    return left;
  }

  /// No photon is started after this.
  void close() { closed_.store(true, std::memory_order_relaxed); }
  bool closed() const { return closed_.load(std::memory_order_relaxed); }

 private:
  const std::uint64_t end_, consumers_;
  std::atomic<std::uint64_t> next_;
  std::atomic<bool> closed_{false};
  std::mutex mutex_;
  std::vector<Block> given_back_;
};

}  // namespace thor
