"""What the arrays of a grid file mean to a run: turbulence of cells, dust by a cross-section, units; and files with holes.

    /usr/bin/python3 tests/e2e/test_grid_fields.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py. Seeds are fixed.
"""

import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import sphere  # noqa: E402
from support import ABSORBED, INPUT, KPC, USAGE, Case, main, read_package, thor  # noqa: E402

package = read_package()
N = 8
UNITS = {"HI_density": "cm-3", "dust": "cm-3", "mine": "cm-3", "temperature": "K"}


def other_values(values):
    changed = values.copy()
    changed[0, 0, 0] *= 2
    return changed


class OnGrids(Case):
    def grid(self, name="grid.h5", **fields):
        """A box of 1 kpc around the origin, of uniform gas at rest but for the given fields; arrays may be None."""
        x, y, z = np.meshgrid(*(np.arange(N),) * 3, indexing="ij")
        arrays = {"HI_density": 1e-7 * (1 + (x + 2 * y + 3 * z) % 5), "temperature": 1e4, "velocity_x": 10.0 * (y % 3),
                  "velocity_y": 0.0, "velocity_z": -5.0 * (x % 2), **fields}
        with h5py.File(self.folder / name, "w") as file:
            file.attrs.update({"cell_size": KPC / N, **{f"origin_{axis}": -KPC / 2 for axis in "xyz"}})
            for array, values in arrays.items():
                if values is not None:
                    file[array] = np.broadcast_to(values, (N, N, N)).astype("f4")
                    file[array].attrs["units"] = UNITS.get(array, "km s-1")
        return self.folder / name

    def config(self, path, photons=300, **dataset):
        return {**sphere(1, photons), "dataset": {"type": "uniform_grid", "path": str(path), **dataset}}

    def spectrum(self, path, **dataset):
        operator = {"type": "absorption", "name": "forest", "line": "Lya", "bins": 400, "range": ["-200 km/s", "200 km/s"],
                    "sightlines": {"random": 5}}
        config = {"driver": "raytrace", "seed": 1, "dataset": {"type": "uniform_grid", "path": str(path), **dataset},
                  "operators": [operator], "output": {"path": "out.h5"}}
        with package.open(self.run_thor(config)) as result:
            return np.array(result.absorption["forest"].tau)

    def refuse(self, config, *words, expect=INPUT):
        """By a check and by a run, in the same words."""
        for command in ("check", "run"):
            done = thor(command, self.write(config))
            self.assertEqual(done.returncode, expect, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)


