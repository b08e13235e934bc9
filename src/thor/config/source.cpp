#include "thor/config/source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "thor/core/error.hpp"

namespace thor::config {
namespace {

constexpr std::size_t longest = 16 << 20;
constexpr auto patience = std::chrono::seconds(2);  ///< time for a writer to open the other end of a pipe

std::string described(const std::string& path) {
  return fmt::format(": `thor info {}` says what it holds; `thor continue` adds photons to a result", path);
}

/// Reads a descriptor to its end. For a non-blocking pipe, the first empty read is not the end.
class Text {
 public:
  Text(int descriptor, const std::string& name) : descriptor_(descriptor), name_(name) {}
  ~Text() {
    if (descriptor_ > STDIN_FILENO) close(descriptor_);
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  std::string read_all() {
    std::string text;
    char block[1 << 16];
    for (const auto start = std::chrono::steady_clock::now();;) {
      const ssize_t size = ::read(descriptor_, block, sizeof(block));
      if (size > 0) {
        text.append(block, std::size_t(size));
        if (text.starts_with("\x89HDF\r\n")) fail("is an HDF5 file, not a configuration" + described(name_));
        if (text.size() > longest) fail("larger than 16 MB: not a configuration");
      } else if (size == 0) {
        const bool never_opened = text.empty() && is_pipe() && !written_to_;
        if (!never_opened) return text;
        if (std::chrono::steady_clock::now() > start + patience) fail("the pipe has no writer");
        poll(nullptr, 0, 10);
      } else if (errno == EAGAIN) {
        written_to_ = true;
        pollfd more{descriptor_, POLLIN, 0};
        poll(&more, 1, -1);
      } else if (errno != EINTR) {
        fail("cannot be read: " + std::generic_category().message(errno));
      }
    }
  }

 private:
  bool is_pipe() const {
    struct stat status {};
    return descriptor_ > STDIN_FILENO && fstat(descriptor_, &status) == 0 && S_ISFIFO(status.st_mode);
  }
  [[noreturn]] void fail(const std::string& why) const { throw Error(ExitCode::usage, name_ + ": " + why); }

  int descriptor_;
  const std::string& name_;
  bool written_to_ = false;
};

}  // namespace

std::string read_source(const std::string& path) {
  static const std::string standard_input = "<stdin>";
  if (path == "-") return Text(STDIN_FILENO, standard_input).read_all();
  const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    close(descriptor);
    throw Error(ExitCode::usage, path + ": is a directory, not a configuration file" +
                                     (path.find(".zarr") != std::string::npos ? described(path) : ""));
  }
  if (descriptor < 0) {
    throw Error(ExitCode::usage, path + ": configuration file missing or not readable (`thor init` writes one)");
  }
  return Text(descriptor, path).read_all();
}

}  // namespace thor::config
