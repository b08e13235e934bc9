#include "thor/comm/dealer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace thor::comm {

Dealer::Dealer(const World& world, Window all, std::uint64_t in_flight, bool relieves, std::uint64_t most)
    : world_(world),
      first_(all.next),
      next_(all.next),
      end_(all.end),
      in_flight_(in_flight),
      relieves_(relieves),
      most_(most),
      states_(std::size_t(world.ranks())),
      waves_(states_.size()),
      partner_(states_.size(), -1),
      delivered_then_(states_.size(), ~0ull),
      leisure_(states_.size()) {
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
    ask({done_kind});
    return {};
  }
  if (thread_.joinable()) thread_.join();  // it ends with the last word of the last rank
  return {next_, end_};
}

Dealer::Window Dealer::take(std::uint64_t least) {
  const Words words = ask({take_kind, least});
  return {words[0], words[1], words[2] != 0};
}

Dealer::News Dealer::report(std::uint64_t finished, int stop) {
  const Words words = ask({report_kind, finished, std::uint64_t(stop)});
  return {words[0], int(words[1])};
}

Dealer::Orders Dealer::report(const State& s) {
  const std::uint64_t wave = seen_wave_ << 1 | std::uint64_t(s.idle);
  const Words words = ask({state_kind, s.finished, s.posted, s.delivered, s.waiting, wave});
  seen_wave_ = words[2];
  return {words[0] != 0, words[1], words[3]};
}

Dealer::Relief Dealer::relief(std::uint64_t number) {
  const Words words = ask({relief_kind, number});
  return {int(words[0]), int(words[1])};
}

Words Dealer::ask(const Words& question) {
  if (world_.is_first()) return reply(0, question);
  const std::lock_guard lock(mutex_);
  return world_.ask(question);
}

Words Dealer::reply(int rank, const Words& question) {
  const std::lock_guard lock(mutex_);
  switch (question[0]) {
    case take_kind: {
      std::uint64_t ended = 0;
      for (const State& state : states_) ended += state.finished;
      const std::uint64_t dealt = next_ - first_, flying = dealt - ended;
      const std::uint64_t room = std::min(in_flight_ - std::min(in_flight_, flying), most_ - std::min(most_, dealt));
      const std::uint64_t left = stop_ ? 0 : end_ - next_, share = left / (4 * std::uint64_t(world_.ranks()));
      const std::uint64_t all = world_.is_alone() ? left : std::min(left, std::max(share, question[1]));
      const std::uint64_t size = std::min(all, room);
      next_ += size;
      return {next_ - size, next_, std::uint64_t(size == 0 && left > 0)};
    }
    case report_kind:
      finished_ += question[1];
      if (const int why = int(question[2]); why && (!stop_ || why < stop_)) stop_ = why;
      return {finished_, std::uint64_t(stop_)};
    case state_kind: {
      const State state{question[1], question[2], question[3], question[4], (question[5] & 1) != 0};
      const bool over = all_is_over(rank, state, question[5] >> 1);
      watch(rank, state.idle);
      if (relieves_ && state.idle && !over) relieve(rank);
      std::uint64_t waiting = 0;
      for (const State& s : states_) waiting += s.waiting;
      return {std::uint64_t(over), reliefs_.size(), wave_, waiting};
    }
    case relief_kind: {
      const Relief& relief = reliefs_[question[1]];
      return {std::uint64_t(relief.busy), std::uint64_t(relief.idle)};
    }
    default:
      ++done_;
      return {};
  }
}

bool Dealer::all_is_over(int rank, const State& state, std::uint64_t wave) {
  if (wave_ == 0) return true;  // found before
  states_[std::size_t(rank)] = state, waves_[std::size_t(rank)] = wave;
  std::uint64_t posted = 0, delivered = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].idle || waves_[i] != wave_) return false;
    posted += states_[i].posted, delivered += states_[i].delivered;
  }
  if (posted != delivered || (!stop_ && next_ < end_)) return false;
  if (posted != posted_before_) {
    posted_before_ = posted;
    ++wave_;
    return false;
  }
  wave_ = 0;
  return true;
}

namespace {

constexpr std::chrono::milliseconds long_idle(200);  ///< to read a domain takes about as long

}  // namespace

/// A traveller now and then does not make a rank busy: it is one if it is so for more than a fifth of the time.
void Dealer::watch(int rank, bool idle) {
  Leisure& leisure = leisure_[std::size_t(rank)];
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> since = now - std::exchange(leisure.seen, now);
  leisure.idle = std::clamp<std::chrono::duration<double>>(leisure.idle + (idle ? since : -4 * since),
                                                           std::chrono::duration<double>(0), long_idle);
}

void Dealer::relieve(int rank) {
  constexpr std::uint64_t many = 256;  // travellers that wait: fewer are soon followed
  const auto idle = std::size_t(rank);
  if (leisure_[idle].idle < long_idle) return;
  if (states_[idle].delivered == delivered_then_[idle]) return;  // what it was promised has yet to come
  std::size_t busy = idle;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const bool may = partner_[idle] < 0 || partner_[idle] == int(i);
    if (may && states_[i].waiting >= many && states_[i].waiting > states_[busy].waiting) busy = i;
  }
  if (busy == idle) return;
  reliefs_.push_back({int(busy), rank});
  partner_[idle] = int(busy), delivered_then_[idle] = states_[idle].delivered;
  states_[busy].waiting /= 2;
}

}  // namespace thor::comm
