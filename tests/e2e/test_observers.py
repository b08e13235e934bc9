"""What observers see, as a user meets it: images, cubes and spectra in both formats, in Python, and mistakes.

    /usr/bin/python3 tests/e2e/test_observers.py --thor build/release/thor [unittest arguments]
"""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
PACKAGE = str(Path(__file__).resolve().parents[2] / "python")
sys.path.insert(0, PACKAGE)
from configurations import sphere  # noqa: E402
from support import Case, DEVICE, DONE, USAGE, main, skip_loudly, text, thor  # noqa: E402

import thor as package  # noqa: E402

OBSERVERS = [{"name": "face", "direction": [0, 0, 1]}, {"name": "edge", "direction": [1, 0, 0], "up": [0, 0, 1]}]
IMAGE = {"type": "image", "name": "sb", "observer": "face", "width": "2 kpc", "pixels": 16}
CUBE = {"type": "cube", "name": "ifu", "observer": "edge", "width": "2 kpc", "pixels": 6, "axis": "velocity",
        "range": ["-100 km/s", "100 km/s"], "bins": 10}
RING = {"type": "spectrum", "name": "ring", "observer": "face", "aperture": {"radius": "0.5 kpc", "inner": "0.1 kpc"},
        "axis": "velocity", "range": ["-100 km/s", "100 km/s"], "bins": 10}
HALO = {"type": "profile", "name": "halo", "observer": "face", "radius": "1 kpc", "bins": 5}
ALL = {"type": "spectrum", "name": "all", "axis": "velocity", "range": ["-100 km/s", "100 km/s"], "bins": 10}
MAP = {"type": "histogram", "name": "map", "axes": [{"quantity": "impact", "range": ["0 kpc", "1 kpc"], "bins": 5},
                                                    {"quantity": "velocity", "range": ["-100 km/s", "100 km/s"], "bins": 4}]}
PEELED = {"type": "photons", "of": "peel", "observer": "face"}


def seen(*outputs, observers=OBSERVERS, photons=2000):
    return {**sphere(1e4, photons, outputs=list(outputs)), "acceleration": {"jumps": True}, "observers": observers}


