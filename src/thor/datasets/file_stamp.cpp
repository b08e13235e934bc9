#include "thor/datasets/file_stamp.hpp"

#include <system_error>

#include "thor/core/error.hpp"

namespace thor {

FileStamp::FileStamp(const std::string& path) : path_(path) {
  std::error_code none;
  const std::filesystem::path folder = path, list = folder / ".zmetadata";
  const std::filesystem::path file = std::filesystem::exists(list, none) ? list : folder;
  written_ = std::filesystem::last_write_time(file, none),
  size_ = std::filesystem::file_size(file, none);  // or neither
}

void FileStamp::require_same() const {
  const FileStamp now(path_);
  if (now.written_ != written_ || now.size_ != size_) {
    throw Error(ExitCode::input, path_ + ": changed while it was read: run again");
  }
}

}  // namespace thor
