"""Spectra: axes, errors, units."""

import dataclasses
import unittest

import h5py
import numpy as np
from support import LUMINOSITY, THERMAL, WAVELENGTH0, WithFiles, put, skip_loudly, write_result

import thor


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
        self.assertEqual(other.units, "erg s-1 / (km s-1)")

    def test_bad_axes(self):
        with self.assertRaisesRegex(ValueError, "choose from"):
            self.spectrum.to("energy")
        self.result.close()
        write_result(self.path, thermal_velocity=np.nan)
        with self.assertRaisesRegex(ValueError, "thermal velocity"):
            self.open().x(100.0)


class ReferenceTest(WithFiles):
    """A spectrum relative to a transition other than the line's first: 2803.5315 instead of 2796.3543."""

    BLUE, RED = 2796.3543, 2803.5315

    def setUp(self):
        super().setUp()
        write_result(self.path, line="MgII", wavelength0=self.BLUE, thermal_velocity=THERMAL)
        with h5py.File(self.path, "a") as file:
            put(file["spectra/source"], wavelength0=self.RED)
        self.result = self.open()
        self.about_blue, self.about_red = (self.result.spectra[n] for n in ("emergent", "source"))

    def test_each_spectrum_has_its_own(self):
        self.assertEqual(self.result.line.wavelength0, self.BLUE)
        self.assertEqual(self.about_blue.line.wavelength0, self.BLUE)  # as in older files
        self.assertEqual(self.about_red.line.wavelength0, self.RED)
        for spectrum, centre in ((self.about_blue, self.BLUE), (self.about_red, self.RED)):
            edges = spectrum.to("wavelength").edges
            expected = centre * np.exp(-spectrum.edges[::-1] * THERMAL / 299792.458)
            np.testing.assert_allclose(edges, expected, rtol=1e-12)
            middle = spectrum.to("velocity").edges[50]
            self.assertAlmostEqual(middle, 0.0, delta=1e-7)
            np.testing.assert_allclose(spectrum.to("frequency").to("x").edges, spectrum.edges, atol=1e-7)
        self.assertIn("source (emitted, x about 2803.53 Angstrom)", repr(self.result))
        self.assertIn("emergent (escaped, x)", repr(self.result))

    def test_about_another_wavelength(self):
        moved = self.about_blue.about(self.RED)
        self.assertEqual((moved.axis, moved.line.wavelength0), ("x", self.RED))
        shift = 299792.458 / THERMAL * np.log(self.RED / self.BLUE)  # 2796 is blueward
        np.testing.assert_allclose(moved.edges, self.about_blue.edges + shift, atol=1e-6)
        np.testing.assert_allclose(moved.flux, self.about_blue.flux, rtol=1e-7)
        np.testing.assert_allclose(
            moved.to("wavelength").edges, self.about_blue.to("wavelength").edges, rtol=1e-13
        )
        velocity = self.about_blue.to("velocity").about(self.RED)
        self.assertAlmostEqual(velocity.edges[50], 299792.458 * (self.BLUE / self.RED - 1), places=4)
        for got, expected in zip(velocity.luminosity(), self.about_blue.luminosity()):
            self.assertAlmostEqual(got / expected, 1.0, places=9)

    def test_photons_about_another_wavelength(self):
        edges = self.about_blue.about(self.RED).edges
        mine = self.result.photons.spectrum("x", edges, wavelength0=self.RED)
        self.assertEqual(mine.line.wavelength0, self.RED)
        self.assertAlmostEqual(mine.luminosity()[0] / self.about_blue.luminosity()[0], 1.0, places=2)
        np.testing.assert_allclose(mine.flux, self.about_blue.flux, atol=3 * LUMINOSITY / 20000)

    def test_a_damaged_wavelength(self):
        self.result.close()
        for bad in (0.0, np.nan, "blue"):
            with h5py.File(self.path, "a") as file:
                put(file["spectra/source"], wavelength0=bad)
            with self.assertRaisesRegex(thor.ResultError, "damaged"):
                thor.open(self.path)


