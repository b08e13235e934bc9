"""What observers see, as a user meets it: images, cubes and spectra in both formats, in Python, and mistakes.

    /usr/bin/python3 tests/e2e/test_observers.py --thor build/release/thor [unittest arguments]
"""

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
PACKAGE = str(Path(__file__).resolve().parents[2] / "python")
sys.path.insert(0, PACKAGE)
from configurations import sphere  # noqa: E402
from support import Case, DEVICE, DONE, USAGE, main, thor  # noqa: E402

import thor as package  # noqa: E402

OBSERVERS = [{"name": "face", "direction": [0, 0, 1]}, {"name": "edge", "direction": [1, 0, 0], "up": [0, 0, 1]}]
IMAGE = {"type": "image", "name": "sb", "observer": "face", "width": "2 kpc", "pixels": 16}
CUBE = {"type": "cube", "name": "ifu", "observer": "edge", "width": "2 kpc", "pixels": 6, "axis": "velocity",
        "range": ["-100 km/s", "100 km/s"], "bins": 10}
RING = {"type": "spectrum", "name": "ring", "observer": "face", "aperture": {"radius": "0.5 kpc", "inner": "0.1 kpc"},
        "axis": "velocity", "range": ["-100 km/s", "100 km/s"], "bins": 10}


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
        brightness, error = image.profile(np.linspace(0, 1, 5))
        self.assertTrue(np.all(np.diff(brightness) < 0), "a sphere is brightest in its centre")
        self.assertTrue(np.all(error > 0))
        for text in ("Image 'sb'", "Cube 'ifu'", "observer face"):
            self.assertIn(text, str(one))
        done = subprocess.run([sys.executable, "-m", "thor", "plot", str(self.folder / "out.h5"), "--name", "sb", "-o",
                               str(self.folder / "sb.png")], env={"PYTHONPATH": PACKAGE}, capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertGreater((self.folder / "sb.png").stat().st_size, 5000)

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

    def test_mistakes(self):
        for outputs, observers, says in (
            ([{**IMAGE, "observer": "fase"}], OBSERVERS, 'outputs.0.observer: there is no observer of this name; did you mean "face"'),
            ([IMAGE], [], "outputs.0.observer: there are no observers: list them under the key observers"),
            ([IMAGE], [OBSERVERS[0]] * 2, "observers.1.name: another observer has this name"),
            ([IMAGE], [{"name": "face", "direction": [0, 0, 0]}], "observers.0.direction: must not be zero"),
            ([IMAGE], [{"name": "face", "direction": [0, 2, 0]}], "observers.0.up: is along the line of sight"),
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
            ({"peel": {"depth": 1}}, "peel.depth: is for a periodic box, and rays leave this gas"),
            ({"peel": {"depth": 0}}, "peel.depth"),
            ({"observers": [{**OBSERVERS[0], "rest": {"velocity": ["1e6 km/s", "0 km/s", "0 km/s"]}}]}, "observers.0.rest.velocity"),
            ({"observers": [{**OBSERVERS[0], "rest": {"place": [0, 0, 0]}}]}, "observers.0.rest.place"),
        ):
            with self.subTest(says):
                done = thor("check", self.write({**seen(IMAGE), **more}), "--no-trial")
                self.assertEqual(done.returncode, USAGE, done.stderr)
                self.assertIn(says, done.stderr)
        done = thor("run", self.write(seen(IMAGE)), "-o", self.folder / "gpu.h5", "--device", "cuda")
        self.assertEqual(done.returncode, DEVICE, done.stderr)


if __name__ == "__main__":
    main()
