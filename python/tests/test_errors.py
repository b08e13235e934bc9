"""Every failure is one of the package's errors, for any request and any file."""

import json
import os
import unittest
import warnings
from pathlib import Path
from unittest import mock

import h5py
import numpy as np
from support import WithFiles, needs_astropy, put, skip_loudly, write_result

import thor
from thor.quantity import read, same
from thor.sweep_index import Entry

NOT_A_NUMBER = (0, -1, np.nan, np.inf, "1215", None, [1215, 1216])


def use(path):
    """Typical operations on a result."""
    with thor.open(path) as result:
        repr(result), result.caveats, result.config, result.escape_fraction(), result.mean_scatterings()
        for spectrum in result.spectra.values():
            repr(spectrum), spectrum.mean(), spectrum.peak()
            spectrum.to("wavelength").rebin(3).normalised()
        photons = result.photons
        repr(photons), photons.array()
        for name in photons:
            photons.units(name), photons.quantity(name)
        photons.escaped.towards([0, 0, 1], within=30).spectrum("velocity")


class ArgumentsTest(WithFiles):
    def refused(self, function, *arguments, kind=thor.ArgumentError, **options):
        with self.assertRaises(kind, msg=f"{arguments} {options}") as caught:
            function(*arguments, **options)
        self.assertIsInstance(caught.exception, thor.Error)
        self.assertGreater(len(str(caught.exception)), 10)

    def test_errors_are_those_of_python_too(self):
        self.assertTrue(issubclass(thor.ArgumentError, (ValueError, TypeError)))
        self.assertTrue(issubclass(thor.MissingError, KeyError) and issubclass(thor.MissingError, IndexError))
        self.assertEqual(str(thor.MissingError("'a': nothing")), "'a': nothing")
        for error in (thor.ResultError, thor.RunError, thor.SweepError, thor.PackageError):
            self.assertTrue(issubclass(error, thor.Error))

    def test_results_and_spectra(self):
        write_result(self.path)
        result = self.open()
        spectrum, photons = result.spectra["emergent"], result.photons
        for wrong in (3, None, [self.path]):
            self.refused(thor.open, wrong)
        for wrong in NOT_A_NUMBER:
            self.refused(spectrum.about, wrong)
            self.refused(result.line.about, wrong)
            self.refused(photons.spectrum, wavelength0="a" if wrong is None else wrong)  # None is the line's own
            self.refused(thor.analytic.sphere, [1.0], wrong, 1e7)
            self.refused(thor.analytic.slab_mean_abs_x, 1e-4, wrong)
        self.refused(thor.analytic.slab_escape_fraction, 1e-4, 1e6, -1)
        self.refused(thor.analytic.sphere_cdf, "x", 1e-4, 1e6)
        for wrong in (0, 1.5, np.nan, np.inf, "2", None):
            self.refused(spectrum.rebin, wrong)
        for wrong in (np.nan, "2", None, [1, 2]):
            self.refused(spectrum.scaled, wrong)
        for wrong in ("colour", 3, None, ["x"]):
            self.refused(result.line.to_velocity, [1.0], wrong)
            self.refused(spectrum.to, wrong)
            self.refused(photons.spectrum, wrong)
        for wrong in (0, -1, 2.5, True, "auto", None, [], [1], [1, np.nan, 3], [3, 2, 1], [[1, 2], [3, 4]]):
            self.refused(photons.spectrum, bins=wrong)
        for wrong in ((3, 1), (np.nan, 1), ("a", "b"), 3):
            self.refused(photons.spectrum, range=wrong)
        for wrong in ("all", "lost", 3, None):
            self.refused(photons.spectrum, of=wrong)
        self.refused(result.line.to_velocity, ["a"], "x")
        self.refused(photons.select, "all")
        self.refused(thor.Line("Lya", 1215.67).from_velocity, 0.0, "x")  # without a thermal velocity
        for name in ("colour", 3, None, ["id"]):
            self.refused(photons.__getitem__, name, kind=thor.MissingError)
        for name in ("colour", 3, ["emergent"]):
            self.refused(result.spectrum, name, kind=thor.MissingError)
            self.refused(result.spectra.__getitem__, name, kind=thor.MissingError)
            self.refused(result.images.__getitem__, name, kind=thor.MissingError)
            self.refused(result.escape_fraction, name, kind=thor.Error)
        self.refused(result.escape_fraction, inner=1.0)
        self.refused(result.escape_fraction, radius="5 kpc")

    def test_figures(self):
        write_result(self.path)
        result = self.open()
        for wrong in (3, None, "emergent", [3], {"a": 3}, []):
            self.refused(thor.plot_spectrum, wrong)
        self.refused(thor.plot_spectrum, result, axis="colour")
        self.refused(thor.plot_spectrum, result, axis=["x"])
        self.refused(thor.plot_spectrum, result, name="colour", kind=thor.MissingError)

    def test_packages_that_are_not_there(self):
        write_result(self.path)
        result = self.open()
        with mock.patch.dict("sys.modules", {"astropy": None, "astropy.units": None, "matplotlib.pyplot": None}):
            self.refused(result.spectra["emergent"].quantity, kind=thor.PackageError)
            self.refused(result.photons.quantity, "position", kind=thor.PackageError)
            self.refused(thor.plot_spectrum, result, kind=thor.PackageError)

    def test_runs(self):
        options = {"binary": "/bin/true"}
        for config in (3, None, ["a"]):
            self.refused(thor.run, config, "a.h5", **options)
            self.refused(thor.sweep, config, {"a": [1]}, self.folder, **options)
        for values in ({"a": float("nan")}, {"a": object()}, {"a": {1, 2}}):
            self.refused(thor.run, {}, "a.h5", set=values, **options)
        self.refused(thor.run, {"a": object()}, "a.h5", **options)
        self.refused(thor.run, {}, "a.h5", set=3, **options)
        self.refused(thor.run, {}, 3, **options)
        self.refused(thor.run, {}, **options)
        run = lambda *a, **o: thor.run(*a, **o)
        self.refused(run, {}, "a\0.h5", kind=thor.RunError, **options)
        self.refused(run, "a\0.yaml", "a.h5", kind=thor.RunError, **options)
        self.refused(run, {}, "a.h5", binary=3, kind=thor.RunError)
        self.refused(run, "nowhere.yaml", "a.h5", kind=thor.RunError, **options)
        with mock.patch("tempfile.tempdir", "/no/such/folder"):
            self.refused(run, {}, "a.h5", kind=thor.RunError, **options)

    def test_sweeps(self):
        options = {"binary": "/bin/true"}
        for parameters in (3, "a", ["a"], {"a": 3}, {"a": []}, [], [{"a": 1}, {"a": 1}]):
            self.refused(thor.sweep, {}, parameters, self.folder, **options)
        self.refused(thor.sweep, "nowhere.yaml", {"a": [1]}, self.folder, kind=thor.RunError, **options)
        self.refused(thor.sweep, {}, {"a": [1]}, 3, **options)
        Path(self.folder, "file").write_text("mine")
        for folder in (Path(self.folder, "file"), Path(self.folder, "file", "below")):
            self.refused(thor.sweep, {}, {"a": [1]}, folder, kind=thor.SweepError, **options)
            self.refused(thor.Sweep, folder, kind=thor.SweepError)
        with mock.patch("os.replace", side_effect=OSError(28, "No space left on device")):
            self.refused(thor.sweep, {}, {"a": [1]}, Path(self.folder, "full"), kind=thor.SweepError, **options)


