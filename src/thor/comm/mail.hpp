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

/// Records of one type that travel between ranks, many in a message, and letters of up to 2^31 - 9 bytes. Any thread
/// may post; one thread moves the mail. Posting never waits, so that two ranks that send to each other cannot block:
/// what bounds the memory is the number of records that there are in the run.
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

  /// A letter counts as a record. Letters of one rank arrive in order, but before or after its records.
  void post_letter(int rank, std::vector<std::byte> letter) {
    Box& box = boxes_[std::size_t(rank)];
    const std::lock_guard lock(box.mutex);
    box.letters.push_back(std::move(letter));
    posted_.fetch_add(1);
  }

  /// Sends what waits, and delivers what has come. False if there was nothing to do.
  bool move(const std::function<void(std::span<const T>)>& deliver,
            const std::function<void(std::span<const std::byte>)>& deliver_letter = {}) {
    bool moved = false;
    for (std::size_t rank = 0; rank < boxes_.size(); ++rank) {
      std::vector<T> records;
      std::vector<std::vector<std::byte>> letters;
      {
        const std::lock_guard lock(boxes_[rank].mutex);
        records.swap(boxes_[rank].records), letters.swap(boxes_[rank].letters);
      }
      for (std::size_t i = 0; i < records.size(); i += most_) {
        send(int(rank), Kind::records,
             std::as_bytes(std::span(records).subspan(i, std::min(most_, records.size() - i))));
      }
      for (const auto& letter : letters) send(int(rank), Kind::letter, letter);
      moved = moved || !records.empty() || !letters.empty();
    }
    std::erase_if(sending_, [](const auto& sending) { return sending->is_done(); });
    for (std::vector<std::byte> message; !(message = world_.receive()).empty(); moved = true) {
      const std::span body = std::span<const std::byte>(message).subspan(sizeof(Kind));
      Kind kind{};
      std::memcpy(&kind, message.data(), sizeof(Kind));
      if (kind == Kind::letter) {
        deliver_letter(body);
        delivered_.fetch_add(1);
        continue;
      }
      records_.resize(body.size() / sizeof(T));
      std::memcpy(records_.data(), body.data(), body.size());
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
  enum class Kind : std::uint64_t { records, letter };
  struct Box {
    std::mutex mutex;
    std::vector<T> records;
    std::vector<std::vector<std::byte>> letters;
  };
  void send(int rank, Kind kind, std::span<const std::byte> body) {
    std::vector<std::byte> message(sizeof(Kind) + body.size());
    std::memcpy(message.data(), &kind, sizeof(Kind));
    std::memcpy(message.data() + sizeof(Kind), body.data(), body.size());
    sent_bytes_ += message.size(), ++messages_;
    sending_.push_back(world_.send(rank, std::move(message)));
  }
  const World& world_;
  const std::size_t most_;
  std::vector<Box> boxes_;  ///< for each rank
  std::vector<std::unique_ptr<World::Sending>> sending_;
  std::vector<T> records_;
  std::atomic<std::uint64_t> posted_{0}, delivered_{0};
  std::uint64_t messages_ = 0, sent_bytes_ = 0;
};

}  // namespace thor::comm
