#!/bin/sh
# ranks.sh: a run on 16 ranks with checkpoints, killed in the middle and continued. Needs thor with MPI (docs/ranks.md).
# RANKS and PHOTONS change it. A run of hours has --checkpoint 600; on a cluster use the job script of docs/ranks.md.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mpirun="mpirun --oversubscribe -n ${RANKS:-16}"       # --oversubscribe: more ranks than cores

rm -f ranks.h5 ranks.h5.previous
$mpirun thor run "$here/shell.yaml" --set generators.0.photons="${PHOTONS:-500000}" -o ranks.h5 --checkpoint 0.5 &
job=$!
until [ -e ranks.h5 ] || ! kill -0 $job 2> /dev/null; do sleep 0.05; done
kill $job || true                                     # killed as soon as there is a checkpoint
wait $job || true

thor info ranks.h5 | grep -E 'photons|complete'       # some of the photons, complete NO
$mpirun thor continue ranks.h5 --checkpoint 600
thor info ranks.h5 | grep -E 'photons|complete'       # all photons, complete yes
