#!/bin/sh
# package.sh CPACK BUILD SOURCE WORK VERSION: makes the Debian package, inspects it, unpacks it and runs its contents.
set -eu
cpack=$1 build=$2 source=$3 work=$4 version=$5
fail() { echo "package: $*" >&2; exit 1; }
for tool in dpkg-deb dpkg-shlibdeps file strip gzip; do
  command -v $tool > /dev/null || { echo "SKIPPED: $tool is not installed (packages dpkg, dpkg-dev, file, binutils)" >&2; exit 77; }
done
rm -rf "$work"
mkdir -p "$work"
# The fastest compression: only the content is tested.
"$cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$work" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip > "$work/cpack.log" 2>&1 ||
  { cat "$work/cpack.log" >&2; exit 1; }
cd "$work"
package=$(ls thor-rt_"$version"-1_*.deb)

control=$(dpkg-deb -I "$package")
for line in '^ Package: thor-rt$' "^ Version: $version-1\$" '^ Section: science$' '^ Conflicts: .*ruby-thor' \
    '^ Maintainer: the thor developers <' '^ Depends: .*libc6 .*libfmt9.*libhdf5.*libyaml-cpp' \
    '^ Recommends: .*python3-numpy.*python3-h5py.*python3-matplotlib'; do
  echo "$control" | grep -qE "$line" || { echo "$control" >&2; fail "no line like $line"; }
done

dpkg-deb -c "$package" > contents
for file in usr/bin/thor usr/lib/libthor.a usr/lib/cmake/thor/thorConfig.cmake usr/include/thor/drivers/mcrt/config.hpp \
    usr/lib/python3/dist-packages/thor/__init__.py usr/share/doc/thor-rt/copyright usr/share/doc/thor-rt/changelog.gz \
    usr/share/doc/thor/docs/configuration.md usr/share/thor/examples/neufeld/sphere.yaml; do
  grep -q " \./$file\$" contents || { cat contents >&2; fail "$file is missing"; }
done
! grep -vE ' \./(usr/.*)?$' contents || fail "files outside of /usr"
! grep -vE '^[^ ]+ root/root ' contents || fail "files that are not root's"

dpkg-deb -x "$package" unpacked
! grep -rlF -e "$source" -e "$build" unpacked || fail "these files name the build"
file unpacked/usr/bin/thor | grep -q ', stripped' || fail "the command is not stripped"
unpacked/usr/bin/thor --version | grep -qx "thor $version (.*)" || fail "the command in it does not run"
unpacked/usr/bin/thor run unpacked/usr/share/thor/examples/neufeld/sphere.yaml --set dataset.tau0=1e4 \
  --set generators.0.photons=1000 --quiet -o sphere.h5 || fail "the command in it does not transport"
