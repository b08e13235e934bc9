"""Tests of the Python package, on result files they make themselves.

PYTHONPATH=python python3 -m unittest discover -s python/tests
"""

import contextlib
import io
import os
import struct
import tempfile
import unittest
import warnings
import zlib
from pathlib import Path

import h5py
import numpy as np

import thor
from thor.__main__ import main

A, TAU0 = 4.7e-4, 1e7  # T = 1e4 K
WAVELENGTH0, THERMAL = 1215.67, 12.85
LUMINOSITY = 1e42


def put(target, **attributes):
    """Text as thor writes it: fixed-length UTF-8."""
    for name, value in attributes.items():
        target.attrs[name] = np.bytes_(value.encode()) if isinstance(value, str) else value


def write_result(path, complete=True, photons=20000, seed=1, **changes):
    """A result as thor would write it, of photons drawn from the static-sphere solution."""
    rng = np.random.default_rng(seed)
    fine = np.linspace(0, 60, 20001)
    x = np.interp(rng.random(photons), thor.analytic.sphere_cdf(fine, A, TAU0), fine)
    x *= rng.choice([-1.0, 1.0], photons)
    weight = LUMINOSITY / photons
    with h5py.File(path, "w") as file:
        root = {
            "thor_version": "0.1.0",
            "git_commit": "abc1234",
            "config": "driver: mcrt\nline: Lya  # Lyα\n",
            "seed": seed,
            "device": "cpu",
            "precision": "single",
            "line": "Lya",
            "format_version": 1,
            "wavelength0": WAVELENGTH0,
            "thermal_velocity": THERMAL,
        }
        put(file, **{**root, **changes})
        in_flight = 0 if complete else 100
        put(
            file.create_group("summary"),
            photons=photons + in_flight,
            escaped=photons,
            absorbed=0,
            stopped=0,
            lost=0,
            in_flight=in_flight,
            complete=np.bool_(complete),
            scatterings=2.1e7,
            steps=2.2e7,
            luminosity_emitted=LUMINOSITY,
            luminosity_escaped=LUMINOSITY,
            luminosity_absorbed=0.0,
            transport_seconds=1.25,
            threads=2,
        )
        edges = np.linspace(-50, 50, 101)
        count = np.histogram(x, edges)[0]
        for name, of, values in (("emergent", "escaped", count), ("source", "emitted", count * 0)):
            group = file.create_group(f"spectra/{name}")
            put(group, axis="x", of=of)
            group["edges"] = edges
            group["flux"] = values * weight / np.diff(edges)
            group["error"] = np.sqrt(values) * weight / np.diff(edges)
            put(group["edges"], units="", description="bin edges")
        group = file.create_group("photons/original")
        group["id"] = np.arange(photons, dtype=np.uint64)
        group["velocity_final"] = 299792.458 * np.expm1(-x * THERMAL / 299792.458)
        group["position"] = np.zeros((photons, 3), dtype=np.float32)
        put(group["position"], units="cm")
    return x


def png_pixels(path):
    """The bytes of a PNG's scanlines, filters left in: enough to tell it from a blank page."""
    data = Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    packed, at = b"", 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += size + 12
    return zlib.decompress(packed)


class WithFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "out.h5")

    def open(self):
        result = thor.open(self.path)
        self.addCleanup(result.close)
        return result


