"""Fits of spectra: that they find what thor was run with, how well, and what they refuse."""

import contextlib
import io
import os
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # beside other tests its threads would wait for each other

import h5py
import numpy as np
from support import need_thor, needs_emcee

import thor
from thor.__main__ import main
from thor.fitting import calibration, emulator, models, observation, rerun
from thor.fitting.likelihood import Likelihood

warnings.filterwarnings("ignore", "The chain is shorter")

SHELL = """
line: Lya
dataset:
  {type: shell, inner_radius: 0.9 kpc, outer_radius: 1 kpc, temperature: 1e4 K, column_density: 1e19 cm^-2,
   velocity: {profile: constant, average: 100 km/s}DUST}
generators:
  - {type: point, name: line, photons: 5000, spectrum: {type: gaussian, sigma: 200 km/s}}
  - {type: point, name: continuum, photons: 2500, spectrum: {type: continuum, range: [-2000 km/s, 2000 km/s]}}
outputs: [OUTPUTS]
output: {path: model.h5}
"""
SPECTRA = ", ".join(f"{{type: spectrum, name: {name}, generator: {name}, axis: velocity, range: [-1500 km/s, 1500 km/s], bins: 150}}" for name in ("line", "continuum"))
RAW = "{type: photons, fields: [velocity_initial, velocity_final, column]}"
SWEEP = """
model: MODEL
design: sobol
models: COUNT
seed: SEED
set: {generators.0.photons: LINE, generators.1.photons: CONTINUUM}
keys:
  dataset.velocity.average: {range: [50 km/s, 250 km/s]}
  dataset.column_density: {range: [1e18 cm^-2, 1e20 cm^-2], spacing: log}
MORE
output: {path: OUT}
"""
# Of mock spectra, inside of those of the models: at its edges an emulator is worst.
RANGES = {"[50 km/s, 250 km/s]": "[75 km/s, 225 km/s]", "[1e18 cm^-2, 1e20 cm^-2]": "[2e18 cm^-2, 5e19 cm^-2]", "[100 km/s, 300 km/s]": "[120 km/s, 250 km/s]"}
WIDTH = "  generators.0.spectrum.sigma: {range: [100 km/s, 300 km/s], spacing: log}"


def setUpModule():
    need_thor()


def few_members():
    """Of the population that a fit searches with: a fifth of the time."""
    return mock.patch("thor.fitting.fit._POPULATION", 400)


