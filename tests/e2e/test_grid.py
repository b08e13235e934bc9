"""thor grid from outside: snapshots and cubes in, grid files out; what is conserved, refused and left behind.

    /usr/bin/python3 tests/e2e/test_grid.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py. Uses data in ../shared if available.
"""

import re
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import Case, DONE, INPUT, KPC, OUTPUT, ROOT, USAGE, main, skip_loudly, text, thor  # noqa: E402

DATA = ROOT.parent / "shared/data"
MSUN = 1.98841e33
M_H = 1.00782503 * 1.66053906660e-24
K_B = 1.380649e-16
H, A, BOX = 0.7, 0.25, 1000.0  # h, scale factor, box in kpc/h
AS_IT_IS = ("--mass-weighted", "--eos-temperature", "snapshot", "--eos-emission", "yes")  # as in the snapshot


def make_snapshot(path, count=3000, seed=1, edit=None, stars=0, disc=False):
    """Gas as in TNG, in kpc/h, 1e10 Msun/h, km/s: clumps in a box, or a disc rotating about (0, 0.6, 0.8)."""
    rng = np.random.default_rng(seed)
    position = np.where(rng.random((count, 1)) < 0.5, rng.random((count, 3)) * BOX,
                        (0.02 * rng.normal(size=(count, 3)) * BOX) % BOX)
    velocity = 100 * rng.normal(size=(count, 3))
    if disc:
        d = rng.normal(size=(count, 3)) * [30, 30, 1]
        v = np.stack([-d[:, 1], d[:, 0], 0 * d[:, 0]], axis=1)
        turn = np.array([[1, 0, 0], [0, 0.8, 0.6], [0, -0.6, 0.8]])  # z to (0, 0.6, 0.8)
        position, velocity = (d @ turn.T + 5) % BOX, v @ turn.T * 10 + [200, 0, -100]
    volume = (BOX / 20) ** 3 * rng.lognormal(-3, 1, count)
    density = 1e-9 * rng.lognormal(0, 2, count)
    neutral = rng.uniform(0, 1, count)
    electrons = (1 - neutral) * rng.uniform(0.5, 1, count) + rng.uniform(0, 0.15, count)  # at most n_HII + 2 n_He
    gas = {"Coordinates": position, "Velocities": velocity.astype("f4"), "Density": density, "Masses": density * volume,
           "InternalEnergy": 10 ** rng.uniform(1, 4, count), "ElectronAbundance": electrons,
           "NeutralHydrogenAbundance": neutral, "GFM_Metallicity": rng.uniform(0, 0.02, count),
           "StarFormationRate": np.where(rng.random(count) < 0.1, 0.3, 0.0)}
    if edit:
        edit(gas)
    with h5py.File(path, "w") as file:
        n = np.array([count, 0, 0, 0, stars, 0])
        file.create_group("Header").attrs.update({
            "BoxSize": BOX, "Time": A, "Redshift": 1 / A - 1, "HubbleParam": H, "Omega0": 0.3, "OmegaLambda": 0.7,
            "NumPart_ThisFile": n, "NumPart_Total": n, "NumPart_Total_HighWord": 0 * n, "NumFilesPerSnapshot": 1,
            "MassTable": np.zeros(6), "UnitLength_in_cm": KPC, "UnitMass_in_g": 1e10 * MSUN,
            "UnitVelocity_in_cm_per_s": 1e5})
        for name, values in gas.items():
            if values is not None:
                file[f"PartType0/{name}"] = values
        if stars:
            file["PartType4/Coordinates"] = rng.random((stars, 3)) * BOX
            file["PartType4/Velocities"] = rng.normal(size=(stars, 3))
            file["PartType4/Masses"] = np.full(stars, 1e-6)
            file["PartType4/GFM_InitialMass"] = np.full(stars, 2e-6)
            file["PartType4/GFM_Metallicity"] = np.full(stars, 0.004)
            file["PartType4/GFM_StellarFormationTime"] = np.linspace(0.2499, 0.2499999, stars)
    return gas


