#!/bin/sh
# run.sh [FOLDER]: the synthetic galaxy of ../galaxy as six observers see it, with and without dust, and a telescope at z = 2.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-out/observers}
mkdir -p "$out"
thor mock galaxy --seed 1 -o "$out/snapshot.hdf5" --overwrite
thor grid "$out/snapshot.hdf5" --size "60 kpc" --cells 128 --sources stars -o "$out/galaxy_grid.h5" --overwrite
cp "$here/observed.yaml" "$here/telescope.yaml" "$out/"
grep -v "dust:" "$here/observed.yaml" > "$out/dust_free.yaml"
thor run "$out/observed.yaml" --overwrite
thor run "$out/dust_free.yaml" -o "$out/dust_free.h5" --overwrite --set generators.0.photons=6000 --set generators.1.photons=2000
/usr/bin/python3 "$here/plot.py" "$out/observed.h5" "$out/dust_free.h5" -o "$out/observed.png"
thor run "$out/telescope.yaml" --overwrite
/usr/bin/python3 "$here/telescope.py" "$out/telescope.h5" -o "$out/telescope.png"
echo "wrote $out/observed.png and $out/telescope.png"
