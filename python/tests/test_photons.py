"""Recorded photons: selection, and spectra."""

import unittest
from pathlib import Path

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

    def changed(self, change):
        """Another result, changed before it is opened."""
        path = Path(self.path).with_name(f"{len(list(Path(self.path).parent.iterdir()))}.h5")
        write_result(path, absorbed=3000)
        with h5py.File(path, "a") as file:
            del file["photons"]
            change(file)
        return path

    def test_photons_in_files_of_ranks(self):
        nothing = thor.open(self.changed(lambda file: None)).photons
        self.assertEqual((nothing.count, repr(nothing)), (0, "<Photons: 0, nothing recorded>"))
        result = thor.open(self.changed(lambda file: put(file.create_group("parts"), count=3, run="0123456789abcdef")))
        self.assertEqual((repr(result.photons), repr(result.peel)), ("<Photons: in 3 files of ranks>", "<Peel: in 3 files of ranks>"))
        self.assertIn("20,000", str(result))
        for read in (lambda: result.photons["id"], lambda: len(result.photons), lambda: bool(result.peel),
                     lambda: result.photons.escaped, lambda: result.photons.spectrum("velocity"), lambda: result.peel["id"]):
            with self.assertRaisesRegex(thor.MissingError, "in 3 files of ranks: join them by `thor merge .*h5`"):
                read()
        part = self.changed(lambda file: put(file.create_group("part"), rank=1, ranks=3))
        with self.assertRaisesRegex(thor.ResultError, "rank 1 of 3: join them by `thor merge`"):
            thor.open(part)

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
        self.assertEqual(self.photons.towards([1e-300, 0, 0], within=90).count, self.photons.towards([1, 0, 0], 90).count)
        for wrong in ([0, 0, 0], [1, 0], 3, [np.nan, 0, 1], [np.inf, 0, 0]):
            with self.assertRaisesRegex(thor.ArgumentError, "three numbers"):
                self.photons.towards(wrong, within=10)
        for wrong in (0, -30, 181, np.nan, np.inf, [10, 20]):
            with self.assertRaisesRegex(thor.ArgumentError, "up to 180 degrees"):
                self.photons.towards([0, 0, 1], within=wrong)

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

    def test_several_sources_need_weights(self):
        self.path += ".other"
        write_result(self.path, config=CONFIG + "  - type: point\n", unequal=True)
        with self.assertRaisesRegex(thor.MissingError, "several sources"):
            self.open().photons.spectrum()

    def test_length_is_the_number_of_photons(self):
        self.assertEqual(len(self.photons), 20000)
        self.assertEqual(len(self.photons.escaped), 17000)
        self.assertFalse(self.photons.select(np.zeros(20000, dtype=bool)))
        names = {"id", "fate", "velocity_initial", "velocity_final", "position", "direction"}
        self.assertEqual(set(self.photons.keys()), names)
        self.assertEqual(set(dict(self.photons)), names)
        self.assertEqual([name in self.photons for name in ("fate", "x_final", 3)], [True, False, False])

    def test_fates_are_those_of_the_file(self):
        self.assertEqual(self.photons.fates, {"escaped": 2, "absorbed": 3, "lost": 4, "stopped": 5})
        self.assertEqual(self.photons.of("absorbed").count, 3000)
        self.assertEqual(self.photons.of("in_flight").count, 0)
        with self.assertRaisesRegex(thor.ArgumentError, "escaped, absorbed"):
            self.photons.of("eaten")
        self.path += ".other"
        write_result(self.path, absorbed=3000)
        with h5py.File(self.path, "r+") as file:
            file["photons/original/fate"].attrs["names"] = np.bytes_(b"escaped=3 absorbed=2 eaten=7 in_flight=0,1")
        photons = self.open().photons
        self.assertEqual((photons.escaped.count, photons.of("eaten").count), (3000, 0))

    def test_new_properties(self):
        self.path += ".other"
        write_result(self.path)
        with h5py.File(self.path, "r+") as file:
            group = file["photons/original"]
            group["position_initial"] = np.ones((20000, 3))
            group["generator"] = np.arange(20000) % 2
            group["source"] = np.arange(20000, dtype=np.uint64)
        photons = self.open().photons
        second = photons.select(photons["generator"] == 1)
        self.assertEqual(second["position_initial"].shape, (10000, 3))
        self.assertEqual(second.array("source")["source"][0], 1)

    def test_light_absorbed_at_birth(self):
        """Light that leaves its source is reduced by escape_fraction; emitted light is not."""
        self.path += ".other"
        write_result(self.path)
        with h5py.File(self.path, "r+") as file:
            for name in ("flux", "error"):
                file[f"spectra/emergent/{name}"][...] *= 0.25
            put(file["summary"], luminosity_unresolved=0.75 * LUMINOSITY, luminosity_escaped=0.25 * LUMINOSITY)
        result = self.open()
        self.assertAlmostEqual(result.equal_weight() / (0.25 * LUMINOSITY / 20000), 1, places=9)
        self.assertAlmostEqual(result.photons.spectrum().luminosity()[0] / LUMINOSITY, 0.25, places=9)
        emitted = result.photons.spectrum(of="emitted", bins=3, range=(-1, 1))
        self.assertAlmostEqual(emitted.luminosity()[0] / LUMINOSITY, 1.0, places=9)
        self.assertIn("unresolved", repr(result))

    def test_emitted_light_has_what_was_absorbed_at_birth(self):
        self.path += ".other"
        write_result(self.path)
        weight = np.where(np.arange(20000) < 5000, 0.3, 1.0)
        with h5py.File(self.path, "r+") as file:
            file["photons/original/weight"] = weight
            for name, fraction in (("0", 0.3), ("1", 1.0)):
                put(file.create_group(f"generators/{name}"), escape_fraction=fraction)
        with thor.open(self.path) as result, self.assertRaisesRegex(thor.MissingError, "generator"):
            result.photons.spectrum(of="emitted", bins=1)
        with h5py.File(self.path, "r+") as file:
            file["photons/original/generator"] = (np.arange(20000) >= 5000).astype(int)
        photons = self.open().photons
        self.assertAlmostEqual(photons.spectrum(of="emitted", bins=1).luminosity()[0], 20000.0, places=6)
        self.assertAlmostEqual(photons.spectrum(bins=10).luminosity()[0], 16500.0, places=6)
        self.path += "5"
        write_result(self.path)
        with h5py.File(self.path, "r+") as file:
            for name, fraction in (("0", 0.3), ("1", 1.0)):
                put(file.create_group(f"generators/{name}"), escape_fraction=fraction)
            file["photons/original/weight"] = weight
            file["photons/original/generator"] = np.full(20000, 2)
        with self.assertRaises(thor.ResultError):
            self.open().photons.initial_weights()

    def test_light_beyond_the_range_is_told(self):
        self.assertEqual(self.photons.spectrum("x").caveats, ())
        narrow = self.photons.spectrum("x", bins=10, range=(0, 50))
        self.assertRegex(narrow.caveats[0], r"^(49|50|51) % of the light beyond the range$")


