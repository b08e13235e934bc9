"""Analysis of images and cubes, against exact truth."""

import dataclasses
import io
import os
import subprocess
import sys
import unittest
from math import erf

import numpy as np
from support import WithFiles, skip_loudly, write_result

import thor
from thor.line import C_KMS, Line
from thor.sky import Cube, Image

PIXELS, WIDTH = 200, 20.0  # kpc
MG = (2796.3543, 2803.5315)


def common(error, edges=None):
    pixels = error.shape[-1]
    side = np.linspace(-WIDTH / 2, WIDTH / 2, pixels + 1)
    return {
        "name": "made", "observer": "face", "error": error, "unit": "", "right": side, "up": side, "direction": np.array([0, 0, 1.0]),
        "centre": np.zeros(3), "of": "escaped", "beyond": 0.0, "error_method": "groups", "length": "kpc", "light": 1.0,
        "luminosity_error": np.nan, "vov": None, "trusted": np.nan, "generator": None,
    }  # fmt: skip


def image(brightness, error=None):
    error = np.zeros_like(brightness) if error is None else error
    return Image(**common(error), brightness=brightness)


def radius(pixels=PIXELS):
    middle = (np.arange(pixels) + 0.5) / pixels * WIDTH - WIDTH / 2
    return np.hypot(middle[None, :], middle[:, None])


class OnePixelTest(unittest.TestCase):
    def test_is_drawn_whatever_its_light(self):
        """matplotlib's resampling of equal values turns some of them into a range from more to less."""
        try:
            import matplotlib
        except ImportError:
            skip_loudly(self, "there is no matplotlib (Debian: python3-matplotlib): images of one pixel")
        matplotlib.use("agg")
        for light in (3.776e-17, 1.0, 7e41):
            image(np.full((1, 1), light)).plot().figure.savefig(io.BytesIO())