class Turbulence(OnGrids):
    def test_is_that_of_the_key(self):
        """An array of one value gives the photons of a run with that key, bit for bit; both add in quadrature."""
        plain, turbulent = self.grid(), self.grid("turbulent.h5", b_turb=20.0)
        for packed in (False, True):
            truth = self.run_photons(self.config(plain, b_turb="20 km/s", packed=packed))
            self.assert_identical(truth, self.run_photons(self.config(turbulent, packed=packed)), f"packed: {packed}")
            twin = self.run_photons(self.config(plain, b_turb="21 km/s", packed=packed))
            self.assertFalse(np.array_equal(truth["velocity_final"], twin["velocity_final"]), "the twin")
            self.assert_identical(self.run_photons(self.config(plain, b_turb="25 km/s", packed=packed)),
                                  self.run_photons(self.config(turbulent, b_turb="15 km/s", packed=packed)))

    def test_in_parts(self):
        turbulent = self.grid("turbulent.h5", b_turb=np.arange(N)[:, None, None] * 5.0)
        self.assert_identical(self.run_photons(self.config(turbulent)),
                              self.run_photons(self.config(turbulent), "--domains", "2"))

    def test_of_absorption(self):
        plain, turbulent = self.grid(), self.grid("turbulent.h5", b_turb=20.0)
        for more in ({}, {"b_turb": "15 km/s"}):
            truth = self.spectrum(plain, b_turb="25 km/s" if more else "20 km/s")
            error = np.max(np.abs(self.spectrum(turbulent, **more) - truth)) / np.max(truth)
            self.assertLess(error, 1e-4)
            twin = np.max(np.abs(self.spectrum(plain, b_turb="20.1 km/s") - truth)) / np.max(truth)
            self.assertGreater(twin, 1e-3)

    def test_differs_from_cell_to_cell(self):
        """A ray through each row of cells along x finds the width of that row."""
        rows = 5.0 * np.arange(N)
        turbulent = self.grid("turbulent.h5", HI_density=1e-9, velocity_x=0, velocity_z=0, b_turb=rows[None, :, None])
        config = {"driver": "raytrace", "seed": 1, "dataset": {"type": "uniform_grid", "path": str(turbulent)},
                  "operators": [{"type": "absorption", "name": "forest", "line": "Lya", "bins": 2000,
                                 "range": ["-300 km/s", "300 km/s"],
                                 "sightlines": {"list": [{"position": ["-0.5 kpc", f"{(k + 0.5) / N - 0.5} kpc", "0.01 kpc"],
                                                          "direction": [1, 0, 0]} for k in range(N)]}}],
                  "output": {"path": "out.h5"}}
        with package.open(self.run_thor(config)) as result:
            forest = result.absorption["forest"]
            for k in range(N):
                variance = np.average(forest.centers**2, weights=forest.tau[k])
                self.assertAlmostEqual(np.sqrt(2 * variance), np.hypot(12.845, rows[k]), delta=0.4)

    def test_values_that_cannot_be(self):
        for value, word in ((-1.0, "b_turb = -1"), (np.nan, "b_turb = nan"), (4e4, "b_turb = 40000")):
            array = np.zeros((N, N, N))
            array[1, 2, 3] = value
            path = self.grid("bad.h5", b_turb=array)
            self.refuse(self.config(path), "1 of 512 cells are bad, the first is [1, 2, 3]", word)
            self.run_thor(self.config(path, photons=10, bad_cells="drop"))

    def test_units_are_needed_and_isotopes_refused(self):
        path = self.grid("turbulent.h5", b_turb=20.0)
        self.refuse({**self.config(path), "physics": {"deuterium": 3e-5}}, "b_turb", "isotopes", expect=USAGE)
        with h5py.File(path, "r+") as file:
            del file["b_turb"].attrs["units"]
        self.refuse(self.config(path), "array b_turb has no attribute units")

    def test_of_a_cube(self):
        cube = self.folder / "cube.h5"
        with h5py.File(cube, "w") as file:
            for name in ("n", "T", "b"):
                file[name] = np.full((4, 4, 4), {"n": 1e-6, "T": 1e4, "b": 3e6}[name])
        done = thor("grid", cube, "-o", self.folder / "made.h5", "--size", "1 kpc", "--fields",
                    "HI_density=n:1/cm3,temperature=T:K,velocity_x=0,velocity_y=0,velocity_z=0,b_turb=b:cm/s", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, r"^wrote +\S+made.h5: 4 x 4 x 4 cells with HI_density, b_turb, temperature, .*\n$")
        with h5py.File(self.folder / "made.h5") as file:
            np.testing.assert_allclose(file["b_turb"], 30)
            self.assertEqual(file["b_turb"].attrs["units"], b"km s-1")


class Dust(OnGrids):
    SIGMA = 1.5e-21

    def escaped(self, path, sigma, photons=4000, **keys):
        result = self.run_photons(self.config(path, photons=photons, dust={"cross_section": f"{sigma!r} cm^2", "albedo": 0}, **keys))
        return np.count_nonzero(result["fate"] != ABSORBED)

    def test_extinction(self):
        """A point source in the middle of a dusty box: the share that escapes is the mean of exp(-sigma n s)."""
        density = 0.4 / (self.SIGMA * KPC)
        path = self.grid(HI_density=1e-18, velocity_x=0, velocity_z=0, dust=density)
        direction = np.random.default_rng(1).normal(size=(200000, 3))
        length = 0.5 * KPC * np.linalg.norm(direction, axis=1) / np.max(np.abs(direction), axis=1)
        expected = np.mean(np.exp(-self.SIGMA * density * length))
        self.assert_share(self.escaped(path, self.SIGMA), 4000, expected)
        with self.assertRaises(AssertionError, msg="the twin"):
            self.assert_share(self.escaped(path, 1.3 * self.SIGMA), 4000, expected)

    def test_of_another_array(self):
        """The cross-section multiplies the array that dust_field names, that of the absorber included."""
        density = np.broadcast_to(1e-5 * (1 + np.arange(N)), (N, N, N))
        path = self.grid(HI_density=density, dust=density, mine=density)
        truth = self.run_photons(self.config(path, dust={"cross_section": "1e-17 cm^2"}))
        for field in ("HI_density", "mine"):
            self.assert_identical(truth, self.run_photons(self.config(path, dust={"cross_section": "1e-17 cm^2"}, dust_field=field)))
        self.assertGreater(np.count_nonzero(truth["fate"] == ABSORBED), 0)

    def test_refusals(self):
        path = self.grid()
        free = {"cross_section": "1e-21 cm^2"}
        self.refuse(self.config(path, dust=free), 'no array "dust"', "dust_field")
        self.refuse(self.config(path, dust_field="HI_density"), "dataset.dust_field", "dataset.dust,", expect=USAGE)
        self.refuse(self.config(path, dust=free, dust_field="HI_dens"), 'no array "HI_dens"', "HI_density")
        self.refuse(self.config(path, dust={**free, "law": "SMC"}), "cross_section", expect=USAGE)
        self.refuse(self.config(path, dust={"cross_section": "1e-21 cm"}), "cross-section", expect=USAGE)
        self.refuse(sphere(1, 10, dust=free), "dust.cross_section", "give `tau`", expect=USAGE)


