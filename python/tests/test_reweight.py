"""Another source and dust for photons that were run: the answers of direct runs, and refusals."""

import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np
from support import need_thor

import thor
from thor import postprocess

RANGE = ["-2500 km/s", "2500 km/s"]
BASE = {
    "line": "Lya",
    "dataset": {"type": "shell", "inner_radius": "0.5 kpc", "outer_radius": "1 kpc", "temperature": "1e4 K",
                "column_density": "1e19 cm^-2", "velocity": {"profile": "power_law", "exponent": 1, "max": "150 km/s"}},
    "outputs": [{"type": "photons", "fields": ["velocity_initial", "velocity_final", "column", "generator"]},
                {"type": "spectrum", "name": "v", "axis": "velocity", "range": RANGE, "bins": 50}],
    "output": {"path": "x.h5"},
}  # fmt: skip


def source(photons, sigma, equivalent_width):
    return {"generators": [{"type": "point", "photons": photons, "spectrum": {
        "type": "line_and_continuum", "sigma": f"{sigma} km/s", "equivalent_width": f"{equivalent_width} Angstrom", "range": RANGE}}]}


def setUpModule():
    need_thor()


class RunsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="thor-reweight-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def run_thor(self, name, photons, sigma, equivalent_width, jumps=True, dust=None, **more):
        gas = BASE["dataset"] if dust is None else {**BASE["dataset"], "dust": {"tau": dust, "albedo": 0}}
        config = {**BASE, **source(photons, sigma, equivalent_width), "dataset": gas, "acceleration": {"jumps": jumps}, **more}
        result = thor.run(config, self.folder / f"{name}.h5", overwrite=True, quiet=True)
        self.addCleanup(result.close)
        return result


