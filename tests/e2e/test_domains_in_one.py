"""Grids that are cut into parts: whatever the cut, photons and rays have the same histories as in one piece.

    /usr/bin/python3 tests/e2e/test_domains_in_one.py --thor build/dev/thor [unittest arguments]

One process holds all parts here; tests/mpi/test_domains.py has ranks.
"""

import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import Case, DONE, INPUT, STOPPED, THOROUGH, USAGE, KPC, held, main, thor  # noqa: E402
from test_octree import random_leaves, write_octree  # noqa: E402
from test_until import numbers  # noqa: E402
from test_voronoi import clumped, lattice, write_sites  # noqa: E402

SPECTRUM = {"type": "spectrum", "name": "s", "axis": "velocity", "range": ["-300 km/s", "300 km/s"], "bins": 40}
IMAGE = {"type": "image", "name": "sb", "observer": "o", "width": "3 kpc", "pixels": 12}


def write_random_grid(path, shape, random, periodic=False, hubble=0., chunks=None, smooth=False):
    """Cells that have nothing in common with their neighbours, and shine; or little gas that differs among them."""
    with h5py.File(path, "w") as file:
        side = 2 * KPC / max(shape)
        file.attrs.update({"cell_size": side, "origin_x": -0.7 * KPC, "origin_y": -KPC, "origin_z": 0.1 * KPC, "periodic": int(periodic),
                           "redshift": 3., "hubble": hubble})
        density = 10 ** random.uniform(-9, -6, shape)
        fields = {"HI_density": density, "dust": 300 * density, "light": density, "HI_temperature": 10 ** random.uniform(3.5, 5, shape)}
        if smooth:
            density = 1e-4 * (1 + 0.3 * random.random(shape) * (random.random(shape) < 0.1))
            fields |= {"HI_density": density, "dust": density, "light": density, "HI_temperature": np.full(shape, 1e4)}
        fields |= {f"HI_velocity_{axis}": random.normal(0, 0.5 if smooth else 40, shape) for axis in "xyz"}
        for name, values in fields.items():
            file.create_dataset(name, data=values.astype("f4"), chunks=chunks)
            if "velocity" in name:
                file[name].attrs["units"] = "km s-1"
        file["light"].attrs["units"] = "erg s-1 cm-3"


def write_random_mesh(path, kind, random, periodic=False, hubble=0.):
    """The same gas in leaves of several levels, or in the cells of sites: clumps, a lattice, or few."""
    if kind == "octree":
        cells = random_leaves(random, int(random.integers(2, 6)), random.uniform(0.1, 0.5))
    else:
        cells = (clumped(random, 400), lattice(5), random.random((9, 3)))[random.integers(3)]
    count = len(cells)
    density = 10 ** random.uniform(-9, -6, count)
    gas = {"HI_density": density, "dust": 300 * density, "light": density, "temperature": 10 ** random.uniform(3.5, 5, count),
           **{f"velocity_{axis}": random.normal(0, 40, count) for axis in "xyz"}}
    (write_octree if kind == "octree" else write_sites)(path, cells, gas, 2 * KPC, periodic=int(periodic), hubble=hubble)
    with h5py.File(path, "r+") as file:
        file["light"].attrs["units"] = "erg s-1 cm-3"
    return count


def on_random_grid(photons, seed=1, dataset=(), **keys):
    return {"line": "Lya", "seed": seed,
            "dataset": {"type": "uniform_grid", "path": "grid.h5", "dust": {"law": "SMC"}, **dict(dataset)},
            "generators": [{"type": "gas", "emission": "field", "field": "light", "photons": 2 * photons},
                           {"type": "point", "photons": photons, "luminosity": "1e36 erg/s", "position": ["-0.65 kpc", "-0.95 kpc", "0.15 kpc"]},
                           {"type": "extended", "shape": "beam", "photons": photons, "luminosity": "1e36 erg/s", "radius": "1 kpc",
                            "direction": [0.2, 0.5, 1]}],
            "observers": [{"name": "o", "direction": [0.3, -0.2, 1]}],
            "outputs": [SPECTRUM, IMAGE], "output": {"path": "out.h5"}, **keys}


