"""Voronoi meshes: photons and rays through the cells of sites, against grids, nearest sites, and the faces that a numpy walk finds.

    /usr/bin/python3 tests/e2e/test_voronoi.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import copy
import json
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import Case, DONE, INPUT, STOPPED, UNRELIABLE, USAGE, main, read_package, thor  # noqa: E402
from test_octree import KPC, model, random_gas, write, write_grid  # noqa: E402
from test_until import numbers  # noqa: E402
from view_case import ViewCase  # noqa: E402

package = read_package()


def write_sites(path, sites, gas, size=KPC, **more):
    """`sites` from 0 to 1."""
    arrays = {k: (sites[:, i] - 0.5) * size for i, k in enumerate("xyz")}
    write(path, {**arrays, **gas}, **{"box_size": size, "origin_x": -size / 2, "origin_y": -size / 2, "origin_z": -size / 2, **more})


def clumped(rng, count, sigma=0.03):
    """Half of the sites are in a few clumps."""
    sites = rng.random((count, 3))
    clumps = rng.uniform(0.2, 0.8, (3, 3))
    half = count // 2
    sites[:half] = clumps[rng.integers(0, 3, half)] + sigma * rng.standard_normal((half, 3)) * rng.random((half, 1))
    return np.clip(sites, 1e-6, 1 - 1e-6)


def lattice(n):
    return (np.stack([k.ravel() for k in np.indices((n, n, n))], axis=1) + 0.5) / n


def nearest(sites, points, periodic=False):
    """The site of each point, by looking at all."""
    found = []
    for part in np.array_split(points, max(len(points) // 200, 1)):
        way = part[:, None] - sites[None]
        if periodic:
            way -= np.round(way)
        found.append(np.argmin(np.sum(way**2, axis=2), axis=1))
    return np.concatenate(found)


class Photons(Case):
    def both(self, one, two, *how):
        return [{k: v[np.argsort(p["id"])] for k, v in p.items()} for p in (self.run_photons(c, *how) for c in (one, two))]

    def assert_same_histories(self, a, b, precision):
        least = {"double": 0.98, "single": 0.85}[precision]
        same = a["scatterings"] == b["scatterings"]
        self.assertGreater(np.mean(a["scatterings"]), 2)
        self.assertGreater(np.mean(same), least)
        close = np.abs(a["velocity_final"] - b["velocity_final"])[same] < (1e-5 if precision == "double" else 1)
        self.assertGreater(np.mean(close), least)

    def test_a_lattice_of_sites_is_a_grid(self):
        """Its cells are those of the grid: with the same random numbers photons have the same histories, but for rounding. Open and
        periodic, in a Hubble flow, dusty; with another density in one cell they are others."""
        rng = np.random.default_rng(1)
        gas = random_gas(rng, (8, 8, 8), density=2e-6)
        order = rng.permutation(512)
        rows = {name: values.ravel()[order] for name, values in gas.items()}
        write_grid(self.folder / "grid.h5", gas, hubble=1e-14)
        write_sites(self.folder / "sites.h5", lattice(8)[order], rows, hubble=1e-14)
        # Planes of sites are in single precision: half as many photons keep their history over a long path.
        for what, precision, more in (("open", "double", {}), ("open", "single", {}), ("periodic", "double", {"dataset": {"boundary": "periodic", "stop_shift": "0.3 Angstrom"}}),
                                      ("packed", "double", {"dataset": {"packed": True}})):  # fmt: skip
            with self.subTest(what=what, precision=precision):
                configs = [model(kind, self.folder / f"{name}.h5", **copy.deepcopy(more)) for kind, name in (("uniform_grid", "grid"), ("voronoi", "sites"))]
                a, b = self.both(*configs, "--precision", precision)
                self.assert_same_histories(a, b, precision)
        wrong = {**rows, "HI_density": rows["HI_density"].copy()}
        wrong["HI_density"][np.argmin(np.sum((lattice(8)[order] - [0.6, 0.4, 0.7]) ** 2, axis=1))] *= 5
        write_sites(self.folder / "wrong.h5", lattice(8)[order], wrong, hubble=1e-14)
        a, b = self.both(model("uniform_grid", self.folder / "grid.h5"), model("voronoi", self.folder / "wrong.h5"), "--precision", "double")
        with self.assertRaises(AssertionError):
            self.assert_same_histories(a, b, "double")

    def uniform(self, count, density=1e-6):
        gas = {**random_gas(np.random.default_rng(2), count), **{f"velocity_{k}": np.zeros(count) for k in "xyz"}}
        return {**gas, "temperature": np.full(count, 1e4), "HI_density": np.full(count, density), "dust": np.full(count, 1e-3)}

    def test_faces_change_nothing(self):
        """The same gas everywhere, in cells of any shape, or in one."""
        rng = np.random.default_rng(3)
        write_sites(self.folder / "one.h5", np.array([[0.5, 0.5, 0.5]]), self.uniform(1))
        write_sites(self.folder / "many.h5", clumped(rng, 3000), self.uniform(3000))
        for precision in ("double", "single"):
            a, b = self.both(model("voronoi", self.folder / "one.h5"), model("voronoi", self.folder / "many.h5"), "--precision", precision)
            self.assert_same_histories(a, b, precision)

    def test_any_lanes_threads_and_precisions(self):
        rng = np.random.default_rng(4)
        write_sites(self.folder / "sites.h5", clumped(rng, 500), random_gas(rng, 500, density=1e-5))
        config = model("voronoi", self.folder / "sites.h5", acceleration={"jumps": True})
        whole = self.run_photons(config, "--threads", "1")
        for how in (("--one-lane",), ("--threads", "3")):
            other = self.run_photons(config, *how)
            self.assert_identical({k: v[np.argsort(whole["id"])] for k, v in whole.items()}, {k: v[np.argsort(other["id"])] for k, v in other.items()}, str(how))

    def test_light_that_a_thick_wall_sends_back(self):
        """The wall of a thick half of the box reflects photons, which see 1e-10 of a cell of it; offsets in single precision cannot tell
        less than 1e-7. They scatter as often as in a grid, with jumps and without them."""
        rng = np.random.default_rng(5)
        half = clumped(rng, 200, sigma=0.2) * [0.5, 1, 1]
        sites = np.concatenate([half, [1, 0, 0] + half * [-1, 1, 1]])  # mirrored: a flat wall of many faces

        def gas_of(sites):
            return {**self.uniform(len(sites)), "dust": np.zeros(len(sites)), "HI_density": np.where(sites[:, 0] > 0.5, 3e5, 1e-12)}

        write_sites(self.folder / "sites.h5", sites, gas_of(sites))
        write_grid(self.folder / "grid.h5", {k: v.reshape(8, 8, 8) for k, v in gas_of(lattice(8)).items()})
        for jumps, photons in ((True, 8000), (False, 600)):
            found = []
            for kind, name, precision in (("uniform_grid", "grid", "double"), ("voronoi", "sites", "double"), ("voronoi", "sites", "single")):
                config = model(kind, self.folder / f"{name}.h5", photons=photons, dust=False, acceleration={"core_skip": "none", "jumps": jumps}, **({} if jumps else {"limits": {"max_scatterings": 20000}}))
                config["generators"][0]["position"] = ["-0.2 kpc", "0 kpc", "0 kpc"]
                p = self.photons(self.run_thor(config, "--precision", precision, expect=DONE if jumps else UNRELIABLE))
                n = p["scatterings"][p["scatterings"] > 0]
                self.assertGreater(len(n), photons // 5)
                found.append((np.mean(np.log(n)), np.std(np.log(n)) / np.sqrt(len(n))))
            self.assertLess(abs(found[1][0] - found[0][0]), found[0][1])
            self.assertLess(abs(found[2][0] - found[0][0]), 3 * found[0][1])

    def test_jumps_beside_each_wall(self):
        """Photons that start beside a wall of thick gas leave through it as they do from a grid, at places that there are, and in no
        more steps than faces cost: a grid of equal cells jumps across them."""
        write_grid(self.folder / "grid.h5", {k: np.full((2, 2, 2), v[0]) for k, v in self.uniform(1, density=1e-3).items()})
        write_sites(self.folder / "sites.h5", lattice(2), self.uniform(8, density=1e-3))
        for axis in range(3):
            for side in (-1, 1):
                position = ["0 kpc"] * 3
                position[axis] = f"{0.49 * side} kpc"
                more = {"acceleration": {"jumps": True}, "generators": [{"type": "point", "position": position, "photons": 1000}]}
                with self.subTest(position):
                    found = []
                    for kind, name in (("uniform_grid", "grid"), ("voronoi", "sites")):
                        out = self.run_thor(model(kind, self.folder / f"{name}.h5", dust=False, **copy.deepcopy(more)))
                        p = self.photons(out)
                        self.assertTrue(np.isfinite(p["position"]).all())
                        found.append((np.mean(p["direction"][:, axis] * side > 0.5), self.summary(out)["steps"]))
                    self.assertLess(abs(found[1][0] - found[0][0]), 4 * 0.71 / np.sqrt(1000))
                    self.assertLess(found[1][1], 150 * found[0][1])

    def test_jumps_and_observers(self):
        rng = np.random.default_rng(6)
        sites = clumped(rng, 300, sigma=0.1)
        write_grid(self.folder / "grid.h5", {k: np.full((4, 4, 4), v[0]) for k, v in self.uniform(1, density=1).items()})
        for name, density in (("sites", 1), ("more", 2)):
            write_sites(self.folder / f"{name}.h5", sites, self.uniform(300, density=density))
        spectrum = {"type": "spectrum", "name": "v", "axis": "velocity", "range": ["-900 km/s", "900 km/s"], "bins": 30}
        more = {"acceleration": {"jumps": True}, "outputs": [spectrum, {**spectrum, "name": "o", "observer": "o"}],
                "observers": [{"name": "o", "direction": [0.2, 0.5, 0.9]}]}  # fmt: skip

        def seen(kind, name, seed):
            out = self.run_thor({**model(kind, self.folder / name, photons=4000, dust=False, **copy.deepcopy(more)), "seed": seed})
            self.assert_closed(out)
            with h5py.File(out) as file:
                return [(file[f"spectra/{k}/flux"][:], file[f"spectra/{k}/error"][:]) for k in ("v", "o")], dict(file["summary"].attrs)

        def distance(one, two):
            known = (one[1] > 0) | (two[1] > 0)
            return float(np.sum((one[0] - two[0])[known] ** 2 / (one[1] ** 2 + two[1] ** 2)[known]))

        grid, _ = seen("uniform_grid", "grid.h5", 1)
        mesh, summary = seen("voronoi", "sites.h5", 2)
        other, _ = seen("voronoi", "more.h5", 3)
        self.assertGreater(summary["jumps"], 0)
        for k in range(2):
            self.assertLess(distance(grid[k], mesh[k]), 65)
            self.assertGreater(distance(grid[k], other[k]), 65)

    def test_sites_in_walls(self):
        """They are as good as those a little before them: photons leave as they do then, and none is lost."""
        rng = np.random.default_rng(33)
        sites = clumped(rng, 400, sigma=0.2)
        edge = rng.random((400, 3)) < 0.2
        for name, least in (("in", 0), ("before", 1e-7)):
            where = np.where(edge, np.where(sites < 0.5, least, 1 - least), sites)
            write_sites(self.folder / f"{name}.h5", where, random_gas(np.random.default_rng(34), 400, density=1e-6))
        a, b = self.both(*(model("voronoi", self.folder / f"{name}.h5", photons=2000) for name in ("in", "before")), "--precision", "double")
        self.assert_same_histories(a, b, "double")
        self.assertEqual(len(a["id"]), 2000)

    def test_gas_that_shines(self):
        """Photons begin in cells as their light is, and anywhere in each: where any of many points of the box would."""
        rng = np.random.default_rng(7)
        sites = clumped(rng, 60, sigma=0.2)
        gas = {**self.uniform(60, density=1e-12), "emissivity_recombination": np.ones(60)}
        for periodic in (0, 1):
            with self.subTest(periodic=periodic):
                write_sites(self.folder / "sites.h5", sites, gas, periodic=periodic, hubble=1e-13)
                config = model("voronoi", self.folder / "sites.h5", dust=False, **({"dataset": {"stop_shift": "0.01 Angstrom"}} if periodic else {}))
                config["generators"] = [{"type": "gas", "emission": "recombination", "photons": 60000}]
                config["outputs"] = [{"type": "photons", "fields": ["id", "position_initial", "source"]}]
                out = self.run_thor(config)
                self.assertAlmostEqual(self.summary(out)["luminosity_emitted"] / KPC**3, 1, delta=1e-6)
                at = np.mod(self.photons(out)["position_initial"] / KPC + 0.5, 1)
                self.assertGreater(np.mean(self.photons(out)["source"] == nearest(sites, at, periodic)), 0.9999)
                found = np.bincount(nearest(sites, at, periodic), minlength=60)
                truth = nearest(sites, rng.random((200000, 3)), periodic)
                volume = np.bincount(truth, minlength=60) / 200000
                self.assertLess(np.max(np.abs(found / len(at) - volume) / np.sqrt(volume / 200000)), 5)
                # Uniform light fills the box uniformly: with edges and corners of cells.
                for k in range(3):
                    self.assertLess(np.max(np.abs(np.sort(at[:, k]) - np.arange(len(at)) / len(at))), 1.63 / np.sqrt(len(at)))
                cubes = np.bincount((np.floor(at * 8) @ [64, 8, 1]).astype(int), minlength=512)
                chi2 = np.sum((cubes - len(at) / 512) ** 2 / (len(at) / 512))
                self.assertTrue(380 < chi2 < 650, chi2)

    def test_a_run_that_was_cut_goes_on(self):
        rng = np.random.default_rng(8)
        write_sites(self.folder / "sites.h5", clumped(rng, 500), random_gas(rng, 500, density=1e-6))
        spectrum = {"type": "spectrum", "name": "v", "axis": "velocity", "range": ["-300 km/s", "300 km/s"], "bins": 30}
        config = model("voronoi", self.folder / "sites.h5", photons=100000, outputs=[spectrum])
        whole, cut = self.run_thor(config), self.folder / "cut.h5"
        done = thor("run", self.write(config), "-o", cut, "--max-walltime", "0.2", "--threads", "1", "--device", "cpu", cwd=self.folder)
        self.assertEqual(done.returncode, STOPPED, done.stderr)
        done = thor("continue", cut, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(whole) as one, h5py.File(cut) as two:
            np.testing.assert_array_equal(one["spectra/v/flux"][:], two["spectra/v/flux"][:])


class Rays(Case):
    VIA = {"list": [{"position": ["-0.9 kpc", "0.11 kpc", "0.03 kpc"], "direction": [1, 0.1, 0.05]}, {"position": ["0.2 kpc", "0.1 kpc", "-1 kpc"], "direction": [0, 0, 1]},
                    {"position": ["0.02 kpc", "0.13 kpc", "0.6 kpc"], "direction": [-0.3, 0.2, -1]}]}  # fmt: skip

    def result(self, path, *what, arguments=(), **more):
        config = {"driver": "raytrace", "line": "Lya", "dataset": {"type": "voronoi", "path": str(path)}, "operators": list(what), "output": {"path": "out.h5"}, **more}
        result = package.open(self.run_thor(config, *arguments))
        self.addCleanup(result.close)
        return result

    def test_pieces_are_cells(self):
        """Along a sightline the site of each piece is the nearest one, and pieces fill it."""
        rng = np.random.default_rng(9)
        tracer = {"type": "tracer", "name": "pieces", "fields": "HI_density", "sightlines": self.VIA}
        for count, periodic in ((1500, 0), (1500, 1), (1, 1), (2, 1), (3, 1), (5, 1)):  # few are their own neighbours
            sites = clumped(rng, count)
            gas = random_gas(rng, count)
            write_sites(self.folder / "sites.h5", sites, gas, periodic=periodic)
            for precision, tolerance in (("single", 2e-6), ("double", 2e-6)):
                traces = self.result(self.folder / "sites.h5", tracer, arguments=("--precision", precision)).traces["pieces"]
                for i, line in enumerate(self.VIA["list"]):
                    position = np.array([float(x.split()[0]) for x in line["position"]]) + 0.5
                    direction = np.array(line["direction"], float) / np.linalg.norm(line["direction"])
                    with np.errstate(divide="ignore"):
                        ends = np.sort([(-position) / direction, (1 - position) / direction], axis=0)
                    enter, leave = np.max(ends[0][direction != 0]), np.min(ends[1][direction != 0])
                    found = traces[i]
                    begin, length = found.begin / KPC, found.length / KPC
                    begin = begin - begin[0] + enter
                    self.assertAlmostEqual(np.sum(length), leave - enter, delta=1e-5)
                    keep = length > 10 * tolerance
                    for share in (0.02, 0.5, 0.98):
                        middle = position + (begin + share * length)[keep, None] * direction
                        np.testing.assert_allclose(found["HI_density"][keep], gas["HI_density"].astype("f4")[nearest(sites, middle, periodic)], rtol=1e-6)
                    self.assertGreater(np.count_nonzero(keep), 10 if count > 5 else 0)

    def test_slices_are_nearest_sites(self):
        rng = np.random.default_rng(10)
        sites, gas = clumped(rng, 800), random_gas(rng, 800)
        write_sites(self.folder / "sites.h5", sites, gas)
        camera = {"name": "c", "direction": [1, -2, 0.7], "up": [0, 0, 1], "width": "1.4 kpc", "pixels": 60}
        image = self.result(self.folder / "sites.h5", {"type": "slice", "name": "cut", "camera": "c", "field": "temperature"}, cameras=[camera]).images["cut"]
        right, up = (0.5 * (e[1:] + e[:-1]) for e in (image.right, image.up))
        points = image.centre / KPC + right[None, :, None] * image.axes[0] + up[:, None, None] * image.axes[1] + 0.5
        inside = np.all((points > 0) & (points < 1), axis=-1)
        self.assertTrue(np.array_equal(np.isnan(image.values), ~inside))
        truth = gas["temperature"].astype("f4")[nearest(sites, points[inside])]
        self.assertGreater(np.mean(image.values[inside] == truth), 0.998)  # a point may lie in a face
        self.assertGreater(np.count_nonzero(inside), 1000)

    def test_mass_of_a_projection(self):
        """The mass between the rays falls with their number."""
        rng = np.random.default_rng(11)
        sites = clumped(rng, 2000)
        gas = {**random_gas(rng, 2000), "density": rng.lognormal(-60, 2, 2000)}
        write_sites(self.folder / "sites.h5", sites, gas)
        done = thor("check", self.write(model("voronoi", self.folder / "sites.h5")), cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        truth = gas["density"].astype("f4").astype(float)[nearest(sites, rng.random((300000, 3)))]
        mass, error = np.mean(truth), np.std(truth) / np.sqrt(300000)
        errors, totals = [], []
        for samples in (1, 4, 16):
            project = {"type": "projection", "name": "m", "camera": "far", "field": "density", "samples": samples}
            camera = {"name": "far", "direction": [0.3, -0.5, 0.8], "up": [0, 1, 0], "width": "2 kpc", "pixels": 64}
            totals.append(self.result(self.folder / "sites.h5", project, cameras=[camera]).images["m"].total() / KPC**3)
        errors = [abs(t / totals[2] - 1) for t in totals[:2]]
        print("mass of a projection with 1 and 4 samples: within " + ", ".join(f"{e:.1e}" for e in errors) + " of that with 16", file=sys.stderr)
        self.assertLess(abs(totals[2] - mass), 4 * error)
        self.assertLess(errors[1], 6e-4)

    def test_absorption_of_uniform_gas(self):
        """As through a grid: open, periodic, in a Hubble flow."""
        rng = np.random.default_rng(12)
        gas = {**random_gas(rng, 900, density=1e-9), "temperature": np.full(900, 1e4), "HI_density": np.full(900, 1e-9), **{f"velocity_{k}": np.full(900, 10.0) for k in "xyz"}}
        absorb = {"type": "absorption", "name": "forest", "line": "Lya", "range": ["-300 km/s", "600 km/s"], "bins": 300, "sightlines": {**self.VIA, "length": "3.3 kpc"}}
        write_sites(self.folder / "sites.h5", clumped(rng, 900), gas, periodic=1, hubble=1e-15)
        write_grid(self.folder / "grid.h5", {k: np.full((5, 5, 5), v[0]) for k, v in gas.items()}, periodic=1, hubble=1e-15)
        mesh = self.result(self.folder / "sites.h5", absorb).absorption["forest"]
        grid = self.result(self.folder / "grid.h5", absorb, dataset={"type": "uniform_grid", "path": str(self.folder / "grid.h5")}).absorption["forest"]
        self.assertGreater(np.max(grid.tau), 0.1)
        np.testing.assert_allclose(mesh.flux, grid.flux, atol=3e-4)
        np.testing.assert_allclose(mesh.column_density, grid.column_density, rtol=1e-5)

    def test_rays_along_faces_and_edges_of_lattices(self):
        """None is lost, and none goes round an edge: through sites, along faces, edges and corners of a cubic lattice."""
        n = 6
        gas = random_gas(np.random.default_rng(13), n**3)
        gas["HI_density"][:] = 1
        for periodic in (0, 1):
            write_sites(self.folder / "sites.h5", lattice(n), gas, periodic=periodic)
            lines = [{"position": [f"{x / n - 0.5!r} kpc", f"{y / n - 0.5!r} kpc", "-0.7 kpc"], "direction": d}
                     for x in (0.5, 1, 3, 5.5) for y in (1, 2.5, 4) for d in ([0, 0, 1], [1e-9, 0, 1], [1e-7, -1e-8, 1])]  # fmt: skip
            lines += [{"position": ["-0.6 kpc"] * 3, "direction": [1, 1, 1]}, {"position": ["-0.6 kpc", "-0.6 kpc", "0 kpc"], "direction": [1, 1, 0]}]
            for precision in ("single", "double"):
                tracer = {"type": "tracer", "name": "pieces", "fields": "HI_density", "sightlines": {"list": lines}}
                traces = self.result(self.folder / "sites.h5", tracer, arguments=("--precision", precision)).traces["pieces"]
                for i in range(len(lines)):
                    expected = 3**0.5 if i == len(lines) - 2 else 2**0.5 if i == len(lines) - 1 else 1
                    self.assertAlmostEqual(np.sum(traces[i].length) / KPC, expected, delta=1e-4)


class Compact(Case):
    def test_neighbours_in_place_of_planes_change_nothing(self):
        """Not a photon, nor a ray: with light of gas, jumps, observers and lengths of core skipping, in open and periodic boxes."""
        rng = np.random.default_rng(31)
        gas = {**random_gas(rng, 700, density=1e-6), "emissivity_recombination": rng.random(700)}
        for periodic in (0, 1):
            write_sites(self.folder / "sites.h5", clumped(rng, 700), gas, periodic=periodic, hubble=1e-14)
            for acceleration in ({"jumps": True}, {"jumps": False, "core_skip": "local"}):
                config = model("voronoi", self.folder / "sites.h5", photons=300, acceleration=acceleration, observers=[{"name": "o", "direction": [0.3, -0.5, 1]}],
                               **({"dataset": {"stop_shift": "0.3 Angstrom"}} if periodic else {}))
                config["generators"].append({"type": "gas", "emission": "recombination", "photons": 600})
                image = {"type": "image", "name": "sb", "observer": "o", "width": "1 kpc", "pixels": 9}
                config["outputs"] = [*config["outputs"], image]
                with self.subTest(periodic=periodic, acceleration=acceleration):
                    found = []
                    for more in ((), ("--one-lane",), ("--seed", "77")):
                        for compact in ("false", "true"):
                            found.append(numbers(self.run_thor(config, "--threads", "1", "--set", f"dataset.compact={compact}", *more)))
                    for one, other in (found[:2], found[2:4]):
                        self.assertEqual([k for k in one if one[k] != other[k]], [])
                    self.assertNotEqual(found[0], found[5])
            rays = {"driver": "raytrace", "line": "Lya", "dataset": {"type": "voronoi", "path": "sites.h5"}, "output": {"path": "rays.h5"},
                    "cameras": [{"name": "c", "type": "orthographic", "width": "0.8 kpc", "pixels": 20, "direction": [0.2, 0.4, 1]}],
                    "operators": [{"type": "projection", "name": "p", "camera": "c", "field": "HI_density"}, {"type": "slice", "name": "s", "camera": "c", "field": "HI_density"}]}
            images = []
            for compact in (False, True):
                rays["dataset"]["compact"] = compact
                with h5py.File(self.run_thor(rays, "--overwrite")) as file:
                    images.append([next(iter(file[f"images/{k}"].values()))[()] for k in "ps"])
            np.testing.assert_array_equal(images[0], images[1])
            self.assertGreater(np.std(images[0][0]), 0)

    def test_it_takes_less_memory(self):
        rng = np.random.default_rng(32)
        write_sites(self.folder / "sites.h5", clumped(rng, 20000), random_gas(rng, 20000, density=1e-6))
        said = {}
        for compact in ("false", "true"):
            done = thor("check", self.write(model("voronoi", self.folder / "sites.h5")), "--set", f"dataset.compact={compact}", "--json", cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            said[compact] = json.loads(done.stdout)["derived"]["mesh_memory"]["value"] * 1e9 / 20000
        self.assertLess(said["true"], 94)
        self.assertLess(said["false"], 324)
        self.assertGreater(said["false"], 250)

    def test_where_there_is_none(self):
        write_grid(self.folder / "grid.h5", random_gas(np.random.default_rng(1), (4, 4, 4)))
        done = thor("check", self.write(model("uniform_grid", self.folder / "grid.h5", dataset={"compact": True})), cwd=self.folder)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("dataset.compact", done.stderr)
        write_sites(self.folder / "sites.h5", lattice(4), random_gas(np.random.default_rng(1), 64))
        done = thor("run", self.write(model("voronoi", self.folder / "sites.h5", dataset={"compact": True})), "--precision", "double", cwd=self.folder)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("precision: single", done.stderr)
        rays = {"driver": "raytrace", "dataset": {"type": "voronoi", "path": "sites.h5", "compact": True}, "precision": "double", "output": {"path": "rays.h5"},
                "cameras": [{"name": "c", "type": "orthographic", "width": "1 kpc", "pixels": 4, "direction": [0, 0, 1]}],
                "operators": [{"type": "slice", "name": "s", "camera": "c", "field": "HI_density"}]}
        done = thor("run", self.write(rays), cwd=self.folder)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("precision: single", done.stderr)
        write_sites(self.folder / "few.h5", np.random.default_rng(2).random((3, 3)), random_gas(np.random.default_rng(1), 3), periodic=1, hubble=1e-14)
        done = thor("check", self.write(model("voronoi", self.folder / "few.h5", dataset={"compact": True, "stop_shift": "1 Angstrom"})), cwd=self.folder)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("dataset.compact has no effect", done.stderr)


class View(ViewCase):
    def test_sites_in_the_browser(self):
        rng = np.random.default_rng(3)
        write_sites(self.folder / "sites.h5", clumped(rng, 300), random_gas(rng, 300))
        self.start(self.folder / "sites.h5")
        info = self.json("info")
        self.assertIn("HI_density", [field["name"] for field in info["fields"]])
        self.assertGreater(len(np.unique(self.frame(field="HI_density", pixels=64))), 20)


class Files(Case):
    def refuse(self, words, sites, gas=None, expect=INPUT, dataset=None, **attributes):
        sites = np.asarray(sites, float)
        gas = gas or random_gas(np.random.default_rng(1), len(sites))
        write_sites(self.folder / "bad.h5", sites, gas, **attributes)
        self.refused(words, dataset, expect)

    def refused(self, words, dataset=None, expect=INPUT):
        config = model("voronoi", self.folder / "bad.h5", photons=10, **({"dataset": dataset} if dataset else {}))
        done = thor("run", self.write(config), "--overwrite", cwd=self.folder)
        self.assertEqual(done.returncode, expect, done.stderr)
        self.assertRegex(done.stderr, words)
        self.assertFalse((self.folder / "out.h5").exists())

    def test_what_is_no_mesh(self):
        good = clumped(np.random.default_rng(1), 20)
        for words, change in (("not finite|no finite|NaN|nan", (3, 1, np.nan)), ("site 5 .* not inside", (5, 0, 1.2)), ("not inside", (5, 2, -0.01)), ("finite|inf", (0, 0, np.inf))):
            sites = good.copy()
            sites[change[0], change[1]] = change[2]
            self.refuse(words, sites)
        for words, attributes in (("box_size is -1", {"box_size": -1.0}), ("hubble", {"hubble": -1.0}), ("origin", {"origin_y": 1e40})):
            self.refuse(words, good, **attributes)
        self.refuse("1 sites .*HI_density|the site around", good, {**random_gas(np.random.default_rng(1), 20), "HI_density": np.r_[-1.0, np.ones(19)]})
        self.refuse("3 of 4 sites stand where another one does.*units", np.full((4, 3), 0.25))
        write_sites(self.folder / "bad.h5", good, random_gas(np.random.default_rng(1), 20))
        with h5py.File(self.folder / "bad.h5", "a") as file:
            file["level"] = np.zeros(20, int)
        self.refused("an octree: dataset.type: octree")
        with h5py.File(self.folder / "bad.h5", "a") as file:
            del file["z"], file["level"]
        self.refused('no array "z"')
        with h5py.File(self.folder / "bad.h5", "a") as file:
            file["z"] = np.zeros(19)
        self.refused("one for each site")
        with h5py.File(self.folder / "bad.h5", "w") as file:
            file.attrs["box_size"] = 1.0
        self.refused("origin_x|no array")

    def test_sites_that_are_strange(self):
        """One, two, on a line, in a plane, equal ones; in the periodic box a cell may be its own neighbour."""
        rng = np.random.default_rng(2)
        line = np.full((7, 3), 0.5)
        line[:, 0] = (np.arange(7) + 0.5) / 7
        plane = np.concatenate([rng.random((20, 2)), np.full((20, 1), 0.3)], axis=1)
        equal = rng.random((8, 3))[[0, 1, 2, 3, 4, 5, 6, 7, 2, 2, 5]]
        for name, sites in (("one", [[0.3, 0.6, 0.1]]), ("two", [[0.3, 0.6, 0.1], [0.31, 0.6, 0.1]]), ("line", line), ("plane", plane), ("equal", equal)):
            for periodic in (0, 1):
                with self.subTest(name, periodic=periodic):
                    sites = np.asarray(sites)
                    write_sites(self.folder / "strange.h5", sites, random_gas(np.random.default_rng(3), len(sites), density=1e-6), periodic=periodic, hubble=1e-13)
                    config = model("voronoi", self.folder / "strange.h5", photons=500, **({"dataset": {"stop_shift": "0.5 Angstrom"}} if periodic else {}))
                    out = self.run_thor(config)
                    self.assert_closed(out)
                    self.assertEqual("stand where another one does" in self.done.stderr, "equal" in name, self.done.stderr)

    def test_snapshots(self):
        """Sites are the gas elements; with `--density mass` their mass is that of the cells, of elements at one point their sum. The
        light is that of a run."""
        from test_grid import make_snapshot
        snapshot = make_snapshot(self.folder / "snapshot.hdf5", count=400)
        for words, warned in ((("--density", "mass"), False), ((), True)):
            done = thor("grid", "snapshot.hdf5", "--mesh", "voronoi", "--overwrite", "-o", "sites.h5", "--sources", "none", *words, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("times the mass of their gas elements" in done.stderr, warned, done.stderr)
            found = float(done.stdout.split("in the cells of the mesh: ")[1].split()[0])
            self.assertEqual(abs(found) < 1e-6, not warned, found)
            config = {**model("voronoi", self.folder / "sites.h5", dust=False, dataset={"stop_shift": "5 Angstrom"}), "generators": [{"type": "gas", "emission": "recombination", "photons": 100}]}
            config["limits"] = {"max_scatterings": 10}
            done_run = thor("check", self.write(config), cwd=self.folder)
            self.assertEqual(done_run.returncode, 0, done_run.stderr)
        for words in (("--density", "mass"), ("--mesh", "voronoi", "--cells", "8")):
            self.assertEqual(thor("grid", "snapshot.hdf5", "--overwrite", "-o", "sites.h5", *words, cwd=self.folder).returncode, USAGE, words)

    def test_info_and_check(self):
        write_sites(self.folder / "bad.h5", clumped(np.random.default_rng(1), 50), random_gas(np.random.default_rng(1), 50))
        path = self.write(model("voronoi", self.folder / "bad.h5"))
        done = thor("check", path, cwd=self.folder)
        self.assertIn("mean number of faces of a cell", done.stdout)
        done = thor("info", self.folder / "bad.h5", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("50 sites", done.stdout)


if __name__ == "__main__":
    main()
