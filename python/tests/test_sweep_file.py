"""thor.sweep into one file, and thor.open of it."""

import copy
import tempfile
import unittest
import warnings
import zlib
from pathlib import Path

import numpy as np
from support import SMALL, need_thor

import thor

SPECTRUM = {"type": "spectrum", "name": "v", "axis": "velocity", "range": ["-300 km/s", "300 km/s"], "bins": 12}
RAW = {"type": "photons", "fields": ["velocity_initial", "velocity_final"]}
KEYS = {"dataset.tau0": {"range": [1e2, 1e4], "spacing": "log"}, "dataset.temperature": ["1e4 K", "2e4 K"], "acceleration.core_skip": ["none", "local"]}


def setUpModule():
    need_thor()


class SweepFileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="thor-sweep-file-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def sweep(self, name="s.h5", keys=KEYS, design="sobol", models=8, outputs=(SPECTRUM, RAW), **more):
        config = {**copy.deepcopy(SMALL), "outputs": list(outputs)}
        done = thor.sweep(config, keys, self.folder / name, design=design, models=models, quiet=True, overwrite=True, **more)
        self.addCleanup(done.close)
        return done

    def test_models_are_those_of_runs(self):
        for name in ("s.h5", "s.zarr"):
            done = self.sweep(name)
            self.assertEqual((len(done), done.missing, done.failures), (8, 0, []))
            self.assertEqual(done.varied, list(KEYS))
            self.assertEqual((done.units("dataset.temperature"), done.units("dataset.tau0")), ("K", ""))
            self.assertTrue(set(done.values("acceleration.core_skip")) == {"none", "local"})
            parameters, model = done[3]
            self.assertEqual(parameters["dataset.temperature"], f"{done.values('dataset.temperature')[3]:g} K")
            keys = {**parameters, "dataset.tau0": float(done.values("dataset.tau0")[3])}
            config = {**copy.deepcopy(SMALL), "outputs": [SPECTRUM, {"type": "photons", "fields": ["velocity_initial", "velocity_final"]}]}
            with thor.run(config, self.folder / "one.h5", set=keys, seed=model.summary["seed"], quiet=True, overwrite=True) as run:
                np.testing.assert_array_equal(model.spectrum().flux, run.spectra["v"].flux)
                np.testing.assert_array_equal(model.spectra["v"].error, run.spectra["v"].error)
                self.assertEqual(model.spectrum().units, run.spectra["v"].units)
                self.assertAlmostEqual(model.spectrum().line.wavelength0, run.spectra["v"].line.wavelength0)
                np.testing.assert_array_equal(np.sort(model.photons["velocity_final"]), np.sort(run.photons.escaped["velocity_final"].astype("f4")))
                self.assertAlmostEqual(model.escape_fraction()[0], run.escape_fraction()[0])

    def test_choosing_and_tables(self):
        done = self.sweep("g.h5", {"dataset.tau0": [10, 100], "dataset.dust.tau": [0, 0.5]}, None, None)
        again = thor.open(self.folder / "g.h5")
        self.addCleanup(again.close)
        self.assertIsInstance(again, thor.SweepFile)
        self.assertEqual([p["dataset.dust.tau"] for p in again.parameters], [0, 0.5, 0, 0.5])
        self.assertEqual(len(again.where({"dataset.tau0": 100})), 2)
        self.assertEqual(len(again[1:3]), 2)
        table = again.table()
        self.assertLess(table["escape_fraction"][1], table["escape_fraction"][0])
        self.assertEqual(table["photons"].tolist(), [SMALL["generators"][0]["photons"]] * 4)
        from matplotlib.figure import Figure

        axes = thor.plot_sweep(again.where({"dataset.dust.tau": 0}), "dataset.tau0", Figure().add_subplot())
        self.assertEqual(len(axes.get_legend().get_texts()), 2)
        self.assertRegex(repr(done), "4 models; dataset.tau0, dataset.dust.tau; spectra v")
        for words, wrong in (("was not varied", lambda: done.values("x")), ("was not varied", lambda: done.where({"x": 1})), ("the sweep has 4", lambda: done[9]),
                             ("available are v", lambda: done[0][1].spectrum("w"))):  # fmt: skip
            with self.assertRaisesRegex(thor.MissingError, words):
                wrong()

    def test_what_fails(self):
        with self.assertWarnsRegex(thor.FailedRunWarning, "1 of 2 models failed\nouter_radius"):
            done = self.sweep("f.h5", [{"dataset.outer_radius": "1 kpc"}, {"dataset.outer_radius": "-1 kpc"}], None, None)
        self.assertEqual(len(done), 1)
        self.assertIn("outer_radius", done.failures[0][1])
        self.assertEqual(done.failures[0][0], {"dataset.outer_radius": "-1 kpc"})
        with self.assertRaisesRegex(thor.RunError, "must be > 0 cm"):
            self.sweep("g.h5", [{"dataset.outer_radius": "-1 kpc"}, {"dataset.outer_radius": "-2 kpc"}], None, None)
        with self.assertRaisesRegex(thor.RunError, "expected one of grid"):
            self.sweep("f.h5", design="gird")
        for words, options in (("for a sweep in one file", {"design": "sobol"}),):
            with self.assertRaisesRegex(thor.ArgumentError, words):
                thor.sweep(SMALL, {"dataset.tau0": [1]}, self.folder / "runs", **options)
        with self.assertRaisesRegex(thor.ArgumentError, "checkpoint"):
            self.sweep(checkpoint=3)
        with self.assertRaisesRegex(thor.ArgumentError, "a dict from keys to values"):
            self.sweep(keys=[])
        (self.folder / "cut.h5").write_bytes((self.folder / "f.h5").read_bytes()[:3000])
        with self.assertRaises(thor.ResultError):
            thor.open(self.folder / "cut.h5")
        chunk = self.folder / "c.zarr" / "spectra" / "v" / "flux" / "0.0"
        for harm in (lambda whole: whole[:-9], lambda whole: b"no" + whole, lambda whole: zlib.compress(bytes(10**6))):
            done = self.sweep("c.zarr", {"dataset.tau0": [10, 20]}, None, None)
            chunk.write_bytes(harm(chunk.read_bytes()))
            with self.assertRaisesRegex(thor.ResultError, "damaged"):
                done[0][1].spectrum()

    def test_a_sweep_that_was_stopped_goes_on(self):
        keys, many = {"dataset.tau0": [10.0, 20.0]}, {"generators.0.photons": 400_000, "acceleration.jumps": False}
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                done = self.sweep("w.h5", keys, None, None, set=many, max_walltime=0.001, drain=0)
                self.assertGreater(done.missing, 0)
                self.assertTrue(any(issubclass(w.category, thor.IncompleteRunWarning) for w in seen))
            except thor.SweepError as error:
                self.assertIn("stopped before", str(error))
        self.assertEqual(len(self.sweep("w.h5", keys, None, None, set=many)), 2)


if __name__ == "__main__":
    unittest.main()