class WhereTest(WithFiles):
    """Selection from a sweep by quantities."""

    def setUp(self):
        super().setUp()
        write_result(os.path.join(self.folder, "a.h5"))
        values = [("300 pc", "1e4 K", 1e7, "local"), ("1 kpc", "2e4 K", 10, {"fixed": 3})]
        keys = ("dataset.outer_radius", "dataset.temperature", "dataset.tau0", "acceleration.core_skip")
        self.sweep = thor.Sweep(
            self.folder, [Entry("a.h5", dict(zip(keys, each)), "complete") for each in values]
        )

    def found(self, **values):
        keys = {"r": "dataset.outer_radius", "t": "dataset.temperature", "tau0": "dataset.tau0"}
        chosen = {keys.get(key, "acceleration.core_skip"): value for key, value in values.items()}
        return [entry["dataset.temperature"] for entry in self.sweep.where(chosen).parameters]

    def test_equal_quantities(self):
        for values in (
            {"r": "300 pc"}, {"r": "0.3 kpc"}, {"r": "3e-4 Mpc"}, {"r": " 300pc "}, {"t": "10000 K"}, {"t": "1.e4 K"},
            {"tau0": 10000000}, {"tau0": "1e7"}, {"tau0": np.float32(1e7)}, {"skip": "local"}, {"r": "0.3 kpc", "t": "1e4 K"},
        ):  # fmt: skip
            self.assertEqual(self.found(**values), ["1e4 K"], values)
        for values in ({"r": "1000 pc"}, {"tau0": 10.0}, {"skip": {"fixed": 3.0}}):
            self.assertEqual(self.found(**values), ["2e4 K"], values)
        for values in ({"r": "301 pc"}, {"t": "3e4 K"}, {"tau0": 11}, {"skip": "none"}, {"r": "300 pc", "tau0": 10}):
            self.assertEqual(self.found(**values), [], values)

    def test_astropy(self):
        try:
            from astropy import units as u
        except ImportError:
            skip_loudly("quantities of sweeps: there is no astropy (python3-astropy)")

        self.assertEqual(self.found(r=300 * u.pc), ["1e4 K"])
        self.assertEqual(self.found(r=0.3 * u.kpc), ["1e4 K"])

    def test_what_cannot_be_compared(self):
        for values in ({"r": "300 km/s"}, {"r": 300}, {"t": "10 pc"}, {"tau0": "1e7 K"}):
            with self.assertRaisesRegex(thor.ArgumentError, "cannot be compared"):
                self.found(**values)
        with self.assertRaisesRegex(thor.MissingError, "was not varied"):
            self.sweep.where({"dataset.dust.tau": 0})
        with self.assertRaises(thor.ArgumentError):
            self.sweep.where(3)

    def test_items(self):
        self.assertEqual([parameters["dataset.tau0"] for parameters, _ in self.sweep], [1e7, 10])
        with self.assertRaises(thor.MissingError):
            self.sweep[2]
        with self.assertRaises(thor.ArgumentError):
            self.sweep["first"]

    def test_tables_of_lists(self):
        for values in ([["0 kpc", "1 kpc"], ["1 kpc", "0 kpc"]], [[1], [1, 2]], ["local", {"fixed": 3}], [None, 3.0]):
            table = thor.Sweep(self.folder, [Entry("a.h5", {"p": value}, "complete") for value in values]).table()
            self.assertEqual((len(table), table["p"].shape), (2, (2,)))
        self.assertEqual(table["lost"][0], 0.0)

    def test_damaged_indices(self):
        run = {"file": "a.h5", "parameters": {}, "state": "complete"}
        for content in (
            [], 3, "a", {}, {"thor_sweep": 1}, {"thor_sweep": "a", "base": {}, "runs": []},
            {"thor_sweep": 2, "base": {}, "runs": []}, {"thor_sweep": 1, "base": 3, "runs": []},
            {"thor_sweep": 1, "base": {}, "runs": 3}, {"thor_sweep": 1, "base": {}, "runs": ["a"]},
            *({"thor_sweep": 1, "base": {}, "runs": [{**run, **change}]} for change in (
                {"file": 3}, {"file": ""}, {"file": "../a.h5"}, {"parameters": []}, {"state": None}, {"more": 1})),
        ):  # fmt: skip
            Path(self.folder, "index.json").write_text(json.dumps(content))
            with self.subTest(content), self.assertRaises(thor.SweepError):
                thor.Sweep(self.folder)
        Path(self.folder, "index.json").write_text("[" * 100000)
        with self.assertRaises(thor.SweepError):
            thor.Sweep(self.folder)
        Path(self.folder, "index.json").write_text(json.dumps({"thor_sweep": 1, "base": {}, "runs": [run]}))
        self.assertEqual(len(thor.Sweep(self.folder)), 1)

    def test_units_are_those_of_configurations(self):
        """Every unit of docs/configuration.md is known."""
        text = Path(__file__).resolve().parents[2].joinpath("docs/configuration.md").read_text(encoding="utf-8")
        table = text[text.index("| quantity | units |") :].split("\n\n")[0].splitlines()[2:]
        self.assertGreater(len(table), 5)
        for line in table:
            _, kind, units, _ = (cell.strip() for cell in line.split("|"))
            for unit in units.replace("`", "").split(", "):
                self.assertIn(read(f"2 {unit}"), [(2 * read(f"1 {unit}")[0], kind)], unit)
        self.assertTrue(same("a", "1 1/cm^2", "1 cm^-2") and same("a", [1, "1 pc"], [1.0, "1e-3 kpc"]))
        self.assertTrue(same("a", "2%", 0.02) and same("a", "90 min", "1.5 h"))
        self.assertFalse(same("a", True, 1.5) or same("a", [1], [1, 2]) or same("a", "2%", 2))




