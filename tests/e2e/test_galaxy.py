#!/usr/bin/env python3
"""test_galaxy.py --thor PROGRAM: from a snapshot to a spectrum like a user: thor mock, thor grid, thor run; and the
snapshots next to the checkout. A projection of a gridded snapshot is compared with yt's of the same file if yt is installed."""

import os
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import Case, DONE, INPUT, OUTPUT, ROOT, USAGE, main, skip_loudly, thor  # noqa: E402

SHARED = ROOT.parent / "shared/data"


def shared(case, name):
    path = SHARED / name
    if not path.exists():
        skip_loudly(case, f"no {name} next to the checkout")
    return path


class Pipeline(Case):
    def good(self, *arguments):
        done = thor(*arguments, cwd=self.folder)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done

    def run_grid(self, grid, generator, *more, dataset=""):
        (self.folder / "run.yaml").write_text(
            f"line: Lya\ndataset: {{type: uniform_grid, path: {grid}{dataset}}}\ngenerators: [{generator}]\n"
            "acceleration: {core_skip: local}\noutputs:\n"
            "  - {type: spectrum, name: emergent, axis: velocity, range: [-2000 km/s, 2000 km/s], bins: 40}\n"
            "  - {type: photons, fields: [id, weight, position, scatterings]}\noutput: {path: out.h5}\n")
        self.good("run", "run.yaml", "--overwrite", *more)
        return self.summary(self.folder / "out.h5")

    def test_mock_galaxy(self):
        self.good("mock", "galaxy", "--gas-particles", "8000", "--seed", "3", "-o", "s.hdf5")
        self.good("grid", "s.hdf5", "--size", "40 kpc", "--cells", "32", "--sources", "stars", "-o", "g.h5")
        with h5py.File(self.folder / "g.h5") as file:
            self.assertEqual(file["HI_density"].shape, (32, 32, 32))
            stars = file["sources/luminosity"][()].sum()
            self.assertGreater(stars, 1e41)
            cells = file["emissivity_collisional"][()].sum(dtype=float) * file.attrs["cell_size"] ** 3
        summary = self.run_grid("g.h5", "{type: sources, photons: 24}, {type: gas, emission: collisional, photons: 12}",
                                dataset=", dust: {law: SMC}")
        self.assertEqual(summary["photons"], 36)
        self.assertAlmostEqual(summary["luminosity_emitted"] / (stars + cells), 1, delta=1e-3)
        self.assertGreater(summary["absorbed"], 0)
        with h5py.File(self.folder / "out.h5") as file:
            self.assertAlmostEqual(file["generators/0"].attrs["luminosity_emitted"] / stars, 1, delta=1e-3)
            self.assertAlmostEqual(file["generators/1"].attrs["luminosity_emitted"] / cells, 1, delta=1e-3)
            self.assertEqual(file["generators/1"].attrs["photons"], 12)
            self.assertEqual(file["grid"].attrs["cells_x"], 32)

    def test_mock_box(self):
        self.good("mock", "box", "--particles-per-side", "32", "--seed", "3", "-o", "s.hdf5")
        self.good("grid", "s.hdf5", "--cells", "32", "--sources", "stars", "-o", "g.zarr")
        summary = self.run_grid("g.zarr", "{type: sources, photons: 30}", dataset=", stop_shift: 5 Angstrom")
        self.assertEqual(summary["stopped"], 30)
        with h5py.File(self.folder / "out.h5") as file:
            names = file["photons/original/fate"].attrs["names"]
            self.assertEqual(names.decode() if isinstance(names, bytes) else names,
                             "escaped=2 absorbed=3 lost=4 stopped=5 in_flight=0,1")
        self.assertIn("fate: stopped", self.good("run", "run.yaml", "--replay", "3").stdout)
        # Seen through a tenth of the box, and through all of it as far as stop_shift; in the rest frame of its centre.
        more = ("--overwrite", "--device", "cpu", "--set", "outputs=[{type: spectrum, name: seen, observer: z, range: [-3000 km/s, 3000 km/s], bins: 1}]",
                "--set", "observers=[{name: z, direction: [0, 0, 1], rest: {velocity: [0 km/s, 0 km/s, 50 km/s]}}]")
        light = []
        for depth in ("peel.depth=0.1", "peel.cut=30"):
            self.good("run", "run.yaml", *more, "--set", depth)
            with h5py.File(self.folder / "out.h5") as file:
                light.append(file["spectra/seen/flux"][0])
                self.assertEqual(file["summary"].attrs["rays_lost"], 0)
        self.assertGreater(light[0], 1.005 * light[1])
        self.assertGreater(light[1], 0)
        refused = thor("run", "run.yaml", *more, "--set", "peel.depth=0.01", cwd=self.folder)
        self.assertEqual(refused.returncode, USAGE)
        self.assertIn("peel.depth: is shorter than the diagonal of a cell: take at least 0.05413", refused.stderr)
        refused = thor("run", "run.yaml", "--overwrite", "--set", "dataset.hubble_flow=false", cwd=self.folder)
        self.assertEqual(refused.returncode, USAGE)
        self.assertIn("stop_shift", refused.stderr)

    def test_gadget_boxes(self):
        for name in ("gadget4_gas32_z2.hdf5", "gadget4_gas32_z3.hdf5"):
            with self.subTest(name):
                snapshot, uvb = shared(self, name), shared(self, "uvb_treecool_puchwein2018.txt")
                refused = thor("grid", snapshot, "--cells", "32", "-o", "no.h5", cwd=self.folder)
                self.assertNotEqual(refused.returncode, DONE)
                self.assertIn("--ionization", refused.stderr)
                self.assertFalse((self.folder / "no.h5").exists())
                self.good("grid", snapshot, "--cells", "32", "--ionization", "equilibrium", "--uvb", uvb, "-o", f"{name}.h5")
                summary = self.run_grid(f"{name}.h5", "{type: gas, emission: recombination, photons: 100}",
                                        dataset=", stop_shift: 5 Angstrom")
                self.assertEqual(summary["stopped"], 100)

    def test_yt_projects_the_same(self):
        snapshot, uvb = shared(self, "gadget4_gas32_z3.hdf5"), shared(self, "uvb_treecool_puchwein2018.txt")
        try:
            import yt
        except ImportError:
            skip_loudly(self, "no yt (python3-yt)")
        self.good("grid", snapshot, "--cells", "32", "--ionization", "equilibrium", "--uvb", uvb, "-o", "g.h5")
        with h5py.File(self.folder / "g.h5") as file:
            ours = file["density"][()].sum(axis=2, dtype=float) * file.attrs["cell_size"]
        yt.set_log_level("error")
        data = yt.load(str(snapshot))
        projected = data.proj(("gas", "density"), "z").to_frb(data.domain_width[0], 32)
        theirs = np.array(projected[("gas", "density")].in_units("g/cm**2")).T
        self.assertAlmostEqual(ours.mean() / theirs.mean(), 1, delta=0.02)
        correlation = np.corrcoef(np.log10(ours).ravel(), np.log10(theirs).ravel())[0, 1]
        self.assertGreater(correlation, 0.95)
        shifted = np.corrcoef(np.log10(np.roll(ours, 4, axis=0)).ravel(), np.log10(theirs).ravel())[0, 1]
        self.assertLess(shifted, 0.8)


