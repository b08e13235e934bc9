#!/bin/sh
# run.sh [FOLDER [PHOTONS]]: the two pictures of ./quickstart, sphere.png and galaxy.png, and the results that they are made of;
# PHOTONS are those of the galaxy.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-out}
photons=${2:-600000}
python=${PYTHON:-/usr/bin/python3}
case $photons in *[!0-9]* | "" | [0-9] | [0-3][0-9]) echo "run.sh: PHOTONS: expected a whole number of at least 40" >&2; exit 2 ;; esac
mkdir -p "$out"
PYTHONPATH="$here/../../python${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONPATH

thor run "$here/../neufeld/sphere.yaml" -o "$out/sphere.h5" --set generators.0.photons=$((photons * 5 / 3)) --overwrite
"$python" "$here/../neufeld/plot.py" "$out/sphere.h5" "$out/sphere.png"
echo "wrote $out/sphere.png"

"$here/../galaxy/grid.sh" "$out"
cp "$here/galaxy.yaml" "$out/"
thor run "$out/galaxy.yaml" --set generators.0.photons=$((photons * 3 / 4)) --set generators.1.photons=$((photons / 4)) --overwrite
"$python" "$here/galaxy.py" "$out/galaxy.h5" -o "$out/galaxy.png"
echo "wrote $out/galaxy.png"
