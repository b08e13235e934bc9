#!/bin/sh
# views.sh [FOLDER [PHOTONS]]: the synthetic galaxy as six observers see it: without transfer, without dust and with it. The
# picture of the documentation has a million photons; the default is 40,000. Without dust a photon lives some thirty times as
# long, and a tenth of the photons are run.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-out/galaxy}
photons=${2:-40000}
case $photons in *[!0-9]* | "" | [0-9] | [0-3][0-9]) echo "views.sh: PHOTONS: expected a whole number of at least 40" >&2; exit 2 ;; esac
share() { echo "--set generators.0.photons=$(($1 * 3 / 4)) --set generators.1.photons=$(($1 / 4))"; }
"$here/grid.sh" "$out"
cp "$here/views.yaml" "$out/"
grep -v "dust:" "$here/views.yaml" > "$out/views_dust_free.yaml"
thor run "$out/views.yaml" $(share "$photons") --overwrite
thor run "$out/views_dust_free.yaml" $(share $((photons / 10))) -o "$out/views_dust_free.h5" --overwrite
"${PYTHON:-/usr/bin/python3}" "$here/views.py" "$out/views.h5" "$out/views_dust_free.h5" -o "$out/views.png"
echo "wrote $out/views.png"
