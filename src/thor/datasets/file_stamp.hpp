#pragma once
#include <filesystem>
#include <string>

namespace thor {

/// What changes if another file, or another folder of Zarr arrays, is put in the place of one.
class FileStamp {
 public:
  explicit FileStamp(const std::string& path);
  /// Error(input) if that has happened.
  void require_same() const;

 private:
  std::string path_;
  std::filesystem::file_time_type written_;
  std::uintmax_t size_;
};

}  // namespace thor
