#include "thor/core/message.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

namespace thor {
namespace {

std::mutex mutex;
bool errors_only = false;
void write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}
std::vector<std::string>& warnings() {
  static std::vector<std::string> list;
  return list;
}

std::string colored(const char* code, const std::string& text) {
  return has_colors() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}
std::string warning_line(const std::string& text) {
  return fmt::format("thor: {} {}\n", colored("33;1", "warning:"), text);
}

}  // namespace

void say(const std::string& text) {
  if (!errors_only) write(text);
}

void say_errors_only() { errors_only = true; }

void say_warning(const std::string& text) {
  {
    const std::lock_guard lock(mutex);
    if (std::find(warnings().begin(), warnings().end(), text) != warnings().end()) return;
    warnings().push_back(text);
  }
  say(warning_line(text));
}

std::vector<std::string> warnings_said() {
  const std::lock_guard lock(mutex);
  return warnings();
}

void repeat_warnings() {
  const std::lock_guard lock(mutex);
  for (const auto& text : warnings()) say(warning_line(text));
  warnings().clear();
}

void say_error(const std::string& text) {
  const bool many = text.find('\n') != std::string::npos;
  write(fmt::format("thor: {}{}{}\n", colored("31;1", "error:"), many ? "\n" : " ", text));
}

bool has_colors() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && !(no_color && *no_color) && term && std::string_view(term) != "dumb";
}

}  // namespace thor
