#!/bin/sh
# run.sh [FOLDER]: rays through a synthetic galaxy, a synthetic cosmological box, a slab and, where it is there, the snapshot
# ../shared/data/gadget4_gas32_z3.hdf5: volume rendering, maps, the Lyα forest, tomography, the curve of growth, mean flux.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-out/rays}
python=${PYTHON:-/usr/bin/python3}
mkdir -p "$out"

if [ ! -e "$out/galaxy_grid.h5" ]; then
  thor mock galaxy --seed 1 -o "$out/galaxy.hdf5" --overwrite
  thor grid "$out/galaxy.hdf5" --size "60 kpc" --cells 128 --sources none --mass-weighted -o "$out/galaxy_grid.h5"
fi
if [ ! -e "$out/box_grid.h5" ]; then
  thor mock box --seed 1 -o "$out/box.hdf5" --overwrite
  thor grid "$out/box.hdf5" --cells 128 --sources none -o "$out/box_grid.h5"
fi
cp "$here/galaxy.yaml" "$here/box.yaml" "$here/snapshot.yaml" "$out/"
thor run "$out/galaxy.yaml" --overwrite
"$python" "$here/galaxy.py" "$out/galaxy.h5" -o "$out/rays"
thor run "$out/box.yaml" --overwrite
"$python" "$here/forest.py" "$out/box.h5" -o "$out/rays"
"$python" "$here/growth.py" -o "$out/rays_growth.png"

data=${THOR_SHARED:-$here/../../../shared}/data
if [ -e "$data/gadget4_gas32_z3.hdf5" ]; then
  "$python" "$here/heat.py" "$data/gadget4_gas32_z3.hdf5" -o "$out/warm.hdf5"
  for gas in cold warm; do
    snapshot=$out/warm.hdf5
    [ $gas = cold ] && snapshot=$data/gadget4_gas32_z3.hdf5
    thor grid "$snapshot" --cells 128 --ionization equilibrium --uvb "$data/uvb_treecool_puchwein2018.txt" --emission none \
      -o "$out/snapshot_grid.h5" --overwrite
    thor run "$out/snapshot.yaml" -o "$out/$gas.h5" --overwrite
  done
  "$python" "$here/mean_flux.py" "$out/cold.h5" "$out/warm.h5" "$out/snapshot_grid.h5" -o "$out/rays_mean_flux.png"
else
  echo "*** SKIPPED: there is no $data/gadget4_gas32_z3.hdf5: NO MEAN FLUX OF A SIMULATION ***" >&2
fi
echo "wrote $out/rays_render.png"
