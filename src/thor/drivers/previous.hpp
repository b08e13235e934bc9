#pragma once
#include <functional>
#include <string>

namespace thor {

/// What is called NAME.previous beside a result NAME.
enum class Previous {
  none,
  other,       ///< no result of thor, which stays as it is
  same_model,  ///< a result of this run's model
  unfinished,  ///< a checkpoint, or a run that was cut
  finished
};
using IsMine = std::function<bool(const std::string& path)>;  ///< whether a result is of the model of this run
/// Without that no result is.
Previous previous_beside(const std::string& result, const IsMine& is_mine = {});

/// For a new run: its result must not have a checkpoint of another one beside it, which `thor continue` would take for
/// its own. An unfinished one goes with the result that is replaced.
void require_no_previous(const std::string& result, bool overwrite);

}  // namespace thor
