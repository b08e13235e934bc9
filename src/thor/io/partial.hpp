#pragma once
#include <filesystem>
#include <string>

/// A result is NAME.partial until it is whole: a reader never sees half of it, and what it replaces stays until then.
/// Failures are thor::Error(ExitCode::output).
namespace thor::io::detail {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what, const std::string& why);
std::string system_error(int code);

std::filesystem::path partial_of(const std::filesystem::path& path);

/// The name is free (or may be replaced), and the directory is there.
void require_free(const std::filesystem::path& path, bool overwrite);

/// What is read is not what is written, whatever --overwrite says.
void require_apart(const std::filesystem::path& output, const std::filesystem::path& input);

/// Also, that a file can be created in it, and that nobody else writes it.
void prepare_file(const std::filesystem::path& path, const std::filesystem::path& partial, bool overwrite);
[[noreturn]] void cannot_create(const std::filesystem::path& path, int code);
[[noreturn]] void fail_taken(const std::filesystem::path& path, const std::filesystem::path& partial);

/// Data on the disk, not only in the page cache: some file systems tell only now that they are full.
void sync(const std::filesystem::path& path, const std::filesystem::path& partial);

/// The partial file gets its name. If that was taken meanwhile, it is kept and the error says so.
void give_name(const std::filesystem::path& path, const std::filesystem::path& partial, bool overwrite);

}  // namespace thor::io::detail
