#!/bin/sh
# backend_seam.sh ROOT: only the folder of a backend names its programming interface, and only parallel/gpu, which is
# compiled for each of them, and core/target.hpp write in the language of GPUs. Assembler has a place in the folders of
# backends (the processor's is parallel/cpu) and in core/target.hpp.
set -eu
cd "$1"
failed=0

# outside NAME PATTERN FOLDERS: no file but those in FOLDERS has the pattern, and some of those do.
outside() {
  grep -rliE "$2" src/thor | grep -qE "$3" || { echo "backend_seam: nothing has $1" >&2; exit 1; }
  found=$(grep -rniE "$2" src apps --include='*.?pp' --include='*.cu' | grep -vE "$3" || true)
  [ -z "$found" ] && return
  echo "$1 outside of the folders of backends:" >&2
  echo "$found" >&2
  failed=1
}

outside CUDA 'cuda' '^src/thor/(parallel/cuda/|core/target\.hpp)'
outside HIP '(^|[^a-z])_*hip(_|[A-Z:/]|$)' '^src/thor/(parallel/hip/|core/target\.hpp)'
outside SYCL 'sycl' '^src/thor/(parallel/sycl/|core/target\.hpp)'
outside 'the language of GPUs' '__global__|__device__|__shared__|<<<|atomic(Add|CAS|Max|Min|Or)|__f(mul|maf)_rn|__(ballot|any)_sync|amdgcn' \
        '^src/thor/(parallel/(cuda|hip|gpu)/|core/target\.hpp)'
outside assembler '(^|[^a-z])(__)?asm(__)?( volatile)?\(' '^src/thor/(parallel/(cuda|hip|gpu|cpu)/|core/target\.hpp)'
exit $failed
