#include "thor/io/zarr/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "thor/core/error.hpp"
#include "thor/io/partial.hpp"
#include "thor/io/zarr/zarr.hpp"

namespace thor::io::detail::zarr {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t of_small_files = 1 << 19;

std::string why(int code) {
  const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return system_error(code) + (full ? "; free some space, or write elsewhere" : "");
}

}  // namespace

Store::Store(const fs::path& name, bool overwrite) : path_(target_of(name)), partial_(partial_of(path_)) {
  require_replaceable();
  require_free(path_, overwrite);
  const bool there = mkdir(partial_.c_str(), 0777) != 0;
  if (there && errno != EEXIST) cannot_create(path_, errno);
  lock_.id = open(partial_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock_.id < 0 && there) fail(path_, "'" + partial_.string() + "' is in the way", "look at it and remove it");
  if (lock_.id < 0) cannot_create(path_, errno);
  if (flock(lock_.id, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) fail_taken(path_, partial_);
  if (there) clear_leftovers();
  ours_ = true;
}

/// Nothing is replaced, and later removed, that is not a zarr store itself.
void Store::require_replaceable() const {
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) {
    if (!is_group(path_) && !is_array(path_)) {
      fail(path_, "it is a directory and no zarr store", "give another name");
    }
  } else if (fs::exists(path_, ignored)) {
    fail(path_, "it is a file and no zarr store", "remove it, or give another name");
  }
}

void Store::clear_leftovers() const {
  std::error_code error;
  if (!fs::is_empty(partial_, error) && !is_group(partial_)) {
    fail(path_, "'" + partial_.string() + "' is in the way", "remove it");
  }
  for (const auto& entry : fs::directory_iterator(partial_, error)) fs::remove_all(entry.path(), error);
  if (error) fail(path_, partial_.string(), error.message());
}

void Store::abandon() {
  std::error_code ignored;
  if (std::exchange(ours_, false)) fs::remove_all(partial_, ignored);
}

void Store::make_directory(const std::string& object) const {
  std::error_code error;
  fs::create_directory(partial_ / object, error);
  if (error) fail(path_, "/" + object, why(error.value()));
}

void Store::put(const std::string& object, const std::string& name, std::span<const std::byte> bytes) {
  if (!reserved_.empty()) {  // for this
    std::error_code ignored;
    fs::remove(std::exchange(reserved_, {}), ignored);
  }
  const fs::path file = partial_ / object / name;
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int code = descriptor < 0 ? errno : 0;
  while (code == 0 && !bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno != EINTR) code = errno;
    if (done > 0) bytes = bytes.subspan(std::size_t(done));
  }
  if (descriptor >= 0 && close(descriptor) != 0 && code == 0) code = errno;
  if (code != 0) fail(path_, (object.empty() ? "" : "/" + object) + "/" + name, why(code));
}

/// In a file that goes when the first other one comes; small files take a block of the disk each.
void Store::reserve(std::uint64_t bytes) {
  reserved_ = partial_ / ".reserved";
  const Descriptor file(open(reserved_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (file.id >= 0) detail::reserve(file.id, path_, bytes + of_small_files);
}

void Store::sync() {
  if (syncfs(lock_.id) != 0 && errno != ENOSYS) fail(path_, partial_.string(), why(errno));
}

void Store::commit(bool overwrite) {
  ours_ = false;
  std::error_code error;
  const fs::path old = path_.string() + ".replaced";
  const bool replace = overwrite && fs::exists(path_, error);
  if (replace) {
    require_replaceable();
    fs::rename(path_, old, error);
    if (error) fail(path_, "the result is whole and kept as '" + partial_.string() + "'", error.message());
  }
  try {
    give_name(path_, partial_, overwrite);
  } catch (const Error&) {
    if (replace) fs::rename(old, path_, error);
    throw;
  }
  if (replace) fs::remove_all(old, error);
}

}  // namespace thor::io::detail::zarr
