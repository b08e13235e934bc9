#include "thor/drivers/previous.hpp"

#include <filesystem>

#include "thor/core/error.hpp"
#include "thor/core/message.hpp"
#include "thor/io/array/input.hpp"
#include "thor/io/partial.hpp"

namespace thor {

Previous previous_beside(const std::string& result, const IsMine& is_mine) {
  const std::string path = io::detail::previous_of(result).string();
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return Previous::none;
  try {
    if (!std::filesystem::is_regular_file(path, none)) return Previous::other;
    const io::Input file(path);
    const auto complete = file.number("/summary", "complete");
    const auto model = file.text("/", "config");
    if (!complete || !model || !file.text("/", "thor_version")) return Previous::other;
    if (is_mine && is_mine(path)) return Previous::same_model;
    return *complete == 0 ? Previous::unfinished : Previous::finished;
  } catch (const Error&) {
    return Previous::other;
  }
}

void require_no_previous(const std::string& result, bool overwrite) {
  const std::string path = io::detail::previous_of(result).string();
  const Previous previous = previous_beside(result);
  if (previous == Previous::unfinished && overwrite) {
    io::detail::remove_previous(result);
    message("thor: removed {}, a checkpoint of the result that is replaced\n", path);
  } else if (previous == Previous::unfinished) {
    io::detail::fail(
        result, "'" + path + "' is a checkpoint of another run",
        "complete that one (`thor continue " + result + "`), remove it (--overwrite), or use another name");
  } else if (previous == Previous::finished) {
    io::detail::fail(result, "'" + path + "' is a result and has the name of a checkpoint",
                     "move it, or use another name");
  }
}

}  // namespace thor
