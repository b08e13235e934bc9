#pragma once
#include <ucontext.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

namespace test {

/// The threads of a group on a GPU, as fibers of one thread: each runs until it votes, and goes on when all have voted.
class Lockstep {
 public:
  explicit Lockstep(int width) : fibers_(std::size_t(width)) {}

  /// body(i, group) for every i below the width.
  template <class Body>
  void run(const Body& body) {
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      Fiber& fiber = fibers_[i];
      fiber.has_ended = false;
      fiber.body = [](void* lockstep, const void* what, int lane) {
        (*static_cast<const Body*>(what))(lane, *static_cast<Lockstep*>(lockstep));
      };
      fiber.what = &body;
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack.get();
      fiber.context.uc_stack.ss_size = stack_bytes;
      fiber.context.uc_link = &main_;
      const auto self = reinterpret_cast<std::uintptr_t>(this);
      makecontext(&fiber.context, reinterpret_cast<void (*)()>(enter), 3, unsigned(self), unsigned(self >> 32), int(i));
    }
    for (;;) {
      std::size_t ended = 0;
      int waiting = 0, going = 0;
      for (current_ = 0; current_ < fibers_.size(); ++current_) {
        Fiber& fiber = fibers_[current_];
        swapcontext(&main_, &fiber.context);
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
        ended += fiber.has_ended;
        waiting += fiber.waits, going += fiber.goes;
      }
      waiting_ = waiting, going_ = going;
      if (ended == fibers_.size()) return;
      if (ended > 0) throw std::logic_error("a lane has left its group, which votes without it");
    }
  }

  /// A vote: how many of the group wait, and how many go on.
  std::pair<int, int> vote(bool waits, bool goes) {
    Fiber& fiber = fibers_[current_];
    fiber.waits = waits, fiber.goes = goes;
    swapcontext(&fiber.context, &main_);
    return {waiting_, going_};
  }

 private:
  static constexpr std::size_t stack_bytes = std::size_t(1) << 18;
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
    bool has_ended = false, waits = false, goes = false;
    void (*body)(void*, const void*, int) = nullptr;
    const void* what = nullptr;
  };

  /// The two halves of an address, as makecontext() passes numbers of type int.
  static void enter(unsigned low, unsigned high, int lane) {
    auto& self = *reinterpret_cast<Lockstep*>(std::uintptr_t(high) << 32 | low);
    Fiber& fiber = self.fibers_[std::size_t(lane)];
    try {
      fiber.body(&self, fiber.what, lane);
    } catch (...) {
      self.failure_ = std::current_exception();
    }
    fiber.has_ended = true, fiber.waits = fiber.goes = false;
  }

  std::vector<Fiber> fibers_;
  ucontext_t main_;
  std::size_t current_ = 0;
  int waiting_ = 0, going_ = 0;
  std::exception_ptr failure_;
};

}  // namespace test
