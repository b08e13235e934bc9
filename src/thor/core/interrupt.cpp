#include "thor/core/interrupt.hpp"

#include <atomic>

#include "thor/core/error.hpp"

namespace thor {
namespace {

std::atomic<int> signals{0};

}  // namespace

SignalGuard::SignalGuard() {
  signals = 0;
  struct sigaction action {};
  action.sa_handler = [](int number) {
    if (signals.fetch_add(1) > 0) {
      std::signal(number, SIG_DFL);
      std::raise(number);
    }
  };
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
}

SignalGuard::~SignalGuard() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
}

bool is_interrupted() { return signals > 0; }

void stop_if_interrupted() {
  if (is_interrupted()) throw Error(ExitCode::stopped, "stopped by a signal; nothing is written");
}

}  // namespace thor
