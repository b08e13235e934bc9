"""What the raytracing driver finds, against analytic truth: Voigt profiles, equivalent widths, Hubble flow, masses, slices.

    /usr/bin/python3 tests/e2e/test_rays_physics.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py. Seeds are fixed. Optical depths are kept in single
precision, and profiles are good to 1e-4 of themselves, so 2e-4 is what a correct spectrum must reach; a twin with a damping
that is 1 % wrong must not.
"""

import math
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import C, KPC, Case, USAGE, main, read_package, thor  # noqa: E402

package = read_package()

E2_OVER_MC = 4.80320471e-10**2 / (9.1093837e-28 * 2.99792458e10)  # e^2/(m_e c) [cm^2/s]
BOLTZMANN, AMU = 1.380649e-16, 1.66053907e-24
LYA = {"wavelength": 1215.6701e-8, "f": 0.4164, "A": 6.265e8, "mass": 1.00784 * AMU}
MG = ({"wavelength": 2796.3543e-8, "f": 0.608}, {"wavelength": 2803.5315e-8, "f": 0.303})


def thermal_speed(line, temperature):
    """b [km/s]."""
    return math.sqrt(2 * BOLTZMANN * temperature / line["mass"]) * 1e-5


def depth(velocity, column, temperature, line=LYA, damping=1.0):
    """tau of homogeneous gas at rest, N sigma_0 H(a, v/b), with v = c ln(lambda/lambda_0) [km/s]."""
    b = thermal_speed(line, temperature)
    sigma = math.sqrt(math.pi) * E2_OVER_MC * line["f"] * line["wavelength"] / (b * 1e5)
    a = damping * line["A"] * line["wavelength"] / (4 * math.pi * b * 1e5)
    return column * sigma * package.analytic.voigt(a, np.asarray(velocity) / b)


def strength(line=LYA):
    """Int tau dv over N: pi e^2/(m_e c) f lambda [cm^2 km/s]."""
    return math.pi * E2_OVER_MC * line["f"] * line["wavelength"] * 1e-5


def rays(dataset, *operators, cameras=(), **keys):
    return {"driver": "raytrace", "dataset": dataset, "cameras": list(cameras), "operators": list(operators),
            "output": {"path": "out.h5"}, **keys}


def absorption(name="forest", low=-500, high=500, bins=1000, **keys):
    keys = {"line": "Lya", "range": [f"{low} km/s", f"{high} km/s"], "sightlines": {"random": 4}, **keys}
    return {"type": "absorption", "name": name, "bins": bins, **keys}


def along(position, direction):
    return {"position": [f"{float(p)!r} cm" for p in position], "direction": [float(d) for d in direction]}


class OfRays(Case):
    """Runs of rays, read by the package; small grids."""

    def result(self, config, *arguments):
        result = package.open(self.run_thor(config, *arguments))
        self.addCleanup(result.close)
        return result

    def grid(self, n=8, cell=100 * KPC, hubble=0.0, periodic=False, **fields):
        """A grid from (0, 0, 0) on, of uniform gas at rest but for the given fields."""
        path = self.folder / "grid.h5"
        shape = (n, n, n)
        arrays = {"density": 1e-27, "HI_density": 1e-12, "temperature": 1e4, "velocity_x": 0.0, "velocity_y": 0.0, "velocity_z": 0.0}
        units = {"density": "g cm-3", "HI_density": "cm-3", "temperature": "K"}
        with h5py.File(path, "w") as file:
            file.attrs.update({"cell_size": cell, "origin_x": 0.0, "origin_y": 0.0, "origin_z": 0.0, "hubble": hubble,
                               "periodic": int(periodic)})
            for name, value in {**arrays, **fields}.items():
                file[name] = np.broadcast_to(value, shape).astype("f4")
                file[name].attrs["units"] = units.get(name, "km s-1")
        return {"type": "uniform_grid", "path": str(path)}


def widths(spectra):
    return np.diff(spectra.velocity_edges)


