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
bool errors_only = false, no_messages = false;
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

/// Bytes of the character of UTF-8 (RFC 3629) at the start of a text; 0 if there is none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool good = (first != 0xe0 || second >= 0xa0) && (first != 0xed || second < 0xa0);
    return good && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool good = (first != 0xf0 || second >= 0x90) && (first != 0xf4 || second < 0x90);
    return good && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// C0 and C1 control characters, the separators of lines and paragraphs, and what turns the direction of writing.
bool is_control(std::string_view c) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(c[i]); };
  if (c.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  if (c.size() == 2) return byte(0) == 0xc2 && byte(1) < 0xa0;
  if (c.size() != 3 || byte(0) != 0xe2) return false;
  const bool general = byte(1) == 0x80 && ((byte(2) >= 0xa8 && byte(2) <= 0xae) || byte(2) == 0x8e || byte(2) == 0x8f);
  return general || (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
}

std::string escaped(std::string_view text, std::string_view kept) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = character(text);
    const std::string_view c = text.substr(0, std::max<std::size_t>(size, 1));
    text.remove_prefix(c.size());
    if (size > 0 && (!is_control(c) || kept.find(c) != std::string_view::npos)) {
      out += c;
    } else if (c == "\n") {
      out += "\\n";
    } else {
      for (const char byte : c) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, "\n\t"); }
std::string printable_line(std::string_view text) { return escaped(text, "\t"); }

void say(const std::string& text) {
  if (!errors_only) write(text);
}

void say_message(const std::string& text) {
  if (!no_messages) say(printable(text));
}

void say_no_messages() { no_messages = true; }
void say_errors_only() { errors_only = true; }

void say_warning(const std::string& text) {
  const std::string shown = printable(text);
  {
    const std::lock_guard lock(mutex);
    if (std::find(warnings().begin(), warnings().end(), shown) != warnings().end()) return;
    warnings().push_back(shown);
  }
  say(fmt::format("thor: {} {}\n", colored("33;1", "warning:"), shown));
}

std::vector<std::string> warnings_said() {
  const std::lock_guard lock(mutex);
  return warnings();
}

void forget_warnings() {
  const std::lock_guard lock(mutex);
  warnings().clear();
}

void say_error(const std::string& text) {
  const bool many = text.find('\n') != std::string::npos;
  write(fmt::format("thor: {}{}{}\n", colored("31;1", "error:"), many ? "\n" : " ", printable(text)));
}

bool has_colors() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && !(no_color && *no_color) && term && std::string_view(term) != "dumb";
}

}  // namespace thor
