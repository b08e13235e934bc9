#!/bin/sh
# shell.sh: an expanding, dusty shell around a galaxy; its Lyα spectrum and image towards an observer.
# PHOTONS=1000000 shell.sh makes a smooth image. Needs PYTHONPATH for the plots (README.md).
set -e
here=$(cd "$(dirname "$0")" && pwd)
plot="${PYTHON:-/usr/bin/python3} -m thor plot"

thor run "$here/shell.yaml" --set generators.0.photons="${PHOTONS:-20000}" -o shell.h5 --overwrite
thor export shell.h5 --fits --overwrite               # spectrum.fits, image.fits
$plot shell.h5 --name spectrum -o spectrum.png
$plot shell.h5 --name image -o image.png
