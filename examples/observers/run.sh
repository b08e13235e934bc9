#!/bin/sh
# run.sh [FOLDER]: the synthetic galaxy of ../galaxy through a telescope at z = 2.
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-out/observers}
"$here/../galaxy/grid.sh" "$out"
cp "$here/telescope.yaml" "$out/"
thor run "$out/telescope.yaml" --overwrite
"${PYTHON:-/usr/bin/python3}" "$here/telescope.py" "$out/telescope.h5" -o "$out/telescope.png"
echo "wrote $out/telescope.png"
