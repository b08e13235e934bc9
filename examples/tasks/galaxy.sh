#!/bin/sh
# galaxy.sh [SNAPSHOT]: a galaxy of a simulation in Lyα, as FITS files in sky units at z = 2.
# Without a snapshot (Gadget, AREPO, SWIFT, ...) a mock galaxy is used. PHOTONS=1000000 CELLS=128 galaxy.sh makes less noise.
set -e
here=$(cd "$(dirname "$0")" && pwd)
snapshot=${1:-snapshot.hdf5}
if [ $# = 0 ]; then thor mock galaxy -o snapshot.hdf5 --gas-particles 10000 --stars 2000 --overwrite; fi

thor info "$snapshot"                                 # units, cosmology and fields that were found
thor grid "$snapshot" --centre densest --size "60 kpc" --cells "${CELLS:-48}" --orient face-on --subtract-bulk gas \
  -o galaxy_grid.h5 --overwrite
thor run "$here/galaxy.yaml" --set dataset.path="$PWD/galaxy_grid.h5" --set generators.0.photons="${PHOTONS:-4000}" \
  -o galaxy.h5 --overwrite
thor export galaxy.h5 --fits --png --ra 150.1 --dec 2.2 --overwrite    # face, edge, ifu, fibre
