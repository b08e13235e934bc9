"""The result file of a run: its attributes, photons and spectra.

    /usr/bin/python3 tests/e2e/test_result_file.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import sphere  # noqa: E402
from support import ABSORBED, C, Case, ESCAPED, main, text  # noqa: E402


class ResultFile(Case):
    ROOT_TEXT = ("thor_version", "git_commit", "config", "device", "precision")
    COUNTS = ("photons", "escaped", "absorbed", "stopped", "lost", "in_flight", "scatterings", "steps", "threads")
    REALS = ("luminosity_emitted", "luminosity_escaped", "luminosity_absorbed", "transport_seconds")
    FIELDS = {"id": "u", "weight": "f", "velocity_initial": "f", "velocity_final": "f",
              "velocity_scattered": "f", "position": "f",
              "direction": "f", "scatterings": "i", "column": "f"}

    def setUp(self):
        super().setUp()
        self.config = sphere(
            1e3, 1000, dust={"tau": 0.5},
            outputs=[
                {"type": "spectrum", "name": "wide", "axis": "x", "range": [-60, 60], "bins": 240},
                {"type": "spectrum", "name": "narrow", "axis": "velocity", "range": ["-40 km/s", "30 km/s"], "bins": 77},
                {"type": "spectrum", "name": "gone", "of": "absorbed", "axis": "x", "range": [-60, 60], "bins": 10},
                {"type": "photons"},
            ])

    def test_holds_what_is_documented(self):
        path = self.run_thor(self.config, "--seed", 7, "--threads", 2)
        with h5py.File(path) as file:
            for name in self.ROOT_TEXT:
                self.assertIsInstance(text(file.attrs[name]), str, name)
                self.assertTrue(text(file.attrs[name]), name)
            self.assertEqual(np.asarray(file.attrs["seed"]).dtype.kind, "u")
            self.assertEqual(file.attrs["seed"], 7)
            self.assertEqual(text(file.attrs["precision"]), "single")
            summary = file["summary"].attrs
            for name in self.COUNTS:
                self.assertIn(np.asarray(summary[name]).dtype.kind, "iu", name)
            for name in self.REALS:
                self.assertEqual(np.asarray(summary[name]).dtype, np.float64, name)
            self.assertEqual(np.asarray(summary["complete"]).dtype, bool)
            self.assertTrue(summary["complete"])
            self.assertEqual(summary["threads"], 2)
            self.assertEqual(summary["photons"], 1000)
            self.assertGreater(summary["absorbed"], 0)
            self.assertGreater(summary["escaped"], 0)
            self.assertAlmostEqual(summary["luminosity_emitted"] / 1e42, 1, delta=1e-12)

            datasets = []
            file.visititems(lambda name, item: datasets.append(item) if isinstance(item, h5py.Dataset) else None)
            for data in datasets:
                self.assertIsInstance(text(data.attrs["units"]), str, data.name)
                self.assertTrue(text(data.attrs["description"]), data.name)
            photons = file["photons/original"]
            for name, kind in self.FIELDS.items():
                self.assertEqual(photons[name].dtype.kind, kind, name)
            self.assertEqual({len(data) for data in photons.values()}, {1000})
            self.assertEqual(photons["position"].shape, (1000, 3))
            self.assertEqual(photons["direction"].shape, (1000, 3))
            self.assertEqual(sorted(photons["id"]), list(range(1000)))
            self.assertEqual(np.sum(photons["scatterings"]), summary["scatterings"])
            np.testing.assert_allclose(np.linalg.norm(photons["direction"][()], axis=1), 1, atol=1e-5)
            for name, data in photons.items():
                self.assertTrue(np.all(np.isfinite(data[()])), name)
        self.assert_closed(path)

    def test_spectra_integrate_to_the_luminosity(self):
        path = self.run_thor(self.config)
        p = self.photons(path)
        with h5py.File(path) as file:
            for name, spectrum in file["spectra"].items():
                edges, flux, error = (spectrum[k][()] for k in ("edges", "flux", "error"))
                self.assertEqual(len(edges), len(flux) + 1)
                self.assertEqual(len(error), len(flux))
                of = text(spectrum.attrs["of"])
                kept = p["fate"] == (ESCAPED if of == "escaped" else ABSORBED)
                value = p["velocity_final"][kept]
                if text(spectrum.attrs["axis"]) == "x":
                    value = -np.log1p(value / C) * C / file.attrs["thermal_velocity"]
                counts, _ = np.histogram(value, edges)
                weight = 1e42 / 1000
                total = np.sum(flux * np.diff(edges))
                self.assertAlmostEqual(total / (counts.sum() * weight), 1, delta=1e-9, msg=name)
                self.assertAlmostEqual(
                    (total + spectrum.attrs["luminosity_beyond"]) / file["summary"].attrs["luminosity_" + of], 1,
                    delta=1e-6, msg=name)
                np.testing.assert_allclose(flux * np.diff(edges), counts * weight, rtol=8e-9, err_msg=name)
                np.testing.assert_allclose(error * np.diff(edges), np.sqrt(counts) * weight, rtol=1e-7, err_msg=name)

    def test_resolved_configuration_runs_and_gives_the_same(self):
        first = self.run_thor(self.config, "--seed", 11, "--set", "dataset.tau0=500", "--precision", "double")
        with h5py.File(first) as file:
            resolved = text(file.attrs["config"])
        again = self.run_thor(resolved)
        self.assert_identical(self.photons(first), self.photons(again))
        with h5py.File(again) as file:
            self.assertEqual(text(file.attrs["config"]), resolved)
            self.assertEqual(text(file.attrs["precision"]), "double")
            self.assertEqual(file.attrs["seed"], 11)

    def test_only_the_asked_fields(self):
        self.config["outputs"] = [{"type": "photons", "fields": ["id", "velocity_final"]}]
        path = self.run_thor(self.config)
        with h5py.File(path) as file:
            self.assertTrue({"id", "velocity_final"} <= set(file["photons/original"]))
            self.assertFalse({"position", "direction", "weight", "column"} & set(file["photons/original"]))
            self.assertNotIn("spectra", file)

    def test_sources_share_the_ids_in_turn(self):
        config = sphere(1e-8, 300)
        config["generators"].append({"type": "point", "photons": 100, "luminosity": "2e42 erg/s",
                                     "spectrum": {"type": "delta", "offset": "100 km/s"}})
        path = self.run_thor(config)
        p = self.photons(path)
        first = p["generator"] == 0
        self.assertEqual(np.count_nonzero(first), 300)
        np.testing.assert_allclose(np.cumsum(first), 0.75 * np.arange(1, 401), atol=0.75, err_msg="they are dealt in turn")
        np.testing.assert_allclose(p["weight"], np.where(first, 1e42 / 300, 2e42 / 100), rtol=1e-12)
        np.testing.assert_allclose(p["velocity_initial"], np.where(first, 0, 100), atol=1e-3)
        self.assert_closed(path)


if __name__ == "__main__":
    main()
