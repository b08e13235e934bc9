#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "thor/io/descriptor.hpp"

namespace thor::io::detail::zarr {

/// The directory that is being written, and what it takes to put files there.
class Store {
 public:
  /// The rules are those of every result (io/partial.hpp).
  Store(const std::filesystem::path& name, bool overwrite);
  /// One that another process has begun, and will commit or remove.
  explicit Store(const std::filesystem::path& name);
  ~Store() { abandon(); }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  void make_directory(const std::string& object) const;
  void put(const std::string& object, const std::string& name, std::span<const std::byte> bytes);
  void reserve(std::uint64_t bytes);  ///< of the disk, until the next put()
  void sync();                        ///< see detail::sync
  void commit(bool overwrite);

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& partial_path() const { return partial_; }

 private:
  void require_replaceable() const;
  void clear_leftovers() const;
  void abandon();
  void require_there() const;
  [[noreturn]] void fail_at(const std::string& object, int code) const;

  std::filesystem::path path_, partial_;
  std::optional<mode_t> directory_mode_, file_mode_;  ///< of what is replaced
  bool reserved_ = false;
  Descriptor lock_{-1};  ///< held while it is written; a process that dies lets go of it
  bool ours_ = false;
  bool joined_ = false;  ///< begun by another process, which has the lock
};

}  // namespace thor::io::detail::zarr
