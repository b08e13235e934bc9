"""Outputs with ``errors: none``, and bins that share photons: an error is never smaller than what is known of it."""

import dataclasses
import unittest
import warnings

import h5py
import numpy as np
from support import LUMINOSITY, WAVELENGTH0, WithFiles, put, write_result

import thor

SKY = {"observer": "face", "direction": np.array([0.0, 0.0, 1.0]), "centre": np.zeros(3)}


def add_outputs(path, error_method="none"):
    """A file of format 2 with one output of each type, all with or all without errors."""
    edges, rng = np.linspace(-2.0, 2.0, 5), np.random.default_rng(3)
    with h5py.File(path, "a") as file:
        put(file, format_version=2)
        for place, array, shape, more in (
            ("spectra/seen", "flux", (4,), {"edges": "km s-1"}),
            ("histograms/map", "luminosity", (4, 4), {"edges_impact": "cm", "edges_velocity": "km s-1"}),
            ("images/sb", "surface_brightness", (4, 4), {"edges_right": "kpc", "edges_up": "kpc"}),
            ("cubes/ifu", "intensity", (4, 4, 4), {"edges_right": "kpc", "edges_up": "kpc", "edges": "km s-1"}),
            ("profiles/rings", "surface_brightness", (4,), {"edges": "kpc"}),
        ):
            group = file.create_group(place)
            put(group, of="escaped", luminosity_beyond=0.0, error_method=error_method, wavelength0=WAVELENGTH0, axis="velocity", **SKY)
            if place.startswith("histograms"):
                put(group, axes="impact velocity")
            group[array] = 1e40 * rng.uniform(0.5, 1.5, shape)
            if error_method != "none":
                group["error"], group["vov"] = 0.1 * group[array][()], np.full(shape, 0.01, "f4")
                put(group, trusted=1.0, luminosity_error=1e39)
            put(group[array], units="erg s-1 kpc-2")
            for name, units in more.items():
                group[name] = edges - edges[0] if place.startswith("profiles") else edges
                put(group[name], units=units)
        for name in ("emergent", "source"):
            put(file[f"spectra/{name}"], error_method=error_method)
            if error_method == "none":
                del file[f"spectra/{name}/error"]


