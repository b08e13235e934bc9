#!/bin/sh
# run.sh [FOLDER]: a synthetic cosmological box with galaxies; photons redshift out of the line as the universe expands.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-out/box}
mkdir -p "$out"
thor mock box --seed 1 -o "$out/snapshot.hdf5" --overwrite
thor grid "$out/snapshot.hdf5" --cells 128 --sources stars -o "$out/box_grid.h5" --overwrite
cp "$here/box.yaml" "$out/"
thor run "$out/box.yaml" --overwrite
"${PYTHON:-/usr/bin/python3}" "$here/../grid_picture.py" "$out/box_grid.h5" "$out/box.h5" -o "$out/box.png"
echo "wrote $out/box.png"
