#include "thor/io/file_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "thor/io/partial.hpp"

namespace thor::io {
namespace fs = std::filesystem;
using detail::create_partial, detail::fail, detail::fail_taken, detail::give_name, detail::lock_partial;
using detail::partial_of, detail::target_of, detail::write_error;

FileOutput::FileOutput(const fs::path& path, bool overwrite)
    : path_(target_of(path)),
      partial_(partial_of(path_)),
      overwrite_(overwrite),
      file_(create_partial(path_, partial_, overwrite)) {
  if (!lock_partial(file_.id, partial_)) fail_taken(path_, partial_);
  unfinished_ = std::make_unique<Unfinished>(partial_.string());
}

FileOutput::~FileOutput() {
  std::error_code ignored;
  if (unfinished_ && lock_partial(file_.id, partial_)) fs::remove(partial_, ignored);
}

void FileOutput::reserve(std::uint64_t bytes) {
  detail::require_allowed(path_, bytes);
  detail::reserve(file_.id, path_, bytes);
}

void FileOutput::write(std::string_view bytes) {
  while (!bytes.empty()) {
    stop_if_interrupted();
    const ssize_t written = ::write(file_.id, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, partial_.string(), write_error(errno));
    bytes.remove_prefix(std::size_t(written));
  }
}

void FileOutput::commit() {
  if (!lock_partial(file_.id, partial_)) {
    fail(path_, "'" + partial_.string() + "' was removed or replaced while it was written", "try again");
  }
  detail::sync(path_, partial_);
  unfinished_.reset();
  give_name(path_, partial_, overwrite_);
}

}  // namespace thor::io