class DiscTest(unittest.TestCase):
    """An exponential disc S = S0 exp(-r/h): A(>S) = pi h^2 ln^2(S0/S), dA/dlog10 S = 2 pi h^2 ln(10) ln(S0/S)."""

    S0, H = 1e40, 1.5

    def setUp(self):
        self.disc = image(self.S0 * np.exp(-radius() / self.H))

    def truth(self, limit, h=None):
        return np.pi * (h or self.H) ** 2 * np.log(self.S0 / limit) ** 2

    def test_area_and_depth(self):
        for limit in (3e39, 1e39, 1e38):
            area, error = self.disc.area(limit)
            truth = self.truth(limit)
            tolerance = 4 * np.sqrt(2 * np.pi * np.sqrt(truth / np.pi) * self.disc.pixel_area ** 1.5)  # pixels of the rim
            self.assertAlmostEqual(area, truth, delta=tolerance)
            self.assertGreater(abs(self.truth(limit, 1.05 * self.H) - area), tolerance, "the twin: a disc of another size")
            self.assertEqual(error, 0)
            self.assertAlmostEqual(self.disc.depth(truth)[0] / limit, 1, delta=0.02)
            self.assertLessEqual(self.disc.area(self.disc.depth(truth)[0])[0], truth + 8 * self.disc.pixel_area, "eight pixels are as bright")
        with self.assertRaisesRegex(thor.ArgumentError, "only, not on 401"):
            self.disc.depth(401.0)
        for wrong in (0, -1, "deep"):
            with self.assertRaises(thor.ArgumentError):
                self.disc.area(wrong)

    def test_distribution_of_brightness(self):
        edges = np.geomspace(2e38, 8e39, 9)
        pdf = self.disc.brightness_pdf(edges)
        truth = -np.diff(self.truth(edges)) / np.diff(np.log10(edges))
        np.testing.assert_allclose(pdf.area, truth, rtol=0.1)
        np.testing.assert_allclose(np.sum(pdf.area * np.diff(np.log10(edges))), self.truth(edges[0]) - self.truth(edges[-1]), rtol=0.01)
        twin = -np.diff(self.truth(edges, 1.1 * self.H)) / np.diff(np.log10(edges))
        self.assertGreater(np.max(np.abs(pdf.area / twin - 1)), 0.1)
        with self.assertRaises(thor.ArgumentError):
            self.disc.brightness_pdf([1e38, 1e37])

    def test_errors_are_those_of_noisy_images(self):
        """The scatter of areas of many noisy images is what one of them says."""
        rng = np.random.default_rng(5)
        true, error = self.S0 * np.exp(-radius(60) / self.H), np.full((60, 60), 2e38)
        limit, edges = 1e39, np.array([6e38, 1.5e39, 4e39])
        noisy = [image(true + rng.normal(0, error), error) for _ in range(300)]
        areas = np.array([i.area(limit) for i in noisy])
        # Each image is itself noisy, so that it sees pixels nearer to the limit than they are: the error is good to some 15 %.
        self.assertAlmostEqual(np.std(areas[:, 0]) / np.mean(areas[:, 1]), 1, delta=0.2)
        pdfs = [i.brightness_pdf(edges) for i in noisy]
        scatter = np.std([p.area for p in pdfs], axis=0)
        np.testing.assert_allclose(scatter / np.mean([p.error for p in pdfs], axis=0), 1, atol=0.25)
        half = [image(i.brightness, i.error / 3).area(limit)[1] for i in noisy]
        self.assertGreater(np.std(areas[:, 0]) / np.mean(half), 1.3, "the twin: errors that are too small")

    def test_light_of_an_aperture(self):
        fine = image(self.S0 * np.exp(-radius() / self.H), np.full((PIXELS, PIXELS), 1e37))
        r = 4.0
        truth = 2 * np.pi * self.S0 * self.H**2 * (1 - (1 + r / self.H) * np.exp(-r / self.H))
        light, error = fine.aperture(r)
        self.assertAlmostEqual(light / truth, 1, delta=0.002)
        self.assertAlmostEqual(error, 1e37 * np.sqrt(np.sum(radius() < r)) * fine.pixel_area, delta=0.02 * error)
        flat = image(np.ones((PIXELS, PIXELS)), np.ones((PIXELS, PIXELS)))
        for small in (0.01, 0.1, 1.0):  # from less than a pixel on
            self.assertAlmostEqual(flat.aperture(small)[0] / (np.pi * small**2), 1, delta=3e-3)
        edge = float(fine.right[-1])
        self.assertGreater(fine.aperture(edge)[0], light)
        for wrong in ((1.01 * edge,), (3.0 * edge, 2.0 * edge)):
            with self.assertRaisesRegex(thor.ArgumentError, "leaves image .* reaches to"):
                fine.aperture(*wrong)
        self.assertAlmostEqual(fine.aperture(3.0)[0] + fine.aperture(r, 3.0)[0], light, delta=1e-9 * light)
        with self.assertRaises(thor.ArgumentError):
            fine.aperture(1.0, 2.0)


def gaussian(edges, centre, sigma):
    """Share of a Gaussian in each bin."""
    cdf = np.array([0.5 * (1 + erf((e - centre) / sigma / np.sqrt(2))) for e in edges])
    return np.diff(cdf)


