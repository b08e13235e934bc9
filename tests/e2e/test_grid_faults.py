"""User errors with thor grid, and Ctrl-C: nothing is lost, nothing is ignored silently.

    /usr/bin/python3 tests/e2e/test_grid_faults.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import test_grid as grid  # noqa: E402
from support import INPUT, OUTPUT, STOPPED, USAGE, command_line, held, main, thor, wait_for  # noqa: E402


class Mistakes(grid.GridCase):
    def test_the_input_is_not_the_output(self):
        snapshot = self.snapshot()
        before = snapshot.read_bytes()
        done = thor("grid", snapshot, "-o", snapshot, "--cells", "8", "--overwrite")
        self.assertEqual(done.returncode, OUTPUT, done.stderr)
        self.assertIn("it is also the input", done.stderr)
        self.assertEqual(snapshot.read_bytes(), before)
        cube = grid.Cubes.cube(self)
        before = cube.read_bytes()
        done = thor("grid", cube, "-o", cube, "--fields", grid.Cubes.FIELDS, "--size", "6 kpc", "--ionization", "collisional",
                    "--overwrite")
        self.assertEqual(done.returncode, OUTPUT, done.stderr)
        self.assertEqual(cube.read_bytes(), before)

    def test_kernels_of_very_many_cells(self):
        snapshot = self.snapshot()
        for size in ("1 cm", "1 au", "100 au"):
            self.grid(snapshot, "--centre", "1, 1, 1 kpc", "--size", size, "--cells", 4, expect=INPUT)
            self.assertIn("the cells are too small for this snapshot", self.done.stderr)

    def test_what_a_run_would_refuse_is_a_bad_cell(self):
        def spoil(gas):
            gas["Velocities"][5] = 4e5 / np.sqrt(grid.A)
            gas["InternalEnergy"][6] = 1e-9
            gas["InternalEnergy"][7] = 1e15
            gas["Coordinates"][8] = 50 * grid.BOX
        snapshot = self.snapshot(edit=spoil)
        self.grid(snapshot, "--cells", 8, expect=INPUT)
        for words in ("1 with velocity too large", "1 with internal energy or temperature too small",
                      "1 with internal energy or temperature too large", "1 with position too large"):
            self.assertIn(words, self.done.stderr)
        with h5py.File(self.grid(snapshot, "--cells", 8, "--on-bad-cells", "floor")) as file:
            self.assertEqual(file["gridding"].attrs["bad_cells_floored"], 1)

    def test_elements_beyond_the_box(self):
        def shift(gas):
            gas["Coordinates"][:1000] += [grid.BOX, 0, 0]
        path = self.grid(self.snapshot(edit=shift), "--cells", 16)
        self.assertIn("wrapped      1000 gas elements", self.done.stdout)
        self.assertIn("is that its size", self.done.stderr)
        other = self.grid(self.snapshot(), "--cells", 16, output="other.h5")
        with h5py.File(path) as a, h5py.File(other) as b:
            np.testing.assert_allclose(a["density"], b["density"], rtol=1e-4)

    def test_options_that_do_nothing(self):
        snapshot = self.snapshot()
        for options in (("--uvb", "x"), ("--table", "x"), ("--no-self-shielding",), ("--ion-table", "x"),
                        ("--sfr-efficiency", "2"), ("--f-ion", "nan"), ("--tolerance", "nan"),
                        ("--subtract-bulk", "1e9,0,0 km/s"), ("--subtract-bulk", "2e4,2e4,2e4 km/s"), ("--eos-temperature", "1e30 K"),
                        ("--hubble", "67.74"), ("--hubble", "0.1"), ("--omega-m", "5"), ("--rotate", ""), ("--density-floor", "1e-28"),
                        ("--temperature-floor", "30 K"), ("--metallicity", "0.02")):
            with self.subTest(options):
                self.grid(snapshot, *options, expect=USAGE)
                self.assertIn(options[0], self.done.stderr)
        cube = grid.Cubes.cube(self)
        for options in (("--rotate", "x:30"), ("--cells", "8"), ("--sources", "stars"), ("--metallicity", "0.01"),
                        ("--mass-weighted",), ("--eos-emission", "yes")):
            with self.subTest(options):
                self.grid(cube, "--fields", grid.Cubes.FIELDS, "--size", "6 kpc", "--ionization", "collisional", *options,
                          expect=USAGE)
                self.assertIn("for a cube", self.done.stderr)
        self.grid(cube, "--fields", grid.Cubes.FIELDS + ",metallicity=T", "--size", "6 kpc", "--ionization", "collisional",
                  expect=INPUT)
        self.assertIn("mass_fraction", self.done.stderr)

    def test_fields_with_too_many_columns(self):
        def widen(gas):
            gas["Density"] = np.stack([gas["Density"]] * 3, axis=1)
        self.grid(self.snapshot(edit=widen), expect=INPUT)
        self.assertIn("Density has 3 columns; 1 are expected", self.done.stderr)

    def test_stars_of_no_age_and_damaged_ones(self):
        snapshot = self.snapshot(stars=10)
        with h5py.File(snapshot, "r+") as file:
            file["PartType4/GFM_StellarFormationTime"][3] = np.nan
            file["PartType4/GFM_StellarFormationTime"][4] = 0.75
        self.grid(snapshot, "--cells", 8, expect=INPUT)
        self.assertIn("2 of 10 sources", self.done.stderr)
        with h5py.File(snapshot, "r+") as file:
            del file["PartType4/Coordinates"]
            file["PartType4/Coordinates"] = np.zeros((10, 2))
        self.grid(snapshot, "--cells", 8, expect=INPUT)

    def test_dropped_gas_does_not_shine(self):
        def spoil(gas):
            gas["StarFormationRate"][:] = 0
            gas["StarFormationRate"][:2] = [10, 3]
            gas["Density"][0] = np.nan
        path = self.grid(self.snapshot(edit=spoil), "--cells", 8, "--sources", "sfr", "--on-bad-cells", "drop")
        with h5py.File(path) as file:
            np.testing.assert_allclose(file["sources/luminosity"], [3e42])

    def test_numbered_files_that_are_not_of_one_snapshot(self):
        folder = self.folder / "many"
        folder.mkdir()
        for i in range(3):
            grid.make_snapshot(folder / f"snap.{i}.hdf5", count=100, seed=i)
        self.grid(folder, "--cells", 8, expect=INPUT)
        self.assertIn("name the one you want", self.done.stderr)
        for i in range(3):
            with h5py.File(folder / f"snap.{i}.hdf5", "r+") as file:
                file["Header"].attrs.update({"NumFilesPerSnapshot": 3, "NumPart_Total": np.array([300, 0, 0, 0, 0, 0])})
        self.grid(folder, "--cells", 8)
        with h5py.File(folder / "snap.0.hdf5", "r+") as file:
            del file["PartType0/GFM_Metallicity"]
        self.grid(folder, "--cells", 8, output="b.h5", expect=INPUT)
        self.assertIn("it has no /PartType0/GFM_Metallicity, unlike snap.1.hdf5", self.done.stderr)


class Signals(grid.GridCase):
    def test_ctrl_c_leaves_nothing_behind(self):
        snapshot = self.snapshot()
        for number in (signal.SIGINT, signal.SIGTERM):
            path = self.folder / "grid.h5"
            partial = path.with_name("grid.h5.partial")
            process = subprocess.Popen(command_line("grid", snapshot, "-o", path, "--cells", "40", "--precision", "single"),
                                       stderr=subprocess.PIPE, text=True, **held("writing"))
            self.assertTrue(wait_for(lambda: partial.exists() or process.poll() is not None))
            process.send_signal(number)
            said = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, STOPPED, said)
            self.assertIn("nothing was written", said)
            self.assertFalse(path.exists() or partial.exists())


if __name__ == "__main__":
    main()
