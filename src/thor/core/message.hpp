#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

/// Messages to the user, on stderr. Nothing here throws: a message that cannot be written must not end a run.
namespace thor {

/// Text of a file or a user, safe for a terminal: control characters, those that turn the direction of writing and
/// bytes that are not UTF-8 become \\xNN. Tabs and the ends of lines stay.
std::string printable(std::string_view text);
/// The same on one line: its ends become \\n.
std::string printable_line(std::string_view text);

/// As it is, escape codes included.
void say(const std::string& text);

/// Unless messages are not wanted.
void say_message(const std::string& text);

/// Prints "thor: warning: ...", each text only once.
void say_warning(const std::string& text);

/// The warnings since the last forget_warnings(), to be stored in a file.
std::vector<std::string> warnings_said();
void forget_warnings();

/// From here on messages are not printed, but warnings and errors are (--quiet).
void say_no_messages();
/// From here on nothing but errors is printed: of many processes one speaks.
void say_errors_only();

/// Prints "thor: error: ..." before a text of one line, or above one of several.
void say_error(const std::string& text);

/// Whether stderr is a terminal that shows colours; NO_COLOR (no-color.org) and TERM=dumb are honoured.
bool has_colors();

template <class... T>
void message(fmt::format_string<T...> format, T&&... arguments) {
  say_message(fmt::format(format, std::forward<T>(arguments)...));
}
template <class... T>
void warning(fmt::format_string<T...> format, T&&... arguments) {
  say_warning(fmt::format(format, std::forward<T>(arguments)...));
}

}  // namespace thor
