"""The thor command from outside: result files, exactness, sources, limits, signals, exit codes.

    /usr/bin/python3 tests/e2e/test_command.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py. Seeds are fixed, so a statistical test
(4 or 5 sigma) always passes or always fails; where cheap, the same test is shown to reject a wrong number.
"""

import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
THOR = os.environ.get("THOR_BINARY", str(ROOT / "build/release/thor"))

KPC = 3.0856775814913673e21  # cm
C = 299792.458  # km/s
ESCAPED, ABSORBED, LOST = 2, 3, 4
DONE, USAGE, DEVICE, STOPPED, OUTPUT, UNRELIABLE = 0, 2, 4, 5, 6, 7


def sphere(tau0, photons, *, outputs=None, spectrum=None, source=None, **dataset):
    """A configuration (as JSON, which is YAML): a sphere of 1 kpc around a Lya source at line centre."""
    return {
        "driver": "mcrt",
        "line": "Lya",
        "seed": 1,
        "precision": "single",
        "dataset": {"type": "shell", "outer_radius": "1 kpc", "temperature": "1e4 K", "tau0": tau0, **dataset},
        "generators": [
            {
                **(source or {"type": "point"}),
                "photons": photons,
                "luminosity": "1e42 erg/s",
                "spectrum": spectrum or {"type": "delta"},
            }
        ],
        "outputs": outputs if outputs is not None else [{"type": "photons"}],
        "output": {"path": "out.h5"},
    }


def slab(tau0, photons, **options):
    config = sphere(tau0, photons, **options)
    config["dataset"]["type"] = "slab"
    config["dataset"]["half_thickness"] = config["dataset"].pop("outer_radius")
    return config


MEDIA = {
    "static sphere": sphere(1e3, 600),
    "expanding dusty shell": sphere(
        1e4,
        500,
        inner_radius="0.2 kpc",
        density={"profile": "power_law", "exponent": -2},
        velocity={"profile": "power_law", "exponent": 0.5, "max": "40 km/s"},
        dust={"tau": 0.5},
    ),
    "dusty slab": slab(1e3, 600, dust={"tau": 0.5, "albedo": 0.5, "g": 0.5}),
    "fluorescent wind": {
        **sphere(1e3, 600, b_turb="20 km/s", velocity={"profile": "linear", "max": "100 km/s"}, dust={"tau": 0.1}),
        "line": "CaII",
    },
    "deuterium by other schemes": {
        **sphere(1e3, 300),
        "physics": {"deuterium": 1e-2},
        "numerics": {"voigt": "H82", "u_parallel": "SK20", "generator": "philox4x32", "uniform": "unbiased"},
    },
}

# Thick without core skipping: about 1e8 scatterings, many seconds, for each photon.
ENDLESS = sphere(1e8, 100000, outputs=[{"type": "photons"}, {"type": "spectrum", "name": "emergent", "axis": "x",
                                                               "range": [-100, 100], "bins": 100}])


def thor(*arguments, **options):
    """Runs the command; tries again while the binary is being replaced by a build."""
    for _ in range(20):
        try:
            return subprocess.run([THOR, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)
        except OSError:  # missing, or text file busy
            time.sleep(1)
    raise RuntimeError(f"{THOR} cannot be run")


def text(value):
    return value.decode() if isinstance(value, bytes) else value


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="thor-e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.runs = 0

    def write(self, config, name="config.yaml"):
        path = self.folder / name
        path.write_text(config if isinstance(config, str) else json.dumps(config))
        return path

    def run_thor(self, config, *arguments, expect=DONE, **options):
        """Runs a configuration and returns the result file's path."""
        self.runs += 1
        output = self.folder / f"run{self.runs}.h5"
        self.done = thor("run", self.write(config), "-o", output, *arguments, **options)
        self.assertEqual(self.done.returncode, expect, self.done.stderr)
        return output

    def photons(self, path):
        """Every field of the recorded photons, in the order of their ids."""
        with h5py.File(path) as file:
            fields = {name: data[()] for name, data in file["photons/original"].items()}
        order = np.argsort(fields["id"], kind="stable")
        return {name: data[order] for name, data in fields.items()}

    def run_photons(self, config, *arguments):
        return self.photons(self.run_thor(config, *arguments))

    def summary(self, path):
        with h5py.File(path) as file:
            return dict(file["summary"].attrs)

    def assert_closed(self, path):
        """Every photon has one fate, and the luminosities add up."""
        s = self.summary(path)
        self.assertEqual(s["photons"], sum(int(s[k]) for k in ("escaped", "absorbed", "stopped", "lost", "in_flight")))
        parts = sum(s["luminosity_" + k] for k in ("unresolved", "escaped", "absorbed", "stopped", "lost", "in_flight"))
        self.assertAlmostEqual(parts / s["luminosity_emitted"], 1, delta=1e-12)
        with h5py.File(path) as file:
            if "photons" in file:
                fate = file["photons/original/fate"][()]
                self.assertEqual(len(fate), s["photons"])
                for name, code in (("escaped", ESCAPED), ("absorbed", ABSORBED), ("lost", LOST)):
                    self.assertEqual(np.count_nonzero(fate == code), s[name], name)
                self.assertEqual(np.count_nonzero(fate < ESCAPED), s["in_flight"])
        return s

    def assert_identical(self, a, b, message=""):
        self.assertEqual(a.keys(), b.keys())
        for name in a:
            same = a[name].shape == b[name].shape and a[name].tobytes() == b[name].tobytes()
            if not same and a[name].shape == b[name].shape:
                rows = np.nonzero((a[name] != b[name]).reshape(len(a[name]), -1).any(axis=1))[0]
                first = rows[0] if len(rows) else 0
                message += f": {len(rows)} photons differ, the first has id {a['id'][first]}: " \
                           f"{a[name][first]} and {b[name][first]}"
            self.assertTrue(same, f"{name} differs {message}")

    def assert_share(self, hits, count, expected, sigmas=4.0, message=""):
        error = math.sqrt(expected * (1 - expected) / count)
        self.assertLess(abs(hits / count - expected), sigmas * error,
                        f"{message} share {hits / count:.5f}, expected {expected:.5f} +- {error:.5f}")

    def assert_mean(self, values, expected, error, sigmas=4.0, message=""):
        mean = float(np.mean(values))
        self.assertLess(abs(mean - expected), sigmas * error,
                        f"{message} {mean:.6g}, expected {expected:.6g} +- {error:.2g}")


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
                    delta=1e-9, msg=name)
                np.testing.assert_allclose(flux * np.diff(edges), counts * weight, rtol=1e-9, err_msg=name)
                np.testing.assert_allclose(error * np.diff(edges), np.sqrt(counts) * weight, rtol=1e-9, err_msg=name)

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


