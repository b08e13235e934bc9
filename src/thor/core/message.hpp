#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

/// What thor says to the user, on stderr. Nothing here throws: a message that cannot be written must not end a run.
namespace thor {

void say(const std::string& text);

/// "thor: warning: ...", once for each text; repeat_warnings() says them again.
void say_warning(const std::string& text);

/// Those said since the last repeat_warnings(), for a file to keep.
std::vector<std::string> warnings_said();

/// At the end of a run, where those of its start have scrolled away. Forgets them.
void repeat_warnings();

/// "thor: error: ..." in front of one line, or above many.
void say_error(const std::string& text);

/// Whether stderr is a terminal that may be given colours: NO_COLOR (no-color.org) and TERM=dumb are honoured.
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
