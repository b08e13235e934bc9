#pragma once
#include <algorithm>
#include <bit>
#include <functional>
#include <map>

#include "thor/parallel/device/device.hpp"

namespace thor::device {

/// Memory of a device, of which what is released is kept for what comes next, up to some bytes: a runtime that frees
/// memory waits for all that runs on the device, for other models too.
class Kept {
 public:
  using Obtain = std::function<void*(Memory, std::size_t)>;  ///< none: there is no room
  using GiveBack = std::function<void(Memory, void*)>;       ///< throws nothing

  Kept(Obtain obtain, GiveBack give_back) : obtain_(std::move(obtain)), give_back_(std::move(give_back)) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() { drop(); }

  /// None: there is no room.
  void* allocate(Memory where, std::size_t bytes) {
    bytes = rounded(bytes);
    auto& free = free_[int(where)];
    if (const auto found = free.lower_bound(bytes); found != free.end() && found->first <= 2 * bytes) {
      void* const memory = found->second;
      kept_ -= found->first;
      free.erase(found);
      return memory;
    }
    void* memory = obtain_(where, bytes);
    if (!memory && kept_ > 0) {
      drop();
      memory = obtain_(where, bytes);
    }
    if (memory) sizes_[memory] = bytes, obtained_[int(where)] += bytes;
    return memory;
  }

  void release(Memory where, void* memory) noexcept {
    const std::size_t bytes = sizes_.at(memory);
    if (bytes <= largest && kept_ + bytes <= most) {
      free_[int(where)].emplace(bytes, memory);
      kept_ += bytes;
    } else {
      forget(where, memory);
    }
  }

  std::size_t obtained(Memory where) const { return obtained_[int(where)]; }  ///< [byte], with what is kept

 private:
  static constexpr std::size_t largest = std::size_t(32) << 20, most = std::size_t(256) << 20;  ///< [byte]

  /// Models of a sweep differ by a little.
  static std::size_t rounded(std::size_t bytes) {
    const std::size_t step = std::max<std::size_t>(std::bit_floor(bytes) / 8, 256);
    return bytes > largest ? bytes : (std::max<std::size_t>(bytes, 1) + step - 1) / step * step;
  }
  void forget(Memory where, void* memory) noexcept {
    const auto found = sizes_.find(memory);
    obtained_[int(where)] -= found->second;
    sizes_.erase(found);
    give_back_(where, memory);
  }
  void drop() noexcept {
    for (const Memory where : {Memory::device, Memory::pinned}) {
      for (const auto& [bytes, memory] : free_[int(where)]) forget(where, memory);
      free_[int(where)].clear();
    }
    kept_ = 0;
  }

  const Obtain obtain_;
  const GiveBack give_back_;
  std::map<void*, std::size_t> sizes_;
  std::multimap<std::size_t, void*> free_[2];
  std::size_t kept_ = 0, obtained_[2] = {};
};

}  // namespace thor::device
