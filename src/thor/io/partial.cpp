#include "thor/io/partial.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "thor/core/error.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/io/descriptor.hpp"

namespace thor::io::detail {
namespace fs = std::filesystem;

namespace {

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

}  // namespace

std::string system_error(int code) { return std::generic_category().message(code); }

std::string write_error(int code) {
  const std::string text = system_error(code);
  if (code == EFBIG) return text + "; raise the limit on the size of files (ulimit -f), or write elsewhere";
  return code == ENOSPC || code == EDQUOT ? text + "; free some space, or write elsewhere" : text;
}

void fail(const fs::path& file, const std::string& what, const std::string& why) {
  throw Error(ExitCode::output, "cannot write '" + file.string() + "': " + what + ": " + why);
}

void fail_taken(const fs::path& path, const fs::path& partial) {
  fail(path, "another run is writing '" + partial.string() + "'", "wait, or use another name");
}

void cannot_create(const fs::path& path, int code) {
  if (code == ENAMETOOLONG) fail(path, system_error(code), "use a shorter one");
  fail(path, "no file can be created in '" + folder_of(path).string() + "'",
       system_error(code) + "; change its permissions, or write elsewhere");
}

fs::path partial_of(const fs::path& path) {
  fs::path partial = path;
  return partial += ".partial";
}

fs::path target_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  fs::path target = fs::weakly_canonical(path, error);
  if (error) fail(path, "it is a dangling link", error.message() + "; remove it, or give another name");
  // For a link to a file that does not exist yet, weakly_canonical may return the link itself.
  if (!fs::is_symlink(target, error)) return target;
  const fs::path next = fs::read_symlink(target, error);
  return target_of(next.is_absolute() ? next : folder_of(target) / next);
}

std::optional<mode_t> mode_of(const fs::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? std::optional<mode_t>(status.st_mode & 0777) : std::nullopt;
}

bool is_read_only(const fs::path& path) {
  const std::optional<mode_t> mode = mode_of(path);
  return mode && ((*mode & S_IWUSR) == 0 || access(path.c_str(), W_OK) != 0);
}

void require_writable(const fs::path& path) {
  if (is_read_only(path)) {
    fail(path, "it is read-only", "make it writable (chmod u+w) if it is to be replaced, or give another name");
  }
}

void require_free(const fs::path& path, bool overwrite) {
  std::error_code ignored;
  if (!overwrite && fs::exists(path, ignored)) {
    fail(path, "the file exists", "use --overwrite to replace it, or another name");
  }
  require_writable(path);
  const fs::path folder = folder_of(path);
  if (!fs::is_directory(folder, ignored)) {
    fail(path, "there is no directory '" + folder.string() + "'", "create it, or write elsewhere");
  }
}

void require_apart(const fs::path& output, const fs::path& input) {
  std::error_code ignored;
  if (fs::equivalent(output, input, ignored)) fail(output, "it is also the input", "use another name");
}

namespace {

/// Removes the leftover of a killed run, whose lock nobody holds. The lock is held here until the name is free, so that
/// no other process cleaning up at the same time mistakes the new file for the old one.
void remove_leftover(const fs::path& path, const fs::path& partial) {
  const std::string name = "'" + partial.string() + "'";
  struct stat status {};
  if (lstat(partial.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & S_IWUSR) == 0) {
    fail(path, name + " is a whole result that could not get its name", "rename it, or remove it");
  }
  const Descriptor old{open(partial.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (old.id < 0 && errno == ENOENT) return;
  if (old.id < 0 || fstat(old.id, &status) != 0 || !S_ISREG(status.st_mode)) {
    fail(path, name + " is in the way and is not a file of a run (a link, a directory?)", "inspect and remove it");
  }
  if (flock(old.id, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) fail_taken(path, partial);
    fail(path, name + " already exists", "remove it if no run is writing it (this file system has no locks to check)");
  }
  if (!has_name(old.id, partial)) return;
  if (unlink(partial.c_str()) != 0) fail(path, name + " is in the way", system_error(errno) + "; remove it");
  message("thor: removed {}, left behind by a killed run\n", name);
}

}  // namespace

int create_partial(const fs::path& path, const fs::path& partial, bool overwrite) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail(path, "it is a directory", "give a file name");
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    fail(path, "it is not a file (a device, a pipe?)", "give another name");
  }
  require_free(path, overwrite);
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::optional<mode_t> mode = mode_of(path);
    const int descriptor =
        open(partial.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode.value_or(0666));
    if (descriptor >= 0 && mode) static_cast<void>(!fchmod(descriptor, *mode));  // some disks have none
    if (descriptor >= 0) return descriptor;
    if (errno != EEXIST) cannot_create(path, errno);
    remove_leftover(path, partial);
  }
  fail_taken(path, partial);
}

