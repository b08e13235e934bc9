#pragma once
#include <functional>

#include "thor/comm/world.hpp"

namespace thor::comm {

/// Collective: does some work on every rank, in which no rank waits for another. Where it fails on some, `undo` is
/// called on all before the first of these throws its error, which ends the others: so that of files that belong
/// together none is left half-written.
void do_together(const World& world, const std::function<void()>& work, const std::function<void()>& undo);

}  // namespace thor::comm
