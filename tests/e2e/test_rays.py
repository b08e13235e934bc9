"""The raytracing driver: what it writes, parts of a grid, frames, exports, and mistakes.

    /usr/bin/python3 tests/e2e/test_rays.py --thor build/dev/thor [unittest arguments]

tests/e2e/test_rays_physics.py has its physics, tests/unit/operators its geometry.
"""

import json
import os
import resource
import struct
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import Case, DEVICE, DONE, INPUT, KPC, OUTPUT, STOPPED, USAGE, best_of, limited, main, text, thor  # noqa: E402
from view_case import decode_png  # noqa: E402

FACE = {"name": "face", "direction": [0, 0, 1], "up": [0, 1, 0], "width": "2 kpc", "pixels": 16}
TILTED = {"name": "tilted", "direction": [1, -2, 1.5], "up": [0, 0, 1], "width": "4 kpc", "pixels": 24, "rows": 20}
TRANSFER = {"range": [1e-9, 1e-6], "peaks": [{"at": 3e-8, "width": 0.3, "colour": [0.2, 0.4, 1], "opacity": 3},
                                             {"at": 5e-7, "width": 0.2, "colour": [1, 0.5, 0], "opacity": 20}]}


def write_grid(path, shape=(16, 12, 16), periodic=0, hubble=0., seed=1):
    random = np.random.default_rng(seed)
    with h5py.File(path, "w") as file:
        file.attrs.update({"cell_size": 2 * KPC / 16, "periodic": periodic, "redshift": 3., "hubble": hubble})
        for k, axis in enumerate("xyz"):
            file.attrs["origin_" + axis] = -KPC * shape[k] / 16
        fields = {"HI_density": (10 ** random.uniform(-9, -6, shape), "cm-3"), "density": (10 ** random.uniform(-30, -25, shape), "g cm-3"),
                  "HI_temperature": (10 ** random.uniform(3.5, 5, shape), "K")}
        fields |= {f"HI_velocity_{axis}": (random.normal(0, 40, shape), "km s-1") for axis in "xyz"}
        for name, (values, unit) in fields.items():
            file.create_dataset(name, data=values.astype("f4"), chunks=(8, 8, 8))
            file[name].attrs["units"] = unit


def rays(operators, cameras=(FACE, TILTED), dataset=(), **keys):
    return {"driver": "raytrace", "dataset": {"type": "uniform_grid", "path": "grid.h5", **dict(dataset)}, "cameras": list(cameras),
            "operators": operators, "output": {"path": "out.h5"}, **keys}


def absorption(**keys):
    return {"type": "absorption", "name": "forest", "line": "Lya", "sightlines": {"random": 7, "direction": [0.2, 0.1, 1]},
            "range": ["-400 km/s", "400 km/s"], "bins": 200, **keys}


EVERYTHING = [{"type": "projection", "name": "column", "camera": "tilted", "field": "HI_density"},
              {"type": "projection", "name": "speed", "camera": "tilted", "field": "HI_velocity", "weight": "HI_density * density"},
              {"type": "slice", "name": "cut", "camera": "tilted", "field": "HI_temperature", "offset": "0.1 kpc"},
              {"type": "render", "name": "view", "camera": "tilted", "field": "HI_density", "brightness": "density", "transfer": TRANSFER,
               "samples": 2, "stop": 0},
              absorption(), {"type": "tracer", "name": "run", "fields": "HI_density, HI_velocity", "sightlines": {"grid": 3}}]


