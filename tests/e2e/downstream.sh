#!/bin/sh
# downstream.sh CMAKE SOURCE WORK PYTHON: builds examples/downstream against WORK/prefix (install.sh puts it there), and
# compares its output with the result file of the thor command.
set -eu
cmake=$1 source=$2 work=$3 python=$4
cd "$work"
rm -rf downstream
# Debug: the library is already built, and the example compiles faster.
"$cmake" -S "$source/examples/downstream" -B downstream -G Ninja -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_PREFIX_PATH="$work/prefix" > downstream.log
"$cmake" --build downstream >> downstream.log || { cat downstream.log >&2; exit 1; }
grep -q "thor_DIR:PATH=$work/prefix/" downstream/CMakeCache.txt || { echo "found another thor" >&2; exit 1; }

config=prefix/share/thor/examples/downstream/slab.yaml
printed=$(downstream/downstream $config)
echo "$printed"
[ "$python" != none ] || { echo "SKIPPED: the comparison, since no python3 has numpy and h5py" >&2; exit 77; }
prefix/bin/thor run $config --device cpu --quiet --overwrite -o slab.h5
"$python" -B - "$printed" <<'PYTHON'
import sys, h5py, numpy as np
value = dict(line.split() for line in sys.argv[1].splitlines())
with h5py.File("slab.h5") as f:
    summary = f["summary"].attrs
    fraction = summary["escaped"] / summary["photons"]
assert 0.05 < fraction < 0.95, fraction
assert float(value["escape_fraction"]) == fraction, (value, fraction)
PYTHON
