#include "thor/comm/dealer.hpp"

#include <algorithm>
#include <chrono>

namespace thor::comm {

Dealer::Dealer(const World& world, Window all) : world_(world), next_(all.next), end_(all.end) {
  if (!world.is_first() || world.is_alone()) return;
  thread_ = std::jthread([this](const std::stop_token& stop) {
    const auto reply_to = [this](int rank, const Words& question) { return reply(rank, question); };
    while (!stop.stop_requested()) {
      if (world_.answer(reply_to)) continue;
      {
        const std::lock_guard lock(mutex_);
        if (done_ == world_.ranks() - 1) return;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
}

Dealer::~Dealer() { thread_.request_stop(); }

Dealer::Window Dealer::finish() {
  if (!world_.is_first()) {
    ask({done_kind, 0, 0});
    return {};
  }
  if (thread_.joinable()) thread_.join();  // it ends with the last word of the last rank
  return {next_, end_};
}

Dealer::Window Dealer::take(std::uint64_t least) {
  const Words words = ask({take_kind, least, 0});
  return {words[0], words[1]};
}

Dealer::News Dealer::report(std::uint64_t finished, int stop) {
  const Words words = ask({report_kind, finished, std::uint64_t(stop)});
  return {words[0], int(words[1])};
}

Words Dealer::ask(const Words& question) {
  if (world_.is_first()) return reply(0, question);
  const std::lock_guard lock(mutex_);
  return world_.ask(question);
}

Words Dealer::reply(int, const Words& question) {
  const std::lock_guard lock(mutex_);
  switch (question[0]) {
    case take_kind: {
      const std::uint64_t left = stop_ ? 0 : end_ - next_, share = left / (4 * std::uint64_t(world_.ranks()));
      const std::uint64_t size = world_.is_alone() ? left : std::min(left, std::max(share, question[1]));
      next_ += size;
      return {next_ - size, next_, 0};
    }
    case report_kind:
      finished_ += question[1];
      if (const int why = int(question[2]); why && (!stop_ || why < stop_)) stop_ = why;
      return {finished_, std::uint64_t(stop_), 0};
    default:
      ++done_;
      return {};
  }
}

}  // namespace thor::comm
