#pragma once
#include <array>
#include <csignal>
#include <string>

namespace thor {

/// While a guard exists, the first terminating signal requests an orderly stop, and the second one kills the process.
/// These signals are SIGINT, SIGTERM, SIGHUP, SIGQUIT, and SIGUSR1, SIGUSR2 and SIGXCPU, which batch systems send ahead
/// of a limit. A signal that was ignored before (nohup, a background job of a shell) stays ignored.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU};
  std::array<struct sigaction, signals.size()> old_;
};

/// Whether an orderly stop was requested.
bool is_interrupted();

/// Throws Error(stopped) if a stop was requested. For work that leaves nothing behind until it is complete.
/// THOR_TEST_HOLD=writing makes it wait for a stop while a file is unfinished, so that tests do not depend on speed.
void stop_if_interrupted();

/// An incomplete file: while this object exists, a second signal removes the file before it kills the process.
class Unfinished {
 public:
  explicit Unfinished(std::string path);
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 private:
  std::string path_;
  std::size_t place_;
};

/// Removes the files of all such objects that exist. Safe in a signal handler.
void remove_unfinished();

}  // namespace thor
