#!/bin/sh
# run.sh [FOLDER]: a synthetic disc galaxy with an outflow and a circumgalactic medium, with light from its stars and
# its gas.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-out/galaxy}
mkdir -p "$out"
thor mock galaxy --seed 1 -o "$out/snapshot.hdf5" --overwrite
thor grid "$out/snapshot.hdf5" --size "60 kpc" --cells 128 --sources stars -o "$out/galaxy_grid.h5" --overwrite
cp "$here/galaxy.yaml" "$out/"
thor run "$out/galaxy.yaml" --overwrite
/usr/bin/python3 "$here/../grid_picture.py" "$out/galaxy_grid.h5" "$out/galaxy.h5" --axis x -o "$out/galaxy.png"
echo "wrote $out/galaxy.png"