class ErrorsTest(WithFiles):
    def setUp(self):
        super().setUp()
        write_result(self.path)
        self.spectrum = self.open().spectra["emergent"]

    def test_rebinning_counts_the_same_photons(self):
        """The errors of merged bins are those of a histogram made with wide bins at once."""
        wide = self.spectrum.rebin(5)
        photons = self.open().photons
        expected = photons.spectrum("x", bins=20, range=(-50, 50))
        np.testing.assert_allclose(wide.edges, expected.edges)
        np.testing.assert_allclose(wide.flux, expected.flux, rtol=1e-9)
        np.testing.assert_allclose(wide.error, expected.error, rtol=1e-9)

    def test_rebinning_keeps_what_is_left_over(self):
        wide = self.spectrum.rebin(30)
        np.testing.assert_array_equal(wide.edges, [-50, -20, 10, 40, 50])
        for got, expected in zip(wide.luminosity(), self.spectrum.luminosity()):
            self.assertAlmostEqual(got / expected, 1.0, places=12)
        self.assertEqual(len(self.spectrum.rebin(1000).flux), 1)
        np.testing.assert_array_equal(self.spectrum.rebin(1).edges, self.spectrum.edges)
        for factor in (0, -2, 1.5):
            with self.assertRaisesRegex(ValueError, "whole number"):
                self.spectrum.rebin(factor)

    def test_normalised(self):
        shape = self.spectrum.normalised()
        self.assertAlmostEqual(np.sum(shape.flux * shape.widths), 1.0, places=12)
        # Equal weights: each share is that of a multinomial.
        share = shape.flux * shape.widths
        expected = np.sqrt(share * (1 - share) / 20000)
        np.testing.assert_allclose(shape.error * shape.widths, expected, rtol=1e-9, atol=1e-15)
        self.assertEqual(shape.units, "")
        self.assertEqual(shape.to("velocity").units, "1 / (km s-1)")
        self.assertIn("normalised", repr(shape))
        again = shape.normalised()
        np.testing.assert_array_equal(again.error, shape.error)
        # All the light in one bin: its share is certain.
        self.assertEqual(self.spectrum.rebin(1000).normalised().error[0], 0.0)

    def test_mean_and_peak(self):
        mean, error = self.spectrum.mean()
        x = self.open().photons["x_final"]
        self.assertAlmostEqual(mean, np.mean(x), delta=0.02)  # bins are 1 wide
        self.assertAlmostEqual(error, np.std(x) / np.sqrt(len(x)), delta=0.01 * error + 1e-3)
        self.assertAlmostEqual(abs(self.spectrum.peak()), 0.931 * 4700 ** (1 / 3), delta=2)
        empty = dataclasses.replace(self.spectrum, flux=self.spectrum.flux * 0)
        self.assertTrue(np.isnan(empty.peak()) and np.isnan(empty.mean()[0]))
        self.assertEqual(np.sum(empty.normalised().flux), 0.0)

    def test_scaled(self):
        half = self.spectrum.scaled(0.5)
        for got, whole in zip(half.luminosity(), self.spectrum.luminosity()):
            self.assertEqual(got, 0.5 * whole)

    def test_astropy_quantities(self):
        try:
            from astropy import units
        except ImportError:
            skip_loudly("quantities: there is no astropy (python3-astropy)")
        for axis in ("x", "velocity", "wavelength", "frequency"):
            edges, flux, error = self.spectrum.to(axis).quantity()
            total = (flux * (edges[1:] - edges[:-1])).sum()
            self.assertAlmostEqual(total.to(units.L_sun).value, LUMINOSITY / 3.828e33, delta=1e2)
            self.assertEqual(error.unit, flux.unit)
        per_nm = self.spectrum.to("wavelength").quantity().flux.to("W / nm")
        self.assertAlmostEqual(
            per_nm.value[40] / (self.spectrum.to("wavelength").flux[40] * 1e-7 * 10), 1.0, places=9
        )
        shape = self.spectrum.to("velocity").normalised().quantity()
        self.assertEqual(shape.flux.unit, units.s / units.km)
        velocity = self.open().photons.quantity("velocity_final")
        self.assertEqual(velocity.unit, units.km / units.s)


if __name__ == "__main__":
    unittest.main()
