#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

/// A result is NAME.partial until it is whole: a reader never sees half of it, and what it replaces stays until then.
/// Failures are thor::Error(ExitCode::output).
namespace thor::io::detail {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what, const std::string& why);
std::string system_error(int code);

std::filesystem::path partial_of(const std::filesystem::path& path);

/// Where a result of this name goes: where a link of that name points to, so that the link stays a link.
std::filesystem::path target_of(const std::filesystem::path& path);

/// The name is free (or may be replaced), and the directory is there.
void require_free(const std::filesystem::path& path, bool overwrite);

/// What is read is not what is written, whatever --overwrite says.
void require_apart(const std::filesystem::path& output, const std::filesystem::path& input);

/// Also, NAME.partial is created, empty: never through a link, and nobody else has it. What a run that was killed left
/// behind under that name is removed. The descriptor is the caller's to close.
int create_partial(const std::filesystem::path& path, const std::filesystem::path& partial, bool overwrite);

/// Takes the lock that tells a file that is being written from a leftover. False where somebody else was faster.
bool lock_partial(int descriptor, const std::filesystem::path& partial);

/// Keeps room on the disk for the first `bytes` of a file that is being written. An error that says how much is missing
/// where there is none; file systems that cannot do it are let pass.
void reserve(int descriptor, const std::filesystem::path& path, std::uint64_t bytes);

/// Bytes that may still be written where a file lies; a very large number where that is not known.
double free_space(const std::filesystem::path& path);

[[noreturn]] void cannot_create(const std::filesystem::path& path, int code);
[[noreturn]] void fail_taken(const std::filesystem::path& path, const std::filesystem::path& partial);

/// Data on the disk, not only in the page cache: some file systems tell only now that they are full.
void sync(const std::filesystem::path& path, const std::filesystem::path& partial);

/// The partial file gets its name. If that was taken meanwhile, it is kept and the error says so.
void give_name(const std::filesystem::path& path, const std::filesystem::path& partial, bool overwrite);

}  // namespace thor::io::detail
