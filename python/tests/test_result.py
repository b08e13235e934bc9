"""Reading of result files."""

import os
import unittest
import warnings
from pathlib import Path

import h5py
import numpy as np
from support import CONFIG, LUMINOSITY, WithFiles, put, write_result

import thor


class ReadingTest(WithFiles):
    def test_complete_result(self):
        x = write_result(self.path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = self.open()
        self.assertTrue(result.complete)
        self.assertEqual(result.attributes["line"], "Lya")
        self.assertEqual(result.config, CONFIG)
        self.assertEqual(result.summary["escaped"], 20000)
        self.assertIsInstance(result.summary["escaped"], int)
        self.assertEqual(set(result.spectra), {"emergent", "source"})
        self.assertEqual(result.spectra["source"].of, "emitted")
        self.assertEqual(result.photons["position"].shape, (20000, 3))
        self.assertEqual(result.photons.units("position"), "cm")
        np.testing.assert_allclose(result.photons["x_final"], x, rtol=1e-10)
        self.assertEqual(set(result.photons), {
            "id", "fate", "velocity_initial", "velocity_final", "position", "direction",
        })
        text = repr(result)
        for part in ("Lya", "20,000", "emergent (escaped, x)", "1e+42"):
            self.assertIn(part, text)
        self.assertIn("bins", repr(result.spectra["emergent"]))

    def test_products_that_do_not_exist(self):
        write_result(self.path)
        result = self.open()
        with self.assertRaisesRegex(thor.MissingError, "no spectrum 'zz': available are emergent, source"):
            result.spectra["zz"]
        for products in (result.images, result.cubes, result.profiles, result.histograms):
            with self.assertRaisesRegex(thor.MissingError, "available are none"):
                products["zz"]

    def test_photons_are_lazy_and_stay_after_closing(self):
        write_result(self.path)
        with thor.open(self.path) as result:
            ids = result.photons["id"]
        self.assertIs(result.photons["id"], ids)
        with self.assertRaisesRegex(thor.ResultError, "closed"):
            result.photons["position"]
        with self.assertRaisesRegex(KeyError, "the file has"):
            self.open().photons["colour"]

    def test_result_without_photons(self):
        write_result(self.path)
        with h5py.File(self.path, "a") as file:
            del file["photons"]
        result = self.open()
        self.assertEqual(len(result.photons), 0)
        self.assertNotIn("id", result.photons)
        with self.assertRaisesRegex(KeyError, "kept no photons"):
            result.photons["id"]

    def test_incomplete_result_warns(self):
        write_result(self.path, complete=False)
        with self.assertWarnsRegex(thor.IncompleteRunWarning, "biased") as caught:
            result = thor.open(self.path)
        self.addCleanup(result.close)
        self.assertEqual(caught.filename, __file__)
        self.assertFalse(result.complete)
        self.assertIn("[INCOMPLETE: biased]", repr(result))
        self.assertIn("100 in flight", repr(result))

    def test_stopped_with_none_in_flight(self):
        """Fewer photons, but a fair sample."""
        write_result(self.path, complete=False)
        with h5py.File(self.path, "a") as file:
            put(file["summary"], in_flight=0, photons=20000, photons_requested=50000)
        with self.assertWarnsRegex(thor.IncompleteRunWarning, "20000 of 50000.*not biased"):
            result = self.open()
        self.assertIn("[INCOMPLETE]", repr(result))

    def refused(self, pattern):
        with self.assertRaisesRegex(thor.ResultError, pattern) as caught:
            thor.open(self.path)
        self.assertIn(self.path, str(caught.exception))

    def test_missing_file(self):
        self.refused("no such file")

    def test_truncated_file(self):
        write_result(self.path)
        size = os.path.getsize(self.path)
        os.truncate(self.path, size // 2)
        self.refused("truncated")
        os.truncate(self.path, 0)
        self.refused("not an HDF5 file")

    def test_foreign_files(self):
        Path(self.path).write_text("driver: mcrt\n")
        self.refused("not an HDF5 file")
        with h5py.File(self.path, "w") as file:
            file["PartType0/Coordinates"] = np.zeros((3, 3))
        self.refused("not a result of thor")

    def test_newer_format(self):
        write_result(self.path, format_version=3)
        self.refused("update")

    def test_damaged_contents(self):
        write_result(self.path)
        with h5py.File(self.path, "a") as file:
            del file["spectra/emergent/error"]
        self.refused("damaged")
        write_result(self.path)
        with h5py.File(self.path, "a") as file:
            del file["spectra/emergent/edges"]
            file["spectra/emergent/edges"] = np.zeros(3)
        self.refused("'emergent' is damaged")

    def test_units_of_the_axis(self):
        write_result(self.path)
        with h5py.File(self.path, "a") as file:
            group = file["spectra/emergent"]
            put(group, axis="wavelength")
            group["edges"][...] = np.linspace(1.2e-5, 1.3e-5, 101)
            put(group["edges"], units="cm")
        with thor.open(self.path) as result:
            spectrum = result.spectra["emergent"]
        self.assertAlmostEqual(spectrum.edges[0], 1200.0)
        with h5py.File(self.path, "r") as file:
            density = file["spectra/emergent/flux"][50]
        self.assertAlmostEqual(spectrum.flux[50] / (density / 1e8), 1.0)
        with h5py.File(self.path, "a") as file:
            put(file["spectra/emergent/edges"], units="furlong")
        self.refused("furlong")


class EscapeFractionTest(WithFiles):
    def test_one_source(self):
        write_result(self.path, absorbed=5000)
        fraction, error = self.open().escape_fraction()
        self.assertAlmostEqual(fraction, 0.75, places=12)
        self.assertAlmostEqual(error, np.sqrt(0.75 * 0.25 / 20000), places=12)

    def test_all_escape(self):
        write_result(self.path)
        self.assertEqual(self.open().escape_fraction(), (1.0, 0.0))

    def test_two_sources(self):
        """Without weights the error comes from the spectrum; with weights, from them; otherwise it is unknown."""
        two = CONFIG + "  - type: point\n    photons: 1\n"
        write_result(self.path, absorbed=5000, config=two, unequal=True)
        with thor.open(self.path) as result:
            self.assertIsNone(result.equal_weight())
            light = result.summary["luminosity_escaped"] / LUMINOSITY
            squares = (5000 * 1 + 10000 * 9) / 40000**2
            self.assertAlmostEqual(result.escape_fraction()[1], np.sqrt(squares - light**2 / 20000), places=9)
        with h5py.File(self.path, "a") as file:
            put(file["spectra/emergent"], luminosity_beyond=1e30)
        with thor.open(self.path) as result:
            self.assertTrue(np.isnan(result.escape_fraction()[1]))
        # Two photons in three from a source half as bright per photon: the bound is above the
        # error sqrt(sum(w^2 f (1 - f))) of each source's own share, and close to it.
        weight = np.where(np.arange(20000) % 3 < 2, 0.5, 1.0)
        weight *= LUMINOSITY / np.sum(weight)
        escaped = np.sum(weight[5000:])
        with h5py.File(self.path, "a") as file:
            file["photons/original/weight"] = weight
            put(file["summary"], luminosity_escaped=escaped)
        fraction = escaped / LUMINOSITY
        true = np.sqrt(np.sum(weight**2) * fraction * (1 - fraction)) / LUMINOSITY
        got = self.open().escape_fraction()[1]
        self.assertGreater(got, true)
        self.assertLess(got, 1.2 * true)

    def test_equal_weights_are_those_of_the_file(self):
        """One list of sources may have photons of many weights; two sources may have photons of one."""
        write_result(self.path, absorbed=5000)
        with thor.open(self.path) as result:
            self.assertAlmostEqual(result.equal_weight() / (LUMINOSITY / 20000), 1, places=12)
        write_result(self.path, absorbed=5000, config=CONFIG + "  - type: point\n    photons: 1\n")
        with thor.open(self.path) as result:
            self.assertAlmostEqual(result.equal_weight() / (LUMINOSITY / 20000), 1, places=12)
        write_result(self.path, unequal=True)  # of one source, as the configuration has it
        with thor.open(self.path) as result:
            self.assertIsNone(result.equal_weight())

    def test_the_file_says_whether_weights_are_equal(self):
        write_result(self.path, absorbed=5000)
        for equal, expected in ((True, 0.25 * LUMINOSITY / 20000), (False, None)):
            with h5py.File(self.path, "a") as file:
                put(file["summary"], equal_weights=np.bool_(equal), luminosity_unresolved=0.75 * LUMINOSITY)
            with thor.open(self.path) as result:
                self.assertEqual(result.equal_weight(), expected)

    def test_equal_weights_without_spectra(self):
        for unequal in (False, True):
            write_result(self.path, unequal=unequal)
            with h5py.File(self.path, "a") as file:
                del file["spectra"]
                file["photons/original/weight"] = np.where(unequal & (np.arange(20000) >= 10000), 1.5, 0.5) * 1e38
            with thor.open(self.path) as result:
                self.assertEqual(result.equal_weight() is None, unequal)
        # No weights either: only generators and fates.
        for counts, known in (((100, 100), True), ((150, 50), False)):
            write_result(self.path, config=CONFIG + "  - type: point\n    photons: 1\n")
            with h5py.File(self.path, "a") as file:
                del file["spectra"]
                put(file["summary"], photons=200, escaped=200)
                for i, count in enumerate(counts):
                    put(file.create_group(f"generators/{i}"), photons=count, luminosity_emitted=LUMINOSITY / 2)
            with thor.open(self.path) as result:
                self.assertEqual(result.equal_weight() is not None, known)
        write_result(self.path, config=CONFIG.replace("photons: 20000", "photons_per_1e42: 5000"))
        with h5py.File(self.path, "a") as file:
            del file["spectra"]
        with thor.open(self.path) as result:
            self.assertIsNone(result.equal_weight())

    def test_the_error_is_that_of_repeated_runs(self):
        rng = np.random.default_rng(4)
        shares = []
        for absorbed in rng.binomial(1000, 0.25, size=40):
            write_result(self.path, photons=1000, absorbed=int(absorbed))
            with thor.open(self.path) as result:
                fraction, error = result.escape_fraction()
            shares.append((fraction - 0.75) / error)
        self.assertAlmostEqual(np.std(shares), 1.0, delta=0.35)  # 3 sigma of 40

    def test_choosing_a_spectrum(self):
        write_result(self.path)
        result = self.open()
        self.assertEqual(result.spectrum().name, "emergent")
        self.assertEqual(result.spectrum("source").of, "emitted")
        with self.assertRaisesRegex(KeyError, "emergent, source"):
            result.spectrum("emergant")
        self.assertEqual(result.mean_scatterings(), 2.1e7 / 20000)


if __name__ == "__main__":
    unittest.main()
