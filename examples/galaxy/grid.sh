#!/bin/sh
# grid.sh FOLDER: makes FOLDER/galaxy_grid.h5, a synthetic disc galaxy with an outflow and a circumgalactic medium, unless it
# is there. The other scripts of this folder begin with it.
set -e
mkdir -p "$1"
[ -e "$1/galaxy_grid.h5" ] && exit
thor mock galaxy --seed 1 -o "$1/snapshot.hdf5" --overwrite
thor grid "$1/snapshot.hdf5" --size "60 kpc" --cells 128 --sources stars -o "$1/galaxy_grid.h5"
