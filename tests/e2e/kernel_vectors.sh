#!/bin/sh
# kernel_vectors.sh OBJECT_OR_DIRECTORY...
#
# Disassembles the pack kernels (advance_pack) and counts: the step must work in vector registers of the full width. A
# compiler that gives up on a part of it does so in silence, and the photons stay right. Checks, for each kernel object, that
#   - floating-point arithmetic is packed and in the widest registers: zmm (x86_64_v4), ymm (v3), xmm (v2), .4s/.2d (neon),
#   - scalar arithmetic of the kernel's precision is below 2 % of it,
#   - nothing is called, but for the kernel that has all schemes of `numerics` (SelectedProblem): a scheme may stay a function of
#     its own there, which no other instruction set shares (kernel_symbols.sh).
# Environment: OBJDUMP.
set -eu
[ $# -gt 0 ] || { echo "usage: kernel_vectors.sh OBJECT_OR_DIRECTORY..." >&2; exit 2; }
objects=$(for place in "$@"; do find "$place" -type f -name '*.o' -path '*thor_kernel_*.dir/*'; done | sort -u)
[ -n "$objects" ] || { echo "kernel_vectors: no kernel objects (thor_kernel_*.dir/**/*.o) under: $*" >&2; exit 1; }

bad=0
for object in $objects; do
  kernel=$(printf '%s\n' "$object" | sed 's|.*thor_kernel_\([^/]*\)\.dir/.*|\1|')
  isa=$(printf '%s\n' "$kernel" | sed 's/_[^_]*_[^_]*_[^_]*$//')
  real=${kernel##*_}
  "${OBJDUMP:-objdump}" -d --no-show-raw-insn "$object" | awk -v kernel="$kernel" -v isa="$isa" -v real="$real" '
    BEGIN {
      x86 = isa ~ /^x86/
      suffix = real == "float" ? "s" : "d"
      if (x86) {
        arithmetic = "v?(add|sub|mul|div|sqrt|min|max|fn?m(add|sub)(132|213|231))"
        packed_op = "^" arithmetic "p" suffix "$"
        scalar_op = "^" arithmetic "s" suffix "$"
        wide = isa == "x86_64_v4" ? "%zmm" : isa == "x86_64_v3" ? "%ymm" : "%xmm"
        jump = "^(call|callq)$"
      } else {
        arithmetic = "^f(add|sub|mul|div|sqrt|min|max|minnm|maxnm|mla|mls|madd|msub|nmadd|nmsub|nmul|abd)$"
        wide = real == "float" ? "\\.4s" : "\\.2d"
        scalar_register = "^" suffix "[0-9]+,"
        jump = "^(bl|blr)$"
      }
    }
    /^[0-9a-f]+ <.*>:$/ {inside = $0 ~ /advance_pack/; if (inside) found = 1; next}
    inside && NF >= 2 {
      op = $2
      operands = $0
      sub(/^[^\t]*\t[^ \t]*[ \t]*/, "", operands)
      if (op ~ /^\{/) op = $3  # {evex} and the like
      if (op ~ jump) {calls++; called = called "\n    " $0}
      else if (x86 && op ~ packed_op) {if (operands ~ wide) packed++; else narrow++}
      else if (x86 && op ~ scalar_op) scalar++
      else if (!x86 && op ~ arithmetic) {
        if (operands ~ wide) packed++
        else if (operands ~ scalar_register) scalar++
        else narrow++
      }
    }
    END {
      if (!found) {printf "%-36s no advance_pack in this object\n", kernel; exit 1}
      if (kernel ~ /_SelectedProblem_/) called = ""
      else if (calls > 0) failed = 1
      failed = failed || packed < 100 || scalar > 0.02 * packed || narrow > 0.05 * packed
      printf "%-36s %5d packed, %3d narrower, %3d scalar, %d calls%s%s\n", kernel, packed, narrow, scalar, calls,
             failed ? "  FAILED (scalar must be below 2 % of packed, narrower below 5 %, no calls)" : "", called
      exit failed
    }' || bad=1
done
exit $bad