class Observers(Case):
    def test_the_same_numbers_in_both_formats_and_in_python(self):
        path = self.write(seen(IMAGE, CUBE, RING))
        for name in ("out.h5", "out.zarr"):
            done = thor("run", path, "-o", self.folder / name, "--quiet", "--device", "cpu")
            self.assertEqual(done.returncode, DONE, done.stderr)
        one, other = (package.open(self.folder / name) for name in ("out.h5", "out.zarr"))
        image, cube = one.images["sb"], one.cubes["ifu"]
        np.testing.assert_array_equal(image.brightness, other.images["sb"].brightness)
        np.testing.assert_array_equal(cube.intensity, other.cubes["ifu"].intensity)
        with h5py.File(self.folder / "out.h5") as file:
            np.testing.assert_array_equal(file["images/sb/surface_brightness"][:], image.brightness)
            self.assertEqual(image.unit, "erg s-1 kpc-2")
            self.assertGreater(file["summary"].attrs["rays"], file["summary"].attrs["rays_cut"])
        emitted = one.summary["luminosity_emitted"]
        self.assertAlmostEqual(image.luminosity() / emitted, 1, delta=0.05)
        self.assertEqual((image.observer, image.direction.tolist()), ("face", [0, 0, 1]))
        # The cube is an image by frequency, and the ring a part of the image.
        self.assertAlmostEqual(cube.image().luminosity() / emitted, 1, delta=0.05)
        self.assertLess(one.spectra["ring"].luminosity()[0], image.luminosity())
        self.assertEqual(one.spectra["ring"].observer, "face")
        self.assertAlmostEqual(one.escape_fraction("sb")[0], image.luminosity() / emitted)
        brightness, error = image.profile(np.linspace(0, 1, 5))
        self.assertTrue(np.all(np.diff(brightness) < 0), "a sphere is brightest in its centre")
        self.assertTrue(np.all(error > 0))
        for text in ("Image 'sb'", "Cube 'ifu'", "observer face"):
            self.assertIn(text, str(one))
        done = subprocess.run([sys.executable, "-m", "thor", "plot", str(self.folder / "out.h5"), "--name", "sb", "-o",
                               str(self.folder / "sb.png")], env={"PYTHONPATH": PACKAGE}, capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertGreater((self.folder / "sb.png").stat().st_size, 5000)

    def test_fused_rays(self):
        """Fewer rays, light that agrees within its errors, and the same numbers for any number of threads."""
        config = {**seen(IMAGE, photons=300), "acceleration": {"core_skip": "none"}}
        config["dataset"] |= {"cells": 16, "tau0": 500}
        fuse = {**config, "peel": {"fuse": {"velocity": "8 km/s", "distance": "100 pc"}}}
        results = {}
        for name, model, threads in (("apart", config, 2), ("fused", fuse, 1), ("again", fuse, 3)):
            out = self.folder / f"{name}.h5"
            done = thor("run", self.write(model), "-o", out, "--quiet", "--device", "cpu", "--threads", threads)
            self.assertEqual(done.returncode, DONE, done.stderr)
            results[name] = package.open(out)
        self.assertLess(results["fused"].summary["rays"], results["apart"].summary["rays"])
        images = {name: result.images["sb"] for name, result in results.items()}
        np.testing.assert_array_equal(images["fused"].brightness, images["again"].brightness)
        np.testing.assert_array_equal(images["fused"].error, images["again"].error)
        self.assertAlmostEqual(images["fused"].luminosity() / images["apart"].luminosity(), 1, delta=0.1)
        self.assertFalse(np.array_equal(images["fused"].brightness, images["apart"].brightness))
        done = thor("help", "peel.fuse")
        self.assertEqual(done.returncode, DONE, done.stderr)
        for text in ("velocity", "distance"):
            self.assertIn(text, done.stdout)

    def test_vectors_are_numbers(self):
        """Of images, cubes and spectra in both formats; right x up is the direction to the observer."""
        aslant = {"name": "aslant", "direction": [1, -2, 0.5], "up": [0, 0, 1]}
        image = {**IMAGE, "observer": "aslant", "centre": ["0.1 kpc", "0 kpc", "-0.2 kpc"]}
        config = self.write(seen(image, CUBE, RING, observers=[*OBSERVERS, aslant], photons=100))
        for name in ("out.h5", "out.zarr"):
            self.assertEqual(thor("run", config, "-o", self.folder / name, "--quiet").returncode, DONE)
        with h5py.File(self.folder / "out.h5") as file:
            for place in ("images/sb", "cubes/ifu", "spectra/ring"):
                attributes = file[place].attrs
                stored = json.loads((self.folder / "out.zarr" / place / ".zattrs").read_text())
                for key in ("right", "up", "direction", "centre"):
                    self.assertEqual((attributes[key].dtype, attributes[key].shape), (np.float64, (3,)), (place, key))
                    self.assertEqual(stored[key], attributes[key].tolist())
                np.testing.assert_allclose(np.cross(attributes["right"], attributes["up"]), attributes["direction"], atol=1e-12)
            d = np.array([1, -2, 0.5])
            np.testing.assert_allclose(file["images/sb"].attrs["direction"], d / np.linalg.norm(d), atol=1e-12)
            np.testing.assert_allclose(file["images/sb"].attrs["centre"], 3.0856775814913673e21 * np.array([0.1, 0, -0.2]), rtol=1e-9)
        for name in ("out.h5", "out.zarr"):
            with package.open(self.folder / name) as result:
                np.testing.assert_allclose(result.images["sb"].direction, d / np.linalg.norm(d), atol=1e-12)

    def test_errors_are_those_of_many_runs(self):
        """The error of the brightest pixels matches the scatter of 20 seeds."""
        path, images, errors = self.write(seen({**IMAGE, "pixels": 4}, photons=1000)), [], []
        for seed in range(20):
            out = self.folder / "seed.h5"
            done = thor("run", path, "-o", out, "--quiet", "--overwrite", "--seed", seed, "--device", "cpu")
            self.assertEqual(done.returncode, DONE, done.stderr)
            with package.open(out) as result:
                images.append(result.images["sb"].brightness), errors.append(result.images["sb"].error)
        scatter, error = np.std(images, axis=0, ddof=1), np.mean(errors, axis=0)
        bright = np.mean(images, axis=0) > 0.3 * np.max(np.mean(images, axis=0))
        ratio = np.mean(scatter[bright] / error[bright])
        self.assertAlmostEqual(ratio, 1, delta=0.3)

    def test_light_that_is_peeled_off(self):
        """Rows of /photons/peel make the spectrum, the image and their errors of that observer, and of no other."""
        everything = {**RING, "name": "all", "range": ["-2000 km/s", "2000 km/s"], "bins": 4000}
        del everything["aperture"]
        config = seen(everything, {**everything, "name": "other", "observer": "edge"}, IMAGE, PEELED, {"type": "photons", "fields": ["id"]})
        for name, threads in (("out.h5", 2), ("out.zarr", 1)):
            done = thor("run", self.write(config), "-o", self.folder / name, "--quiet", "--device", "cpu", "--threads", threads)
            self.assertEqual(done.returncode, DONE, done.stderr)
        results = [package.open(self.folder / name) for name in ("out.h5", "out.zarr")]
        rows = [np.sort(r.peel.array("id", "light", "velocity"), order=["id", "velocity"]) for r in results]
        np.testing.assert_array_equal(*rows)
        result, peel = results[0], results[0].peel
        self.assertEqual([peel.units(name) for name in ("light", "velocity", "position")], ["erg s-1", "km s-1", "cm"])
        self.assertEqual(len(result.photons), 2000)
        spectrum = result.spectra["all"]
        light = np.histogram(peel["velocity"], spectrum.edges, weights=peel["light"])[0]
        scale = np.max(spectrum.flux) * spectrum.widths[0]
        np.testing.assert_allclose(light, spectrum.flux * spectrum.widths, atol=1e-7 * scale)
        self.assertGreater(np.max(np.abs(light - result.spectra["other"].flux * spectrum.widths)), 0.01 * scale, "the twin")
        self.assertAlmostEqual(np.sum(peel["light"]) / spectrum.luminosity()[0], 1, delta=1e-7)
        made = peel.spectrum("velocity", spectrum.edges)
        np.testing.assert_allclose(made.flux, spectrum.flux, atol=1e-7 * np.max(spectrum.flux))
        np.testing.assert_allclose(made.error, spectrum.error, rtol=1e-3, atol=1e-6 * np.max(spectrum.error))
        self.assertAlmostEqual(made.luminosity()[1] / spectrum.luminosity()[1], 1, delta=1e-5)
        self.assertEqual((made.observer, peel.observer), ("face", "face"))
        self.assertIn(f"peel        {len(peel):,} rows of light for observer face", str(result))
        image, kpc = result.images["sb"], 3.0856775814913673e21
        x, y = peel["position"][:, 0] / kpc, peel["position"][:, 1] / kpc  # to the right and upward, seen from z
        sky = np.histogram2d(y, x, [image.up, image.right], weights=peel["light"])[0]
        np.testing.assert_allclose(sky, image.brightness * image.pixel_area, atol=1e-6 * np.max(sky))
        # The error of the total is that of photons, each with all of its rows.
        each = np.bincount(peel["id"].astype(int), peel["light"], 2000)
        truth = np.sqrt(2000 * np.var(each))
        self.assertAlmostEqual(spectrum.luminosity()[1] / truth, 1, delta=1e-5)
        self.assertAlmostEqual(image.luminosity_error / truth, 1, delta=1e-5)
        # Those of pixels too, and the variance of the variance.
        column, row = (np.digitize(place, edges) - 1 for place, edges in ((x, image.right), (y, image.up)))
        pairs, pair = np.unique(peel["id"].astype(int) * 256 + 16 * row + column, return_inverse=True)
        shares = np.bincount(pair, peel["light"])
        squares, fourths = (np.bincount(pairs % 256, shares**power, 256).reshape(16, 16) for power in (2, 4))
        np.testing.assert_allclose(image.error * image.pixel_area, np.sqrt(squares), rtol=1e-3, atol=1e-6 * np.sqrt(np.max(squares)))
        bright = squares > 1e-4 * np.max(squares)
        np.testing.assert_allclose(image.vov[bright], fourths[bright] / squares[bright] ** 2 - 1 / 2000, rtol=1e-3, atol=1e-5)
        self.assertEqual(result.escape_fraction("all")[0], spectrum.luminosity()[0] / result.summary["luminosity_emitted"])
        done = thor("run", self.write(config), "-o", self.folder / "gpu.h5", "--device", "cuda")
        self.assertEqual(done.returncode, DEVICE, done.stderr)
        done = thor("continue", self.folder / "out.h5", "--photons", 10)
        self.assertIn("raw photons", done.stderr)

    def test_the_rest_frame_of_an_object(self):
        """Spectrum and rows are in the frame of an object that moves towards the observer: redder than in that of the gas."""
        everything = {"type": "spectrum", "name": "all", "observer": "face", "axis": "velocity", "range": ["-2000 km/s", "2000 km/s"], "bins": 400}
        shifted, rows = {**OBSERVERS[0], "rest": {"velocity": ["7 km/s", "0 km/s", "50 km/s"]}}, []
        for observer in (OBSERVERS[0], shifted):
            out = self.run_thor(seen(everything, PEELED, observers=[observer]), "--device", "cpu")
            with package.open(out) as result:
                peel, spectrum = result.peel, result.spectra["all"]
                light = np.histogram(peel["velocity"], spectrum.edges, weights=peel["light"])[0]
                np.testing.assert_allclose(light, spectrum.flux * spectrum.widths, atol=1e-7 * np.max(light))
                rows.append(np.sort(peel["velocity"]))
            with h5py.File(out) as file:
                attributes = file["spectra/all"].attrs
                self.assertEqual("rest_velocity" in attributes, observer is shifted)
                self.assertIn(b"leaves rest_position with rest_velocity" if observer is shifted else b"coordinates of the gas", attributes["zero_point"])
                if observer is shifted:
                    np.testing.assert_allclose(attributes["rest_velocity"], [7, 0, 50], rtol=1e-12)
                    np.testing.assert_array_equal(attributes["rest_position"], [0, 0, 0])
        np.testing.assert_allclose(rows[1] - rows[0], 50, atol=0.05)

    def test_errors_that_can_be_trusted(self):
        """A well-sampled image is trusted; one whose light is that of few bright sources is not, and its caveat says so."""
        trusted = {}
        weak = {"type": "point", "photons": 20000, "luminosity": "1e42 erg/s"}
        bright = {**weak, "photons": 3, "luminosity": "1e42 erg/s", "position": ["0.3 kpc", "0 kpc", "0 kpc"]}
        for name, generators in (("good", [weak]), ("bad", [weak, bright])):
            config = {**seen({**IMAGE, "pixels": 4}), "generators": generators}
            config["dataset"]["tau0"] = 10
            done = thor("run", self.write(config), "-o", self.folder / f"{name}.h5", "--device", "cpu")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual("noisy" in done.stderr, name == "bad", done.stderr)
            info = thor("info", self.folder / f"{name}.h5").stdout
            self.assertRegex(info, r"trusted +[\d.]+ % of the light of sb is in bins with errors of at most 20 % and a VOV of at most 0\.1\n")
            with package.open(self.folder / f"{name}.h5") as result:
                image = result.images["sb"]
                self.assertEqual(image.vov.shape, image.brightness.shape)
                sums = np.sum(image.brightness)
                good = (image.vov <= 0.1) & (image.error <= 0.2 * image.brightness)
                self.assertAlmostEqual(image.trusted, np.sum(image.brightness[good]) / sums, delta=1e-6)
                self.assertEqual(any(c.startswith("image sb: noisy") for c in result.caveats), name == "bad")
                trusted[name] = image.trusted
        self.assertGreater(trusted["good"], 0.9)
        self.assertLess(trusted["bad"], 0.5)

    def test_large_images(self):
        """Written in chunks, with a message before; their light is that of a small one."""
        path = self.write(seen({**IMAGE, "pixels": 1000}, {**IMAGE, "name": "small", "pixels": 10}, photons=300))
        for name in ("out.h5", "out.zarr"):
            done = thor("run", path, "-o", self.folder / name, "--device", "cpu")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn("thor: writing 1e+06 bins to", done.stderr)
            with package.open(self.folder / name) as result:
                large, small = result.images["sb"], result.images["small"]
                merged = large.brightness.reshape(10, 100, 10, 100).mean(axis=(1, 3))
                np.testing.assert_allclose(merged, small.brightness, atol=1e-6 * np.max(merged))
                self.assertEqual((large.error.shape, large.vov.shape), ((1000, 1000), (1000, 1000)))
        self.assertNotIn("writing", thor("run", self.write(seen(IMAGE)), "-o", self.folder / "s.h5", "--device", "cpu").stderr)

    def test_images_that_are_not_square(self):
        """Rows from the middle of a square: the same light in the same pixels, in files for other tools too."""
        cube = {**IMAGE, "type": "cube", "name": "ifu", "range": ["-500 km/s", "500 km/s"], "bins": 5}
        out = self.run_thor(seen({**IMAGE, "pixels": 20}, {**IMAGE, "name": "flat", "pixels": 20, "rows": 6},
                                 {**cube, "pixels": 10}, {**cube, "name": "long", "pixels": 10, "rows": 30}, photons=300))
        with package.open(out) as result:
            square, flat = result.images["sb"], result.images["flat"]
            self.assertEqual(flat.brightness.shape, (6, 20))
            np.testing.assert_allclose(flat.brightness, square.brightness[7:13], rtol=1e-6)
            self.assertGreater(np.max(flat.brightness), 0)
            np.testing.assert_allclose(flat.up, square.up[7:14], rtol=1e-12, atol=1e-12 * np.max(square.up))
            whole, long = result.cubes["ifu"], result.cubes["long"]
            self.assertEqual(long.intensity.shape, (5, 30, 10))
            np.testing.assert_allclose(long.intensity[:, 10:20], whole.intensity, rtol=1e-6)
        done = thor("export", out, "--fits", "--png", "-o", self.folder / "files")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_mistakes(self):
        for outputs, observers, says in (
            ([{**IMAGE, "observer": "fase"}], OBSERVERS, 'outputs.0.observer: there is no observer of this name; did you mean "face"'),
            ([IMAGE], [], "outputs.0.observer: there are no observers: list them under the key observers"),
            ([IMAGE], [OBSERVERS[0]] * 2, "observers.1.name: another observer has this name"),
            ([IMAGE], [{"name": "face.1", "direction": [1, 0, 0]}, {"name": "face", "random": 3}],
             "observers.1.name: another observer has the name of its member face.1"),
            ([IMAGE], [{"name": "face", "random": 3}, {"name": "face.1", "direction": [1, 0, 0]}],
             "observers.1.name: another observer has this name, or is a set with such a member"),
            ([PEELED], [{"name": "face", "random": 3}], "outputs.0.observer: is a set of observers; use one of them, such as face.0"),
            ([{**PEELED, "observer": "fase"}], OBSERVERS, 'outputs.0.observer: there is no observer of this name; did you mean "face"'),
            ([{"type": "photons", "of": "peel"}], OBSERVERS, "outputs.0.observer"),
            ([{**PEELED, "fields": ["id"]}], OBSERVERS, "outputs.0.fields"),
            ([PEELED, PEELED], OBSERVERS, "outputs.1.type: only one output of type photons is possible, and one `of: peel`"),
            ([IMAGE], [{"name": "face", "direction": [0, 0, 0]}], "observers.0.direction: must not be zero"),
            ([{**IMAGE, "pixels": 0}], OBSERVERS, "outputs.0.pixels"),
            ([{**IMAGE, "width": "0 kpc"}], OBSERVERS, "outputs.0.width"),
            ([{**IMAGE, "of": "absorbed"}], OBSERVERS, "outputs.0.of: an observer sees light that escaped"),
            ([{**CUBE, "pixels": 10000}], OBSERVERS, "at most 5e7 are possible"),
            ([IMAGE, IMAGE], OBSERVERS, "outputs.1.name"),
            ([{**RING, "aperture": {"radius": "1 kpc", "inner": "2 kpc"}}], OBSERVERS, "aperture.inner: must be less than radius"),
            ([{k: v for k, v in RING.items() if k != "observer"}], OBSERVERS, "aperture: is on the sky of an observer"),
        ):
            with self.subTest(says):
                done = thor("check", self.write(seen(*outputs, observers=observers)), "--no-trial")
                self.assertEqual(done.returncode, USAGE, done.stderr)
                self.assertIn(says, done.stderr)
        for more, says in (
            ({"peel": {"depth": 1}}, "peel.depth: only for periodic boxes"),
            ({"peel": {"depth": 0}}, "peel.depth"),
            ({"observers": [{**OBSERVERS[0], "rest": {"velocity": ["1e6 km/s", "0 km/s", "0 km/s"]}}]}, "observers.0.rest.velocity"),
            ({"observers": [{**OBSERVERS[0], "rest": {"place": [0, 0, 0]}}]}, "observers.0.rest.place"),
        ):
            with self.subTest(says):
                done = thor("check", self.write({**seen(IMAGE), **more}), "--no-trial")
                self.assertEqual(done.returncode, USAGE, done.stderr)
                self.assertIn(says, done.stderr)
        for name in ("", "/", "a/b", "a\nb", "n" * 101):
            done = thor("check", self.write(seen(observers=[{"name": name, "direction": [0, 0, 1]}])), "--no-trial")
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn("observers.0.name: expected a name of at most 100 bytes, without / and control characters", done.stderr)


class WithoutErrors(Case):
    """Outputs with `errors: none`: the same light, and all that reads results does without errors."""

    OUTPUTS = {"cubes/ifu": ("intensity", CUBE), "histograms/map": ("luminosity", MAP), "images/sb": ("surface_brightness", IMAGE),
               "profiles/halo": ("surface_brightness", HALO), "spectra/all": ("flux", ALL), "spectra/ring": ("flux", RING)}

    def look(self, errors, name):
        config = seen(*({**output, "errors": errors} for _, output in self.OUTPUTS.values()))
        out = self.folder / name
        done = thor("run", self.write(config), "-o", out, "--quiet", "--device", "cpu")
        self.assertEqual(done.returncode, DONE, done.stderr)
        return out

    def plot(self, out, name, *options):
        picture = self.folder / f"{name}{''.join(options)}.png"
        strict = ("-W", "error::RuntimeWarning", "-W", "error::UserWarning")
        done = subprocess.run([sys.executable, *strict, "-m", "thor", "plot", str(out), "--name", name, "-o", str(picture), *options],
                              env={"PYTHONPATH": PACKAGE}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""), name)
        self.assertGreater(picture.stat().st_size, 5000)

    def test_the_same_light(self):
        """Light is rounded to 2e-6 of a photon in a bin without errors, and to 8e-9 in one with errors."""
        with_errors, without = self.look("histories", "with.h5"), self.look("none", "without.h5")
        with h5py.File(with_errors) as one, h5py.File(without) as other:
            for place, (array, _) in self.OUTPUTS.items():
                light = one[place][array][()]
                np.testing.assert_allclose(other[place][array][()], light, rtol=1e-5, atol=1e-5 * np.max(light), err_msg=place)
                self.assertLess(abs(other[place].attrs["luminosity"] / one[place].attrs["luminosity"] - 1), 1e-6, place)
                self.assertTrue({"error", "vov"} <= one[place].keys(), place)
                self.assertTrue({"luminosity_error", "trusted"} <= one[place].attrs.keys(), place)
                self.assertFalse({"error", "vov"} & other[place].keys(), place)
                self.assertFalse({"luminosity_error", "trusted"} & other[place].attrs.keys(), place)
                self.assertEqual([text(file[place].attrs["error_method"]) for file in (one, other)], ["histories", "none"])
            self.assertNotIn("noisy", text(other["summary"].attrs["caveats"]) if "caveats" in other["summary"].attrs else "")
        self.assertIn("trusted", thor("info", with_errors).stdout)
        for name in (without, self.look("none", "without.zarr")):
            self.assertNotIn("trusted", thor("info", name).stdout)
            told = json.loads(thor("info", "--json", name).stdout)
            self.assertEqual(sorted(p["name"] for p in told["products"]), ["ifu", "sb"])
            for product in told["products"]:
                self.assertNotIn("trusted", product)
                self.assertGreater(product["light"], 1e41)

    def test_python_and_figures(self):
        for name in ("out.h5", "out.zarr"):
            out = self.look("none", name)
            with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"), package.open(out) as result:
                warnings.simplefilter("error")
                for kind in ("spectra", "histograms", "images", "cubes", "profiles"):
                    for output in getattr(result, kind).values():
                        self.assertTrue(np.all(np.isnan(output.error)) and np.isnan(output.trusted), output)
                        self.assertIsNone(output.vov)
                        self.assertNotIn("nan", repr(output))
                self.assertNotIn("noisy", str(result))
                for spectrum in result.spectra.values():
                    self.assertTrue(np.isnan(spectrum.rebin(2).normalised().to("wavelength").luminosity()[1]))
                for output in ("ring", "sb", "ifu", "halo"):
                    share, error = result.escape_fraction(output)
                    self.assertGreater(share, 0.1)
                    self.assertTrue(np.isnan(error))
                image = result.images["sb"]
                self.assertTrue(np.all(np.isnan([image.aperture(1)[1], image.area(1e40)[1], image.depth(1)[1]])))
                self.assertTrue(np.any(result.cubes["ifu"].blue_fraction().mask))
                weighed, error = result.escape_fraction()
                self.assertEqual((weighed, error), (1, 0))
        for name in ("all", "ring", "map", "sb", "ifu", "halo"):
            self.plot(out, name)
        self.plot(out, "ring", "--normalize")
        self.plot(out, "map", "--along", "velocity")
        self.plot(out, "ifu", "--moment", "mean")

    def test_exported_files(self):
        out = self.look("none", "out.h5")
        done = thor("export", out, "--fits", "--png", "--txt", "-o", self.folder)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(done.stderr.count("thor: wrote "), 5 + 2 + 4, done.stderr)
        for name in ("all", "ring", "halo", "map"):
            columns = np.loadtxt(self.folder / f"{name}.txt", unpack=True)
            self.assertEqual(len(columns), 4 if name == "map" else 3)
            self.assertTrue(np.all(np.isnan(columns[-1])) and np.all(np.isfinite(columns[:-1])), name)
        try:
            from astropy.io import fits
        except ImportError:
            skip_loudly(self, "python3 has no astropy")
        for name, (array, _) in self.OUTPUTS.items():
            group, name = name.split("/")
            if group == "histograms":
                continue
            with fits.open(self.folder / f"{name}.fits") as found, h5py.File(out) as file:
                found.verify("exception")
                header = found[0].header
                self.assertEqual((header["ERRORS"], "TRUSTED" in header), ("none", False))
                self.assertEqual([hdu.name for hdu in found], ["PRIMARY", "PROFILE" if group == "profiles" else "DATA"])
                data = found[1].data
                if group == "profiles":
                    self.assertEqual(data.names, ["R_IN", "R_OUT", "SB"])
                    data = data["SB"]
                np.testing.assert_array_equal(data, file[group][name][array][()])

    def test_photons_are_added(self):
        """Without an error until which to go on."""
        out = self.look("none", "out.h5")
        done = thor("continue", out, "--photons", 1000, "--quiet", "--device", "cpu")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with package.open(out) as result:
            self.assertEqual(result.summary["photons"], 3000)
            self.assertTrue(np.all(np.isnan(result.images["sb"].error)))
            self.assertAlmostEqual(result.images["sb"].luminosity() / result.summary["luminosity_emitted"], 1, delta=0.05)
        says = "has no errors: remove `errors: none` from it, or take another output"
        done = thor("continue", out, "--until-error", "1%", "--until-output", "sb")
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn(f"--until-output sb: {says}", done.stderr)
        config = self.write({**seen({**IMAGE, "errors": "none"}, CUBE), "until": {"output": "sb", "error": 0.1}})
        for command in (("check", config, "--no-trial"), ("run", config, "-o", self.folder / "none.h5")):
            done = thor(*command)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn(f"until.output: {says}", done.stderr)
        self.assertFalse((self.folder / "none.h5").exists())
        done = thor("check", self.write(seen({**IMAGE, "errors": "groups"})), "--no-trial")
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("outputs.0.errors", done.stderr)


if __name__ == "__main__":
    main()
