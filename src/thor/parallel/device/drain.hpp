#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "thor/parallel/control.hpp"

namespace thor::device {

/// Hands blocks of photons to a sink in a thread of its own, while the device goes on. A block stays where it is until
/// it has been taken; each queue of the device has at most one on its way.
class Drain {
 public:
  explicit Drain(const Sink& sink) : sink_(sink), thread_([this] { loop(); }) {}
  ~Drain() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void put(int queue, std::span<const Photon> photons) {
    {
      const std::lock_guard lock(mutex_);
      blocks_[queue] = photons;
    }
    changed_.notify_all();
  }

  /// Until the queue's block has been taken. Throws what the sink has thrown.
  void wait(int queue) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return blocks_[queue].empty() || failure_; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return done_ || !blocks_[0].empty() || !blocks_[1].empty(); });
      for (auto& block : blocks_) {
        if (block.empty()) continue;
        const auto photons = block;
        lock.unlock();
        std::exception_ptr failure;
        try {
          sink_(photons);
        } catch (...) {
          failure = std::current_exception();
        }
        lock.lock();
        if (failure) failure_ = failure;
        block = {};
        changed_.notify_all();
      }
      if (done_ && blocks_[0].empty() && blocks_[1].empty()) return;
    }
  }

  const Sink& sink_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::span<const Photon> blocks_[2];
  std::exception_ptr failure_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace thor::device