class WithoutErrors(WithFiles):
    def setUp(self):
        super().setUp()
        write_result(self.path, photons=4000)
        add_outputs(self.path)
        strict = warnings.catch_warnings()
        strict.__enter__()
        self.addCleanup(strict.__exit__, None, None, None)
        warnings.simplefilter("error")
        before = np.seterr(all="raise")
        self.addCleanup(lambda: np.seterr(**before))
        self.result = self.open()

    def unknown(self, *values):
        for value in values:
            self.assertTrue(np.all(np.isnan(value)), value)

    def test_errors_are_nan(self):
        result = self.result
        kinds = (result.spectra, result.histograms, result.images, result.cubes, result.profiles)
        outputs = [output for kind in kinds for output in kind.values()]
        self.assertEqual(len(outputs), 7)
        for output in outputs:
            light = next(getattr(output, n) for n in ("flux", "brightness", "intensity", "luminosity") if hasattr(output, n))
            self.assertEqual(output.error.shape, light.shape)
            self.unknown(output.error, output.trusted)
            self.assertEqual((output.vov, output.caveats), (None, ()), output)
            self.assertNotIn("nan", repr(output))
        for output in (result.images["sb"], result.cubes["ifu"], result.profiles["rings"]):
            self.assertEqual(output.error_method, "none")
            self.unknown(output.luminosity_error, result.escape_fraction(output.name)[1])
        self.assertEqual(result.caveats, ())

    def test_what_is_made_of_them_has_none(self):
        result = self.result
        for spectrum in (result.spectra["emergent"], result.spectra["seen"]):
            for made in (spectrum.to("wavelength"), spectrum.about(1216.0), spectrum.rebin(3), spectrum.normalised(), spectrum.scaled(2.0)):
                self.unknown(made.error, made.luminosity()[1], made.mean()[1])
                self.assertTrue(np.all(np.isfinite(made.flux)))
        histogram = result.histograms["map"]
        self.unknown(histogram.along("impact").error, histogram.along("impact", "velocity").error)
        image, cube = result.images["sb"], result.cubes["ifu"]
        pdf, (brightness, error) = image.brightness_pdf([1e39, 1e40, 1e41]), image.profile([0.0, 1.0, 2.0])
        self.unknown(image.aperture(1.0)[1], image.area(1e40)[1], image.depth(4.0)[1], pdf.error, error)
        self.unknown(cube.image().error, cube.image(-1.0, 1.0).luminosity_error, cube.blue_fraction().error)
        for known in (image.area(1e40)[0], image.depth(4.0)[0], pdf.area, brightness, cube.image().brightness, *cube.moments()):
            self.assertTrue(np.all(np.isfinite(known)))
        # No error tells which pixels are noisy: those with light count.
        doublet = cube.doublet_ratio(WAVELENGTH0 * (1 - 1 / 299792.458), WAVELENGTH0 * (1 + 1 / 299792.458), 0.9)
        for ratio in (cube.blue_fraction(), cube.blue_fraction(least=0.0), doublet):
            self.assertTrue(np.all(ratio.mask))
            self.unknown(ratio.error)

    def test_figures_have_no_bands_and_no_bars(self):
        from matplotlib import pyplot as plt

        self.addCleanup(plt.close, "all")
        result = self.result
        ax = thor.plot_spectrum(result, name="emergent", label="one")
        thor.plot_spectrum(result, ax, name="seen", axis="x", label="two")
        self.assertEqual([patch.get_fill() for patch in ax.patches], [False, False])
        self.assertEqual(len({patch.get_edgecolor() for patch in ax.patches}), 2, "each has its colour")
        ax = result.histograms["map"].along("velocity").plot()
        self.assertEqual([patch.get_fill() for patch in ax.patches], [False])
        ax = result.profiles["rings"].plot()
        self.assertEqual((len(ax.patches), len(ax.containers), len(ax.collections)), (1, 0, 0))
        for moment in (None, "mean", "dispersion", "blue_fraction"):
            drawn = result.cubes["ifu"].plot(moment=moment).images[0].get_array()
            self.assertEqual(np.ma.count_masked(drawn), 0, moment)
        result.images["sb"].plot().figure.canvas.draw()

    def test_with_errors_they_are_drawn_and_known(self):
        """The same file with errors: the twin of all tests here."""
        from matplotlib import pyplot as plt

        self.addCleanup(plt.close, "all")
        self.result.close()
        write_result(self.path, photons=4000)
        add_outputs(self.path, "histories")
        result = self.open()
        histogram = result.histograms["map"]
        self.assertEqual((histogram.vov.shape, histogram.trusted), ((4, 4), 1.0))
        summed = histogram.along("impact")
        np.testing.assert_allclose(summed.error**2, np.sum(histogram.error**2, axis=1))
        self.assertIsNone(summed.vov)
        self.unknown(summed.trusted)
        self.assertEqual(histogram.along("velocity", "impact").trusted, 1.0)
        self.assertEqual(result.spectra["seen"].luminosity()[1], 1e39)
        self.assertGreater(result.images["sb"].area(1e40)[1], 0.0)
        ax = thor.plot_spectrum(result, name="emergent", label="one")
        thor.plot_spectrum(result, ax, name="source", label="two")
        self.assertEqual(len(ax.patches), 4)
        self.assertEqual(len({patch.get_edgecolor() for patch in ax.patches if not patch.get_fill()}), 2)
        ax = result.profiles["rings"].plot()
        self.assertEqual(len(ax.containers), 1)

    def test_a_file_that_lost_its_errors_is_damaged(self):
        for place, method in (("spectra/seen", "histories"), ("histograms/map", "histories"), ("images/sb", "histories"), ("cubes/ifu", "groups"), ("profiles/rings", "groups")):
            self.result.close()
            write_result(self.path, photons=400)
            add_outputs(self.path)
            with h5py.File(self.path, "a") as file:
                put(file[place], error_method=method)
            with self.subTest(place), self.assertRaisesRegex(thor.ResultError, f"damaged.*{place}/error"):
                thor.open(self.path)

    def test_weights_are_found_elsewhere(self):
        """Squared weights come from the first spectrum with errors."""
        for without, known in ((("emergent",), False), ((), True)):
            self.result.close()
            write_result(self.path, photons=4000, absorbed=1000, unequal=True)
            with h5py.File(self.path, "a") as file:
                put(file.create_group("spectra/a_first"), of="escaped", axis="x", luminosity_beyond=0.0, error_method="none")
                for name in ("edges", "flux"):
                    file[f"spectra/a_first/{name}"] = file[f"spectra/emergent/{name}"][()]
                for name in without:
                    put(file[f"spectra/{name}"], error_method="none")
                    del file[f"spectra/{name}/error"]
            self.result = self.open()
            self.assertEqual(list(self.result.spectra)[0], "a_first")
            self.assertEqual(np.isfinite(self.result.escape_fraction()[1]), known)


