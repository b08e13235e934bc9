"""`thor export`: FITS, PNG and text files have the numbers of the result, and other tools read them.

    /usr/bin/python3 tests/e2e/test_export.py --thor build/release/thor [unittest arguments]

Needs numpy and h5py; astropy, spectral-cube, matplotlib and fitsverify are used where they are installed, and a test
that needs one is skipped loudly otherwise.
"""

import fcntl
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import sphere  # noqa: E402
from support import (  # noqa: E402
    Case, DONE, INPUT, OUTPUT, STOPPED, USAGE, as_nobody, command_line, limited, main, read_package, skip_loudly, thor,
    wait_for)

RIGHT, UP = 0.45, 0.25  # of the source from the middle of the images [kpc]
COLUMN, ROW, PIXELS = 14, 12, 20
RED = 2.0  # the redshift of files with a sky
STRANGE = "o'brien's α"
LONG = "n" * 100
VELOCITY = {"axis": "velocity", "range": ["-100 km/s", "60 km/s"], "bins": 8}
IMAGE = {"type": "image", "observer": "face", "width": "2 kpc", "pixels": PIXELS}
CONFIG = {
    **sphere(0.3, 400, source={"type": "point", "position": [f"{RIGHT} kpc", f"{UP} kpc", "0 kpc"]}, outputs=[
        {"type": "spectrum", "name": "emergent", "axis": "x", "range": [-5, 5], "bins": 10},
        {"type": "spectrum", "name": "seen", "observer": "face", "aperture": {"radius": "1 kpc"}, **VELOCITY},
        {"type": "spectrum", "name": "waves", "axis": "wavelength", "range": ["1215 Angstrom", "1216 Angstrom"], "bins": 4},
        {"type": "spectrum", "name": "cycles", "axis": "frequency", "range": ["2.465e15 Hz", "2.467e15 Hz"], "bins": 4},
        {**IMAGE, "name": "sb"},
        {**IMAGE, "name": LONG, "observer": STRANGE, "pixels": 3},
        {**IMAGE, "name": "dark", "centre": ["50 kpc", "0 kpc", "0 kpc"], "pixels": 4},
        {**IMAGE, "type": "cube", "name": "ifu", **VELOCITY},
        {"type": "profile", "name": "rings", "observer": "face", "radius": "1 kpc", "inner": "0.01 kpc", "bins": 5, "spacing": "log"},
        {"type": "histogram", "name": "two", "axes": [{"quantity": "scatterings", "range": [0, 4], "bins": 4},
                                                      {"quantity": "velocity", "range": ["-30 km/s", "30 km/s"], "bins": 3}]},
    ]),
    "observers": [{"name": "face", "direction": [0, 0, 1]}, {"name": STRANGE, "direction": [1, 0, 0], "up": [0, 0, 1]}],
}
GROUPS = {"spectra": "flux", "images": "surface_brightness", "cubes": "intensity"}


def put_on_sky(path):
    """What a run with the key `sky` writes: angles, fluxes per area of the sky, distances."""
    with h5py.File(path, "a") as file:
        sky = file.create_group("sky")
        for name, value in {"redshift": RED, "distance_luminosity": 15934.0, "distance_angular": 1770.4, "kpc_per_arcsec": 8.58}.items():
            sky.attrs[name] = value
        for kind in ("images", "cubes"):
            for group in file[kind].values():
                for name in ("edges_right", "edges_up"):
                    group[name].attrs["units"] = "arcsec"
                for name in (GROUPS[kind], "error"):
                    unit = group[name].attrs["units"]
                    unit = unit.decode() if isinstance(unit, bytes) else unit
                    group[name].attrs["units"] = unit.replace("kpc-2", "cm-2 arcsec-2")


def setUpModule():
    """The results, once for all tests."""
    folder = tempfile.TemporaryDirectory(prefix="thor-export-")
    unittest.addModuleCleanup(folder.cleanup)
    Exported.shared = shared = Path(folder.name)
    shared.chmod(0o755)
    (shared / "config.yaml").write_text(json.dumps(CONFIG))
    for name in ("out.h5", "out.zarr"):
        done = thor("run", shared / "config.yaml", "-o", shared / name, "--quiet", "--device", "cpu")
        assert done.returncode == DONE, done.stderr
    shutil.copyfile(shared / "out.h5", shared / "sky.h5")
    put_on_sky(shared / "sky.h5")