class ReweightTest(RunsTest):
    def chi_squared(self, reweighted, direct):
        """Over 50 bins; the spectra are of different photons."""
        mine, direct = reweighted.spectrum("velocity", bins=50, range=(-2500, 2500)), direct.spectra["v"]
        known = (mine.error > 0) | (direct.error > 0)
        return float(np.sum((mine.flux - direct.flux)[known] ** 2 / (mine.error**2 + direct.error**2)[known]))

    def test_is_a_direct_run(self):
        """Source and dust at once, with jumps and without; twins with a wrong width or depth are told apart."""
        for jumps, photons in ((True, 60000), (False, 30000)):
            with self.subTest(jumps=jumps):
                wide = self.run_thor("wide", photons, 800, 3, jumps)
                direct = self.run_thor("direct", photons, 300, 20, jumps, dust=0.5, seed=7)
                wanted = {"sigma": "300 km/s", "equivalent_width": "20 Angstrom", "dust": 0.5}
                found = thor.reweight(wide.photons, **wanted)
                self.assertLess(self.chi_squared(found, direct), 92)  # 50 bins: once in 5000
                mine, theirs = found.escape_fraction(), direct.escape_fraction()
                self.assertLess(abs(mine[0] - theirs[0]), 4 * np.hypot(mine[1], theirs[1]))
                self.assertTrue(0.3 * photons < found.effective < photons)
                for wrong in ({"dust": 0.65}, {"sigma": 400}, {"equivalent_width": 30}):
                    self.assertGreater(self.chi_squared(thor.reweight(wide.photons, **{**wanted, **wrong}), direct), 92, wrong)

    def test_several_generators_and_no_continuum(self):
        """All photons of a line and of a continuum serve for both."""
        line, continuum = source(20000, 600, 1)["generators"][0], source(20000, 600, 1)["generators"][0]
        line["spectrum"] = {"type": "gaussian", "sigma": "600 km/s"}
        continuum["spectrum"] = {"type": "continuum", "range": RANGE}
        both = self.run_thor("both", 1, 1, 1, generators=[line, continuum])
        narrow = {"type": "point", "photons": 40000, "luminosity": "2e42 erg/s", "spectrum": {"type": "gaussian", "sigma": "250 km/s"}}
        direct = self.run_thor("narrow", 1, 1, 1, generators=[narrow], seed=3)
        found = thor.reweight(both.photons, sigma=250)
        emitted = float(np.sum(both.photons.initial_weights()))
        self.assertAlmostEqual(float(np.sum(found.initial_weights())) / emitted, 1, delta=0.03)
        light = direct.summary["luminosity_emitted"] / emitted
        scaled = found.spectrum("velocity", bins=50, range=(-2500, 2500))
        error = np.hypot(scaled.error * light, direct.spectra["v"].error)
        known = direct.spectra["v"].error > 0
        self.assertGreater(known.sum(), 20)
        self.assertLess(np.sum(((scaled.flux * light - direct.spectra["v"].flux)[known] / error[known]) ** 2), 92)

    def test_selections_keep_their_weights(self):
        result = self.run_thor("wide", 3000, 800, 3)
        found = thor.reweight(result.photons, sigma=300, equivalent_width=20, dust=1)
        red = found.select(found["velocity_final"] > 0)
        np.testing.assert_array_equal(red.weights(), found.weights()[found["velocity_final"] > 0])
        same = thor.reweight(result.photons)
        np.testing.assert_array_equal(same.weights(), result.photons.weights())
        self.assertAlmostEqual(same.effective, 3000)
        np.testing.assert_array_equal(thor.reweight(result.photons, dust=2, albedo=1).weights(), result.photons.weights())

    def test_warns_where_reweighting_fails(self):
        result = self.run_thor("narrow", 3000, 100, 1000)
        with self.assertWarnsRegex(thor.ReweightingWarning, "as good as"):
            thor.reweight(result.photons, sigma=600)
        line = source(3000, 50, 1)["generators"]
        line[0]["spectrum"] = {"type": "continuum", "range": ["-200 km/s", "200 km/s"]}
        result = self.run_thor("short", 1, 1, 1, generators=line)
        with self.assertWarnsRegex(thor.ReweightingWarning, r"\d\d % of the light"):
            thor.reweight(result.photons, sigma=300)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            thor.reweight(result.photons, sigma=40)
        with self.assertWarnsRegex(thor.ReweightingWarning, "what dust leaves of 3000 photons is as good as"):
            thor.reweight(result.photons, dust=2000)
        with self.assertWarnsRegex(thor.ReweightingWarning, "of the light is to be at velocities"):  # few are enough to be noisy, not to be there
            thor.reweight(result.photons, sigma=0.05)

    def test_share_that_has_no_photons(self):
        """Of a Gaussian of 100 km/s beyond 100 and 200 km/s."""
        for end, share in ((100, 0.3173), (200, 0.0455)):
            self.assertAlmostEqual(postprocess.left_out(lambda v: np.where(np.abs(v) < end, 5.0, 0.0), 100.0), share, delta=0.005)

    def test_refusals(self):
        result = self.run_thor("wide", 300, 800, 3)
        for arguments, words in (({"equivalent_width": 3}, "sigma"), ({"sigma": 0}, "above 0"), ({"sigma": "3 kpc"}, "km/s"),
                                 ({"dust": -1}, "negative"), ({"dust": 1, "albedo": 2}, "albedo"), ({"sigma": float("nan")}, "sigma"),
                                 ({"sigma": 300, "equivalent_width": -1}, "negative")):  # fmt: skip
            with self.subTest(arguments), self.assertRaisesRegex(thor.ArgumentError, words):
                thor.reweight(result.photons, **arguments)
        dusty = self.run_thor("dusty", 300, 800, 3, dust=0.1)
        with self.assertRaisesRegex(thor.ArgumentError, "has dust already"):
            thor.reweight(dusty.photons, dust=1)
        plain = self.run_thor("plain", 300, 800, 3, outputs=[{"type": "photons", "fields": ["velocity_initial", "velocity_final"]}])
        with self.assertRaisesRegex(thor.MissingError, "column"):
            thor.reweight(plain.photons, dust=1)
        delta = self.run_thor("delta", 1, 1, 1, generators=[{"type": "point", "photons": 10}])
        with self.assertRaisesRegex(thor.ArgumentError, "gaussian or a continuum"):
            thor.reweight(delta.photons, sigma=100)
        apart = source(10, 800, 3)["generators"] + source(10, 800, 3)["generators"]
        apart[1]["position"] = ["0.1 kpc", "0 kpc", "0 kpc"]
        with self.assertRaisesRegex(thor.ArgumentError, "one place"):
            thor.reweight(self.run_thor("apart", 1, 1, 1, generators=apart).photons, sigma=100)
        moving = source(10, 800, 3)["generators"]
        moving[0]["velocity"] = ["100 km/s", "0 km/s", "0 km/s"]
        with self.assertRaisesRegex(thor.ArgumentError, "sources at rest"):
            thor.reweight(self.run_thor("moving", 1, 1, 1, generators=moving).photons, sigma=100)
        with self.assertRaisesRegex(thor.ArgumentError, "reweighted already"):
            thor.reweight(thor.reweight(result.photons, sigma=300), dust=1)


