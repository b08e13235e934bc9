#include "thor/io/hdf5/crash.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

#include "thor/core/error.hpp"
#include "thor/core/interrupt.hpp"

namespace thor::io {
namespace {

constexpr std::array crash_signals{SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
std::array<struct sigaction, crash_signals.size()> earlier_actions;

/// What this thread reads; null: nothing. A crash is handled by the thread that it happens in.
constinit thread_local const char* volatile name_being_read = nullptr;

/// Uses only functions that are safe in a handler. Control characters of a name do not reach the terminal.
void write_crash(const char* name) {
  std::array<char, 4096> text{};
  std::size_t size = 0;
  const auto append = [&](const char* more) {
    for (; *more != '\0' && size < text.size(); ++more) {
      const auto c = static_cast<unsigned char>(*more);
      text[size++] = c < 0x20 || c == 0x7f ? '?' : *more;
    }
  };
  append("thor: error: cannot read ");
  append(name);
  append(": HDF5 crashed while reading it: the file is damaged; copy or make it again");
  text[std::min(size, text.size() - 1)] = '\n';
  static_cast<void>(!write(STDERR_FILENO, text.data(), std::min(size + 1, text.size())));
}

void handle_crash(int signal, siginfo_t* info, void*) {
  if (const char* name = name_being_read) {
    write_crash(name);
    remove_unfinished();
    _exit(static_cast<int>(ExitCode::input));
  }
  for (std::size_t i = 0; i < crash_signals.size(); ++i) {
    if (crash_signals[i] == signal) sigaction(signal, &earlier_actions[i], nullptr);
  }
  // An instruction that has failed is tried again, and fails again; a signal that was sent is sent again.
  if (info->si_code <= 0) raise(signal);
}

}  // namespace

ReadingHdf5::ReadingHdf5(std::string name)
    : name_(std::move(name)), before_(std::exchange(name_being_read, name_.c_str())) {}

ReadingHdf5::~ReadingHdf5() { name_being_read = before_; }

void report_crashes_of_hdf5() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their reports say more
  // Where the stack itself is full, as after a loop in a damaged tree.
  static std::array<std::byte, 1 << 16> stack;
  const stack_t alternative{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = handle_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < crash_signals.size(); ++i) sigaction(crash_signals[i], &action, &earlier_actions[i]);
#endif
}

}  // namespace thor::io
