"""Positions, directions and spectra of what each source emits, and columns of the gas, where it is too thin to scatter.

    /usr/bin/python3 tests/e2e/test_sources.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py. Seeds are fixed, so a statistical test (4
or 5 sigma) always passes or always fails; where cheap, the same test is shown to reject a wrong number.
"""

import math
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import slab, sphere  # noqa: E402
from support import C, Case, DONE, ESCAPED, KPC, USAGE, main, text, thor  # noqa: E402


class Sources(Case):
    N = 50_000
    EMPTY = 1e-8  # gas so thin that nothing scatters

    def emitted(self, spectrum, axis="velocity", low="-2000 km/s", high="2000 km/s", bins=40000, photons=100_000, how=(), **more):
        """Bin centres and shares of the spectrum of emitted photons."""
        outputs = [{"type": "spectrum", "name": "s", "of": "emitted", "axis": axis, "range": [low, high], "bins": bins}]
        path = self.run_thor(sphere(self.EMPTY, photons, spectrum=spectrum, outputs=outputs, **more), *how)
        with h5py.File(path) as file:
            self.thermal = file.attrs["thermal_velocity"]
            group = file["spectra/s"]
            self.assertEqual(text(group.attrs["of"]), "emitted")
            self.assertEqual(group.attrs["luminosity_beyond"], 0)
            edges = group["edges"][()]
            share = group["flux"][()] * np.diff(edges) / 1e42
        self.assertAlmostEqual(share.sum(), 1, delta=1e-9)
        return 0.5 * (edges[1:] + edges[:-1]), share

    def assert_moments(self, value, share, mean, sigma, kurtosis=3.0, photons=100_000):
        m = np.sum(value * share)
        variance = np.sum((value - m) ** 2 * share)
        self.assert_mean(m, mean, sigma / math.sqrt(photons), message="mean")
        self.assert_mean(variance / sigma**2, 1, math.sqrt((kurtosis - 1) / photons), message="variance")

    def test_gaussian(self):
        for precision in ("single", "double"):
            v, share = self.emitted({"type": "gaussian", "sigma": "120 km/s", "offset": "150 km/s"},
                                    how=("--precision", precision))
            self.assert_moments(v, share, 150, 120)
            with self.assertRaises(AssertionError):
                self.assert_moments(v, share, 150, 120 * 1.03)
            with self.assertRaises(AssertionError):
                self.assert_moments(v, share, -150, 120)

    def test_thermal(self):
        v, share = self.emitted({"type": "thermal", "temperature": "1e5 K"})
        self.assert_moments(v, share, 0, self.thermal * math.sqrt(10 / 2))

    def test_thermal_light_of_turbulent_gas(self):
        """The motion of the gas widens its own light, with its turbulence; a temperature of the spectrum alone does not."""
        gas = {"b_turb": "30 km/s", "source": {"type": "extended", "shape": "medium"}}
        for spectrum, turbulence in (({}, 30), ({"temperature": "1e4 K"}, 0)):
            v, share = self.emitted({"type": "thermal", **spectrum}, **gas)
            self.assert_moments(v, share, 0, math.sqrt(12.8452**2 + turbulence**2) / math.sqrt(2))

    def test_delta(self):
        v, share = self.emitted({"type": "delta", "offset": "-321.05 km/s"}, photons=1000)
        self.assertAlmostEqual(np.sum(v * share), -321.05, delta=0.1)
        self.assertLessEqual(np.count_nonzero(share), 2)

    def test_continuum_is_flat_in_wavelength(self):
        spectrum = {"type": "continuum", "range": ["1100 Angstrom", "1300 Angstrom"]}
        w, share = self.emitted(spectrum, "wavelength", "1090 Angstrom", "1310 Angstrom", bins=22)
        self.assertEqual(share[0] + share[-1], 0)
        counts = share[1:-1] * 100_000
        chi2 = np.sum((counts - 5000) ** 2 / 5000)
        self.assertLess(chi2, 19 + 4 * math.sqrt(2 * 19))
        flat_in_frequency = w[1:-1] ** -2.0 / np.sum(w[1:-1] ** -2.0) * 100_000
        self.assertGreater(np.sum((counts - flat_in_frequency) ** 2 / flat_in_frequency), 1000)
        v, share = self.emitted({"type": "continuum", "range": ["-300 km/s", "900 km/s"]})
        self.assert_moments(v, share, 300, 1200 / math.sqrt(12), kurtosis=1.8)

    def test_line_and_continuum(self):
        spectrum = {"type": "line_and_continuum", "sigma": "20 km/s", "equivalent_width": "2 Angstrom",
                    "range": ["1211 Angstrom", "1221 Angstrom"], "offset": "30 km/s"}
        v, share = self.emitted(spectrum)
        window = 200 * 1215.6701 / C  # +- 100 km/s, 5 sigma
        inside = share[np.abs(v - 30) < 100].sum() * 100_000
        p = 2 / 12
        self.assert_share(inside, 100_000, p + (1 - p) * window / 10)
        with self.assertRaises(AssertionError):  # the ratio of the luminosities is not the probability
            self.assert_share(inside, 100_000, 2 / 10 + (1 - 2 / 10) * window / 10)
        outside = np.abs(v - 30) > 100
        low, high = (C * (w / 1215.6701 - 1) for w in (1211, 1221))
        red, blue = share[outside & (v > 130)].sum(), share[outside & (v < -70)].sum()
        self.assert_share(red * 100_000, (red + blue) * 100_000, (high - 130) / (high - low - 200))

    def test_velocity_of_a_source(self):
        """An isotropic source that moves: v = -V.n, so a box between -V and V."""
        source = {"type": "point", "velocity": ["100 km/s", "200 km/s", "-200 km/s"]}
        v, share = self.emitted({"type": "delta"}, source=source)
        self.assert_moments(v, share, 0, 300 / math.sqrt(3), kurtosis=1.8)
        self.assertLessEqual(np.abs(v[share > 0]).max(), 300.3)
        counts = np.histogram(v, np.linspace(-300.3, 300.3, 11), weights=share * 100_000)[0]
        self.assertLess(np.abs(counts - counts[::-1]).max(), 5 * math.sqrt(2 * 10_000))
        p = self.run_photons(sphere(self.EMPTY, 1000, source=source))
        np.testing.assert_allclose(p["velocity_initial"], -(p["direction"] @ [100, 200, -200]), atol=0.3)

    def test_point(self):
        source = {"type": "point", "position": ["0.3 kpc", "-0.2 kpc", "0.5 kpc"]}
        p = self.run_photons(sphere(self.EMPTY, self.N, source=source))
        np.testing.assert_allclose(p["position"] / KPC, np.tile([0.3, -0.2, 0.5], (self.N, 1)), atol=1e-6)
        self.assert_isotropic(p["direction"])

    def assert_isotropic(self, n):
        for axis in range(3):
            self.assert_mean(n[:, axis], 0, math.sqrt(1 / 3 / len(n)), message="mean direction")
            self.assert_mean(n[:, axis] ** 2, 1 / 3, math.sqrt(4 / 45 / len(n)), message="square of direction")

    def assert_uniform(self, u):
        """Kolmogorov-Smirnov, 1e-4 level."""
        u = np.sort(u)
        i = np.arange(len(u))
        distance = max(np.max(u - i / len(u)), np.max((i + 1) / len(u) - u))
        self.assertLess(distance * math.sqrt(len(u)), 2.23)

    def test_medium(self):
        source = {"type": "extended", "shape": "medium"}
        for inner in (0.0, 0.6):
            config = sphere(self.EMPTY, self.N, source=source, inner_radius=f"{inner} kpc",
                            velocity={"profile": "linear", "max": "200 km/s"})
            p = self.run_photons(config)
            where = p["position"] / KPC
            r = np.linalg.norm(where, axis=1)
            self.assert_uniform((r**3 - inner**3) / (1 - inner**3))
            self.assert_isotropic(where / r[:, None])
            self.assert_isotropic(p["direction"])
            along = np.sum(where * p["direction"], axis=1)
            np.testing.assert_allclose(p["velocity_initial"], -200 * along, atol=0.2)  # at rest in the gas
        p = self.run_photons(slab(self.EMPTY, self.N, source=source))
        self.assert_uniform(0.5 * (p["position"][:, 2] / KPC + 1))

    def test_surface(self):
        source = {"type": "extended", "shape": "surface", "radius": "0.5 kpc"}
        p = self.run_photons(sphere(self.EMPTY, self.N, source=source))
        where = p["position"] / KPC
        np.testing.assert_allclose(np.linalg.norm(where, axis=1), 0.5, atol=1e-6)
        self.assert_isotropic(where / 0.5)
        self.assert_isotropic(p["direction"])
        self.assert_mean(np.sum(where * p["direction"], axis=1), 0, 0.5 * math.sqrt(1 / 3 / self.N), message="correlation")

    def column_ratio(self, precision, inner, density, velocity=None):
        """Column crossed by photons that escape straight from the centre, over the requested one; None if refused."""
        dataset = {"inner_radius": f"{inner} kpc", "density": {"profile": "power_law", "exponent": density},
                   "velocity": velocity or {"profile": "static"}}
        config = self.write(sphere(self.EMPTY, 200, **dataset))
        out = self.folder / "column.h5"
        done = thor("run", config, "-o", out, "--overwrite", "--precision", precision)
        self.assertIn(done.returncode, (DONE, USAGE), done.stderr)
        if done.returncode == USAGE:
            return None
        with h5py.File(out) as file:
            ratio = file["photons/original/column"][()] / file.attrs["column_density"]
        self.assertLess(np.ptp(ratio), 0.003)
        return ratio.mean()

    def test_a_radius_holds_its_column(self):
        moving = {"profile": "power_law", "exponent": 0.5, "max": "300 km/s"}
        for precision in ("single", "double"):
            for profile in ((0, 0), (0.5, 0), (0.1, -2), (1e-3, -2), (0, 2), (0.05, -8), (0.2, -2, moving), (0, 0, moving)):
                with self.subTest(precision=precision, profile=profile):
                    self.assertAlmostEqual(self.column_ratio(precision, *profile), 1, delta=0.001)

    def test_a_steep_profile_is_right_or_refused(self):
        """Gas concentrated at the centre must not be lost silently."""
        for precision in ("single", "double"):
            for profile in ((0, -0.5), (0, -0.9), (0, -0.99), (1e-5, -2), (1e-6, -2), (1e-9, -2), (0.01, -25)):
                with self.subTest(precision=precision, profile=profile):
                    ratio = self.column_ratio(precision, *profile)
                    if ratio is not None:
                        self.assertAlmostEqual(ratio, 1, delta=0.003)

    def test_cold_gas_is_right_or_refused(self):
        """The Voigt parameter grows as the gas cools; a = 1.5 at 1 mK. H(a, 0) = exp(a^2) erfc(a)."""
        for kelvin in (100, 1, 0.1, 0.01, 0.001):
            with self.subTest(kelvin=kelvin):
                config = sphere(1, 20_000, temperature=f"{kelvin} K")
                out = self.folder / f"{kelvin}.h5"
                done = thor("run", self.write(config), "-o", out)
                self.assertIn(done.returncode, (DONE, USAGE), done.stderr)
                if done.returncode == DONE:
                    with h5py.File(out) as file:
                        a = file.attrs["voigt_parameter"]
                    free = np.count_nonzero(self.photons(out)["scatterings"] == 0)
                    self.assert_share(free, 20_000, math.exp(-math.exp(a * a) * math.erfc(a)), message=f"a = {a:.3g}:")

    def test_beam_wider_than_the_sphere(self):
        beam = {"type": "extended", "shape": "beam", "radius": "2 kpc", "direction": [1, 2, -2]}
        path = self.run_thor(sphere(1e4, 20_000, source=beam), "--set", "acceleration.core_skip=smith15")
        p = self.photons(path)
        missed = p["scatterings"] == 0
        self.assert_share(np.count_nonzero(missed), 20_000, 1 - 1 / 4)
        with self.assertRaises(AssertionError):
            self.assert_share(np.count_nonzero(missed), 20_000, 1 - 1 / 3.8)
        self.assertTrue(np.all(p["fate"][missed] == ESCAPED))
        self.assertTrue(np.all(p["column"][missed] == 0))
        np.testing.assert_allclose(p["direction"][missed], np.tile([1 / 3, 2 / 3, -2 / 3], (missed.sum(), 1)), atol=1e-6)
        self.assertTrue(np.all(p["velocity_initial"][missed] == p["velocity_final"][missed]))
        self.assert_closed(path)
        # The others enter within the sphere, on the near side.
        hit = p["position"][~missed] / KPC
        self.assertLessEqual(np.linalg.norm(hit, axis=1).max(), 1 + 1e-5)
        narrow = {**beam, "radius": "0.9 kpc"}
        p = self.run_photons(sphere(1e4, 500, source=narrow))
        self.assertTrue(np.all(p["scatterings"] > 0))

    def test_axes_hold_the_same_luminosity(self):
        nu0 = C * 1e13 / 1215.6701
        outputs = [
            {"type": "spectrum", "name": "x", "axis": "x", "range": [-100, 100], "bins": 200},
            {"type": "spectrum", "name": "v", "axis": "velocity", "range": ["-1500 km/s", "1500 km/s"], "bins": 300},
            {"type": "spectrum", "name": "w", "axis": "wavelength", "range": ["1205 Angstrom", "1225 Angstrom"], "bins": 100},
            {"type": "spectrum", "name": "f", "axis": "frequency", "range": [f"{0.99 * nu0} Hz", f"{1.01 * nu0} Hz"], "bins": 128},
        ]
        spectrum = {"type": "gaussian", "sigma": "30 km/s", "offset": "80 km/s"}
        with h5py.File(self.run_thor(sphere(100, 3000, spectrum=spectrum, outputs=outputs))) as file:
            escaped = file["summary"].attrs["luminosity_escaped"]
            scale = {"x": lambda x: -x * file.attrs["thermal_velocity"], "v": lambda v: v,
                     "w": lambda w: C * (w / 1215.6701 - 1), "f": lambda f: C * (nu0 / f - 1)}
            units = {"x": "", "v": "km s-1", "w": "Angstrom", "f": "Hz"}
            for name, group in file["spectra"].items():
                edges, flux = group["edges"][()], group["flux"][()]
                self.assertEqual(text(group["edges"].attrs["units"]).rstrip("\0"), units[name])
                self.assertAlmostEqual(np.sum(flux * np.diff(edges)) / escaped, 1, delta=1e-9, msg=name)
                centre = scale[name](0.5 * (edges[1:] + edges[:-1]))
                mean = np.sum(centre * flux * np.diff(edges)) / escaped
                self.assertAlmostEqual(mean, 80, delta=5, msg=name)


if __name__ == "__main__":
    main()