class Voigt(OfRays):
    TEMPERATURE = 1e4

    def spectrum(self, column):
        """A slab has its column density from the middle to a face; a sightline has both halves."""
        slab = {"type": "slab", "half_thickness": "1 kpc", "temperature": f"{self.TEMPERATURE} K", "column_density": f"{0.5 * column!r} cm^-2"}
        operator = absorption(low=-3000, high=3000, bins=6000, oversampling=1, sightlines={"random": 1})
        return self.result(rays(slab, operator)).absorption["forest"]

    def error(self, forest, column, damping=1.0):
        """Largest relative error of tau where there is any to speak of."""
        truth = depth(forest.centers, column, self.TEMPERATURE, damping=damping)
        kept = truth > 1e-9 * np.max(truth)
        return np.max(np.abs(forest.tau[0][kept] / truth[kept] - 1))

    def test_slab(self):
        for exponent in range(12, 22):
            column = 10.0**exponent
            forest = self.spectrum(column)
            self.assertAlmostEqual(forest.column_density[0] / column, 1, delta=1e-6)
            self.assertLess(self.error(forest, column), 2e-4, f"N = 1e{exponent}")
            self.assertGreater(self.error(forest, column, damping=1.01), 2e-3, "the twin: another damping")
            # The flux of a bin is that of its middle here.
            np.testing.assert_allclose(forest.flux[0], np.exp(-depth(forest.centers, column, self.TEMPERATURE)), atol=2e-4 * math.exp(-1))

    def test_doublet(self):
        slab = {"type": "slab", "half_thickness": "1 kpc", "temperature": "1e4 K", "column_density": "1e12 cm^-2"}
        operator = {"type": "absorption", "name": "mg", "line": "MgII", "axis": "wavelength", "bins": 8000,
                    "range": ["2790 Angstrom", "2810 Angstrom"], "sightlines": {"random": 2}}
        spectra = self.result(rays(slab, operator, line="MgII")).absorption["mg"]
        column, width = spectra.column_density[0], widths(spectra)
        lines = spectra.tau[0] * width
        middle = 0.5 * (MG[0]["wavelength"] + MG[1]["wavelength"]) * 1e8
        both = [np.where(inside, lines, 0.0) for inside in (spectra.centers < middle, spectra.centers > middle)]
        for line, part in zip(MG, both):
            self.assertAlmostEqual(np.sum(part * spectra.centers) / np.sum(part), line["wavelength"] * 1e8, delta=2.5e-3)  # a bin
            self.assertAlmostEqual(np.sum(part) / (strength(line) * column), 1, delta=3e-4)
        ratio = MG[0]["f"] * MG[0]["wavelength"] / (MG[1]["f"] * MG[1]["wavelength"])
        self.assertAlmostEqual(np.sum(both[0]) / np.sum(both[1]) / ratio, 1, delta=3e-4)


class Sums(OfRays):
    """Int tau dv = pi e^2/(m_e c) f lambda N, whatever the gas and however it is cut."""

    def test_strength(self):
        rng = np.random.default_rng(1)
        shape = (8, 8, 8)
        gas = self.grid(hubble=1e-17, HI_density=10 ** rng.uniform(-13, -11, shape), temperature=10 ** rng.uniform(3.7, 5, shape),
                        **{f"velocity_{k}": rng.normal(0, 60, shape) for k in "xyz"})
        worst = 0
        for number, (subsampling, oversampling, bins) in enumerate(((0, 0, 500), (0, 0, 4000), (1, 1, 2000), (3, 2, 1000), (16, 4, 400),
                                                                    (64, 1, 1500))):
            direction = rng.normal(size=3).tolist()
            forest = self.result(rays(gas, absorption(low=-3000, high=4000, bins=bins, subsampling=subsampling, oversampling=oversampling,
                                                      sightlines={"random": 12, "direction": direction}), seed=number)).absorption["forest"]
            sums = forest.tau @ widths(forest) / (strength() * forest.column_density)
            worst = max(worst, np.max(np.abs(sums - 1)))
        self.assertLess(worst, 1e-4)
        print(f"strength: within {worst:.1e} of pi e^2/(m_e c) f lambda N", file=sys.stderr)

    def test_equivalent_width_is_the_same_in_all_directions(self):
        """Of a uniform cube, along ways of one length from its middle."""
        side = 8 * 100 * KPC
        gas = self.grid(HI_density=1e-10)
        rng = np.random.default_rng(2)
        directions = [*np.eye(3), *-np.eye(3), [1, 1, 0], [1, 1, 1], *rng.normal(size=(12, 3))]
        begin = [0.5 * side * (1 + 1e-3 * k) for k in (1, 2, 3)]  # on no face of a cell
        lines = {"list": [along(begin, d) for d in directions], "length": f"{0.45 * side!r} cm"}
        forest = self.result(rays(gas, absorption(low=-1500, high=1500, sightlines=lines))).absorption["forest"]
        column = 1e-10 * 0.45 * side
        np.testing.assert_allclose(forest.column_density, column, rtol=2e-6)
        np.testing.assert_allclose(forest.equivalent_width, forest.equivalent_width[0], rtol=1e-5)
        fine = np.linspace(-1500, 1500, 60001)
        lost = 1 - np.exp(-depth(fine, column, 1e4))
        truth = np.sum(lost * np.exp(fine / C)) * (fine[1] - fine[0]) / C * LYA["wavelength"] * 1e8
        self.assertAlmostEqual(forest.equivalent_width[0] / truth, 1, delta=1e-4)
        # Bins that are not much narrower than the line, whose flanks are steep: means of some points.
        for bins in (300, 150, 61):
            coarse = self.result(rays(gas, absorption(low=-1500, high=1500, bins=bins, sightlines=lines))).absorption["forest"]
            self.assertAlmostEqual(coarse.equivalent_width[0] / truth, 1, delta=2e-4)
        points = self.result(rays(gas, absorption(low=-1500, high=1500, bins=61, oversampling=1, sightlines=lines))).absorption["forest"]
        self.assertGreater(abs(points.equivalent_width[0] / truth - 1), 2e-3, "the twin: one point of each bin")
        twice = {"list": [along([1e-3 * side, *begin[1:]], [1, 0, 0])], "length": f"{0.9 * side!r} cm"}
        other = self.result(rays(gas, absorption(low=-1500, high=1500, sightlines=twice))).absorption["forest"]
        self.assertGreater(other.equivalent_width[0] / truth - 1, 0.05, "the twin: twice the way")

    def test_line_spread_and_noise(self):
        rng = np.random.default_rng(3)
        gas = self.grid(HI_density=10 ** rng.uniform(-12, -10, (8, 8, 8)))
        spread = absorption("spread", low=-1000, high=1000, bins=800, lsf="30 km/s", sightlines={"random": 20})
        noise = absorption("noise", low=-1000, high=1000, bins=2000, signal_to_noise=25, sightlines={"random": 40})
        result = self.result(rays(gas, spread, noise))
        spread, noise = result.absorption["spread"], result.absorption["noise"]
        wave = np.diff(1215.6701 * np.exp(spread.edges / C))
        np.testing.assert_allclose((1 - spread.observed) @ wave, spread.equivalent_width, rtol=1e-3)
        self.assertGreater(np.max(np.abs(spread.observed - spread.flux)), 0.05)
        difference = (noise.observed - noise.flux) * 25
        self.assert_mean(difference, 0, 1 / math.sqrt(difference.size), message="mean of the noise")
        self.assert_mean(difference**2, 1, math.sqrt(2 / difference.size), message="variance of the noise")
        together = np.mean(difference[:, 1:] * difference[:, :-1])
        self.assertLess(abs(together), 4 / math.sqrt(difference.size), "neighbouring bins share noise")
        self.assertLess(abs(np.mean(difference[1:] * difference[:-1])), 4 / math.sqrt(difference.size), "sightlines share noise")

    def test_width_of_the_line_spread(self):
        """The variance of a thin line grows by that of the line-spread function."""
        slab = {"type": "slab", "half_thickness": "1 kpc", "temperature": "1e4 K", "column_density": "1e11 cm^-2"}
        wide = self.result(rays(slab, absorption(low=-300, high=300, bins=1200, lsf="40 km/s", sightlines={"random": 1}))).absorption["forest"]

        def variance(flux):
            lost = np.where(np.abs(wide.centers) < 150, 1 - flux, 0)
            return np.sum(lost * wide.centers**2) / np.sum(lost)
        grown = variance(wide.observed[0]) - variance(wide.flux[0])
        self.assertAlmostEqual(math.sqrt(grown) / (40 / 2.3548200450309493), 1, delta=2e-3)