class Exported(Case):
    def export(self, *arguments, expect=DONE, file="out.h5", **options):
        done = thor("export", self.shared / file, *arguments, **options)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stderr

    def need(self, module):
        try:
            return importlib.import_module(module)
        except ImportError:
            skip_loudly(self, f"python3 has no {module}")

    def edited(self, edit):
        path = self.folder / "edited.h5"
        shutil.copyfile(self.shared / "out.h5", path)
        with h5py.File(path, "a") as file:
            edit(file)
        return path


class Fits(Exported):
    def test_the_numbers_are_those_of_the_result(self):
        fits = self.need("astropy.io.fits")
        units = self.need("astropy.units")
        for source in ("out.h5", "out.zarr"):
            said = self.export("--fits", "-o", self.folder, "--overwrite", file=source)
            self.assertEqual(said.count("thor: wrote "), 9, said)
            with h5py.File(self.shared / "out.h5") as file:
                for kind, array in GROUPS.items():
                    for name, group in file[kind].items():
                        with fits.open(self.folder / f"{name}.fits") as found:
                            self.assertEqual([hdu.name for hdu in found], ["PRIMARY", "DATA", "STAT"] + ["VOV"] * ("vov" in group))
                            if "vov" in group:
                                np.testing.assert_array_equal(found["VOV"].data, group["vov"][()])
                            self.assertIsNone(found[0].data)
                            data, stat = (found[key].data.astype(float) for key in ("DATA", "STAT"))
                            self.assertEqual(data.tobytes(), group[array][()].tobytes(), name)
                            self.assertEqual(stat.tobytes(), (group["error"][()] ** 2).tobytes(), name)
                            unit = units.Unit(group[array].attrs["units"].decode() if isinstance(
                                group[array].attrs["units"], bytes) else group[array].attrs["units"])
                            for key, power in (("DATA", 1), ("STAT", 2)):
                                read = units.Unit(found[key].header["BUNIT"], format="fits")
                                self.assertAlmostEqual((read / unit**power).decompose().scale, 1, delta=1e-12)
        with fits.open(self.folder / "sb.fits") as found:
            header = found[0].header
            self.assertEqual((header["LINE"], header["OBSNAME"], header["SEED"], header["COMPLETE"]), ("Lya", "face", 1, True))
            self.assertEqual([header[f"DIR_{c}"] for c in "XYZ"], [0, 0, 1])
            self.assertEqual([header[f"UP_{c}"] for c in "XYZ"], [0, 1, 0])
            self.assertNotIn("REDSHIFT", header)
        with fits.open(self.folder / f"{LONG}.fits") as found:
            self.assertEqual(found[0].header["OBJECT"], LONG)
            self.assertEqual(found[0].header["OBSNAME"], STRANGE.replace("α", "?"))

    def test_vectors_of_earlier_versions_are_text(self):
        """Numbers and text make the same headers, with all digits."""
        fits = self.need("astropy.io.fits")

        def edit(file):
            for key in ("direction", "right", "up", "centre"):
                group = file["images/sb"]
                group.attrs["centre"] = np.array([1 / 3, -2e21, 0])
                text = " ".join(repr(float(v)) for v in group.attrs[key])
                del group.attrs[key]
                group.attrs[key] = np.bytes_(text)

        def number(file):
            file["images/sb"].attrs["centre"] = np.array([1 / 3, -2e21, 0])

        headers = []
        for change in (number, edit):
            done = thor("export", self.edited(change), "--fits", "--name", "sb", "-o", self.folder, "--overwrite")
            self.assertEqual(done.returncode, DONE, done.stderr)
            header = fits.getheader(self.folder / "sb.fits")
            headers.append([header[f"{key}_{axis}"] for key in ("DIR", "UP", "MID") for axis in "XYZ"])
        self.assertEqual(headers[0], headers[1])
        self.assertEqual(headers[0], [0, 0, 1, 0, 1, 0, 1 / 3, -2e21, 0])

    def test_fitsverify_has_no_complaints(self):
        if not shutil.which("fitsverify"):
            skip_loudly(self, "fitsverify is not installed (Debian: fitsverify)")
        for source in ("out.h5", "sky.h5"):
            self.export("--fits", "-o", self.folder, "--overwrite", file=source)
            for path in sorted(self.folder.glob("*.fits")):
                done = subprocess.run(["fitsverify", "-l", path], capture_output=True, text=True, timeout=20)
                self.assertIn("0 warning(s) and 0 error(s)", done.stdout, done.stdout)
        # It would find one.
        damaged = self.folder / "damaged.fits"
        damaged.write_bytes((self.folder / "sb.fits").read_bytes().replace(b"CUNIT1  = 'deg", b"CUNIT1  =  deg", 1))
        done = subprocess.run(["fitsverify", "-l", damaged], capture_output=True, text=True, timeout=20)
        self.assertNotIn("0 warning(s) and 0 error(s)", done.stdout)

    def wcs(self, name):
        fits, wcs = self.need("astropy.io.fits"), self.need("astropy.wcs")
        with fits.open(self.folder / f"{name}.fits") as found:
            data, header = found["DATA"].data, found["DATA"].header
            self.assertEqual(found["STAT"].header["CRPIX1"], header["CRPIX1"])
        return wcs.WCS(header), data, header

    def test_a_source_is_where_it_was_put(self):
        self.export("--fits", "-o", self.folder)
        wcs, image, _ = self.wcs("sb")
        row, column = np.unravel_index(np.argmax(image), image.shape)
        self.assertEqual((row, column), (ROW, COLUMN))
        self.assertEqual([str(unit) for unit in wcs.wcs.cunit], ["kpc", "kpc"])
        np.testing.assert_allclose(wcs.wcs_pix2world(column, row, 0), (RIGHT, UP), rtol=1e-12)
        wcs, cube, _ = self.wcs("ifu")
        self.assertEqual(np.unravel_index(np.argmax(cube), cube.shape)[1:], (ROW, COLUMN))
        np.testing.assert_allclose(wcs.wcs_pix2world(column, row, 0, 0)[:2], (RIGHT, UP), rtol=1e-12)

    def test_a_source_is_where_it_was_put_on_the_sky(self):
        coordinates, units = self.need("astropy.coordinates"), self.need("astropy.units")
        centre = coordinates.SkyCoord(150.1, 40.0, unit="deg")
        for angle in (0, 90, -37):
            self.export("--fits", "-o", self.folder, "--overwrite", "--ra", 150.1, "--dec", 40, "--pa", angle, file="sky.h5")
            for name, where in (("sb", (COLUMN, ROW)), ("ifu", (COLUMN, ROW))):
                wcs, _, header = self.wcs(name)
                place = wcs.celestial.pixel_to_world(*where)
                # East is to the left where north is up: the angle from upward is counted to the left.
                theta = np.arctan2(-RIGHT, UP) * units.rad + angle * units.deg
                expected = centre.directional_offset_by(theta, np.hypot(RIGHT, UP) * units.arcsec)
                self.assertLess(place.separation(expected).arcsec, 1e-6)
                self.assertEqual((header["REDSHIFT"], header["DISTLUMI"], header["DISTANGD"]), (RED, 15934.0, 1770.4))
                if angle == 0:
                    self.assertLess(place.ra, centre.ra)
                    self.assertGreater(place.dec, centre.dec)
        self.assertEqual(units.Unit(header["BUNIT"], format="fits"), units.Unit("erg s-1 cm-2 arcsec-2 / (km s-1)"))

    def test_spectral_axes(self):
        units = self.need("astropy.units")
        self.export("--fits", "-o", self.folder)
        with h5py.File(self.shared / "out.h5") as file:
            for name, kind, unit in (("seen", "VOPT", "km/s"), ("waves", "WAVE", "Angstrom"), ("cycles", "FREQ", "Hz"),
                                     ("emergent", "LINEAR", ""), ("ifu", "VOPT", "km/s")):
                edges = (file["spectra" if name in file["spectra"] else "cubes"][name]["edges"])[()]
                wcs, data, header = self.wcs(name)
                number = 3 if name == "ifu" else 1
                self.assertEqual(header[f"CTYPE{number}"], kind)
                pixel = np.zeros((len(data), number))
                pixel[:, -1] = np.arange(len(data))
                world = wcs.wcs_pix2world(pixel, 0)[:, -1] * units.Unit(wcs.wcs.cunit[number - 1])
                np.testing.assert_allclose(world.to_value(unit), (edges[1:] + edges[:-1]) / 2, rtol=1e-12, atol=1e-9)
                self.assertAlmostEqual(header["RESTWAV"] * 1e10, file.attrs["wavelength0"], delta=1e-9)

    def test_spectral_cube_reads_it(self):
        package, units = self.need("spectral_cube"), self.need("astropy.units")
        self.export("--fits", "--name", "ifu", "-o", self.folder, "--ra", 10, file="sky.h5")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cube = package.SpectralCube.read(self.folder / "ifu.fits", hdu="DATA")
            self.assertEqual(cube.shape, (8, PIXELS, PIXELS))
            self.assertEqual(cube.unit, units.Unit("erg s-1 cm-2 arcsec-2 / (km s-1)"))
            np.testing.assert_allclose(cube.spectral_axis.to_value("km/s"), np.arange(-90, 60, 20))
            waves = cube.with_spectral_unit("Angstrom", velocity_convention="optical")
            _, header = self.wcs("ifu")[::2]
            expected = header["RESTWAV"] * 1e10 * (1 + np.arange(-90, 60, 20) / 299792.458)
            np.testing.assert_allclose(waves.spectral_axis.to_value("Angstrom"), expected, rtol=1e-9)
            _, up, right = cube.world[0, ROW, COLUMN]
            self.assertAlmostEqual((10 - right.to_value("deg")) * 3600, RIGHT, delta=1e-6)
            self.assertAlmostEqual(up.to_value("deg") * 3600, UP, delta=1e-6)
            total = cube.sum().to_value() * 0.1**2 * 20
        told = json.loads(thor("info", self.shared / "sky.h5", "--json").stdout)
        (ifu,) = [p for p in told["products"] if p["name"] == "ifu"]
        self.assertAlmostEqual(ifu["light"] / total, 1, delta=1e-9)
        self.assertEqual(ifu["light_units"], "erg s-1 cm-2")


