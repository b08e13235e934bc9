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


class ReweightTest(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main()
