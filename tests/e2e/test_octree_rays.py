"""Rays through octrees: against the same gas in a grid of the finest leaves, and against every leaf that a ray meets.

    /usr/bin/python3 tests/e2e/test_octree_rays.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import Case, INPUT, USAGE, main, read_package, thor  # noqa: E402
from test_octree import KPC, on_a_grid, random_gas, random_leaves, write_grid, write_octree  # noqa: E402
from view_case import ViewCase  # noqa: E402

package = read_package()
SIDE = {"direction": [0.3, -0.5, 0.8], "up": [0, 1, 0], "pixels": 40, "width": "1.6 kpc"}
CAMERAS = [{"name": "far", **SIDE}, {"name": "near", "type": "perspective", "pixels": 40, "position": ["0.9 kpc", "0.3 kpc", "-0.2 kpc"], "field_of_view": "60 deg"},
           {"name": "inside", "type": "equirectangular", "position": ["0.05 kpc", "0.1 kpc", "-0.07 kpc"], "pixels": 40}]
VIA = {"list": [{"position": ["-0.9 kpc", "0.11 kpc", "0.03 kpc"], "direction": [1, 0.1, 0.05]}, {"position": ["0.2 kpc", "0.1 kpc", "-1 kpc"], "direction": [0, 0, 1]},
                {"position": ["0.02 kpc", "0.13 kpc", "0.6 kpc"], "direction": [-0.3, 0.2, -1]}]}


def operators():
    return [
        {"type": "slice", "name": "cut", "camera": "far", "field": "temperature"},
        {"type": "projection", "name": "column", "camera": "near", "field": "HI_density"},
        {"type": "projection", "name": "speed", "camera": "inside", "field": "velocity", "weight": "HI_density"},
        {"type": "absorption", "name": "forest", "line": "Lya", "range": ["-300 km/s", "300 km/s"], "bins": 300, "sightlines": VIA},
        {"type": "tracer", "name": "pieces", "fields": "HI_density, velocity", "sightlines": VIA},
    ]


def rays(kind, path, *what, **more):
    return {"driver": "raytrace", "line": "Lya", "dataset": {"type": kind, "path": str(path)}, "cameras": CAMERAS,
            "operators": list(what) or operators(), "output": {"path": "out.h5"}, **more}


class Rays(Case):
    def result(self, config, *arguments):
        result = package.open(self.run_thor(config, *arguments))
        self.addCleanup(result.close)
        return result

    def files(self, depth=5, share=0.6, seed=3, **more):
        rng = np.random.default_rng(seed)
        leaves = random_leaves(rng, depth, share)
        gas = {**random_gas(rng, len(leaves)), "density": rng.lognormal(-60, 2, len(leaves))}
        write_octree(self.folder / "octree.h5", leaves, gas, **more)
        write_grid(self.folder / "grid.h5", on_a_grid(leaves, gas, depth), **more)
        return leaves, gas

    def both(self, *arguments, **more):
        return [self.result(rays(kind, self.folder / f"{name}.h5", **more), *arguments) for kind, name in (("octree", "octree"), ("uniform_grid", "grid"))]

    def assert_same(self, tree, grid, tolerance):
        for name in ("cut", "column", "speed"):
            one, other = tree.images[name].values, grid.images[name].values
            self.assertTrue(np.array_equal(np.isnan(one), np.isnan(other)), name)
            seen = ~np.isnan(one)
            self.assertGreater(np.count_nonzero(seen), 300)
            away = np.abs(one[seen] - other[seen]) > tolerance * np.max(np.abs(other[seen]))
            self.assertLessEqual(np.mean(away), 2e-3 if name == "cut" else 0, name)  # a slice may meet faces
        np.testing.assert_allclose(tree.absorption["forest"].flux, grid.absorption["forest"].flux, atol=20 * tolerance)

    def test_the_gas_of_a_grid(self):
        for precision, tolerance in (("single", 1e-5), ("double", 1e-6)):
            with self.subTest(precision):
                self.files()
                self.assert_same(*self.both("--precision", precision), tolerance)
        leaves, gas = self.files()
        gas["HI_density"][np.argmax(leaves[:, 0] == 2)] *= 3  # a twin: one leaf is denser
        write_octree(self.folder / "octree.h5", leaves, gas)
        with self.assertRaises(AssertionError):
            self.assert_same(*self.both(), 1e-5)

    def test_pieces_are_leaves(self):
        """Along a sightline: where each leaf begins and ends, from its faces."""
        leaves, gas = self.files(depth=8, share=0.35, seed=4)
        size = KPC / 2.0 ** leaves[:, :1]
        low = leaves[:, 1:] * size - KPC / 2
        for precision, tolerance in (("single", 3e-6), ("double", 1e-12)):
            traces = self.result(rays("octree", self.folder / "octree.h5", operators()[-1]), "--precision", precision).traces["pieces"]
            for i, line in enumerate(VIA["list"]):
                position = np.array([float(x.split()[0]) * KPC for x in line["position"]])
                direction = np.array(line["direction"], float) / np.linalg.norm(line["direction"])
                with np.errstate(divide="ignore", invalid="ignore"):
                    a, b = (low - position) / direction, (low + size - position) / direction
                flat = direction == 0
                beside = np.any(((low > position) | (low + size <= position))[:, flat], axis=1)
                begin, end = (np.where(beside, 0, f(g(a, b)[:, ~flat], axis=1)) for f, g in ((np.max, np.minimum), (np.min, np.maximum)))
                met = np.flatnonzero(end > begin + 1e-6 * KPC)
                met = met[np.argsort(begin[met])]
                found = traces[i]
                keep = found.length > 1e-6 * KPC
                origin = traces[i].begin[0] - begin[met[0]]
                self.assertEqual(np.count_nonzero(keep), len(met), (precision, i))
                np.testing.assert_allclose(found.begin[keep] - origin, begin[met], atol=tolerance * KPC)
                np.testing.assert_allclose(found.length[keep], (end - begin)[met], atol=tolerance * KPC)
                np.testing.assert_allclose(found["HI_density"][keep], gas["HI_density"].astype("f4")[met], rtol=1e-6)

    def test_mass_of_a_projection(self):
        """A parallel camera sends `samples`^2 rays through each pixel: the mass between them falls with their number."""
        leaves, gas = self.files(depth=6, share=0.5, seed=6)
        mass = np.sum(gas["density"].astype("f4").astype(float) * (KPC / 2.0 ** leaves[:, 0]) ** 3)
        errors = []
        for samples in (1, 4, 16):
            project = {"type": "projection", "name": "m", "camera": "far", "field": "density", "samples": samples}
            camera = {"name": "far", **SIDE, "width": "2 kpc", "pixels": 64}
            errors.append(abs(self.result(rays("octree", self.folder / "octree.h5", project, cameras=[camera])).images["m"].total() / mass - 1))
        print("mass of a projection with 1, 4 and 16 samples: within " + ", ".join(f"{e:.1e}" for e in errors), file=sys.stderr)
        self.assertLess(errors[1], 1e-3)
        self.assertLess(errors[2], 1e-4)

    def test_deep_trees(self):
        """A chain of leaves down to level 29, through whose corner a ray goes: seven leaves a level."""
        leaves = [(level, *((1 << level) - 2 + (k >> b & 1) for b in (2, 1, 0))) for level in range(1, 30) for k in range(7)] + [(29, *3 * ((1 << 29) - 1,))]
        gas = random_gas(np.random.default_rng(9), len(leaves))
        write_octree(self.folder / "deep.h5", leaves, gas)
        line = {"list": [{"position": ["-0.51 kpc"] * 3, "direction": [1, 1, 1.0000001]}]}
        tracer = {"type": "tracer", "name": "pieces", "fields": "HI_density", "sightlines": line}
        for precision in ("single", "double"):
            found = self.result(rays("octree", self.folder / "deep.h5", tracer), "--precision", precision).traces["pieces"][0]
            self.assertAlmostEqual(np.sum(found.length) / KPC, 3**0.5, delta=1e-6)
            self.assertGreater(len(found.length), 20)

    def test_periodic_boxes(self):
        """A sightline longer than the box goes on in its image, as in a grid; in a Hubble flow, too."""
        self.files(periodic=1, hubble=1e-15)
        absorb = {"type": "absorption", "name": "forest", "line": "Lya", "range": ["-300 km/s", "600 km/s"], "bins": 300,
                  "sightlines": {"list": VIA["list"], "length": "3.3 kpc"}}
        tree, grid = self.both(operators=[absorb])
        np.testing.assert_allclose(tree.absorption["forest"].flux, grid.absorption["forest"].flux, atol=2e-4)

    def test_pictures_are_those_of_the_grid(self):
        self.files()
        view = {"type": "render", "name": "view", "camera": "near", "field": "HI_density", "brightness": "density",
                "transfer": {"range": [1e-6, 1e-3], "map": "viridis", "opacity": 3}}
        tree, grid = self.both(operators=[view])
        np.testing.assert_allclose(tree.images["view"].rgba, grid.images["view"].rgba, atol=2e-4)

    def test_refusals(self):
        self.files(depth=3)
        path = self.write(rays("octree", self.folder / "octree.h5"))
        self.assertEqual(thor("run", path, "--domains", "2", "--overwrite", cwd=self.folder).returncode, USAGE)
        for field, words in (("HI_densty", 'did you mean "HI_density"'), ("level", "level is not a field: expected a number for each cell")):
            config = rays("octree", self.folder / "octree.h5", {"type": "slice", "name": "cut", "camera": "far", "field": field})
            done = thor("run", self.write(config), "--overwrite", cwd=self.folder)
            self.assertEqual(done.returncode, INPUT, done.stderr)
            self.assertIn(words, done.stderr)
        with h5py.File(self.folder / "octree.h5", "a") as file:
            file["HI_density"][3] = np.nan
        config = rays("octree", self.folder / "octree.h5", {"type": "slice", "name": "cut", "camera": "far", "field": "HI_density"})
        done = thor("run", self.write(config), "--overwrite", cwd=self.folder)
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertRegex(done.stderr, r"1 cells hold no finite number .* the first is around \S+, \S+, \S+ kpc")
        config["dataset"]["bad_cells"] = "drop"
        self.run_thor(config)


class View(ViewCase):
    def test_an_octree_in_the_browser(self):
        leaves = random_leaves(np.random.default_rng(3), 4, 0.6)
        write_octree(self.folder / "octree.h5", leaves, random_gas(np.random.default_rng(4), len(leaves)))
        self.start(self.folder / "octree.h5")
        info = self.json("info")
        self.assertNotIn("cells", info)
        self.assertIn("HI_density", [field["name"] for field in info["fields"]])
        self.assertGreater(len(np.unique(self.frame(field="HI_density", pixels=64))), 20)


if __name__ == "__main__":
    main()
