"""Analytic solutions."""

import unittest

import numpy as np
from support import A, TAU0

import thor


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

    def test_voigt(self):
        """Values of mpmath (50 digits): H(a, x) = Re exp(-z^2) erfc(-i z), z = x + i a."""
        truth = {
            (0.00047, 0.0): 0.9994698826133883,
            (0.00047, 1.0): 0.3679197499838395,
            (0.00047, 3.0): 0.0001603347644236419,
            (0.00047, 7.9): 4.355281006725632e-06,
            (0.00047, 8.1): 4.137719022795857e-06,
            (0.00047, 500.0): 1.0606827811909884e-09,
            (0.01, 2.0): 0.020620065445569127,
            (0.2, 5.0): 0.0048070373359642435,
        }
        for (a, x), value in truth.items():
            self.assertAlmostEqual(float(thor.analytic.voigt(a, x)) / value, 1, delta=1e-8)
            self.assertEqual(float(thor.analytic.voigt(a, -x)), float(thor.analytic.voigt(a, x)))
        x = np.linspace(-2000, 2000, 800001)
        for a in (1e-4, 1e-2):
            integral = np.sum(thor.analytic.voigt(a, x)) * (x[1] - x[0]) + 2 * a / (np.sqrt(np.pi) * 2000)
            self.assertAlmostEqual(integral / np.sqrt(np.pi), 1, delta=1e-8)


if __name__ == "__main__":
    unittest.main()
