#include "thor/drivers/mcrt/watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "thor/core/interrupt.hpp"
#include "thor/core/message.hpp"

namespace thor {

Watch::Watch(ProgressMode progress, const TimeLimits& limits)
    : limits_(limits), progress_(progress, 1, "photons"), thread_([this] { loop(); }) {}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watch::expect(std::uint64_t photons) {
  const std::lock_guard lock(mutex_);
  progress_.expect(photons);
}

Watch::Batch::Batch(Watch& watch, Pool& pool, Control& control, comm::Dealer& dealer) : watch_(watch) {
  const std::lock_guard lock(watch.mutex_);
  watch.pool_ = &pool, watch.control_ = &control, watch.dealer_ = &dealer;
  watch.told_ = watch.of_all_ = 0;
  if (watch.stop_ != Stop::none) pool.close();
}

Watch::Batch::~Batch() {
  const std::lock_guard lock(watch_.mutex_);
  const Control& control = *watch_.control_;
  watch_.tell_others();
  watch_.finished_ += watch_.of_all_, watch_.own_ += control.finished, watch_.scatterings_ += control.scatterings;
  watch_.longest_ = std::max<std::uint64_t>(watch_.longest_, control.longest);
  watch_.pool_ = nullptr, watch_.control_ = nullptr, watch_.dealer_ = nullptr;
}

void Watch::loop() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::milliseconds(50), [this] { return done_; })) {
    look();
    if (control_ && progress_.is_due()) show();
  }
}

void Watch::stop(Stop why) {
  stop_ = why;
  progress_.finish();
  if (why == Stop::max_time) {
    message("thor: until.max_time is reached; waiting for photons in flight\n");
    return;
  }
  closed_at_ = seconds();
  message("thor: {}; giving photons in flight {} s to end{}\n",
          why == Stop::walltime ? "the wall-clock limit is reached" : "stopping", limits_.drain,
          why == Stop::walltime ? "" : " (once more ends at once)");
}

void Watch::tell_others() {
  const std::uint64_t finished = control_->finished;
  const comm::Dealer::News news = dealer_->report(finished - told_, int(stop_.load()));
  told_ = finished, of_all_ = news.finished;
  if (news.stop != 0 && closed_at_ < 0 && Stop(news.stop) != stop_) stop(Stop(news.stop));
}

bool Watch::is_ready() const {
  if (!limits_.hold) return true;
  return limits_.hold->ended > 0 ? finished_ + of_all_ >= limits_.hold->ended : control_ && control_->flying;
}

std::uint64_t Watch::allowed() const {
  return limits_.hold && limits_.hold->waits ? limits_.hold->ended - std::min(limits_.hold->ended, finished_) : ~0ull;
}

void Watch::look() {
  const double now = seconds();
  const bool over_time = limits_.max_walltime > 0 && now > limits_.max_walltime;
  const bool ready = is_ready();
  if (ready && closed_at_ < 0 && (is_interrupted() || over_time)) {
    stop(over_time ? Stop::walltime : Stop::signal);
  } else if (ready && stop_ == Stop::none && limits_.max_time && now > *limits_.max_time) {
    stop(Stop::max_time);
  }
  if (!pool_) return;
  tell_others();
  if (stop_ != Stop::none) pool_->close();
  if (closed_at_ >= 0 && seconds() >= closed_at_ + limits_.drain) control_->abort = true;  // with no drain: at once
}

void Watch::show() {
  const std::uint64_t own = own_ + control_->finished, finished = finished_ + of_all_;
  const double each = double(scatterings_ + control_->scatterings) / double(std::max<std::uint64_t>(own, 1));
  const auto longest = std::max<std::uint64_t>(longest_, control_->longest);
  std::vector<ProgressPart> more{{5, fmt::format("{:.3g} scatterings each, at most {:.3g}", each, double(longest))}};
  if (const double error = control_->error; error > 0) more.push_back({3, fmt::format("error {:.2g} %", 100 * error)});
  progress_.update(finished, more);
}

}  // namespace thor
