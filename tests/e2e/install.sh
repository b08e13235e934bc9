#!/bin/sh
# install.sh CMAKE BUILD SOURCE WORK VERSION PYTHON: installs into WORK/prefix, and uses the installation. The
# prefix is moved afterwards: nothing installed may contain the path where it was built or installed.
set -eu
cmake=$1 build=$2 source=$3 work=$4 version=$5 python=$6
fail() { echo "install: $*" >&2; exit 1; }
rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$work/first" > "$work/install.log"
mv "$work/first" "$work/prefix"
cd "$work/prefix"

for file in bin/thor lib*/libthor.a include/thor/drivers/mcrt/config.hpp include/thor/core/version.hpp \
    lib*/cmake/thor/thorConfig.cmake lib*/cmake/thor/thorConfigVersion.cmake lib*/cmake/thor/thorTargets.cmake \
    share/doc/thor/README.md share/doc/thor/CHANGELOG.md share/doc/thor/LICENSE share/doc/thor/CITATION.cff \
    share/doc/thor/docs/configuration.md share/thor/examples/neufeld/sphere.yaml; do
  [ -f "$file" ] || fail "$file is missing"
done
headers=$( (cd "$source/src" && find thor -name '*.hpp'; cd "$build/generated/include" && find thor -name '*.hpp') | sort)
[ "$headers" = "$(cd include && find thor -type f | sort)" ] ||
  fail "include/thor is not src/thor/**/*.hpp and generated/include/thor/**/*.hpp"
! find . -name __pycache__ -o -name '*.pyc' | grep . || fail "compiled Python files"
! grep -rIl -e "$source" -e "$build" -e "$work" . || fail "these files name the build or its place"
if grep -q '^THOR_MANUAL:BOOL=ON' "$build/CMakeCache.txt"; then
  page=share/man/man1/thor.1
  [ -s $page ] || fail "$page is missing"
  if command -v man > /dev/null; then
    warnings=$(MANROFFSEQ='' LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l $page 2>&1 > /dev/null)
    [ -z "$warnings" ] || fail "man warns: $warnings"
  fi
  bash -n share/bash-completion/completions/thor || fail "bash cannot read its completions"
  head -1 share/zsh/site-functions/_thor | grep -q '^#compdef thor' || fail "zsh ignores _thor without #compdef"
  ! command -v zsh > /dev/null || zsh -n share/zsh/site-functions/_thor || fail "zsh cannot read its completions"
fi

bin/thor --version | grep -qx "thor $version (.*)" || fail "thor --version is not $version"
bin/thor run share/thor/examples/neufeld/sphere.yaml --set dataset.tau0=1e4 --set generators.0.photons=1000 \
  --quiet -o "$work/sphere.h5" || fail "the installed command does not run"

if [ "$python" = none ]; then
  echo "install: NOT TESTED: the Python package, since no python3 has numpy and h5py" >&2
  exit 0
fi
cd "$work"
# With the prefix alone: -I ignores PYTHONPATH and the current folder.
"$python" -I -B - "$work" "$version" <<'PYTHON'
import sys
work, version = sys.argv[1:]
sys.path.insert(0, f"{work}/prefix/lib/python3/dist-packages")
import thor
assert thor.__file__.startswith(f"{work}/prefix/"), thor.__file__
assert thor.__version__ == version, f"Python says {thor.__version__}, CMake {version}"
assert thor.find_binary() == f"{work}/prefix/bin/thor", thor.find_binary()
assert thor.open(f"{work}/sphere.h5").escape_fraction()[0] == 1
PYTHON