class PeelTest(WithFiles):
    """Four photons with known rows of light, of which some have several."""

    def write(self, rows=True):
        write_result(self.path, photons=4)
        with h5py.File(self.path, "a") as file:
            if not rows:
                return
            group = file.create_group("photons/peel")
            put(group, observer="face", direction="0 0 1", right="1 0 0", up="0 1 0", centre="0 0 0", estimator="peel")
            group["id"] = np.array([0, 2, 0, 1, 2, 0], dtype=np.uint64)
            group["light"] = np.array([1.0, 4.0, 2.0, 8.0, 16.0, 32.0])
            group["velocity"] = np.array([-5.0, 5.0, -4.0, -3.0, 6.0, 20.0])
            group["position"] = np.zeros((6, 3))
            put(group["light"], units="erg s-1")

    def test_it_is_shown(self):
        self.write()
        result = self.open()
        self.assertIn("peel        6 rows of light for observer face: id, light, position, velocity", str(result))
        self.assertEqual(repr(result.peel), "<Peel: 6 rows of light for observer 'face': id, light, position, velocity>")
        self.assertEqual((len(result.peel), result.peel.units("light"), result.peel.observer), (6, "erg s-1", "face"))

    def test_spectrum(self):
        """What a photon adds to a bin is summed before it is squared: sqrt(sum y^2); of all bins sqrt(sum y^2 - (sum y)^2 / 4)."""
        self.write()
        peel = self.open().peel
        spectrum = peel.spectrum("velocity", [-10, 0, 10])
        np.testing.assert_allclose(spectrum.flux * 10, [3 + 8, 20])
        np.testing.assert_allclose(spectrum.error * 10, np.sqrt([3**2 + 8**2, 20**2]))
        self.assertAlmostEqual(spectrum.luminosity()[0], 31)
        self.assertAlmostEqual(spectrum.luminosity()[1], np.sqrt(3**2 + 8**2 + 20**2 - 31**2 / 4))
        self.assertEqual((spectrum.observer, spectrum.of), ("face", "escaped"))
        self.assertTrue(any("beyond" in caveat for caveat in spectrum.caveats), spectrum.caveats)
        np.testing.assert_allclose(peel.spectrum(bins=[-10, 0, 10], mask=peel["light"] > 2).flux * 10, [8, 20])
        np.testing.assert_allclose(peel.spectrum("x", [-10, 10]).luminosity()[0], 63)
        self.assertEqual(peel.select(peel["light"] > 99).spectrum(range=(-1, 1)).luminosity(), (0, 0))
        about = peel.spectrum("wavelength", wavelength0=1200.0)
        self.assertEqual((about.line.wavelength0, about.luminosity()[0]), (1200.0, 63))

    def test_errors_say_what_to_do(self):
        self.write(rows=False)
        result = self.open()
        self.assertNotIn("peel ", str(result))
        self.assertEqual((len(result.peel), repr(result.peel)), (0, "<Peel: nothing recorded>"))
        with self.assertRaisesRegex(thor.MissingError, "kept no rows of light.*{type: photons, of: peel, observer: NAME}"):
            result.peel.spectrum()
        result.close()
        self.write()
        peel = self.open().peel
        for wrong in ("fate", 3, None):
            with self.assertRaisesRegex(thor.MissingError, "id, light, position, velocity"):
                peel[wrong]
        for options in ({"axis": "colour"}, {"bins": 0}, {"range": (2, 1)}, {"mask": "all"}, {"mask": [[True], [True, False]]}):
            with self.assertRaises(thor.ArgumentError):
                peel.spectrum(**options)


if __name__ == "__main__":
    unittest.main()
