"""The state of gridded gas from outside: electrons, gas on an equation of state, the temperature and velocity that the line
sees, and emission.

    /usr/bin/python3 tests/e2e/test_grid_gas.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import test_grid as grid  # noqa: E402
from support import DONE, INPUT, USAGE, main, text, thor  # noqa: E402

UVB = "0 6e-13 1e-14 1e-16 1e-25 1e-25 1e-26\n1 6e-13 1e-14 1e-16 1e-25 1e-25 1e-26\n"
GIVEN = ("density=rho:g/cm3,temperature=T:K,velocity_x=0,velocity_y=0,velocity_z=0,HI_density=HI:1/cm3,"
         "electron_density=e:1/cm3")


class Electrons(grid.GridCase):
    """n_e comes from the model that gives the neutral fraction, whichever it is."""

    def models(self):
        (self.folder / "uvb.txt").write_text(UVB)
        with h5py.File(self.folder / "table.h5", "w") as file:
            file["logd"], file["logt"], file["redshift"] = [-9.0, 4.0], [1.0, 9.0], [0.0, 9.0]
            file["ionbal"] = np.full((2, 2, 2), 0.982)
            file["ionbal"].attrs["info"] = "Ion fraction as a function of (logd, logt, redshift)"
        return {"equilibrium": ("--uvb", self.folder / "uvb.txt"), "table": ("--table", self.folder / "table.h5"),
                "collisional": ()}

    def check(self, path):
        with h5py.File(path) as file:
            n_HI, n_HII, n_e = (file[name][()].astype("f8") for name in ("HI_density", "HII_density", "electron_density"))
        there = n_HI + n_HII > 0
        np.testing.assert_allclose(n_e[there], n_HII[there] * (1 + 0.24 / 4 / 0.76), rtol=1e-4, atol=1e-12)
        return n_e.sum()

    def test_of_a_snapshot_and_of_a_cube(self):
        snapshot = self.snapshot(count=300)
        electrons = {}
        for name, options in self.models().items():
            with self.subTest(name):
                electrons[name] = self.check(self.grid(snapshot, "--cells", 8, "--ionization", name, *options, "--overwrite"))
                cube = self.folder / "cube.h5"
                with h5py.File(cube, "w") as file:
                    file["rho"], file["T"] = np.full((4, 4, 4), 1e-25), np.full((4, 4, 4), 1.5e4)
                fields = ",".join(GIVEN.split(",")[:5])
                self.check(self.grid(cube, "--fields", fields, "--size", "1 kpc", "--redshift", 3, "--ionization", name, *options,
                                     "--overwrite"))
                self.grid(cube, "--fields", fields + ",electron_density=1", "--size", "1 kpc", "--redshift", 3, "--ionization",
                          name, *options, expect=USAGE, output="no.h5")
        with h5py.File(self.grid(snapshot, "--cells", 8, *grid.AS_IT_IS, "--overwrite")) as file:
            own = file["electron_density"][()].astype("f8").sum() * file.attrs["cell_size"] ** 3
        mass = self.gas["Masses"] * 1e10 * grid.MSUN / grid.H
        self.assertAlmostEqual(own / (0.76 * mass / grid.M_H * self.gas["ElectronAbundance"]).sum(), 1, 4)

    def test_more_than_there_can_be(self):
        def spoil(gas):
            gas["StarFormationRate"][:3] = [0, 0, 1]
            gas["NeutralHydrogenAbundance"][:3] = 0.982
            gas["ElectronAbundance"][:3] = 1.16
        snapshot = self.snapshot(count=300, edit=spoil)
        self.grid(snapshot, "--cells", 8, expect=INPUT)
        self.assertIn("2 with electron abundance for its neutral fraction too large (elements 0, 1)", self.done.stderr)
        self.grid(snapshot, "--cells", 8, "--eos-temperature", "snapshot", expect=INPUT)
        self.assertIn("3 with electron abundance", self.done.stderr)
        path = self.grid(snapshot, "--cells", 8, "--on-bad-cells", "floor")
        with h5py.File(path) as file:
            self.assertEqual(file["gridding"].attrs["bad_cells_floored"], 2)
        self.grid(snapshot, "--cells", 8, "--ionization", "collisional", "--overwrite")  # they are not used

        cube = self.folder / "cube.h5"
        with h5py.File(cube, "w") as file:
            file["rho"], file["T"] = np.full((2, 2, 2), 1e-24), np.full((2, 2, 2), 1e4)
            n_H = 0.76 * 1e-24 / grid.M_H
            file["HI"], file["e"] = np.full((2, 2, 2), 0.982 * n_H), np.full((2, 2, 2), 0.1 * n_H)
            file["e"][0, 1, 0] = 1.16 * n_H
        self.grid(cube, "--fields", GIVEN, "--size", "1 kpc", expect=INPUT, output="cube_grid.h5")
        self.assertIn("1 with electron_density too large, the first is [0, 1, 0]", self.done.stderr)


class EquationOfState(grid.GridCase):
    def sums(self, path):
        with h5py.File(path) as file:
            light = sum(file[f"emissivity_{name}"][()].astype("f8").sum() for name in ("recombination", "collisional"))
            return light, file["HI_density"][()].astype("f8").sum(), dict(file["gridding"].attrs)

    def test_star_forming_gas_absorbs_and_does_not_shine(self):
        def spoil(gas):  # all star-forming, hot and ionised in the model of unresolved gas
            gas["StarFormationRate"][:] = 1
            gas["InternalEnergy"][:] = 1e4
            gas["NeutralHydrogenAbundance"][:] = 0.3
            gas["ElectronAbundance"][:] = 0.8
        snapshot = self.snapshot(count=300, edit=spoil)
        light, HI, how = self.sums(self.grid(snapshot, "--cells", 8))
        self.assertEqual(light, 0)
        self.assertEqual((how["star_forming_elements"], how["star_forming_mass_share"], how["star_forming_HI_share"]), (300, 1, 1))
        self.assertEqual((how["eos_temperature"], bool(how["eos_emission"])), (1e4, False))
        self.assertIn("collisional", text(how["star_forming_gas"]))
        self.assertIn("star-forming 300 gas elements, with 1 of the mass and 1 of the HI: treated as gas at 10000 K", self.done.stdout)
        self.assertIn("it does not emit", self.done.stdout)
        shining, _, _ = self.sums(self.grid(snapshot, "--cells", 8, "--eos-emission", "yes", "--overwrite"))
        own, own_HI, how = self.sums(self.grid(snapshot, "--cells", 8, "--eos-temperature", "snapshot", "--eos-emission", "yes",
                                               "--overwrite"))
        self.assertNotIn("eos_temperature", how)
        self.assertGreater(own, 100 * shining)
        self.assertGreater(shining, 0)
        self.assertAlmostEqual(HI / own_HI, 0.998 / 0.3, 2)
        self.assertEqual(self.sums(self.grid(snapshot, "--cells", 8, "--eos-temperature", "snapshot", "--overwrite"))[0], 0)

    def test_without_star_formation_rates(self):
        def remove(gas):
            gas["StarFormationRate"] = None
        snapshot = self.snapshot(count=300, edit=remove)
        _, _, how = self.sums(self.grid(snapshot, "--cells", 8))
        self.assertEqual(how["star_forming_elements"], 0)
        self.grid(snapshot, "--cells", 8, "--eos-temperature", "1e4 K", expect=INPUT, output="no.h5")


class Absorbers(grid.GridCase):
    """HI clouds in hot gas, from the particles to a spectrum."""

    RUN = ("line: Lya\ndataset: {type: uniform_grid, path: grid.h5}\ngenerators: [%s]\nacceleration: {core_skip: local}\noutputs:\n"
           "  - {type: spectrum, name: emergent, axis: velocity, range: [-500 km/s, 500 km/s], bins: 20}\noutput: {path: out.h5}\n")

    def clouds(self):
        def make(gas):
            cold = np.arange(len(gas["Masses"])) % 4 == 0
            gas["StarFormationRate"][:] = 0
            gas["Masses"][:] = 1e-6
            gas["Density"] = gas["Masses"] / (grid.BOX / 1000) ** 3  # kernels are points
            gas["NeutralHydrogenAbundance"] = np.where(cold, 0.9, 1e-5)
            gas["ElectronAbundance"] = np.where(cold, 0.1, 1.0)
            gas["InternalEnergy"] = np.where(cold, 80, 2e4)
            gas["Velocities"][:] = np.where(cold[:, None], [50, 0, 0], [-200, 0, 100])
        return self.snapshot(count=3000, edit=make)

    def test_a_cell_has_the_state_of_its_hydrogen(self):
        path = self.grid(self.clouds(), "--cells", 3, "--mass-weighted", "--boundary", "open")
        g = self.gas
        mu = 4 / (1 + 3 * 0.76 + 4 * 0.76 * g["ElectronAbundance"]) * grid.M_H
        T = 2 / 3 * g["InternalEnergy"] * 1e10 * mu / grid.K_B
        index = tuple(np.minimum((g["Coordinates"] / grid.BOX * 3).astype(int), 2).T)
        v = g["Velocities"] * np.sqrt(grid.A)

        def mean(values, weight):
            sums = np.zeros((2, 3, 3, 3))
            np.add.at(sums[0], index, weight * values)
            np.add.at(sums[1], index, weight)
            return sums[0] / sums[1]
        HI = g["Masses"] * g["NeutralHydrogenAbundance"]
        with h5py.File(path) as file:
            np.testing.assert_allclose(file["HI_temperature"], mean(T, HI), rtol=1e-4)
            for k, axis in enumerate("xyz"):
                np.testing.assert_allclose(file[f"HI_velocity_{axis}"], mean(v[:, k], HI), rtol=1e-4, atol=1e-3)
                np.testing.assert_allclose(file[f"velocity_{axis}"], mean(v[:, k], g["Masses"]), rtol=1e-4, atol=1e-3)
            self.assertTrue(np.all(file["temperature"][()] > 10 * file["HI_temperature"][()]))  # the twin differs
            with self.assertRaises(AssertionError):
                np.testing.assert_allclose(file["temperature"], mean(T, HI), rtol=0.5)

    def spectrum(self, *more, warns=False):
        (self.folder / "run.yaml").write_text(self.RUN % "{type: point, photons: 300}")
        done = thor("run", "run.yaml", "--overwrite", *more, cwd=self.folder)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual("HI_temperature" in done.stderr, warns, done.stderr)
        with h5py.File(self.folder / "out.h5") as file:
            return file["spectra/emergent/flux"][()]

    def test_a_run_reads_those_of_the_ion(self):
        path = self.grid(self.clouds(), "--centre", "1, 1, 1 kpc", "--size", "40 kpc", "--cells", 8, "--mass-weighted")
        with h5py.File(path, "r+") as file:
            file["HI_density"][()] = file["HI_density"][()] / file["HI_density"][()].max() * 1e-9
        before = self.spectrum()

        def scale(field, factor):
            with h5py.File(path, "r+") as file:
                file[field][()] = file[field][()] * factor
        scale("temperature", 9)
        scale("velocity_x", 5)
        np.testing.assert_array_equal(self.spectrum(), before)  # they are not used
        scale("HI_temperature", 9)
        hotter = self.spectrum()
        self.assertFalse(np.array_equal(hotter, before))
        scale("HI_velocity_x", 3)
        self.assertFalse(np.array_equal(self.spectrum(), hotter))
        with h5py.File(path, "r+") as file:
            del file["HI_velocity_y"]
        done = thor("run", "run.yaml", "--overwrite", cwd=self.folder)
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertIn('no array "HI_velocity_y"', done.stderr)
        with h5py.File(path, "r+") as file:
            for name in ("HI_temperature", "HI_velocity_x", "HI_velocity_z"):
                del file[name]
        self.spectrum(warns=True)

    def test_light_from_cells_only_by_a_key(self):
        path = self.grid(self.clouds(), "--centre", "1, 1, 1 kpc", "--size", "40 kpc", "--cells", 8, "--emission", "none",
                         "--mass-weighted")
        (self.folder / "run.yaml").write_text(self.RUN % "{type: gas, emission: collisional, photons: 10}")
        done = thor("run", "run.yaml", cwd=self.folder)
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertIn("thor grid --emission lya", done.stderr)
        key = ("--set", "generators.0.from_cells=true")
        done = thor("run", "run.yaml", *key, cwd=self.folder)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "out.h5") as file:
            light = file["summary"].attrs["luminosity_emitted"]
        with h5py.File(path, "r+") as file:
            n = file["electron_density"][()].astype("f8") * file["HI_density"][()]
            self.assertGreater(light, 0)
            del file["temperature"]
            self.assertGreater(n.sum(), 0)
        done = thor("run", "run.yaml", *key, "--overwrite", cwd=self.folder)
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertIn("--mass-weighted", done.stderr)
        with h5py.File(path, "r+") as file:
            file["emissivity_collisional"] = np.full((8, 8, 8), 1e-30)
            file["emissivity_collisional"].attrs["units"] = "erg s-1 kpc-3"
        done = thor("run", "run.yaml", "--overwrite", cwd=self.folder)
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertIn("erg s-1 kpc-3", done.stderr)

    def test_light_from_cells_of_one_phase_is_the_same(self):
        """It is not for a cell with two temperatures, which is why it needs a key."""
        path = self.folder / "cube.h5"
        rng = np.random.default_rng(2)
        with h5py.File(path, "w") as file:
            file["rho"], file["T"] = 1e-26 * rng.lognormal(0, 1, (4, 4, 4)), 10 ** rng.uniform(4.0, 4.5, (4, 4, 4))
        self.grid(path, "--fields", ",".join(GIVEN.split(",")[:5]), "--size", "1 kpc", "--ionization", "collisional")
        light = {}
        for emission in ("recombination", "collisional"):
            for key in ("false", "true"):
                (self.folder / "run.yaml").write_text(self.RUN % f"{{type: gas, emission: {emission}, photons: 5, from_cells: {key}}}")
                done = thor("run", "run.yaml", "--overwrite", cwd=self.folder)
                self.assertEqual(done.returncode, DONE, done.stderr)
                with h5py.File(self.folder / "out.h5") as file:
                    light[key] = file["summary"].attrs["luminosity_emitted"]
            self.assertAlmostEqual(light["true"] / light["false"], 1, 4)
        self.grid(self.clouds(), "--centre", "1, 1, 1 kpc", "--size", "40 kpc", "--cells", 8, "--mass-weighted", "--overwrite")
        for key in ("false", "true"):
            done = thor("run", "run.yaml", "--overwrite", "--set", f"generators.0.from_cells={key}", cwd=self.folder)
            self.assertEqual(done.returncode, DONE, done.stderr)
            with h5py.File(self.folder / "out.h5") as file:
                light[key] = file["summary"].attrs["luminosity_emitted"]
        self.assertGreater(light["true"] / light["false"], 30)  # collisional emission

    def test_a_grid_without_absorbers_is_told(self):
        path = self.grid(self.clouds(), "--centre", "1, 1, 1 kpc", "--size", "40 kpc", "--cells", 8)
        with h5py.File(path, "r+") as file:
            file["HI_density"][()] = 0
        (self.folder / "run.yaml").write_text(self.RUN % "{type: point, photons: 10}")
        for how in ((), ("--domains", 2)):
            done = thor("run", "run.yaml", "--overwrite", *how, cwd=self.folder)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn("the density is 0 in every cell", done.stderr)

        def ionise(gas):
            gas["NeutralHydrogenAbundance"][:] = 0
            gas["StarFormationRate"][:] = 0
        path = self.grid(self.snapshot(count=300, edit=ionise), "--cells", 4, "--overwrite")
        self.assertIn("there is no HI in the grid", self.done.stderr)
        with h5py.File(path) as file:
            self.assertIn("there is no HI", text(file["gridding"].attrs["warnings"]))
            self.assertEqual(file["HI_temperature"][()].min() > 0, True)

    def test_newer_formats_are_refused(self):
        path = self.grid(self.clouds(), "--centre", "1, 1, 1 kpc", "--size", "40 kpc", "--cells", 8)
        (self.folder / "run.yaml").write_text(self.RUN % "{type: point, photons: 10}")
        with h5py.File(path, "r+") as file:
            file.attrs["format_version"] = 99
        done = thor("run", "run.yaml", cwd=self.folder)
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertIn("format_version is 99", done.stderr)


if __name__ == "__main__":
    main()