class ObserveTest(RunsTest):
    def test_is_what_an_observer_sees(self):
        """Light that was peeled off towards an observer, with line-spread function and aperture; twins with others are told apart."""
        resolution, ends = 2500, np.linspace(1211, 1221, 41)
        outputs = [{"type": "photons", "fields": ["id", "velocity_final", "velocity_initial", "position", "direction"]},
                   {"type": "spectrum", "name": "seen", "observer": "o", "axis": "wavelength", "range": ["1211 Angstrom", "1221 Angstrom"],
                    "bins": 40, "lsf": {"fwhm": f"{299792.458 / resolution} km/s"}, "aperture": {"radius": "0.6 kpc"}}]  # fmt: skip
        run = self.run_thor("seen", 40000, 300, 30, observers=[{"name": "o", "direction": [0, 0, 1]}], outputs=outputs)
        direct = run.spectra["seen"]

        def distance(lsf=resolution, aperture="0.6 kpc", photons=run.photons):
            mine = thor.observe(photons, ends, lsf=lsf, aperture=aperture)
            return float(np.sum((mine.flux - direct.flux) ** 2 / (mine.error**2 + direct.error**2)))

        self.assertLess(distance(), 85)  # 40 pixels, of which neighbours have photons in common
        for wrong in ({"lsf": 900}, {"aperture": "0.5 kpc"}, {"aperture": None}, {"photons": thor.reweight(run.photons, sigma=200, equivalent_width=30)}):
            self.assertGreater(distance(**wrong), 85, wrong)
        far = thor.observe(run.photons, ends * 4.1, redshift=3.1, lsf=resolution, aperture=0.6)
        np.testing.assert_allclose(far.flux * 4.1, thor.observe(run.photons, ends, lsf=resolution, aperture=0.6).flux, rtol=1e-9)
        sharp = thor.observe(run.photons, direct.edges)
        np.testing.assert_allclose(sharp.flux, run.photons.spectrum("wavelength", bins=direct.edges).flux, rtol=1e-9)
        parts = [thor.observe(run.photons.select(run.photons["id"] % 20 == k), ends, lsf=resolution).flux for k in range(20)]
        spread = np.std(parts, axis=0, ddof=1) * np.sqrt(20)
        self.assertAlmostEqual(float(np.mean((spread / thor.observe(run.photons, ends, lsf=resolution).error)[8:32])), 1, delta=0.15)

    def test_what_cannot_be_observed(self):
        run = self.run_thor("plain", 100, 300, 30)
        for words, options in (("redshift must be above", {"redshift": -1}), ("resolving power", {"lsf": 0}), ("aperture must be", {"aperture": 0}),
                               ("aperture must be", {"aperture": "3 km/s"}), ("edges of pixels", {"edges": [3, 2]}), ("edges of pixels", {"edges": [1]})):  # fmt: skip
            with self.subTest(words), self.assertRaisesRegex(thor.ArgumentError, words):
                thor.observe(run.photons, **{"edges": [1210, 1220], **options})
        with self.assertRaisesRegex(thor.MissingError, "position"):
            thor.observe(run.photons, [1210, 1220], aperture=1)


if __name__ == "__main__":
    unittest.main()