class DomainCase(Case):
    def random_grid(self, shape, seed=1, **how):
        write_random_grid(self.folder / "grid.h5", shape, np.random.default_rng(seed), **how)

    def cut(self, config, domains, *arguments, expect=DONE, **options):
        return self.run_thor(config, "--device", "cpu", "--domains", domains, *arguments, expect=expect, **options)

    def assert_same(self, whole, parts):
        a, b = (numbers(path, ("ranks", "warnings")) for path in (whole, parts))
        a, b = ({key: value for key, value in found.items() if not key.startswith(("domains", "inputs"))} for found in (a, b))
        self.assertEqual(a.keys(), b.keys())
        self.assertEqual([key for key in a if a[key] != b[key]], [])
        self.assertGreater(len(a), 20)


class Same(DomainCase):
    def test_any_cut_of_any_grid(self):
        """Many small runs with shapes, cuts, margins and buffers at random."""
        random = np.random.default_rng(5)
        travelled = 0
        for run in range(12 * THOROUGH):
            shape = tuple(int(n) for n in random.integers(1, 10, 3))
            periodic, hubble = random.choice([False, True]), float(random.choice([0., 3e-14]))
            dataset = {"packed": bool(random.integers(2)), "hubble_flow": bool(hubble), "tiles": int(random.choice([1, 1, 2]))}
            if periodic:
                hubble, dataset = 3e-14, {**dataset, "hubble_flow": True, "stop_shift": "1 Angstrom"}
            self.random_grid(shape, run, periodic=periodic, hubble=hubble)
            config = on_random_grid(int(random.integers(1, 40)), run, dataset, precision=str(random.choice(["single", "double"])))
            if random.integers(3) == 0:
                config["acceleration"] = {"jumps": False, "core_skip": str(random.choice(["none", "local"]))}
            domains = int(random.integers(2, min(np.prod(shape), 20) + 1)) if np.prod(shape) > 1 else 1
            how = ("--domains", domains, "--margin", int(random.integers(4)), "--in-flight", int(random.choice([1, 7, 100])),
                   "--threads", int(random.integers(1, 4)))
            with self.subTest(run=run, shape=shape, periodic=periodic, how=how):
                whole = self.run_thor(config, "--device", "cpu")
                parts = self.run_thor(config, "--device", "cpu", *how)
                self.assert_same(whole, parts)
                with h5py.File(parts) as file:
                    travelled += domains > 1 and file["domains"].attrs["count"] == domains
        self.assertGreater(travelled, 8 * THOROUGH)

    def test_any_cut_of_any_mesh(self):
        """The same of octrees and Voronoi meshes, whose cells touch many others."""
        random = np.random.default_rng(7)
        travelled = 0
        for run in range(16 * THOROUGH):
            kind, periodic = ("octree", "voronoi")[run % 2], run % 4 > 1
            dataset = {"type": kind, "path": "mesh.h5", "packed": bool(random.integers(2))}
            if periodic:
                dataset["stop_shift"] = "1 Angstrom"
            cells = write_random_mesh(self.folder / "mesh.h5", kind, random, periodic, 3e-14 if periodic else 0)
            config = on_random_grid(int(random.integers(1, 40)), run, dataset, precision=str(random.choice(["single", "double"])))
            if random.integers(3) == 0:
                config["acceleration"] = {"jumps": False, "core_skip": str(random.choice(["none", "local"]))}
            domains = int(random.integers(2, min(cells, 20) + 1))
            how = ("--domains", domains, "--margin", int(random.integers(3)), "--in-flight", int(random.choice([1, 7, 100])),
                   "--threads", int(random.integers(1, 4)), *(("--by-light",) if random.integers(2) else ()))
            with self.subTest(run=run, kind=kind, cells=cells, periodic=periodic, how=how):
                whole = self.run_thor(config, "--device", "cpu")
                if kind == "voronoi":  # the compact form is of the whole, on the host
                    dataset["compact"] = bool(random.integers(2)) and config["precision"] == "single"
                parts = self.run_thor(config, "--device", "cpu", *how)
                self.assert_same(whole, parts)
                with h5py.File(parts) as file:
                    travelled += file["domains"].attrs["count"] == domains
        self.assertEqual(travelled, 16 * THOROUGH)

    def test_jumps_where_sites_are_close_to_each_other(self):
        """A site beside a face is not where most room for a jump is: the whole has to have the jumps that parts have."""
        sites = np.array([[0.5 - 1e-6, 0.5, 0.5], [0.5 + 1e-6, 0.5, 0.5]])
        gas = {"HI_density": np.full(2, 3e-4), "temperature": np.full(2, 1e4), **{f"velocity_{k}": np.zeros(2) for k in "xyz"}}
        write_sites(self.folder / "mesh.h5", sites, gas, 2 * KPC)
        config = {"line": "Lya", "dataset": {"type": "voronoi", "path": "mesh.h5"}, "outputs": [SPECTRUM], "output": {"path": "out.h5"},
                  "generators": [{"type": "point", "photons": 40, "position": ["-0.5 kpc", "0 kpc", "0 kpc"]}]}
        whole = self.run_thor(config, "--device", "cpu")
        with h5py.File(whole) as file:
            self.assertGreater(file["summary"].attrs["jumps"], 40)
        self.assert_same(whole, self.cut(config, 2))

    def test_bad_cells_of_a_mesh(self):
        for kind in ("octree", "voronoi"):
            write_random_mesh(self.folder / "mesh.h5", kind, np.random.default_rng(1))
            with h5py.File(self.folder / "mesh.h5", "r+") as file:
                file["temperature"][[3, 5]], file["HI_density"][7] = np.nan, -1
            config = on_random_grid(20, dataset={"type": kind, "path": "mesh.h5", "bad_cells": "drop"})
            with self.subTest(kind=kind):
                self.assert_same(self.run_thor(config, "--device", "cpu"), self.cut(config, 4))
                self.cut({**config, "dataset": {**config["dataset"], "bad_cells": "error"}}, 4, expect=INPUT)

    def test_lights_in_faces_and_rays_along_axes(self):
        """A ray that does not move along an axis may lie in a face between parts all the way, and leaves its part through another."""
        for periodic in (False, True):
            self.random_grid((8, 8, 8), 3, periodic=periodic, hubble=3e-14)
            with h5py.File(self.folder / "grid.h5", "r+") as file:
                file.attrs.update({f"origin_{axis}": -KPC for axis in "xyz"})
            places = (["0 kpc", "0 kpc", "-0.9 kpc"], ["-1 kpc", "0.1 kpc", "-0.9 kpc"], ["0.6 kpc", "-1 kpc", "0 kpc"], ["0 kpc", "0.3 kpc", "-1 kpc"])
            lights = [{"type": "point", "photons": 20, "luminosity": "1e40 erg/s", "position": list(place)} for place in places]
            beams = [{"type": "extended", "shape": "beam", "photons": 20, "luminosity": "1e40 erg/s", "radius": "0.001 kpc", "direction": list(axis)}
                     for axis in ([0, 0, 1], [-1, 0, 0])]
            axes = {"x": [1, 0, 0], "y": [0, -1, 0], "z": [0, 0, 1]}
            config = {**on_random_grid(1, 4, {"hubble_flow": True, "stop_shift": "1 Angstrom"}), "generators": lights + beams,
                      "observers": [{"name": name, "direction": direction, "up": [1, 1, 1]} for name, direction in axes.items()],
                      "outputs": [SPECTRUM, *({**SPECTRUM, "name": f"seen_{name}", "observer": name} for name in axes)]}
            whole = self.run_thor(config, "--device", "cpu")
            for how in ((2,), (8, "--margin", 0), (8,)):
                with self.subTest(periodic=periodic, how=how):
                    self.assert_same(whole, self.cut(config, *how))

    def test_core_skipping_by_lengths_that_cross_parts(self):
        """In gas that hardly changes a length is that to the side of the box, many parts away."""
        for shape, periodic, domains, margin in (((12, 11, 13), False, 27, 0), ((12, 11, 13), False, 5, 2), ((9, 3, 14), True, 12, 1),
                                                 ((4, 8, 3), True, 96, 0)):
            self.random_grid(shape, smooth=True, periodic=periodic, hubble=1e-15)
            dataset = {"stop_shift": "1 Angstrom"} if periodic else {"packed": True}
            config = on_random_grid(15, dataset=dataset, acceleration={"jumps": False, "core_skip": "local"})
            with self.subTest(shape=shape, domains=domains, margin=margin):
                whole = self.run_thor(config, "--device", "cpu")
                self.assert_same(whole, self.cut(config, domains, "--margin", margin))
                config["acceleration"]["core_skip"] = {"fixed": 3}
                with self.assertRaises(AssertionError, msg="the twin: lengths that do not matter"):
                    self.assert_same(whole, self.cut(config, domains, "--margin", margin))
        self.assertIn("core_skip fixed", self.done.stderr)
        said = self.done.stderr.splitlines()
        self.run_thor(config, "--device", "cpu")
        self.assertEqual([line for line in self.done.stderr.splitlines() if "supports" in line], [line for line in said if "supports" in line])

    def test_jumps_through_equal_cells_of_several_parts(self):
        """Photons and the rays of their jumps land in cells of other parts, behind margins of any width."""
        def write(shape, periodic, side):
            self.random_grid(shape, 6, periodic=periodic, hubble=3e-14)
            with h5py.File(self.folder / "grid.h5", "r+") as file:
                for name in list(file):
                    coarse = file[name][::side, ::side, ::side]
                    for axis in range(3):
                        coarse = np.repeat(coarse, side, axis=axis)
                    file[name][...] = 3e4 * coarse[:shape[0], :shape[1], :shape[2]] if name in ("HI_density", "dust") else coarse[
                        :shape[0], :shape[1], :shape[2]]

        for shape, periodic, side, domains, margin in (((20, 12, 9), False, 20, 7, 0), ((20, 12, 9), False, 5, 27, 0), ((16, 9, 14), True, 16, 12, 1),
                                                       ((16, 9, 14), True, 4, 5, 3), ((5, 4, 3), True, 5, 60, 0)):
            write(shape, periodic, side)
            dataset = {"stop_shift": "1 Angstrom", "hubble_flow": True} if periodic else {"packed": side == 5}
            config = on_random_grid(60, dataset=dataset)
            with self.subTest(shape=shape, domains=domains, margin=margin):
                whole = self.run_thor(config, "--device", "cpu")
                self.assert_same(whole, self.cut(config, domains, "--margin", margin, "--threads", 3))

    def test_bad_cells_that_are_dropped(self):
        """They are empty and dark, in whichever part or margin they are."""
        for dataset in ({}, {"packed": True, "tiles": 2}):
            self.random_grid((7, 6, 5))
            config = on_random_grid(60, dataset={"bad_cells": "drop", **dataset}, acceleration={"jumps": False, "core_skip": "local"})
            good = self.run_thor(config, "--device", "cpu")
            with h5py.File(self.folder / "grid.h5", "r+") as file:
                file["HI_temperature"][5, 4, 3] = np.nan
                file["HI_density"][2:4, 3, 1:] = -1
                file["light"][2, 3, 1] = np.nan
                file["HI_velocity_y"][0, 0, 0] = 1e6
            whole = self.run_thor(config, "--device", "cpu")
            said = [line for line in self.done.stderr.splitlines() if "bad cells" in line]
            for domains, margin in ((2, 1), (12, 0), (30, 3)):
                self.assert_same(whole, self.cut(config, domains, "--margin", margin))
                self.assertEqual([line for line in self.done.stderr.splitlines() if "bad cells" in line], said)
            with self.assertRaises(AssertionError, msg="the twin: cells that are good"):
                self.assert_same(good, whole)

    def test_the_twin_another_seed(self):
        self.random_grid((6, 7, 8))
        whole = self.run_thor(on_random_grid(50), "--device", "cpu")
        with self.assertRaises(AssertionError):
            self.assert_same(whole, self.cut(on_random_grid(50, seed=2), 4))

    def test_tiles_are_copies(self):
        """A box of eight copies of a file is what a file with eight copies is."""
        self.random_grid((4, 4, 4), periodic=True, hubble=3e-14)
        tiled = on_random_grid(60, dataset={"tiles": 2, "stop_shift": "1 Angstrom"})
        a = self.run_thor(tiled, "--device", "cpu")
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            for name in list(file):
                values, attributes = np.tile(file[name][()], (2, 2, 2)), dict(file[name].attrs)
                del file[name]
                file[name] = values
                file[name].attrs.update(attributes)
        tiled["dataset"]["tiles"] = 1
        self.assert_same(a, self.run_thor(tiled, "--device", "cpu"))