class CubeTest(unittest.TestCase):
    """Two Gaussian lines in every pixel, whose ratio grows to the right."""

    def setUp(self):
        self.ratio = np.linspace(1, 2, 5)
        self.edges = np.linspace(-400, 1200, 321)
        apart = C_KMS * (MG[1] / MG[0] - 1)
        first, second = (gaussian(self.edges, v, 40.0)[:, None, None] / 5.0 for v in (0.0, apart))  # per km/s
        light = first * self.ratio[None, None, :] + second
        self.light = np.repeat(light, 5, axis=1)
        self.error = np.sqrt(self.light / 5 / 2000)  # of 2000 photons for a light of 1
        self.cube = self.make(self.light)

    def make(self, light):
        return Cube(**common(self.error), intensity=light, axis="velocity", edges=self.edges, line=Line("MgII", MG[0]))

    def test_ratio_of_a_doublet(self):
        made = self.cube.doublet_ratio(*MG, 150)
        np.testing.assert_allclose(made.ratio, np.tile(self.ratio, (5, 1)), rtol=2e-3)
        np.testing.assert_allclose(made.error, self.ratio * np.sqrt(1 / (2000 * self.ratio) + 1 / 2000) * np.ones((5, 1)), rtol=0.01)
        self.assertTrue(np.all(made.mask))
        swapped = self.cube.doublet_ratio(MG[1], MG[0], 150)
        np.testing.assert_allclose(swapped.ratio * made.ratio, 1, rtol=1e-12)
        dark = self.light.copy()
        dark[:, 0, 0] = 0
        dim = self.make(dark).doublet_ratio(*MG, 150)
        self.assertTrue(np.isnan(dim.ratio[0, 0]) and not dim.mask[0, 0] and np.sum(dim.mask) == 24)
        self.assertFalse(np.any(self.cube.doublet_ratio(*MG, 150, least=60).mask), "2000 photons are 45 errors")
        with self.assertRaisesRegex(thor.ArgumentError, "overlap"):
            self.cube.doublet_ratio(*MG, 400)

    def test_ratios_of_noisy_cubes_scatter_by_their_errors(self):
        rng = np.random.default_rng(3)
        drawn = [rng.poisson(self.light * 5 * 2000) / 5 / 2000 for _ in range(200)]
        for method in (lambda c: c.doublet_ratio(*MG, 150), lambda c: c.blue_fraction(-150, 150)):
            maps = [method(self.make(light)) for light in drawn]
            scatter = np.std([m.ratio for m in maps], axis=0)
            self.assertAlmostEqual(np.mean(scatter / maps[0].error), 1, delta=0.03)
            self.assertGreater(abs(np.mean(scatter / maps[0].error / 1.1) - 1), 0.03, "the twin")

    def test_blue_fraction(self):
        whole = self.cube.blue_fraction(-150, 150)
        np.testing.assert_allclose(whole.ratio, 0.5, atol=1e-3)
        np.testing.assert_allclose(whole.error, 0.5 / np.sqrt(2000 * self.ratio) * np.ones((5, 1)), rtol=0.02)
        np.testing.assert_allclose(whole.ratio, self.cube.moments(-150, 150).blue_fraction)
        shifted = Cube(**common(self.error), intensity=self.light, axis="velocity", edges=self.edges + 40.0, line=self.cube.line)
        self.assertAlmostEqual(shifted.blue_fraction(-150, 250).ratio[0, 0], 0.5 * (1 + erf(-1 / np.sqrt(2))), delta=2e-3)

    def test_moments_of_a_part_of_a_channel(self):
        flat = Cube(**common(np.ones((2, 1, 1))), intensity=np.ones((2, 1, 1)), axis="velocity", edges=np.array([0.0, 100.0, 200.0]),
                    line=self.cube.line)
        for low, high, mean in ((0, 200, 100.0), (50, 200, 0.25 * 2 / 1.5 * 75 + 150 / 1.5), (0, 50, 25.0), (-500, 120, 60.0)):
            found = flat.moments(low, high)
            self.assertAlmostEqual(found.mean[0, 0], mean, places=9)
        line = flat.line
        ends = [float(line.from_velocity(v, "wavelength")) for v in (0.0, 50.0)]
        self.assertAlmostEqual(flat.moments(*ends, "wavelength").mean[0, 0], 25.0, places=4)

    def test_light_beyond_a_window(self):
        whole, part = self.cube.image(), self.cube.image(-20, 15)
        self.assertEqual(whole.beyond, self.cube.beyond)
        self.assertAlmostEqual((part.luminosity() + part.beyond) / (whole.luminosity() + whole.beyond), 1, delta=1e-12)
        self.assertGreater(part.beyond, 0.0)

    def test_narrow_band(self):
        by_velocity = self.cube.image(-150, 150)
        low, high = MG[0] * (1 - 150 / C_KMS), MG[0] * (1 + 150 / C_KMS)
        by_wavelength = self.cube.image(low, high, "wavelength")
        np.testing.assert_allclose(by_velocity.brightness, by_wavelength.brightness, rtol=1e-12)
        np.testing.assert_allclose(by_velocity.brightness, np.tile(self.ratio, (5, 1)), rtol=1e-3)
        np.testing.assert_allclose(by_velocity.error, np.sqrt(self.ratio / 2000) * np.ones((5, 1)), rtol=1e-3)
        self.assertTrue(np.isnan(by_velocity.trusted))
        np.testing.assert_allclose(self.cube.image().brightness, np.tile(self.ratio + 1, (5, 1)), rtol=1e-6)
        with self.assertRaisesRegex(thor.ArgumentError, "no channel"):
            self.cube.image(1000, 1001, "wavelength")
        with self.assertRaisesRegex(thor.ArgumentError, "unknown axis"):
            self.cube.image(0, 1, "colour")