class ShareTest(WithFiles):
    """Spectra that observers see, with errors by histories: their bins share photons, as the observer tells."""

    def seen(self, shares, **changes):
        """The spectrum of photons that add these luminosities [photon, bin], as the file has it."""
        write_result(self.path)
        light, photons = np.sum(shares, axis=0), len(shares)
        total, total_square = np.sum(shares), np.sum(np.sum(shares, axis=1) ** 2)
        known = {"observer": "face", "total_error": np.sqrt(max(total_square - total**2 / photons, 0.0)), **changes}
        bins = {"edges": np.arange(light.size + 1.0), "flux": light, "error": np.sqrt(np.sum(shares**2, axis=0))}
        return dataclasses.replace(self.open().spectra["emergent"], axis="velocity", vov=np.zeros(light.size), **bins, **known)

    def test_the_error_of_the_sum_is_that_of_photons(self):
        """Each photon adds to all bins, some much more than others: the sum is worse known than independent bins say."""
        rng = np.random.default_rng(1)
        shares = rng.lognormal(0.0, 1.0, (1000, 1)) * np.array([1.0, 2.0, 1.0])
        spectrum = self.seen(shares)
        truth = np.sqrt(1000 * np.var(np.sum(shares, axis=1)))
        of_all = dataclasses.replace(spectrum, observer=None)
        for made in (spectrum, of_all, spectrum.rebin(2), spectrum.to("wavelength"), spectrum.scaled(1.0)):
            self.assertAlmostEqual(made.luminosity()[1] / truth, 1.0, places=9)
        alone = dataclasses.replace(spectrum, total_error=np.nan)
        self.assertAlmostEqual(alone.luminosity()[1] / np.sqrt(np.sum(shares**2)), 1.0, places=9)
        self.assertLess(alone.luminosity()[1], 0.95 * truth)

    def test_a_share_is_not_better_known_than_its_photons(self):
        """All photons are seen as bright, each in one of two bins: the sum has no error, its halves have that of a coin."""
        shares = np.eye(2)[np.random.default_rng(2).integers(0, 2, 1000)]
        spectrum = self.seen(shares)
        self.assertLess(spectrum.luminosity()[1], 1e-6)
        share = np.mean(shares[:, 0])
        truth = np.sqrt(share * (1 - share) / 1000)
        np.testing.assert_allclose(spectrum.normalised().error, truth, rtol=1e-9)

    def test_weights_follow_from_no_observer(self):
        """The light that an observer sees of a photon is not its weight; a spectrum of all directions tells."""
        write_result(self.path)
        with h5py.File(self.path, "a") as file:
            file.copy("spectra/emergent", file["spectra"], "seen")
            file["spectra/seen/error"][:] *= 1.5
            put(file["spectra/seen"], observer="face", error_method="histories")
        self.assertAlmostEqual(self.open().equal_weight() / (LUMINOSITY / 20000), 1.0, places=9)


if __name__ == "__main__":
    unittest.main()
