#!/bin/sh
# run.sh [FOLDER]: the two pictures of ./quickstart, sphere.png and galaxy.png, and the results that they are made of.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-out}
python=${PYTHON:-/usr/bin/python3}
mkdir -p "$out"
PYTHONPATH="$here/../../python${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONPATH

thor run "$here/../neufeld/sphere.yaml" -o "$out/sphere.h5" --set generators.0.photons=1e6 --overwrite
"$python" "$here/../neufeld/plot.py" "$out/sphere.h5" "$out/sphere.png"

"$here/../galaxy/grid.sh" "$out"
cp "$here/galaxy.yaml" "$out/"
thor run "$out/galaxy.yaml" --overwrite
"$python" "$here/galaxy.py" "$out/galaxy.h5" -o "$out/galaxy.png"
echo "wrote $out/sphere.png, the spectrum of a sphere beside its analytic solution, and $out/galaxy.png, a galaxy in Lyα"
