#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

/// Messages to the user, on stderr. Nothing here throws: a message that cannot be written must not end a run.
namespace thor {

void say(const std::string& text);

/// Prints "thor: warning: ...", each text only once; repeat_warnings() prints them again.
void say_warning(const std::string& text);

/// The warnings since the last repeat_warnings(), to be stored in a file.
std::vector<std::string> warnings_said();

/// Prints the warnings again at the end of a run, when those of its start have scrolled away, and forgets them.
void repeat_warnings();

/// From here on nothing but errors is printed: of many processes one speaks.
void say_errors_only();

/// Prints "thor: error: ..." before a text of one line, or above one of several.
void say_error(const std::string& text);

/// Whether stderr is a terminal that shows colours; NO_COLOR (no-color.org) and TERM=dumb are honoured.
bool has_colors();

template <class... T>
void message(fmt::format_string<T...> format, T&&... arguments) {
  say(fmt::format(format, std::forward<T>(arguments)...));
}
template <class... T>
void warning(fmt::format_string<T...> format, T&&... arguments) {
  say_warning(fmt::format(format, std::forward<T>(arguments)...));
}

}  // namespace thor