class Exactness(Case):
    """A photon is a function of (seed, id), for one instruction set and precision."""

    def check(self, name):
        for precision in ("single", "double"):
            base = ("--precision", precision)
            reference_file = self.run_thor(MEDIA[name], *base, "--threads", 1)
            reference, totals = self.photons(reference_file), self.assert_closed(reference_file)
            self.assertGreater(np.mean(reference["scatterings"]), 10, "too dull a test")
            for how in (("--threads", 2), ("--threads", 7), ("--threads", 1, "--one-lane"), ("--threads", 7, "--one-lane")):
                with self.subTest(medium=name, precision=precision, how=how):
                    path = self.run_thor(MEDIA[name], *base, *how)
                    self.assert_identical(reference, self.photons(path), f"{name}, {precision}, {how}")
                    s = self.assert_closed(path)
                    for key in ("escaped", "absorbed", "lost", "scatterings", "steps"):
                        self.assertEqual(s[key], totals[key], key)
            with self.subTest(medium=name, precision=precision, how="seed"):
                other = self.run_photons(MEDIA[name], *base, "--seed", 2)
                same = np.mean(other["scatterings"] == reference["scatterings"])
                self.assertLess(same, 0.5)
                self.assertLess(np.count_nonzero(other["velocity_final"] == reference["velocity_final"]), 3)

    def test_static_sphere(self):
        self.check("static sphere")

    def test_expanding_dusty_shell(self):
        self.check("expanding dusty shell")

    def test_dusty_slab(self):
        self.check("dusty slab")

    def test_fluorescent_wind(self):
        self.check("fluorescent wind")

    def test_deuterium_by_other_schemes(self):
        self.check("deuterium by other schemes")

    def test_core_skipping(self):
        config = sphere(1e6, 20)
        config["acceleration"] = {"core_skip": "smith15"}
        self.assert_identical(self.run_photons(config, "--threads", 2),
                              self.run_photons(config, "--threads", 1, "--one-lane"))

    def test_history_does_not_depend_on_the_number_of_photons(self):
        few = self.run_photons(sphere(1e3, 50))
        many = self.run_photons(sphere(1e3, 500))
        for name in few.keys() - {"weight"}:
            self.assertEqual(few[name].tobytes(), many[name][:50].tobytes(), name)

    def test_replay_gives_the_photon_of_the_file(self):
        for name, config in MEDIA.items():
            for how in ((), ("--precision", "double"), ("--one-lane",)):
                p = self.run_photons(config, *how)
                absorbed = np.nonzero(p["fate"] == ABSORBED)[0]
                for i in {0, 17, len(p["id"]) - 1} | set(absorbed[:1].tolist()):
                    with self.subTest(medium=name, how=how, id=i):
                        done = thor("run", self.write(config), "--replay", i, *how)
                        self.assertEqual(done.returncode, DONE, done.stderr)
                        told = dict(line.split(": ", 1) for line in done.stdout.splitlines())
                        numbers = {k: [float(part.split()[0]) for part in v.strip("[]").split(",")]
                                   for k, v in told.items() if k != "fate"}
                        self.assertEqual(int(told["id"]), i)
                        self.assertEqual(told["fate"], {ESCAPED: "escaped", ABSORBED: "absorbed"}[p["fate"][i]])
                        for key in ("scatterings", "generator", "source"):
                            self.assertEqual(int(told[key]), p[key][i])
                        for key in ("weight", "velocity_initial", "velocity_final", "position", "direction", "column",
                                    "position_initial"):
                            self.assertEqual(numbers[key], np.ravel(p[key][i]).tolist(), key)
                self.assertEqual(os.listdir(self.folder).count("out.h5"), 0, "a replay writes no file")
        self.assertEqual(thor("run", self.write(config), "--replay", 10**6).returncode, USAGE)


class Kernels(Case):
    def test_every_kernel_runs_and_they_agree(self):
        listed = re.findall(r"kernel (\S+)", thor("devices").stdout)
        self.assertTrue(listed)
        ways = [(isa, precision, lane) for isa in listed for precision in ("single", "double")
                for lane in ((), ("--one-lane",))]
        means = {}
        for seed, (isa, precision, lane) in enumerate(ways, 1):
            path = self.run_thor(MEDIA["static sphere"], "--isa", isa, "--precision", precision, "--seed", seed, *lane)
            with h5py.File(path) as file:
                self.assertIn(isa, text(file.attrs["device"]))
                x = np.abs(file["photons/original/velocity_final"][()]) / file.attrs["thermal_velocity"]
            means[isa, precision, lane] = np.mean(x), np.std(x) / math.sqrt(len(x))
        value, error = np.array(list(means.values())).T
        best = np.average(value, weights=error**-2)
        chi2 = np.sum(((value - best) / error) ** 2)
        freedom = len(value) - 1
        self.assertLess(chi2, freedom + 4 * math.sqrt(2 * freedom), means)

    def test_unknown_kernel(self):
        before = set(os.listdir(self.folder)) | {"config.yaml"}
        self.run_thor(MEDIA["static sphere"], "--isa", "abacus", expect=DEVICE)
        self.assertEqual(set(os.listdir(self.folder)), before)


