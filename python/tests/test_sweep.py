"""thor.sweep, with the thor command."""

import json
import os
import unittest
from pathlib import Path

import numpy as np
from support import FILES, GRID, SMALL, WithSweep, need_thor

import thor


def setUpModule():
    need_thor()


class SweepTest(WithSweep):
    def test_grid(self):
        done, said = self.sweep()
        self.assertEqual(len(done), 4)
        self.assertEqual(sorted(os.listdir(self.at)), sorted([*FILES, "index.json"]))
        self.assertEqual(done.parameters[1], {"dataset.tau0": 10, "dataset.dust.tau": 0.5})
        for parameters, result in done:
            with result:
                self.assertEqual(result.attributes["tau0"], parameters["dataset.tau0"])
        self.assertRegex(said, r"3 of 4: tau0 = 100, dust.tau = 0(; \d+:\d\d left)?")
        self.assertEqual(done.varied, list(GRID))
        self.assertIn("tau0 = 10, dust.tau = 0.5: complete", repr(done))
        with done[-1][1] as result:
            self.assertEqual(os.path.basename(result.path), FILES[-1])
        self.assertEqual(len(done[1:3]), 2)

    def test_table(self):
        table = self.sweep()[0].table()
        np.testing.assert_array_equal(table["dataset.tau0"], [10, 10, 100, 100])
        np.testing.assert_array_equal(table["dataset.dust.tau"], [0, 0.5, 0, 0.5])
        self.assertEqual(list(table["file"]), FILES)
        np.testing.assert_array_equal(table["escape_fraction"][[0, 2]], 1.0)
        dusty = table[table["dataset.dust.tau"] > 0]
        self.assertTrue(np.all(dusty["escape_fraction"] < 0.9))
        self.assertTrue(np.all(dusty["escape_fraction_error"] > 0.01))
        self.assertGreater(table["mean_scatterings"][2], table["mean_scatterings"][0])
        self.assertTrue(np.all(np.abs(table["peak_velocity"]) < 100))
        self.assertTrue(np.all(table["complete"]))

    def test_a_run_that_is_not_to_be_relied_on(self):
        with self.assertWarnsRegex(thor.UnreliableRunWarning, "not to be relied on: .*tau0 = 100.*lost"):
            done, _ = self.sweep(parameters={"dataset.tau0": [0.001, 100.0]}, set={"limits.max_scatterings": 2})
        self.assertEqual(len(done), 2)
        self.assertIn("tau0 = 100: complete, not to be relied on", repr(thor.Sweep(self.at)))
        self.assertIn("tau0 = 0.001: complete\n", repr(done) + "\n")
        with self.assertWarns(thor.UnreliableRunWarning):
            table = done.table()
        self.assertEqual([share > 0.01 for share in table["lost"]], [False, True])

    def test_list_of_combinations(self):
        chosen = [{"dataset.tau0": 10}, {"dataset.tau0": 20, "seed": 2}]
        done, _ = self.sweep(parameters=chosen)
        self.assertEqual(done.parameters, chosen)
        table = done.table()
        self.assertEqual(list(table["seed"]), [None, 2])
        with done[1][1] as result:
            self.assertEqual(result.attributes["seed"], 2)

    def test_opened_later(self):
        self.sweep()
        later = thor.Sweep(self.at)
        self.assertEqual(len(later), 4)
        some = later.where({"dataset.dust.tau": 0.5})
        self.assertEqual([p["dataset.tau0"] for p in some.parameters], [10, 100])
        with self.assertRaisesRegex(KeyError, "was not varied"):
            later.where({"seed": 1})
        with self.assertRaisesRegex(thor.SweepError, "there is no index.json"):
            thor.Sweep(self.folder)
        Path(self.at, "index.json").write_text('{"thor_sweep": 1}')
        with self.assertRaisesRegex(thor.SweepError, "not the index of a sweep"):
            thor.Sweep(self.at)
        Path(self.at, "index.json").write_text('{"thor_sweep": 2}')
        with self.assertRaisesRegex(thor.SweepError, "update"):
            thor.Sweep(self.at)

    def test_index_says_what_the_folder_is(self):
        self.sweep(set={"seed": 3})
        index = json.loads(Path(self.at, "index.json").read_text())
        self.assertEqual(json.loads(index["base"]["config"]), SMALL)
        self.assertEqual(index["base"]["set"], {"seed": 3})
        self.assertEqual([run["file"] for run in index["runs"]], FILES)
        self.assertEqual({run["state"] for run in index["runs"]}, {"complete"})

    def test_wrong_parameters(self):
        for wrong in ({"dataset.tau0": 10}, {"dataset.tau0": "10"}):
            with self.assertRaisesRegex(TypeError, "expected a list"):
                self.sweep(parameters=wrong)
        for wrong in ([], {"dataset.tau0": []}):
            with self.assertRaisesRegex(ValueError, "at least one"):
                self.sweep(parameters=wrong)
        with self.assertRaisesRegex(ValueError, "twice"):
            self.sweep(parameters={"dataset.tau0": [10, 10.0]})
        with self.assertRaisesRegex(ValueError, "seed is one of the parameters"):
            self.sweep(parameters={"seed": [1, 2]}, seed=3)
        self.assertFalse(self.at.exists())

    def test_plot(self):
        from matplotlib.figure import Figure

        done, _ = self.sweep()
        axes = Figure().add_subplot()
        ax = done.where({"dataset.dust.tau": 0}).plot("dataset.tau0", axes, axis="x", rebin=3)
        self.assertIs(ax, axes)
        self.assertEqual(len(ax.patches), 4)
        self.assertEqual([t.get_text() for t in ax.get_legend().get_texts()], ["$10$", "$100$"])
        self.assertEqual(ax.get_legend().get_title().get_text(), r"$\tau_0$")
        self.assertIn("Dimensionless", ax.get_xlabel())
        with self.assertRaisesRegex(ValueError, "'dataset.dust.tau' differs too"):
            done.plot("dataset.tau0", axes)
        with self.assertRaisesRegex(ValueError, "was not varied"):
            done.plot("dataset.b_turb", axes)


class NamesTest(unittest.TestCase):
    def test_file_names(self):
        names = thor.sweep_index.file_names
        self.assertEqual(
            names([{"dataset.velocity.max": "-200 km/s", "generators.0.photons": 1e6}]),
            ["velocity.max=-200-km-s_generators.0.photons=1e6.h5"],
        )
        # Names that look alike, or are too long, are distinguished by a mark.
        alike = names([{"a": "1 km/s"}, {"a": "1 km s"}])
        self.assertEqual(len(set(alike)), 2)
        self.assertRegex(alike[0], r"^a=1-km-s-[0-9a-f]{8}\.h5$")
        (long,) = names([{f"dataset.key{i}": i for i in range(60)}])
        self.assertLess(len(long), 130)
        self.assertEqual(names([{}]), ["run.h5"])
        self.assertEqual(names([{"a/b": "../x"}]), ["a-b=..-x.h5"])


if __name__ == "__main__":
    unittest.main()
