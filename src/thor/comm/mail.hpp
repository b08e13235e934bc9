#pragma once
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "thor/comm/world.hpp"

namespace thor::comm {

/// Records of one type that travel between ranks, many in a message. Any thread may post; one thread moves the mail.
/// Posting never waits, so that two ranks that send to each other cannot block: what bounds the memory is the number
/// of records that there are in the run.
template <class T>
class Mail {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// `most`: records of a message.
  Mail(const World& world, std::size_t most) : world_(world), most_(most), boxes_(std::size_t(world.ranks())) {}

  void post(int rank, const T& record) {
    Box& box = boxes_[std::size_t(rank)];
    const std::lock_guard lock(box.mutex);
    box.records.push_back(record);
    posted_.fetch_add(1);
  }

  /// Sends what waits, and delivers what has come. False if there was nothing to do.
  bool move(const std::function<void(std::span<const T>)>& deliver) {
    bool moved = false;
    for (std::size_t rank = 0; rank < boxes_.size(); ++rank) {
      std::vector<T> records;
      {
        const std::lock_guard lock(boxes_[rank].mutex);
        records.swap(boxes_[rank].records);
      }
      for (std::size_t i = 0; i < records.size(); i += most_) {
        const std::size_t count = std::min(most_, records.size() - i);
        std::vector<std::byte> message(count * sizeof(T));
        std::memcpy(message.data(), records.data() + i, message.size());
        sent_bytes_ += message.size(), ++messages_;
        sending_.push_back(world_.send(int(rank), std::move(message)));
        moved = true;
      }
    }
    std::erase_if(sending_, [](const auto& sending) { return sending->is_done(); });
    for (std::vector<std::byte> message; !(message = world_.receive()).empty(); moved = true) {
      records_.resize(message.size() / sizeof(T));
      std::memcpy(records_.data(), message.data(), message.size());
      deliver(records_);
      delivered_.fetch_add(records_.size());
    }
    return moved;
  }

  std::uint64_t posted() const { return posted_; }        ///< records
  std::uint64_t delivered() const { return delivered_; }  ///< records
  std::uint64_t messages() const { return messages_; }
  std::uint64_t sent_bytes() const { return sent_bytes_; }

 private:
  struct Box {
    std::mutex mutex;
    std::vector<T> records;
  };
  const World& world_;
  const std::size_t most_;
  std::vector<Box> boxes_;  ///< for each rank
  std::vector<std::unique_ptr<World::Sending>> sending_;
  std::vector<T> records_;
  std::atomic<std::uint64_t> posted_{0}, delivered_{0};
  std::uint64_t messages_ = 0, sent_bytes_ = 0;
};

}  // namespace thor::comm