class Hubble(OfRays):
    H = 3.24e-18  # about 100 km/s/Mpc

    def one_cell(self, n=16, at=11):
        density = np.zeros((n, n, n))
        density[at, 5, 5] = 1e-12
        return density

    def test_one_cell_absorbs_at_its_velocity(self):
        """A cell between s and s + ds along x, with v_x = 70 km/s: around v + H (s + ds/2), whichever way one looks."""
        n, cell, at = 16, 100 * KPC, 11
        for hubble in (0.0, self.H):
            gas = self.grid(n=n, cell=cell, hubble=hubble, HI_density=self.one_cell(n, at), velocity_x=70.0)
            y = 5.3 * cell
            lines = {"list": [along((0, y, y), (1, 0, 0)), along((n * cell, y, y), (-1, 0, 0)), along((-30 * KPC, y, y), (2, 0, 0))]}
            forest = self.result(rays(gas, absorption(low=-500, high=1500, bins=1000, sightlines=lines, beyond="empty"))).absorption["forest"]
            middle = (at + 0.5) * cell
            expected = [70 + hubble * middle * 1e-5, -70 + hubble * (n * cell - middle) * 1e-5, 70 + hubble * (middle + 30 * KPC) * 1e-5]
            for tau, velocity in zip(forest.tau, expected):
                found = np.sum(tau * forest.centers) / np.sum(tau)
                self.assertLess(abs(found - velocity), 0.05)  # of bins of 2 km/s
        # The cell is H ds wide in velocity: the variance is that of the line and of a box.
        wide = forest.tau[0]
        near = np.abs(forest.centers - expected[0]) < 100
        mean = np.average(forest.centers[near], weights=wide[near])
        variance = np.average((forest.centers[near] - mean) ** 2, weights=wide[near])
        box = (self.H * cell * 1e-5) ** 2 / 12
        self.assertAlmostEqual(variance / (thermal_speed(LYA, 1e4) ** 2 / 2 + box), 1, delta=0.02)  # damping wings have a share

    def test_flow_across_a_cell(self):
        """The Hubble flow spreads a thick cell over 31 km/s, 2.4 b: as the integral over it, and in 200 parts."""
        n, cell = 16, 100 * KPC
        for column in (1e17, 1e19):
            density = np.full((n, n, n), 1e-13)
            density[8] = column / cell
            gas = self.grid(n=n, cell=cell, hubble=1e-17, HI_density=density)

            def spectrum(precision, subsampling):
                operator = absorption(low=-1000, high=1500, bins=1250, subsampling=subsampling, beyond="empty", sightlines={"random": 2, "direction": [1, 0, 0]})
                return self.result(rays(gas, operator), "--precision", precision).absorption["forest"]
            parts = spectrum("double", 200)
            for precision, of_tau, of_flux in (("double", 7e-4, 3e-4), ("single", 1e-3, 4e-4)):
                whole = spectrum(precision, 0)
                np.testing.assert_allclose(whole.tau, parts.tau, rtol=of_tau)
                np.testing.assert_allclose(whole.flux, parts.flux, atol=of_flux)
                np.testing.assert_allclose(whole.equivalent_width, parts.equivalent_width, rtol=1e-4)
            self.assertGreater(np.max(np.abs(spectrum("double", 1).tau / parts.tau - 1)), 0.1, "the twin: all of it at its middle")

    def test_narrow_flow_across_a_cell(self):
        """Where the flow in a cell is less than b/2, points of it stand for all: in the flanks of thick cells the middle alone would not do."""
        n, cell, b = 4, 100 * KPC, thermal_speed(LYA, 1e4)
        density = np.full((n, n, n), 1e-16)
        density[2] = 1e17 / cell
        for spread in (0.009, 0.02, 0.0999, 0.14, 0.16, 0.3, 0.499, 0.51):
            gas = self.grid(n=n, cell=cell, hubble=spread * b * 1e5 / cell, HI_density=density)

            def spectrum(subsampling):
                operator = absorption(low=-150, high=150, bins=600, subsampling=subsampling, beyond="empty", sightlines={"random": 1, "direction": [1, 0, 0]})
                return self.result(rays(gas, operator), "--precision", "double").absorption["forest"]
            whole, parts = spectrum(0), spectrum(100)
            self.assertLess(np.max(np.abs(whole.flux - parts.flux)), 3e-4, spread)
            if spread == 0.0999:
                self.assertGreater(np.max(np.abs(spectrum(1).flux - parts.flux)), 2e-3, "the twin: its middle")

    def test_sightlines_in_faces(self):
        """A periodic box has gas at its faces, edges and corners, wherever it lies; a box that is not has some at the lower ones."""
        rng = np.random.default_rng(9)
        for n in (3, 5, 8, 7):
            cell, origin = rng.uniform(1, 9) * 1e21, rng.uniform(-10, 10, 3) * KPC
            for periodic in (True, False):
                gas = self.grid(n=n, cell=cell, periodic=periodic, HI_density=1e-5)
                with h5py.File(gas["path"], "a") as file:
                    file.attrs.update({f"origin_{axis}": x for axis, x in zip("xyz", origin)})
                upper = origin + n * cell
                begins = [origin, [origin[0], origin[1] + 0.3 * cell, origin[2]]]
                if periodic:
                    begins += [[upper[0], upper[1], origin[2]], [origin[0], upper[1], origin[2]], upper, origin - n * cell, upper + 2 * n * cell]
                lines = {"list": [along(p, (0, 0, 1)) for p in begins], "length": f"{(2 if periodic else 1) * n * cell!r} cm"}
                forest = self.result(rays(gas, absorption(sightlines=lines))).absorption["forest"]
                np.testing.assert_allclose(forest.column_density, 1e-5 * (2 if periodic else 1) * n * cell, rtol=1e-5)

    def test_periodic_continuation(self):
        rng = np.random.default_rng(4)
        n, cell = 8, 100 * KPC
        side = n * cell
        hubble = 500e5 / side  # 500 km/s across the box
        gas = self.grid(n=n, cell=cell, hubble=hubble, periodic=True, HI_density=10 ** rng.uniform(-14, -12.5, (n, n, n)),
                        velocity_y=rng.normal(0, 20, (n, n, n)))
        lines = {"list": [along((3.3 * cell, 0, 2.7 * cell), (0, 1, 0))]}
        whole = self.result(rays(gas, absorption(low=-200, high=1800, bins=2000, sightlines=lines))).absorption["forest"]
        lines["length"] = f"{2.5 * side!r} cm"
        forest = self.result(rays(gas, absorption(low=-200, high=1800, bins=2000, sightlines=lines))).absorption["forest"]
        tau, bins = forest.tau[0], 500
        first, second = tau[200 + 150 : 200 + 450], tau[200 + 150 + bins : 200 + 450 + bins]  # 150 to 450 km/s, and a box further
        np.testing.assert_allclose(first, second, rtol=2e-3)
        np.testing.assert_allclose(first, whole.tau[0][200 + 150 : 200 + 450], rtol=2e-3)
        self.assertGreater(np.max(np.abs(np.log(first / tau[200 + 100 + bins : 200 + 400 + bins]))), 0.1, "the twin: 50 km/s beside")
        with h5py.File(self.folder / "grid.h5") as file:
            cells = file["HI_density"][3, :, 2].astype(float) * cell
        self.assertAlmostEqual(forest.column_density[0] / (2 * np.sum(cells) + np.sum(cells[:4])), 1, delta=1e-6)
        np.testing.assert_allclose(forest.tau, whole.tau, rtol=1e-6, err_msg="and the box goes on after 2.5 lengths")


