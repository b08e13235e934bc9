#include "thor/drivers/mcrt/result_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/mcrt/rank_files.hpp"
#include "thor/io/partial.hpp"

namespace thor {

ResultFile::ResultFile(const config::Config& config, const Setup& setup, const RunOptions& options, Head head,
                       bool in_parts)
    : config_(config),
      options_(options),
      head_(std::move(head)),
      overwrite_(options.overwrite),
      size_(result_size(config, setup)) {
  if (overwrite_) old_parts_ = io::parts_beside(options.output);
  create();
  if (options.replaces == Replaces::another) require_no_previous(options.output, overwrite_);
  const double free = io::detail::free_space(file_->path());
  if (!config.has_raw_photons() || in_parts) {
    file_->reserve(std::uint64_t(size_.rest));
  } else if (file_->path().extension() != ".zarr") {  // where each chunk is a file
    io::detail::require_allowed(file_->path(), std::uint64_t(size_.rest));
  }
  if (config.has_raw_photons() && free < size_.photons + size_.rest) {
    const std::string few = fmt::format("the result needs {}, but only {} are free on its disk",
                                        size_text(size_.photons + size_.rest), size_text(free));
    if (!(options.max_walltime > 0)) {
      io::detail::fail(file_->path(), few, "free some space, write elsewhere (-o), or leave out the raw photons");
    }
    warning("{}. Free some space, or write elsewhere (-o).", few);
  }
}

io::ArrayOutput& ResultFile::operator*() {
  if (!file_) create();
  return *file_;
}

void ResultFile::require_mine() const {
  if (options_.before_commit && !committed_) options_.before_commit();
}

void ResultFile::commit(bool is_checkpoint) {
  require_mine();
  if (is_checkpoint) io::detail::require_writable(io::detail::target_of(options_.output));
  const bool same_run = committed_ || options_.replaces == Replaces::this_run;
  if (is_checkpoint && same_run) {
    keep_previous();
  } else if (is_checkpoint && options_.replaces == Replaces::another) {
    forget_previous();
  }
  file_->commit(overwrite_);
  if (!is_checkpoint) forget_previous();
  overwrite_ = committed_ = true;
}

void ResultFile::remove_old_parts(int new_ones) const {
  for (const auto& [rank, name] : old_parts_) {
    std::error_code error;
    if (rank >= new_ones) std::filesystem::remove_all(name, error);
    if (error) warning("cannot remove {} of the replaced result ({}); remove it", name, error.message());
  }
}

void ResultFile::start_again() {
  file_.reset();
  try {
    create();
    file_->reserve(std::uint64_t(size_.rest));
  } catch (const Error&) {  // there may be room in the end
    file_.reset();
  }
}

/// The head goes to the disk first: what is left of a file that was damaged, or of a run that was killed, says of which
/// model it is.
void ResultFile::create() {
  file_.emplace(options_.output, overwrite_, false);
  head_(*file_);
  file_->flush();
}

/// Whether there is a checkpoint before the last, of this run or of one that this one replaces.
Previous ResultFile::previous() const {
  return kept_
             ? Previous::unfinished
             : previous_beside(options_.output, [this](const std::string& path) { return is_of_model(path, config_); });
}

/// Removes it; a file of that name that is something else stays.
void ResultFile::forget_previous() {
  const Previous found = previous();
  if (found == Previous::same_model || found == Previous::unfinished) io::detail::remove_previous(options_.output);
  if (found == Previous::same_model) {
    message("thor: removed {}, an earlier state of this result\n", io::detail::previous_of(options_.output).string());
  }
  kept_ = false;
}

/// Puts the last one in its place.
void ResultFile::keep_previous() {
  const Previous found = previous();
  if (found == Previous::none || found == Previous::same_model || found == Previous::unfinished) {
    kept_ = io::detail::keep_previous(options_.output);
  } else if (!std::exchange(told_, true)) {
    warning("{} is not a checkpoint of this run and was kept, so only the last checkpoint is stored. Move it away.",
            io::detail::previous_of(options_.output).string());
  }
}

}  // namespace thor