LEFT, TOP = 132, 54  # of the image in its picture


class Pictures(Exported):
    def read(self, name):
        image = self.need("matplotlib.image")
        return np.round(image.imread(self.folder / f"{name}.png")[:, :, :3] * 255).astype(int)

    def test_the_brightest_pixel_is_where_it_is(self):
        for source in ("out.h5", "sky.h5", "out.zarr"):
            self.export("--png", "-o", self.folder, "--overwrite", file=source)
            for name in ("sb", "ifu"):
                pixels = self.read(name)
                size = 26  # pixels of the picture for one of the image
                frame = pixels[TOP : TOP + PIXELS * size, LEFT : LEFT + PIXELS * size]
                rows, columns = np.nonzero(np.all(frame == (252, 255, 164), axis=2))
                self.assertEqual(len(rows), size**2)
                self.assertEqual((rows.min() // size, columns.min() // size), (PIXELS - 1 - ROW, COLUMN))
                self.assertEqual((rows.max() // size, columns.max() // size), (PIXELS - 1 - ROW, COLUMN))
                self.assertTrue(np.any(np.all(frame == 255, axis=2)), "the scale bar")
                self.assertGreater(np.count_nonzero(np.all(pixels[:TOP] == 0, axis=2)), 500, "the title")
                beside = pixels[:, LEFT + PIXELS * size :]
                self.assertGreater(np.count_nonzero(np.all(beside == 0, axis=2)), 1500, "the labels of the colour bar")

    def test_the_colours_are_those_of_inferno(self):
        self.export("--png", "--name", "sb", "-o", self.folder)
        matplotlib = self.need("matplotlib")
        pixels = self.read("sb")
        bar = pixels[TOP : TOP + 520, LEFT + 520 + 15 + 9]
        self.assertEqual(len(bar), 520)
        expected = np.array(matplotlib.colormaps["inferno"].colors) * 255
        values = 1 - (np.arange(520) + 0.5) / 520
        expected = np.stack([np.interp(values * 255, np.arange(256), expected[:, k]) for k in range(3)], axis=1)
        self.assertLess(np.max(np.abs(bar - expected)), 3)
        # The logarithm of the image is what is drawn.
        with h5py.File(self.shared / "out.h5") as file:
            image = file["images/sb/surface_brightness"][()]
        low = np.clip(np.min(image[image > 0]), np.max(image) / 1e4, np.max(image) / 10)
        level = np.log(np.maximum(image, low) / low) / np.log(np.max(image) / low)
        shown = pixels[TOP + 13 : TOP + 520 : 26, LEFT + 13 : LEFT + 520 : 26][::-1]
        expected = np.array(matplotlib.colormaps["inferno"].colors) * 255
        expected = np.stack([np.interp(level * 255, np.arange(256), expected[:, k]) for k in range(3)], axis=2)
        free = np.ones(image.shape, bool)
        free[:4, :12] = False  # of the scale bar
        self.assertLess(np.max(np.abs(shown - expected)[free]), 3)

    def test_a_dark_image_is_drawn(self):
        self.export("--png", "--name", "dark", "-o", self.folder)
        pixels = self.read("dark")
        self.assertEqual(tuple(pixels[TOP + 20, LEFT + 20]), (0, 0, 4))
        copy = shutil.copy(self.shared / "out.h5", self.folder / "copy.h5")
        with h5py.File(copy, "r+") as file:
            file["images/dark"].attrs["luminosity_beyond"] = 0.0
        self.export("--png", "--name", "dark", "-o", self.folder, "--overwrite", file=copy)
        self.assertEqual(self.lines_below(self.read("dark")), 0, "without light there is no noise")

    def lines_below(self, pixels):
        """Lines of red text."""
        red = np.flatnonzero(np.any(np.all(pixels == (176, 0, 32), axis=2), axis=1))
        return len(red) and 1 + np.count_nonzero(np.diff(red) > 9)

    def test_every_caveat_has_room(self):
        copy = shutil.copy(self.shared / "out.h5", self.folder / "copy.h5")
        for trusted, beyond, lines in ((0.9, 0.0, 0), (0.4, 0.0, 1), (0.9, 3.0, 1), (0.4, 3.0, 2)):
            with h5py.File(copy, "r+") as file:
                image = file["images/sb"].attrs
                image["trusted"], image["luminosity_beyond"] = trusted, beyond * image["luminosity"]
            self.export("--png", "--name", "sb", "-o", self.folder, "--overwrite", file=copy)
            self.assertEqual(self.lines_below(self.read("sb")), lines, (trusted, beyond))


class Text(Exported):
    def test_three_columns(self):
        self.export("--txt", "-o", self.folder)
        names = ["cycles.txt", "emergent.txt", "rings.txt", "seen.txt", "two.txt", "waves.txt"]
        self.assertEqual(sorted(path.name for path in self.folder.glob("*")), names)
        with h5py.File(self.shared / "out.h5") as file:
            for name, group in file["spectra"].items():
                middle, flux, error = np.loadtxt(self.folder / f"{name}.txt", unpack=True)
                edges = group["edges"][()]
                np.testing.assert_allclose(middle, (edges[1:] + edges[:-1]) / 2, rtol=1e-13, atol=1e-12)
                self.assertEqual((flux.tobytes(), error.tobytes()), (group["flux"][()].tobytes(), group["error"][()].tobytes()))
        heading = "".join(line for line in (self.folder / "seen.txt").read_text().splitlines(True) if line.startswith("#"))
        for words in ("spectrum seen of Lya", "axis: velocity", "1215.67", "observer: face, direction 0 0 1", "light: escaped",
                      "velocity [km s-1]", "[erg s-1 / (km s-1)]", "numpy.loadtxt"):
            self.assertIn(words, heading)
        self.assertIn("observer: none", (self.folder / "emergent.txt").read_text())


    def test_profiles_and_histograms(self):
        self.export("--txt", "--name", "rings", "--name", "two", "-o", self.folder)
        with h5py.File(self.shared / "out.h5") as file:
            rings, two = file["profiles/rings"], file["histograms/two"]
            radius, brightness, error = np.loadtxt(self.folder / "rings.txt", unpack=True)
            edges = rings["edges"][()]
            np.testing.assert_allclose(radius, np.sqrt(edges[1:] * edges[:-1]), rtol=1e-14)  # rings of equal ratio
            np.testing.assert_array_equal([brightness, error], [rings["surface_brightness"][()], rings["error"][()]])
            scatterings, velocity, light, error = np.loadtxt(self.folder / "two.txt", unpack=True)
            np.testing.assert_array_equal(scatterings, np.repeat([0.5, 1.5, 2.5, 3.5], 3))
            np.testing.assert_allclose(velocity, np.tile([-20, 0, 20], 4), atol=1e-12)
            np.testing.assert_array_equal([light, error], [two["luminosity"][()].ravel(), two["error"][()].ravel()])
            self.assertGreater(np.sum(light), 0)
            heading = (self.folder / "two.txt").read_text()
            for words in ("column 1 has their middles", "column 2 has their middles", "column 2 changes fastest", ".reshape(4, 3)",
                          "columns: scatterings, velocity [km s-1], luminosity in the bin [erg s-1]",
                          f"light: escaped, {two.attrs['luminosity']:.10g}"[:24]):
                self.assertIn(words, heading)
            self.assertEqual(heading.count("; lambda_0 ="), 1)  # scatterings have no frequency
            heading = (self.folder / "rings.txt").read_text()
            self.assertNotIn("; lambda_0 =", heading)
            for words in ("profile rings of Lya", "radius [kpc], surface brightness [erg s-1 kpc-2]", f"edges are {edges[0]} {edges[1]}"):
                self.assertIn(words, heading)
            fits = self.need("astropy.io.fits")
            self.export("--fits", "--name", "rings", "-o", self.folder)
            with fits.open(self.folder / "rings.fits") as found:
                found.verify("exception")
                table = found["PROFILE"].data
                self.assertEqual(table.names, ["R_IN", "R_OUT", "SB", "ERROR", "VOV"])
                self.assertEqual(found["PROFILE"].columns["SB"].unit, "erg s-1 kpc-2")
                np.testing.assert_array_equal([table["R_IN"], table["R_OUT"]], [edges[:-1], edges[1:]])
                np.testing.assert_array_equal([table["SB"], table["ERROR"]], [rings["surface_brightness"][()], rings["error"][()]])


class Commands(Exported):
    def test_a_signal_between_files_says_what_is_there(self):
        """Its messages go to a pipe that is full: it waits after the first file, and the signal comes there."""
        reading, writing = os.pipe()
        full = fcntl.fcntl(writing, 1031, 4096)  # F_SETPIPE_SZ
        os.write(writing, b"x" * (full - 10))
        job = subprocess.Popen(command_line("export", self.shared / "out.h5", "--fits", "-o", self.folder), stderr=writing)
        wait_for(lambda: len(list(self.folder.glob("*.fits"))) == 1)
        job.send_signal(signal.SIGTERM)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            said = pipe.read()
        self.assertEqual(job.wait(timeout=60), STOPPED)
        self.assertRegex(said, r"wrote 1 of 9 files, .*\.fits")
        self.assertEqual(len(list(self.folder.iterdir())), 1)

    def test_names_and_prefixes(self):
        self.export("--fits", "--png", "--name", "sb", "--name", "seen", "-o", self.folder / "mock_", "--quiet")
        self.assertEqual(sorted(path.name for path in self.folder.glob("*")), ["mock_sb.fits", "mock_sb.png", "mock_seen.fits"])
        self.export("--txt", "--name", "seen", cwd=self.folder)
        self.assertTrue((self.folder / "seen.txt").exists())

    def test_what_is_no_file_is_found_before_the_first_is_written(self):
        for name in ("seen.txt", "seen.txt.partial"):
            (self.folder / name).mkdir()
            done = thor("export", self.shared / "out.h5", "--fits", "--txt", "-o", self.folder, "--overwrite")
            self.assertEqual(done.returncode, OUTPUT, done.stderr)
            self.assertIn(f"{name}': it is not a regular file", done.stderr)
            self.assertEqual([path.name for path in self.folder.iterdir()], [name])
            (self.folder / name).rmdir()

    def test_caveats_go_along(self):
        def cut(file):
            file["summary"].attrs["complete"] = np.bool_(False)
            file["summary"].attrs["caveats"] = "the run was cut"
        path = self.edited(cut)
        said = self.export("--fits", "--txt", "--name", "seen", "-o", self.folder, file=path)
        self.assertIn("the run was cut", said)
        self.assertIn("INCOMPLETE", (self.folder / "seen.txt").read_text())
        fits = self.need("astropy.io.fits")
        header = fits.getheader(self.folder / "seen.fits")
        self.assertFalse(header["COMPLETE"])
        self.assertIn("the run was cut", str(header["COMMENT"]))

    def test_caveats_of_other_products_stay_out(self):
        """A product has its own caveats and those of the run."""
        def doubt(file):
            file["summary"].attrs["caveats"] = "spectrum seen: noisy\nimage sb: noisy\n5 photons lost"
        said = self.export("--txt", "--name", "seen", "-o", self.folder, file=self.edited(doubt))
        written = (self.folder / "seen.txt").read_text()
        for told in (said, written):
            self.assertIn("spectrum seen: noisy", told)
            self.assertIn("5 photons lost", told)
            self.assertNotIn("image sb", told)

    def test_a_format_without_files_is_named(self):
        said = self.export("--fits", "--png", "--name", "seen", "-o", self.folder)
        self.assertIn("thor: --png: no picture, because no image or cube is exported\n", said)
        self.assertNotIn("{false}", thor("export", "--help").stdout)

    def test_mistakes(self):
        (self.folder / "text.h5").write_text("this is text")
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["a"] = 1
        def without_products(file):
            for kind in ("spectra", "images", "cubes", "profiles", "histograms"):
                del file[kind]
        empty = self.edited(without_products)
        only_spectra = self.folder / "spectra.h5"
        shutil.copyfile(self.shared / "out.h5", only_spectra)
        with h5py.File(only_spectra, "a") as file:
            del file["images"], file["cubes"], file["profiles"], file["histograms"]
        out = self.shared / "out.h5"
        for code, says, arguments in (
            (USAGE, "--fits, --png or --txt", (out,)),
            (INPUT, "there is no such file", (self.folder / "none.h5", "--fits")),
            (INPUT, "not an HDF5 file", (self.folder / "text.h5", "--fits")),
            (INPUT, "no zarr store", (self.folder, "--fits")),
            (INPUT, "not a result of thor", (self.folder / "other.h5", "--fits")),
            (USAGE, r"--name sbb: .*it has ifu \(cube\), .*sb \(image\), .*seen \(spectrum\)", (out, "--fits", "--name", "sbb")),
            (USAGE, "--name seen: a spectrum has no picture", (out, "--png", "--name", "seen")),
            (USAGE, "--name sb: .*use --fits or --png", (out, "--txt", "--name", "sb")),
            (USAGE, "--name two: a histogram has no FITS file: use --txt", (out, "--fits", "--name", "two")),
            (USAGE, "--name rings: a profile has no picture: use --txt or --fits", (out, "--png", "--name", "rings")),
            (INPUT, "nothing to export: it has no images, cubes, spectra, profiles or histograms", (empty, "--fits")),
            (INPUT, "nothing to export: it has .*spectra and profiles are exported by --txt or --fits", (only_spectra, "--png")),
            (USAGE, "--ra: .*no angles", (out, "--fits", "--ra", 3)),
            (USAGE, "--dec", (self.shared / "sky.h5", "--fits", "--dec", 91)),
            (OUTPUT, "there is no directory", (out, "--fits", "-o", str(self.folder / "none") + "/")),
            (OUTPUT, "a{300}", (out, "--fits", "-o", 300 * "a")),
        ):
            with self.subTest(says):
                done = thor("export", *arguments, cwd=self.folder)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertRegex(done.stderr, says)
        self.assertEqual(list(self.folder.glob("*.fits*")), [])

    def test_nothing_is_overwritten_unasked(self):
        (self.folder / "sb.fits").write_text("mine")
        said = self.export("--fits", "-o", self.folder, expect=OUTPUT)
        self.assertRegex(said, "sb.fits': the file exists: use --overwrite")
        self.assertEqual([path.name for path in self.folder.glob("*")], ["sb.fits"], "nothing else was written before")
        self.assertEqual((self.folder / "sb.fits").read_text(), "mine")
        self.export("--fits", "-o", self.folder, "--overwrite")
        self.assertGreater((self.folder / "sb.fits").stat().st_size, 2880)
        own = self.folder / "seen.txt"
        shutil.copyfile(self.shared / "out.h5", own)
        self.assertIn("it is also the input", self.export("--txt", "-o", self.folder, "--overwrite", file=own, expect=OUTPUT))
        self.assertTrue(h5py.is_hdf5(own))

    def test_full_disks_and_closed_directories(self):
        for format, name in (("--fits", "sb"), ("--png", "sb"), ("--txt", "seen")):
            said = self.export(format, "--name", name, "-o", self.folder, expect=OUTPUT, **limited(resource.RLIMIT_FSIZE, 100))
            self.assertRegex(said, "cannot write .*ulimit -f")
            self.assertEqual(list(self.folder.iterdir()), [])
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        with as_nobody(self, self.folder) as options:
            said = self.export("--fits", "-o", closed, expect=OUTPUT, **options)
        self.assertRegex(said, "no file can be created in '.*closed': Permission denied")

    def test_damaged_results(self):
        def not_a_number(file):
            file["images/sb/surface_brightness"][3, 3] = np.nan
        def unequal(file):
            file["images/sb/edges_up"][3] += 0.05
        def cut(file):
            data = file["images/sb/error"][:5]
            del file["images/sb/error"]
            file["images/sb/error"] = data
        def missing(file):
            del file["images/sb/edges_up"]
        def without(file):
            del file["images/sb/error"]
        for edit, says in ((not_a_number, "not all of its numbers are finite"), (unequal, "not of equal width"),
                           (cut, "its shape is not that of its axes"), (missing, "edges_up"), (without, "error")):
            with self.subTest(says):
                path = self.edited(edit)
                for format in ("--fits", "--png"):
                    said = self.export(format, "--name", "sb", "-o", self.folder, file=path, expect=INPUT)
                    self.assertRegex(said, f"edited.h5.*sb.*{says}")
                self.assertEqual([p.name for p in self.folder.iterdir()], ["edited.h5"])
                self.export("--fits", "--name", "ifu", "-o", self.folder, file=path)
                (self.folder / "ifu.fits").unlink()

    def test_files_of_format_1(self):
        """Errors of observers' light by groups, with a VOV of at most 0.15; spectra of all directions and histograms without VOV."""
        def age(file):
            file.attrs["format_version"] = 1
            for place in ("images/sb", "cubes/ifu", "profiles/rings", "spectra/seen"):
                file[place].attrs["error_method"] = np.bytes_("groups")
            for place in ("spectra/emergent", "histograms/two"):
                del file[place]["vov"]
        path = self.edited(age)
        told = thor("info", path)
        self.assertEqual(told.returncode, DONE, told.stderr)
        for name, limits in (("sb", "20 % and a VOV of at most 0.15\n"), ("seen", "20 % and a VOV of at most 0.15\n"), ("emergent", "20 %\n"), ("two", "20 %\n")):
            self.assertIn(f"of the light of {name} is in bins with errors of at most {limits}", told.stdout)
        self.export("--fits", "--txt", "--png", "-o", self.folder, file=path)
        fits = self.need("astropy.io.fits")
        for name, parts in (("seen", ["DATA", "STAT", "VOV"]), ("emergent", ["DATA", "STAT"])):
            with fits.open(self.folder / f"{name}.fits") as found:
                self.assertEqual([hdu.name for hdu in found[1:]], parts)
        package = read_package()
        with package.open(path) as result, package.open(self.shared / "out.h5") as newer:
            self.assertIsNone(result.spectra["emergent"].vov)
            self.assertIsNone(result.histograms["two"].vov)
            self.assertEqual(result.images["sb"].error_method, "groups")
            for name, spectrum in result.spectra.items():
                self.assertEqual(spectrum.luminosity(), newer.spectra[name].luminosity())

    def test_info(self):
        text = thor("info", self.shared / "out.h5").stdout
        self.assertRegex(text, r"acceleration +none\n")
        with h5py.File(self.shared / "out.h5") as file:
            light = np.sum(file["images/sb/surface_brightness"][()]) * 0.1**2
        self.assertIn(f"sb, observer face: 20 x 20, erg s-1 kpc-2; {light:.6g} erg s-1 in all", text)
        self.assertRegex(text, r"cube +ifu, observer face: 20 x 20 x 8, erg s-1 kpc-2 / \(km s-1\); \S+ erg s-1 in all")
        text = thor("info", self.shared / "sky.h5").stdout
        self.assertIn(f"sb, observer face: 20 x 20, erg s-1 cm-2 arcsec-2; {light:.6g} erg s-1 cm-2 in all", text)


if __name__ == "__main__":
    main()