class BeyondTheEnds(OfRays):
    """In the Hubble flow gas beyond the ends of a sightline absorbs at other velocities: images of a periodic box do, and of an
    open box nothing is known there."""

    N, CELL, FLOW, SPEED = 8, 100 * KPC, 500.0, 40.0  # FLOW: km/s across the box

    def fields(self, n, seed=4):
        """Random columns, and a smooth velocity along x that has the period of the box [km/s]."""
        density = np.broadcast_to(10 ** np.random.default_rng(seed).uniform(-11.5, -10.2, n)[:, None, None], (n, n, n))
        velocity = np.broadcast_to(self.SPEED * np.sin(2 * np.pi * (np.arange(n) + 0.7) / n)[:, None, None], (n, n, n))
        return density.astype("f4").astype(float), velocity.astype("f4").astype(float)

    def periodic(self):
        density, velocity = self.fields(self.N)
        return self.grid(n=self.N, cell=self.CELL, hubble=self.FLOW * 1e5 / (self.N * self.CELL), periodic=True, HI_density=density, velocity_x=velocity)

    def truth(self, centers, images):
        """tau at the middles of bins: the Voigt profile of 40 parts of each cell, in all images of the box."""
        density, velocity = self.fields(self.N)
        flow, parts, tau = self.FLOW / self.N, 40, np.zeros_like(centers)
        for image in images:
            for i in range(self.N):
                for k in range(parts):
                    at = velocity[i, 0, 0] + flow * (i + (k + 0.5) / parts) + image * self.FLOW
                    tau += depth(centers - at, density[i, 0, 0] * self.CELL / parts, 1e4)
        return tau

    def test_images_of_a_periodic_box(self):
        middle, truth = 4.5 * self.CELL, None
        for lines in ({"list": [along((0, middle, middle), (1, 0, 0))]},
                      {"list": [along((0, middle, middle), (1, 0, 0))], "length": f"{1.6 * self.N * self.CELL!r} cm"}):
            gas = self.periodic()
            forest = self.result(rays(gas, absorption(low=-750, high=1750, bins=1250, sightlines=lines))).absorption["forest"]
            truth = self.truth(forest.centers, range(-5, 8)) if truth is None else truth  # of the same bins
            np.testing.assert_allclose(np.exp(-forest.tau[0]), np.exp(-truth), atol=2e-3)
            self.assertGreater(np.max(np.abs(np.exp(-forest.tau[0]) - np.exp(-self.truth(forest.centers, [0])))), 0.3, "the twin: one box")
            for low in (-750, -333, 600):  # the mean over the length of the box is the same from anywhere
                self.assertAlmostEqual(forest.mean_flux(low, low + 500)[0] / forest.mean_flux(0, 500)[0], 1, delta=2e-4)
            self.assertGreater(abs(forest.mean_flux(0, 300)[0] / forest.mean_flux(0, 500)[0] - 1), 0.01, "the twin: a part of it")
            self.assertEqual((forest.beyond, forest.covered), ("periodic", None))
            cells = np.tile(self.fields(self.N)[0][:, 0, 0], 2) * self.CELL  # of the sightline itself
            parts = np.clip((1.6 if "length" in lines else 1) * self.N - np.arange(2 * self.N), 0, 1)
            self.assertAlmostEqual(forest.column_density[0] / np.sum(cells * parts), 1, delta=1e-5)

    def test_oblique_sightlines_of_a_periodic_box(self):
        """One that begins 300 km/s further back shows the same gas 300 km/s further to the red."""
        rng = np.random.default_rng(8)
        n, cell = self.N, self.CELL
        hubble = self.FLOW * 1e5 / (n * cell)
        gas = self.grid(n=n, cell=cell, hubble=hubble, periodic=True, HI_density=10 ** rng.uniform(-12, -10, (n, n, n)), velocity_z=rng.normal(0, 30, (n, n, n)))
        direction = np.array([1, 0.31, 0.17]) / np.linalg.norm([1, 0.31, 0.17])
        begin = np.array([0.3, 2.2, 5.1]) * cell
        lines = {"list": [along(begin, direction), along(begin - 300e5 / hubble * direction, direction)], "length": f"{n * cell!r} cm"}
        forest = self.result(rays(gas, absorption(low=-1000, high=2000, bins=3000, sightlines=lines))).absorption["forest"]
        np.testing.assert_allclose(forest.flux[1, 300:], forest.flux[0, :-300], atol=2e-3)
        self.assertGreater(np.max(np.abs(forest.flux[1] - forest.flux[0])), 0.2, "the twin: not shifted")
        self.assertLess(np.max(np.min(forest.flux[0].reshape(-1, 500), axis=1)), 0.9, "gas everywhere")

    def test_what_absorbs_does_not_depend_on_the_length(self):
        """Damping wings and broad gas that only images of a short sightline meet."""
        n, cell = self.N, self.CELL
        density = np.full((n, n, n), 5e-11)
        density[6] = 1e21 / cell
        hot = np.full((n, n, n), 1e4)
        hot[6] = 1e8
        for fields in ({"HI_density": density}, {"HI_density": np.where(density > 1e-9, 1e-9, density), "temperature": hot}):
            gas = self.grid(n=n, cell=cell, hubble=self.FLOW * 1e5 / (n * cell), periodic=True, **fields)
            begin = along((0.1 * cell, 1.5 * cell, 1.5 * cell), (1, 0, 0))
            short, whole = (self.result(rays(gas, absorption(low=0, high=100, bins=50, sightlines={"list": [begin], "length": f"{length * cell!r} cm"})))
                            .absorption["forest"] for length in (1, n))
            np.testing.assert_allclose(short.tau, whole.tau, rtol=1e-3)
            self.assertGreater(whole.column_density[0] / short.column_density[0], 10, "the column is that of the sightline")

    def test_wings_of_images(self):
        """Damping wings of a cell with 1e19 cm^-2 reach over several images of the box."""
        n, cell = 8, 100 * KPC
        density = np.full((n, n, n), 1e-20)
        density[5] = 1e19 / cell
        gas = self.grid(n=n, cell=cell, hubble=self.FLOW * 1e5 / (n * cell), periodic=True, HI_density=density)
        lines = {"list": [along((0, cell, cell), (1, 0, 0))]}
        forest = self.result(rays(gas, absorption(low=0, high=500, bins=250, sightlines=lines))).absorption["forest"]
        flow = self.FLOW / n
        truth = sum(depth(forest.centers - flow * (5 + (k + 0.5) / parts) - image * self.FLOW, 1e19 / parts, 1e4)
                    for image in range(-200, 201) for parts in (40 if abs(image) < 3 else 1,) for k in range(parts))
        self.assertLess(np.max(np.abs(np.exp(-forest.tau[0]) - np.exp(-truth))), 6e-3)
        few = sum(depth(forest.centers - flow * 5.5 - image * self.FLOW, 1e19, 1e4) for image in (-1, 0, 1))
        self.assertGreater(np.max(np.abs(np.exp(-few) - np.exp(-truth))), 2e-2, "the twin: the next images alone")

    def cut_out(self, first, n, whole, **keys):
        """The open box of cells `first` to `first + n` of a periodic one of `whole`, in all of which H is the same."""
        density, velocity = self.fields(whole)
        part = slice(first, first + n)
        return self.grid(n=n, cell=self.CELL, hubble=self.FLOW * 1e5 / (self.N * self.CELL), HI_density=density[part, :n, :n],
                         velocity_x=velocity[part, :n, :n], **keys)

    def test_an_open_box_knows_nothing_of_gas_outside(self):
        """Bins that are covered have the flux of a larger box; others are NaN, where that box would show otherwise."""
        whole, first, n, flow = 32, 5, 12, self.FLOW / self.N
        density, velocity = self.fields(whole)
        y = 2.5 * self.CELL
        large = self.grid(n=whole, cell=self.CELL, hubble=self.FLOW * 1e5 / (self.N * self.CELL), periodic=True, HI_density=density, velocity_x=velocity)
        back = {"list": [along((first * self.CELL, y, y), (1, 0, 0))]}
        truth = self.result(rays(large, absorption(low=-400, high=1200, bins=1600, sightlines=back))).absorption["forest"].flux[0]
        lines = {"list": [along((0, y, y), (1, 0, 0))]}
        known = absorption(low=-400, high=1200, bins=1600, sightlines=lines, lsf="10 km/s")
        forest = self.result(rays(self.cut_out(first, n, whole), known)).absorption["forest"]
        self.assertIn("% of the bins are NaN: gas outside of the box, which is not known, would absorb there", self.done.stderr)
        covered, b = forest.covered[0], thermal_speed(LYA, 1e4)
        ends = velocity[first, 0, 0] + 3 * b, n * flow + velocity[first + n - 1, 0, 0] - 3 * b
        np.testing.assert_allclose(covered, ends, atol=0.05)
        inside = (forest.edges[:-1] >= covered[0]) & (forest.edges[1:] <= covered[1])
        for values in (forest.flux[0], forest.tau[0], forest.observed[0]):
            np.testing.assert_array_equal(np.isfinite(values), inside)
        np.testing.assert_allclose(forest.flux[0][inside], truth[inside], atol=3e-3)
        self.assertEqual(forest.beyond, "unknown")
        self.assertAlmostEqual(forest.mean_flux()[0], np.mean(truth[inside]), delta=1e-3)
        alone = self.result(rays(self.cut_out(first, n, whole), {**known, "beyond": "empty"})).absorption["forest"]
        self.assertNotIn("NaN", self.done.stderr)
        self.assertEqual((alone.beyond, alone.covered), ("empty", None))
        np.testing.assert_allclose(alone.flux[0][inside], forest.flux[0][inside], atol=1e-6)
        outside = np.abs(alone.flux[0] - truth)
        for end in covered:
            self.assertGreater(np.max(outside[np.abs(forest.centers - end) < 3 * b + 30]), 0.02, "the twin: 3 b and 30 km/s beside")
        dim = (1 - forest.flux[0][inside]) * np.diff(LYA["wavelength"] * 1e8 * np.exp(forest.edges / C))[inside]
        self.assertAlmostEqual(forest.equivalent_width[0] / np.sum(dim), 1, delta=1e-5)

    def test_where_nothing_is_covered(self):
        y = 2.5 * self.CELL
        lines = {"list": [along((0, y, y), (1, 0, 0))]}
        path = self.write(rays(self.cut_out(0, 4, 8), absorption(low=-400, high=-100, sightlines=lines)))
        done = thor("run", path, "-o", self.folder / "none.h5")
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("operators.0: no bin is covered by a sightline", done.stderr)
        self.assertIn("beyond: empty", done.stderr)
        self.assertFalse((self.folder / "none.h5").exists())
        doublet = absorption(low=-100, high=1200, bins=650, line="MgII", density_field="HI_density", sightlines=lines)
        forest = self.result(rays(self.cut_out(0, 20, 32), doublet)).absorption["forest"]
        apart = C * math.log(MG[1]["wavelength"] / MG[0]["wavelength"])
        self.assertGreater(forest.covered[0, 0], apart, "gas before the box would absorb in the red transition")


