#pragma once
#include <functional>
#include <stdexcept>
#include <string>

namespace thor {

/// Exit codes of the process (docs/command-line.md).
enum class ExitCode : int {
  done = 0,
  internal = 1,
  usage = 2,       ///< bad usage or configuration
  input = 3,       ///< input data missing or bad
  device = 4,      ///< device or MPI
  stopped = 5,     ///< stopped early by a signal or limit; the partial result is written and marked
  output = 6,      ///< output that cannot be written
  unreliable = 7,  ///< finished and written, but too many photons are lost to rely on the result
};

/// An error a user can act on: the message says what is wrong and what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Called with each mistake in a configuration: the path of the key, and why its value is impossible.
using Refuse = std::function<void(const std::string& key, const std::string& why)>;

/// A Refuse that throws at the first mistake.
inline void refuse_at_once(const std::string& key, const std::string& why) {
  throw Error(ExitCode::usage, key + ": " + why);
}

}  // namespace thor
