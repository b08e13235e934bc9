"""Octrees: the photons of a uniform grid, leaves of several sizes, gas that shines, and files that are no octree.

    /usr/bin/python3 tests/e2e/test_octree.py --thor build/release/thor [unittest arguments]
"""

import copy
import re
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import Case, INPUT, USAGE, main  # noqa: E402

KPC = 3.0856775814913673e21
UNITS = {"HI_density": "cm-3", "temperature": "K", "velocity_x": "km s-1", "velocity_y": "km s-1", "velocity_z": "km s-1", "dust": "cm-3",
         "emissivity_recombination": "erg s-1 cm-3"}
FIELDS = ["id", "velocity_initial", "velocity_final", "position", "direction", "scatterings", "column"]


def write(path, arrays, **attributes):
    with h5py.File(path, "w") as file:
        file.attrs.update(attributes)
        for name, values in arrays.items():
            file[name] = values if name in ("level", "x", "y", "z") else np.asarray(values, "f4")
            if name in UNITS:
                file[name].attrs["units"] = UNITS[name]


def write_grid(path, gas, size=KPC, **more):
    n = gas["HI_density"].shape[0]
    write(path, gas, **{"cell_size": size / n, "origin_x": -size / 2, "origin_y": -size / 2, "origin_z": -size / 2, **more})


def write_octree(path, leaves, gas, size=KPC, **more):
    """`leaves`: rows of level, x, y, z."""
    write(path, {**dict(zip(("level", "x", "y", "z"), np.asarray(leaves).T)), **gas},
          **{"box_size": size, "origin_x": -size / 2, "origin_y": -size / 2, "origin_z": -size / 2, **more})


def random_gas(rng, shape, density=3e-5):
    gas = {"HI_density": density * rng.lognormal(0, 1, shape), "temperature": rng.uniform(5e3, 3e4, shape), "dust": 2e-3 * rng.random(shape),
           "emissivity_recombination": rng.random(shape) * (rng.random(shape) < 0.4)}
    return {**gas, **{f"velocity_{k}": rng.normal(0, 15, shape) for k in "xyz"}}


def random_leaves(rng, depth, share):
    """Leaves of several levels, in any order."""
    leaves, todo = [], [(0, 0, 0, 0)]
    while todo:
        level, *at = todo.pop()
        if level == depth or (level > 1 and rng.random() > share):
            leaves.append((level, *at))
        else:
            todo += [(level + 1, *(2 * c + (k >> b & 1) for c, b in zip(at, (2, 1, 0)))) for k in range(8)]
    return np.array(leaves)[rng.permutation(len(leaves))]


def on_a_grid(leaves, gas, depth):
    """The same gas in a grid of the finest leaves."""
    n = 1 << depth
    found = {name: np.empty((n, n, n)) for name in gas}
    for row, (level, *at) in enumerate(leaves):
        width = 1 << (depth - level)
        x, y, z = (slice(c * width, (c + 1) * width) for c in at)
        for name, values in gas.items():
            found[name][x, y, z] = values[row]
    return found


def model(kind, path, photons=2000, dust=True, **more):
    dataset = {"type": kind, "path": str(path), **({"dust": {"cross_section": "1e-19 cm^2", "albedo": 0.5}} if dust else {})}
    return {
        "line": "Lya", "seed": 5, "dataset": {**dataset, **more.pop("dataset", {})},
        "generators": [{"type": "point", "position": ["0.11 kpc", "-0.07 kpc", "0.2 kpc"], "photons": photons, "spectrum": {"type": "gaussian", "sigma": "20 km/s"}}],
        "acceleration": {"core_skip": "none", "jumps": False}, "outputs": [{"type": "photons", "fields": FIELDS}], "output": {"path": "out.h5"}, **more,
    }  # fmt: skip