class PartsTest(unittest.TestCase):
    """Two pixels with five channels of 20 km/s about line centre, whose intensity is 1, 2, ... 5 and 5, 4, ... 1 per km/s: of a
    channel that a window cuts, the part inside counts."""

    EDGES = np.linspace(-50.0, 50.0, 6)

    def setUp(self):
        self.channels = np.arange(1.0, 6.0)
        self.light = np.stack([self.channels, self.channels[::-1]], axis=1)[:, None, :]
        self.cube = self.make("velocity", self.EDGES)

    def make(self, axis, edges):
        sky = {**common(0.1 * self.light), "right": np.array([-1.0, 0.0, 1.0]), "up": np.array([-0.5, 0.5])}
        return Cube(**sky, intensity=self.light, axis=axis, edges=edges, line=Line("MgII", MG[0], 10.0))

    def test_half_a_channel_has_half_of_its_light(self):
        whole, half = self.cube.image(-30, -10), self.cube.image(-30, -20)
        np.testing.assert_allclose(whole.brightness, [[40, 80]])
        np.testing.assert_allclose(half.brightness, whole.brightness / 2)
        np.testing.assert_allclose(half.error, whole.error / 2)
        np.testing.assert_allclose(self.cube.image(-20, 15).brightness, [[10 * 2 + 20 * 3 + 5 * 4, 10 * 4 + 20 * 3 + 5 * 2]])
        np.testing.assert_allclose(self.cube.image(-2, 3).brightness, [[15, 15]], err_msg="a window within a channel")
        np.testing.assert_allclose(self.cube.image(-40).brightness + self.cube.image(high=-40).brightness, self.cube.image().brightness)
        np.testing.assert_allclose(self.cube.image(40, 1e9).brightness, [[50, 10]], err_msg="there is no light beyond the cube")

    def test_windows_on_any_axis(self):
        """The same light from a cube of each axis through the same window on each; x and frequency grow to the blue."""
        truth, line = self.cube.image(-20, 15).brightness, self.cube.line
        for own in ("velocity", "wavelength", "frequency", "x"):
            edges = line.from_velocity(self.EDGES, own)
            order = slice(None, None, 1 if edges[1] > edges[0] else -1)
            cube = self.make(own, edges[order])
            cube = dataclasses.replace(cube, intensity=self.light[order] * (20.0 / np.abs(np.diff(edges)))[order, None, None])
            for axis in ("velocity", "wavelength", "frequency", "x"):
                low, high = sorted(float(line.from_velocity(v, axis)) for v in (-20.0, 15.0))
                np.testing.assert_allclose(cube.image(low, high, axis).brightness, truth, rtol=1e-3, err_msg=f"{own} {axis}")
                blue = cube.blue_fraction(low, high, axis).ratio
                np.testing.assert_allclose(blue, [[50 / 100, 70 / 110]], rtol=1e-3, err_msg=f"{own} {axis}")

    def test_blue_side_of_a_window_within_the_channel_of_line_centre(self):
        for low, high, blue in ((0, 10, 0), (-10, 0, 1), (-5, 5, 0.5), (-1, 3, 0.25), (-9, -3, 1), (2, 3, 0)):
            np.testing.assert_allclose(self.cube.blue_fraction(low, high).ratio, blue, atol=1e-12, err_msg=f"{low} {high}")
        np.testing.assert_allclose(self.cube.blue_fraction().ratio, [[90 / 300, 210 / 300]])
        np.testing.assert_allclose(self.cube.blue_fraction(0).ratio, 0, atol=1e-12)

    def test_parts_of_channels_around_a_doublet(self):
        first, second = (MG[0] * (1 + v / C_KMS) for v in (-30, 30))  # between the first two channels, and the last two
        made = self.cube.doublet_ratio(first, second, 15)
        np.testing.assert_allclose(made.ratio, [[(15 * 1 + 15 * 2) / (15 * 4 + 15 * 5), 3]], rtol=1e-3)
        np.testing.assert_allclose(self.cube.doublet_ratio(first, second, 20).ratio[0, 0], 1 / 3, rtol=1e-3, err_msg="to the very end")
        with self.assertRaisesRegex(thor.ArgumentError, "does not have all of the window around 2796.07 Angstrom"):
            self.cube.doublet_ratio(first, second, 25)
        with self.assertRaisesRegex(thor.ArgumentError, "does not have all of the window around 2803.53"):
            self.cube.doublet_ratio(first, MG[1], 15)

    def test_observed_channels(self):
        """A cube at redshift 2, over wavelength: windows on other axes know it, transitions are given at rest."""
        line = dataclasses.replace(self.cube.line, redshift=2.0)
        seen = dataclasses.replace(self.cube, axis="wavelength", line=line, edges=3 * MG[0] * (1 + self.EDGES / C_KMS),
                                   intensity=self.light / (3 * MG[0] / C_KMS))
        np.testing.assert_allclose(line.from_velocity(line.to_velocity(seen.edges, "wavelength"), "frequency"),
                                   2.99792458e18 / seen.edges, rtol=1e-12)
        np.testing.assert_allclose(seen.image(-20, 15, "velocity").brightness, self.cube.image(-20, 15).brightness, rtol=1e-9)
        np.testing.assert_allclose(seen.blue_fraction().ratio, self.cube.blue_fraction().ratio, rtol=1e-9)
        first, second = (MG[0] * (1 + v / C_KMS) for v in (-30, 30))
        np.testing.assert_allclose(seen.doublet_ratio(first, second, 15).ratio, self.cube.doublet_ratio(first, second, 15).ratio, rtol=1e-9)
        with self.assertRaisesRegex(thor.ArgumentError, "does not have all of the window"):
            seen.doublet_ratio(3 * first, 3 * second, 15)

    def test_quantities(self):
        expected = self.cube.image(-20, 15).brightness
        np.testing.assert_allclose(self.cube.image("-20 km/s", "1.5e6 cm/s").brightness, expected)
        low, high = (MG[0] * (1 + v / C_KMS) for v in (-20, 15))
        np.testing.assert_allclose(self.cube.image(f"{low:.9f} Angstrom", high, "wavelength").brightness, expected, rtol=1e-6)
        np.testing.assert_allclose(self.cube.image(f"{low / 10:.9f} nm", high, "wavelength").brightness, expected, rtol=1e-6)
        first, second = (MG[0] * (1 + v / C_KMS) for v in (-30, 30))
        text = self.cube.doublet_ratio(f"{first:.9f} Angstrom", second, "15 km/s")
        np.testing.assert_allclose(text.ratio, self.cube.doublet_ratio(first, second, 15).ratio)
        seen = self.cube.image()
        self.assertEqual(seen.aperture("300 pc"), seen.aperture(0.3))
        self.assertEqual(seen.aperture("0.4 kpc", "300 pc"), seen.aperture(0.4, 0.3))
        np.testing.assert_equal(seen.profile([0, "1 kpc", 2]), seen.profile([0, 1, 2]))
        try:
            from astropy import units as u
        except ImportError:
            skip_loudly("quantities of images: there is no astropy (python3-astropy)")
        self.assertEqual(seen.aperture(300 * u.pc), seen.aperture(0.3))
        np.testing.assert_equal(seen.profile([0, 1000, 2000] * u.pc), seen.profile([0, 1, 2]))
        np.testing.assert_allclose(self.cube.image(-20 * u.km / u.s, 15).brightness, expected)

    def refused(self, function, *arguments, **options):
        with self.assertRaises(thor.ArgumentError, msg=f"{function.__name__} {arguments} {options}") as caught:
            function(*arguments, **options)
        self.assertGreater(len(str(caught.exception)), 20)

    def test_nonsense(self):
        cube, seen = self.cube, self.cube.image()
        for wrong in (None, "far", "5 furlong", "5 km/s", "5 arcsec", "5", np.nan, True, 1j, [2, 1], {}, object(), 10**400, -1, 0):
            self.refused(seen.aperture, wrong)
            self.refused(seen.aperture, 5, 6 if wrong == 0 else wrong)
            self.refused(seen.profile, wrong)
            self.refused(seen.profile, [0, wrong])
        self.refused(seen.profile, [[0, 1], [1, 2]])
        for wrong in (None, "deep", np.nan, np.inf, 1j, [2, 1], {}, object(), 10**400, -1, 0):
            self.refused(seen.area, wrong)
            self.refused(seen.depth, wrong)
            self.refused(seen.brightness_pdf, wrong)
            self.refused(seen.brightness_pdf, [wrong, 2])
            self.refused(seen.plot, decades=wrong)
        self.refused(seen.depth, 1e308)
        self.refused(seen.brightness_pdf, [1, np.inf])
        for wrong in (None, "infrared", 3, []):
            self.refused(seen.plot, cmap=wrong)
        for wrong in (None, "left", "5 kpc", np.nan, True, 1j, [2, 1], {}, object(), 10**400):
            for window in (cube.image, cube.moments, cube.blue_fraction):
                self.refused(window, wrong, 40)
                self.refused(window, -40, wrong)
            self.refused(cube.doublet_ratio, wrong, MG[1], 10)
            self.refused(cube.doublet_ratio, MG[0], wrong, 10)
            self.refused(cube.doublet_ratio, *MG, wrong)
            self.refused(cube.blue_fraction, least=wrong)
        for window in (cube.image, cube.moments, cube.blue_fraction):
            for low, high in ((30, -30), (5, 5), (np.inf, -np.inf), (60, 70), (-70, -60), (50, 90), ("30 km/s", "-30 km/s")):
                self.refused(window, low, high)
            for axis in ("colour", 3, [], ["x"], {}):
                self.refused(window, 0, 1, axis)
        self.refused(cube.blue_fraction, least=-1)
        for within in (0, -5, np.inf, 1e9):
            self.refused(cube.doublet_ratio, *MG, within)
        self.refused(cube.doublet_ratio, MG[0], MG[0], 10)

    def test_what_errors_say(self):
        for call, said in (
            (lambda: self.cube.image().aperture("5 arcsec"), r"radius of an aperture on image 'made' must be a number \[kpc\].*'1 kpc', not '5 arcsec'"),
            (lambda: self.cube.image(None, 0), r"low of a window must be a number \[km/s\], or text such as '1 km/s', not None"),
            (lambda: self.cube.image(60, 70), "'made' has no channel between 60 and 70 km/s: its channels are from -50 to 50"),
            (lambda: self.cube.blue_fraction(30, -30), "from a lower to a higher value, not from 30 to -30"),
            (lambda: self.cube.doublet_ratio(MG[0], MG[0], 5), "not of 2796.35 Angstrom twice"),
        ):  # fmt: skip
            with self.assertRaisesRegex(thor.ArgumentError, said):
                call()

    def test_the_smallest_area_is_that_of_the_brightest_pixel(self):
        seen = self.cube.image(-50, -10)
        self.assertEqual(seen.depth(1e-12)[0], np.max(seen.brightness))