class Maps(OfRays):
    def camera(self, direction, n, cell, pixels, **keys):
        up = [0.0, 0, 1] if abs(direction[2]) < 0.9 * np.linalg.norm(direction) else [0.0, 1, 0]
        return {"name": "c", "direction": [float(d) for d in direction], "up": up, "width": f"{1.8 * n * cell!r} cm", "pixels": pixels, **keys}

    def test_mass(self):
        """Rays are in step with the cells, so that no mass is between them: it is that of the grid to rounding from any direction, with any
        pixels, and with most of it in a few cells. Rays through the middles of pixels, as a perspective camera far away has them, lose some."""
        rng = np.random.default_rng(5)
        n, cell = 8, KPC
        density = 10 ** rng.uniform(-30, -25, (n, n, n))
        gas = self.grid(n=n, cell=cell, density=density)
        mass = np.sum(density.astype("f4").astype(float)) * cell**3
        worst = twin = 0
        directions = [*rng.normal(size=(6, 3)), [1, 0.37, 0], [1, 1, 1], [0, -1, 1], [1e-3, 1, 1e-5]]
        for direction, pixels in zip(directions, (96, 5, 17, 200, 1, 64, 64, 31, 40, 7)):
            camera = self.camera(direction, n, cell, pixels)
            project = {"type": "projection", "name": "m", "camera": "c", "field": "density"}
            image = self.result(rays(gas, project, cameras=[camera])).images["m"]
            self.assertEqual(image.unit, "g cm-2")
            worst = max(worst, abs(image.total() / mass - 1))
            far = 1e4 * n * np.array(direction) / np.linalg.norm(direction)
            middles = {"name": "c", "type": "perspective", "position": [f"{float(0.5 * n * cell + x * cell)!r} cm" for x in far], "up": camera["up"],
                       "centre": [f"{0.5 * n * cell!r} cm"] * 3, "field_of_view": f"{math.degrees(2 * math.atan(0.9e-4))!r} deg", "pixels": pixels}
            values = self.result(rays(gas, project, cameras=[middles])).images["m"].values
            twin = max(twin, abs(np.sum(values) * (1.8 * n * cell / pixels) ** 2 / mass - 1))
        print(f"mass: within {worst:.1e} of that of the grid; rays through the middles of pixels {twin:.1e}", file=sys.stderr)
        self.assertLess(worst, 1e-6)
        self.assertGreater(twin, 1e-2)

    def test_mass_of_aligned_pixels(self):
        """Rays through the middles of cells see every cell as it is."""
        rng = np.random.default_rng(6)
        n, cell = 8, KPC
        density = 10 ** rng.uniform(-28, -25, (n, n, n))
        gas = self.grid(n=n, cell=cell, density=density)
        camera = {**self.camera([0, 0, 1], n, cell, n), "width": f"{n * cell!r} cm"}
        image = self.result(rays(gas, {"type": "projection", "name": "m", "camera": "c", "field": "density"}, cameras=[camera])).images["m"]
        columns = np.sum(density.astype("f4").astype(float), axis=2) * cell
        np.testing.assert_allclose(image.values, columns.T, rtol=2e-6)

    def test_mass_of_pixels_that_do_not_fit(self):
        """Along an axis each pixel is the average over its area, whether pixels fit cells or not."""
        rng = np.random.default_rng(8)
        n, cell = 8, KPC
        density = 10 ** rng.uniform(-28, -25, (n, n, n))
        gas = self.grid(n=n, cell=cell, density=density)
        cells = density.astype("f4").astype(float) * cell**3
        for direction, up, pixels in (([0, 0, 1], [0, 1, 0], 37), ([0, 0, -1], [1, 0, 0], 5), ([0, 1, 0], [0, 0, -1], 96), ([-1, 0, 0], [0, 1, 0], 3)):
            camera = {**self.camera(direction, n, cell, pixels), "up": up, "centre": ["3.93 kpc", "4.21 kpc", "4.07 kpc"]}
            image = self.result(rays(gas, {"type": "projection", "name": "m", "camera": "c", "field": "density"}, cameras=[camera])).images["m"]
            self.assertLess(abs(image.total() / np.sum(cells) - 1), 1e-6, (direction, pixels))
            # The mass of each pixel, by the overlap of intervals.
            shares = []
            for edges, axis in ((image.right * KPC, image.axes[0]), (image.up * KPC, image.axes[1])):
                k = int(np.argmax(np.abs(axis)))
                ends = (edges * axis[k] + image.centre[k]) / cell
                low, high = np.minimum(ends[1:], ends[:-1]), np.maximum(ends[1:], ends[:-1])
                faces = np.arange(n)
                shares.append((k, np.clip(np.minimum(high[:, None], faces + 1) - np.maximum(low[:, None], faces), 0, None)))
            (k, across), (m, upward) = shares
            seen = np.moveaxis(np.sum(cells, axis=3 - k - m), 0, -1) if k < m else np.sum(cells, axis=3 - k - m)
            area = (image.right[1] - image.right[0]) * (image.up[1] - image.up[0]) * KPC**2
            np.testing.assert_allclose(image.values * area, upward @ seen @ across.T, rtol=3e-6, atol=1e-7 * np.max(seen))

    def test_slices_are_cells(self):
        rng = np.random.default_rng(7)
        n, cell = 8, KPC
        gas = self.grid(n=n, cell=cell, temperature=10 ** rng.uniform(3, 6, (n, n, n)))
        with h5py.File(self.folder / "grid.h5") as file:
            cells = file["temperature"][()].astype(float)
        for plane in (-3, 0, 2):
            camera = {**self.camera([0, 0, 1], n, cell, n), "width": f"{n * cell!r} cm"}
            cut = {"type": "slice", "name": "cut", "camera": "c", "field": "temperature", "offset": f"{(plane + 0.5) * cell!r} cm"}
            image = self.result(rays(gas, cut, cameras=[camera])).images["cut"]
            np.testing.assert_array_equal(image.values, cells[:, :, n // 2 + plane].T)
        # An oblique plane, point by point; nan outside of the box.
        camera = self.camera([1, -2, 0.7], n, cell, 40)
        image = self.result(rays(gas, {"type": "slice", "name": "cut", "camera": "c", "field": "temperature"}, cameras=[camera])).images["cut"]
        right, up = (0.5 * (e[1:] + e[:-1]) * KPC for e in (image.right, image.up))
        points = image.centre + right[None, :, None] * image.axes[0] + up[:, None, None] * image.axes[1]
        index = np.floor(points / cell).astype(int)
        inside = np.all((index >= 0) & (index < n), axis=-1)
        truth = np.where(inside, cells[tuple(np.clip(index, 0, n - 1).transpose(2, 0, 1))], np.nan)
        far = np.all(np.abs(points / cell - np.round(points / cell)) > 1e-4, axis=-1)  # from a face
        np.testing.assert_array_equal(image.values[far], truth[far])
        self.assertGreater(np.count_nonzero(far & inside), 300)

    def test_velocities_are_positive_away_from_the_camera(self):
        gas = self.grid(velocity_x=30.0, velocity_y=-10.0)
        for direction in ([1, 0, 0], [0, -1, 0.2], [-1, 2, 3]):
            camera = self.camera(direction, 8, 100 * KPC, 16)
            mean = {"type": "projection", "name": "v", "camera": "c", "field": "velocity", "weight": "density"}
            image = self.result(rays(gas, mean, cameras=[camera])).images["v"]
            towards = np.array(direction) / np.linalg.norm(direction)
            np.testing.assert_allclose(image.values[np.isfinite(image.values)], -np.dot([30, -10, 0], towards), atol=1e-4)
            self.assertTrue(np.any(np.isnan(image.values)))


if __name__ == "__main__":
    main()
