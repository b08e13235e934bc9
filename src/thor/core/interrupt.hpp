#pragma once
#include <csignal>

namespace thor {

/// While it lives, SIGINT and SIGTERM ask for an orderly end; the second one ends the process.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  struct sigaction old_int_, old_term_;
};

/// Whether an end was asked for.
bool is_interrupted();

/// Then: Error(stopped). For work that leaves nothing behind unless it is whole.
void stop_if_interrupted();

}  // namespace thor
