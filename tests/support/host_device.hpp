#pragma once
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <thread>

#include "thor/parallel/device/device.hpp"

namespace test {

/// A pretend device: the lane program on the host, with a memory of a given size. It tests the engine without a GPU,
/// and is the smallest possible backend, which the tests list as `host`. Its lanes run one after the other, or in
/// lockstep in groups of 16, 32 or 64.
class HostDevice final : public thor::device::Device {
 public:
  explicit HostDevice(std::size_t memory = std::size_t(1) << 40, int group = 1) : free_(memory), group_(group) {}

  thor::device::Info info() const override {
    const bool alone = group_ == 1;
    thor::device::Info info;
    info.backend = "host", info.name = "no device", info.architecture = alone ? "one lane" : "lockstep";
    info.processors = 16, info.schedulers = alone ? 64 : 1, info.group = alone ? 32 : group_;
    info.shares_memory = shares_memory;
    info.memory = info.memory_free = free_;
    return info;
  }
  void* allocate(thor::device::Memory where, std::size_t bytes) override {
    if (where == thor::device::Memory::device) {
      if (bytes > free_) throw thor::device::OutOfMemory{bytes, free_};
      free_ -= bytes, allocated += bytes;
    }
    Block& block = blocks_.emplace_back(std::unique_ptr<Line[]>(new Line[bytes / sizeof(Line) + 1]), bytes);
    std::memset(static_cast<void*>(block.memory.get()), 0xcd, bytes);
    return block.memory.get();
  }
  void release(thor::device::Memory where, void* memory) noexcept override {
    const auto found = std::ranges::find_if(blocks_, [&](const auto& b) { return b.memory.get() == memory; });
    if (where == thor::device::Memory::device) free_ += found->bytes;
    blocks_.erase(found);
  }
  void copy_in(int, void* device, const void* host, std::size_t bytes) override {
    copied_in += bytes;
    std::memcpy(device, host, bytes);
  }
  void copy_out(int, void* host, const void* device, std::size_t bytes) override { std::memcpy(host, device, bytes); }
  void fill(int, void* device, int byte, std::size_t bytes) override { std::memset(device, byte, bytes); }
  void wait(int) override { std::this_thread::sleep_for(slowness); }

  void launch(int queue, const thor::device::Task& task, const void* subject, const void* arguments,
              thor::device::LaunchShape shape) override;

  /// Memory of the host that is filled with NaN while lanes run: they have copies of their own.
  std::vector<std::span<std::byte>> poisoned;
  std::size_t copied_in = 0;             ///< bytes
  std::size_t allocated = 0;             ///< bytes of its memory, all that were ever asked for
  bool shares_memory = false;            ///< so that lanes read the gas in place
  std::chrono::milliseconds slowness{};  ///< how long each wait for it takes

 private:
  /// Memory of devices is aligned so, and better.
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  struct Block {
    std::unique_ptr<Line[]> memory;
    std::size_t bytes;
  };

  std::size_t free_;
  int group_;
  std::vector<Block> blocks_;
};

}  // namespace test
