"""The parts of a fit that need no models: how spectra are read, posteriors sampled, and networks taught."""

import contextlib
import os
import tempfile
import unittest
import warnings
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # beside other tests its threads would wait for each other

import numpy as np

import thor
from thor.fitting import network, observation, sampling


class Sampling(unittest.TestCase):
    def test_two_modes_are_weighed(self):
        """Two Gaussians, one with three quarters of the evidence; a start in the other one would miss it."""
        centres, sigma = np.array([[0.2, 0.25, 0.3], [0.8, 0.7, 0.75]]), 0.02

        def likelihood(parts):
            each = [-0.5 * np.sum(((parts - c) / sigma) ** 2, axis=1) + np.log(w) for c, w in zip(centres, (0.75, 0.25))]
            return np.logaddexp(*each)

        def prior(parts):
            return np.where(np.all((parts > 0) & (parts < 1), axis=1), 0.0, -np.inf)

        population = sampling.cool(likelihood, prior, 3, count=2000, seed=3)
        share = np.mean(population.parts[:, 0] < 0.5)
        self.assertLess(abs(share - 0.75), 0.08)
        self.assertLess(abs(population.evidence - 1.5 * np.log(2 * np.pi * sigma**2)), 0.3)
        self.assertLess(abs(population.parts[population.parts[:, 0] < 0.5].std() / np.hypot(sigma, np.std(centres[0])) - 1), 0.1)
        found = sampling.modes(likelihood, population.parts, population.logs, np.arange(2000) % 2.0)
        self.assertEqual(len(found), 2)
        np.testing.assert_allclose(found[0].best, centres[0], atol=0.03)
        twice = sampling.cool_twice(likelihood, prior, 3, count=2000, seed=3)
        one, two = (twice.parts[k::2] for k in (0, 1))
        self.assertEqual(len(one), len(two))
        self.assertFalse(np.isin(one[:, 0], two[:, 0]).any())  # independent of each other
        lopsided = np.concatenate([np.where(np.arange(1000)[:, None] % 10 < 9, centres[0], centres[1]), np.where(np.arange(1000)[:, None] % 10 < 3, centres[0], centres[1])])
        lopsided += 1e-3 * np.random.default_rng(2).standard_normal(lopsided.shape)
        unsure = sampling.modes(likelihood, lopsided, likelihood(lopsided), np.repeat([0.0, 1.0], 1000))
        self.assertAlmostEqual(unsure[0].share_error, 0.3, delta=0.03)

    def test_chains_that_disagree_are_seen(self):
        rng = np.random.default_rng(1)
        good = rng.standard_normal((200, 40, 2))
        self.assertLess(np.max(sampling.split_r_hat(good)), 1.02)
        bad = good + np.linspace(0, 3, 200)[:, None, None]  # still on its way
        self.assertGreater(np.max(sampling.split_r_hat(bad)), 1.1)


class Network(unittest.TestCase):
    def test_slopes_are_those_of_differences(self):
        rng = np.random.default_rng(2)
        sizes = (3, 7, 5, 4)
        values = [rng.standard_normal((a, b)).astype(np.float32) for a, b in zip(sizes[:-1], sizes[1:])] + [rng.standard_normal(b).astype(np.float32) for b in sizes[1:]]
        x, y = rng.standard_normal((11, 3)).astype(np.float32), rng.standard_normal((11, 4)).astype(np.float32)

        def loss():
            return float(np.mean((network.Network(values[:3], values[3:])(x).astype(float) - y) ** 2))

        slopes = network._slopes(values, 3, x, y)
        for value, slope in zip(values, slopes):
            at = tuple(rng.integers(0, n) for n in value.shape)
            before, step = value[at], np.float32(1e-2)
            value[at] = before + step
            above = loss()
            value[at] = before - step
            below = loss()
            value[at] = before
            self.assertAlmostEqual((above - below) / (2 * step), slope[at], delta=2e-2 * max(abs(slope[at]), 0.1))

    def test_noise_is_averaged(self):
        rng = np.random.default_rng(3)
        x = rng.random((4000, 1))
        y = np.sin(6 * x) + 0.3 * rng.standard_normal((4000, 1))
        net = network.train(2 * x - 1, y, hidden=(32, 32), steps=1500, seed=1)
        error = net(2 * x - 1) - np.sin(6 * x)
        self.assertLess(np.sqrt(np.mean(error**2)), 0.05)


