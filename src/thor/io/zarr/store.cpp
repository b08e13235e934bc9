#include "thor/io/zarr/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "thor/core/error.hpp"
#include "thor/core/message.hpp"
#include "thor/io/partial.hpp"
#include "thor/io/zarr/foreign.hpp"
#include "thor/io/zarr/zarr.hpp"

namespace thor::io::detail::zarr {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t of_small_files = 1 << 19;
constexpr const char* of_reserve = ".reserved";

}  // namespace

Store::Store(const fs::path& name, bool overwrite) : path_(target_of(name)), partial_(partial_of(path_)) {
  require_replaceable();
  require_free(path_, overwrite);
  std::error_code ignored;
  if (fs::exists(path_, ignored)) {
    if (const std::string why = why_kept(path_, false); !why.empty())
      fail(path_, why, "move or remove it, or give another name");
  }
  directory_mode_ = mode_of(path_);
  file_mode_ = mode_of(path_ / (is_array(path_) ? ".zarray" : ".zgroup"));
  const bool there = mkdir(partial_.c_str(), directory_mode_.value_or(0777)) != 0;
  if (there && errno != EEXIST) cannot_create(path_, errno);
  lock_.id = open(partial_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock_.id < 0 && there) fail(path_, "'" + partial_.string() + "' is in the way", "inspect and remove it");
  if (lock_.id < 0) cannot_create(path_, errno);
  if (flock(lock_.id, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) fail_taken(path_, partial_);
    if (there) {
      fail(path_, "'" + partial_.string() + "' already exists",
           "remove it if no run is writing it (this file system has no locks to check)");
    }
  }
  if (!lock_partial(lock_.id, partial_)) fail_taken(path_, partial_);
  if (there) clear_leftovers();
  if (directory_mode_) static_cast<void>(!fchmod(lock_.id, *directory_mode_));
  ours_ = true;
}

Store::Store(const fs::path& name) : path_(target_of(name)), partial_(partial_of(path_)), joined_(true) {
  lock_.id = open(partial_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock_.id < 0) cannot_create(partial_, errno);
}

/// A quick look, before that of why_kept().
void Store::require_replaceable() const {
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) {
    if (!is_group(path_) && !is_array(path_)) {
      fail(path_, "it is a directory but not a zarr store", "give another name");
    }
  } else if (fs::exists(path_, ignored)) {
    fail(path_, "it is a file, not a zarr store", "remove it, or give another name");
  }
}

void Store::clear_leftovers() const {
  const std::string name = "'" + partial_.string() + "'";
  std::error_code error;
  if (fs::exists(partial_ / ".zmetadata", error)) {
    fail(path_, name + " is a complete result that was not given its name", "rename it, or remove it");
  }
  if (const std::string why = why_kept(partial_, true); !why.empty()) {
    fail(path_, name + " is in the way", why + "; move or remove it");
  }
  const bool empty = fs::is_empty(partial_, error);
  for (const auto& entry : fs::directory_iterator(partial_, error)) {
    if (!error) fs::remove_all(entry.path(), error);
  }
  if (error) fail(path_, name + " is in the way", error.message() + "; remove it");
  if (!empty) message("thor: removed the contents of {}, left behind by a killed run\n", name);
}

void Store::abandon() {
  std::error_code ignored;
  if (std::exchange(ours_, false) && lock_partial(lock_.id, partial_)) fs::remove_all(partial_, ignored);
}

/// Of a file or directory in the store, which somebody may have removed, and another run made anew.
void Store::fail_at(const std::string& object, int code) const {
  require_there();
  fail(path_, "/" + object, write_error(code));
}

void Store::require_there() const {
  if (joined_ ? has_name(lock_.id, partial_) : lock_partial(lock_.id, partial_)) return;
  fail(path_, "'" + partial_.string() + "' was removed or replaced during the run", "run it again");
}

void Store::make_directory(const std::string& object) const {
  if (mkdirat(lock_.id, object.c_str(), directory_mode_.value_or(0777)) != 0) fail_at(object, errno);
  if (directory_mode_) static_cast<void>(!fchmodat(lock_.id, object.c_str(), *directory_mode_, 0));
}

void Store::put(const std::string& object, const std::string& name, std::span<const std::byte> bytes) {
  if (std::exchange(reserved_, false)) unlinkat(lock_.id, of_reserve, 0);  // for this
  const std::string file = (object.empty() ? "" : object + "/") + name;
  const int descriptor =
      openat(lock_.id, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, file_mode_.value_or(0666));
  if (descriptor >= 0 && file_mode_) static_cast<void>(!fchmod(descriptor, *file_mode_));
  int code = descriptor < 0 ? errno : 0;
  while (code == 0 && !bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno != EINTR) code = errno;
    if (done > 0) bytes = bytes.subspan(std::size_t(done));
  }
  if (descriptor >= 0 && close(descriptor) != 0 && code == 0) code = errno;
  if (code != 0) fail_at(file, code);
}

/// In a file that goes when the first other one comes; small files take a block of the disk each.
void Store::reserve(std::uint64_t bytes) {
  const Descriptor file(openat(lock_.id, of_reserve, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  reserved_ = file.id >= 0;
  if (file.id >= 0) detail::reserve(file.id, path_, bytes + of_small_files);
}

void Store::sync() {
  require_there();
  if (syncfs(lock_.id) != 0 && errno != ENOSYS) fail(path_, partial_.string(), write_error(errno));
}

void Store::commit(bool overwrite) {
  require_there();
  ours_ = false;
  std::error_code error;
  fs::path old = path_.string() + ".replaced";
  const bool replace = overwrite && fs::exists(path_, error);
  if (replace) {
    const auto keep = [&](const std::string& reason) {
      fail(path_, "the result is complete and kept as '" + partial_.string() + "'", reason);
    };
    if (is_read_only(path_)) keep("the directory of that name became read-only during the run; rename it");
    if (const std::string reason = why_kept(path_, false); !reason.empty())
      keep(reason + "; move or remove it, and rename the result");
    for (int i = 1; fs::exists(fs::symlink_status(old, error)); ++i) {
      old = path_.string() + ".replaced." + std::to_string(i);
    }
    fs::rename(path_, old, error);
    if (error) keep(error.message() + "; rename it");
  }
  try {
    give_name(path_, partial_, overwrite);
  } catch (const Error&) {
    if (replace) fs::rename(old, path_, error);
    throw;
  }
  if (!replace) return;
  fs::remove_all(old, error);
  if (error) warning("cannot remove all of the replaced '{}' ({}); remove it", old.string(), error.message());
}

}  // namespace thor::io::detail::zarr
