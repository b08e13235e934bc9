"""thor grid --mesh octree of particles: leaves that are as fine as the gas, what is conserved, and what a run makes of it.

    /usr/bin/python3 tests/e2e/test_grid_octree.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import INPUT, KPC, USAGE, main, thor  # noqa: E402
from test_grid import A, AS_IT_IS, BOX, GridCase, H, MSUN, make_snapshot, totals_of  # noqa: E402

SIDE = BOX * KPC / H * A
OCTREE = ("--mesh", "octree", "--sources", "none", *AS_IT_IS)


def leaves_in(path):
    """Lower corners and widths in sides of the box, and the arrays."""
    with h5py.File(path) as file:
        level = file["level"][()]
        corner = np.stack([file[k][()] for k in "xyz"], axis=1) / 2.0 ** level[:, None]
        gas = {name: values[()].astype("f8") for name, values in file.items() if isinstance(values, h5py.Dataset)}
        return corner, 2.0**-level, gas


def members(corner, width, places):
    """How many places each leaf holds."""
    count = np.zeros(len(width), int)
    for i, (low, side) in enumerate(zip(corner, width)):
        count[i] = np.all((places >= low) & (places < low + side), axis=1).sum()
    return count


def spline(q):
    return np.where(q < 0.5, 1 - 6 * q**2 + 6 * q**3, 2 * np.maximum(1 - q, 0) ** 3)


class Octrees(GridCase):
    def snapshot(self, **options):
        self.gas = make_snapshot(self.folder / "snap.hdf5", **options)
        return self.folder / "snap.hdf5"

    def places(self):
        return np.mod(self.gas["Coordinates"] / BOX, 1)

    def assert_totals(self, path, gas, share=1.0, tolerance=1e-6):
        corner, width, g = leaves_in(path)
        volume = (width * SIDE) ** 3
        expected, momentum = totals_of(gas)
        found = {"mass": (g["density"] * volume).sum(), "HI": (g["HI_density"] * volume).sum(),
                 "electrons": (g["electron_density"] * volume).sum(), "metals": (g["density"] * g["metallicity"] * volume).sum() * 0.0127,
                 "momentum": np.array([(g["density"] * g[f"velocity_{a}"] * volume).sum() * 1e5 for a in "xyz"])}
        for name, value in found.items():
            scale = momentum if name == "momentum" else expected[name]
            self.assertLess(np.max(np.abs(value - share * expected[name])) / scale, tolerance, name)

    def test_leaves_hold_no_more_than_asked(self):
        """They fill the box once; one that is there twice or more holds at most `number` elements, or so much mass; and a leaf is not
        split without need: its parent holds more."""
        snapshot = self.snapshot()
        places, masses = self.places(), self.gas["Masses"] / H
        for words, most, weights in ((("--refine-number", 8), 8, np.ones(len(masses))), (("--refine-number", 1), 1, np.ones(len(masses))),
                                     (("--refine-mass", f"{20 * masses.mean() * 1e10} Msun"), 20 * masses.mean(), masses)):
            with self.subTest(words):
                corner, width, _ = leaves_in(self.grid(snapshot, "--overwrite", *OCTREE, *words))
                self.assertAlmostEqual((width**3).sum(), 1, delta=1e-12)
                count = members(corner, width, places)
                self.assertEqual(count.sum(), len(places))
                parents = np.unique(np.concatenate([np.floor(corner / (2 * width[:, None])), width[:, None]], axis=1), axis=0)
                for *at, side in parents:
                    inside = np.all(np.floor(places / (2 * side)) == at, axis=1)
                    self.assertGreater(weights[inside].sum(), most * (1 - 1e-9))
                held = np.array([weights[np.all((places >= low) & (places < low + side), axis=1)].sum() for low, side in zip(corner, width)])
                self.assertTrue(np.all((held <= most * (1 + 1e-9)) | (count < 2)))

    def test_totals_are_conserved(self):
        """In a periodic box and in an open one, where what reaches out is counted."""
        snapshot = self.snapshot()
        for number in (1, 30):
            path = self.grid(snapshot, "--overwrite", "--refine-number", number, *OCTREE)
            self.assert_totals(path, self.gas)
        with self.assertRaises(AssertionError):
            self.assert_totals(path, dict(self.gas, Masses=self.gas["Masses"] * (1 + 2e-6)))
        path = self.grid(snapshot, "--overwrite", "--boundary", "open", *OCTREE)
        with h5py.File(path) as file:
            total = file["gridding/totals/mass"].attrs
            self.assertGreater(total["cut_off"], 1e-3 * total["input"])
            self.assertLess(abs(total["difference"]), 1e-9)
            share = total["gridded"] / total["input"]
            clumping, of_elements = (file["gridding"].attrs[k] for k in ("clumping", "clumping_of_elements"))
        corner, width, g = leaves_in(path)
        self.assertAlmostEqual((g["density"] * (width * SIDE) ** 3).sum() / totals_of(self.gas)[0]["mass"], share, delta=1e-6)
        mass = (g["density"] * width**3).sum()
        self.assertAlmostEqual((g["density"] ** 2 * width**3).sum() / mass**2 / clumping, 1, delta=1e-5)
        self.assertGreater(of_elements, clumping)

    def test_gas_follows_the_kernels(self):
        """The mass of leaves against the integral of the kernels over them, by many random places of each kernel; a twin whose kernels
        are a fifth wider is rejected."""
        snapshot = self.snapshot(count=300)
        path = self.grid(snapshot, "--refine-number", 4, *OCTREE)
        corner, width, g = leaves_in(path)
        mass = g["density"] * (width * SIDE) ** 3 / (self.gas["Masses"].sum() * 1e10 * MSUN / H)
        order = np.argsort(mass)[-60:]
        rng = np.random.default_rng(5)
        n = 20000
        q = rng.random(40 * n)
        q = q[rng.random(40 * n) < spline(q) * q**2 / 0.07][:n]
        way = rng.normal(size=(len(q), 3))
        way *= (q / np.linalg.norm(way, axis=1))[:, None]
        volume = self.gas["Masses"] / self.gas["Density"] / BOX**3

        def expected(wider):
            found = np.zeros(len(order))
            for x, v, m in zip(self.places(), volume, self.gas["Masses"] / self.gas["Masses"].sum()):
                at = np.mod(x + wider * 2.5 * np.cbrt(3 * v / (4 * np.pi)) * way, 1)
                for k, i in enumerate(order):
                    found[k] += m * np.all((at >= corner[i]) & (at < corner[i] + width[i]), axis=1).mean()
            return found

        right = np.abs(mass[order] / expected(1) - 1)
        wrong = np.abs(mass[order] / expected(1.2) - 1)
        self.assertLess(np.median(right), 0.03)
        self.assertLess(right.max(), 0.3)
        self.assertGreater(np.median(wrong), 2 * np.median(right))

    def test_regions_within_wide_kernels(self):
        """A region that is smaller than the kernels in it has the mass that a uniform grid has."""
        snapshot = self.snapshot(count=500)
        for size in ("0.5 kpc", "1 kpc"):
            path = self.grid(snapshot, "--overwrite", *OCTREE, "--centre", "densest", "--size", size)
            with h5py.File(path) as file:
                found = file["gridding/totals/mass"].attrs["gridded"]
            path = self.grid(snapshot, "--overwrite", *AS_IT_IS, "--sources", "none", "--centre", "densest", "--size", size, "--cells", 32)
            with h5py.File(path) as file:
                self.assertAlmostEqual(found / file["gridding/totals/mass"].attrs["gridded"], 1, delta=0.03)

    def test_the_file_does_not_depend_on_threads(self):
        snapshot = self.snapshot()
        one, three = (self.grid(snapshot, *OCTREE, "--threads", t, output=f"{t}.h5") for t in (1, 3))
        a, b = leaves_in(one)[2], leaves_in(three)[2]
        for name in a:
            self.assertTrue(np.array_equal(a[name], b[name]), name)

    def test_a_region_runs(self):
        """Centred, turned, with stars; the light of its gas is that of the file, and `thor info` knows it."""
        snapshot = self.snapshot(stars=20)
        path = self.grid(snapshot, "--mesh", "octree", "--centre", "densest", "--size", "20 kpc", "--rotate", "z:30")
        with h5py.File(path) as file:
            self.assertAlmostEqual(file.attrs["box_size"] / KPC, 20)
            self.assertEqual(file.attrs["origin_x"], -0.5 * file.attrs["box_size"])
        corner, width, g = leaves_in(path)
        light = (g["emissivity_recombination"] * (width * 20 * KPC) ** 3).sum()
        out = self.run_thor({"line": "Lya", "dataset": {"type": "octree", "path": str(path)},
                             "generators": [{"type": "gas", "emission": "recombination", "photons": 50}],
                             "outputs": [{"type": "spectrum", "name": "s", "range": ["-3000 km/s", "3000 km/s"], "bins": 30}], "output": {"path": "o.h5"}})
        with h5py.File(out) as file:
            self.assertAlmostEqual(file["summary"].attrs["luminosity_emitted"] / light, 1, delta=1e-4)
        done = thor("info", path)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_faults(self):
        snapshot = self.snapshot(count=300)
        for words, code, expected in ((("--cells", "8"), USAGE, "--cells"), (("--method", "nearest"), USAGE, "--method"),
                                      (("--refine-number", "0"), USAGE, "--refine-number"), (("--refine-mass", "-1 Msun"), USAGE, "--refine-mass"),
                                      (("--refine-mass", "3 kpc"), USAGE, "--refine-mass"), (("--refine-number", "3", "--refine-mass", "1 Msun"), USAGE, "not with --refine-mass"), (("--density", "mass"), USAGE, "--density"),
                                      (("--on-bad-cells", "floor"), USAGE, "--density-floor"), (("--size", "1 kpc, 2 kpc, 1 kpc", "--boundary", "open"), USAGE, "a cube"),
                                      (("--centre", "100 kpc, 100 kpc, 100 kpc", "--size", "1 pc", "--boundary", "open"), INPUT, "no gas in the region"),
                                      (("--memory", "0.01 MB"), INPUT, "--refine-number")):
            with self.subTest(words):
                self.grid(snapshot, "--mesh", "octree", *words, expect=code)
                self.assertIn(expected, self.done.stderr)
        for words in (("--refine-number", "3"), ("--mesh", "voronoi", "--refine-mass", "1 Msun")):
            self.grid(snapshot, *words, expect=USAGE)

        def spoil(gas):
            gas["Density"][7] = -1
            gas["Masses"][8] = np.nan

        snapshot = self.snapshot(count=300, edit=spoil)
        self.grid(snapshot, *OCTREE, expect=INPUT)
        self.assertIn("2 gas elements have impossible values", self.done.stderr)
        path = self.grid(snapshot, *OCTREE, "--on-bad-cells", "drop")
        good = np.setdiff1d(np.arange(300), [7, 8])
        self.assert_totals(path, {k: v[good] for k, v in self.gas.items()})


if __name__ == "__main__":
    main()
