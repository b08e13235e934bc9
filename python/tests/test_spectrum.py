"""Spectra: axes, errors, units."""

import dataclasses
import unittest

import numpy as np
from support import LUMINOSITY, THERMAL, WAVELENGTH0, WithFiles, skip_loudly, write_result


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
