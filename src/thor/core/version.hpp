#pragma once

/// Identification of this build. The values are in a generated file, so that a new commit recompiles only that file.
namespace thor {
extern const char* const version;
extern const char* const git_commit;  ///< from `git describe`; "unknown" outside a repository
extern const char* const compiler;    ///< name and version
extern const char* const build_type;  ///< "Release", ...
extern const char* const cxx_flags;   ///< without those that contain paths on the build machine
}  // namespace thor
