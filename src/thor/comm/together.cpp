#include "thor/comm/together.hpp"

#include <exception>

namespace thor::comm {

void do_together(const World& world, const std::function<void()>& work, const std::function<void()>& undo) {
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  const auto own = std::uint64_t(failure ? world.ranks() - world.rank() : 0), first = world.largest(own);
  if (first == 0) return;
  undo();
  world.largest(0);  // all have undone it
  if (own == first) std::rethrow_exception(failure);
  world.largest(0);  // which never returns: that rank ends all
}

}  // namespace thor::comm