def replace(name, value):
    def do(file):
        del file[name]
        if value is not None:
            file[name] = value

    return do


def regroup(name):
    return lambda file: (file.__delitem__(name), file.create_group(name))


def attribute(place, name, value):
    return lambda file: file[place].attrs.__setitem__(name, value)


def huge(name):
    def do(file):
        del file[name]
        file.create_dataset(name, shape=(10**12,), chunks=(1024,), dtype="f8")

    return do


@needs_astropy
class DamagedContentsTest(WithFiles):
    DAMAGE = {
        "an axis as long as a disk": huge("spectra/emergent/edges"),
        "as many photons": huge("photons/original/id"),
        "spectra as a dataset": replace("spectra", [1.0]),
        "a spectrum as a dataset": replace("spectra/emergent", [1.0]),
        "a dataset as a group": regroup("spectra/emergent/flux"),
        "photons as a dataset": replace("photons/original", [1.0]),
        "no summary": replace("summary", None),
        "a summary as a dataset": replace("summary", [1.0]),
        "generators without numbers": lambda file: file.create_group("generators/first"),
        "generators as a dataset": lambda file: file.__setitem__("generators", [1.0]),
        "text in place of flux": replace("spectra/emergent/flux", np.array([b"a"] * 100)),
        "a table in place of edges": replace("spectra/emergent/edges", np.zeros((101, 2))),
        "edges that fall": lambda file: file["spectra/emergent/edges"].__setitem__(5, 99.0),
        "an edge that is no number": lambda file: file["spectra/emergent/edges"].__setitem__(5, np.nan),
        "flux that is no number": lambda file: file["spectra/emergent/flux"].__setitem__(5, np.nan),
        "no bins": lambda file: [
            replace(f"spectra/emergent/{name}", np.zeros(size))(file) for name, size in (("edges", 1), ("flux", 0), ("error", 0))
        ],
        "columns of several lengths": replace("photons/original/fate", [2, 3]),
        "a direction that is a number": replace("photons/original/direction", np.zeros(2000)),
        "a position that is one number": replace("photons/original/position", 1.0),
        "a link to nowhere": replace("photons/original/id", h5py.SoftLink("/no")),
        "text that is no text": attribute("/", "config", np.bytes_(b"\xff\xfe")),
        "units that are no text": attribute("photons/original/velocity_final", "units", np.bytes_(b"\xff")),
        "units that nobody knows": attribute("photons/original/velocity_final", "units", np.bytes_(b"furlong")),
        "a version that is no number": attribute("/", "format_version", np.bytes_(b"one")),
        "a version below one": attribute("/", "format_version", 0),
        "a newer version": attribute("/", "format_version", 3),
        "a wavelength of 0": attribute("/", "wavelength0", 0.0),
        "a wavelength that is none": attribute("/", "wavelength0", np.nan),
        "a wavelength of text": attribute("/", "wavelength0", np.bytes_(b"x")),
        "no line": lambda file: file.attrs.__delitem__("line"),
        "a negative count": attribute("summary", "photons", -1),
        "an endless luminosity": attribute("summary", "luminosity_escaped", np.inf),
        "a count of text": attribute("summary", "lost", np.bytes_(b"many")),
        "fates that are no table": attribute("photons/original/fate", "names", np.bytes_(b"escaped:2")),
        "an axis that nobody knows": attribute("spectra/emergent", "axis", np.bytes_(b"colour")),
        "a zero point of 0": attribute("spectra/emergent", "wavelength0", 0.0),
    }  # fmt: skip

    def test_each(self):
        for what, damage in self.DAMAGE.items():
            with self.subTest(what):
                write_result(self.path, photons=2000, absorbed=300)
                with h5py.File(self.path, "a") as file:
                    damage(file)
                with self.assertRaises(thor.ResultError) as caught:
                    use(self.path)
                self.assertIn(self.path, str(caught.exception))

    def test_the_undamaged_file_is_fine(self):
        write_result(self.path, photons=2000, absorbed=300)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            use(self.path)

    def test_attributes_of_others_do_no_harm(self):
        """Text of variable length, which thor does not write, is left alone: in a damaged file it can crash HDF5."""
        write_result(self.path, photons=2000)
        with h5py.File(self.path, "a") as file:
            file.attrs["note"] = "mine"
            file["summary"].attrs["pair"] = np.array([1.0, 2.0])
            put(file["summary"], another="text", number=3)
        use(self.path)
        result = self.open()
        self.assertNotIn("note", result.attributes)
        self.assertEqual((result.summary["another"], result.summary["number"]), ("text", 3))


if __name__ == "__main__":
    unittest.main()
