#!/bin/sh
# Fuzzes the configuration reader: tests/fuzz/run.sh BUILD_DIR SECONDS
#
# Builds config_fuzz.cpp with the necessary parts of src/ into BUILD_DIR/fuzz, with clang, since libFuzzer is part of it, and
# with the address and undefined-behaviour sanitizers; compiles only what has changed. BUILD_DIR/thor (or THOR_BINARY) gives
# the templates to start from and the words to try. The corpus stays in BUILD_DIR/fuzz/corpus for the next run.
#
# Exits with 1 for a finding, which is kept as BUILD_DIR/fuzz/finding-* and tried first in the next run; with 77 without
# clang or libFuzzer. CLANGXX names another compiler, FUZZ_JOBS the number of files compiled at a time.
set -eu

if [ "${1:-}" = --compile ]; then # one file, called by xargs below: COMPILER FLAGS SOURCE OBJECT
  clang=$2 flags=$3 source=$4 object=$5
  depends=${object%.o}.d
  if [ -f "$object" ] && [ -f "$depends" ]; then
    # shellcheck disable=SC2046  # one word per file
    newer=$(find $(sed 's/^[^:]*://; s/\\$//' "$depends") -newer "$object" 2>&1 | head -n 1)
    [ -n "$newer" ] || exit 0
  fi
  # shellcheck disable=SC2086  # flags are many words
  "$clang" $flags -MMD -c "$source" -o "$object" || exit 255 # ends xargs
  exit 0
fi

