"""The examples with a script and a picture, run small: every picture is made and is not empty.

    /usr/bin/python3 tests/e2e/test_examples.py --thor build/release/thor [unittest arguments]
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from support import Case, DONE, ROOT, command_line, main  # noqa: E402

import thor as package  # noqa: E402


class Example(Case):
    def setUp(self):
        """A copy of the examples with few pixels and channels, and `thor` on the path."""
        super().setUp()
        self.examples = self.folder / "examples"
        shutil.copytree(ROOT / "examples", self.examples, ignore=shutil.ignore_patterns("__pycache__"))
        (self.folder / "python").symlink_to(ROOT / "python")
        for path in self.examples.glob("*/*.yaml"):
            text = re.sub(r"pixels: \d+", "pixels: 12", path.read_text())
            path.write_text(re.sub(r"(type: cube.*)bins: \d+", r"\1bins: 10", text))
        grid = self.examples / "galaxy/grid.sh"
        grid.write_text(grid.read_text().replace("mock galaxy", "mock galaxy --gas-particles 8000").replace("--cells 128", "--cells 32"))
        bin_folder = self.folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "thor").write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in command_line()) + ' "$@"\n')
        (bin_folder / "thor").chmod(0o755)
        self.environment = {**os.environ, "PYTHON": sys.executable, "PATH": f"{bin_folder}:{os.environ['PATH']}"}

    def example(self, script, photons):
        done = subprocess.run([self.examples / script, self.folder / "out", str(photons)], env=self.environment,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertNotRegex(done.stderr, r"[A-Za-z]Warning:")
        picture = Path(done.stdout.split("wrote ")[-1].strip())
        self.assertGreater(picture.stat().st_size, 30000)
        return done.stdout


class Galaxy(Example):
    def test_views(self):
        self.example("galaxy/views.sh", 800)
        dusty, free = (package.open(self.folder / f"out/{name}.h5") for name in ("views", "views_dust_free"))
        self.assertEqual(len(dusty.images), 12)
        self.assertEqual(dusty.cubes["edge_cube"].intensity.shape, (10, 12, 12))
        for view in ("face", "edge"):  # a cube is an image by frequency; dust takes light
            seen = dusty.images[view].luminosity()
            self.assertAlmostEqual(dusty.cubes[f"{view}_cube"].image().luminosity() / seen, 1, delta=0.02)
            self.assertLess(seen, 0.8 * free.images[view].luminosity())

    def test_views_of_too_few_photons(self):
        for photons in ("9", "39", "", "many"):
            done = subprocess.run([self.examples / "galaxy/views.sh", self.folder / "out", photons or "0"], env=self.environment,
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("expected a whole number of at least 40", done.stderr)

    def test_profiles(self):
        said = self.example("galaxy/profiles.sh", 150)
        self.assertLess(float(re.search(r"within (\S+) of it", said)[1]), 1e-6)
        done = self.without_light_beyond(9)  # as of few photons
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        self.assertLess(float(re.search(r"within (\S+) of it", done.stdout)[1]), 1e-6)
        done = self.without_light_beyond(0)
        self.assertEqual((done.returncode, done.stderr), (1, "profiles.py: no light of the gas was seen: take more photons\n"))

    def without_light_beyond(self, radius):
        """profiles.py, of profiles that have no light of gas from a radius [kpc] on."""
        with h5py.File(self.folder / "out/gas_here.h5") as file:
            dark = file["profiles/observed/edges"][1:] > radius
        for path in self.folder.glob("out/gas_*.h5"):
            with h5py.File(path, "a") as file:
                for name in ("surface_brightness", "error"):
                    values = file["profiles/observed"][name]
                    values[...] = np.where(dark, 0, values[()])
        command = [sys.executable, self.examples / "galaxy/profiles.py", self.folder / "out", "-o", self.folder / "few.png"]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=100)


class Quickstart(Example):
    def test_two_pictures(self):
        self.example("quickstart/run.sh", 3000)
        self.assertGreater((self.folder / "out/sphere.png").stat().st_size, 30000)
        result, picture = self.folder / "out/galaxy.h5", self.folder / "out/both.png"
        subprocess.run([sys.executable, self.examples / "quickstart/galaxy.py", result, "-o", picture, "--spectra"], check=True)
        self.assertGreater(picture.stat().st_size, 30000)


class Wind(Example):
    def test_few_photons(self):
        self.example("mgii_halo/run.sh", 60)

    def test_halo(self):
        self.example("mgii_halo/run.sh", 8000)
        spectra = package.open(self.folder / "out/halo.h5").spectra
        barrel, halo = spectra["barrel"], spectra["outer"]
        near = lambda s, low, high: s.flux[(s.centers > low) & (s.centers < high)].mean()  # noqa: E731
        continuum = near(barrel, -1000, -500)
        self.assertLess(near(barrel, -200, -50), 0.3 * continuum)  # absorbed to the blue
        self.assertGreater(near(barrel, 0, 100), 1.2 * continuum)  # and filled in to the red
        self.assertLess(near(halo, -1000, -500), 1e-3 * continuum)  # the halo has the lines alone
        ratios = [np.divide(*spectra[f"ring_{i}"].flux) for i in (4, 8)]
        self.assertLess(ratios[0], ratios[1])  # thin gas has the ratio of the oscillator strengths, thick gas does not


class Rays(Example):
    """Rays through a coarse galaxy and a coarse box, without the simulation, which is not part of the project."""

    def setUp(self):
        super().setUp()
        for name, changes in {
            "run.sh": (("mock galaxy", "mock galaxy --gas-particles 8000"), ("mock box", "mock box --particles-per-side 32"), ("--cells 128", "--cells 32")),
            "box.yaml": (("random: 400", "random: 40"), ("grid: 64", "grid: 8")),
            "growth.py": (("np.logspace(12, 21, 19)", "np.logspace(12, 21, 4)"), ("np.logspace(11.8, 21.2, 80)", "np.logspace(12, 21, 42)")),
        }.items():
            path = self.examples / "rays" / name
            text = path.read_text()
            for old, new in changes:
                self.assertIn(old, text)
                text = text.replace(old, new)
            path.write_text(text)
        self.environment["THOR_SHARED"] = str(self.folder / "nowhere")

    def test_pictures(self):
        done = subprocess.run([self.examples / "rays/run.sh", self.folder / "out"], env=self.environment, capture_output=True, text=True,
                              timeout=300)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("*** SKIPPED", done.stderr)
        self.assertNotRegex(done.stderr, r"Traceback|[A-Za-z]Warning:")
        for name in ("render", "maps", "forest", "tomography", "growth"):
            self.assertGreater((self.folder / f"out/rays_{name}.png").stat().st_size, 15000, name)
        self.assertLess(float(re.search(r"curve of growth: within (\S+) of", done.stdout)[1]), 1e-4)


if __name__ == "__main__":
    main()
