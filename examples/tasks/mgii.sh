#!/bin/sh
# mgii.sh: a wind in Mg II, optically thin and thick: the spectrum of the doublet, and the ratio of its lines in the halo.
# PHOTONS=1000000 mgii.sh for small errors. Needs PYTHONPATH (README.md).
set -e
here=$(cd "$(dirname "$0")" && pwd)

for wind in thin:3e12 thick:1e15; do                  # column density of Mg II in cm^-2
  thor run "$here/mgii.yaml" --set generators.0.photons="${PHOTONS:-50000}" --set dataset.column_density="${wind#*:} cm^-2" \
    -o "${wind%:*}.h5" --overwrite
done
"${PYTHON:-/usr/bin/python3}" "$here/mgii.py" thin.h5 thick.h5
