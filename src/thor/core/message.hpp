#pragma once
#include <fmt/format.h>

#include <cstdio>

namespace thor {

/// A line for the user on stderr. Never throws: a message that cannot be written must not end a run.
template <class... T>
void message(fmt::format_string<T...> format, T&&... arguments) {
  const std::string text = fmt::format(format, std::forward<T>(arguments)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace thor