class Photons(Case):
    def both(self, grid, octree, *how):
        return [{k: v[np.argsort(p["id"])] for k, v in p.items()} for p in (self.run_photons(c, *how) for c in (grid, octree))]

    def test_leaves_of_one_level_are_the_grid(self):
        """Bit for bit, in any order of the leaves: open and periodic, dusty and not, in both precisions, with jumps and without; from
        points, surfaces and beams."""
        rng = np.random.default_rng(1)
        gas = random_gas(rng, (8, 8, 8))
        leaves = np.stack([np.full(512, 3), *(k.ravel() for k in np.indices((8, 8, 8)))], axis=1)
        order = rng.permutation(512)
        rows = {name: values.ravel()[order] for name, values in gas.items()}
        write_grid(self.folder / "grid.h5", gas, hubble=1e-14)
        write_octree(self.folder / "octree.h5", leaves[order], rows, hubble=1e-14)
        beam = [{"type": "extended", "shape": "beam", "radius": "0.4 kpc", "direction": [0.3, -0.5, 0.81], "photons": 2000}]
        surface = [{"type": "extended", "shape": "surface", "radius": "0.3 kpc", "photons": 2000}]
        periodic = {"boundary": "periodic", "stop_shift": "2 Angstrom"}
        for what, how, more in (
            ("single", (), {}), ("double", ("--precision", "double"), {}), ("one lane", ("--one-lane",), {}), ("periodic", (), {"dataset": periodic}),
            ("packed", (), {"dataset": {"packed": True}}), ("no expansion", (), {"dataset": {"hubble_flow": False}}),
            ("jumps", (), {"acceleration": {"jumps": True}}), ("beam", (), {"generators": beam}), ("surface", (), {"generators": surface}),
        ):  # fmt: skip
            with self.subTest(what):
                grid, octree = (model(kind, self.folder / f"{name}.h5", **copy.deepcopy(more)) for kind, name in (("uniform_grid", "grid"), ("octree", "octree")))
                a, b = self.both(grid, octree, *how)
                self.assertGreater(np.mean(a["scatterings"]), 3)
                self.assert_identical(a, b, what)

    def test_leaves_of_several_sizes(self):
        """Photons fly through the same gas as in a grid of the finest leaves: with the same random numbers the same histories, but for
        rounding. With another density in one leaf they are others."""
        rng = np.random.default_rng(2)
        depth = 5
        leaves = random_leaves(rng, depth, 0.5)
        self.assertEqual(set(leaves[:, 0]), {2, 3, 4, 5})
        gas = random_gas(rng, len(leaves), density=6e-7)
        write_octree(self.folder / "octree.h5", leaves, gas)
        write_grid(self.folder / "grid.h5", on_a_grid(leaves, gas, depth))
        wrong = {**gas, "HI_density": gas["HI_density"].copy()}
        wrong["HI_density"][np.argmin(leaves[:, 0])] *= 3
        write_octree(self.folder / "wrong.h5", leaves, wrong)
        for precision, least in (("double", 0.99), ("single", 0.9)):
            with self.subTest(precision):
                a, b = self.both(model("uniform_grid", self.folder / "grid.h5"), model("octree", self.folder / "octree.h5"), "--precision", precision)
                same = a["scatterings"] == b["scatterings"]
                self.assertGreater(np.mean(a["scatterings"]), 2)
                self.assertGreater(np.mean(same), least)
                close = np.abs(a["velocity_final"] - b["velocity_final"])[same] < (1e-5 if precision == "double" else 1)
                self.assertGreater(np.mean(close), least)
                apart = np.abs(a["position"] - b["position"])[same][close] / KPC
                self.assertLess(np.quantile(apart, 0.99), 1e-5 if precision == "double" else 1e-3)
        _, c = self.both(model("uniform_grid", self.folder / "grid.h5"), model("octree", self.folder / "wrong.h5"), "--precision", "double")
        self.assertLess(np.mean(a["scatterings"] == c["scatterings"]), 0.95)

    def test_jumps_and_observers(self):
        """With jumps the steps differ, as rooms do; what is seen does not. Twice the gas is noticed."""
        rng = np.random.default_rng(3)
        leaves = random_leaves(rng, 4, 0.5)
        gas = {**random_gas(rng, len(leaves), density=1), **{f"velocity_{k}": np.zeros(len(leaves)) for k in "xyz"}}
        gas["temperature"][:] = 1e4
        gas["HI_density"] = np.full(len(leaves), 1.0)
        write_octree(self.folder / "octree.h5", leaves, gas)
        write_grid(self.folder / "grid.h5", on_a_grid(leaves, gas, 4))
        write_octree(self.folder / "more.h5", leaves, {**gas, "HI_density": 2 * gas["HI_density"]})
        spectrum = {"type": "spectrum", "name": "v", "axis": "velocity", "range": ["-900 km/s", "900 km/s"], "bins": 30}
        more = {"acceleration": {"jumps": True}, "outputs": [spectrum, {**spectrum, "name": "o", "observer": "o"}],
                "observers": [{"name": "o", "direction": [0.2, 0.5, 0.9]}]}  # fmt: skip

        def seen(kind, name, seed):
            out = self.run_thor({**model(kind, self.folder / name, photons=4000, dust=False, **copy.deepcopy(more)), "seed": seed})
            self.assert_closed(out)
            with h5py.File(out) as file:
                return [(file[f"spectra/{k}/flux"][:], file[f"spectra/{k}/error"][:]) for k in ("v", "o")], dict(file["summary"].attrs)

        grid, _ = seen("uniform_grid", "grid.h5", 1)
        octree, summary = seen("octree", "octree.h5", 2)
        other, _ = seen("octree", "more.h5", 3)
        self.assertGreater(summary["jumps"], 0)

        def distance(one, two):
            known = (one[1] > 0) | (two[1] > 0)
            return float(np.sum((one[0] - two[0])[known] ** 2 / (one[1] ** 2 + two[1] ** 2)[known]))

        for k in range(2):
            self.assertLess(distance(grid[k], octree[k]), 65)
            self.assertGreater(distance(grid[k], other[k]), 65)

    def test_observers_see_what_they_see_of_a_grid(self):
        """Rays that leave the box at once, beside others that go on, in a Hubble flow: of light from a place close to a wall."""
        gas = {"HI_density": np.full((16, 16, 16), 1.7e-7), "temperature": np.full((16, 16, 16), 4617.0), **{f"velocity_{k}": np.full((16, 16, 16), 3.0) for k in "xyz"}}
        at = np.indices((16, 16, 16)).reshape(3, -1).T
        write_grid(self.folder / "grid.h5", gas, 2 * KPC, hubble=3e-14)
        write_octree(self.folder / "octree.h5", np.column_stack([np.full(4096, 4), at]), {name: values.ravel() for name, values in gas.items()}, 2 * KPC, hubble=3e-14)
        seen = {}
        for kind, name in (("uniform_grid", "grid"), ("octree", "octree")):
            config = model(kind, self.folder / f"{name}.h5", photons=20000, dust=False)
            config["generators"][0] |= {"position": ["0.99908 kpc", "-0.4476 kpc", "-0.7787 kpc"], "spectrum": {"type": "thermal", "temperature": "4617 K"}}
            config |= {"observers": [{"name": "o", "direction": [1, 0, 0]}], "acceleration": {"jumps": False}, "peel": {"roulette": 80, "cut": 80},
                       "outputs": [{"type": "photons", "of": "peel", "observer": "o"}]}
            with h5py.File(self.run_thor(config)) as file:
                rows = {k: v[:] for k, v in file["photons/peel"].items()}
            order = np.lexsort((rows["velocity"], rows["position"][:, 1], rows["id"]))
            seen[kind] = {k: v[order] for k, v in rows.items()}
        a, b = seen.values()
        self.assertGreater(len(a["light"]), 2000)
        self.assertLess(np.max(np.abs(a["light"] / np.median(a["light"]) - 1)), 1)
        for name in a:
            np.testing.assert_array_equal(a[name], b[name], name)

    def test_warnings_speak_of_an_octree(self):
        rng = np.random.default_rng(2)
        leaves = random_leaves(rng, 3, 0.4)
        gas = {**random_gas(rng, len(leaves)), "velocity_x": rng.normal(0, 200, len(leaves))}
        write_octree(self.folder / "octree.h5", leaves, gas)
        self.run_thor(model("octree", self.folder / "octree.h5", photons=10))
        self.assertIn("the octree is too coarse", self.done.stderr)
        self.assertIn("Use smaller cells", self.done.stderr)

    def test_gas_that_shines(self):
        """Photons begin in leaves as their light is, and anywhere in each."""
        rng = np.random.default_rng(4)
        leaves = random_leaves(rng, 4, 0.4)
        gas = random_gas(rng, len(leaves), density=1e-9)
        write_octree(self.folder / "octree.h5", leaves, gas)
        config = model("octree", self.folder / "octree.h5", dust=False)
        config["generators"] = [{"type": "gas", "emission": "recombination", "photons": 40000}]
        config["outputs"] = [{"type": "photons", "fields": ["id", "position_initial", "weight", "source"]}]
        out = self.run_thor(config)
        p = self.photons(out)
        light = gas["emissivity_recombination"].astype("f4") * (KPC / 2.0 ** leaves[:, 0]) ** 3
        self.assertAlmostEqual(self.summary(out)["luminosity_emitted"] / np.sum(light), 1, delta=1e-6)
        at = p["position_initial"] / KPC + 0.5
        width = 0.5 ** leaves[:, 0]
        low = leaves[:, 1:] * width[:, None]
        owner = np.full(len(at), -1)
        for row in range(len(leaves)):
            owner[np.all((at >= low[row]) & (at < low[row] + width[row]), axis=1)] = row
        self.assertTrue(np.all(owner >= 0))
        np.testing.assert_array_equal(p["source"], owner)
        expected = light / np.sum(light) * len(at)
        found = np.bincount(owner, minlength=len(leaves))
        self.assertTrue(np.all(found[expected == 0] == 0))
        self.assertLess(np.max(np.abs(found - expected)), 4)  # photons are dealt to leaves, not drawn
        within = (at - low[owner]) / width[owner, None]
        for k in range(3):
            self.assertLess(np.max(np.abs(np.sort(within[:, k]) - np.arange(len(at)) / len(at))), 1.95 / np.sqrt(len(at)))

    def test_a_run_that_was_cut_goes_on(self):
        from support import STOPPED, thor
        rng = np.random.default_rng(6)
        leaves = random_leaves(rng, 4, 0.5)
        write_octree(self.folder / "octree.h5", leaves, random_gas(rng, len(leaves), density=1e-6))
        spectrum = {"type": "spectrum", "name": "v", "axis": "velocity", "range": ["-300 km/s", "300 km/s"], "bins": 30}
        config = model("octree", self.folder / "octree.h5", photons=200000, outputs=[spectrum])
        whole, cut = self.run_thor(config), self.folder / "cut.h5"
        done = thor("run", self.write(config), "-o", cut, "--max-walltime", "0.2", "--threads", "1", "--device", "cpu", cwd=self.folder)
        self.assertEqual(done.returncode, STOPPED, done.stderr)
        done = thor("continue", cut, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(whole) as one, h5py.File(cut) as two:
            np.testing.assert_array_equal(one["spectra/v/flux"][:], two["spectra/v/flux"][:])
            self.assertEqual(one["summary"].attrs["scatterings"], two["summary"].attrs["scatterings"])


class Files(Case):
    def refuse(self, words, leaves, gas=None, expect=INPUT, dataset=None, **attributes):
        rng = np.random.default_rng(7)
        gas = random_gas(rng, len(leaves)) if gas is None else gas
        write_octree(self.folder / "bad.h5", leaves, gas, **attributes)
        self.assertIn(words, self.refused(dataset, expect))

    def refused(self, dataset=None, expect=INPUT):
        from support import thor
        path = self.write(model("octree", self.folder / "bad.h5", dataset=dataset or {}))
        done = thor("run", path, "--overwrite", cwd=self.folder)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stderr

    def test_what_is_no_octree(self):
        whole = [(1, k >> 2 & 1, k >> 1 & 1, k & 1) for k in range(8)]
        self.refuse("leaf 8 (level 1, at 1 1 1) overlaps leaf 7 (level 1, at 1 1 1)", [*whole, (1, 1, 1, 1)])
        self.refuse("leaf 8 (level 2, at 0 0 0) overlaps leaf 0 (level 1, at 0 0 0)", [*whole, (2, 0, 0, 0)])
        self.refuse("there is a gap before leaf 3 (level 1, at 1 0 0)", [w for k, w in enumerate(whole) if k != 3])
        self.refuse("there is a gap at the end of the box", whole[:7])
        self.refuse("leaf 7 (level 1, at 1 1 2) lies outside the box", [*whole[:7], (1, 1, 1, 2)])
        self.refuse("leaf 7 (level 1, at 1 1 -1) lies outside the box", [*whole[:7], (1, 1, 1, -1)])
        self.refuse("leaf 0 has level 30", [(30, 0, 0, 0)])
        self.refuse("leaf 0 has level -1", [(-1, 0, 0, 0)])
        self.refuse("box_size is -1", whole, box_size=-1.0)
        self.refuse("box_size is nan" if False else "is not a number", whole, box_size=np.nan)
        self.refuse("more than 1e6 sides of the box away", whole, origin_x=1e30)
        self.refuse("is no number", whole, box_size="1 kpc")
        self.refuse("redshift is -3", whole, redshift=-3.0)
        gas = random_gas(np.random.default_rng(8), 8)
        self.refuse('no array "HI_density"', whole, {k: v for k, v in gas.items() if k != "HI_density"})
        self.refuse('array "temperature" has 7 numbers and "level" 8', whole, {**gas, "temperature": gas["temperature"][:7]})
        bad = {**gas, "HI_density": np.where(np.arange(8) == 5, np.nan, gas["HI_density"])}
        self.refuse("1 of 8 cells are bad, the first is the leaf around 0.25, -0.25, 0.25 kpc with density = nan", whole, bad)
        write_octree(self.folder / "bad.h5", whole, bad)
        path = self.write(model("octree", self.folder / "bad.h5", dataset={"bad_cells": "drop"}))
        from support import thor
        done = thor("run", path, "--overwrite", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 bad cells were made empty", done.stderr)
        self.refuse("photons never leave a periodic box", whole, expect=USAGE, periodic=1)
        (self.folder / "bad.h5").write_bytes((self.folder / "bad.h5").read_bytes()[:2000])
        self.refused()
        write_grid(self.folder / "bad.h5", {k: v.reshape(2, 2, 2) for k, v in gas.items()})
        self.assertIn('no attribute "box_size" in the root group: not an octree', self.refused())

    def test_places_are_whole_numbers(self):
        from support import thor
        whole = np.array([(1, k >> 2 & 1, k >> 1 & 1, k & 1) for k in range(8)])
        for name in ("level", "x"):
            write_octree(self.folder / "bad.h5", whole, random_gas(np.random.default_rng(1), 8))
            with h5py.File(self.folder / "bad.h5", "a") as file:
                values = file[name][()] + 0.5
                del file[name]
                file[name] = values
            self.assertIn(f'array "{name}" is float64; expected whole numbers', self.refused())
        for name, values in (("level", np.full(8, 99)), ("y", np.zeros(7, int))):
            write_octree(self.folder / "bad.h5", whole, random_gas(np.random.default_rng(1), 8))
            with h5py.File(self.folder / "bad.h5", "a") as file:
                del file[name]
                file[name] = values
            done = thor("info", "bad.h5", cwd=self.folder)
            self.assertEqual(done.returncode, INPUT)
            self.assertIn("not an octree", done.stderr)

    def test_statistics_are_of_volumes_and_all_faces(self):
        """A coarse half and a fine one that move against each other, either way round; and atoms, not densities, in a check."""
        from support import thor

        def leaves_of(coarse_is_lower):
            return np.array([(1, 1 - coarse_is_lower, j, k) for j in (0, 1) for k in (0, 1)]
                            + [(3, x + 4 * coarse_is_lower, y, z) for x in range(4) for y in range(8) for z in range(8)])  # fmt: skip

        found = []
        for lower in (1, 0):
            leaves = leaves_of(lower)
            coarse = leaves[:, 0] == 1
            gas = {"HI_density": np.full(len(leaves), 1e-3), "temperature": np.full(len(leaves), 1e4), **{f"velocity_{k}": np.zeros(len(leaves)) for k in "xyz"}}
            gas["velocity_y"][coarse] = 50
            write_octree(self.folder / "half.h5", leaves, gas)
            out = thor("check", self.write(model("octree", self.folder / "half.h5", dust=False)), cwd=self.folder).stdout
            found.append([float(re.search(rf"{name} +(\S+)", out)[1]) for name in ("velocity_jumps", "largest_jump")])
        np.testing.assert_allclose(found[0], found[1])
        self.assertAlmostEqual(found[0][0], 64 / (64 + 4 + 3 * 64 + 2 * 4 * 7 * 8), delta=1e-4)  # faces across, of coarse leaves, of fine ones
        gas["velocity_y"][:], gas["HI_density"] = 0, np.where(coarse, 1e-3, 1e-2)
        write_octree(self.folder / "half.h5", leaves, gas)
        config = model("octree", self.folder / "half.h5", photons=10, dust=False, acceleration={"core_skip": {"fixed": 3}})
        done = thor("run", self.write(config), "--overwrite", cwd=self.folder)
        self.assertRegex(done.stderr, r"is too large in \S+ % of the cells with 9.\d+ % of the absorbers|with 100 % of the absorbers")

    def test_one_leaf_and_deep_ones(self):
        """A box of one leaf, and a chain of leaves down to level 29, each level of which has seven."""
        gas = random_gas(np.random.default_rng(9), 1, density=1e-3)
        write_octree(self.folder / "one.h5", [(0, 0, 0, 0)], gas)
        self.assert_closed(self.run_thor(model("octree", self.folder / "one.h5", photons=300)))
        leaves = [(level, *((1 << level) - 2 + (k >> b & 1) for b in (2, 1, 0))) for level in range(1, 30) for k in range(7)] + [(29, *3 * ((1 << 29) - 1,))]
        gas = {k: np.repeat(v, len(leaves)) for k, v in gas.items()}
        write_octree(self.folder / "deep.h5", leaves, gas)
        for precision in ("single", "double"):
            config = model("octree", self.folder / "deep.h5", photons=300)
            config["generators"][0]["position"] = ["0.4999 kpc"] * 3
            self.assert_closed(self.run_thor(config, "--precision", precision))

    def test_check_and_a_leaf_that_cannot_be_cut(self):
        from support import thor
        write_octree(self.folder / "bad.h5", [(0, 0, 0, 0)], random_gas(np.random.default_rng(1), 1))
        path = self.write(model("octree", self.folder / "bad.h5"))
        done = thor("run", path, "--domains", "2", "--overwrite", cwd=self.folder)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--domains 2: the octree has 1 cells; take fewer", done.stderr)
        done = thor("check", path, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("number of leaves", done.stdout)


if __name__ == "__main__":
    main()
