#!/bin/sh
# hip_arithmetic.sh FOLDER COMPILER FLAGS...: with these flags the compiler for AMD GPUs contracts no product and sum, and
# flushes denormals of single precision to zero. Twins: with other flags it does not, so that the check is one.
set -eu
folder=$1 compiler=$2
shift 2
mkdir -p "$folder"
cat > "$folder/probe.cpp" <<'PROBE'
#include <hip/hip_runtime.h>
__global__ void probe(float* x, double* y) {
  x[0] = x[0] * x[1] + x[2];
  y[0] = y[0] * y[1] + y[2];
}
PROBE
# compile FLAGS...: to probe.s
compile() { "$compiler" "$@" -Wno-unused-command-line-argument -std=c++20 --cuda-device-only -S "$folder/probe.cpp" -o "$folder/probe.s"; }
fused='v_(pk_)?fmac?_f(32|64)'  # v_mac and v_mad round twice
flushes='amdhsa_float_denorm_mode_32 0'
fail() { echo "hip_arithmetic: $*" >&2; exit 1; }

compile "$@"
! grep -qE "$fused" "$folder/probe.s" || fail "contracts: $*"
grep -q "$flushes" "$folder/probe.s" || fail "keeps denormals: $*"
compile "$@" -ffp-contract=fast
grep -qE "$fused" "$folder/probe.s" || fail "the twin does not contract"
compile "$@" -fno-gpu-flush-denormals-to-zero
! grep -q "$flushes" "$folder/probe.s" || fail "the twin flushes denormals"
