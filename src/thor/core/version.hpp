#pragma once

/// Identity of this build. The values are in a generated file, so that a new commit recompiles that file alone.
namespace thor {
extern const char* const version;
extern const char* const git_commit;  ///< as `git describe` names it; "unknown" outside a repository
extern const char* const compiler;    ///< name and version
extern const char* const build_type;  ///< "Release", ...
extern const char* const cxx_flags;   ///< without flags that contain paths of the build machine
}  // namespace thor