def make_sweep(folder, name, model, count, photons, seed, more="", inner=False):
    text = SWEEP.replace("MORE", more)
    for wide, narrow in (RANGES if inner else {}).items():
        text = text.replace(wide, narrow)
    for key, value in {"MODEL": model, "COUNT": count, "SEED": seed, "LINE": photons, "CONTINUUM": photons // 2, "OUT": f"{name}.h5"}.items():
        text = text.replace(key, str(value))
    (folder / f"{name}.yaml").write_text(text)
    done = subprocess.run([thor.find_binary(), "sweep", f"{name}.yaml", "--quiet"], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


class Models(unittest.TestCase):
    """One emulator for all tests, of shells with two parameters, and a third one that is made of the photons."""

    @classmethod
    def setUpClass(cls):
        if hasattr(Models, "emulator"):
            return
        folder = tempfile.TemporaryDirectory(prefix="thor-fit-")
        unittest.addModuleCleanup(folder.cleanup)
        Models.folder = Path(folder.name)
        for name, outputs in (("raw.yaml", RAW), ("shell.yaml", SPECTRA)):
            (Models.folder / name).write_text(SHELL.replace("OUTPUTS", outputs).replace("DUST", ""))
        make_sweep(Models.folder, "models", "raw.yaml", 128, 5000, 1)
        make_sweep(Models.folder, "tests", "shell.yaml", 40, 24000, 2, WIDTH)
        make_sweep(Models.folder, "mocks", "shell.yaml", 14, 60000, 3, WIDTH, inner=True)
        Models.mocks = models.load(Models.folder / "mocks.h5")
        Models.emulator = emulator.Emulator.of(
            models.load_photons(Models.folder / "models.h5"), models.load(Models.folder / "tests.h5"), steps=1500, hidden=(96, 96, 96))  # fmt: skip
        Models.emulator.save(Models.folder / "shells.emulator")

    def spectrum(self, model=4, snr=20, name="mock.txt", **more):
        """Of a model, in a file; returns what it is."""
        seen = calibration.mock(self.mocks, model, **{"width": 60.0, "redshift": 3.1, "resolution": 6000.0, "snr": snr, "seed": 5, **more})
        np.savetxt(self.folder / name, np.column_stack([seen.wavelength, seen.flux, seen.error]), header="wavelength flux error")
        values = {p.key: float(p.value_of(self.mocks.parts[model, i])) for i, p in enumerate(self.mocks.parameters)}
        return {**values, "equivalent_width": 60.0}

    def fit(self, name="mock.txt", **options):
        options = {"redshift": (3.1, 0.0002), "lsf": 6000, "walkers": 40, "steps": 60, "burn": 20, "rerun": 1, **options}
        with warnings.catch_warnings(), few_members():
            warnings.simplefilter("ignore")
            return thor.fit(self.folder / name, self.folder / "shells.emulator", **options)


class Answers(Models):
    @needs_emcee
    def test_finds_what_was_run(self):
        truth = self.spectrum()
        found = self.fit()
        for name, value in truth.items():
            with self.subTest(name):
                samples = found.samples[name]
                self.assertLess(abs(np.mean(samples) - value), 4 * np.std(samples))
        self.assertLess(abs(found.interval("dataset.velocity.average")[0] - truth["dataset.velocity.average"]), 40)
        freedom = len(found.likelihood.observation.flux)
        self.assertTrue(0.5 * freedom < found.chi2 < 1.7 * freedom, found.chi2)
        check = found.checks[0]  # a run of thor, which the fit has not seen
        self.assertLess(check.chi2, 2 * freedom)
        self.assertLess(check.largest, 0.15)
        self.assertTrue(np.any(check.spectrum != check.emulated))

    def test_errors_are_right(self):
        """Ranks of true values among samples of 14 fits; where the emulator's error is all that counts, they are far from uniform without it."""
        options = {"population": 80, "priors": [(p.key, p.low, p.high) for p in self.mocks.parameters]}
        names, found = calibration.ranks(self.emulator, self.mocks, snr=50, **options)
        self.assertEqual(found.shape, (14, 5), names)
        held = [float(np.mean(calibration.held(found, share))) for share in (0.68, 0.95)]
        self.assertTrue(0.42 < held[0] < 0.88, held)  # of 70 ranks that depend on each other
        self.assertGreater(held[1], 0.76, held)
        rows = ("parts", "line", "line_error", "continuum", "continuum_error")
        half = models.Models(**{**vars(self.mocks), **{key: getattr(self.mocks, key)[:7] for key in rows}})
        _, wrong = calibration.ranks(self.emulator, half, snr=150, **options, emulator_error=0.0)
        self.assertLess(float(np.mean(calibration.held(wrong, 0.95))), 0.6)

    def test_the_emulator_knows_its_errors(self):
        """Of models that it saw neither to learn nor to be tested: the variance that it states."""
        values = [p.value_of(self.mocks.parts[:, i]) for i, p in enumerate(self.mocks.parameters)]
        parts = np.stack([p.unit_of(v) for p, v in zip(self.emulator.parameters, values)], axis=1)
        line, _ = self.emulator.spectra(parts)
        smooth = emulator.smoothing(self.mocks.edges, 50.0)
        peak = np.max(self.mocks.line @ smooth.T, axis=1)
        true = np.mean((((line - self.mocks.line) / peak[:, None]) @ smooth.T) ** 2)
        stated = np.mean(np.sum(self.emulator.line.shapes**2, axis=0).mean() * self.emulator.line.scale(parts) ** 2)
        self.assertTrue(0.4 < stated / true < 2.5, (stated, true))
        self.assertLess(np.median(emulator.largest_errors(self.mocks.edges, self.mocks.wavelength0, line, self.mocks.line)), 0.12)

    def test_instrument_and_redshift_are_those_of_the_spectrum(self):
        """A wrong redshift or resolution is told apart by the likelihood of the truth."""
        truth = self.spectrum(snr=60)
        seen = observation.read(self.folder / "mock.txt")

        def of_truth(**options):
            likelihood = Likelihood(self.emulator, seen, **{"lsf": 6000.0, "redshift": 3.1, **options})
            parts = np.array([[float(p.parameter.unit_of(np.array(truth[p.parameter.key]))) for p in likelihood.priors]])
            return float(likelihood(parts)[0])

        right = of_truth()
        for wrong in ({"redshift": 3.1006}, {"lsf": 1500.0}, {"continuum": False}):
            self.assertLess(of_truth(**wrong), right - 8, wrong)
        table = np.array([[4000.0, 4000 / 6000], [6000.0, 6000 / 6000]])
        self.assertAlmostEqual(of_truth(lsf=table), right, delta=0.5)
        clear = np.array([[-3000.0, 1.0], [3000.0, 1.0]])
        self.assertAlmostEqual(of_truth(igm=clear), right, delta=1e-6)
        self.assertLess(of_truth(igm=np.array([[-3000.0, 0.2], [0.0, 0.2], [1.0, 1.0], [3000.0, 1.0]])), right - 8)


    def of_parts(self, seen, parts, **options):
        likelihood = Likelihood(self.emulator, seen, **{"lsf": 6000.0, "redshift": 3.1, **options})
        return likelihood, float(likelihood(parts)[0])

    def test_covariances_and_known_redshifts(self):
        """The same errors as a matrix, and the same redshift as one within a range, are the same likelihood."""
        self.spectrum(snr=60)
        seen, parts = observation.read(self.folder / "mock.txt"), np.array([[0.4, 0.5, 0.5, 0.4, 0.6]])
        _, right = self.of_parts(seen, parts)
        matrix = observation.Observation(seen.low, seen.high, seen.flux, np.diag(seen.covariance), seen.name)
        self.assertAlmostEqual(self.of_parts(matrix, parts)[1], right, delta=1e-6)
        free, _ = self.of_parts(seen, np.array([[0.4, 0.5, 0.5, 0.4, 0.5]]), redshift=(3.1, 0.0), redshift_range=(3.0995, 3.1005))
        fixed, _ = self.of_parts(seen, parts[:, :4])
        whole = np.array([[0.4, 0.5, 0.5, 0.4, 0.5]])
        used = np.isin(free.observation.low, fixed.observation.low)
        for one, two in zip(free.spectra(whole), fixed.spectra(whole[:, :4])):
            np.testing.assert_allclose(one[0][used], two[0], rtol=0.05, atol=0.05 * np.max(two[0]))

    def test_a_continuum_that_was_subtracted(self):
        """Its level is that red of the line; taken for a spectrum with its continuum it is another one."""
        self.spectrum(snr=60, model=4)
        seen = observation.read(self.folder / "mock.txt")
        truth = self.spectrum(snr=60, model=4)
        likelihood, right = self.of_parts(seen, self.parts_of(truth))
        far = seen.wavelength > self.emulator.wavelength0 * 4.1 * (1 + 1100 / 299792.458)
        without = observation.Observation(seen.low, seen.high, seen.flux - np.mean(seen.flux[far]), seen.covariance, seen.name)
        self.assertAlmostEqual(self.of_parts(without, self.parts_of(truth), continuum=False)[1], right, delta=4)
        self.assertLess(self.of_parts(without, self.parts_of(truth))[1], right - 8)

    def parts_of(self, truth):
        likelihood = Likelihood(self.emulator, observation.read(self.folder / "mock.txt"), lsf=6000.0, redshift=3.1)
        return np.array([[float(p.parameter.unit_of(np.array(truth[p.parameter.key]))) for p in likelihood.priors]])

    def test_noise_of_a_run_is_expected_and_a_wrong_model_is_not(self):
        self.spectrum(snr=30)
        seen = observation.read(self.folder / "mock.txt")
        parts = self.parts_of(self.spectrum(snr=30))
        likelihood, _ = self.of_parts(seen, parts)
        emulated = likelihood.spectra(parts)[0][0]
        noise = np.diag(np.full(len(emulated), (0.3 * np.median(likelihood.observation.error)) ** 2))
        whole = np.linalg.cholesky(likelihood.errors(parts[0]) + noise)
        rng = np.random.default_rng(4)
        worse = [rerun._check(likelihood, parts[0], emulated + whole @ rng.standard_normal(len(emulated)), emulated, noise) for _ in range(40)]
        self.assertLess(sum(check.is_worse for check in worse), 4)
        growth = np.mean([(check.chi2 - check.emulated_chi2 - check.expected[0]) / check.expected[1] for check in worse])
        self.assertLess(abs(growth), 0.7)
        self.assertTrue(rerun._check(likelihood, parts[0], np.roll(emulated, 8), emulated, noise).is_worse)


class Refusals(Models):
    def refuse(self, words, **options):
        with self.assertRaisesRegex((thor.ArgumentError, thor.ResultError), words):
            self.fit(**{"rerun": 0, "steps": 0, **options})

    def test_what_does_not_fit_the_spectrum(self):
        self.spectrum()
        for words, options in (
            ("the line, 1215.67 Angstrom, is at 7294.0. at this redshift, but the spectrum has 4960.56 to 5007.3 Angstrom", {"redshift": 5.0}),
            ("is at 4984.25 at this redshift.*unit of wavelengths right", {"unit": "nm"}),
            ("line-spread function, 299792 km/s, is wider than the spectrum, 2811", {"lsf": 1.0}),
            ("prior of column_density: 1e\\+10 to 1e\\+12 excludes all models, which have 1e\\+18 to 1e\\+20", {"priors": [("column_density", 1e10, 1e12)]}),
            ("2 to 1 has nothing in it", {"priors": [("equivalent_width", 2, 1)]}),
            ("prior of mass: parameters are dataset.velocity.average", {"priors": [("mass", 1, 2)]}),
            ("redshift: -2 with an error of 0 cannot be", {"redshift": -2.0}),
            ("redshift: a number, a number and its error, or 'free', not 'high'", {"redshift": "high"}),
            ("lsf: a resolving power above 0", {"lsf": -5.0}),
            ("columns of wavelength and full width.*", {"lsf": self.folder / "none.txt"}),
            ("5 walkers are too few for 5 parameters", {"walkers": 5, "steps": 10}),
        ):  # fmt: skip
            with self.subTest(words):
                self.refuse(words, **options)

    def test_options_that_cannot_be(self):
        self.spectrum()
        for words, options in (
            ("steps: -1 cannot be", {"steps": -1}), ("steps: 3 are too few", {"steps": 3}), ("seed: -2 cannot be", {"seed": -2}),
            ("equivalent width .--ew.: a range above 0", {"equivalent_width": (5.0, 2.0)}), ("line-spread function is given from 400 to 600", {"lsf": np.array([[400.0, 1.0], [600.0, 1.0]])}),
            ("transmission of the intergalactic medium is from 0 to 1", {"igm": np.array([[-100.0, 0.5], [100.0, 3.0]])}),
        ):  # fmt: skip
            with self.subTest(words):
                self.refuse(words, **options)
        seen = observation.read(self.folder / "mock.txt")
        cut = Likelihood(self.emulator, seen, lsf=6000.0, redshift=3.1, priors=[("column_density", 1e10, 1e19)])
        self.assertIn("the prior of dataset.column_density is cut to the range of the models, 1e+18 to 1e+19", cut.observation.notes)

    def test_emulators_that_were_damaged(self):
        path = self.folder / "damaged.emulator"
        for words, harm in (
            ("parts of it are missing", lambda file: file.pop("continuum")), ("do not fit each other", lambda file: [file["line"].pop(key) for key in ("weights3", "offsets3")]),
            ("not numbers", lambda file: file["line/weights0"].write_direct(np.full(file["line/weights0"].shape, np.nan, np.float32))),
            ("not an emulator of this version", lambda file: file.attrs.update({"emulator_version": 1})),
        ):  # fmt: skip
            with self.subTest(words):
                self.emulator.save(path)
                with h5py.File(path, "a") as file:
                    harm(file)
                with self.assertRaisesRegex(thor.ResultError, words):
                    emulator.Emulator.load(path)
        self.emulator.save(path)
        same = emulator.Emulator.load(path).spectra(np.array([[0.4, 0.5, 0.5]]))
        for one, two in zip(same, self.emulator.spectra(np.array([[0.4, 0.5, 0.5]]))):
            np.testing.assert_array_equal(one, two)

    def test_columns_of_parameters_have_their_keys(self):
        tests = models.load(self.folder / "tests.h5")
        other = models.Models(**{**vars(tests), "parameters": tests.parameters[::-1], "parts": tests.parts[:, ::-1]})
        np.testing.assert_array_equal(emulator._of_models(other, tests)[0], tests.parts)

    def test_sources_that_raw_photons_do_not_cover(self):
        tests, photons = models.load(self.folder / "tests.h5"), models.load_photons(self.folder / "models.h5")
        wide = [models.Parameter(p.key, p.unit, p.low, 3 * p.high if p.key.endswith("sigma") else p.high, p.log) for p in tests.parameters]
        with self.assertRaisesRegex(thor.ArgumentError, "for sources of 900 km/s, .* % of the light is at velocities that next to no photon"):
            emulator._require_light(models.Photons(**{**vars(photons), "number": lambda v: np.where(np.abs(v) < 800, 10.0, 0.0)}), models.Models(**{**vars(tests), "parameters": wide}), emulator._width(models.Models(**{**vars(tests), "parameters": wide})))
        with self.assertRaisesRegex(thor.ArgumentError, "no photon was emitted at -14.. km/s, where the continuum"):
            emulator._require_light(models.Photons(**{**vars(photons), "number": lambda v: np.where(np.abs(v) < 1200, 10.0, 0.0)}), tests, emulator._width(tests))
        dusty = tests.configuration.replace("generators:\n", "  dust:\n    tau: 0.4\n    albedo: 0.25\ngenerators:\n", 1)
        self.assertNotEqual(dusty, tests.configuration)
        self.assertAlmostEqual(emulator._dust(models.Models(**{**vars(tests), "configuration": dusty}))(tests.parts[0]), 0.3)
        with self.assertRaisesRegex(thor.ArgumentError, "a varied albedo"):
            varied = [models.Parameter("dataset.dust.albedo", "", 0, 1), *tests.parameters]
            emulator._dust(models.Models(**{**vars(tests), "parameters": varied}))
        for wrong in ("law: smc", "cross_section: 1e-21 cm^2"):
            with self.assertRaisesRegex(thor.ArgumentError, "with raw photons the dust has an optical depth"):
                emulator._dust(models.Models(**{**vars(tests), "configuration": dusty.replace("albedo: 0.25", wrong)}))

    def test_emulators(self):
        folder = self.folder
        photons, tests, mocks = models.load_photons(folder / "models.h5"), models.load(folder / "tests.h5"), self.mocks
        with self.assertRaisesRegex(thor.ArgumentError, "has models of .*errors are measured with others"):
            emulator.Emulator.of(mocks, mocks, steps=1)
        dark = models.Models(**{**vars(tests), "line": tests.line * (np.arange(40) < 12)[:, None]})
        with self.assertRaisesRegex(thor.ArgumentError, "12 tests have light to measure errors with; at least 20"):
            emulator.Emulator.of(photons, dark, steps=1)
        with self.assertRaisesRegex(thor.ArgumentError, "20 models have light to learn from; at least 50"):
            rows = ("parts", "line", "line_error", "continuum", "continuum_error")
            few, others = (models.Models(**{**vars(tests), **{key: getattr(tests, key)[part] for key in rows}}) for part in (slice(0, 20), slice(20, 40)))
            emulator.Emulator.of(few, others, steps=1)
        with self.assertRaisesRegex(thor.ArgumentError, "varies other keys than"):
            emulator.Emulator.of(tests, models.Models(**{**vars(mocks), "parameters": mocks.parameters[:2], "parts": mocks.parts[:, :2]}), steps=1)
        moved = [models.Parameter(p.key, p.unit, p.low, p.high * 2, p.log) for p in photons.parameters]
        with self.assertRaisesRegex(thor.ArgumentError, "other ranges"):
            emulator.Emulator.of(models.Photons(**{**vars(photons), "parameters": moved}), tests, steps=1)
        thicker = models.Photons(**{**vars(photons), "configuration": photons.configuration.replace("0.9 kpc", "0.5 kpc")})
        with self.assertRaisesRegex(thor.ArgumentError, "another gas than .*: dataset.inner_radius$"):
            emulator.Emulator.of(thicker, tests, steps=1)
        for words, path in (("make an emulator of it", folder / "tests.h5"), ("there is no such file", folder / "none"), ("not an emulator", folder / "raw.yaml")):
            with self.assertRaisesRegex(thor.ResultError, words):
                emulator.Emulator.load(path)
        with self.assertRaisesRegex(thor.ResultError, "with raw photons"):
            models.load_photons(folder / "tests.h5")
        for name, model, more, words in (
            ("counts", "raw.yaml", "  generators.0.spectrum.sigma: {range: [100 km/s, 300 km/s]}", "counts.h5 varies generators.0.spectrum.sigma: raw photons need"),
            ("levels", "shell.yaml", "  generators.1.luminosity: {range: [1 erg/s, 2 erg/s]}", "levels.h5 varies generators.1.luminosity: a fit needs the same level"),
        ):  # fmt: skip
            make_sweep(folder, name, model, 2, 100, 1, more)
            with self.assertRaisesRegex(thor.ArgumentError, words):
                (models.load_photons if model == "raw.yaml" else models.load)(folder / f"{name}.h5")
        make_sweep(folder, "words", "shell.yaml", 2, 100, 1, "  acceleration.core_skip: [none, local]")
        with self.assertRaisesRegex(thor.ArgumentError, "varies acceleration.core_skip, whose values are words"):
            models.load(folder / "words.h5")
        doubled = SPECTRA + ", {type: spectrum, name: again, generator: line, axis: velocity, range: [-1500 km/s, 1500 km/s], bins: 150}"
        (folder / "two_spectra.yaml").write_text(SHELL.replace("OUTPUTS", doubled).replace("DUST", ""))
        make_sweep(folder, "doubled", "two_spectra.yaml", 2, 100, 1)
        with self.assertRaisesRegex(thor.ArgumentError, "are of the same light: keep one of them"):
            models.load(folder / "doubled.h5")
        with self.assertRaisesRegex(thor.ResultError, "it is a directory: for fits, let the sweep write a file"):
            models.load(folder)
        with self.assertRaisesRegex(thor.ArgumentError, "0 steps of learning are too few"):
            emulator.Emulator.of(photons, tests, steps=0)
        waves = (folder / "raw.yaml").read_text().replace("[-2000 km/s, 2000 km/s]", "[1208 Angstrom, 1224 Angstrom]")
        (folder / "angstrom.yaml").write_text(waves)
        make_sweep(folder, "waves", "angstrom.yaml", 2, 100, 1)
        with self.assertRaisesRegex(thor.ArgumentError, "waves.h5: give the ranges and widths of its sources in km/s"):
            models.load_photons(folder / "waves.h5")
        with self.assertRaisesRegex(thor.ArgumentError, "needs one spectrum of the line's generator"):
            models.load(folder / "models.h5")

    def test_reweighted_photons_are_direct_runs(self):
        """Line and continuum made of photons, against runs with that width; a wrong width is told apart."""
        make_sweep(self.folder, "one", "raw.yaml", 2, 60000, 9)
        photons = models.load_photons(self.folder / "one.h5")
        sigma = 150.0
        make_sweep(self.folder, "direct", "shell.yaml", 2, 60000, 9, "  generators.0.spectrum.sigma: [150 km/s, 151 km/s]".replace("[150 km/s, 151 km/s]", "{range: [149.999 km/s, 150.001 km/s]}"))
        direct = models.load(self.folder / "direct.h5")
        np.testing.assert_allclose(photons.parts[0], direct.parts[0, :2], rtol=1e-9)

        def distance(width):
            line, flat = photons.spectra(0, direct.edges, width, 0.0)
            rows = slice(photons.first[0], photons.first[1])
            ends = np.linspace(direct.edges[0], direct.edges[-1], 31)
            bins = np.digitize(photons.final[rows], ends) - 1
            source = photons.weight[rows] * np.exp(-0.5 * (photons.initial[rows] / width) ** 2) / (width * np.sqrt(2 * np.pi))
            variance = np.bincount(bins[(bins >= 0) & (bins < 30)], source[(bins >= 0) & (bins < 30)] ** 2, 30)
            step = np.diff(direct.edges)[0]
            mine, theirs = (values.reshape(30, 5).sum(axis=1) * step for values in (line, direct.line[0]))
            theirs_variance = (direct.line_error[0].reshape(30, 5) ** 2).sum(axis=1) * step**2
            known = theirs_variance > 0
            return float(np.sum((mine - theirs)[known] ** 2 / (variance + theirs_variance)[known]))

        self.assertLess(distance(sigma), 65)
        self.assertGreater(distance(1.1 * sigma), 65)


class Command(Models):
    def run_main(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), few_members():
            code = main([str(word) for word in words])
        return code, out.getvalue(), err.getvalue()

    @needs_emcee
    def test_fit_writes_all(self):
        self.spectrum()
        out = self.folder / "fit.h5"
        words = ["fit", self.folder / "mock.txt", "--model", self.folder / "shells.emulator", "--z", "3.1,0.0002", "--lsf", 6000, "--walkers", 40,
                 "--steps", 30, "--burn", 10, "--rerun", 1, "-o", out, "--prior", "equivalent_width=5,500"]  # fmt: skip
        code, said, told = self.run_main(*words)
        self.assertEqual(code, 0, told)
        self.assertRegex(said, r"dataset.velocity.average +\d+")
        self.assertRegex(said, r"run of mode 1: chi2")
        with h5py.File(out) as file:
            self.assertEqual(file["samples/equivalent_width"].shape, (1200,))
            self.assertEqual(file["chains"].shape, (30, 40, 5))
            self.assertEqual(file["samples/dataset.column_density"].attrs["units"], "cm^-2")
            self.assertTrue(5 < file["samples/equivalent_width"][:].min() < file["samples/equivalent_width"][:].max() < 500)
        for ending, begin in ((".png", b"\x89PNG"), (".pdf", b"%PDF")):
            self.assertTrue(out.with_suffix(ending).read_bytes().startswith(begin))
        best = subprocess.run([thor.find_binary(), "run", "fit.yaml", "-o", "best.h5", "--quiet", "--overwrite"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(best.returncode, 0, best.stderr)
        with thor.open(self.folder / "best.h5") as result:
            self.assertIn("line", result.spectra)
        code, _, told = self.run_main(*words)
        self.assertEqual(code, 6, told)
        self.assertIn("it exists", told)

    def test_codes(self):
        self.spectrum()
        spectrum, model = self.folder / "mock.txt", self.folder / "shells.emulator"
        for code, words in (
            (2, ["fit", spectrum, "--model", model, "--z", "9", "--lsf", "6000", "-o", self.folder / "x.h5"]),
            (2, ["fit", spectrum, "--model", model, "--z", "nine", "--lsf", "6000", "-o", self.folder / "x.h5"]),
            (2, ["fit", spectrum, "--model", model, "--z", "3.1", "--lsf", "6000", "-o", self.folder / "x.txt"]),
            (2, ["fit", spectrum, "--model", model, "--z", "3.1", "--lsf", "6000", "-o", self.folder / "tests.h5", "--igm", self.folder / "tests.h5", "--overwrite"]),
            (3, ["fit", spectrum, "--model", spectrum, "--z", "3.1", "--lsf", "6000", "-o", self.folder / "x.h5"]),
            (3, ["fit", self.folder / "raw.yaml", "--model", model, "--z", "3.1", "--lsf", "6000", "-o", self.folder / "x.h5"]),
            (3, ["emulate", spectrum, "--test", spectrum, "-o", self.folder / "x.emulator"]),
            (6, ["emulate", self.folder / "models.h5", "--test", self.folder / "tests.h5", "-o", model]),
        ):
            with self.subTest(words=words):
                found, _, told = self.run_main(*words, *(["--steps", 0] if words[0] == "fit" else []))
                self.assertEqual(found, code, told)
                self.assertTrue(told.startswith("thor: "))
        self.assertFalse((self.folder / "x.h5").exists())

    def test_thor_fit_starts_it(self):
        done = subprocess.run([thor.find_binary(), "fit", self.folder / "none.txt", "--model", "x", "--z", "3", "--lsf", "6000", "--steps", "0"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.fspath(Path(thor.__file__).parents[1])})  # fmt: skip
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("there is no such file", done.stderr)


if __name__ == "__main__":
    unittest.main()
