#!/bin/sh
# readme_galaxy.sh [FOLDER]: the picture at the top of README.md, from thirteen times as many photons as ./quickstart uses; some five
# minutes on two cores.
set -e
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../../examples
out=${1:-out/readme}
"$examples/galaxy/grid.sh" "$out"
cp "$examples/quickstart/galaxy.yaml" "$out/"
thor run "$out/galaxy.yaml" --set generators.0.photons=6e6 --set generators.1.photons=2e6 --overwrite
"${PYTHON:-/usr/bin/python3}" "$examples/quickstart/galaxy.py" "$out/galaxy.h5" -o "$here/readme_galaxy.png" --spectra --fwhm 0.15 \
  --decades 3.5 --dpi 230