class ReadingTest(WithFiles):
    def test_complete_result(self):
        x = write_result(self.path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = self.open()
        self.assertTrue(result.complete)
        self.assertEqual(result.attributes["line"], "Lya")
        self.assertEqual(result.config, "driver: mcrt\nline: Lya  # Lyα\n")
        self.assertEqual(result.summary["escaped"], 20000)
        self.assertIsInstance(result.summary["escaped"], int)
        self.assertEqual(set(result.spectra), {"emergent", "source"})
        self.assertEqual(result.spectra["source"].of, "emitted")
        self.assertEqual(result.photons["position"].shape, (20000, 3))
        self.assertEqual(result.photons.units("position"), "cm")
        np.testing.assert_allclose(result.photons["x_final"], x, rtol=1e-10)
        self.assertEqual(set(result.photons), {"id", "velocity_final", "position"})
        text = repr(result)
        for part in ("Lya", "20,000", "emergent (escaped, x)", "1e+42"):
            self.assertIn(part, text)
        self.assertIn("bins", repr(result.spectra["emergent"]))

    def test_photons_are_lazy_and_stay_after_closing(self):
        write_result(self.path)
        with thor.open(self.path) as result:
            ids = result.photons["id"]
        self.assertIs(result.photons["id"], ids)
        with self.assertRaisesRegex(thor.ResultError, "closed"):
            result.photons["position"]
        with self.assertRaisesRegex(KeyError, "the file has"):
            self.open().photons["colour"]

    def test_result_without_photons(self):
        write_result(self.path)
        with h5py.File(self.path, "a") as file:
            del file["photons"]
        result = self.open()
        self.assertEqual(len(result.photons), 0)
        self.assertNotIn("id", result.photons)
        with self.assertRaisesRegex(KeyError, "kept no photons"):
            result.photons["id"]

    def test_incomplete_result_warns(self):
        write_result(self.path, complete=False)
        with self.assertWarnsRegex(thor.IncompleteRunWarning, "biased") as caught:
            result = self.open()
        self.assertEqual(caught.filename, __file__)
        self.assertFalse(result.complete)
        self.assertIn("INCOMPLETE", repr(result))
        self.assertIn("100 in flight", repr(result))

    def refused(self, pattern):
        with self.assertRaisesRegex(thor.ResultError, pattern) as caught:
            thor.open(self.path)
        self.assertIn(self.path, str(caught.exception))

    def test_missing_file(self):
        self.refused("no such file")

    def test_truncated_file(self):
        write_result(self.path)
        size = os.path.getsize(self.path)
        os.truncate(self.path, size // 2)
        self.refused("truncated")
        os.truncate(self.path, 0)
        self.refused("not an HDF5 file")

    def test_foreign_files(self):
        Path(self.path).write_text("driver: mcrt\n")
        self.refused("not an HDF5 file")
        with h5py.File(self.path, "w") as file:
            file["PartType0/Coordinates"] = np.zeros((3, 3))
        self.refused("not a result of thor")

    def test_newer_format(self):
        write_result(self.path, format_version=2)
        self.refused("update")

    def test_damaged_contents(self):
        write_result(self.path)
        with h5py.File(self.path, "a") as file:
            del file["spectra/emergent/error"]
        self.refused("damaged")
        write_result(self.path)
        with h5py.File(self.path, "a") as file:
            del file["spectra/emergent/edges"]
            file["spectra/emergent/edges"] = np.zeros(3)
        self.refused("'emergent' is damaged")

    def test_units_of_the_axis(self):
        write_result(self.path)
        with h5py.File(self.path, "a") as file:
            group = file["spectra/emergent"]
            put(group, axis="wavelength")
            group["edges"][...] = np.linspace(1.2e-5, 1.3e-5, 101)
            put(group["edges"], units="cm")
        with thor.open(self.path) as result:
            spectrum = result.spectra["emergent"]
        self.assertAlmostEqual(spectrum.edges[0], 1200.0)
        with h5py.File(self.path, "r") as file:
            density = file["spectra/emergent/flux"][50]
        self.assertAlmostEqual(spectrum.flux[50] / (density / 1e8), 1.0)
        with h5py.File(self.path, "a") as file:
            put(file["spectra/emergent/edges"], units="furlong")
        self.refused("furlong")


class SpectrumTest(WithFiles):
    def setUp(self):
        super().setUp()
        write_result(self.path)
        self.result = self.open()
        self.spectrum = self.result.spectra["emergent"]

    def test_luminosity(self):
        luminosity, error = self.spectrum.luminosity()
        self.assertAlmostEqual(luminosity / LUMINOSITY, 1.0, places=12)
        self.assertAlmostEqual(error / LUMINOSITY, 1 / np.sqrt(20000), places=12)

    def test_every_axis_conserves_luminosity(self):
        for axis in ("x", "velocity", "wavelength", "frequency"):
            other = self.spectrum.to(axis)
            self.assertTrue(np.all(np.diff(other.edges) > 0), axis)
            for got, expected in zip(other.luminosity(), self.spectrum.luminosity()):
                self.assertAlmostEqual(got / expected, 1.0, places=9, msg=axis)
            back = other.to("x")
            np.testing.assert_allclose(back.edges, self.spectrum.edges, atol=1e-7)
            np.testing.assert_allclose(back.flux, self.spectrum.flux, rtol=1e-7)

    def test_axes_agree_with_their_definitions(self):
        line, v = self.result.line, np.array([-500.0, 0.0, 200.0])  # km/s, + to the red
        wavelength = line.from_velocity(v, "wavelength")
        np.testing.assert_allclose(wavelength, WAVELENGTH0 * (1 + v / 299792.458), rtol=1e-14)
        frequency = line.from_velocity(v, "frequency")
        np.testing.assert_allclose(frequency * wavelength, 2.99792458e18, rtol=1e-14)
        nu0 = 2.99792458e18 / WAVELENGTH0
        expected = 299792.458 / THERMAL * np.log(frequency / nu0)
        np.testing.assert_allclose(self.result.x(v), expected, atol=1e-9)
        self.assertLess(self.result.x(200.0), 0)  # red is negative x

    def test_density_changes_by_the_jacobian(self):
        at = np.argmax(self.spectrum.flux)
        x = self.spectrum.centers[at]
        other = self.spectrum.to("velocity")
        v = self.result.line.to_velocity(x, "x")
        there = np.searchsorted(other.edges, v) - 1
        self.assertAlmostEqual(other.flux[there] * THERMAL / self.spectrum.flux[at], 1, places=2)
        self.assertEqual(other.units, "erg s-1 (km s-1)-1")

    def test_bad_axes(self):
        with self.assertRaisesRegex(ValueError, "choose from"):
            self.spectrum.to("energy")
        self.result.close()
        write_result(self.path, thermal_velocity=np.nan)
        with self.assertRaisesRegex(ValueError, "thermal velocity"):
            self.open().x(100.0)


class AnalyticTest(unittest.TestCase):
    x = np.linspace(-80, 80, 160001)

    def integral(self, values):
        return np.sum(values) * (self.x[1] - self.x[0])

    def test_densities_have_unit_integral_and_match_cdf_and_mean(self):
        kinds = (
            (thor.analytic.sphere, thor.analytic.sphere_cdf, thor.analytic.sphere_mean_abs_x),
            (thor.analytic.slab, thor.analytic.slab_cdf, thor.analytic.slab_mean_abs_x),
        )
        for density, cdf, mean in kinds:
            values = density(self.x, A, TAU0)
            self.assertAlmostEqual(self.integral(values), 1.0, places=8)
            self.assertAlmostEqual(self.integral(values * np.abs(self.x)), mean(A, TAU0), places=6)
            inside = self.integral(values * (np.abs(self.x) <= 12.0))
            self.assertAlmostEqual(inside, float(cdf(-12.0, A, TAU0)), places=4)
            with np.errstate(all="raise"):
                self.assertLess(density(1e6, A, TAU0), 1e-200)

    def test_sphere_numbers(self):
        for tau0, mean in ((1e5, 3.208), (1e6, 6.912), (1e7, 14.891)):
            self.assertAlmostEqual(thor.analytic.sphere_mean_abs_x(A, tau0) / mean, 1, places=3)
        peak = self.x[np.argmax(thor.analytic.sphere(self.x, A, TAU0))]
        self.assertAlmostEqual(abs(peak) / (A * TAU0) ** (1 / 3), 0.931, places=3)

    def test_slab_peak(self):
        peak = self.x[np.argmax(thor.analytic.slab(self.x, A, TAU0))]
        self.assertAlmostEqual(abs(peak) / (A * TAU0) ** (1 / 3), 1.066, places=3)

    def test_dusty_slab(self):
        tau_dust = [0.01, 0.1, 0.3, 1.0]
        fraction = thor.analytic.slab_escape_fraction(0.010548, 1e6, tau_dust)
        for got, expected, places in zip(fraction, (0.668, 0.096, 0.0105, 1.4e-4), (3, 3, 4, 5)):
            self.assertAlmostEqual(got, expected, places=places)
        self.assertEqual(thor.analytic.slab_escape_fraction(0.01, 1e6, 0.0), 1.0)


class CommandTest(WithFiles):
    def run_main(self, *arguments):
        """Exit code, stdout, stderr."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(arguments))
        return code, out.getvalue(), err.getvalue()

    def test_info(self):
        write_result(self.path)
        code, out, err = self.run_main("info", self.path)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("20,000", out)
        self.assertIn("driver: mcrt", self.run_main("info", self.path, "--config")[1])

    def test_errors_and_warnings_go_to_stderr(self):
        code, out, err = self.run_main("info", self.path)
        self.assertEqual((code, out), (3, ""))
        self.assertIn("no such file", err)
        write_result(self.path, complete=False)
        code, out, err = self.run_main("info", self.path)
        self.assertEqual(code, 0)
        self.assertTrue(err.startswith("thor: warning:"), err)
        self.assertEqual(err.count("\n"), 1)

    def test_plot_writes_figures(self):
        write_result(self.path)
        seen = set()
        for axis in ("x", "velocity", "wavelength", "frequency"):
            figure = os.path.join(self.folder, f"{axis}.png")
            code, _, err = self.run_main("plot", self.path, "-o", figure, "--axis", axis)
            self.assertEqual((code, err), (0, ""))
            pixels = png_pixels(figure)
            self.assertGreater(len(pixels), 100_000)
            self.assertGreater(len(set(pixels)), 50)  # a blank page has two or three values
            seen.add(pixels)
        self.assertEqual(len(seen), 4)

    def test_plot_failures(self):
        write_result(self.path)
        figure = os.path.join(self.folder, "no", "out.png")
        self.assertEqual(self.run_main("plot", self.path, "-o", figure)[0], 6)
        figure = os.path.join(self.folder, "out.png")
        code, _, err = self.run_main("plot", self.path, "-o", figure, "--name", "emergant")
        self.assertEqual(code, 2)
        self.assertIn("emergent", err)
        self.assertFalse(os.path.exists(figure))


class PlotTest(WithFiles):
    def setUp(self):
        super().setUp()
        write_result(self.path)
        self.result = self.open()

    def axes(self):
        from matplotlib.figure import Figure

        return Figure().add_subplot()

    def test_escaped_spectra_with_analytic_curve(self):
        curve = lambda x: thor.analytic.sphere(x, A, TAU0)
        ax = thor.plot_spectrum(self.result, self.axes(), label="thor", analytic=curve)
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        self.assertEqual(labels, ["thor", "analytic"])
        self.assertIn("erg", ax.get_ylabel())
        height = np.max(ax.lines[0].get_ydata())
        self.assertAlmostEqual(height / np.max(self.result.spectra["emergent"].flux), 1, delta=0.1)

    def test_several_spectra_on_one_axis(self):
        spectrum = self.result.spectra["emergent"]
        both = {"a": spectrum, "b": spectrum.to("velocity")}
        ax = thor.plot_spectrum(both, self.axes(), axis="velocity", normalize=True)
        self.assertEqual(len(ax.patches), 4)
        self.assertNotEqual(ax.patches[1].get_edgecolor(), ax.patches[3].get_edgecolor())

    def test_a_second_call_widens_the_axes(self):
        spectrum = self.result.spectra["emergent"]
        ax = self.axes()
        thor.plot_spectrum(spectrum, ax, normalize=True)
        before, top = ax.get_xlim(), ax.get_ylim()[1]
        thor.plot_spectrum(spectrum, ax)
        self.assertEqual(ax.get_xlim(), before)
        self.assertGreater(ax.get_ylim()[1], top)
        self.assertEqual(ax.get_ylim()[0], 0.0)

    def test_nothing_to_draw(self):
        with self.assertRaisesRegex(ValueError, "no spectrum"):
            thor.plot_spectrum([], self.axes())


if __name__ == "__main__":
    unittest.main()