[ $# -eq 2 ] || { echo "usage: $0 BUILD_DIR SECONDS" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
seconds=$2
thor=${THOR_BINARY:-$build/thor}
clang=${CLANGXX:-clang++}
fuzz=$build/fuzz
mkdir -p "$fuzz/corpus" "$fuzz/seeds" "$fuzz/objects"

skip() {
  echo "*** SKIPPED: $1: CONFIGURATIONS ARE NOT FUZZED ***" >&2
  exit 77
}
command -v "$clang" > /dev/null || skip "no $clang (Debian: clang)"
printf '#include <cstddef>\n#include <cstdint>\nextern "C" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return 0; }\n' \
  > "$fuzz/probe.cpp"
"$clang" -std=c++20 -fsanitize=fuzzer,address,undefined "$fuzz/probe.cpp" -o "$fuzz/probe" 2> "$fuzz/probe.log" ||
  skip "no libFuzzer with sanitizers for $clang (Debian: libclang-rt-14-dev), see $fuzz/probe.log"

# Sources that config::parse needs. The document generators are declared next to it, but it does not call them.
sources() {
  cd "$root"
  find src/thor/config src/thor/core -name '*.cpp' ! -name annotate.cpp ! -name json_schema.cpp ! -name markdown.cpp
  printf '%s\n' src/thor/*/parameters.cpp src/thor/drivers/config.cpp src/thor/drivers/mcrt/choose_line.cpp \
    src/thor/generators/emitter.cpp \
    src/thor/interactors/build.cpp src/thor/line/line.cpp src/thor/line/line_list.cpp tests/fuzz/config_fuzz.cpp \
    tests/fuzz/no_files.cpp
  find src/thor/outputs -name '*.cpp' ! -name tally.cpp ! -name parameters.cpp
  find src/thor/datasets -name '*.cpp' ! -name grid_file.cpp ! -name parameters.cpp
}

# The files of a folder are compiled as one, the longest first, to balance the load.
units() { sources | xargs -n 1 dirname | sort -u | tr / _; }
compile() {
  for folder in $(sources | xargs -n 1 dirname | sort -u); do
    unit=$fuzz/objects/$(echo "$folder" | tr / _)
    sources | grep "^$folder/[^/]*\$" | sed "s|.*|#include \"$root/&\"|" > "$unit.new"
    cmp -s "$unit.new" "$unit.cpp" || cp "$unit.new" "$unit.cpp"
    echo "$(sed 's/.*"\(.*\)"/\1/' "$unit.new" | xargs cat | wc -c) $unit.cpp $unit.o"
  done | sort -rn | sed 's/^[0-9]* //' |
    xargs -P "${FUZZ_JOBS:-2}" -L 1 sh "$root/tests/fuzz/run.sh" --compile "$clang" "$flags"
}

flags="-std=c++20 -O0 -gline-tables-only -ffp-contract=off -fno-omit-frame-pointer -I$root/src -I$build/generated/include"
flags="$flags -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"
begin=$(date +%s)
compile
# shellcheck disable=SC2086
"$clang" $flags -c "$build/lines.cpp" -o "$fuzz/objects/lines.o" # the line list, which CMake has made a source of
# shellcheck disable=SC2086
"$clang" $flags -c "$build/generated/dataset_types.cpp" -o "$fuzz/objects/dataset_types.o"
objects=$(units | sed "s|.*|$fuzz/objects/&.o|")
# shellcheck disable=SC2086
"$clang" -fsanitize=fuzzer,address,undefined $objects "$fuzz/objects/lines.o" "$fuzz/objects/dataset_types.o" -lfmt -lyaml-cpp -o "$fuzz/config_fuzz"
echo "fuzz: built in $(($(date +%s) - begin)) s"

# Seeds: the templates, as written and resolved, the examples, and some of YAML's corners.
for name in $("$thor" init | cut -d' ' -f1); do
  "$thor" init "$name" -o - > "$fuzz/seeds/$name.yaml"
   "$thor" check "$fuzz/seeds/$name.yaml" --no-trial 2> /dev/null | sed '/^#/d; /^$/d' > "$fuzz/seeds/$name-resolved.yaml"
done
for example in "$root"/examples/*/*.yaml; do cp "$example" "$fuzz/seeds/example-$(basename "$example")"; done
cat > "$fuzz/seeds/small.yaml" <<'END'
line: Lya
dataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1}
generators: [&a {type: point, photons: 1}, *a]
outputs: [{type: spectrum, name: "4", axis: x, range: [-1, 1], bins: 2}]
until: {output: "4", error: 2%, max_time: 1 h}
output: {path: "a: \x41\u00e9 #.h5"}
--set dataset.velocity={profile: power_law, exponent: 1, max: 1 km/s}
--set generators.0.spectrum={type: continuum, range: [1 nm, 2 nm]}
--set acceleration.core_skip.fixed=3
END

# Words: keys, choices, units, and elements of YAML and numbers.
{
  "$thor" schema --format keys | tr . '\n'
  "$thor" schema | grep -o '^ *"[a-z_0-9]*",\{0,1\}$' | tr -d ' ",'
  printf '%s\n' ' kpc' ' Angstrom' ' km/s' ' K' ' cm^-2' ' cm^-3' ' erg/s' ' Hz' ' h' '%' '1e999' '-1e-999' nan inf -0 0x1 1e308 5e-324 \
    18446744073709551616 4611686018427387904 '--set ' '--set generators.0.' '=[' '={' .h5 '&a ' '*a' '<<: ' '!!str ' '? ' '| ' \
    '>-' '---' '...' '%YAML 1.2' '~' '{}' '[]' '- '
} | sort -u | grep -v '^[0-9]*$' | sed 's/.*/"&"/' > "$fuzz/words"
printf '%s\n' '"\xff"' '"\xef\xbb\xbf"' '"\xc2\x85"' '"\xe2\x80\xa8"' '"\x00"' '"\x0d\x0a"' '"\x09"' '"\x5c\x78\x30\x30"' \
  '"\x22"' '"\x27"' '"\x0a--set "' '"\x0a  - "' >> "$fuzz/words"

failed() {
  echo "fuzz: FAILED: $1" >&2
  exit 1
}
for finding in "$fuzz"/finding-*; do
  [ -f "$finding" ] || continue
  "$fuzz/config_fuzz" -timeout=5 -rss_limit_mb=2000 "$finding" || failed "still found by $fuzz/config_fuzz $finding"
  rm "$finding"
done
"$fuzz/config_fuzz" -dict="$fuzz/words" -max_len=4096 -timeout=5 -rss_limit_mb=2000 -max_total_time="$seconds" \
  -print_final_stats=1 -artifact_prefix="$fuzz/finding-" "$fuzz/corpus" "$fuzz/seeds" 2> "$fuzz/log" || {
  grep -v -e '^#[0-9]' -e '^"' "$fuzz/log" | tail -n 80 >&2
  failed "try $fuzz/config_fuzz $(find "$fuzz" -name 'finding-*' -newer "$fuzz/words")"
}
grep -e '^stat::number_of_executed_units' -e '^stat::average' "$fuzz/log"
echo "fuzz: nothing found in $seconds s"
