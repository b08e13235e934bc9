#!/bin/sh
# projection.sh [GRID]: maps of a grid (thor grid, or your own: docs/formats.md) along an arbitrary direction, as PNG and FITS.
# DIRECTION="[0, 1, 0]" projection.sh looks from another side. Without a grid a mock galaxy is used.
set -e
here=$(cd "$(dirname "$0")" && pwd)
grid=$(realpath "${1:-galaxy_grid.h5}")
if [ $# = 0 ]; then
  thor mock galaxy -o snapshot.hdf5 --gas-particles 10000 --stars 2000 --overwrite
  thor grid snapshot.hdf5 --size "60 kpc" --cells 48 -o galaxy_grid.h5 --overwrite
fi

thor run "$here/projection.yaml" --set dataset.path="$grid" --set cameras.0.direction="${DIRECTION:-[1, 2, 3]}" \
  -o projection.h5 --overwrite
thor export projection.h5 --png --fits --overwrite    # column and velocity