def arrays(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


class RayCase(Case):
    def setUp(self):
        super().setUp()
        write_grid(self.folder / "grid.h5")

    def assert_alike(self, one, other, tolerance):
        a, b = arrays(one), arrays(other)
        self.assertEqual(a.keys(), b.keys())
        for name in a:
            scale = np.nanmax(np.abs(a[name].astype(float))) if a[name].size else 1
            np.testing.assert_allclose(a[name].astype(float), b[name].astype(float), rtol=tolerance, atol=tolerance * scale, err_msg=name)


class Results(RayCase):
    def test_what_a_file_has(self):
        path = self.run_thor(rays(EVERYTHING), "--device", "cpu")
        with h5py.File(path) as file:
            self.assertEqual(text(file.attrs["driver"]), "raytrace")
            self.assertTrue(file["summary"].attrs["complete"])
            column, view = file["images/column"], file["images/view"]
            self.assertEqual(column["value"].shape, (20, 24))
            self.assertEqual(text(column["value"].attrs["units"]), "cm-2")
            self.assertEqual(column["edges_right"].shape, (25,))
            self.assertEqual(view["rgba"].shape, (20, 24, 4))
            self.assertEqual(text(file["images/cut/value"].attrs["units"]), "K")
            self.assertTrue(np.isnan(file["images/cut/value"][0, 0]))  # beside the box
            forest = file["absorption/forest"]
            self.assertEqual(forest["tau"].shape, (7, 200))
            self.assertGreater(forest["column_density"][()].min(), 0)
            first = file["traces/run/first"][()]
            self.assertEqual(list(first), [16 * i for i in range(10)])
            config = text(file.attrs["config"])
        again = self.run_thor(config, "--device", "cpu")  # what was resolved can be run again
        self.assert_alike(path, again, 0)

    def test_threads_lanes_and_precision(self):
        path = self.run_thor(rays(EVERYTHING), "--device", "cpu", "--threads", 1)
        self.assert_alike(path, self.run_thor(rays(EVERYTHING), "--device", "cpu", "--threads", 3, "--one-lane"), 0)
        self.assert_alike(path, self.run_thor(rays(EVERYTHING), "--device", "cpu", "--precision", "double"), 1e-4)

    def test_zarr(self):
        done = thor("run", self.write(rays(EVERYTHING)), "-o", self.folder / "out.zarr")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("column", thor("info", self.folder / "out.zarr").stdout)

    def test_parts_of_a_grid_are_put_together(self):
        """Also with several rays a pixel, whose pieces are put together one by one."""
        whole = self.run_thor(rays(EVERYTHING, precision="double"), "--device", "cpu")
        for domains in (2, 5, 8):
            with self.subTest(domains=domains):
                parts = self.run_thor(rays(EVERYTHING, precision="double"), "--device", "cpu", "--domains", domains)
                self.assert_same_but_for_pieces(whole, parts)

    def assert_same_but_for_pieces(self, whole, parts):
        """A piece of a trace may end at the border of a part."""
        a, b = arrays(whole), arrays(parts)
        for name in a:
            if name.startswith("traces/"):
                continue
            scale = np.nanmax(np.abs(a[name].astype(float)))
            np.testing.assert_allclose(a[name].astype(float), b[name].astype(float), rtol=2e-6, atol=2e-6 * scale, err_msg=name)
        for found in (a, b):
            found["sum"] = np.sum(found["traces/run/length"] * found["traces/run/HI_density"])
        self.assertAlmostEqual(a["sum"] / b["sum"], 1, places=6)

    def test_faces_between_parts_and_origins_far_away(self):
        """A ray or a plane in a face between parts is in one of them; coordinates may be large."""
        for origin in (0.1 * KPC, -3.3 * KPC, 1e7 * KPC):
            with h5py.File(self.folder / "grid.h5", "w") as file:
                file.attrs.update({"cell_size": 0.7 * KPC, "origin_x": origin, "origin_y": origin, "origin_z": origin})
                file["density"] = np.ones((12, 14, 16), "f4")
                file["density"].attrs["units"] = "g cm-3"
            camera = {**FACE, "width": "4 kpc", "pixels": 9}
            operators = [{"type": "projection", "name": "p", "camera": "face", "field": "density"},
                         {"type": "slice", "name": "s", "camera": "face", "field": "density"}]
            for domains in (1, 2, 8):
                with self.subTest(origin=origin / KPC, domains=domains):
                    out = self.run_thor(rays(operators, cameras=[camera]), "--device", "cpu", "--domains", domains)
                    found = arrays(out)
                    np.testing.assert_allclose(found["images/p/value"], 16 * 0.7 * KPC, rtol=2e-6)
                    np.testing.assert_array_equal(found["images/s/value"], 1)

    def test_the_density_of_the_dataset(self):
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            file["mine"] = 100 * file["HI_density"][()]
            file["mine"].attrs["units"] = "cm-3"
        plain, mine = (arrays(self.run_thor(rays([absorption()], dataset=keys), "--device", "cpu"))["absorption/forest/column_density"]
                       for keys in ({}, {"density_field": "mine"}))
        np.testing.assert_allclose(mine, 100 * plain, rtol=1e-5)

    def test_line_spread_functions(self):
        """As numpy has it, and however wide in no time."""
        for lsf in (0.3, 3, 40, 3000, 1e7):
            path = self.run_thor(rays([absorption(lsf=f"{lsf} km/s", oversampling=1)]), "--device", "cpu")
            with h5py.File(path) as file:
                flux, observed = (file["absorption/forest"][name][()].astype(float) for name in ("flux", "observed"))
            sigma, bins = lsf / np.sqrt(8 * np.log(2)) / 4, np.arange(200)
            kernel = np.exp(-0.5 * ((bins[:, None] - bins) / sigma) ** 2)
            kernel[np.abs(bins[:, None] - bins) > np.ceil(5 * sigma)] = 0
            np.testing.assert_allclose(observed, flux @ (kernel / kernel.sum(axis=0)), atol=1e-6, err_msg=str(lsf))
        wide = rays([absorption(lsf="2000 km/s", bins=20000, oversampling=32)])
        self.assertLess(best_of(1, lambda: self.run_thor(wide, "--device", "cpu")), 20)

    def test_a_limit_of_time(self):
        """Also along sightlines that take long."""
        write_grid(self.folder / "grid.h5", periodic=1)
        config = rays([absorption(sightlines={"random": 4096, "direction": [0.2, 0.1, 1], "length": "2 Mpc"}, bins=8000)])
        limit = ("--device", "cpu", "--max-walltime", 0.2)
        self.assertLess(best_of(1, lambda: self.run_thor(config, *limit, expect=STOPPED)), 15)

    def test_sets_of_sightlines_by_their_number(self):
        config = rays([absorption(sightlines={"grid": 2, "direction": [1, 0, 0]})])
        with h5py.File(self.run_thor(config, "--device", "cpu")) as file, h5py.File(self.folder / "grid.h5") as grid:
            column = grid["HI_density"][()].astype(float).sum(axis=0) * grid.attrs["cell_size"]
            begin = file["absorption/forest/begin"][()]
            found = file["absorption/forest/column_density"][()]
            origin = [grid.attrs["origin_" + axis] for axis in "xyz"]
            for place, value in zip(begin, found):
                y, z = (int((place[k] - origin[k]) / grid.attrs["cell_size"]) for k in (1, 2))
                self.assertAlmostEqual(value / column[y, z], 1, places=6)


class Pictures(RayCase):
    def png(self, path):
        data = path.read_bytes()
        self.assertTrue(data.startswith(b"\x89PNG"))
        return struct.unpack(">IIBB", data[16:26])

    def test_export(self):
        path = self.run_thor(rays(EVERYTHING), "--device", "cpu")
        done = thor("export", path, "--png", "--fits", cwd=self.folder)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(self.png(self.folder / "view.png"), (24, 20, 8, 2))
        self.assertTrue((self.folder / "column.fits").exists())
        self.assertFalse((self.folder / "view.fits").exists())
        done = thor("export", path, "--png", "--name", "view", "--bits", "16", "--transparent", "--overwrite", cwd=self.folder)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(self.png(self.folder / "view.png"), (24, 20, 16, 6))
        self.assertNotIn("forest", done.stderr)

    def test_what_cannot_be_exported(self):
        path = self.run_thor(rays(EVERYTHING[4:]), "--device", "cpu")
        for arguments in (("--fits",), ("--txt",), ("--txt", "--name", "forest"), ("--fits", "--name", "run")):
            done = thor("export", path, *arguments, cwd=self.folder)
            self.assertEqual(done.returncode, USAGE if "--name" in arguments else INPUT, done.stderr)
            self.assertIn("along sightlines are not exported", done.stderr)
        self.assertIn("forest, run", thor("export", path, "--fits", cwd=self.folder).stderr)
        path = self.run_thor(rays(EVERYTHING), "--device", "cpu")
        done = thor("export", path, "--fits", cwd=self.folder)
        self.assertIn("left out forest, run", done.stderr)
        self.assertIn("left out view", done.stderr)
        done = thor("export", path, "--fits", "--name", "view", cwd=self.folder)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("use --png", done.stderr)
        self.assertRegex(thor("info", path).stdout, "trace +run: HI_density, HI_velocity, 9 sightlines")

    def test_frames(self):
        for path in ({"type": "rotate", "frames": 3, "angle": "90 deg"}, {"type": "zoom", "frames": 3, "width": "1 kpc"},
                     {"type": "fly", "frames": 3, "to": ["0.3 kpc", "0 kpc", "0 kpc"]}):
            with self.subTest(path["type"]):
                config = rays([EVERYTHING[3], EVERYTHING[0]], cameras=[{**TILTED, "path": path}], output={"path": "x.h5", "frames": path["type"]})
                self.run_thor(config, "--device", "cpu")
                frames = sorted((self.folder / path["type"]).glob("view.*.png"))
                self.assertEqual([f.name for f in frames], [f"view.000{i}.png" for i in range(3)])
                self.assertEqual(len({f.read_bytes() for f in frames}), 3, "they differ")
        self.run_thor(config, "--device", "cpu", expect=OUTPUT)  # frames are not replaced
        self.run_thor(config, "--device", "cpu", "--overwrite")

    def moving(self, operator, frames, **path):
        path = {"type": "rotate", "frames": frames, **path}
        return rays([operator], cameras=[{**TILTED, "path": path}], output={"path": "x.h5", "frames": "frames"})

    def test_movies(self):
        """By a program called ffmpeg, which writes down what it is given."""
        programs, frames = self.folder / "bin", self.folder / "frames"
        programs.mkdir()
        (programs / "ffmpeg").write_text('#!/bin/sh\necho "$@" > "$0.said"\ncat > "$0.stdin"\nfor last; do :; done\necho new > "$last"\n')
        (programs / "ffmpeg").chmod(0o755)
        options = {"env": {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}, "input": "typed"}
        self.run_thor(self.moving(EVERYTHING[0], 5), "--device", "cpu", "--quiet", **options)
        self.assertEqual((frames / "column.mp4").read_text(), "new\n")
        self.assertEqual((programs / "ffmpeg.stdin").read_text(), "")  # what is typed is not for it
        others = ["column.0004.txt", "column.04.png", "column.last.png", "columns.0004.png"]
        for name in others:
            (frames / name).touch()
        (frames / "column.mp4").write_text("old")
        for name in ("column.0000.png", "column.0001.png"):
            (frames / name).unlink()
        self.run_thor(self.moving(EVERYTHING[0], 2), "--device", "cpu", expect=OUTPUT, **options)
        self.assertIn("column.mp4", self.done.stderr)
        self.assertEqual((frames / "column.mp4").read_text(), "old")
        self.run_thor(self.moving(EVERYTHING[0], 2), "--device", "cpu", "--overwrite", **options)
        self.assertEqual(sorted(f.name for f in frames.iterdir()), sorted(["column.0000.png", "column.0001.png", "column.mp4", *others]))
        self.assertIn("-frames:v 2 ", (programs / "ffmpeg.said").read_text())
        self.assertEqual((frames / "column.mp4").read_text(), "new\n")

    def test_frames_of_both_signs(self):
        with h5py.File(self.run_thor(self.moving(EVERYTHING[1], 2), "--device", "cpu")) as file:
            speed = file["images/speed/value"][()]
        colours = decode_png((self.folder / "frames/speed.0000.png").read_bytes())[::-1].astype(float)
        seen = np.isfinite(speed)
        self.assertLess(np.nanmin(speed), 0)
        redness = colours[seen][:, 0] - colours[seen][:, 2]
        self.assertGreater(np.corrcoef(speed[seen], redness)[0, 1], 0.9)  # blue below 0, red above
        np.testing.assert_array_equal(colours[~seen], 128)

    def test_pictures_of_nothing(self):
        beside = {**FACE, "centre": ["0 kpc", "0 kpc", "9 kpc"], "depth": "1 kpc"}
        away = {"name": "face", "type": "perspective", "position": ["0 kpc", "0 kpc", "5 kpc"], "centre": ["0 kpc", "0 kpc", "9 kpc"], "pixels": 9}
        for camera, operator in ((beside, EVERYTHING[0]), (away, EVERYTHING[3]), (FACE, {**EVERYTHING[2], "offset": "5 kpc"})):
            self.run_thor(rays([{**operator, "camera": "face"}], cameras=[camera]), "--device", "cpu")
            self.assertIn(f"operators.0 ({operator['name']}): every pixel of camera face is empty", self.done.stderr)
        self.run_thor(rays([{**EVERYTHING[0], "camera": "face"}], cameras=[FACE]), "--device", "cpu")
        self.assertNotIn("nothing", self.done.stderr)

    def test_cameras(self):
        cameras = [{"name": "p", "type": "perspective", "position": ["0 kpc", "-5 kpc", "1 kpc"], "up": [0, 0, 1], "pixels": 20},
                   {"name": "e", "type": "equirectangular", "position": ["0 kpc", "0.01 kpc", "0 kpc"], "up": [0, 0, 1], "pixels": 40}]
        config = rays([{"type": "projection", "name": c["name"], "camera": c["name"], "field": "HI_density"} for c in cameras], cameras=cameras)
        with h5py.File(self.run_thor(config, "--device", "cpu")) as file:
            p, e = file["images/p/value"][()], file["images/e/value"][()]
        self.assertEqual(e.shape, (20, 40))
        self.assertGreater(e.min(), 0)  # gas all around
        self.assertEqual(p[0, 0], 0)
        self.assertGreater(p[10, 10], 0)


class Mistakes(RayCase):
    def refuse(self, config, *words, code=USAGE, arguments=(), **options):
        output = self.folder / "refused.h5"
        done = thor("run", self.write(config), "-o", output, *arguments, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(output.exists())
        self.assertFalse(Path(str(output) + ".partial").exists())

    def test_cameras(self):
        column = [{**EVERYTHING[0], "camera": "face"}]
        for change, words in (({"up": [0, 0, 0]}, ["cameras.0.up", "zero"]), ({"width": "0 kpc"}, ["cameras.0.width"]),
                              ({"direction": [float("nan"), 0, 1]}, ["cameras.0.direction"]), ({"direction": [0, 0, 0]}, ["direction", "zero"]),
                              ({"pixels": 0}, ["pixels"]), ({"widht": "1 kpc"}, ["widht", "width"]), ({"width": "3 km/s"}, ["width"])):
            with self.subTest(change):
                self.refuse(rays(column, cameras=[{**FACE, **change}]), *words)
        self.refuse(rays([{**EVERYTHING[0], "camera": "fac"}]), "operators.0.camera", "did you mean", "face")
        looks_up = {"name": "face", "type": "perspective", "position": ["0 kpc", "0 kpc", "5 kpc"], "up": [0, 0, 1], "pixels": 9}
        at_centre = {**looks_up, "position": ["0 kpc", "0 kpc", "0 kpc"]}
        self.refuse(rays(column, cameras=[at_centre]), "camera face", "position and centre")
        self.refuse(rays([{**EVERYTHING[2], "camera": "face"}], cameras=[{**looks_up, "up": [0, 1, 0]}]), "slice", "orthographic")

    def test_looking_along_up(self):
        """A camera that stands takes another axis, as observers do."""
        images = []
        for up in ([0, 0, 2], [0, 1, 0]):
            out = self.run_thor(rays([{**EVERYTHING[0], "camera": "face"}], cameras=[{**FACE, "up": up}]))
            with h5py.File(out) as file:
                self.assertEqual(list(file[f"images/{EVERYTHING[0]['name']}"].attrs["up"]), [0, 1, 0])
                images.append({name: data[()] for name, data in file[f"images/{EVERYTHING[0]['name']}"].items()})
        for name in images[0]:
            np.testing.assert_array_equal(images[0][name], images[1][name])

    def test_paths(self):
        """All frames are looked at before the first is made."""
        for position, to, words in ((["0 kpc", "-5 kpc", "0 kpc"], ["0 kpc", "5 kpc", "0 kpc"], "position and centre"),
                                    (["0 kpc", "-5 kpc", "5 kpc"], ["0 kpc", "5 kpc", "5 kpc"], "up is parallel")):
            camera = {"name": "face", "type": "perspective", "position": position, "up": [0, 0, 1], "pixels": 9,
                      "path": {"type": "fly", "frames": 3, "to": to}}
            self.refuse(rays([{**EVERYTHING[0], "camera": "face"}], cameras=[camera]), "camera face", words, "frame 1")
        self.assertEqual(list(self.folder.glob("*_frames")), [])

    def test_more_than_memory(self):
        write_grid(self.folder / "grid.h5", periodic=1)
        little = {"arguments": ("--device", "cpu", "--threads", "1"), "code": DEVICE, **limited(resource.RLIMIT_AS, 2_000_000_000)}
        run = {"type": "tracer", "name": "run", "fields": "density, HI_density"}
        for operator, key in ((absorption(sightlines={"random": 100_000_000}), "operators.0"),
                              ({**run, "sightlines": {"random": 1000, "length": "1000 Mpc"}}, "operators.0.sightlines"),
                              ({**run, "sightlines": {"random": 100, "length": "100 Mpc"}}, "operators.0"),
                              (absorption(sightlines={"random": 2}, bins=3_000_000, oversampling=64), "operators.0")):
            with self.subTest(operator):
                self.refuse(rays([operator]), key + ": needs", "are free", "fewer", **little)
        self.refuse(rays([absorption(sightlines={"random": 2, "length": "1e31 cm"})]), "operators.0.sightlines", **little)
        done = thor("check", self.write(rays([EVERYTHING[3]], cameras=[{**TILTED, "pixels": 1000, "rows": 1000}])), "--json")
        self.assertGreater(json.loads(done.stdout)["estimate"]["memory_bytes"], 64e6)

    def test_an_image_larger_than_memory(self):
        self.refuse(rays([{**EVERYTHING[0], "camera": "face"}], cameras=[{**FACE, "pixels": 65536, "rows": 65536}]), "are free", "face",
                    code=DEVICE, arguments=("--device", "cpu", "--threads", "1"), **limited(resource.RLIMIT_AS, 2_000_000_000))

    def test_fields_that_are_not_there(self):
        self.refuse(rays([{**EVERYTHING[0], "field": "HI_densty"}]), "operators.0", "HI_densty", "did you mean", "HI_density", "density",
                    code=INPUT)
        self.refuse(rays([{**EVERYTHING[0], "field": "temperature"}]), "HI_temperature", "--mass-weighted", code=INPUT)
        self.refuse(rays([{**EVERYTHING[0], "field": "density *"}]), "operators.0.field", "product")
        self.refuse(rays([{**EVERYTHING[0], "field": "HI_velocity * HI_velocity"}]), "operators.0", "at most one velocity")
        for fields in ("density, density", "density*HI_density, density * HI_density", "density, begin"):
            self.refuse(rays([{**EVERYTHING[5], "fields": fields}]), "operators.0.fields", fields.split(", ")[1])
        self.refuse(rays([absorption(line="MgII")]), "MgII_density", code=INPUT)
        self.refuse(rays([absorption(line="Lyb?")]), "operators.0.line", "lines:")

    def test_bad_numbers_in_a_field(self):
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            file["HI_density"][3, 2, 1] = np.nan
        self.refuse(rays(EVERYTHING[:1]), "HI_density", "[3, 2, 1]", "bad_cells", code=INPUT)
        self.run_thor(rays(EVERYTHING[:1], dataset={"bad_cells": "drop"}), "--device", "cpu")
        self.assertIn("array HI_density: 1 cells", self.done.stderr)

    def test_gas_that_cannot_be(self):
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            file["HI_temperature"][:, :, 3] = 0
        self.refuse(rays([absorption()]), "colder", "bad_cells", code=INPUT)
        self.run_thor(rays([absorption()], dataset={"bad_cells": "drop"}), "--device", "cpu")
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            del file["HI_velocity_y"].attrs["units"]
        self.refuse(rays([EVERYTHING[1]]), "HI_velocity_y", "units", code=INPUT)
        slab = {"type": "slab", "half_thickness": "1 kpc", "temperature": "1e4 K", "column_density": "1e14 cm^-2"}
        other = {**rays([absorption(line="MgII", sightlines={"random": 1})], cameras=[]), "dataset": slab}
        self.refuse(other, "line", "HI", "MgII")
        self.run_thor({**other, "line": "MgII"}, "--device", "cpu")
        unknown = {**rays([{**EVERYTHING[0], "camera": "face", "field": "electron_density"}], cameras=[FACE]), "dataset": slab}
        self.refuse(unknown, "electron_density", code=INPUT)

    def change(self, name, values, units="cm-3"):
        """Replaces an array of the grid, or adds one."""
        with h5py.File(self.folder / "grid.h5", "a") as file:
            if name in file:
                del file[name]
            file[name] = values
            file[name].attrs["units"] = units

    def test_gas_that_photons_would_not_have(self):
        for name, values, units, words in (("HI_density", -1e-7, "cm-3", "negative density"), ("HI_temperature", 1e15, "K", "hotter"),
                                           ("HI_velocity_y", 1e6, "km s-1", "faster")):
            with self.subTest(name):
                write_grid(self.folder / "grid.h5")
                cells = h5py.File(self.folder / "grid.h5")[name][()]
                cells[3, 4, 5] = values
                self.change(name, cells, units)
                self.refuse(rays([absorption()]), words, "bad_cells", code=INPUT)
                self.run_thor(rays([absorption()], dataset={"bad_cells": "drop"}), "--device", "cpu")
                self.assertIn(words, self.done.stderr)

    def test_a_velocity_is_no_density(self):
        self.refuse(rays([absorption(density_field="HI_velocity")]), "density_field", "HI_velocity", "is a velocity")
        self.refuse(rays([absorption()], dataset={"density_field": "HI_velocity"}), "is a velocity")

    def test_an_array_with_the_name_of_a_velocity(self):
        """The components are what is meant."""
        operators = [absorption(), EVERYTHING[1]]
        path = self.run_thor(rays(operators), "--device", "cpu")
        self.change("HI_velocity", np.full((16, 12, 16), 150, "f4"), "km s-1")
        self.assert_alike(path, self.run_thor(rays(operators), "--device", "cpu"), 0)
        with h5py.File(self.folder / "grid.h5", "a") as file:
            del file["HI_velocity_y"]
        self.refuse(rays([absorption()]), 'no field "HI_velocity_y"', code=INPUT)

    def test_arrays_that_are_no_fields(self):
        for values in (np.ones((16, 12), "f4"), np.ones((16, 12, 16), "c8"), 1.0):
            self.change("metallicity", values, "")
            self.refuse(rays([{**EVERYTHING[0], "field": "metallicity"}]), "metallicity", "three-dimensional", code=INPUT)

    def test_a_brightness_of_both_signs(self):
        cells = h5py.File(self.folder / "grid.h5")["density"][()]
        cells[0, 0, 0] = -1e-30
        self.change("density", cells, "g cm-3")
        self.refuse(rays([EVERYTHING[3]]), "density", "negative", code=INPUT)

    def test_an_origin_beyond_all_numbers(self):
        with h5py.File(self.folder / "grid.h5", "a") as file:
            file.attrs["origin_x"] = 1e300
        self.refuse(rays(EVERYTHING[:1]), "origin", code=INPUT)

    def test_vectors_of_any_length(self):
        path = self.run_thor(rays(EVERYTHING[:1]), "--device", "cpu")
        for factor in (1e-300, 1e290):
            camera = {**TILTED, "direction": [factor * x for x in TILTED["direction"]], "up": [0, 0, factor]}
            self.assert_alike(path, self.run_thor(rays(EVERYTHING[:1], cameras=[camera]), "--device", "cpu"), 1e-14)
            lines = {"random": 3, "direction": [0, 0, factor]}
            self.run_thor(rays([absorption(sightlines=lines)]), "--device", "cpu")

    def test_frames_in_the_way(self):
        """They are noticed before anything is traced, for all operators."""
        camera = {**FACE, "path": {"type": "rotate", "frames": 3}}
        config = rays([{**EVERYTHING[0], "camera": "face"}, {**EVERYTHING[2], "camera": "face"}], cameras=[camera])
        config["output"]["frames"] = str(self.folder / "frames")
        (self.folder / "frames").mkdir()
        (self.folder / "frames/cut.0002.png").touch()
        self.refuse(config, "cut.0002.png", code=OUTPUT)
        self.assertEqual([f.name for f in (self.folder / "frames").iterdir()], ["cut.0002.png"])

    def test_sightlines(self):
        miss = {"list": [{"position": ["0 kpc", "0 kpc", "-3 kpc"], "direction": [0, 0, 1]},
                         {"position": ["9 kpc", "0 kpc", "-3 kpc"], "direction": [0, 0, 1]}]}
        self.refuse(rays([absorption(sightlines=miss)]), "sightlines.list.1", "does not meet the gas")
        self.refuse(rays([absorption(sightlines={"random": 3, "grid": 2})]), "sightlines")
        self.refuse(rays([absorption(sightlines={})]), "sightlines")
        self.refuse(rays([absorption(sightlines={"random": 3, "direction": [0, 0, 0]})]), "direction")
        for far in ("-1e9 kpc", "-1e25 kpc"):
            one = {"list": [{"position": ["0 kpc", "0 kpc", far], "direction": [0, 0, 1]}]}
            self.refuse(rays([absorption(sightlines=one)]), "sightlines.list.0.position", "cells from the gas", "begin nearer")
        write_grid(self.folder / "grid.h5", periodic=1)
        self.refuse(rays([absorption(sightlines=miss)]), "sightlines.length")
        self.run_thor(rays([absorption(sightlines={**miss, "length": "5 kpc"})]), "--device", "cpu")

    def test_a_range_that_misses_the_line(self):
        self.refuse(rays([absorption(range=["50000 km/s", "51000 km/s"])]), "operators.0.range", "Lya", "km/s")
        self.refuse(rays([absorption(axis="wavelength", range=["5000 Angstrom", "5001 Angstrom"])]), "operators.0.range")
        self.refuse(rays([absorption(range=["5 km/s", "4 km/s"])]), "range", "increase")

    def test_keys_without_meaning(self):
        for key, value in (("packed", True), ("dust", {"law": "SMC"}), ("stop_shift", "5 Angstrom")):
            self.refuse(rays(EVERYTHING[:1], dataset={key: value}), f"dataset.{key}")
        self.refuse(rays(EVERYTHING[:1], generators=[]), "generators")
        self.refuse(rays(EVERYTHING[:1] * 2), "two operators")
        self.refuse(rays([]), "operators")
        self.refuse(rays([{**EVERYTHING[3], "transfer": {"range": [1e-9, 1e-6]}}]), "transfer", "exactly one of map, peaks and points")
        self.refuse(rays([{**EVERYTHING[3], "transfer": {**TRANSFER, "range": [-1, 2]}}]), "range", "above 0")
        for at in (0, -1, 1e-20, 1e20):
            peak = {"at": at, "width": 0.3, "colour": [1, 1, 1], "opacity": 3}
            self.refuse(rays([{**EVERYTHING[3], "transfer": {**TRANSFER, "peaks": [peak]}}]), "transfer.peaks.0.at")
            point = {"at": at, "colour": [1, 1, 1], "opacity": 3}
            self.refuse(rays([{**EVERYTHING[3], "transfer": {"range": TRANSFER["range"], "points": [point]}}]), "transfer.points")
        self.refuse(rays([{**EVERYTHING[3], "exposure": 1e30}]), "exposure")
        self.refuse(rays(EVERYTHING[:1]), "--replay", arguments=("--replay", "3"))
        self.refuse(rays(EVERYTHING[:1]), "--checkpoint", "raytrace", arguments=("--checkpoint", "3"))
        made = self.run_thor(rays(EVERYTHING[:1]), "--device", "cpu")
        self.refuse(rays(EVERYTHING[:1]), "rays cannot be continued", arguments=("--restart", made))
        done = thor("continue", made, "--photons", "10")
        self.assertEqual(done.returncode, INPUT)
        self.assertIn("cannot be continued: it is a result of driver: raytrace", done.stderr)
        self.refuse(rays(EVERYTHING[:1]), "cells", arguments=("--domains", "5000"))

    def test_files(self):
        (self.folder / "grid.h5").write_bytes(b"no file of arrays")
        self.refuse(rays(EVERYTHING[:1]), "grid.h5", code=INPUT)
        self.refuse(rays(EVERYTHING[:1], dataset={"path": "nothing.h5"}), "nothing.h5", code=INPUT)
        write_grid(self.folder / "grid.h5")
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            del file["density"]
            file["density"] = np.ones((3, 3, 3), "f4")
        self.refuse(rays([{**EVERYTHING[0], "field": "density"}]), "density", "same shape", code=INPUT)

    def test_check(self):
        done = thor("check", self.write(rays(EVERYTHING)), "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        told = json.loads(done.stdout)
        self.assertIn("HI_density", told["fields"])
        self.assertGreater(told["estimate"]["rays"], 20 * 24 * 4)
        done = thor("check", self.write(rays([{**EVERYTHING[0], "field": "nothing"}])))
        self.assertEqual(done.returncode, INPUT)


if __name__ == "__main__":
    main()
