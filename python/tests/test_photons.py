"""Recorded photons: choosing them, and spectra of them."""

import unittest

import h5py
import numpy as np
from support import CONFIG, LUMINOSITY, WithFiles, put, write_result

import thor


class PhotonsTest(WithFiles):
    def setUp(self):
        super().setUp()
        write_result(self.path, absorbed=3000)
        self.photons = self.open().photons

    def test_escaped(self):
        escaped = self.photons.escaped
        self.assertEqual((self.photons.count, escaped.count), (20000, 17000))
        np.testing.assert_array_equal(escaped["id"], np.arange(3000, 20000))
        self.assertEqual(escaped["position"].shape, (17000, 3))
        self.assertEqual(set(escaped), set(self.photons))
        np.testing.assert_array_equal(escaped["x_final"], self.photons["x_final"][3000:])
        self.assertIn("17,000", repr(escaped))
        self.assertEqual(escaped.units("position"), "cm")

    def test_structured_array(self):
        array = self.photons.escaped.array("id", "x_final", "position")
        self.assertEqual(array.dtype.names, ("id", "x_final", "position"))
        self.assertEqual((array.shape, array["position"].shape), ((17000,), (17000, 3)))
        self.assertEqual(array["id"].dtype, np.uint64)
        self.assertEqual(array[5]["id"], 3005)
        self.assertEqual(set(self.photons.array().dtype.names), set(self.photons))

    def test_choices_can_be_chained(self):
        mask = self.photons.escaped["x_final"] > 0
        blue = self.photons.escaped.select(mask)
        self.assertTrue(np.all(blue["x_final"] > 0) and np.all(blue["fate"] == 2))
        self.assertEqual(blue.count, np.count_nonzero(mask))
        for wrong in (np.zeros(3, dtype=bool), np.zeros(20000, dtype=int)):
            with self.assertRaisesRegex(ValueError, "20000 photons"):
                self.photons.select(wrong)

    def test_towards(self):
        cone = self.photons.towards([0, 0, 2], within=60)
        self.assertTrue(np.all(cone["direction"][:, 2] >= 0.5))
        self.assertAlmostEqual(cone.count / 20000, 0.25, delta=0.02)
        self.assertEqual(self.photons.towards([1, 1, 1], within=180).count, 20000)
        for wrong in ([0, 0, 0], [1, 0], 3):
            with self.assertRaisesRegex(ValueError, "three numbers"):
                self.photons.towards(wrong, within=10)

    def test_spectrum_is_that_of_the_file(self):
        with thor.open(self.path) as result:
            expected = result.spectra["emergent"]
        got = self.photons.spectrum("x", bins=expected.edges)
        np.testing.assert_allclose(got.flux, expected.flux, rtol=1e-9)
        np.testing.assert_allclose(got.error, expected.error, rtol=1e-9)
        self.assertEqual((got.axis, got.of), ("x", "escaped"))
        for axis in ("velocity", "wavelength", "frequency"):
            luminosity = self.photons.spectrum(axis, bins=50).luminosity()[0]
            self.assertAlmostEqual(luminosity / LUMINOSITY, 0.85, places=9)

    def test_spectra_of_other_photons(self):
        absorbed = self.photons.spectrum(of="absorbed").luminosity()[0]
        self.assertAlmostEqual(absorbed / LUMINOSITY, 0.15, places=9)
        emitted = self.photons.spectrum(of="emitted", bins=3, range=(-1, 1))
        np.testing.assert_allclose(emitted.flux * emitted.widths, [0, LUMINOSITY, 0])
        with self.assertRaisesRegex(ValueError, "not 'lost'"):
            self.photons.spectrum(of="lost")

    def test_mask_and_halves_add_up(self):
        up = self.photons["direction"][:, 2] > 0
        edges = np.linspace(-50, 50, 21)
        halves = [self.photons.spectrum("x", edges, mask=m) for m in (up, ~up)]
        whole = self.photons.spectrum("x", edges)
        np.testing.assert_allclose(halves[0].flux + halves[1].flux, whole.flux, rtol=1e-9)
        np.testing.assert_allclose(np.hypot(halves[0].error, halves[1].error), whole.error)

    def test_weights(self):
        np.testing.assert_allclose(self.photons.weights(), LUMINOSITY / 20000)
        self.path += ".other"
        write_result(self.path, absorbed=3000)
        with h5py.File(self.path, "r+") as file:
            file["photons/original/weight"] = np.arange(20000.0)
        with thor.open(self.path) as result:
            luminosity, error = result.photons.spectrum().luminosity()
        self.assertAlmostEqual(luminosity / np.sum(np.arange(3000.0, 20000)), 1.0, places=9)
        self.assertAlmostEqual(error / np.linalg.norm(np.arange(3000.0, 20000)), 1.0, places=9)

    def test_fates_are_those_of_the_file(self):
        self.assertEqual(self.photons.fates["escaped"], 2)
        self.path += ".other"
        write_result(self.path, absorbed=3000)
        with h5py.File(self.path, "r+") as file:
            fate = file["photons/original/fate"]
            fate[...] = fate[()] + 5
            put(fate, names="escaped=7 absorbed=8 lost=9 stopped=10 in_flight=0,1")
        photons = self.open().photons
        self.assertEqual(photons.fates, {"escaped": 7, "absorbed": 8, "lost": 9, "stopped": 10})
        self.assertEqual(photons.escaped.count, 17000)
        self.assertAlmostEqual(photons.spectrum(of="absorbed").luminosity()[0] / LUMINOSITY, 0.15, places=9)

    def test_emitted_light_has_what_was_absorbed_at_birth(self):
        self.path += ".other"
        write_result(self.path)
        weight = np.where(np.arange(20000) < 5000, 0.3, 1.0)
        with h5py.File(self.path, "r+") as file:
            file["photons/original/weight"] = weight
            for name, fraction in (("0", 0.3), ("1", 1.0)):
                put(file.create_group(f"generators/{name}"), escape_fraction=fraction)
        with thor.open(self.path) as result, self.assertRaisesRegex(KeyError, "generator"):
            result.photons.spectrum(of="emitted", bins=1)
        with h5py.File(self.path, "r+") as file:
            file["photons/original/generator"] = (np.arange(20000) >= 5000).astype(int)
        photons = self.open().photons
        self.assertAlmostEqual(photons.spectrum(of="emitted", bins=1).luminosity()[0], 20000.0, places=6)
        self.assertAlmostEqual(photons.spectrum(bins=10).luminosity()[0], 16500.0, places=6)

    def test_several_sources_need_weights(self):
        self.path += ".other"
        write_result(self.path, config=CONFIG + "  - type: point\n")
        with self.assertRaisesRegex(KeyError, "several sources"):
            self.open().photons.spectrum()


if __name__ == "__main__":
    unittest.main()
