#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

/// A result is called NAME.partial until it is complete: a reader never sees half of it, and the file it replaces stays
/// until then. Failures are thor::Error(ExitCode::output).
namespace thor::io::detail {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what, const std::string& why);
std::string system_error(int code);
std::string write_error(int code);  ///< also what to do where the disk is full, or a limit too small

std::filesystem::path partial_of(const std::filesystem::path& path);

/// Destination of a result with this name: the target of a link of that name, so that the link stays a link.
std::filesystem::path target_of(const std::filesystem::path& path);

/// Whether what has this name is not to be replaced: a rename needs permissions of the directory only, and the
/// superuser none, so that this is looked at.
bool is_read_only(const std::filesystem::path& path);
void require_writable(const std::filesystem::path& path);

/// The permissions of what has this name, or none: what replaces it has the same.
std::optional<mode_t> mode_of(const std::filesystem::path& path);

/// Checks that the name is free (or may be replaced) and that the directory exists.
void require_free(const std::filesystem::path& path, bool overwrite);

/// Checks that the input is not the output, whatever --overwrite says.
void require_apart(const std::filesystem::path& output, const std::filesystem::path& input);

/// Also creates NAME.partial, empty: never through a link, and held by nobody else. The leftover of a killed run with
/// that name is removed. The caller must close the descriptor.
int create_partial(const std::filesystem::path& path, const std::filesystem::path& partial, bool overwrite);

/// Whether this name still refers to the open file: not to a link, nor to another file put in its place.
bool has_name(int descriptor, const std::filesystem::path& name);

/// Takes the lock that distinguishes a file being written from a leftover. False if another process was faster.
bool lock_partial(int descriptor, const std::filesystem::path& partial);

/// Reserves disk space for the first `bytes` of a file being written. If there is not enough, the error says how much
/// is needed; file systems without this feature are accepted.
void reserve(int descriptor, const std::filesystem::path& path, std::uint64_t bytes);

/// Refuses a file that must not become so long under a limit (`ulimit -f`), which a reservation does not notice.
void require_allowed(const std::filesystem::path& path, std::uint64_t bytes);

/// Free disk space where a file is [bytes]; a very large number if unknown.
double free_space(const std::filesystem::path& path);

[[noreturn]] void cannot_create(const std::filesystem::path& path, int code);
[[noreturn]] void fail_taken(const std::filesystem::path& path, const std::filesystem::path& partial);

/// Flushes data to the disk, not only to the page cache: some file systems report only now that they are full.
void sync(const std::filesystem::path& path, const std::filesystem::path& partial);

/// Renames the partial file, which gets the permissions of what it replaces. If the name has been taken meanwhile, or
/// what has it is read-only now, it is kept and the error says so.
void give_name(const std::filesystem::path& path, const std::filesystem::path& partial, bool overwrite);

/// The file before the one in this place, which is kept where it is about to be replaced by a checkpoint, for the case
/// that the disk spoils that one; none after the last. keep_previous() replaces it at once: at every moment there is
/// one. False where the disk has no links.
std::filesystem::path previous_of(const std::filesystem::path& path);
bool keep_previous(const std::filesystem::path& path);
void remove_previous(const std::filesystem::path& path);

}  // namespace thor::io::detail
