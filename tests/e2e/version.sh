#!/bin/sh
# version.sh CMAKE SOURCE WORK: the commit in a build is that of the working tree at the time, and a build at the same commit
# does not rewrite the file.
set -eu
cmake=$1 script=$2/cmake/ThorVersion.cmake work=$3
git=$(command -v git) || { echo "SKIPPED: git is not installed" >&2; exit 77; }
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE  # as a hook of the real repository sets them
fail() { echo "version: $*" >&2; exit 1; }
rm -rf "$work"
mkdir -p "$work/tree"
cd "$work"
echo 'commit @THOR_GIT_COMMIT@' > version.in
write() {
  "$cmake" -DGIT_EXECUTABLE="$git" -DSOURCE_DIR="$work/tree" -DTEMPLATE="$work/version.in" -DOUTPUT="$work/version" -P "$script"
}
commit() {
  git -C tree -c user.name=thor -c user.email=thor@example.org -c commit.gpgsign=false commit -q --allow-empty -m "$1"
}
is() { [ "$(cat version)" = "commit $1" ] || fail "$(cat version), not $1"; }

write
is unknown  # even if a parent folder is a repository
git init -q tree
echo a > tree/file
git -C tree add file
commit first
write
is "$(git -C tree rev-parse --short=12 HEAD)"
touch -d '2000-01-01' version
write
[ "$(date -r version +%Y)" = 2000 ] || fail "written again at the same commit"
echo b > tree/file
write
is "$(git -C tree rev-parse --short=12 HEAD)-dirty"
git -C tree add file
commit second
write
is "$(git -C tree rev-parse --short=12 HEAD)"
