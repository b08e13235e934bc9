#!/bin/sh
# run.sh [FOLDER [PHOTONS]]: the halo that a wind makes of a galaxy's light in Mg II, at redshift 0.7.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-out/mgii_halo}
mkdir -p "$out"
cp "$here/halo.yaml" "$out/"
photons=${2:-300000}
thor run "$out/halo.yaml" --set generators.0.photons=$((photons * 12 / 15)) --set generators.1.photons=$((photons * 2 / 15)) \
  --set generators.2.photons=$((photons / 15)) --overwrite
"${PYTHON:-/usr/bin/python3}" "$here/plot.py" "$out/halo.h5" -o "$out/halo.png"
echo "wrote $out/halo.png"