def totals_of(gas):
    """Totals in cgs, straight from the arrays: mass, momentum, thermal energy, HI, electrons, metals; and the sum of
    |p|."""
    mass = gas["Masses"] * 1e10 * MSUN / H
    p = mass[:, None] * gas["Velocities"] * 1e5 * np.sqrt(A)
    hydrogen = 0.76 * mass / M_H
    out = {"mass": mass.sum(), "momentum": p.sum(axis=0), "energy": (mass * gas["InternalEnergy"] * 1e10).sum(),
           "HI": (hydrogen * gas["NeutralHydrogenAbundance"]).sum(),
           "electrons": (hydrogen * gas["ElectronAbundance"]).sum(), "metals": (mass * gas["GFM_Metallicity"]).sum()}
    return out, np.linalg.norm(p, axis=1).sum()


def totals_in(path):
    with h5py.File(path) as file:
        volume = file.attrs["cell_size"] ** 3
        g = {name: file[name][()].astype("f8") for name in file if isinstance(file[name], h5py.Dataset)}
    n = 0.25 * (g["density"] / M_H + 3 * (g["HI_density"] + g["HII_density"])) + g["electron_density"]
    return {"mass": g["density"].sum() * volume,
            "momentum": np.array([(g["density"] * g[f"velocity_{a}"]).sum() * 1e5 * volume for a in "xyz"]),
            "energy": 1.5 * K_B * (n * g["temperature"]).sum() * volume, "HI": g["HI_density"].sum() * volume,
            "electrons": g["electron_density"].sum() * volume,
            "metals": (g["density"] * g["metallicity"]).sum() * 0.0127 * volume}


class GridCase(Case):
    def grid(self, snapshot, *arguments, expect=DONE, output="grid.h5"):
        path = self.folder / output
        self.done = thor("grid", snapshot, "-o", path, *arguments)
        self.assertEqual(self.done.returncode, expect, self.done.stderr)
        if expect != DONE:
            self.assertEqual(self.done.stdout, "")
            self.assertFalse(path.exists())
            self.assertFalse(path.with_name(path.name + ".partial").exists())
        return path

    def snapshot(self, **options):
        path = self.folder / "snap.hdf5"
        self.gas = make_snapshot(path, **options)
        return path

    def budget(self):
        """The printed table: {quantity: (input, gridded, cut off, difference)}."""
        table = re.split(r"(?m)^total .*$", self.done.stdout)[1]
        rows = re.findall(r"^(\w[\w ]*?)(?: \[[^\]]+\])? +(\S+) +(\S+) +(\S+) +(\S+)$", table, re.M)
        return {name: tuple(map(float, numbers)) for name, *numbers in rows}


