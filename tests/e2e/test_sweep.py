"""thor sweep: models of a grid, a list or a sequence in one process and one file."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import Case, DONE, INPUT, OUTPUT, STOPPED, UNRELIABLE, USAGE, command_line, main, text, thor  # noqa: E402

MODEL = """
line: Lya
dataset: {type: shell, inner_radius: 0.5 kpc, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e3,
          velocity: {profile: power_law, exponent: 0.5, max: 50 km/s}, dust: {tau: 0.1}}
generators: [{type: point, photons: 300, spectrum: {type: gaussian, sigma: 50 km/s}}]
outputs:
  - {type: spectrum, name: v, axis: velocity, range: [-300 km/s, 300 km/s], bins: 12}
  - {type: spectrum, name: dark, of: absorbed, axis: velocity, range: [-300 km/s, 300 km/s], bins: 4}
output: {path: model.h5}
"""
KEYS = """
keys:
  dataset.tau0: {range: [1e2, 1e4], spacing: log%s}
  dataset.velocity.max: {range: [0 km/s, 100 km/s]%s}
  precision: [single, double]
output: {path: sweep.h5}
"""


def sweep(design, **more):
    values = (", values: 3", ", values: 2") if design == "grid" else ("", "")
    lines = "".join(f"{key}: {value}\n" for key, value in more.items())
    return f"model: model.yaml\ndesign: {design}\n{lines}" + KEYS % values


class SweepCase(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "model.yaml").write_text(MODEL)

    def file(self, config, name="sweep.yaml"):
        (self.folder / name).write_text(config)
        return name

    def thor(self, *arguments, expect=DONE, **options):
        done = thor(*arguments, cwd=self.folder, **options)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def rows(self, path="sweep.h5"):
        """The arrays with a row for each model, but the times."""
        with h5py.File(self.folder / path) as file:
            found = {}
            file.visititems(lambda name, node: found.update({name: node[:]}) if isinstance(node, h5py.Dataset) else None)
        return {name: values for name, values in found.items() if not name.endswith(("edges", "transport_seconds"))}

    def assert_same(self, a, b):
        self.assertEqual(a.keys(), b.keys())
        for name in a:
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)


class Sweep(SweepCase):
    def test_models_are_those_of_runs(self):
        """Bit for bit, with the keys and the seed that the file has."""
        self.thor("sweep", self.file(sweep("grid")), "--threads", 3)
        with h5py.File(self.folder / "sweep.h5") as file:
            self.assertEqual(file.attrs["models"], 12)
            self.assertTrue(file.attrs["complete"])
            self.assertEqual(set(file["status"][:]), {1})
            np.testing.assert_allclose(np.unique(file["parameters/dataset.tau0"]), [1e2, 1e3, 1e4])
            words = text(file["parameters/precision"].attrs["words"]).split("\n")
            self.assertEqual(words, ["single", "double"])
            self.assertEqual(len(set(file["seed"][:])), 12)
            for i in (0, 7, 11):
                sets = []
                for key, values in file["parameters"].items():
                    value = float(values[i])
                    word = words[int(value)] if key == "precision" else f"{value!r} {text(values.attrs['units'])}".strip()
                    sets += ["--set", f"{key}={word}"]
                self.thor("run", "model.yaml", "-o", f"{i}.h5", "--seed", file["seed"][i], *sets)
                with h5py.File(self.folder / f"{i}.h5") as one:
                    for name in ("v", "dark"):
                        for array in ("flux", "error"):
                            np.testing.assert_array_equal(one[f"spectra/{name}/{array}"], file[f"spectra/{name}/{array}"][i])
                        np.testing.assert_array_equal(one[f"spectra/{name}/edges"], file[f"spectra/{name}/edges"])
                    summary = one["summary"].attrs
                    self.assertEqual(summary["luminosity_escaped"] / summary["luminosity_emitted"], file["escape_fraction"][i])
            self.assertFalse((file["spectra/v/flux"][0] == file["spectra/v/flux"][1]).all())

    def test_any_number_of_threads(self):
        self.thor("sweep", self.file(sweep("grid")), "--threads", 1, "-o", "a.h5")
        self.thor("sweep", "sweep.yaml", "--threads", 4, "-o", "b.h5")
        self.assert_same(self.rows("a.h5"), self.rows("b.h5"))

    def test_designs_fill_the_ranges(self):
        for design in ("latin", "sobol"):
            self.thor("sweep", self.file(sweep(design, models=32)), "--set", "set={generators.0.photons: 3}", "--overwrite")
            rows = self.rows()
            tau = np.log10(rows["parameters/dataset.tau0"]) / 2 - 1
            speed = rows["parameters/dataset.velocity.max"] / 100
            for part in (tau, speed):  # one model in each of 32 equal parts
                np.testing.assert_array_equal(np.sort((part * 32).astype(int)), np.arange(32))
            self.assertEqual(rows["parameters/precision"].sum(), 16)
            if design == "sobol":  # two dimensions of a (0, 2)-sequence: one in each part of 4 x 8, too
                self.assertEqual(len(set(zip((tau * 4).astype(int), (speed * 8).astype(int)))), 32)
        self.thor("sweep", self.file(sweep("sobol", models=40)), "--set", "set={generators.0.photons: 3}", "-o", "more.h5")
        np.testing.assert_array_equal(self.rows("more.h5")["parameters/dataset.tau0"][:32], rows["parameters/dataset.tau0"])

    def test_list(self):
        self.thor("sweep", self.file("model: model.yaml\nlist: [{dataset.tau0: 10}, {precision: double, seed: 5}]\n"
                                     "output: {path: sweep.h5}\n"))
        rows = self.rows()
        np.testing.assert_array_equal(rows["parameters/dataset.tau0"], [10, np.nan])
        self.assertEqual(rows["seed"][1], 5)
        self.assertNotEqual(rows["seed"][0], 5)
        self.thor("run", "model.yaml", "--set", "precision=double", "--seed", 5)
        with h5py.File(self.folder / "model.h5") as one:
            np.testing.assert_array_equal(one["spectra/v/flux"], rows["spectra/v/flux"][1])

    def test_an_impossible_corner(self):
        """That model fails, the others go on, and the file says why."""
        done = self.thor("sweep", self.file("model: model.yaml\nkeys: {dataset.inner_radius: [0.1 kpc, 2 kpc, 0.5 kpc]}\n"
                                            "output: {path: sweep.h5}\n"), expect=UNRELIABLE)
        self.assertIn("1 model failed", done.stderr)
        rows = self.rows()
        np.testing.assert_array_equal(rows["status"], [1, 3, 1])
        self.assertTrue(np.isnan(rows["spectra/v/flux"][1]).all())
        with h5py.File(self.folder / "sweep.h5") as file:
            self.assertRegex(text(file.attrs["failures"]), "^1: .*inner_radius")
        told = self.thor("info", "sweep.h5").stdout
        self.assertRegex(told, "3: 2 done, 0 unreliable, 1 failed")
        self.assertEqual(json.loads(self.thor("info", "sweep.h5", "--json").stdout)["sweep"]["failed"], 1)

    def test_a_killed_sweep_goes_on(self):
        """kill -9 at some moments, each time the same command; also where the last record is cut or spoilt."""
        config = self.file(sweep("sobol", models=60))
        more = ("--set", "set={generators.0.photons: 3000}")
        self.thor("sweep", config, *more, "-o", "whole.h5")
        journal = self.folder / "sweep.h5.models"
        for share in (0.2, 0.5):
            job = subprocess.Popen(command_line("sweep", config, *more, "--threads", 2), cwd=self.folder,
                                   stderr=subprocess.DEVNULL)
            size = 0
            while job.poll() is None and size < share * 60 * 700:
                time.sleep(0.002)
                size = journal.stat().st_size if journal.exists() else 0
            job.kill()
            job.wait()
            if not journal.exists():
                self.skipTest("the machine was too fast for this test")
            self.assertFalse((self.folder / "sweep.h5").exists())
            with open(journal, "r+b") as file:
                file.truncate(max(journal.stat().st_size - 100, 0))
        with open(journal, "r+b") as file:  # a number of the first record
            file.seek(24 + 300)
            file.write(b"spoilt")
        done = self.thor("sweep", config, *more)
        self.assertRegex(done.stderr, r"\d+ of 60 models were done before")
        self.assert_same(self.rows("whole.h5"), self.rows())
        self.assertFalse(journal.exists())

    def test_a_signal_writes_what_there_is(self):
        config = self.file(sweep("sobol", models=400))
        more = ("--set", "set={generators.0.photons: 20000}", "--drain", "0")
        job = subprocess.Popen(command_line("sweep", config, *more), cwd=self.folder, stderr=subprocess.PIPE, text=True)
        journal = self.folder / "sweep.h5.models"
        while job.poll() is None and not (journal.exists() and journal.stat().st_size > 2000):
            time.sleep(0.005)
        job.send_signal(signal.SIGINT)
        told = job.communicate()[1]
        self.assertEqual(job.returncode, STOPPED, told)
        self.assertIn("the same command goes on", told)
        status = self.rows()["status"]
        self.assertTrue(0 < (status == 1).sum() < 400)
        with h5py.File(self.folder / "sweep.h5") as file:
            self.assertFalse(file.attrs["complete"])
        changed = self.thor("sweep", config, "--set", "seed=2", *more, expect=OUTPUT).stderr
        self.assertRegex(changed, "another sweep.*Delete it")
        # The result of a stopped sweep is replaced by the same command.
        self.thor("sweep", config, *more, "--max-walltime", "0.01", expect=STOPPED)

    def test_two_processes(self):
        config = self.file(sweep("sobol", models=400))
        more = ("--set", "set={generators.0.photons: 20000}", "--drain", "0")
        job = subprocess.Popen(command_line("sweep", config, *more), cwd=self.folder, stderr=subprocess.DEVNULL)
        try:
            while job.poll() is None and not (self.folder / "sweep.h5.models").exists():
                time.sleep(0.005)
            self.assertIn("another process", self.thor("sweep", config, *more, expect=OUTPUT).stderr)
        finally:
            job.kill()
            job.wait()

    def test_a_full_disk(self):
        from support import limited
        import resource
        config = self.file(sweep("sobol", models=200))
        done = subprocess.run(command_line("sweep", config), capture_output=True, text=True, cwd=self.folder, timeout=60,
                              **limited(resource.RLIMIT_FSIZE, 20000))
        self.assertEqual(done.returncode, OUTPUT, done.stderr)
        self.assertIn("sweep.h5.models", done.stderr)
        self.thor("sweep", config)  # goes on
        self.assertEqual(set(self.rows()["status"]), {1})

    def test_refusals(self):
        good = sweep("grid")
        (self.folder / "taken.h5").write_text("precious")
        for config, words in {
            good.replace("model: model.yaml", "model: none.yaml"): "none.yaml",
            good.replace("design: grid", "design: gird"): 'did you mean "grid"',
            good.replace("spacing: log", "spacing: logarithmic"): "expected linear or log",
            good.replace("[1e2, 1e4]", "[1e4, 1e2]"): "must increase",
            good.replace("[0 km/s, 100 km/s]", "[0 km/s, 100 pc]"): "in one unit",
            good.replace(", values: 3", ""): "expected the number of values",
            good.replace("design: grid", "design: sobol"): "models: missing",
            good.replace("dataset.tau0", "dataset.tua0"): "sweep.yaml:5:3: dataset.tua0: unknown key; did you mean \"tau0\"",
            good + "set: {percision: double}\n": "percision: unknown key",
            "model: model.yaml\nlist:\n  - {dataset.tau: 3}\noutput: {path: a.h5}\n": "sweep.yaml:3:6: dataset.tau: unknown key",
            good.replace("design: grid", "design: latin\nmodels: 100000000").replace(", values: 3", ""): "whole number from 1 to 10000000",
            good.replace("sweep.h5", "sweep.txt"): "ends in .h5 or .zarr",
            good + "modles: 3\n": 'did you mean "models"',
            good.replace("keys:", "key:"): 'did you mean "keys"',
            "model: model.yaml\noutput: {path: a.h5}\n": "expected a map from keys",
            "model: model.yaml\nlist: []\noutput: {path: a.h5}\n": "expected a list of maps",
            good.replace("precision: [single, double]", "dataset.velocity: [{profile: linear, max: 1 km/s}]"): "contains the other",
            good.replace("design: grid", "design: grid\nset: {seed: 3}"): "its key seed",
            good.replace("precision:", "'precision=double #':"): "expected the path of a key",
            good.replace("precision:", "output.path:"): "no result of their own",
            "model: model.yaml\nlist: [{seed: 1, seed: 2}]\noutput: {path: a.h5}\n": "given twice",
            good.replace("precision:", "outputs.0.bins:").replace("[single, double]", "[12, 13]"): None,
            MODEL: "thor run",
        }.items():
            with self.subTest(words):
                if words is None:  # found when models run
                    self.thor("sweep", self.file(config), expect=UNRELIABLE)
                    self.assertEqual(set(self.rows()["status"]), {1, 3})
                    continue
                done = self.thor("sweep", self.file(config), expect=USAGE)
                self.assertIn(words, done.stderr)
                self.assertNotIn("internal", done.stderr)
        self.thor("sweep", self.file(good), "-o", "taken.h5", expect=OUTPUT)
        (self.folder / "folder.h5").mkdir()
        self.assertIn("directory", self.thor("sweep", "sweep.yaml", "-o", "folder.h5", "--overwrite", expect=OUTPUT).stderr)
        self.assertEqual((self.folder / "taken.h5").read_text(), "precious")
        self.assertIn("thor sweep", self.thor("run", "sweep.yaml", expect=USAGE).stderr)
        until = MODEL + "until: {output: v, error: 10 %}\n"
        (self.folder / "model.yaml").write_text(until)
        self.assertIn("fixed numbers of photons", self.thor("sweep", "sweep.yaml", "--overwrite", expect=USAGE).stderr)
        self.assertNotIn("sweep.h5.models", os.listdir(self.folder))

    def test_values_are_what_was_run(self):
        """Numbers in the unit of the first, or else words; the same kind for all models."""
        lists = {"dataset.outer_radius: [1 kpc, 2 kpc, 1500 pc]": [1, 2, 1.5],
                 "dataset.velocity.max: [-100 km/s, +100 km/s, 2e7 cm/s]": [-100, 100, 200],
                 "generators.0.name: [4a, c, b]": None}
        for keys, expected in lists.items():
            with self.subTest(keys):
                self.thor("sweep", self.file(f"model: model.yaml\nkeys: {{{keys}}}\noutput: {{path: s.h5}}\n"), "--overwrite")
                with h5py.File(self.folder / "s.h5") as file:
                    (values,) = file["parameters"].values()
                    if expected is None:
                        words = text(values.attrs["words"]).split("\n")
                        self.assertEqual([words[int(i)].strip("\"'") for i in values], ["4a", "c", "b"])
                    else:
                        np.testing.assert_allclose(values, expected, rtol=1e-12)
                        self.assertNotIn("words", values.attrs)

    def test_rows_are_alike(self):
        """Lines have wavelengths of their own, and a model with other units or observers fails."""
        self.thor("sweep", self.file("model: model.yaml\nkeys: {line: [Lya, CIV]}\noutput: {path: s.h5}\n"))
        np.testing.assert_allclose(self.rows("s.h5")["spectra/v/wavelength0"], [1215.67, 1548.2], rtol=1e-5)
        self.thor("sweep", self.file("model: model.yaml\nlist: [{seed: 1}, {sky: {distance: 10 Mpc}}]\noutput: {path: t.h5}\n"),
                  expect=UNRELIABLE)
        np.testing.assert_array_equal(self.rows("t.h5")["status"], [1, 3])
        text = MODEL.replace("  - {type: spectrum, name: dark", "  - {type: spectrum, name: o, observer: some, range: [-9 km/s, "
                             "9 km/s], bins: 2}\n  - {type: spectrum, name: dark") + "observers: [{name: some, random: 1}]\n"
        (self.folder / "random.yaml").write_text(text)
        config = "model: random.yaml\nkeys: {dataset.tau0: [10, 20]}\noutput: {path: u.h5}\n"
        self.thor("sweep", self.file(config), expect=UNRELIABLE)
        self.thor("sweep", self.file(config.replace("[10, 20]}", "[10, 20], seed: [4]}")), "--overwrite")

    def test_inputs_are_not_replaced_and_do_not_change(self):
        lines = self.thor("lines", "--yaml").stdout
        for name in ("a.yaml", "b.yaml"):
            (self.folder / name).write_text(lines)
        config = "model: model.yaml\nlist: [{dataset.tau0: 10}, {line_list: b.yaml}, {generators.0.photons: 40000000}]\n"
        self.thor("sweep", self.file(config + "output: {path: s.h5}\n"), "--max-walltime", "1", "--drain", "0", "--threads", "1",
                  expect=STOPPED)
        (self.folder / "b.yaml").write_text(lines + "# changed\n")
        self.assertIn("another sweep", self.thor("sweep", "sweep.yaml", expect=OUTPUT).stderr)

    def test_check_says_how_long_and_how_large(self):
        config = self.file(sweep("latin", models=1000))
        # The shortest of three, as others may use the machine; within an order of magnitude, for the same reason.
        told = min((json.loads(self.thor("check", config, "--json").stdout) for _ in range(3)), key=lambda told: told["seconds"])
        self.assertEqual(told["models"], 1000)
        self.assertGreater(told["tried"], 3)
        start = time.monotonic()
        self.thor("sweep", config)
        seconds = time.monotonic() - start
        print(f"\n  estimate {told['seconds']:.1f} s, sweep {seconds:.1f} s", file=sys.stderr)
        self.assertTrue(told["seconds"] / 10 < seconds < 10 * told["seconds"] + 5)
        self.assertLess((self.folder / "sweep.h5").stat().st_size, told["file_bytes"])
        self.assertIn("# A sweep", self.thor("check", config, "--no-trial").stdout)

    def test_zarr(self):
        self.thor("sweep", self.file(sweep("grid")), "-o", "sweep.zarr")
        self.assertTrue((self.folder / "sweep.zarr/spectra/v/flux/.zarray").exists())


FIELDS = ("velocity_initial", "velocity_final", "column", "generator")


class RawPhotons(SweepCase):
    """For reweighting: those that escaped, in the order of their ids."""

    def setUp(self):
        super().setUp()
        photons = f"  - {{type: photons, fields: [{', '.join(FIELDS)}]}}\noutput:"
        (self.folder / "model.yaml").write_text(MODEL.replace("output:", photons))

    def test_are_those_of_runs(self):
        config = self.file(sweep("grid"))
        self.thor("sweep", config, "--threads", 3)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["model.yaml", "sweep.h5", "sweep.yaml"])
        with h5py.File(self.folder / "sweep.h5") as file:
            first = file["raw/first"][:]
            self.assertEqual(len(first), 13)
            for model in (0, 7, 11):
                values = {"dataset.tau0": file["parameters/dataset.tau0"][model], "precision": ("single", "double")[model % 2],
                          "dataset.velocity.max": f"{file['parameters/dataset.velocity.max'][model]} km/s"}
                sets = [f"--set={key}={value}" for key, value in values.items()] + [f"--set=outputs.2.fields=[id, {', '.join(FIELDS)}]"]
                self.thor("run", "model.yaml", "-o", "one.h5", "--overwrite", "--seed", file["seed"][model], *sets)
                photons = self.photons(self.folder / "one.h5")
                escaped = photons["fate"] == 2
                self.assertTrue(0 < np.sum(escaped) < 300)
                for field in FIELDS:
                    found = file[f"raw/{field}"][first[model] : first[model + 1]]
                    np.testing.assert_array_equal(found, photons[field][escaped].astype("f4"), err_msg=field)
        self.assertEqual(self.rows()["raw/first"][-1], np.sum(np.round(self.rows()["escape_fraction"] * 300)))

    def test_a_killed_sweep_goes_on(self):
        """The file of photons has more than the records name, after a kill between the two, or less, after a crash of the machine."""
        config = self.file(sweep("sobol", models=40))
        more = ("--set", "set={generators.0.photons: 2000}")
        self.thor("sweep", config, *more, "-o", "whole.h5")
        journal = self.folder / "sweep.h5.models"
        job = subprocess.Popen(command_line("sweep", config, *more, "--threads", 1), cwd=self.folder, stderr=subprocess.DEVNULL)
        while job.poll() is None and (journal.stat().st_size if journal.exists() else 0) < 10 * 700:
            time.sleep(0.002)
        job.kill()
        job.wait()
        photons = self.folder / "sweep.h5.models.photons"
        with open(photons, "ab") as file:
            file.write(b"what no record names")
        self.thor("sweep", config, *more)
        self.assert_same(self.rows("whole.h5"), self.rows())
        self.assertFalse(journal.exists() or photons.exists())

    def test_spoilt_photons_are_run_again(self):
        config = self.file(sweep("sobol", models=40))
        job = subprocess.Popen(command_line("sweep", config, "--set", "set={generators.0.photons: 2000}", "--threads", 1), cwd=self.folder,
                               stderr=subprocess.DEVNULL)
        journal, photons = (self.folder / f"sweep.h5.models{end}" for end in ("", ".photons"))
        while job.poll() is None and (journal.stat().st_size if journal.exists() else 0) < 5 * 700:
            time.sleep(0.002)
        job.kill()
        job.wait()
        with open(photons, "r+b") as file:
            file.seek(100)
            file.write(b"spoilt")
        more = ("--set", "set={generators.0.photons: 2000}")
        done = self.thor("sweep", config, *more)
        kept = (int(re.search(r"(\d+) of 40 models were done before", done.stderr)[1]))
        self.assertGreater(kept, 3)  # all but the one that is spoilt
        self.thor("sweep", config, *more, "-o", "whole.h5")
        self.assert_same(self.rows("whole.h5"), self.rows())

    def test_fields(self):
        for fields, words in (("[id]", "velocity_final"), ("[position]", "name them"), ("", "name them")):
            with self.subTest(fields):
                text = f"{{type: photons, fields: {fields}}}" if fields else "{type: photons}"
                (self.folder / "model.yaml").write_text(MODEL.replace("output:", f"  - {text}\noutput:"))
                self.assertIn(words, self.thor("sweep", self.file(sweep("grid")), expect=USAGE).stderr)

    def test_check_says_how_large(self):
        size = float(re.search(r"result file +(\S+) kB", self.thor("check", self.file(sweep("grid"))).stdout)[1])
        self.thor("sweep", "sweep.yaml")
        self.assertLess((self.folder / "sweep.h5").stat().st_size / 1000, size)


if __name__ == "__main__":
    main()
