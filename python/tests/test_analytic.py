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


if __name__ == "__main__":
    unittest.main()
