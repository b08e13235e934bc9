#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "thor/drivers/mcrt/earlier.hpp"
#include "thor/drivers/mcrt/estimate.hpp"
#include "thor/drivers/mcrt/mcrt.hpp"
#include "thor/drivers/previous.hpp"
#include "thor/io/array/output.hpp"

namespace thor {

/// The result file of a run, on a disk that has room for it.
class ResultFile {
 public:
  using Head = std::function<void(io::ArrayOutput&)>;
  /// Raw photons are in it, or in files of the ranks beside it.
  ResultFile(const config::Config& config, const Setup& setup, const RunOptions& options, Head head, bool in_parts);

  io::ArrayOutput& operator*();
  io::ArrayOutput* operator->() { return &**this; }
  /// Refuses to replace what another process has put there.
  void require_mine() const;
  /// Puts it in its place, where a later one may replace it. A checkpoint leaves the one before it beside it.
  void commit(bool is_checkpoint);
  /// Removes the files of ranks of the result that was replaced, but for those that new ones have replaced.
  void remove_old_parts(int new_ones) const;
  /// Empty, with room for all but raw photons.
  void start_again();

 private:
  void create();
  Previous previous() const;
  void forget_previous();
  void keep_previous();

  const config::Config& config_;
  const RunOptions& options_;
  Head head_;
  bool overwrite_, committed_ = false, kept_ = false, told_ = false;
  ResultSize size_;
  std::map<int, std::string> old_parts_;
  std::optional<io::ArrayOutput> file_;
};

}  // namespace thor