class ExitCodes(Case):
    """A failure leaves no file behind."""

    def refuse(self, code, *arguments, says=(), **options):
        before = sorted(p.name for p in self.folder.rglob("*"))
        done = thor(*arguments, cwd=self.folder, **options)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
        for words in [says] if isinstance(says, str) else says:
            self.assertRegex(done.stderr, words)
        self.assertEqual(done.stdout, "", "messages go to stderr")
        self.assertEqual(sorted(p.name for p in self.folder.rglob("*")), before, arguments)
        return done

    def refuse_set(self, key, value, says=(), config=None):
        path = self.write(config or MEDIA["static sphere"])
        return self.refuse(USAGE, "run", path, "--set", f"{key}={value}", says=says)

    def test_done(self):
        for arguments in (("--version",), ("--help",), ("run", "--help"), ("devices",)):
            done = thor(*arguments)
            self.assertEqual(done.returncode, DONE)
            self.assertTrue(done.stdout)

    def test_usage(self):
        config = self.write(MEDIA["static sphere"])
        self.refuse(USAGE, says="subcommand")
        self.refuse(USAGE, "fly")
        self.refuse(USAGE, "run")
        self.refuse(USAGE, "run", config, "--speed", "11", says="--speed")
        self.refuse(USAGE, "run", config, "--threads", "0")
        self.refuse(USAGE, "run", config, "--threads", "many")
        self.refuse(USAGE, "run", config, "--device", "abacus")
        self.refuse(USAGE, "run", config, "--precision", "half")
        self.refuse(USAGE, "run", config, "--seed", "-1")
        self.refuse(USAGE, "run", config, "--seed", "one")
        self.refuse(USAGE, "run", config, "--max-walltime", "0")
        self.refuse(USAGE, "run", config, "--set", "dataset.tau0")
        self.refuse(USAGE, "run", "missing.yaml", says="missing.yaml")
        self.refuse(USAGE, "run", self.folder, says="directory")

    def test_broken_yaml(self):
        for broken in ("driver: [mcrt", "driver: mcrt\n  line: Lya\n\tx", "", "just words", "- a\n- b", "a: b: c: d", ","):
            path = self.write(broken, "broken.yaml")
            self.refuse(USAGE, "run", path, says="broken.yaml")

    def test_unknown_key_names_place_and_nearest(self):
        lines = ["driver: mcrt", "line: Lya", "dataset:", "  type: shell", "  outer_radius: 1 kpc",
                 "  temprature: 1e4 K", "  tau0: 1", "generators:", "  - {type: point, photons: 10}",
                 "output: {path: out.h5}"]
        path = self.write("\n".join(lines), "typo.yaml")
        self.refuse(USAGE, "run", path, says=(r"typo\.yaml:6:3\b.*temprature", "temperature"))

    def test_repeated_key(self):
        path = self.write("driver: mcrt\nline: Lya\nline: Lya\n", "twice.yaml")
        self.refuse(USAGE, "run", path, says=r"twice\.yaml:3:1\b.*line")

    def test_impossible_values(self):
        for value in ("nan K", ".nan K", "inf K", "0 K", "-1 K", "1e4", "1e4 km"):
            self.refuse_set("dataset.temperature", value, "temperature")
        self.refuse_set("dataset.inner_radius", "1 kpc", "inner_radius")
        self.refuse_set("dataset.inner_radius", "2 kpc", "inner_radius")
        self.refuse_set("generators.0.position", "[1.01 kpc, 0 kpc, 0 kpc]", "generators.0.position")
        self.refuse_set("generators.0.position", "[0 kpc, 0 kpc, 1.01 kpc]", "generators.0.position", slab(1e3, 10))
        self.refuse_set("generators.0.photons", "0", "photons")
        self.refuse_set("dataset.tau0", "0", "tau0")
        self.refuse_set("dataset.tau0", "1e16", "tau0")
        self.refuse_set("dataset.dust", "{tau: 1, albedo: 1.5}", "albedo")
        self.refuse_set("dataset.velocity", "{profile: linear, max: 3e5 km/s}", "velocity")

    def test_diverging_profiles(self):
        for exponent in (-1, -2):
            self.refuse_set("dataset.density", f"{{profile: power_law, exponent: {exponent}}}", "density.*diverges")
        self.refuse_set("dataset.velocity", "{profile: power_law, exponent: -0.5, max: 10 km/s}", "velocity.max")
        self.refuse_set("dataset.velocity", "{profile: power_law, exponent: -1, average: 10 km/s}", "velocity.*diverges")

    def test_no_gpu(self):
        """Without the backend, or without a GPU: the reason and the alternatives."""
        told = thor("devices").stdout
        if re.search(r"device cuda:0", told):
            self.skipTest("there is a GPU")
        reason = "not in this build" if "not in this build" in told else "CUDA"
        config = self.write(MEDIA["static sphere"])
        for name in ("cuda", "cuda:0"):
            self.refuse(DEVICE, "run", config, "--device", name, says=(reason, "devices here: cpu"))
        self.run_thor(MEDIA["static sphere"], "--device", "auto")
        with h5py.File(self.folder / "run1.h5") as file:
            self.assertTrue(text(file.attrs["device"]).startswith("cpu: "))

    def test_output_exists(self):
        config = self.write(MEDIA["static sphere"])
        out = self.folder / "out.h5"
        out.write_text("precious")
        self.refuse(OUTPUT, "run", config, "-o", out, says="--overwrite")
        self.assertEqual(out.read_text(), "precious")
        self.assertEqual(thor("run", config, "-o", out, "--overwrite").returncode, DONE)
        self.assert_closed(out)
        self.assertEqual(sorted(os.listdir(self.folder)), ["config.yaml", "out.h5"])

    def test_output_has_no_place(self):
        config = self.write(MEDIA["static sphere"])
        self.refuse(OUTPUT, "run", config, "-o", "missing/out.h5", says="missing")
        (self.folder / "folder.h5").mkdir()
        self.refuse(OUTPUT, "run", config, "-o", "folder.h5", says="directory")
        (self.folder / "folder.h5").rmdir()
        self.refuse(OUTPUT, "run", config, "-o", "config.yaml/out.h5")
        self.refuse(OUTPUT, "run", config, "-o", "/proc/out.h5", says="/proc")
        locked = self.folder / "locked"
        locked.mkdir(mode=0o555)
        if os.geteuid() != 0:
            self.refuse(OUTPUT, "run", config, "-o", locked / "out.h5", says="[Pp]ermission")

    def test_relative_output_lies_beside_the_configuration(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        self.write(MEDIA["static sphere"])
        done = thor("run", "../config.yaml", cwd=elsewhere)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertTrue((self.folder / "out.h5").exists())
        self.assertEqual(os.listdir(elsewhere), [])

    def test_stderr_that_cannot_be_written(self):
        """A log on a full disk, or a closed stderr, does not cost the run."""
        def closed():
            os.close(2)

        short, cut = MEDIA["static sphere"], {**ENDLESS, "limits": {"max_scatterings": 10**7}}
        for name, config, arguments, code in (("end", short, (), DONE),
                                              ("cut", cut, ("--max-walltime", "0.3"), STOPPED),
                                              ("warning", {**short, "limits": {"max_scatterings": 10}}, (), UNRELIABLE)):
            path = self.write(config, name + ".yaml")
            for how in ("full", "closed"):
                with self.subTest(run=name, stderr=how), open("/dev/full", "w") as full:
                    out = self.folder / f"{name}-{how}.h5"
                    job = [THOR, "run", path, "-o", out, *arguments]
                    if how == "full":
                        done = subprocess.run(job, stderr=full, timeout=60)
                    else:
                        done = subprocess.run(job, preexec_fn=closed, timeout=60)
                    self.assertEqual(done.returncode, code)
                    self.assert_closed(out)

    def test_quiet(self):
        self.run_thor(MEDIA["static sphere"], "--quiet")
        self.assertEqual(self.done.stderr + self.done.stdout, "")


class Gpu(Case):
    """thor run --device cuda. Skipped without a GPU."""

    def setUp(self):
        super().setUp()
        if not re.search(r"device cuda:0, sm_\d+, \S+ GiB of memory", thor("devices").stdout):
            self.skipTest("no GPU")

    def test_photons_of_the_processor(self):
        for name, config in MEDIA.items():
            for precision in ("single", "double"):
                with self.subTest(name, precision=precision):
                    here = self.run_thor(config, "--device", "cpu", "--precision", precision)
                    there = self.run_thor(config, "--device", "cuda", "--precision", precision)
                    self.assert_identical(self.photons(here), self.photons(there))
                    self.assert_closed(there)
                    with h5py.File(there) as file:
                        self.assertRegex(text(file.attrs["device"]), r"cuda: .* \(sm_\d+\)")

    def test_stops_within_a_slice(self):
        out = self.folder / "cut.h5"
        job = subprocess.Popen([THOR, "run", self.write(ENDLESS), "-o", out, "--device", "cuda", "--drain", "0"],
                               stderr=subprocess.PIPE, text=True)
        time.sleep(8)  # a busy GPU takes seconds to begin
        asked = time.monotonic()
        job.send_signal(signal.SIGINT)
        _, told = job.communicate(timeout=60)
        self.assertEqual(job.returncode, STOPPED, told)
        self.assertLess(time.monotonic() - asked, 3)  # a slice is 0.03 s; the rest is for writing the file
        summary = self.assert_closed(out)
        self.assertFalse(summary["complete"])
        self.assertGreater(summary["in_flight"], 0)

    def test_what_cannot_be(self):
        config = self.write(MEDIA["static sphere"])
        for arguments, says in ((("--device", "cuda:99"), "devices here: cpu, cuda:0"),
                                (("--device", "cuda", "--lanes", 2**31), ("MB are free", "--lanes"))):
            done = thor("run", config, *arguments, "-o", self.folder / "none.h5")
            self.assertEqual(done.returncode, DEVICE, done.stderr)
            for word in (says,) if isinstance(says, str) else says:
                self.assertIn(word, done.stderr)
            self.assertEqual(os.listdir(self.folder), ["config.yaml"])


class Stopped(unittest.TestCase):
    """Interrupted runs: five at once, since each takes its time to drain."""

    assert_closed = Case.assert_closed
    summary = Case.summary

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="thor-e2e-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        (cls.folder / "long.yaml").write_text(json.dumps(ENDLESS))
        (cls.folder / "thin.yaml").write_text(json.dumps(sphere(0.25, 10**12, outputs=[])))
        cls.code, cls.seconds = {}, {}
        jobs = {
            "int": cls.start("int"),
            "term": cls.start("term"),
            "twice": cls.start("twice"),
            "walltime": cls.start("walltime", "--max-walltime", "1"),
            "thin": cls.start("thin", config="thin.yaml"),
        }
        # A second run must neither write to nor remove the file of the first.
        cls.rival = thor("run", cls.folder / "long.yaml", "-o", cls.folder / "int.h5")
        cls.rival_left_it = (cls.folder / "int.h5.partial").exists()
        time.sleep(0.5)
        begin = time.monotonic()
        jobs["int"].send_signal(signal.SIGINT)
        jobs["term"].send_signal(signal.SIGTERM)
        jobs["thin"].send_signal(signal.SIGINT)
        jobs["twice"].send_signal(signal.SIGINT)
        cls.wait_for(lambda: "stopping" in cls.log("twice"))
        again = time.monotonic()
        jobs["twice"].send_signal(signal.SIGINT)
        cls.code["twice"] = jobs["twice"].wait(30)
        cls.seconds["twice"] = time.monotonic() - again
        for name in ("thin", "walltime", "int", "term"):
            cls.code[name] = jobs[name].wait(60)
            cls.seconds[name] = time.monotonic() - begin

    @classmethod
    def start(cls, name, *arguments, config="long.yaml"):
        with open(cls.folder / f"{name}.log", "w") as log:
            job = subprocess.Popen(
                [THOR, "run", cls.folder / config, "-o", cls.folder / f"{name}.h5", "--threads", "1", *arguments],
                stderr=log)
        cls.addClassCleanup(lambda: job.poll() is None and job.kill())
        cls.wait_for(lambda: (cls.folder / f"{name}.h5.partial").exists() or job.poll() is not None)
        return job

    @classmethod
    def wait_for(cls, what, seconds=20):
        end = time.monotonic() + seconds
        while not what() and time.monotonic() < end:
            time.sleep(0.02)

    @classmethod
    def log(cls, name):
        return (cls.folder / f"{name}.log").read_text()

    def check(self, name, in_flight=True):
        self.assertEqual(self.code[name], STOPPED, self.log(name))
        self.assertLess(self.seconds[name], 12)
        path = self.folder / f"{name}.h5"
        self.assertFalse(path.with_suffix(".h5.partial").exists())
        s = self.assert_closed(path)
        self.assertFalse(s["complete"])
        if in_flight:
            self.assertGreater(s["in_flight"], 0)
        self.assertRegex(self.log(name), "complete = false")
        sys.path.insert(0, str(ROOT / "python"))
        try:
            import thor as package
        finally:
            sys.path.pop(0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            package.open(path).close()
        self.assertIn(package.IncompleteRunWarning, [w.category for w in caught])
        return s

    def test_interrupt(self):
        self.check("int")

    def test_terminate(self):
        self.check("term")

    def test_walltime(self):
        s = self.check("walltime")
        self.assertGreater(s["transport_seconds"], 1)

    def test_interrupt_of_short_histories_drains_at_once(self):
        s = self.check("thin", in_flight=False)
        self.assertEqual(s["in_flight"], 0)
        self.assertLess(s["transport_seconds"], 6)
        self.assertGreater(s["photons"], 1000)

    def test_second_interrupt_ends_at_once(self):
        self.assertEqual(self.code["twice"], -signal.SIGINT)
        self.assertLess(self.seconds["twice"], 2)
        self.assertFalse((self.folder / "twice.h5").exists())
        # Its leftover does not block the next run.
        config = self.folder / "short.yaml"
        config.write_text(json.dumps(sphere(1, 100)))
        done = thor("run", config, "-o", self.folder / "twice.h5")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assert_closed(self.folder / "twice.h5")
        self.assertFalse((self.folder / "twice.h5.partial").exists())

    def test_two_runs_do_not_share_a_file(self):
        self.assertEqual(self.rival.returncode, OUTPUT, self.rival.stderr)
        self.assertTrue(self.rival_left_it)


class Limits(Case):
    def test_caps_count_photons_as_lost(self):
        config = sphere(1e5, 500)
        config["limits"] = {"max_scatterings": 100}
        for how in (("--threads", 2), ("--quiet",), ("--one-lane",)):
            path = self.run_thor(config, *how, expect=UNRELIABLE)
            s = self.assert_closed(path)
            self.assertGreater(s["lost"], 400)
            self.assertTrue(s["complete"])
            self.assertRegex(self.done.stderr, rf"warning: {s['lost']} photons .*lost")
            p = self.photons(path)
            self.assertEqual(set(p["scatterings"][p["fate"] == LOST]), {100})
            self.assertLess(p["scatterings"][p["fate"] == ESCAPED].max(initial=0), 100)

    def test_cap_on_steps(self):
        config = sphere(1e5, 500)
        config["limits"] = {"max_steps": 50}
        path = self.run_thor(config, expect=UNRELIABLE)
        s = self.assert_closed(path)
        self.assertGreater(s["lost"], 400)
        self.assertLessEqual(s["steps"], 50 * 500)

    def test_memory_does_not_grow_with_the_photons(self):
        outputs = [{"type": "spectrum", "name": "s", "axis": "x", "range": [-10, 10], "bins": 100}]
        # In a separate process: a child's peak starts from the size of the process that forked it.
        script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); " \
                 "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        peak = []
        for photons in (20_000, 2_000_000):
            config = self.write(sphere(0.25, photons, outputs=outputs))
            out = self.folder / f"{photons}.h5"
            done = subprocess.run([sys.executable, "-I", "-S", "-c", script, THOR, "run", config, "-o", out, "--quiet"],
                                  capture_output=True, text=True, check=True, timeout=60)
            peak.append(int(done.stdout) / 1024)
            self.assertEqual(self.summary(out)["photons"], photons)
        print(f"\n  peak memory: {peak[0]:.1f} MB with 2e4 photons, {peak[1]:.1f} MB with 2e6", file=sys.stderr)
        self.assertLess(abs(peak[1] - peak[0]), 20)

    def test_starts_quickly(self):
        config = self.write(sphere(1, 1))
        for arguments in (("--version",), ("run", config, "-o", self.folder / "one.h5")):
            begin = time.monotonic()
            self.assertEqual(thor(*arguments).returncode, DONE)
            seconds = time.monotonic() - begin
            print(f"\n  thor {arguments[0]}: {1000 * seconds:.0f} ms", file=sys.stderr)
            self.assertLess(seconds, 2)


class ThinGas(Case):
    PHOTONS = 200_000
    FIELDS = [{"type": "photons", "fields": ["id", "scatterings"]}]

    def unscattered(self, tau0, *how):
        return self.run_photons(sphere(tau0, self.PHOTONS, outputs=self.FIELDS), *how)["scatterings"] == 0

    def expected(self, tau0, a=4.718e-4):
        return math.exp(-tau0 * (1 - 2 * a / math.sqrt(math.pi)))  # H(a, 0) = 1 - 2a/sqrt(pi) + ...

    def test_share_that_does_not_scatter(self):
        for how in ((), ("--precision", "double"), ("--one-lane", "--seed", "5")):
            free = self.unscattered(0.25, *how)
            self.assert_share(np.count_nonzero(free), self.PHOTONS, self.expected(0.25), message=str(how))
            # Neighbouring ids are independent: block fractions and pairs have the expected scatter.
            p = self.expected(0.25)
            for block in (10, 1000):
                z = (free.reshape(-1, block).sum(axis=1) - block * p) / math.sqrt(block * p * (1 - p))
                spread = math.sqrt(2 / len(z) + (1 / (p * (1 - p)) - 6) / (block * len(z)))
                self.assert_mean(z**2, 1, spread, message=f"blocks of {block}")
            self.assert_share(np.count_nonzero(free[::2] & free[1::2]), self.PHOTONS // 2, p * p, message="pairs")

    def test_rejects_a_wrong_optical_depth(self):
        for wrong in (0.97, 1.03):
            free = self.unscattered(0.25 * wrong)
            with self.assertRaises(AssertionError):
                self.assert_share(np.count_nonzero(free), self.PHOTONS, self.expected(0.25))

    def test_beam_through_a_slab(self):
        """Along n the slab is 2 tau0/n_z thick."""
        beam = {"type": "extended", "shape": "beam", "radius": "3 kpc", "direction": [0.6, 0, 0.8]}
        p = self.run_photons(slab(0.25, self.PHOTONS, source=beam, outputs=self.FIELDS))
        self.assert_share(np.count_nonzero(p["scatterings"] == 0), self.PHOTONS, self.expected(2 * 0.25 / 0.8))

    def test_wing(self):
        """Far from line centre gas is thin; dust is not."""
        config = sphere(100, 50_000, spectrum={"type": "delta", "offset": "3000 km/s"}, dust={"tau": 0.5, "albedo": 0})
        s = self.assert_closed(self.run_thor(config))
        self.assert_share(s["escaped"], 50_000, math.exp(-0.5))


class Sources(Case):
    N = 50_000
    EMPTY = 1e-8  # gas so thin that nothing scatters

    def emitted(self, spectrum, axis="velocity", low="-2000 km/s", high="2000 km/s", bins=40000, photons=100_000, how=(), **more):
        """Bin centres and shares of the spectrum of emitted photons."""
        outputs = [{"type": "spectrum", "name": "s", "of": "emitted", "axis": axis, "range": [low, high], "bins": bins}]
        path = self.run_thor(sphere(self.EMPTY, photons, spectrum=spectrum, outputs=outputs, **more), *how)
        with h5py.File(path) as file:
            self.thermal = file.attrs["thermal_velocity"]
            group = file["spectra/s"]
            self.assertEqual(text(group.attrs["of"]), "emitted")
            self.assertEqual(group.attrs["luminosity_beyond"], 0)
            edges = group["edges"][()]
            share = group["flux"][()] * np.diff(edges) / 1e42
        self.assertAlmostEqual(share.sum(), 1, delta=1e-9)
        return 0.5 * (edges[1:] + edges[:-1]), share

    def assert_moments(self, value, share, mean, sigma, kurtosis=3.0, photons=100_000):
        m = np.sum(value * share)
        variance = np.sum((value - m) ** 2 * share)
        self.assert_mean(m, mean, sigma / math.sqrt(photons), message="mean")
        self.assert_mean(variance / sigma**2, 1, math.sqrt((kurtosis - 1) / photons), message="variance")

    def test_gaussian(self):
        for precision in ("single", "double"):
            v, share = self.emitted({"type": "gaussian", "sigma": "120 km/s", "offset": "150 km/s"},
                                    how=("--precision", precision))
            self.assert_moments(v, share, 150, 120)
            with self.assertRaises(AssertionError):
                self.assert_moments(v, share, 150, 120 * 1.03)
            with self.assertRaises(AssertionError):
                self.assert_moments(v, share, -150, 120)

    def test_thermal(self):
        v, share = self.emitted({"type": "thermal", "temperature": "1e5 K"})
        self.assert_moments(v, share, 0, self.thermal * math.sqrt(10 / 2))

    def test_delta(self):
        v, share = self.emitted({"type": "delta", "offset": "-321.05 km/s"}, photons=1000)
        self.assertAlmostEqual(np.sum(v * share), -321.05, delta=0.1)
        self.assertLessEqual(np.count_nonzero(share), 2)

    def test_continuum_is_flat_in_wavelength(self):
        spectrum = {"type": "continuum", "range": ["1100 Angstrom", "1300 Angstrom"]}
        w, share = self.emitted(spectrum, "wavelength", "1090 Angstrom", "1310 Angstrom", bins=22)
        self.assertEqual(share[0] + share[-1], 0)
        counts = share[1:-1] * 100_000
        chi2 = np.sum((counts - 5000) ** 2 / 5000)
        self.assertLess(chi2, 19 + 4 * math.sqrt(2 * 19))
        flat_in_frequency = w[1:-1] ** -2.0 / np.sum(w[1:-1] ** -2.0) * 100_000
        self.assertGreater(np.sum((counts - flat_in_frequency) ** 2 / flat_in_frequency), 1000)
        v, share = self.emitted({"type": "continuum", "range": ["-300 km/s", "900 km/s"]})
        self.assert_moments(v, share, 300, 1200 / math.sqrt(12), kurtosis=1.8)

    def test_line_and_continuum(self):
        spectrum = {"type": "line_and_continuum", "sigma": "20 km/s", "equivalent_width": "2 Angstrom",
                    "range": ["1211 Angstrom", "1221 Angstrom"], "offset": "30 km/s"}
        v, share = self.emitted(spectrum)
        window = 200 * 1215.6701 / C  # +- 100 km/s, 5 sigma
        inside = share[np.abs(v - 30) < 100].sum() * 100_000
        p = 2 / 12
        self.assert_share(inside, 100_000, p + (1 - p) * window / 10)
        with self.assertRaises(AssertionError):  # the ratio of the luminosities is not the probability
            self.assert_share(inside, 100_000, 2 / 10 + (1 - 2 / 10) * window / 10)
        outside = np.abs(v - 30) > 100
        low, high = (C * (w / 1215.6701 - 1) for w in (1211, 1221))
        red, blue = share[outside & (v > 130)].sum(), share[outside & (v < -70)].sum()
        self.assert_share(red * 100_000, (red + blue) * 100_000, (high - 130) / (high - low - 200))

    def test_velocity_of_a_source(self):
        """An isotropic source that moves: v = -V.n, so a box between -V and V."""
        source = {"type": "point", "velocity": ["100 km/s", "200 km/s", "-200 km/s"]}
        v, share = self.emitted({"type": "delta"}, source=source)
        self.assert_moments(v, share, 0, 300 / math.sqrt(3), kurtosis=1.8)
        self.assertLessEqual(np.abs(v[share > 0]).max(), 300.3)
        counts = np.histogram(v, np.linspace(-300.3, 300.3, 11), weights=share * 100_000)[0]
        self.assertLess(np.abs(counts - counts[::-1]).max(), 5 * math.sqrt(2 * 10_000))
        p = self.run_photons(sphere(self.EMPTY, 1000, source=source))
        np.testing.assert_allclose(p["velocity_initial"], -(p["direction"] @ [100, 200, -200]), atol=0.3)

    def test_point(self):
        source = {"type": "point", "position": ["0.3 kpc", "-0.2 kpc", "0.5 kpc"]}
        p = self.run_photons(sphere(self.EMPTY, self.N, source=source))
        np.testing.assert_allclose(p["position"] / KPC, np.tile([0.3, -0.2, 0.5], (self.N, 1)), atol=1e-6)
        self.assert_isotropic(p["direction"])

    def assert_isotropic(self, n):
        for axis in range(3):
            self.assert_mean(n[:, axis], 0, math.sqrt(1 / 3 / len(n)), message="mean direction")
            self.assert_mean(n[:, axis] ** 2, 1 / 3, math.sqrt(4 / 45 / len(n)), message="square of direction")

    def assert_uniform(self, u):
        """Kolmogorov-Smirnov, 1e-4 level."""
        u = np.sort(u)
        i = np.arange(len(u))
        distance = max(np.max(u - i / len(u)), np.max((i + 1) / len(u) - u))
        self.assertLess(distance * math.sqrt(len(u)), 2.23)

    def test_medium(self):
        source = {"type": "extended", "shape": "medium"}
        for inner in (0.0, 0.6):
            config = sphere(self.EMPTY, self.N, source=source, inner_radius=f"{inner} kpc",
                            velocity={"profile": "linear", "max": "200 km/s"})
            p = self.run_photons(config)
            where = p["position"] / KPC
            r = np.linalg.norm(where, axis=1)
            self.assert_uniform((r**3 - inner**3) / (1 - inner**3))
            self.assert_isotropic(where / r[:, None])
            self.assert_isotropic(p["direction"])
            along = np.sum(where * p["direction"], axis=1)
            np.testing.assert_allclose(p["velocity_initial"], -200 * along, atol=0.2)  # at rest in the gas
        p = self.run_photons(slab(self.EMPTY, self.N, source=source))
        self.assert_uniform(0.5 * (p["position"][:, 2] / KPC + 1))

    def test_surface(self):
        source = {"type": "extended", "shape": "surface", "radius": "0.5 kpc"}
        p = self.run_photons(sphere(self.EMPTY, self.N, source=source))
        where = p["position"] / KPC
        np.testing.assert_allclose(np.linalg.norm(where, axis=1), 0.5, atol=1e-6)
        self.assert_isotropic(where / 0.5)
        self.assert_isotropic(p["direction"])
        self.assert_mean(np.sum(where * p["direction"], axis=1), 0, 0.5 * math.sqrt(1 / 3 / self.N), message="correlation")

    def column_ratio(self, precision, inner, density, velocity=None):
        """Column crossed by photons that escape straight from the centre, over the requested one; None if refused."""
        dataset = {"inner_radius": f"{inner} kpc", "density": {"profile": "power_law", "exponent": density},
                   "velocity": velocity or {"profile": "static"}}
        config = self.write(sphere(self.EMPTY, 200, **dataset))
        out = self.folder / "column.h5"
        done = thor("run", config, "-o", out, "--overwrite", "--precision", precision)
        self.assertIn(done.returncode, (DONE, USAGE), done.stderr)
        if done.returncode == USAGE:
            return None
        with h5py.File(out) as file:
            ratio = file["photons/original/column"][()] / file.attrs["column_density"]
        self.assertLess(np.ptp(ratio), 0.003)
        return ratio.mean()

    def test_a_radius_holds_its_column(self):
        moving = {"profile": "power_law", "exponent": 0.5, "max": "300 km/s"}
        for precision in ("single", "double"):
            for profile in ((0, 0), (0.5, 0), (0.1, -2), (1e-3, -2), (0, 2), (0.05, -8), (0.2, -2, moving), (0, 0, moving)):
                with self.subTest(precision=precision, profile=profile):
                    self.assertAlmostEqual(self.column_ratio(precision, *profile), 1, delta=0.001)

    def test_a_steep_profile_is_right_or_refused(self):
        """Gas concentrated at the centre must not be lost silently."""
        for precision in ("single", "double"):
            for profile in ((0, -0.5), (0, -0.9), (0, -0.99), (1e-5, -2), (1e-6, -2), (1e-9, -2), (0.01, -25)):
                with self.subTest(precision=precision, profile=profile):
                    ratio = self.column_ratio(precision, *profile)
                    if ratio is not None:
                        self.assertAlmostEqual(ratio, 1, delta=0.003)

    def test_cold_gas_is_right_or_refused(self):
        """The Voigt parameter grows as the gas cools; a = 1.5 at 1 mK. H(a, 0) = exp(a^2) erfc(a)."""
        for kelvin in (100, 1, 0.1, 0.01, 0.001):
            with self.subTest(kelvin=kelvin):
                config = sphere(1, 20_000, temperature=f"{kelvin} K")
                out = self.folder / f"{kelvin}.h5"
                done = thor("run", self.write(config), "-o", out)
                self.assertIn(done.returncode, (DONE, USAGE), done.stderr)
                if done.returncode == DONE:
                    with h5py.File(out) as file:
                        a = file.attrs["voigt_parameter"]
                    free = np.count_nonzero(self.photons(out)["scatterings"] == 0)
                    self.assert_share(free, 20_000, math.exp(-math.exp(a * a) * math.erfc(a)), message=f"a = {a:.3g}:")

    def test_beam_wider_than_the_sphere(self):
        beam = {"type": "extended", "shape": "beam", "radius": "2 kpc", "direction": [1, 2, -2]}
        path = self.run_thor(sphere(1e4, 20_000, source=beam), "--set", "acceleration.core_skip=smith15")
        p = self.photons(path)
        missed = p["scatterings"] == 0
        self.assert_share(np.count_nonzero(missed), 20_000, 1 - 1 / 4)
        with self.assertRaises(AssertionError):
            self.assert_share(np.count_nonzero(missed), 20_000, 1 - 1 / 3.8)
        self.assertTrue(np.all(p["fate"][missed] == ESCAPED))
        self.assertTrue(np.all(p["column"][missed] == 0))
        np.testing.assert_allclose(p["direction"][missed], np.tile([1 / 3, 2 / 3, -2 / 3], (missed.sum(), 1)), atol=1e-6)
        self.assertTrue(np.all(p["velocity_initial"][missed] == p["velocity_final"][missed]))
        self.assert_closed(path)
        # The others enter within the sphere, on the near side.
        hit = p["position"][~missed] / KPC
        self.assertLessEqual(np.linalg.norm(hit, axis=1).max(), 1 + 1e-5)
        narrow = {**beam, "radius": "0.9 kpc"}
        p = self.run_photons(sphere(1e4, 500, source=narrow))
        self.assertTrue(np.all(p["scatterings"] > 0))

    def test_axes_hold_the_same_luminosity(self):
        nu0 = C * 1e13 / 1215.6701
        outputs = [
            {"type": "spectrum", "name": "x", "axis": "x", "range": [-100, 100], "bins": 200},
            {"type": "spectrum", "name": "v", "axis": "velocity", "range": ["-1500 km/s", "1500 km/s"], "bins": 300},
            {"type": "spectrum", "name": "w", "axis": "wavelength", "range": ["1205 Angstrom", "1225 Angstrom"], "bins": 100},
            {"type": "spectrum", "name": "f", "axis": "frequency", "range": [f"{0.99 * nu0} Hz", f"{1.01 * nu0} Hz"], "bins": 128},
        ]
        spectrum = {"type": "gaussian", "sigma": "30 km/s", "offset": "80 km/s"}
        with h5py.File(self.run_thor(sphere(100, 3000, spectrum=spectrum, outputs=outputs))) as file:
            escaped = file["summary"].attrs["luminosity_escaped"]
            scale = {"x": lambda x: -x * file.attrs["thermal_velocity"], "v": lambda v: v,
                     "w": lambda w: C * (w / 1215.6701 - 1), "f": lambda f: C * (nu0 / f - 1)}
            units = {"x": "", "v": "km s-1", "w": "Angstrom", "f": "Hz"}
            for name, group in file["spectra"].items():
                edges, flux = group["edges"][()], group["flux"][()]
                self.assertEqual(text(group["edges"].attrs["units"]).rstrip("\0"), units[name])
                self.assertAlmostEqual(np.sum(flux * np.diff(edges)) / escaped, 1, delta=1e-9, msg=name)
                centre = scale[name](0.5 * (edges[1:] + edges[:-1]))
                mean = np.sum(centre * flux * np.diff(edges)) / escaped
                self.assertAlmostEqual(mean, 80, delta=5, msg=name)


def main():
    global THOR
    arguments = sys.argv[:1]
    rest = iter(sys.argv[1:])
    for word in rest:
        if word == "--thor":
            THOR = next(rest)
        elif word.startswith("--thor="):
            THOR = word.split("=", 1)[1]
        else:
            arguments.append(word)
    THOR = os.path.abspath(THOR)
    if not os.access(THOR, os.X_OK):
        sys.exit(f"{sys.argv[0]}: {THOR} cannot be run; give --thor PATH or THOR_BINARY")
    unittest.main(argv=arguments)


if __name__ == "__main__":
    main()