class BadGrids(Case):
    """Each gives an error that names what is wrong, exit code 3, and no result."""

    def setUp(self):
        super().setUp()
        self.path = self.folder / "g.h5"
        rng = np.random.default_rng(1)
        with h5py.File(self.path, "w") as file:
            file.attrs.update(cell_size=1e20, origin_x=-4e20, origin_y=-4e20, origin_z=-4e20, periodic=False, hubble=0.0)
            for name in ("HI_density", "temperature", "velocity_x", "velocity_y", "velocity_z"):
                file[name] = np.float32(1e4 if name == "temperature" else 1e-6 * rng.random((8, 8, 8))) * np.ones((8, 8, 8), "f4")
                if name.startswith("velocity"):
                    file[name].attrs["units"] = "km s-1"
        (self.folder / "run.yaml").write_text(
            "line: Lya\ndataset: {type: uniform_grid, path: g.h5}\ngenerators: [{type: point, photons: 10}]\noutput: {path: out.h5}\n")

    def refused(self, text, *more, code=INPUT):
        done = thor("run", "run.yaml", *more, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, text)
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith("out")], [])

    def change(self, job):
        with h5py.File(self.path, "r+") as file:
            job(file)

    def test_a_good_one_runs(self):
        self.assertEqual(thor("run", "run.yaml", cwd=self.folder).returncode, DONE)
        told = thor("check", "run.yaml", "--no-trial", cwd=self.folder)
        self.assertEqual(told.returncode, DONE, told.stderr)
        for part in ("cells_memory", "velocity_jumps", "largest_tau"):
            self.assertIn(part, told.stdout)

    def test_keys_of_dust_that_the_file_has(self):
        self.change(lambda f: f.create_dataset("dust", data=np.zeros((8, 8, 8), "f4")))
        self.assertEqual(thor("run", "run.yaml", "--set", "dataset.dust={law: SMC}", cwd=self.folder).returncode, DONE)
        (self.folder / "out.h5").unlink()
        for key, value in (("f_ion", 0.5), ("metallicity", 1), ("ionized_column", "1e20 cm^-2"), ("hydrogen_column", "1e20 cm^-2")):
            self.refused(f"dataset.dust.{key}", "--set", f"dataset.dust={{law: SMC, {key}: {value}}}", code=USAGE)

    def test_the_grid_is_not_overwritten(self):
        before = self.path.read_bytes()
        done = thor("run", "run.yaml", "-o", "g.h5", "--overwrite", cwd=self.folder)
        self.assertEqual(done.returncode, OUTPUT, done.stderr)
        self.assertEqual(self.path.read_bytes(), before)

    def test_attributes_that_are_no_numbers(self):
        for name, value in (("periodic", "true"), ("hubble", "1e-17"), ("redshift", "three"), ("redshift", -5.0),
                            ("hubble", 1e-5), ("cell_size", [1e20, 2e20, 4e20]), ("cell_size", 1e300)):
            with self.subTest(name=name, value=value):
                with h5py.File(self.path) as file:
                    old = file.attrs.get(name)
                self.change(lambda f: f.attrs.__setitem__(name, value))
                self.refused(name)
                self.change(lambda f: f.attrs.pop(name) if old is None else f.attrs.__setitem__(name, old))
        self.assertEqual(thor("run", "run.yaml", cwd=self.folder).returncode, DONE)

    def test_cold_cells_are_counted_once(self):
        def job(file):
            file["temperature"][1, 2, 3] = 1e-3
            for axis in "xyz":
                file[f"velocity_{axis}"][1, 2, 3] = 4e5
        self.change(job)
        self.refused(r"1 of 512 cells are bad, the first is \[1, 2, 3\] with temperature = 0.001")

    def test_a_velocity_of_light_from_gas(self):
        self.refused("generators.0.velocity", "--set", "generators.0={type: sources, photons: 5, velocity: [1 km/s, 0 km/s, 0 km/s]}",
                     code=USAGE)

    def test_missing_file(self):
        self.refused("none.h5", "--set", "dataset.path=none.h5")

    def test_missing_field(self):
        self.change(lambda f: f.move("HI_density", "H_density"))
        self.refused('no array "HI_density".*H_density')

    def test_wrong_shape(self):
        def job(file):
            del file["temperature"]
            file["temperature"] = np.ones((8, 8, 7), "f4")
        self.change(job)
        self.refused('"temperature" is 8 x 8 x 7.*same shape')

    def test_wrong_type(self):
        def job(file):
            del file["temperature"]
            file["temperature"] = np.full((8, 8, 8), b"hot")
        self.change(job)
        self.refused('"temperature"')

    def test_no_cell_size(self):
        self.change(lambda f: f.attrs.pop("cell_size"))
        self.refused("cell_size.*thor grid")

    def test_nan(self):
        def job(file):
            file["velocity_y"][1, 2, 3] = np.nan
        self.change(job)
        self.refused(r"1 of 512 cells are bad, the first is \[1, 2, 3\] with velocity_y = nan.*bad_cells: drop")
        done = thor("run", "run.yaml", "--set", "dataset.bad_cells=drop", cwd=self.folder)
        self.assertEqual(done.returncode, DONE)
        self.assertIn("1 cells are dropped", done.stderr)

    def test_truncated(self):
        size = self.path.stat().st_size
        os.truncate(self.path, size - 2000)
        self.refused("truncated")

    def test_source_outside(self):
        self.refused("outside", "--set", "generators.0.position=[1 Mpc, 0 kpc, 0 kpc]", code=USAGE)

    def test_dust_without_its_field(self):
        self.refused('no array "dust"', "--set", "dataset.dust={law: SMC}")


if __name__ == "__main__":
    main()