class Spectra(unittest.TestCase):
    """Files of spectra: what is read, and what is refused."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="thor-spectra-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.wave = np.linspace(4960.0, 5010.0, 60)
        self.flux = 1 + np.exp(-0.5 * ((self.wave - 4985) / 3) ** 2)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def columns(self, wave=None, flux=None, error=None):
        wave, flux = self.wave if wave is None else wave, self.flux if flux is None else flux
        error = np.full(len(wave), 0.1) if error is None else error
        return self.write("s.txt", "# wave flux error\n" + "\n".join(f"{a!r} {b!r} {c!r}" for a, b, c in zip(wave.tolist(), flux.tolist(), error.tolist())))

    def test_text_ecsv_and_fits_are_the_same(self):
        text = observation.read(self.columns())
        rows = "\n".join(f"{a!r} {b!r} {1 / 0.1**2!r}" for a, b in zip((self.wave / 10).tolist(), self.flux.tolist()))
        head = "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: wave, unit: nm, datatype: float64}\n# - {name: flux, unit: erg / (Angstrom s cm2), datatype: float64}\n# - {name: ivar, datatype: float64}\n"
        ecsv = observation.read(self.write("s.ecsv", head + "wave flux ivar\n" + rows))
        found = [ecsv]
        with contextlib.suppress(ImportError):
            from astropy.io import fits

            table = fits.BinTableHDU.from_columns([fits.Column(n, "D", array=v, unit=u) for n, v, u in (
                ("WAVELENGTH", self.wave, "Angstrom"), ("FLUX", self.flux, ""), ("ERROR", np.full(60, 0.1), ""))])  # fmt: skip
            table.writeto(self.folder / "t.fits")
            image = fits.PrimaryHDU(self.flux)
            image.header.update({"CRVAL1": self.wave[0], "CDELT1": self.wave[1] - self.wave[0], "CUNIT1": "Angstrom"})
            fits.HDUList([image, fits.ImageHDU(np.full(60, 0.01), name="STAT")]).writeto(self.folder / "i.fits")
            found += [observation.read(self.folder / "t.fits"), observation.read(self.folder / "i.fits")]
        for other in found:
            for one, two in ((text.low, other.low), (text.flux, other.flux), (text.covariance, other.covariance)):
                np.testing.assert_allclose(one, two, rtol=1e-9)
        self.assertIn("erg", ecsv.flux_unit)

    def test_air_order_and_masks(self):
        vacuum = observation.read(self.columns(), air=True)
        self.assertAlmostEqual(vacuum.wavelength[30] - observation.read(self.columns()).wavelength[30], 1.39, delta=0.02)
        falling = observation.read(self.columns(self.wave[::-1], self.flux[::-1]))
        np.testing.assert_allclose(falling.wavelength, observation.read(self.columns()).wavelength)
        flux, error = self.flux.copy(), np.full(60, 0.1)
        flux[3], error[5], error[6] = np.nan, 0.0, np.nan
        seen = observation.read(self.columns(flux=flux, error=error), mask=[(5000, 5005)])
        self.assertEqual(len(seen.flux), 60 - 3 - int(np.sum((self.wave >= 5000) & (self.wave <= 5005))))
        self.assertEqual([note.split(" pixels ")[1] for note in seen.notes], ["are not numbers", "have no error above 0", "are masked"])

    def test_covariance(self):
        matrix = 0.01 * np.eye(60) + 0.002 * (np.eye(60, k=1) + np.eye(60, k=-1))
        np.save(self.folder / "c.npy", matrix)
        seen = observation.read(self.columns(), covariance=self.folder / "c.npy")
        np.testing.assert_array_equal(seen.covariance, matrix)
        np.savetxt(self.folder / "c.txt", -matrix)
        self.refuse("no error above 0|eigenvalues above 0|can be used", self.columns(), covariance=self.folder / "c.txt")
        np.savetxt(self.folder / "c.txt", matrix[:5])
        self.refuse("as long as each other", self.columns(), covariance=self.folder / "c.txt")
        np.savetxt(self.folder / "c.txt", np.full(60, 0.01))
        self.refuse("not a matrix, which a covariance is", self.columns(), covariance=self.folder / "c.txt")

    def test_rows_that_were_left_out_leave_gaps(self):
        whole, kept = observation.read(self.columns()), np.r_[0:20, 30:60]
        seen = observation.read(self.columns(self.wave[kept], self.flux[kept]))
        np.testing.assert_allclose(seen.low, whole.low[kept], rtol=1e-12)
        np.testing.assert_allclose(seen.high, whole.high[kept], rtol=1e-12)
        self.assertEqual((whole.notes, seen.notes), ([], ["1 gap between pixels"]))
        rising = np.cumsum(np.geomspace(0.3, 3.0, 60)) + 4900  # pixels of other widths touch
        seen = observation.read(self.columns(rising))
        np.testing.assert_allclose(seen.low[1:], seen.high[:-1], rtol=1e-12)
        self.assertEqual(observation.read(self.columns(), mask=[(1.0, 2.0)]).notes, ["the mask 1,2 has no pixel in it"])

    def test_columns_are_found_by_name(self):
        rows = list(zip(self.wave.tolist(), self.flux.tolist()))
        expected = observation.read(self.columns())
        for name, text in (
            ("order.txt", "\ufeffflux err wave mask\n" + "\n".join(f"{b!r} 0.1 {a!r} 0" for a, b in rows)),
            ("comment.csv", "# from somewhere\n# ivar, lambda, flux, sky\n" + "\n".join(f"{1 / 0.1**2!r}, {a!r}, {b!r}, 5" for a, b in rows)),
            ("block.ecsv", "# %ECSV 1.0\n# ---\n# datatype:\n# - name: wave\n#   unit: nm\n#   datatype: float64\n# - {name: who, datatype: string}\n"
             "# - {name: flux}\n# - {name: error}\nwave who flux error\n" + "\n".join(f'{a / 10!r} "a b" {b!r} 0.1' for a, b in rows)),
        ):  # fmt: skip
            with self.subTest(name):
                seen = observation.read(self.write(name, text))
                for one, two in ((expected.low, seen.low), (expected.flux, seen.flux), (expected.covariance, seen.covariance)):
                    np.testing.assert_allclose(one, two, rtol=1e-9)
        self.refuse("4 columns; name them", self.write("s.txt", "\n".join(f"{a!r} {b!r} 0.1 7" for a, b in rows)))
        self.refuse("s.txt:2: 4 columns; 3 are needed", self.write("s.txt", "1 2 3\n4 5 6 7\n"))

    def test_fits_files_in_air_or_cut_short(self):
        try:
            from astropy.io import fits
        except ImportError:
            self.skipTest("astropy is not there")
        image = fits.PrimaryHDU(self.flux)
        image.header.update({"CRVAL1": self.wave[0], "CDELT1": self.wave[1] - self.wave[0], "CUNIT1": "Angstrom", "CTYPE1": "AWAV"})
        fits.HDUList([image, fits.ImageHDU(np.full(60, 0.01), name="STAT")]).writeto(self.folder / "i.fits")
        seen = observation.read(self.folder / "i.fits")
        np.testing.assert_allclose(seen.wavelength, observation.read(self.columns(), air=True).wavelength, rtol=1e-9)
        self.assertIn("air (AWAV)", seen.notes[0])
        fits.BinTableHDU.from_columns([
            fits.Column("NAME", "8A", array=["a b"] * 60), fits.Column("WAVE", "D", array=self.wave),
            fits.Column("FLUX", "D", array=self.flux), fits.Column("ERROR", "D", array=np.full(60, 0.1))]).writeto(self.folder / "t.fits")  # fmt: skip
        np.testing.assert_allclose(observation.read(self.folder / "t.fits").flux, self.flux)
        (self.folder / "cut.fits").write_bytes((self.folder / "t.fits").read_bytes()[:3500])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.refuse("cut.fits: ", self.folder / "cut.fits")

    def refuse(self, words, *arguments, **options):
        with self.assertRaisesRegex(thor.ArgumentError, words):
            observation.read(*arguments, **options)

    def test_refusals(self):
        unsorted, twice = self.wave.copy(), self.wave.copy()
        unsorted[[10, 20]] = unsorted[[20, 10]]
        twice[11] = twice[10]
        for words, wave, flux, error in (
            ("must increase: .* in pixel 11", unsorted, None, None), ("must increase.*overlapping", twice, None, None),
            ("0 pixels can be used: 60 pixels have no error", None, None, np.zeros(60)),
            ("60 pixels are not numbers", None, np.full(60, np.nan), None), ("above 0", -self.wave, None, None),
            ("all fluxes are 0", None, np.zeros(60), None), ("must be numbers above 0", np.full(60, np.inf), None, None),
        ):  # fmt: skip
            with self.subTest(words):
                self.refuse(words, self.columns(wave, flux, error))
        self.refuse("too small to calculate with", self.columns(error=np.full(60, 1e-200)))
        self.refuse("7 pixels; at least 8", self.columns(self.wave[:7], self.flux[:7]))
        self.refuse("there is no such file", self.folder / "none.txt")
        self.refuse("s.txt:2: 2 columns; 3 are needed", self.write("s.txt", "\n1 2\n"))
        self.refuse("s.txt:2: not numbers: '3 x y'", self.write("s.txt", "1 2 3\n3 x y\n"))
        self.refuse("it has no numbers", self.write("s.txt", "# nothing\n"))
        self.refuse("unit of wavelength 'furlong'", self.columns(), unit="furlong")
        self.refuse("lower end comes first", self.columns(), mask=[(2.0, 1.0)])
        self.refuse("no column of error among wave, flux", self.write("s.ecsv", "# - {name: wave}\nwave flux\n1 2\n"))
        self.refuse("not a FITS file", self.write("s.fits", "no"))


if __name__ == "__main__":
    unittest.main()
