"""Result files: their contents, `thor info`, and damaged ones.

    /usr/bin/python3 tests/e2e/test_results.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Tests that need more than numpy and h5py are skipped
loudly if it is missing.
"""

import datetime
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import ENDLESS, sphere, wide_spectra  # noqa: E402
from support import (  # noqa: E402
    C, Case, DONE, INPUT, ROOT, command_line, main, read_package, skip_loudly, text, thor, wait_for)
from mutations import flipped  # noqa: E402


class DamagedResults(Case):
    """thor info and the Python reader answer with a message: exit code 3, ResultError."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="thor-e2e-")
        cls.addClassCleanup(folder.cleanup)
        cls.good = Path(folder.name) / "good.h5"
        config = Path(folder.name) / "good.yaml"
        config.write_text(json.dumps(sphere(10, 300, outputs=[{"type": "photons"}, *wide_spectra(1, bins=40)])))
        assert thor("run", config, "-o", cls.good).returncode == DONE
        cls.package = read_package()

    def read(self, path):
        """Everything that the Python package does with a file."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self.package.IncompleteRunWarning)
            with self.package.open(path) as result:
                return [str(result), repr(result.photons), result.spectra, result.config, result.escape_fraction(),
                        result.mean_scatterings()]

    def refuse(self, path, says):
        done = thor("info", path)
        self.assertEqual(done.returncode, INPUT, done.stdout + done.stderr)
        self.assertIn(str(path), done.stderr)
        self.assertRegex(done.stderr, says)
        self.assertEqual(done.stdout, "")
        with self.assertRaises(self.package.ResultError) as caught:
            self.read(path)
        self.assertIn(str(path), str(caught.exception))

    def edited(self, edit):
        path = self.folder / "edited.h5"
        shutil.copyfile(self.good, path)
        with h5py.File(path, "r+") as file:
            edit(file)
        return path

    def test_the_good_one_is_read(self):
        self.assertEqual(len(self.read(self.good)), 6)
        done = thor("info", self.good)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stdout, r"complete +yes")

    def test_missing(self):
        self.refuse(self.folder / "none.h5", "there is no such file")

    def test_directory(self):
        self.refuse(self.folder, "directory|no such file")

    def test_empty(self):
        path = self.folder / "empty.h5"
        path.touch()
        self.refuse(path, "not an HDF5 file")

    def test_text(self):
        self.refuse(self.write(sphere(1, 1)), "not an HDF5 file")

    def test_truncated(self):
        data = self.good.read_bytes()
        for length in (1, 8, 47, 96, 800, len(data) // 2, len(data) - 512, len(data) - 1):
            with self.subTest(length=length):
                path = self.folder / f"{length}.h5"
                path.write_bytes(data[:length])
                self.refuse(path, "truncated or damaged" if length > 96 else "not an HDF5 file|truncated or damaged")

    def test_foreign(self):
        path = self.folder / "foreign.h5"
        with h5py.File(path, "w") as file:
            file["data"] = np.arange(10)
        self.refuse(path, "not a result of thor")

    def test_without_a_summary(self):
        self.refuse(self.edited(lambda file: file.pop("summary")), "not a result of thor")

    def test_newer_format(self):
        self.refuse(self.edited(lambda file: file.attrs.modify("format_version", 99)), "format 99.*up to 2")

    def test_damaged_format_version(self):
        for value in ("one", 1.5, 0, -1, np.arange(3)):
            with self.subTest(value=value):
                self.refuse(self.edited(lambda file, v=value: file.attrs.create("format_version", v)), "damaged|not a result")

    def test_partial_of_a_run_that_goes_on(self):
        out = self.folder / "long.h5"
        job = subprocess.Popen(command_line("run", self.write(ENDLESS), "-o", out, "--drain", 0, "--threads", 1),
                               stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        partial = out.with_name(out.name + ".partial")
        self.assertTrue(wait_for(lambda: partial.exists() and partial.stat().st_size > 0))
        self.refuse(partial, "truncated or damaged|run still in progress|not a result")

    def test_open_in_another_program(self):
        """A flag in the file says so too, and stays if that program is killed."""
        config = {**sphere(1, 1), "dataset": {"type": "uniform_grid", "path": "open.h5"}}
        for mode, libver, says in (("a", "earliest", "open for writing.*wait, or close it there"),
                                   ("swmr", "latest", "open for writing, or was killed.*h5clear -s .*open.h5")):
            path = self.folder / "open.h5"
            with h5py.File(path, "w", libver=libver) as file:
                if mode == "swmr":
                    file.swmr_mode = True
                for done in (thor("info", path), thor("check", self.write(config))):
                    self.assertEqual(done.returncode, INPUT, done.stderr)
                    self.assertRegex(done.stderr, says)
                    self.assertNotIn("damaged", done.stderr)

    def damages(self):
        values = {"text": "abc", "number": 1.5, "list": np.arange(3), "bytes": np.bytes_(b"\xff\xfe"), "empty": h5py.Empty("f")}
        with h5py.File(self.good) as file:
            names = [(place, name) for place in ("/", "summary", "spectra/s0", "spectra/s0/edges")
                     for name in file[place].attrs]
        rng = random.Random(3)
        for place, name in names:
            yield f"{place} without {name}", lambda file, p=place, n=name: file[p].attrs.pop(n)
            for how in rng.sample(sorted(values), 2):
                yield f"{place} {name} as {how}", lambda f, p=place, n=name, v=values[how]: f[p].attrs.create(n, v)
        for place in ("spectra", "spectra/s0", "spectra/s0/flux", "photons", "photons/original", "photons/original/fate"):
            yield f"without {place}", lambda file, p=place: file.pop(p)
            yield f"numbers at {place}", lambda file, p=place: (file.pop(p), file.create_dataset(p, data=np.arange(3.0)))
            yield f"an empty group at {place}", lambda file, p=place: (file.pop(p), file.create_group(p))
            yield f"nothing at {place}", lambda file, p=place: (file.pop(p), file.__setitem__(p, h5py.SoftLink("/no")))

    def test_python_reader_on_damaged_parts(self):
        """With anything missing or of another type, the file is still read, or gives a ResultError."""
        problems = []
        for name, edit in self.damages():
            try:
                self.read(self.edited(edit))
            except self.package.ResultError as error:
                if "edited.h5" not in str(error):
                    problems.append(f"{name}: the message does not name the file: {error}")
            except Exception as error:  # noqa: BLE001: this is the point of the test
                problems.append(f"{name}: {type(error).__name__}: {error}")
        self.assertFalse(problems, f"{len(problems)} of {len(list(self.damages()))}:\n" + "\n".join(problems[:12]))

    def test_info_on_damaged_parts(self):
        for name, edit in list(self.damages())[::3]:
            path = self.edited(edit)
            for how in ((), ("--json",)):
                done = subprocess.run(command_line("info", path, *how), capture_output=True, timeout=20)
                self.assertIn(done.returncode, (DONE, INPUT), f"{name}: {done.stderr}")
                if done.returncode == DONE and how:
                    json.loads(done.stdout)

    def test_a_configuration_that_is_not_there_is_not_printed(self):
        for edit in (lambda file: file.attrs.pop("config"), lambda file: file.attrs.create("config", 1.5)):
            done = thor("info", self.edited(edit), "--config")
            self.assertEqual(done.returncode, INPUT, done.stdout)
            self.assertRegex(done.stderr, "config")

    def test_flipped_bytes(self):
        data, rng = self.good.read_bytes(), random.Random(11)
        for i in range(40):
            path = self.folder / "flipped.h5"
            path.write_bytes(flipped(rng, data[:800]) + data[800:] if i % 2 else flipped(rng, data))
            done = subprocess.run(command_line("info", path), capture_output=True, timeout=20)
            self.assertIn(done.returncode, (DONE, INPUT), done.stderr)

    def test_damage_that_hdf5_does_not_survive(self):
        """It aborts at some of these bytes (1.10.8): the message still names the file."""
        good, bad = self.folder / "virtual.h5", self.folder / "bad.h5"
        layout = h5py.VirtualLayout((8, 8, 8), "f8")
        layout[:4] = h5py.VirtualSource("source.h5", "n", shape=(8, 8, 8))[:4]
        with h5py.File(good, "w", libver="latest") as file:
            file.create_virtual_dataset("n", layout)
        data = good.read_bytes()
        heap = data.index(b"GCOL")
        for at in (k for k in range(heap, heap + 200) if data[k] == 3):
            bad.write_bytes(data[:at] + b"\x80" + data[at + 1:])
            done = thor("info", bad)
            self.assertEqual(done.returncode, INPUT, done.stderr)
            self.assertRegex(done.stderr, "thor: error: .*bad.h5")

    def test_python_command(self):
        for path in (self.folder / "none.h5", self.write(sphere(1, 1))):
            done = subprocess.run([sys.executable, "-m", "thor", "info", path], capture_output=True, text=True, timeout=30,
                                  env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"})
            self.assertEqual(done.returncode, INPUT, done.stderr)
            self.assertIn(str(path), done.stderr)
            self.assertNotIn("Traceback", done.stderr)


class Info(Case):
    def test_the_configuration_makes_the_same_result(self):
        first = self.run_thor(sphere(50, 300, dust={"tau": 0.3}, outputs=[{"type": "photons"}, *wide_spectra(1, bins=60)]),
                              "--seed", 5, "--set", "dataset.b_turb=7 km/s")
        done = thor("info", first, "--config")
        self.assertEqual(done.returncode, DONE, done.stderr)
        again = self.run_thor(done.stdout)
        self.assert_identical(self.photons(first), self.photons(again))
        with h5py.File(first) as a, h5py.File(again) as b:
            np.testing.assert_array_equal(a["spectra/s0/flux"], b["spectra/s0/flux"])
            self.assertEqual(a.attrs["config"], b.attrs["config"])

    def test_json_and_text_tell_what_the_file_holds(self):
        path = self.run_thor(sphere(1, 123, outputs=[{"type": "photons", "fields": ["id", "column"]}]))
        told = json.loads(thor("info", path, "--json").stdout)
        self.assertTrue(told["complete"])
        self.assertEqual(told["summary"]["photons"], 123)
        self.assertEqual({d["path"]: d["shape"] for d in told["datasets"]},
                         {f"/photons/original/{name}": [123] for name in ("column", "fate", "id")})
        self.assertEqual(told["attributes"]["tau0"], 1)
        printed = thor("info", path).stdout
        for words in ("123 of 123", "Lya by thor", "/photons/original/column", "cm-2; column density"):
            self.assertIn(words, printed)


class ResultFile(Case):
    def setUp(self):
        super().setUp()
        nu = C * 1e13 / 1215.6701
        axes = {"x": [-50, 50], "velocity": ["-500 km/s", "500 km/s"], "wavelength": ["1210 Angstrom", "1220 Angstrom"],
                "frequency": [f"{0.99 * nu} Hz", f"{1.01 * nu} Hz"]}
        self.outputs = [{"type": "spectrum", "name": axis, "axis": axis, "range": limits, "bins": 20}
                        for axis, limits in axes.items()]
        self.path = self.run_thor(sphere(10, 200, outputs=[*self.outputs, {"type": "photons"}]), "--seed", 77)

    def datasets(self, file):
        found = {}
        file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
        return found

    def label(self, item, name):
        return text(item.attrs[name]).rstrip("\0")

    def test_units_parse_and_fluxes_are_luminosities(self):
        try:
            from astropy import units
        except ImportError:
            skip_loudly(self, "astropy is not installed (Debian: python3-astropy)")
        with h5py.File(self.path) as file:
            found = self.datasets(file)
            self.assertEqual(len(found), 4 * 4 + 13)  # with vov
            for name, item in found.items():
                units.Unit(self.label(item, "units"))  # raises if it cannot be parsed
                self.assertGreater(len(self.label(item, "description")), 5, name)
            for name, group in file["spectra"].items():
                edges, flux, error = (group[key][()] * units.Unit(self.label(group[key], "units"))
                                      for key in ("edges", "flux", "error"))
                light = np.sum(flux * np.diff(edges))
                self.assertEqual(error.unit, flux.unit)
                self.assertAlmostEqual(light.to("erg/s").value / 1e42, 1, delta=1e-6, msg=name)
            with self.assertRaises(units.UnitConversionError):
                units.Unit(self.label(found["spectra/velocity/flux"], "units")).to("erg/s")
            self.assertEqual(units.Unit(self.label(found["photons/original/position"], "units")), units.cm)

    def test_says_how_it_was_made(self):
        with h5py.File(self.path) as file:
            told = {name: text(value) for name, value in file.attrs.items()}
        version = thor("--version").stdout
        self.assertIn(f"thor {told['thor_version']} ({told['git_commit']})", version)
        self.assertIn(f"compiler {told['compiler']}\n", version)
        self.assertEqual(told["cpu"], json.loads(thor("devices", "--json").stdout)["cpu"]["name"])
        self.assertRegex(told["device"], r"^(cpu|cuda): .+ \(\w+\)$")
        self.assertEqual((told["seed"], told["precision"], told["line"]), (77, "single", "Lya"))
        self.assertEqual(told["format_version"], 2)
        age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(told["date"].replace("Z", "+00:00"))
        self.assertLess(abs(age.total_seconds()), 86400)
        done = thor("check", self.write(told["config"]), "--no-trial", "--json")
        self.assertEqual(json.loads(done.stdout)["configuration"], told["config"])


if __name__ == "__main__":
    main()
