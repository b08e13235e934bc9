#!/bin/sh
# backend_seam.sh ROOT: only a backend's own folder uses its programming interface, except for what a target is in
# core/target.hpp and the choice in parallel/device/backends.cpp.
set -eu
cd "$1"
pattern='cuda_runtime|cuda[A-Z][A-Za-z]+\(|__global__|__device__|__shared__|<<<|atomicAdd|parallel/cuda/|__CUDA|__HIP|[^_]asm\(|__f(mul|maf)_rn'
grep -rlE "$pattern" src/thor/parallel/cuda > /dev/null || { echo "backend_seam: the pattern finds nothing" >&2; exit 1; }
found=$(grep -rnE "$pattern" src apps --include='*.?pp' --include='*.cu' |
        grep -vE '^src/thor/parallel/cuda/|^src/thor/core/target.hpp:|^src/thor/parallel/device/backends.cpp:' || true)
[ -z "$found" ] || { echo "CUDA outside of parallel/cuda:" >&2; echo "$found" >&2; exit 1; }
