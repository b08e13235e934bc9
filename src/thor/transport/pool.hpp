#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace thor {

/// The photons that are still to be started, handed out in blocks of ids that shrink towards the end.
class Pool {
 public:
  struct Block {
    std::uint64_t next = 0, end = 0;
    bool empty() const { return next == end; }
  };
  /// Gives more ids, from those that several processes share; none: there are no more.
  using Deal = std::function<Block()>;

  Pool(std::uint64_t first, std::uint64_t end, std::uint64_t consumers) : consumers_(consumers), window_{first, end} {}
  Pool(Deal deal, std::uint64_t consumers) : consumers_(consumers), deal_(std::move(deal)) {}

  Block take() {
    const std::lock_guard lock(mutex_);
    if (!has_more()) return {};
    const std::uint64_t left = window_.end - window_.next;
    const std::uint64_t size = std::clamp<std::uint64_t>(left / (8 * consumers_), 1, 256);
    window_.next += size;
    return {window_.next - size, window_.next};
  }

  /// All that can be taken at once, for a consumer that hands it out itself.
  Block take_all() {
    const std::lock_guard lock(mutex_);
    return has_more() ? std::exchange(window_, {}) : Block{};
  }

  bool is_empty() {
    const std::lock_guard lock(mutex_);
    return !has_more();
  }

  /// Photons of a block that were not started, after close().
  void give_back(const Block& block) {
    const std::lock_guard lock(mutex_);
    if (!block.empty()) given_back_.push_back(block);
  }
  /// The photons that were not started, as far as the consumers say; to call when they are done.
  std::vector<Block> left() const {
    std::vector<Block> left = given_back_;
    if (!window_.empty()) left.push_back(window_);
    std::ranges::sort(left, {}, &Block::next);
    return left;
  }

  /// No photon is started after this.
  void close() { closed_.store(true, std::memory_order_relaxed); }
  bool closed() const { return closed_.load(std::memory_order_relaxed); }

 private:
  bool has_more() {
    if (closed()) return false;
    if (window_.empty() && deal_) {
      window_ = deal_();
      if (window_.empty()) deal_ = nullptr;  // or every lane would ask again
    }
    return !window_.empty();
  }

  const std::uint64_t consumers_;
  Block window_;
  Deal deal_{};
  std::atomic<bool> closed_{false};
  std::mutex mutex_;
  std::vector<Block> given_back_;
};

}  // namespace thor