class Parts(DomainCase):
    def test_stopped_by_the_clock(self):
        """Photons in flight, between parts too, are counted; those that were not started can be."""
        self.random_grid((6, 6, 6))
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            file["HI_density"][...] *= 1e6
            del file["dust"]
        config = on_random_grid(100000, dataset={"dust": None}, acceleration={"jumps": False, "core_skip": "none"})
        del config["dataset"]["dust"], config["observers"], config["outputs"][1]
        out = self.cut(config, 5, "--max-walltime", 0.1, "--drain", 0, "--in-flight", 500, expect=STOPPED)
        summary = self.summary(out)
        self.assertFalse(summary["complete"])
        self.assertGreater(summary["in_flight"], 0)
        self.assertLessEqual(summary["in_flight"], 500)

    def test_rays_that_a_stop_has_cut_are_not_taken_for_all(self):
        """Light of photons that have ended may still be on its way to observers: such a result is neither whole nor continued."""
        shape = (4, 4, 16384)
        self.random_grid(shape, 5)
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            file["HI_density"][...] = 1e-12
        observers = [{"name": f"o{i}", "direction": [1e-5 * i, 2e-5 * i, 1]} for i in range(200)]
        config = {**on_random_grid(1, 1), "observers": observers, "outputs": [SPECTRUM, *({**SPECTRUM, "name": f"s{i}", "observer": f"o{i}"} for i in range(200))]}
        config["generators"] = [{**config["generators"][0], "photons": 10**6}]
        for how in ((), ("--domains", 8)):
            for seconds in (0.05, 0.1, 0.03, 0.2, 0.07, 0.15, 0.3, 0.12):  # a stop may come when nothing is on its way
                out = self.run_thor(config, "--device", "cpu", *how, "--max-walltime", seconds, "--drain", 0, "--threads", 1, expect=STOPPED)
                summary = self.summary(out)
                self.assertFalse(summary["complete"])
                if summary["rays_in_flight"] + summary["in_flight"] > 0:
                    break
            self.assertGreater(summary["rays_in_flight"] + summary["in_flight"], 0)
            done = thor("continue", out, "--device", "cpu")
            self.assertEqual(done.returncode, INPUT, done.stderr)
            self.assertIn("photons or rays in flight", done.stderr)

    def test_goes_on_after_a_stop(self):
        self.random_grid((6, 6, 6))
        config = on_random_grid(3000)
        whole = self.run_thor(config, "--device", "cpu")
        out = self.cut(config, 4, "--max-walltime", 0.2, "--in-flight", 1000, expect=STOPPED, **held("at:5000"))
        self.assertEqual((self.summary(out)["photons"], self.summary(out)["in_flight"]), (5000, 0))
        for _ in range(30):
            self.done = thor("continue", out, "--device", "cpu", "--domains", 3)
            if self.done.returncode == DONE:
                break
        self.assert_same(whole, out)

    def test_what_cannot_be_cut_is_refused(self):
        self.random_grid((2, 3, 2))
        grid = on_random_grid(5)
        shell = {"line": "Lya", "dataset": {"type": "shell", "tau0": 10, "temperature": "1e4 K", "outer_radius": "1 kpc"},
                 "generators": [{"type": "point", "photons": 10, "luminosity": "1e40 erg/s"}], "outputs": [SPECTRUM],
                 "output": {"path": "out.h5"}}
        fuse = {**grid, "peel": {"fuse": {"velocity": "2.5 km/s", "distance": "0.3 pc"}}}
        for config, arguments, says in ((shell, ("--domains", 2), "--domains: gas of type shell"),
                                        (grid, ("--domains", 13), "the grid has 12 cells"),
                                        (fuse, ("--domains", 2, "--device", "cpu"), "peel.fuse needs the whole grid")):
            self.run_thor(config, *arguments, expect=USAGE)
            self.assertIn(says, self.done.stderr)

    def test_bad_cells_are_named_by_their_place_in_the_file(self):
        self.random_grid((6, 6, 6))
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            file["HI_temperature"][5, 4, 3] = np.nan
        self.cut(on_random_grid(5), 8, "--margin", 0, expect=INPUT)
        self.assertIn("[5, 4, 3]", self.done.stderr)


if __name__ == "__main__":
    main()
