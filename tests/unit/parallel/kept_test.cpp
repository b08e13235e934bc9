#include "thor/parallel/device/kept.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using thor::device::Kept;
using thor::device::Memory;

/// A runtime with some room, that counts.
struct Runtime {
  std::size_t room = std::size_t(1) << 40;
  int obtained = 0;
  std::map<void*, std::size_t> held{};

  Kept kept() {
    return Kept(
        [this](Memory, std::size_t bytes) -> void* {
          if (bytes > room) return nullptr;
          room -= bytes;
          void* const memory = reinterpret_cast<void*>(std::intptr_t(++obtained));
          held[memory] = bytes;
          return memory;
        },
        [this](Memory, void* memory) {
          room += held.at(memory);
          held.erase(memory);
        });
  }
};

TEST(Kept, GivesWhatWasReleasedToTheNext) {
  Runtime runtime;
  Kept kept = runtime.kept();
  void* const first = kept.allocate(Memory::device, 1000);
  EXPECT_NE(kept.allocate(Memory::device, 1000), first);  // it is in use
  kept.release(Memory::device, first);
  EXPECT_NE(kept.allocate(Memory::pinned, 1000), first);
  EXPECT_NE(kept.allocate(Memory::device, 100), first);  // far too large
  EXPECT_EQ(kept.allocate(Memory::device, 990), first);
  EXPECT_EQ(runtime.obtained, 4);
}

TEST(Kept, GivesBackAllWhenItEnds) {
  Runtime runtime;
  {
    Kept kept = runtime.kept();
    kept.release(Memory::device, kept.allocate(Memory::device, 5000));
    kept.release(Memory::pinned, kept.allocate(Memory::pinned, 300));
    EXPECT_EQ(runtime.held.size(), 2u);
  }
  EXPECT_TRUE(runtime.held.empty());
}

TEST(Kept, GivesBackWhatItKeepsWhenThereIsNoRoom) {
  Runtime runtime{.room = 12 << 20};
  Kept kept = runtime.kept();
  kept.release(Memory::device, kept.allocate(Memory::device, 8 << 20));
  EXPECT_NE(kept.allocate(Memory::device, 12 << 20), nullptr);
  EXPECT_EQ(kept.obtained(Memory::device), std::size_t(12) << 20);
  EXPECT_EQ(kept.allocate(Memory::device, 1), nullptr);
}

TEST(Kept, KeepsNoLargeMemoryAndNotTooMuch) {
  Runtime runtime;
  Kept kept = runtime.kept();
  kept.release(Memory::device, kept.allocate(Memory::device, std::size_t(1) << 30));
  EXPECT_TRUE(runtime.held.empty());
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(kept.allocate(Memory::device, 16 << 20));
  for (void* block : blocks) kept.release(Memory::device, block);
  EXPECT_EQ(runtime.held.size(), 16u);
}

}  // namespace
