#pragma once
#include <string>

/// Damage to a file that HDF5 does not survive: it follows addresses and lengths that it has not checked.
namespace thor::io {

/// From now on, a crash of a thread that reads a file with HDF5 ends the process with exit code 3 and a message that
/// names the file; other crashes go to the handlers that were there before. To be called once by a program, since a
/// library has no right to these signals.
void report_crashes_of_hdf5();

/// While it exists, this thread reads the named file with HDF5. The innermost one counts.
class ReadingHdf5 {
 public:
  explicit ReadingHdf5(std::string name);
  ~ReadingHdf5();
  ReadingHdf5(const ReadingHdf5&) = delete;
  ReadingHdf5& operator=(const ReadingHdf5&) = delete;

 private:
  std::string name_;
  const char* before_;
};

}  // namespace thor::io
