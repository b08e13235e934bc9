#pragma once
#include <array>
#include <csignal>
#include <string>

namespace thor {

/// Guard during whose lifetime termination signals request an orderly end: SIGINT, SIGTERM, SIGHUP, SIGQUIT, and
/// SIGUSR1, SIGUSR2 and SIGXCPU, which batch systems send before a limit. A second signal ends the process. A signal
/// that was ignored when the guard was created (nohup, a shell's background job) stays ignored.
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

/// Whether an end was requested.
bool is_interrupted();

/// Throws Error(stopped) if so, for work that leaves nothing behind unless it is complete.
void stop_if_interrupted();

/// An incomplete file: during the lifetime of this object, a second signal removes it before ending the process.
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

}  // namespace thor
