"""Five tasks of a new user (examples/tasks), each run in an empty folder with few photons: files, units, physics.

    /usr/bin/python3 tests/e2e/test_tasks.py --thor build/release/thor [unittest arguments]
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
from support import Case, DONE, ROOT, command_line, main, skip_loudly, thor  # noqa: E402
from test_sky import fits_headers  # noqa: E402

PNG = b"\x89PNG"


class Task(Case):
    def setUp(self):
        """An empty folder, and `thor` on the PATH."""
        super().setUp()
        (self.folder / "bin").mkdir()
        (self.folder / "work").mkdir()
        command = self.folder / "bin/thor"
        command.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in command_line()) + ' "$@"\n')
        command.chmod(0o755)
        self.work = self.folder / "work"
        self.environment = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "PYTHON": sys.executable,
                            "PYTHONPATH": str(ROOT / "python"), "MPLBACKEND": "Agg",
                            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def task(self, name, *arguments, **variables):
        self.done = subprocess.run([ROOT / f"examples/tasks/{name}.sh", *arguments], env={**self.environment, **variables},
                                   cwd=self.work, capture_output=True, text=True, timeout=250)
        self.assertEqual(self.done.returncode, DONE, self.done.stderr)
        self.assertNotIn("Traceback", self.done.stderr)

    def assert_pictures(self, *names):
        for name in names:
            data = (self.work / name).read_bytes()
            self.assertEqual(data[:4], PNG, name)
            self.assertGreater(len(data), 5000, name)

    def assert_header(self, name, **expected):
        header = fits_headers(self.work / name)
        for keyword, value in expected.items():
            found = header[keyword] if isinstance(value, str) else float(header[keyword])
            self.assertEqual(found, value, f"{name}: {keyword}")
        return header


class Shell(Task):
    def test_spectrum_and_image(self):
        self.task("shell")
        self.assert_pictures("spectrum.png", "image.png")
        self.assert_header("image.fits", BUNIT="erg s-1 kpc-2", CUNIT1="kpc", CUNIT2="kpc", NAXIS1=32, NAXIS2=32)
        self.assert_header("spectrum.fits", BUNIT="erg s-1 / (km s-1)", CTYPE1="VOPT")
        with h5py.File(self.work / "shell.h5") as file:
            self.assertTrue(file["summary"].attrs["complete"])
            escaped = file["summary"].attrs["luminosity_escaped"]
            image, spectrum = (file[name].attrs for name in ("images/image", "spectra/spectrum"))
            self.assertAlmostEqual(escaped / 1e42, 0.735, delta=0.02)  # docs/tutorial.md
            self.assertLess(abs(image["luminosity"] - escaped), 5 * image["luminosity_error"])  # alike from all sides
            self.assertAlmostEqual(image["luminosity"] / (spectrum["luminosity"] + spectrum["luminosity_beyond"]), 1, places=9)
            brightness = file["images/image/surface_brightness"][()]
        outside = np.hypot(*np.meshgrid(*2 * [(np.arange(32) - 15.5) * 2.4 / 32])) > 1.06
        self.assertEqual(brightness[outside].sum(), 0)


class Galaxy(Task):
    def test_fits_files_in_sky_units(self):
        self.task("galaxy", CELLS="32", PHOTONS="2000")
        flux = "erg s-1 cm-2"
        sky = {"CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN", "CUNIT1": "deg", "CRVAL1": 150.1, "CRVAL2": 2.2, "REDSHIFT": 2.0}
        for name in ("face.fits", "edge.fits"):
            header = self.assert_header(name, BUNIT=f"{flux} arcsec-2", NAXIS1=32, **sky)
            self.assertAlmostEqual(float(header["CD2_2"]) * 3600, 7 / 32, places=9)
        cube = self.assert_header("ifu.fits", BUNIT=f"{flux} arcsec-2 Angstrom-1", NAXIS3=20, CTYPE3="WAVE", **sky)
        self.assertAlmostEqual(float(cube["RESTWAV"]), 1215.6701e-10, places=16)
        self.assert_header("fibre.fits", BUNIT=f"{flux} Angstrom-1", CTYPE1="WAVE", CUNIT1="Angstrom")
        self.assert_pictures("face.png", "edge.png", "ifu.png")
        with h5py.File(self.work / "galaxy.h5") as file:
            self.assertTrue(file["summary"].attrs["complete"])
            face, edge = (file[f"images/{name}"].attrs["luminosity"] for name in ("face", "edge"))
            self.assertGreater(face, edge)  # Lyα leaves a disc through its faces

    def test_snapshot_of_ones_own(self):
        made = thor("mock", "galaxy", "-o", self.work / "mine.hdf5", "--gas-particles", 2000, "--stars", 200)
        self.assertEqual(made.returncode, DONE, made.stderr)
        self.task("galaxy", "mine.hdf5", CELLS="16", PHOTONS="100")
        self.assertFalse((self.work / "snapshot.hdf5").exists())
        self.assertTrue((self.work / "face.fits").exists())


class MgII(Task):
    def test_ratio_of_the_lines(self):
        self.task("mgii", PHOTONS="40000")
        self.assert_pictures("doublet.png")
        found = {name: (float(ratio), float(error)) for name, ratio, error in
                 re.findall(r"(\w+)\.h5: 2796/2803 = ([\d.]+) \+- ([\d.]+)", self.done.stdout)}
        self.assertEqual(list(found), ["thin", "thick"])
        # Thin gas scatters in proportion to f λ^2 of a continuum that is flat in λ.
        thin = 0.608 * 2796.3543**2 / (0.303 * 2803.5315**2)
        ratio, error = found["thin"]
        self.assertLess(error, 0.25)
        self.assertLess(abs(ratio - thin), 2.5 * error)
        ratio, error = found["thick"]
        self.assertAlmostEqual(ratio, 1, delta=0.12)
        self.assertGreater(abs(ratio - thin), 10 * error, "the twin: thick gas is told apart")


class Projection(Task):
    def test_maps_along_a_direction(self):
        self.task("projection")
        self.assert_pictures("column.png", "velocity.png")
        column = self.assert_header("column.fits", BUNIT="cm-2", CUNIT1="kpc", NAXIS1=256, NAXIS2=256)
        self.assertAlmostEqual(float(column["CD1_1"]), 60 / 256)
        self.assert_header("velocity.fits", BUNIT="km s-1", CUNIT1="kpc")
        self.assertAlmostEqual(float(column["DIR_Z"]), 3 / np.sqrt(14))
        # Nearly all atoms of the grid are in the image, whose corners alone leave out some of the box.
        with h5py.File(self.work / "galaxy_grid.h5") as grid, h5py.File(self.work / "projection.h5") as file:
            atoms = grid["HI_density"][()].sum(dtype=float) * grid.attrs["cell_size"] ** 3
            pixel = 60 / 256 * 3.0856775814913673e21
            seen = file["images/column/value"][()].sum(dtype=float) * pixel**2
        self.assertAlmostEqual(seen / atoms, 1, delta=1e-3)

        (self.work / "galaxy_grid.h5").rename(self.work / "mine.h5")  # a grid and a direction of one's own
        self.task("projection", "mine.h5", DIRECTION="[0, -1, 0]")
        self.assert_header("column.fits", DIR_X=0, DIR_Y=-1, DIR_Z=0)
        self.assertFalse((self.work / "galaxy_grid.h5").exists())


class Ranks(Task):
    def test_killed_and_continued(self):
        if not re.search(r"^MPI .*\d", thor("--version").stdout, re.MULTILINE):  # its version, or that it is not there
            skip_loudly(self, "this thor has no MPI (-DTHOR_MPI=ON): a run on ranks that is killed and continued")
        if not shutil.which("mpirun"):
            skip_loudly(self, "there is no mpirun (Debian: openmpi-bin): a run on ranks that is killed and continued")
        photons = 7500
        shown = [photons]
        while shown[0] == photons:
            photons *= 8
            self.assertLess(photons, 1e8)
            self.task("ranks", RANKS="4", PHOTONS=str(photons))
            shown = [int(number) for number in re.findall(rf"(\d+) of {photons}", self.done.stdout)]  # all: over before it was killed
        self.assertLess(shown[0], photons)
        self.assertEqual(shown[-1], photons)
        alone = self.folder / "alone.h5"
        config = ROOT / "examples/tasks/shell.yaml"
        done = thor("run", config, "--set", f"generators.0.photons={photons}", "-o", alone, "--device", "cpu")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.work / "ranks.h5") as ranks, h5py.File(alone) as one:
            self.assertTrue(ranks["summary"].attrs["complete"])
            self.assertEqual(ranks["summary"].attrs["ranks"], 4)
            for name in ("spectra/spectrum/flux", "images/image/surface_brightness"):
                np.testing.assert_array_equal(ranks[name][()], one[name][()])


if __name__ == "__main__":
    main()
