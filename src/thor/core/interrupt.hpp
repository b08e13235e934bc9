#pragma once
#include <array>
#include <csignal>
#include <string>

namespace thor {

/// While it lives, the signals that mean "end" ask for an orderly one: SIGINT, SIGTERM, SIGHUP, SIGQUIT, and SIGUSR1,
/// SIGUSR2 and SIGXCPU, which batch systems send ahead of a limit. The second one ends the process. A signal that was
/// ignored when the guard came (nohup, a shell's background job) stays ignored.
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

/// Whether an end was asked for.
bool is_interrupted();

/// Then: Error(stopped). For work that leaves nothing behind unless it is whole.
void stop_if_interrupted();

/// A file that is not whole: while this lives, a second signal removes it before it ends the process.
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
