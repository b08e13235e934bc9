#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "thor/core/interrupt.hpp"

namespace thor {

/// Threads that this process may use.
int available_threads();

/// The parallel loop: calls body(begin, end) for pieces of [0, count) of at most `piece`, from several threads and in
/// any order. Each thread has its own copy of `body`, and so of what that captures by value. The first exception ends
/// the loop and is rethrown; an interrupt (interrupt.hpp) raises one, unless the work has to be `finished` anyway. If
/// no more threads can be started, those that were do all the work.
template <class Body>
void parallel_for(int threads, std::size_t count, std::size_t piece, const Body& body, bool finished = false) {
  if (count == 0) return;
  const std::size_t pieces = (count + piece - 1) / piece;
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    try {
      Body own = body;
      for (std::size_t i = next++; i < pieces; i = next++) {
        if (!finished) stop_if_interrupted();
        own(i * piece, std::min(count, (i + 1) * piece));
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = pieces;
    }
  };
  {
    std::vector<std::jthread> team;
    const std::size_t size = std::min(std::size_t(std::max(threads, 1)), pieces);
    try {
      while (team.size() + 1 < size) team.emplace_back(work);
    } catch (const std::system_error&) {  // no more can be started
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace thor
