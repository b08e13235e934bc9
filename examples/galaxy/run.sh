#!/bin/sh
# run.sh [FOLDER]: Lyα from a synthetic galaxy, with light from its stars and its gas.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-out/galaxy}
"$here/grid.sh" "$out"
cp "$here/galaxy.yaml" "$out/"
thor run "$out/galaxy.yaml" --overwrite
"${PYTHON:-/usr/bin/python3}" "$here/../grid_picture.py" "$out/galaxy_grid.h5" "$out/galaxy.h5" --axis x -o "$out/galaxy.png"
echo "wrote $out/galaxy.png"
