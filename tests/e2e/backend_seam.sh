#!/bin/sh
# backend_seam.sh ROOT: only a backend's own folder uses its programming interface, except for the two intrinsics in
# math/fused.hpp and the choice in parallel/device/backends.cpp.
set -eu
cd "$1"
pattern='cuda_runtime|cuda[A-Z][A-Za-z]+\(|__global__|__device__|__shared__|<<<|atomicAdd|parallel/cuda/'
grep -rlE "$pattern" src/thor/parallel/cuda > /dev/null || { echo "backend_seam: the pattern finds nothing" >&2; exit 1; }
found=$(grep -rnE "$pattern" src apps --include='*.?pp' --include='*.cu' |
        grep -vE '^src/thor/parallel/cuda/|^src/thor/core/macros.hpp:|^src/thor/parallel/device/backends.cpp:' || true)
[ -z "$found" ] || { echo "CUDA outside of parallel/cuda:" >&2; echo "$found" >&2; exit 1; }
