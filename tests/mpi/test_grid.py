"""thor grid on several ranks, which share its slabs: the grid of one process, bit for bit.

    /usr/bin/python3 tests/mpi/test_grid.py --thor build/dev/thor [unittest arguments]
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import support  # noqa: E402
import test_grid as grid  # noqa: E402
from support import DONE, INPUT, OUTPUT, STOPPED, THOROUGH, USAGE, main, mounted, wait_for  # noqa: E402
from test_ranks import RankCase  # noqa: E402
from test_grid_slabs import OPEN, SlabCase, hdf5, zarr  # noqa: E402


class RankGridCase(SlabCase):
    def command(self, ranks, *arguments):
        launcher = [shutil.which("mpirun"), "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]
        return [*launcher, support.THOR, "grid", *map(str, arguments)]

    def on_ranks(self, ranks, output, *arguments, expect=DONE, **options):
        path = self.folder / output
        self.done = subprocess.run(self.command(ranks, self.folder / "snap.hdf5", "-o", path, *arguments, "--threads", 1),
                                   capture_output=True, text=True, timeout=120, **options)
        self.assertEqual(self.done.returncode, expect, self.done.stderr)
        return path

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())


class Same(RankGridCase):
    def assert_same_on_ranks(self, cells, how, *options):
        """`how`: numbers of ranks, and of layers for which the memory of each has room (0: all that are needed)."""
        options = ("--cells", cells, "--overwrite", *options)
        whole = hdf5(self.grid(self.folder / "snap.hdf5", *options))
        table = self.table()
        for ranks, layers in how:
            with self.subTest(ranks=ranks, layers=layers):
                memory = self.memory(cells, layers) if layers else ()
                found = hdf5(self.on_ranks(ranks, "ranks.h5", *options, *memory))
                self.assertRegex(self.done.stdout, rf"slabs +\d+ of \d+ layers along x, in .* by each of {ranks} ranks")
                self.assertEqual(self.table(), table)
                self.assertEqual(found.keys(), whole.keys())
                self.assertEqual([name for name in whole if found[name] != whole[name]], [])
                arrays = zarr(self.on_ranks(ranks, "ranks.zarr", *options, *memory))
                self.assertEqual(self.table(), table)
                self.assertEqual(arrays.keys(), {name for name in whole if "@" not in name})
                self.assertEqual([name for name in arrays if arrays[name] != whole[name]], [])
        return whole

    def test_a_periodic_box(self):
        self.snapshot(stars=20)
        whole = self.assert_same_on_ranks(24, ((2, 0), (3, 5), (3, 0), (2, 3))[:2 * THOROUGH])
        other = hdf5(self.on_ranks(2, "other.h5", "--cells", 24, "--f-ion", 0.011))
        self.assertNotEqual(other["dust"], whole["dust"], "the twin: other dust")

    def test_more_ranks_than_layers(self):
        self.snapshot()
        self.assert_same_on_ranks(2, ((3, 0),))

    def test_a_turned_region_with_sources_of_gas(self):
        self.snapshot(disc=True)
        self.assert_same_on_ranks(15, ((2, 0),), "--centre", "densest", "--size", "60 kpc", "--orient", "face-on", "--subtract-bulk", "gas",
                                  "--sources", "sfr", "--compress", 4)

    def test_nearest(self):
        self.snapshot(count=400)
        self.assert_same_on_ranks(20, ((3, 0),), "--method", "nearest", *OPEN)

    def test_bad_cells_are_counted_once(self):
        def spoil(gas):
            gas["Density"][[3, 50]] = np.nan
        self.snapshot(edit=spoil)
        whole = self.assert_same_on_ranks(16, ((2, 0),), "--on-bad-cells", "drop")
        self.assertEqual(whole["gridding@bad_cells_dropped"], 2)

    def test_a_cube_is_of_the_first_rank(self):
        cube = grid.Cubes.cube(self)
        options = ("--fields", grid.Cubes.FIELDS, "--size", "6 kpc", "--ionization", "collisional")
        whole = hdf5(self.grid(cube, *options))
        (self.folder / "snap.hdf5").write_bytes(Path(cube).read_bytes())
        found = hdf5(self.on_ranks(2, "ranks.h5", *options))
        self.assertEqual([name for name in whole if "cube" not in name and found[name] != whole[name]], [])


class Faults(RankGridCase):
    def test_bad_gas_is_told_once(self):
        def spoil(gas):
            gas["Density"][5] = np.nan
        self.snapshot(edit=spoil)
        for name, method in (("grid.h5", "kernel"), ("grid.zarr", "nearest")):
            self.on_ranks(3, name, "--cells", 24, "--method", method, expect=INPUT)
            self.assertEqual(self.done.stderr.count("1 gas elements have impossible values"), 1)
        self.on_ranks(3, "grid.h5", "--cells", "many", expect=USAGE)
        self.assertEqual(self.done.stderr.count("--cells many"), 1)
        self.assertEqual(self.names(), ["snap.hdf5"])

    def test_a_disk_that_fills_up_leaves_nothing(self):
        self.snapshot()
        with mounted(self, self.folder / "disk", "size=1m") as disk:
            for ranks, name in ((2, "grid.h5"), (3, "grid.zarr")):
                self.on_ranks(ranks, f"disk/{name}", "--cells", 48, "--compress", 1, expect=OUTPUT)
                self.assertEqual(self.done.stderr.count("free some space"), 1, self.done.stderr)
                self.assertEqual(list(disk.iterdir()), [])

    def test_a_name_that_is_taken(self):
        self.snapshot()
        (self.folder / "grid.h5").write_text("mine")
        self.on_ranks(2, "grid.h5", "--cells", 8, expect=OUTPUT)
        self.assertEqual((self.folder / "grid.h5").read_text(), "mine")
        self.assertEqual(self.names(), ["grid.h5", "snap.hdf5"])

    def test_a_signal_to_a_rank_leaves_nothing(self):
        snapshot = self.snapshot()
        for name in ("grid.h5", "grid.zarr"):
            for cells in (160, 320):  # more where a grid was done before the signal
                job = subprocess.Popen(self.command(2, snapshot, "-o", self.folder / name, "--cells", cells, "--memory", "20 MB", "--threads", 1,
                                                    "--overwrite"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                self.addCleanup(job.kill)
                ranks = RankCase.ranks_of(self, job.pid)
                self.assertTrue(wait_for(lambda: (self.folder / f"{name}.partial").exists() or job.poll() is not None))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(ranks[1], signal.SIGUSR1)
                told = job.communicate(timeout=60)[1]
                if job.returncode != DONE:
                    break
            self.assertEqual(job.returncode, STOPPED, told)
            self.assertEqual(self.names(), ["snap.hdf5"] if cells == 160 else [name, "snap.hdf5"])
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
