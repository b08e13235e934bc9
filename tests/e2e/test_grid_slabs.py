"""thor grid in slabs: the same grid as in one piece, bit for bit, in as little memory as one asks for.

    /usr/bin/python3 tests/e2e/test_grid_slabs.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py. Uses data in ../shared if available.
"""

import json
import re
import resource
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import test_grid as grid  # noqa: E402
from support import (DONE, INPUT, OUTPUT, STOPPED, THOROUGH, USAGE, command_line, held, limited, main, mounted, skip_loudly,  # noqa: E402
                     text, thor, wait_for)

BLOCK = 18 * 8 + (6 + 16) * 8 + 36  # bytes of a gas element with 16 fields
OPEN = ("--centre", "5, 5, 5 kpc", "--size", "100 kpc")  # at a corner of the box, with images on all sides


def hdf5(path):
    """Every array, as bytes, and every attribute."""
    found = {}
    with h5py.File(path) as file:
        def visit(name, item):
            if isinstance(item, h5py.Dataset):
                found[name] = (item.shape, item[()].tobytes())
            for key, value in item.attrs.items():
                found[f"{name}@{key}"] = value.tolist() if hasattr(value, "tolist") else value
        visit("", file)
        file.visititems(visit)
    return found


def zarr(path):
    """The arrays of a zarr directory in the same way."""
    found = {}
    for meta in path.rglob(".zarray"):
        about = json.loads(meta.read_text())
        shape, chunk, dtype = about["shape"], about["chunks"], np.dtype(about["dtype"])
        values = np.zeros(shape, dtype)
        for index in np.ndindex(*(-(-n // c) for n, c in zip(shape, chunk))):
            data = meta.with_name(".".join(map(str, index))).read_bytes()
            if about["compressor"]:
                data = np.frombuffer(zlib.decompress(data), "u1").reshape(dtype.itemsize, -1).T.tobytes()
            place = tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, chunk))
            part = values[place]
            part[...] = np.frombuffer(data, dtype).reshape(chunk)[tuple(slice(0, n) for n in part.shape)]
        found[str(meta.parent.relative_to(path))] = (tuple(shape), values.tobytes())
    return found


class SlabCase(grid.GridCase):
    def memory(self, cells, layers, per_cell=132):
        """--memory for slabs of so many layers of a cube, for the gas of self.gas."""
        return "--memory", f"{(len(self.gas['Masses']) * BLOCK + (layers + 0.5) * cells**2 * per_cell) / 1e6!r} MB"

    def table(self):
        """What is printed after the plan, but for the name of the file."""
        return re.sub(r"\S+\.(h5|zarr)\b", "FILE", self.done.stdout[self.done.stdout.index("\ngas elements "):])

    def assert_same(self, cells, thicknesses, *options, per_cell=132, snapshot=None, extra=0):
        snapshot = snapshot or self.folder / "snap.hdf5"
        options = ("--cells", cells, "--overwrite", *options)
        whole = hdf5(self.grid(snapshot, *options))
        self.assertNotIn("slabs ", self.done.stdout)
        table = self.table()
        for layers in thicknesses:
            with self.subTest(layers=layers):
                option, size = self.memory(cells, layers, per_cell)
                size = f"{float(size.split()[0]) + extra / 1e6!r} MB"
                path = self.grid(snapshot, *options, option, size, output="slabs.h5")
                slabs = -(-cells // layers)
                self.assertRegex(self.done.stdout, rf"slabs +{slabs} of {layers} layers along x, in ")
                self.assertEqual(self.table(), table)
                found = hdf5(path)
                self.assertEqual(found.keys(), whole.keys())
                for name, value in whole.items():
                    self.assertTrue(found[name] == value, name)
                if layers != thicknesses[0] and THOROUGH == 1:
                    continue
                path = self.grid(snapshot, *options, option, size, output="slabs.zarr")
                arrays = zarr(path)
                self.assertGreater(len(arrays), 9)
                for name, value in arrays.items():
                    self.assertTrue(value == whole[name], name)
        return whole


class SameBits(SlabCase):
    def test_a_periodic_box(self):
        self.snapshot(stars=20)
        whole = self.assert_same(24, (1, 5, 23))
        other = hdf5(self.grid(self.folder / "snap.hdf5", "--cells", 24, "--f-ion", 0.011, output="other.h5"))
        self.assertNotEqual(other["dust"], whole["dust"])  # so differences are seen
        self.assertNotEqual(other["gridding/totals/dust@gridded"], whole["gridding/totals/dust@gridded"])

    def test_an_open_region(self):
        self.snapshot()
        whole = self.assert_same(24, (7, 13), *OPEN)
        self.assertGreater(whole["gridding/totals/mass@cut_off"], 0)

    def test_a_turned_region_with_sources_of_gas(self):
        self.snapshot(disc=True)
        whole = self.assert_same(24, (3, 10), "--centre", "densest", "--size", "60 kpc", "--orient", "face-on", "--subtract-bulk",
                                 "gas", "--sources", "sfr")
        self.assertGreater(whole["sources/luminosity"][0][0], 0)

    def test_single_precision_and_threads(self):
        self.snapshot()
        self.assert_same(24, (2, 9), "--precision", "single", "--threads", 3, per_cell=68)

    def test_compressed(self):
        self.snapshot()
        self.assert_same(24, (5, 16), "--compress", 4)

    def test_chunks_of_several_layers(self):
        """More than 4 MB an array: chunked in one piece too. Slabs are thinner than a chunk, and thicker."""
        self.snapshot(count=500)
        self.assert_same(104, (33, 80), "--emission", "none", per_cell=116, extra=-500 * 16)

    def test_bad_cells_are_counted_once(self):
        def spoil(gas):
            gas["Density"][[3, 50]] = np.nan
            gas["Density"][[9, 70]] = -1
        self.snapshot(edit=spoil)
        whole = self.assert_same(24, (5,), "--on-bad-cells", "floor")
        self.assertEqual(whole["gridding@bad_cells"], 4)
        self.assertEqual(whole["gridding@bad_cells_floored"], 2)
        whole = self.assert_same(24, (5,), "--on-bad-cells", "drop")
        self.assertEqual(whole["gridding@bad_cells_dropped"], 4)

    def test_empty_cells_and_warnings_are_counted_once(self):
        def thin(gas):
            gas["Masses"] *= 1e-6  # points
            gas["NeutralHydrogenAbundance"][:] = 0
            gas["ElectronAbundance"][:] = 1
            gas["StarFormationRate"][:] = 0
        self.snapshot(edit=thin)
        whole = self.assert_same(24, (4,))
        self.assertGreater(whole["gridding@empty_cells"], 5000)
        self.assertEqual(text(whole["gridding@warnings"]).count("there is no HI in the grid"), 1)
        self.assertEqual(self.done.stderr.count("there is no HI in the grid"), 1 + self.done.stderr.count("1 warning"))

    def test_nearest(self):
        self.snapshot(count=400)
        kept = 400 * (9 * 8 + 16 + 16 * 4)
        for region in ((), OPEN):
            self.assert_same(20, (1, 6), "--method", "nearest", *region, extra=kept)
            self.assertIn("in one pass over the snapshot", self.done.stdout)

    def test_real_snapshots(self):
        table, uvb = grid.DATA / "cloudy_hi_fraction.hdf5", grid.DATA / "uvb_treecool_puchwein2018.txt"
        for name, *options in (("gadget4_gas32_z2.hdf5", "--ionization", "equilibrium", "--uvb", uvb),
                               ("gadget4_gas32_z3.hdf5", "--ionization", "table", "--table", table)):
            with self.subTest(name):
                if not (grid.DATA / name).exists():
                    skip_loudly(self, f"{grid.DATA / name} is not available")
                options += ["--cells", 40, "--overwrite"]
                whole = hdf5(self.grid(grid.DATA / name, *options))
                printed = self.table()
                per_cell, gas, unit = re.search(r"\((\d+) bytes per cell, (\S+) ([kM])B for gas", self.done.stdout).groups()
                size = float(gas) * {"k": 1e-3, "M": 1}[unit] + 7.5 * 40**2 * int(per_cell) / 1e6
                found = hdf5(self.grid(grid.DATA / name, *options, "--memory", f"{size!r} MB", output="slabs.h5"))
                self.assertRegex(self.done.stdout, r"slabs +[56] of [78] layers")
                self.assertEqual(self.table(), printed)
                self.assertEqual(found, whole)


class Memory(SlabCase):
    def test_a_dry_run_tells_slabs_and_passes(self):
        snapshot = self.snapshot()
        told = thor("grid", snapshot, "--cells", 512, "--memory", "1.5 GB", "--dry-run").stdout
        slabs, layers, passes = map(int, re.search(r"slabs +(\d+) of (\d+) layers along x, in (\d+) passes", told).groups())
        self.assertEqual((slabs, passes), (-(-512 // layers), slabs))
        self.assertEqual(layers, int((1.5e9 - 3000 * BLOCK) / (512**2 * 132)))
        self.assertRegex(told, r"memory +1\.4\d GB \(132 bytes per cell")
        self.assertNotIn("slabs", thor("grid", snapshot, "--cells", 32, "--memory", "1.5 GB", "--dry-run").stdout)

    def test_too_little_for_one_layer(self):
        snapshot = self.snapshot()
        for more in ((), ("--dry-run",)):
            done = thor("grid", snapshot, "-o", self.folder / "grid.h5", "--cells", 128, "--memory", "3.2 MB", *more)
            self.assertEqual((done.returncode, done.stdout), (INPUT, ""))
            self.assertIn("needs at least 3.23 MB of memory, 2.16 MB for one layer of cells along x (132 bytes per cell)",
                          done.stderr)
            self.assertIn("--memory allows 3.2 MB", done.stderr)
        self.grid(snapshot, "--cells", 128, "--memory", "3.24 MB")
        self.assertIn("slabs        128 of 1 layers", self.done.stdout)

    def test_sizes_that_are_none(self):
        snapshot = self.snapshot()
        for size in ("2", "2 kpc", "0 GB", "-1 GB", "nan GB", "much"):
            self.grid(snapshot, "--memory", size, expect=USAGE)
            self.assertIn("--memory", self.done.stderr)

    def test_without_the_option_slabs_are_chosen_where_memory_is_short(self):
        snapshot = self.snapshot()
        whole = hdf5(self.grid(snapshot, "--cells", 112, "--threads", 1))
        self.assertNotIn("slabs ", self.done.stdout)
        at_once = []
        for megabytes in (*range(220, 320, 20), 400, 800):
            done = thor("grid", snapshot, "-o", self.folder / "short.h5", "--overwrite", "--cells", 112, "--threads", 1,
                        **limited(resource.RLIMIT_AS, megabytes << 20))
            if done.returncode == INPUT:  # a larger program: not even a layer fits
                self.assertIn("are free: use fewer --cells", done.stderr)
                continue
            self.assertEqual(done.returncode, DONE, f"{megabytes} MiB: {done.stderr}")
            at_once.append(not re.search(r"slabs +\d+ of \d+ layers", done.stdout))
            self.assertEqual(hdf5(self.folder / "short.h5"), whole)
        self.assertEqual((at_once[0], at_once[-1]), (False, True))
        self.assertEqual(at_once, sorted(at_once))

    def test_the_peak_is_what_was_asked_for(self):
        """Beside what the command takes for a small grid."""
        snapshot = self.snapshot()

        def peak(*options):
            script = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
                      "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            command = command_line("grid", snapshot, "-o", self.folder / "grid.h5", "--overwrite", "--quiet", *options)
            done = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, text=True, check=True)
            return int(done.stdout) * 1024 / 1e6
        base, slabs, whole = (peak("--cells", 8), peak("--cells", 112, "--memory", "40 MB"), peak("--cells", 112))
        print(f"\n  peak memory: {base:.0f} MB with 8^3 cells, 112^3: {slabs:.0f} MB in slabs, {whole:.0f} MB at once",
              file=sys.stderr)
        self.assertLess(slabs - base, 50)
        self.assertGreater(whole - base, 150)


class Faults(SlabCase):
    def test_errors_are_those_of_the_whole(self):
        def spoil(gas):
            gas["Density"][5] = np.nan
        snapshot = self.snapshot(edit=spoil)
        self.grid(snapshot, "--cells", 24, *self.memory(24, 5), expect=INPUT)
        self.assertIn("1 gas elements have impossible values", self.done.stderr)
        snapshot = self.snapshot()
        self.grid(snapshot, "--cells", 24, "--precision", "single", "--tolerance", 0, *self.memory(24, 5, 68), expect=INPUT)
        self.assertIn("does not conserve its input", self.done.stderr)

    def test_a_full_disk_is_found_before_the_first_pass(self):
        snapshot = self.snapshot()
        with mounted(self, self.folder / "disk", "size=4m") as disk:
            for name in ("grid.h5", "grid.zarr"):
                done = thor("grid", snapshot, "-o", disk / name, "--cells", 48, *self.memory(48, 5))
                self.assertEqual((done.returncode, done.stdout), (OUTPUT, ""), done.stderr)
                self.assertRegex(done.stderr, r"it needs \S+ MB, but 4.* are free")
                self.assertEqual(list(disk.iterdir()), [])
                self.assertEqual(thor("grid", snapshot, "-o", disk / name, "--cells", 32, *self.memory(32, 5)).returncode, DONE)
                subprocess.run(["rm", "-r", disk / name], check=True)

    def test_a_disk_that_fills_up_leaves_nothing(self):
        snapshot = self.snapshot()
        done = thor("grid", snapshot, "-o", self.folder / "grid.h5", "--cells", 48, "--compress", 1, *self.memory(48, 5),
                    **limited(resource.RLIMIT_FSIZE, 1_000_000))
        self.assertEqual(done.returncode, OUTPUT, done.stderr)
        self.assertIn("ulimit -f", done.stderr)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["snap.hdf5"])

    def stopped(self, name, written, *options, **environment):
        """The exit code of a grid that is interrupted once something is written."""
        job = subprocess.Popen(command_line("grid", self.folder / "snap.hdf5", "-o", self.folder / name, *options),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **environment)
        self.addCleanup(job.kill)
        self.assertTrue(wait_for(lambda: written(self.folder / f"{name}.partial") or job.poll() is not None))
        job.send_signal(signal.SIGINT)
        return job.wait(60)

    def test_ctrl_c_between_slabs_leaves_nothing(self):
        self.snapshot()
        self.assertEqual(self.stopped("grid.h5", Path.exists, "--cells", 24, *self.memory(24, 5), **held("writing")), STOPPED)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["snap.hdf5"])
        for cells in (112, 160, 224):  # more where a grid was done before the signal: THOR_TEST_HOLD does not hold a .zarr
            code = self.stopped("grid.zarr", lambda partial: (partial / "density/0.0.0").exists(), "--cells", cells, "--memory",
                                f"{3000 * BLOCK / 1e6 + 132e-6 * cells**2 + 0.5!r} MB", "--overwrite")
            if code != DONE:
                break
        self.assertEqual(code, STOPPED)
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name != "grid.zarr"], ["snap.hdf5"])
        self.assertEqual((self.folder / "grid.zarr").exists(), cells != 112, "what is not finished is not there")

    def test_no_meaning_for_a_cube(self):
        self.grid(grid.Cubes.cube(self), "--fields", grid.Cubes.FIELDS, "--size", "6 kpc", "--ionization", "collisional",
                  "--memory", "1 GB", expect=USAGE)
        self.assertIn("for a cube", self.done.stderr)


if __name__ == "__main__":
    main()