class CommandTest(WithFiles):
    def call(self, *arguments, **options):
        command = [sys.executable, "-m", "thor", *arguments]
        return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, timeout=120, **options)

    def test_a_reader_may_leave(self):
        write_result(self.path)
        reading, writing = os.pipe()
        os.close(reading)
        done = self.call("info", self.path, stdout=writing)
        os.close(writing)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_full_disk(self):
        write_result(self.path)
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            done = self.call("info", self.path, stdout=full)
        self.assertEqual(done.returncode, 6)
        self.assertIn("cannot write", done.stderr)

    def test_a_figure_that_cannot_be_written_leaves_nothing(self):
        write_result(self.path)
        figure = os.path.join(self.folder, "out.png")
        limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); import signal; "
        limit += "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        limit += f"from thor.__main__ import main; import sys; sys.exit(main(['plot', {self.path!r}, '-o', {figure!r}]))"
        done = subprocess.run([sys.executable, "-c", limit], stderr=subprocess.PIPE, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual([f for f in os.listdir(self.folder) if "png" in f], [])

    def test_names_of_all_products(self):
        write_result(self.path)
        done = self.call("plot", self.path, "-o", os.path.join(self.folder, "out.png"), "--name", "zz")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no such product; available are", done.stderr)
        self.assertIn("emergent (spectrum)", done.stderr)


if __name__ == "__main__":
    unittest.main()
