#!/bin/sh
# profiles.sh [FOLDER [PHOTONS]]: surface-brightness profiles of the synthetic galaxy, light of stars and of gas apart, with and
# without dust; and the light of the gas at other redshifts, and without any.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-out/galaxy}
photons=${2:-24000}
"$here/grid.sh" "$out"
gas="  - {type: gas, emission: collisional, photons: 24000, spectrum: {type: thermal}}"
cp "$here/profiles.yaml" "$out/stars_dust.yaml"
sed "s/^  - {type: sources.*/$gas/" "$out/stars_dust.yaml" > "$out/gas_dust.yaml"
for light in stars gas; do
  grep -v "dust: {" "$out/${light}_dust.yaml" > "$out/${light}_free.yaml"
  for gas in dust free; do
    thor run "$out/${light}_$gas.yaml" -o "$out/${light}_$gas.h5" --set generators.0.photons="$photons" --overwrite
  done
done
for redshift in 0.5 1 3 4 6; do
  thor run "$out/gas_dust.yaml" -o "$out/gas_z$redshift.h5" --set generators.0.photons="$photons" \
    --set sky.redshift=$redshift --overwrite
done
grep -v "^sky" "$out/gas_dust.yaml" > "$out/gas_here.yaml"
thor run "$out/gas_here.yaml" -o "$out/gas_here.h5" --set generators.0.photons="$photons" --overwrite
"${PYTHON:-/usr/bin/python3}" "$here/profiles.py" "$out" -o "$out/profiles.png"
echo "wrote $out/profiles.png"
