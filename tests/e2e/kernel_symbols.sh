#!/bin/sh
# kernel_symbols.sh OBJECT_OR_DIRECTORY...
#
# The kernels are compiled once per instruction set. The linker keeps one definition of a weak symbol (an inline function,
# a template instance), so one that two instruction sets share would run AVX-512 code on a processor without it. Checks that
#   - no weak symbol is defined in the kernel objects of two instruction sets,
#   - every weak symbol of a kernel object carries its instruction set's name, so that no other object can share it either,
#   - no kernel object calls the mathematical library.
# Kernel objects are found by name: thor_kernel_<isa>_<Problem>_<Dataset>_<real>.dir/**/*.o. Environment: NM.
set -eu
nm=${NM:-nm}
[ $# -gt 0 ] || { echo "usage: kernel_symbols.sh OBJECT_OR_DIRECTORY..." >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for place in "$@"; do find "$place" -type f -name '*.o' -path '*thor_kernel_*.dir/*'; done | sort -u > "$work/objects"
[ -s "$work/objects" ] || { echo "kernel_symbols: no kernel objects (thor_kernel_*.dir/**/*.o) under: $*" >&2; exit 1; }

# Lines "isa kind symbol object", kind in {weak, undefined}.
while read -r object; do
  kernel=$(printf '%s\n' "$object" | sed 's|.*thor_kernel_\([^/]*\)\.dir/.*|\1|')
  isa=$(printf '%s\n' "$kernel" | sed 's/_[^_]*_[^_]*_[^_]*$//')
  "$nm" "$object" > "$work/nm" || { echo "kernel_symbols: $nm cannot read $object" >&2; exit 1; }
  [ -s "$work/nm" ] || { echo "kernel_symbols: $object has no symbols" >&2; exit 1; }
  # W, V: weak; u: unique. Undefined references are w, v, U. DW.ref.* points to a runtime routine: data, the same in all.
  awk -v isa="$isa" -v object="$kernel" '
    $(NF-1) ~ /^[WVu]$/ && $NF !~ /^DW\.ref\./ {print isa, "weak", $NF, object}
    $(NF-1) ~ /^[Uwv]$/ {print isa, "undefined", $NF, object}' "$work/nm"
done < "$work/objects" > "$work/symbols"

bad=0
complain() { # title, file
  [ -s "$2" ] || return 0
  bad=1
  echo "kernel_symbols: $1:" >&2
  { if command -v c++filt > /dev/null; then c++filt; else cat; fi; } < "$2" | sed 's/^/  /' >&2
}

awk '$2 == "weak" {print $3, $1}' "$work/symbols" | sort -u |
  awk '{count[$1]++; sets[$1] = sets[$1] " " $2} END {for (s in count) if (count[s] > 1) print s, "in" sets[s]}' |
  sort > "$work/shared"
complain "weak symbols that several instruction sets define" "$work/shared"

awk '$2 == "weak" && index($3, "isa_" $1) == 0 {print $3, "in", $4}' "$work/symbols" | sort -u > "$work/nameless"
complain "weak symbols without the name of their instruction set" "$work/nameless"

functions='a?(sin|cos|tan)h?|atan2|sincos|exp|exp2|exp10|expm1|log|log2|log10|log1p|logb|ilogb|pow|sqrt|cbrt|hypot|fma'
functions="$functions|fmod|remainder|remquo|modf|frexp|ldexp|scalbl?n|ceil|floor|trunc|l?l?round|l?l?rint|nearbyint"
functions="$functions|fmin|fmax|fdim|fabs|copysign|nextafter|erfc?|[lt]gamma|j[01n]|y[01n]"
awk '$2 == "undefined" {print $3, "in", $4}' "$work/symbols" | sed 's/@[^ ]*//' |
  grep -E "^(_ZGV[^ ]*_)?(__)?($functions)[fl]?(_finite)? " | sort -u > "$work/libm" || true
complain "calls of the mathematical library" "$work/libm"

echo "kernel_symbols: $(wc -l < "$work/objects") kernel objects of: $(awk '{print $1}' "$work/symbols" | sort -u | xargs);" \
  "$(awk '$2 == "weak"' "$work/symbols" | wc -l) weak symbols defined," \
  "$(wc -l < "$work/shared") shared, $(wc -l < "$work/nameless") nameless, $(wc -l < "$work/libm") calls of libm"
echo "kernel_symbols: undefined references: $(awk '$2 == "undefined" {print $3}' "$work/symbols" | sort -u | xargs)"
exit $bad
