#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "thor/core/interrupt.hpp"
#include "thor/io/descriptor.hpp"

namespace thor::io {

/// A file of bytes, called NAME.partial until commit(): a reader never sees half of it. Every failure, a full disk
/// included, is a thor::Error(ExitCode::output) that names the file; a signal ends the writing.
class FileOutput {
 public:
  /// Refuses a name that is taken (unless `overwrite`) and a directory that is missing or closed.
  FileOutput(const std::filesystem::path& path, bool overwrite);

  /// Uncommitted, the partial file is removed.
  ~FileOutput();
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;

  /// Keeps room on the disk for a file of so many bytes; an error says so now where there is not as much.
  void reserve(std::uint64_t bytes);
  void write(std::string_view bytes);
  void commit();

 private:
  std::filesystem::path path_, partial_;
  bool overwrite_;
  detail::Descriptor file_;
  std::unique_ptr<Unfinished> unfinished_;
};

}  // namespace thor::io