class Units(OnGrids):
    def change(self, array, **attributes):
        path = self.grid()
        with h5py.File(path, "r+") as file:
            for name, value in attributes.items():
                if value is None:
                    del file[array].attrs[name]
                else:
                    file[array].attrs[name] = value
        return self.config(path)

    def test_numbers_and_lists_are_no_units(self):
        self.refuse(self.change("HI_density", units=1e-3), "array HI_density", "the number 0.001", "expected a text")
        self.refuse(self.change("velocity_x", units=["km/s", "cm/s"]), "array velocity_x", "not a text")
        self.refuse(self.change("temperature", units=np.arange(3)), "array temperature", "expected a text")

    def test_two_that_contradict_each_other(self):
        self.refuse(self.change("HI_density", unit="m-3"), 'units "cm-3" and unit "m-3" contradict each other')
        self.refuse(self.change("HI_density", units=None, Units="m-3"), 'Units "m-3", which is not read: name it units')
        self.run_thor(self.change("velocity_x", unit="km/s"))  # another spelling of the same


class Holes(OnGrids):
    """HDF5 gives zeros for what is not there: nothing is to run on them."""

    def hole(self, make):
        path = self.grid(HI_density=None)
        with h5py.File(path, "r+") as file:
            make(file)
            file["HI_density"].attrs["units"] = "cm-3"
        return self.config(path)

    def test_chunks(self):
        def make(file):
            data = file.create_dataset("HI_density", (N, N, N), "f4", chunks=(4, 4, 4))
            data[:4] = 1e-7
        config = self.hole(make)
        self.refuse(config, "grid.h5", "'HI_density'", "4 of 8 chunks were never written", "copy or make the file again")
        camera = {"name": "z", "direction": [0, 0, 1], "width": "1 kpc", "pixels": 8}
        projection = {"driver": "raytrace", "dataset": config["dataset"], "cameras": [camera], "output": {"path": "o.h5"},
                      "operators": [{"type": "projection", "name": "gas", "camera": "z", "field": "HI_density"}]}
        done = thor("run", self.write(projection))
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertIn("chunks were never written", done.stderr)

    def test_an_array_that_was_never_written(self):
        self.refuse(self.hole(lambda file: file.create_dataset("HI_density", (N, N, N), "f4")), "'HI_density'", "never written")

    def test_sources_of_a_virtual_array(self):
        def make(file):
            layout = h5py.VirtualLayout((N, N, N), "f4")
            for k in range(2):
                with h5py.File(self.folder / f"part{k}.h5", "w") as part:
                    part["n"] = np.full((N // 2, N, N), 1e-7, "f4")
                layout[k * N // 2:(k + 1) * N // 2] = h5py.VirtualSource(f"part{k}.h5", "n", shape=(N // 2, N, N))
            file.create_virtual_dataset("HI_density", layout)
        config = self.hole(make)
        self.run_thor(config)
        (self.folder / "part1.h5").unlink()
        self.refuse(config, "'HI_density'", "'part1.h5'", "missing or damaged; copy it beside this one")

    def test_values_that_have_changed_in_another_file(self):
        """A run is not continued with other gas than that of its beginning, wherever the grid keeps it."""
        raw, linked = self.folder / "raw.bin", self.folder / "linked.h5"
        values = np.full((N, N, N), 1e-7, "f4")
        raw.write_bytes(values.tobytes())

        def virtual(file):
            layout = h5py.VirtualLayout((N, N, N), "f4")
            layout[:] = h5py.VirtualSource("linked.h5", "n", shape=(N, N, N))
            file.create_virtual_dataset("HI_density", layout)

        def virtual_of_a_link(file):
            with h5py.File(self.folder / "middle.h5", "w") as middle:
                middle["n"] = h5py.ExternalLink("linked.h5", "n")
            layout = h5py.VirtualLayout((N, N, N), "f4")
            layout[:] = h5py.VirtualSource("middle.h5", "n", shape=(N, N, N))
            file.create_virtual_dataset("HI_density", layout)

        def external(file):
            file.create_dataset("HI_density", (N, N, N), "f4", external=[(str(raw), 0, h5py.h5f.UNLIMITED)])

        def link(file):
            file["HI_density"] = h5py.ExternalLink("linked.h5", "n")

        for make in (virtual, virtual_of_a_link, external, link):
            with self.subTest(make.__name__), h5py.File(linked, "w") as other:
                other["n"] = values
                other["n"].attrs["units"] = "cm-3"
                other.close()
                raw.write_bytes(values.tobytes())
                spectrum = {"type": "spectrum", "name": "s", "axis": "x", "range": [-9, 9], "bins": 9}
                out = self.run_thor({**self.hole(make), "outputs": [spectrum]})
                done = thor("continue", out, "--photons", 10)
                self.assertEqual(done.returncode, 0, done.stderr)
                with h5py.File(linked, "r+") as other:
                    other["n"][0, 0, 0] = 2e-7
                raw.write_bytes(other_values(values).tobytes())
                done = thor("continue", out, "--photons", 10)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("grid.h5, or a file that it takes values from (", done.stderr)
                self.assertIn("raw.bin" if make is external else "linked.h5", done.stderr)

    def test_a_folder_that_was_moved(self):
        """Where files lie does not count: here one is beside the grid and one in a place of its own."""
        home, other = self.folder / "m", self.folder / "k"
        home.mkdir(), other.mkdir()
        path = self.grid("m/grid.h5", HI_density=None, temperature=None)
        for name, linked, value, units in (("HI_density", home / "beside.h5", 1e-7, "cm-3"), ("temperature", other / "far.h5", 1e4, "K")):
            with h5py.File(linked, "w") as file:
                for array in ("one", "two"):
                    file[array] = np.full((N, N, N), value * len(array), "f4")
                    file[array].attrs["units"] = units
            with h5py.File(path, "r+") as file:
                file[name] = h5py.ExternalLink("beside.h5" if name == "HI_density" else str(self.folder / "middle.h5"), "one")
        with h5py.File(self.folder / "middle.h5", "w") as file:
            file["one"] = h5py.ExternalLink(str(other / "far.h5"), "one")
        spectrum = {"type": "spectrum", "name": "s", "axis": "x", "range": [-9, 9], "bins": 9}
        self.write({**self.config("grid.h5"), "outputs": [spectrum]}, "m/c.yaml")
        done = thor("run", home / "c.yaml", "-o", home / "out.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        for place in ("a", "z"):
            home = home.rename(self.folder / place)
            done = thor("continue", home / "out.h5", "--photons", 10)
            self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.folder / "middle.h5", "w") as file:
            file["one"] = h5py.ExternalLink(str(other / "far.h5"), "two")
        done = thor("continue", home / "out.h5", "--photons", 10)
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertIn("far.h5", done.stderr)

    def test_an_external_file_that_is_too_short(self):
        raw = self.folder / "raw.bin"
        raw.write_bytes(np.full((N, N, N), 1e-7, "f4").tobytes())
        config = self.hole(lambda file: file.create_dataset("HI_density", (N, N, N), "f4", external=[(str(raw), 0, h5py.h5f.UNLIMITED)]))
        self.run_thor(config)
        raw.write_bytes(raw.read_bytes()[:-4])
        self.refuse(config, "'HI_density'", "raw.bin", "2044 bytes of the 2048 expected")

    def test_a_filter_that_hdf5_does_not_have(self):
        """LZF is h5py's own."""
        config = self.hole(lambda file: file.create_dataset("HI_density", data=np.full((N, N, N), 1e-7, "f4"), compression="lzf"))
        done = thor("run", self.write(config))
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertRegex(done.stderr, r"array 'HI_density': it is compressed by filter 32000 \(lzf\), .*h5repack -f GZIP=4")

    def test_a_size_that_is_a_text(self):
        path = self.grid()
        with h5py.File(path, "r+") as file:
            file.attrs["cell_size"] = "0.125 kpc"
        says = 'attribute "cell_size" of the root group is the text "0.125 kpc"; expected'
        self.refuse(self.config(path), says)
        self.assertIn(says, thor("info", path).stderr)

    def test_a_flipped_bit(self):
        """thor grid writes checksums: a bit that has changed since is found."""
        cube = self.folder / "cube.h5"
        with h5py.File(cube, "w") as file:
            file["n"] = np.full((4, 4, 4), 2.5e-6)
        made = self.folder / "made.h5"
        done = thor("grid", cube, "-o", made, "--size", "1 kpc", "--fields",
                    "HI_density=n:1/cm3,temperature=1e4,velocity_x=0,velocity_y=0,velocity_z=0")
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(made) as file:
            self.assertTrue(all(data.fletcher32 for data in file.values() if isinstance(data, h5py.Dataset)))
            np.testing.assert_allclose(file["HI_density"], 2.5e-6)
        self.run_thor(self.config(made))
        content = bytearray(made.read_bytes())
        value = np.float32(2.5e-6).tobytes()
        at = bytes(content).index(2 * value)
        content[at + 3] ^= 2
        made.write_bytes(content)
        done = thor("run", self.write(self.config(made)), "-o", self.folder / "never.h5")
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertIn("array 'HI_density': chunk (0, 0, 0) is damaged", done.stderr)


if __name__ == "__main__":
    main()
