#pragma once

/// What this build is. The values are in a file that the build writes, so a new commit compiles that file alone.
namespace thor {
extern const char* const version;
extern const char* const git_commit;  ///< as `git describe` names it; "unknown" outside of a repository
extern const char* const compiler;    ///< name and version
extern const char* const build_type;  ///< "Release", ...
extern const char* const cxx_flags;   ///< without those that name a place on the machine that built it
}  // namespace thor