bool has_name(int descriptor, const fs::path& name) {
  struct stat open_one {
  }, named{};
  return fstat(descriptor, &open_one) == 0 && lstat(name.c_str(), &named) == 0 && open_one.st_dev == named.st_dev &&
         open_one.st_ino == named.st_ino;
}

bool lock_partial(int descriptor, const fs::path& partial) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return has_name(descriptor, partial);
}

void reserve(int descriptor, const fs::path& path, std::uint64_t bytes) {
  if (fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, off_t(bytes)) == 0) return;
  if (errno != ENOSPC && errno != EDQUOT && errno != EFBIG) return;
  const int code = errno;
  fail(path, fmt::format("it needs {}, but {} are free", size_text(double(bytes)), size_text(free_space(path))),
       write_error(code));
}

void require_allowed(const fs::path& path, std::uint64_t bytes) {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes) return;
  fail(path,
       fmt::format("it needs up to {}, but `ulimit -f` allows {} per file", size_text(double(bytes)),
                   size_text(double(limit.rlim_cur))),
       "raise that limit (ulimit -f unlimited)");
}

double free_space(const fs::path& path) {
  struct statvfs disk {};
  const bool known = statvfs(folder_of(path).c_str(), &disk) == 0 && disk.f_blocks > 0;
  return known ? double(disk.f_bavail) * double(disk.f_frsize) : 1e300;
}

void sync(const fs::path& path, const fs::path& partial) {
  const Descriptor file{open(partial.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  const bool synced = file.id >= 0 && (fsync(file.id) == 0 || errno == EINVAL);
  const int code = errno;
  if (!synced) fail(path, partial.string(), system_error(code));
}

void give_name(const fs::path& path, const fs::path& partial, bool overwrite) {
  std::error_code error, none;
  const auto keep = [&] {  // a file that nobody may write to is not the leftover of a killed run
    fs::permissions(partial, fs::perms::owner_write, fs::perm_options::remove, none);
  };
  if (!overwrite && fs::exists(path, error)) {
    keep();
    fail(path, "the file appeared during the run",
         "the result is complete and kept as '" + partial.string() + "'; rename it");
  }
  if (is_read_only(path)) {
    keep();
    fail(path, "it became read-only during the run",
         "the result is complete and kept as '" + partial.string() + "'; rename it");
  }
  if (const auto mode = mode_of(path)) fs::permissions(partial, fs::perms(*mode), none);
  fs::rename(partial, path, error);
  if (!error) return;
  keep();
  fail(path, "the result is complete and kept as '" + partial.string() + "'", error.message());
}

fs::path previous_of(const fs::path& path) { return target_of(path).string() + ".previous"; }

bool keep_previous(const fs::path& path) {
  const fs::path previous = previous_of(path), next = previous.string() + ".partial";
  std::error_code error;
  fs::remove(next, error);  // of a run that was killed
  fs::create_hard_link(target_of(path), next, error);
  if (!error) fs::rename(next, previous, error);
  return !error;
}

void remove_previous(const fs::path& path) {
  const fs::path previous = previous_of(path);
  std::error_code none;
  fs::remove(previous, none);
  fs::remove(previous.string() + ".partial", none);
}

}  // namespace thor::io::detail
