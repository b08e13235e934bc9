#include "thor/io/partial.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "thor/core/error.hpp"

namespace thor::io::detail {
namespace fs = std::filesystem;

namespace {

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

}  // namespace

std::string system_error(int code) { return std::generic_category().message(code); }

void fail(const fs::path& file, const std::string& what, const std::string& why) {
  throw Error(ExitCode::output, "cannot write '" + file.string() + "': " + what + ": " + why);
}

void fail_taken(const fs::path& path, const fs::path& partial) {
  fail(path, "another run is writing '" + partial.string() + "'", "wait, or use another name");
}

void cannot_create(const fs::path& path, int code) {
  fail(path, "no file can be created in '" + folder_of(path).string() + "'",
       system_error(code) + "; change its permissions, or write elsewhere");
}

fs::path partial_of(const fs::path& path) {
  fs::path partial = path;
  return partial += ".partial";
}

void require_free(const fs::path& path, bool overwrite) {
  std::error_code ignored;
  if (!overwrite && fs::exists(path, ignored)) {
    fail(path, "the file exists", "use --overwrite to replace it, or another name");
  }
  const fs::path folder = folder_of(path);
  if (!fs::is_directory(folder, ignored)) {
    fail(path, "there is no directory '" + folder.string() + "'", "create it, or write elsewhere");
  }
}

void require_apart(const fs::path& output, const fs::path& input) {
  std::error_code ignored;
  if (fs::equivalent(output, input, ignored)) fail(output, "it is what is read", "use another name");
}

void prepare_file(const fs::path& path, const fs::path& partial, bool overwrite) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail(path, "it is a directory", "give a file name");
  require_free(path, overwrite);
  const int descriptor = open(partial.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) cannot_create(path, errno);
  const bool taken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  if (taken) fail_taken(path, partial);
}

void sync(const fs::path& path, const fs::path& partial) {
  const int descriptor = open(partial.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && (fsync(descriptor) == 0 || errno == EINVAL);
  const int code = errno;
  if (descriptor >= 0) close(descriptor);
  if (!synced) fail(path, partial.string(), system_error(code));
}

void give_name(const fs::path& path, const fs::path& partial, bool overwrite) {
  std::error_code error;
  if (!overwrite && fs::exists(path, error)) {
    fail(path, "the file appeared during the run",
         "the result is whole and kept as '" + partial.string() + "'; rename it");
  }
  fs::rename(partial, path, error);
  if (error) fail(path, "the result is whole and kept as '" + partial.string() + "'", error.message());
}

}  // namespace thor::io::detail