class Conservation(GridCase):
    def assert_totals(self, path, gas, tolerance=1e-6):
        expected, momentum = totals_of(gas)
        for name, value in totals_in(path).items():
            scale = momentum if name == "momentum" else expected[name]
            self.assertLess(np.max(np.abs(value - expected[name])) / scale, tolerance, name)

    def test_a_whole_box_keeps_all(self):
        """From coarse cells, where every kernel is a point, to fine ones, in double and single precision."""
        snapshot = self.snapshot()
        for cells in (4, 32, 100):
            for precision in ("double", "single"):
                with self.subTest(cells=cells, precision=precision):
                    path = self.grid(snapshot, "--cells", cells, "--precision", precision, "--overwrite", *AS_IT_IS)
                    self.assert_totals(path, self.gas)
        wrong = dict(self.gas, Masses=self.gas["Masses"] * (1 + 2e-6))
        with self.assertRaises(AssertionError):
            self.assert_totals(path, wrong)

    def test_the_file_is_a_grid_file(self):
        path = self.grid(self.snapshot(), "--cells", 16)
        with h5py.File(path) as file:
            self.assertEqual(text(file.attrs["format"]), "thor grid")
            self.assertEqual(file.attrs["format_version"], 2)
            self.assertNotIn("temperature", file)
            self.assertNotIn("velocity_x", file)
            size = BOX * KPC * A / H
            self.assertAlmostEqual(file.attrs["cell_size"] / (size / 16), 1, 12)
            self.assertAlmostEqual(file.attrs["origin_y"] / (-size / 2), 1, 12)
            self.assertTrue(file.attrs["periodic"])
            self.assertAlmostEqual(file.attrs["redshift"], 3, 9)
            hubble = 70e5 / (1e3 * KPC) * np.sqrt(0.3 * 64 + 0.7)
            self.assertAlmostEqual(file.attrs["hubble"] / hubble, 1, 9)
            units = {"density": "g cm-3", "HI_temperature": "K", "HI_velocity_x": "km s-1", "HI_density": "cm-3",
                     "dust": "cm-3",
                     "emissivity_recombination": "erg s-1 cm-3", "metallicity": ""}
            for name, unit in units.items():
                self.assertEqual(file[name].dtype, np.dtype("<f4"))
                self.assertEqual(file[name].shape, (16, 16, 16))
                self.assertEqual(text(file[name].attrs["units"]).strip("\0"), unit)
            dust = (file["HI_density"][()] + 0.01 * file["HII_density"][()]).sum()
            self.assertTrue(0 < file["dust"][()].sum() < 2 * dust)  # of up to 1.6 solar
            self.assertEqual(file["gridding/totals/mass"].attrs["cut_off"], 0)

    def test_a_region_says_what_it_cuts_off(self):
        snapshot = self.snapshot()
        path = self.grid(snapshot, "--centre", "5, 5, 5 kpc", "--size", "100 kpc", "--cells", 32, *AS_IT_IS)
        for name, (given, gridded, cut, difference) in self.budget().items():
            self.assertLess(abs(difference), 1e-12, name)
            if "momentum" not in name and "velocity" not in name:
                self.assertTrue(0 < cut < given, name)
        expected, _ = totals_of(self.gas)
        given, gridded, cut, _ = self.budget()["mass"]
        self.assertAlmostEqual(given * MSUN / expected["mass"], 1, 5)
        self.assertAlmostEqual(totals_in(path)["mass"] / (gridded * MSUN), 1, 5)
        with h5py.File(path) as file:
            self.assertFalse(file.attrs["periodic"])

    def test_every_cell_is_what_a_plain_loop_gives(self):
        """Kernels of two cells and more, implemented a second time; l = 2.4 ... instead of 2.5 ... gives another
        grid."""
        n = 16
        cell = BOX / n

        def widen(gas):
            radius = cell * np.linspace(2, 5, len(gas["Masses"]))
            gas["Masses"] = gas["Density"] * 4 * np.pi / 3 * (radius / 2.5) ** 3
        path = self.grid(self.snapshot(count=120, edit=widen), "--cells", n, "--mass-weighted")
        with h5py.File(path) as file:
            found = file["density"][()], file["velocity_y"][()]

        def plain(factor):
            centres = (np.arange(n) + 0.5) * cell
            mass, momentum = np.zeros((n, n, n)), np.zeros((n, n, n))
            for i, place in enumerate(self.gas["Coordinates"]):
                d = [np.abs(centres - x) for x in place]
                d = [np.minimum(a, BOX - a) for a in d]  # the kernels are less than half of the box
                r = np.sqrt(d[0][:, None, None] ** 2 + d[1][:, None] ** 2 + d[2] ** 2)
                q = r / (factor * (3 * self.gas["Masses"][i] / self.gas["Density"][i] / (4 * np.pi)) ** (1 / 3))
                w = np.where(q < 0.5, 1 - 6 * q**2 + 6 * q**3, 2 * np.maximum(1 - q, 0) ** 3)
                w *= self.gas["Masses"][i] / w.sum()
                mass += w
                momentum += w * self.gas["Velocities"][i, 1]
            density = mass * 1e10 * MSUN / H / (cell * KPC * A / H) ** 3
            return density, momentum / np.maximum(mass, 1e-300) * np.sqrt(A)

        def off(expected):
            there = (expected[0] > 1e-6 * expected[0].max()) & (found[0] > 0)
            return (np.max(np.abs(found[0][there] / expected[0][there] - 1)),
                    np.max(np.abs(found[1][there] - expected[1][there])))
        density, velocity = off(plain(2.5))
        self.assertLess(density, 1e-4)
        self.assertLess(velocity, 0.02)  # km/s, of some hundred
        density, velocity = off(plain(2.4))
        self.assertGreater(density, 1e-2)
        self.assertGreater(velocity, 0.2)

    def test_threads_change_nothing(self):
        snapshot = self.snapshot()
        contents = []
        for threads in (1, 2, 5):
            with h5py.File(self.grid(snapshot, "--cells", 40, "--threads", threads, "--overwrite")) as file:
                contents.append([file[name][()].tobytes() for name in ("density", "HI_velocity_z", "HI_temperature")])
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(contents[0], contents[2])

    def test_nearest_takes_values_as_they_are(self):
        path = self.grid(self.snapshot(count=300), "--method", "nearest", "--cells", 20)
        with h5py.File(path) as file:
            found = np.unique(file["density"][()])
        density = (self.gas["Density"] * 1e10 * MSUN * H**2 / (KPC * A) ** 3).astype("f4")
        self.assertTrue(np.all(np.min(np.abs(found[:, None] / density - 1), axis=1) < 1e-6))
        self.assertGreater(abs(self.budget()["mass"][3]), 1e-3)

    def test_a_tolerance_that_cannot_be_met_fails(self):
        self.grid(self.snapshot(), "--cells", 16, "--precision", "single", "--tolerance", 0, expect=INPUT)
        self.assertRegex(self.done.stderr, r"does not conserve its input to 0.0e\+00 \(--tolerance\): [A-Za-z ]+ is off by \d")

    def test_what_stars_do_is_written(self):
        path = self.grid(self.snapshot(stars=50), "--cells", 8)
        with h5py.File(path) as file:
            sources = file["sources"]
            self.assertEqual(sources["position"].shape, (50, 3))
            self.assertTrue(np.all(np.abs(sources["position"]) <= -file.attrs["origin_x"]))
            ratio = sources["luminosity"][()] / (0.68 * 1.634e-11 * sources["ionizing_rate"][()])
            np.testing.assert_allclose(ratio, 1, rtol=1e-3)  # digits of E_Lya
        path = self.grid(self.folder / "snap.hdf5", "--cells", 8, "--sources", "sfr", "--overwrite")
        with h5py.File(path) as file:
            np.testing.assert_allclose(file["sources/luminosity"], 0.3e42, rtol=1e-6)
            self.assertEqual(len(file["sources/sfr"]), np.count_nonzero(self.gas["StarFormationRate"]))

    def test_metal_ions_come_from_a_table(self):
        table = self.folder / "ions.h5"
        with h5py.File(table, "w") as file:
            file.attrs.update({"format": "thor ion table", "format_version": 1, "source": "synthetic, for tests"})
            axes = {"log_hydrogen_density": [-9, 3], "log_temperature": [1, 9], "log_metallicity": [-4, 1],
                    "redshift": [3]}
            for name, values in axes.items():
                file[name] = np.array(values, "f8")
            file["ions/MgII"] = np.full((2, 2, 2, 1), -1.0)
            file["ions/MgII"].attrs["solar_abundance"] = 4e-5
            file["lines/MgII_2796"] = np.full((2, 2, 2, 1), -23.0)
            file["lines/MgII_2796"].attrs["units"] = "log10(erg cm3 s-1)"
        options = ("--cells", 16, "--ion-table", table, "--ions", "MgII", "--emissivity", "MgII_2796", *AS_IT_IS)
        path = self.grid(self.snapshot(), *options)
        with h5py.File(path) as file:
            volume = file.attrs["cell_size"] ** 3
            ions = file["MgII_density"][()].astype("f8").sum() * volume
            light = file["emissivity_MgII_2796"][()].astype("f8").sum() * volume
        mass = self.gas["Masses"] * 1e10 * MSUN / H
        density = self.gas["Density"] * 1e10 * MSUN * H**2 / (KPC * A) ** 3
        expected = (0.76 * mass / M_H * 4e-6 * self.gas["GFM_Metallicity"] / 0.0127).sum()
        self.assertAlmostEqual(ions / expected, 1, 5)
        with h5py.File(path) as file:  # of a share that is the same everywhere
            weight = file["MgII_density"][()].astype("f8")
            speed = (weight * file["MgII_velocity_x"][()]).sum() / weight.sum()
        metals = mass * self.gas["GFM_Metallicity"]
        self.assertAlmostEqual(speed, np.average(self.gas["Velocities"][:, 0], weights=metals) * np.sqrt(A), 2)
        self.assertAlmostEqual(light / (1e-23 * (0.76 * density / M_H) ** 2 * mass / density).sum(), 1, 5)
        self.grid(self.folder / "snap.hdf5", *options[:-3 - len(AS_IT_IS)], "CIV", expect=INPUT, output="other.h5")
        self.assertIn("MgII", self.done.stderr)
        self.grid(self.folder / "snap.hdf5", "--ions", "MgII", expect=USAGE, output="other.h5")

    def test_a_disc_is_turned_face_on(self):
        options = ("--centre", "1.8, 1.8, 1.8 kpc", "--size", "80 kpc", "--cells", 40, "--subtract-bulk", "gas", "--mass-weighted")
        snapshot = self.snapshot(disc=True)
        for orientation, axis in (("face-on", 2), ("edge-on", 0), ("as-is", None)):
            with h5py.File(self.grid(snapshot, *options, "--orient", orientation, "--overwrite")) as file:
                x = file.attrs["origin_x"] + (np.arange(40) + 0.5) * file.attrs["cell_size"]
                place = np.stack(np.meshgrid(x, x, x, indexing="ij"), axis=-1)
                v = np.stack([file[f"velocity_{a}"][()] for a in "xyz"], axis=-1).astype("f8")
                momentum = (file["density"][()][..., None] * np.cross(place, v)).sum(axis=(0, 1, 2))
            share = np.abs(momentum) / np.linalg.norm(momentum)
            if axis is None:
                self.assertLess(max(share), 0.95)
            else:
                self.assertGreater(share[axis], 0.999)


