#!/bin/sh
# emulated.sh THOR: the binary runs on a processor without AVX (Nehalem, 2008), emulated by qemu-user, with the kernel
# for such a processor.
set -eu
thor=$1
if [ "$(uname -m)" != x86_64 ]; then
  echo "SKIPPED: not an x86-64 machine, its kernels need no emulation" >&2
  exit 77
fi
if ! command -v qemu-x86_64 > /dev/null; then
  echo "SKIPPED: no qemu-x86_64 (Debian package qemu-user)" >&2
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/c.yaml" <<YAML
line: Lya
dataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e3}
generators: [{type: point, photons: 20}]
output: {path: r.h5}
YAML
qemu-x86_64 -cpu Nehalem "$thor" devices > "$folder/devices"
cat "$folder/devices"
grep -q "x86_64_v2.*(default)" "$folder/devices"
! grep -q "x86_64_v3" "$folder/devices"
for precision in single double; do
  qemu-x86_64 -cpu Nehalem "$thor" run "$folder/c.yaml" --precision $precision --overwrite --progress never
done