class BadInput(GridCase):
    def test_bad_cells(self):
        def spoil(gas):
            gas["Density"][3:7] = np.nan
            gas["Density"][10] = 0
            gas["Velocities"][20, 1] = np.inf
            gas["Masses"][30] = -1
            gas["InternalEnergy"][40] = 0
        snapshot = self.snapshot(edit=spoil)
        self.grid(snapshot, "--cells", 8, expect=INPUT)
        for said in (r"8 gas elements", r"4 with density not a number \(elements 3, 4, 5, 6\)",
                     r"1 with density zero \(elements 10\)", r"1 with velocity not a number", r"1 with mass negative",
                     r"1 with internal energy.* zero"):
            self.assertRegex(self.done.stderr, said)
        for policy, dropped, floored in (("drop", 8, 0), ("floor", 6, 2)):
            path = self.grid(snapshot, "--cells", 8, "--on-bad-cells", policy, "--overwrite")
            with h5py.File(path) as file:
                how = file["gridding"].attrs
                self.assertEqual((how["bad_cells"], how["bad_cells_dropped"], how["bad_cells_floored"]),
                                 (8, dropped, floored))
                self.assertEqual(text(how["on_bad_cells"]), policy)
                for name in ("density", "HI_temperature", "HI_velocity_y", "HI_density"):
                    self.assertTrue(np.all(np.isfinite(file[name])), name)
            self.assertIn(f"{dropped} skipped", self.done.stdout)

    def test_what_is_missing_is_named(self):
        def without(*names):
            def edit(gas):
                gas.update(dict.fromkeys(names))
            return edit
        self.grid(self.snapshot(edit=without("NeutralHydrogenAbundance")), "--cells", 8, expect=USAGE)
        for choice in ("--ionization equilibrium --uvb", "--ionization table --table", "--ionization collisional"):
            self.assertIn(choice, self.done.stderr)
        self.grid(self.folder / "snap.hdf5", "--cells", 8, "--ionization", "collisional")
        self.grid(self.folder / "snap.hdf5", "--cells", 8, "--ionization", "equilibrium", "--overwrite", expect=USAGE,
                  output="other.h5")
        for name, said in (("Velocities", "velocity"), ("InternalEnergy", "internal energy"), ("Density", "")):
            self.grid(self.snapshot(edit=without(name)), "--cells", 8, expect=INPUT, output="other.h5")
            self.assertIn(said, self.done.stderr)

    def test_broken_files(self):
        snapshot = self.snapshot()
        whole = snapshot.read_bytes()
        (self.folder / "short.hdf5").write_bytes(whole[: len(whole) // 2])
        self.grid(self.folder / "short.hdf5", expect=INPUT)
        self.grid(self.folder / "missing.hdf5", expect=INPUT)

        def shorten(gas):
            gas["Density"] = gas["Density"][:-5]
        self.grid(self.snapshot(edit=shorten), expect=INPUT)
        self.assertIn("Density", self.done.stderr)

        def text_instead(gas):
            gas["Density"] = np.full(len(gas["Density"]), b"x")
        self.grid(self.snapshot(edit=text_instead), expect=INPUT)

    def test_regions_that_cannot_be(self):
        snapshot = self.snapshot()
        for arguments, code in ((("--centre", "2 Mpc, 0, 0 kpc", "--size", "10 kpc"), INPUT),
                                (("--size", "2 Mpc"), INPUT),
                                (("--size", "10 kpc", "--boundary", "open", "--centre", "1, 1, 1 kpc"), INPUT),
                                (("--size", "10 K"), USAGE), (("--cells", "0"), USAGE), (("--cells", "3,4"), USAGE),
                                (("--rotate", "x:3"), USAGE), (("--centre", "here"), USAGE)):
            with self.subTest(arguments):
                self.grid(snapshot, *arguments, expect=code)
        self.grid(snapshot, "--size", "10 kpc", "--boundary", "open", "--centre", "1, 1, 1 kpc", "--allow-outside",
                  "--cells", 8)

        def one_place(gas):
            gas["Coordinates"][:] = 0.5 * BOX
            gas["Masses"] *= 1e-9  # points
        self.grid(self.snapshot(edit=one_place), "--centre", "20, 20, 20 kpc", "--size", "10 kpc", "--cells", 8,
                  expect=INPUT, output="other.h5")
        self.assertIn("no gas in the region", self.done.stderr)

    def test_a_grid_larger_than_memory(self):
        snapshot = self.snapshot()
        self.grid(snapshot, "--cells", 200000, expect=INPUT)
        self.assertRegex(self.done.stderr, r"needs at least 5\.28 TB of memory, 5\.28 TB for one layer of cells .*\(132 bytes per cell\)")
        done = thor("grid", snapshot, "--cells", 200000, "--dry-run")
        self.assertEqual(done.returncode, DONE)
        self.assertRegex(done.stdout, r"memory +5\.28 TB \(132 bytes per cell")
        self.assertRegex(done.stdout, r"slabs +200000 of 1 layers")

    def test_a_name_that_is_taken(self):
        snapshot = self.snapshot()
        path = self.grid(snapshot, "--cells", 4)
        before = path.read_bytes()
        done = thor("grid", snapshot, "-o", path, "--cells", 4)
        self.assertEqual(done.returncode, OUTPUT)
        self.assertEqual(path.read_bytes(), before)
        self.assertEqual(thor("grid", snapshot, "-o", self.folder / "grid.txt").returncode, USAGE)
        self.assertEqual(thor("grid", snapshot, "-o", self.folder / "none/grid.h5", "--cells", 4).returncode, OUTPUT)


class Cubes(GridCase):
    FIELDS = "density=rho:kg/m3,temperature=T,velocity_x=v:m/s,velocity_y=0,velocity_z=-5"

    def cube(self, edit=None):
        rng = np.random.default_rng(5)
        path = self.folder / "cube.h5"
        self.rho = rng.lognormal(-55, 1, (6, 4, 8))
        arrays = {"rho": self.rho, "T": np.full((6, 4, 8), 2e4), "v": 1e4 * rng.normal(size=(6, 4, 8))}
        if edit:
            edit(arrays)
        with h5py.File(path, "w") as file:
            for name, values in arrays.items():
                file[name] = values
            file["T"].attrs["units"] = "K"
        self.arrays = arrays
        return path

    def test_a_cube_becomes_a_grid(self):
        path = self.grid(self.cube(), "--fields", self.FIELDS, "--size", "6 kpc", "--ionization", "collisional")
        with h5py.File(path) as file:
            self.assertAlmostEqual(file.attrs["cell_size"] / KPC, 1, 12)
            self.assertFalse(file.attrs["periodic"])
            np.testing.assert_allclose(file["density"], self.rho * 1e-3, rtol=1e-6)
            np.testing.assert_allclose(file["velocity_x"], self.arrays["v"] * 1e-3, rtol=1e-6)
            np.testing.assert_allclose(file["velocity_z"], -5)
            hydrogen = 0.76 * self.rho * 1e-3 / M_H
            np.testing.assert_allclose(file["HI_density"][()] + file["HII_density"][()], hydrogen, rtol=1e-5)
            self.assertIn("emissivity_recombination", file)
        path = self.grid(self.cube(), "--fields", self.FIELDS + ",HI_density=rho:1/cm3", "--size", "6 kpc",
                         "--boundary", "periodic", "--redshift", "2", output="b.h5")
        with h5py.File(path) as file:
            np.testing.assert_allclose(file["HI_density"], self.rho, rtol=1e-6)
            self.assertTrue(file.attrs["periodic"])
            self.assertGreater(file.attrs["hubble"], 0)

    def test_cubes_that_cannot_be(self):
        good = ("--size", "6 kpc", "--ionization", "collisional")
        for fields, code in ((self.FIELDS.replace("rho:kg/m3", "rho"), INPUT), ("density=rho:g/cm3", USAGE),
                             (self.FIELDS.replace("=rho", "=none"), INPUT), (self.FIELDS + ",x=y", USAGE)):
            with self.subTest(fields):
                self.grid(self.cube(), "--fields", fields, *good, expect=code)
        self.grid(self.cube(), "--fields", self.FIELDS, "--size", "6 kpc", expect=USAGE)
        self.assertIn("--ionization", self.done.stderr)

        def spoil(arrays):
            arrays["T"][3, 2, 1] = np.nan
        self.grid(self.cube(edit=spoil), "--fields", self.FIELDS, *good, expect=INPUT)
        self.assertIn("1 with temperature not a number, the first is [3, 2, 1]", self.done.stderr)

        def reshape(arrays):
            arrays["v"] = arrays["v"][:5]
        self.grid(self.cube(edit=reshape), "--fields", self.FIELDS, *good, expect=INPUT)

    def test_bad_cells(self):
        good = ("--fields", self.FIELDS, "--size", "6 kpc", "--ionization", "collisional")

        def spoil(arrays):
            arrays["T"][3, 2, 1], arrays["T"][0, 0, 0], arrays["T"][5, 3, 7] = np.nan, 0, -4
            arrays["rho"][1, 1, 1], arrays["v"][3, 2, 1] = -1e-24, np.inf
        path = self.cube(edit=spoil)
        self.grid(path, *good, expect=INPUT)
        for words in ("4 cells have impossible values", "1 with temperature zero, the first is [0, 0, 0]",
                      "1 with density negative, the first is [1, 1, 1]", "--on-bad-cells drop"):
            self.assertIn(words, self.done.stderr)
        bad = ([0, 1, 3, 5], [0, 1, 2, 3], [0, 1, 1, 7])
        with h5py.File(self.grid(path, *good, "--on-bad-cells", "drop")) as file:
            self.assertEqual(file["gridding"].attrs["bad_cells_dropped"], 4)
            np.testing.assert_array_equal(file["density"][()][bad], 0)
            np.testing.assert_array_equal(file["temperature"][()][bad], 1e4)
            self.assertTrue(np.isfinite(file["velocity_x"]).all())
            self.assertEqual((file["HI_density"][()] > 0).sum(), 6 * 4 * 8 - 4)
        floors = ("--temperature-floor", "30 K", "--density-floor", "1e-28")
        with h5py.File(self.grid(path, *good, "--on-bad-cells", "floor", *floors, output="floor.h5")) as file:
            self.assertEqual(file["gridding"].attrs["bad_cells_dropped"], 1)
            self.assertEqual(file["gridding"].attrs["bad_cells_floored"], 3)
            np.testing.assert_allclose(file["temperature"][()][bad], [30, 2e4, 1e4, 30])
            np.testing.assert_allclose(file["density"][()][bad], [self.rho[0, 0, 0] * 1e-3, 1e-28, 0,
                                                                   self.rho[5, 3, 7] * 1e-3], rtol=1e-6)
        self.assertIn("bad cells    4: 1 left empty, 3 set to a floor", self.done.stdout)


class SharedData(GridCase):
    def shared(self, name):
        if not (DATA / name).exists():
            skip_loudly(self, f"{DATA / name} is not available")
        return DATA / name

    def test_gadget_boxes(self):
        """Masses from the table, units from /Parameters, and the total mass of 32^3 particles."""
        uvb = self.shared("uvb_treecool_puchwein2018.txt")
        table = self.shared("cloudy_hi_fraction.hdf5")
        for name in ("gadget4_gas32_z2.hdf5", "gadget4_gas32_z3.hdf5"):
            snapshot = self.shared(name)
            with h5py.File(snapshot) as file:
                mass = 32**3 * file["Header"].attrs["MassTable"][0] * 1.989e43 / file["Parameters"].attrs["HubbleParam"]
            for how in (("equilibrium", "--uvb", uvb), ("table", "--table", table)):
                path = self.grid(snapshot, "--cells", 48, "--ionization", *how, "--overwrite")
                with h5py.File(path) as file:
                    total = file["density"][()].astype("f8").sum() * file.attrs["cell_size"] ** 3
                    self.assertAlmostEqual(total / mass, 1, delta=1e-6)
                    neutral = file["HI_density"][()].sum() / (file["HI_density"][()] + file["HII_density"][()]).sum()
                    self.assertTrue(1e-7 < neutral < 1e-2, neutral)  # the intergalactic medium after reionisation
                    self.assertEqual(file["gridding"].attrs["empty_cells"], 0)

    def test_broken_initial_conditions(self):
        snapshot = self.shared("arepo_ic_with_nan.hdf5")
        self.grid(snapshot, "--ionization", "collisional", "--cells", 16, expect=INPUT)
        self.assertIn("3840 with density not a number", self.done.stderr)
        self.assertIn("25524 with density zero", self.done.stderr)
        for policy in ("drop", "floor"):
            path = self.grid(snapshot, "--ionization", "collisional", "--cells", 16, "--on-bad-cells", policy,
                             "--overwrite")
            with h5py.File(path) as file:
                self.assertTrue(np.all(np.isfinite(file["density"])))
                self.assertGreaterEqual(file["gridding"].attrs["bad_cells"], 3840 + 25524)

    def test_gas_without_density(self):
        self.grid(self.shared("camels_tng_subset.hdf5"), "--ionization", "collisional", expect=INPUT)
        self.grid(self.shared("camels_tng_subset.hdf5"), "--ionization", "collisional", "--assume-tng-units",
                  expect=INPUT)
        self.assertIn("density", self.done.stderr)

    def test_swift(self):
        snapshot = self.shared("swift_style.hdf5")
        self.grid(snapshot, "--ionization", "collisional", "--cells", 8, expect=INPUT)  # temperatures are all 0
        path = self.grid(snapshot, "--ionization", "collisional", "--cells", 8, "--on-bad-cells", "floor",
                         "--temperature-floor", "100 K")
        with h5py.File(path) as file, h5py.File(snapshot) as given:
            total = file["density"][()].astype("f8").sum() * file.attrs["cell_size"] ** 3
            cut = file["gridding/totals/mass"].attrs["cut_off"] * MSUN
            mass = given["PartType0/Masses"][()].astype("f8").sum() * 1e3
            self.assertAlmostEqual((total + cut) / mass, 1, delta=1e-6)
            filled = file["density"][()] > 0
            np.testing.assert_allclose(file["HI_temperature"][()][filled], 100, rtol=1e-5)


if __name__ == "__main__":
    main()
