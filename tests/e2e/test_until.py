"""Runs that end at an error, and results that are continued.

    /usr/bin/python3 tests/e2e/test_until.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import json
import math
import os
import resource
import shutil
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
from configurations import ENDLESS, sphere  # noqa: E402
from support import (  # noqa: E402
    KPC, Case, DONE, INPUT, OUTPUT, STOPPED, THOROUGH, USAGE, command_line, held, limited, main, mounted, read_package, text, thor,
    wait_for, write_grid)

SPECTRUM = {"type": "spectrum", "name": "s", "axis": "x", "range": [-15, 15], "bins": 30}
IMAGE = {"type": "image", "name": "i", "observer": "o", "width": "2 kpc", "pixels": 8}
OBSERVER = {"observers": [{"name": "o", "direction": [1, 2, 3]}]}


def until(config, **keys):
    return {**config, "until": {"output": "s", **keys}}


def numbers(path, but=()):
    """All that a result holds but what depends on time and way: arrays, and attributes of groups."""
    passing = {"transport_seconds", "config_hash", "threads", "date", "config", "config_path", "photons_requested", "continued",
               "until_seconds_needed", "next_look", *but}
    found = {}
    with h5py.File(path) as file:
        def visit(name, item):
            if isinstance(item, h5py.Dataset):
                found[name] = item[()].tobytes()
            for key, value in item.attrs.items():
                if key not in passing:
                    found[f"{name} {key}"] = repr(value)
        file.visititems(visit)
    return found


class UntilCase(Case):
    def assert_equal_results(self, one, other, but=()):
        a, b = numbers(one, but), numbers(other, but)
        self.assertEqual(a.keys(), b.keys())
        self.assertEqual([name for name in a if a[name] != b[name]], [])

    def grow(self, path, *arguments, expect=DONE, **options):
        self.done = thor("continue", path, *arguments, **options)
        self.assertEqual(self.done.returncode, expect, self.done.stderr)
        return self.done.stderr


class Until(UntilCase):
    def flux(self, path, name="s"):
        with h5py.File(path) as file:
            return file[f"spectra/{name}/flux"][()], file[f"spectra/{name}/error"][()]

    def test_the_error_is_met_with_about_the_photons_that_it_takes(self):
        # Photons of one weight: a bin of n of them has an error of 1/sqrt(n).
        config = sphere(100, 500, outputs=[SPECTRUM])
        share = 0.0
        for of in ("peak", "bin-median"):
            with self.subTest(of):
                out = self.run_thor(until(config, error="2%", of=of))
                s, (flux, error) = self.summary(out), self.flux(out)
                order = np.argsort(-flux)
                light = np.cumsum(flux[order]) / flux.sum()
                at = order[0] if of == "peak" else order[np.searchsorted(light, 0.5)]
                self.assertAlmostEqual(s["until_reached"] / (error[at] / flux[at]), 1, delta=1e-9)
                self.assertLessEqual(s["until_reached"], 0.02)
                share = flux[at] / flux.sum() * s["escaped"] / s["photons"]
                expected = 2500 / share
                self.assertAlmostEqual(int(s["photons"]) / expected, 1, delta=0.2)
                self.assertEqual((text(s["until_ended"]), bool(s["until_met"]), bool(s["complete"])), ("met", True, True))
                self.assertAlmostEqual(s["luminosity_emitted"] / 1e42, 1, delta=1e-12)
                self.assert_closed(out)
        self.assertGreater(abs(500 * share / 2500 - 1), 0.5, "the first batch alone would do")

    def test_it_is_the_run_of_as_many_photons(self):
        config = {**sphere(30, 400, outputs=[SPECTRUM, IMAGE], dust={"tau": 0.5}), **OBSERVER}
        config["generators"].append({"type": "extended", "shape": "medium", "photons": 300, "luminosity": "3e41 erg/s"})
        out = self.run_thor(until(config, error=0.08), "--threads", 3)
        photons = int(self.summary(out)["photons"])
        self.assertGreater(photons, 700)
        self.assertEqual(photons % 7, 0, "the shares of the generators are kept")
        config["generators"][0]["photons"] = photons * 4 // 7
        config["generators"][1]["photons"] = photons * 3 // 7
        keys = ("until_output", "until_of", "until_error", "until_reached", "until_met", "until_ended", "until_photons_needed")
        self.assert_equal_results(out, self.run_thor(config, "--threads", 1), keys)
        self.assertNotEqual(numbers(out, keys), numbers(self.run_thor(config, "--seed", 2), keys), "the twin: another seed")

    def test_the_reached_error_is_the_scatter_of_seeds(self):
        # Escaped light of dusty gas in all, and the brightest pixel of an image, whose error comes from groups.
        config = {**sphere(3, 500, outputs=[SPECTRUM, IMAGE], dust={"tau": 1}), **OBSERVER}
        seeds = 20 * THOROUGH
        for of, name, value in (("total", "s", lambda f: f["spectra/s/flux"][()].sum()),
                                ("total", "i", lambda f: f["images/i/surface_brightness"][()].sum()),
                                ("peak", "s", lambda f: f["spectra/s/flux"][15])):
            with self.subTest(f"{of} of {name}"):
                values, errors = [], []
                for seed in range(seeds):
                    out = self.run_thor({**config, "until": {"output": name, "of": of, "error": "4%"}}, "--seed", seed)
                    errors.append(self.summary(out)["until_reached"])
                    with h5py.File(out) as file:
                        values.append(value(file))
                scatter = np.std(values, ddof=1) / np.mean(values)
                self.assertLess(max(errors), 0.04)
                # The scatter of 20 is known to 16 %, and a bin's error is that of a Poisson number.
                self.assertAlmostEqual(scatter / np.mean(errors), 1, delta=2.3 / math.sqrt(seeds))

    def test_limits(self):
        config = sphere(100, 500, outputs=[SPECTRUM])
        with self.subTest("max_photons"):
            out = self.run_thor(until(config, error="1%", max_photons=3000), expect=STOPPED)
            s = self.summary(out)
            self.assertEqual((s["photons"], text(s["until_ended"]), bool(s["until_met"])), (3000, "max_photons", False))
            self.assertAlmostEqual(s["until_photons_needed"] / (3000 * (s["until_reached"] / 0.01) ** 2), 1, delta=1e-9)
            self.assertRegex(text(s["caveats"]), r"requested 1 % .*max_photons after 3000 photons.*`thor continue --photons [0-9]")
            self.assertTrue(s["complete"])
            self.assertIn("until", thor("info", out).stdout)
            self.assertIn("NOT REACHED", str(read_package().open(out)))
        with self.subTest("max_time"):
            slow = sphere(2e4, 100, outputs=[SPECTRUM])
            out = self.run_thor(until(slow, error="0.1%", max_time="0.2 s"), "--device", "cpu", expect=STOPPED)
            s = self.summary(out)
            self.assertEqual(text(s["until_ended"]), "max_time")
            self.assertEqual((s["in_flight"], bool(s["complete"])), (0, True))
            self.assertAlmostEqual(s["luminosity_emitted"] / 1e42, 1, delta=1e-12)
            self.grow(out, "--photons", 50, "--threads", 1)  # after those that were not started
            photons = int(self.summary(out)["photons"])
            self.assertGreaterEqual(photons, s["photons"] + 50)
            with h5py.File(out) as file:
                self.assertEqual(file["tally"].attrs["next_id"], photons)
            slow["generators"][0]["photons"] = photons
            self.assert_equal_results(out, self.run_thor(slow), [k for k in s if k.startswith("until")] + ["caveats"])
        with self.subTest("--max-walltime"):
            out = self.run_thor(until(slow, error="0.1%"), "--max-walltime", 0.2, expect=STOPPED)
            self.assertEqual(text(self.summary(out)["until_ended"]), "walltime")
            self.assertIn("--max-walltime", text(self.summary(out)["caveats"]))

    def test_a_total_is_not_exact_after_a_few_photons(self):
        # All of the first few may escape from thin dust; that says nothing of the next.
        config = sphere(1, 3, outputs=[SPECTRUM], dust={"tau": 0.02})
        path = self.run_thor(until(config, error="5%", of="total"))
        self.assertGreaterEqual(self.summary(path)["photons"], 20)

    def test_no_light_at_all(self):
        dark = {**SPECTRUM, "range": [1000, 1001]}
        out = self.run_thor(until(sphere(1, 500, outputs=[dark]), error="2%", max_photons=20000), expect=STOPPED)
        s = self.summary(out)
        self.assertEqual((s["photons"], text(s["until_ended"])), (20000, "max_photons"))
        self.assertNotIn("until_reached", s)
        self.assertIn("s has no light after 20000 photons", text(s["caveats"]))
        with h5py.File(out) as file:
            said = json.loads(thor("info", "--json", out).stdout)
            self.assertEqual(said["summary"]["until_met"], False)
            self.assertIn("max_photons: 20000", text(file.attrs["config"]))
        resolved = thor("info", "--config", self.run_thor(until(sphere(1, 500, outputs=[SPECTRUM]), error="9%"))).stdout
        self.assertIn("max_photons: 1000000000", resolved, "no run is endless")

    def test_what_is_refused(self):
        good = sphere(1, 100, outputs=[SPECTRUM])
        for keys, said in (({"error": 0}, "must be > 0 % and <= 100 %"),
                           ({"error": "0%"}, "must be > 0 % and <= 100 %"),
                           ({"error": "101%"}, "must be > 0 % and <= 100 %"),
                           ({"error": "2 km"}, 'a share such as "2%"'),
                           ({}, "until.error: missing"),
                           ({"error": "2%", "output": "t"}, 'no binned output of this name'),
                           ({"error": "2%", "of": "median"}, "one of total, peak, bin-median"),
                           ({"error": "2%", "max_time": "3"}, "no unit"),
                           ({"error": "2%", "max_photons": 0}, "max_photons")):
            with self.subTest(keys):
                done = thor("run", self.write(until(good, **keys)))
                self.assertEqual(done.returncode, USAGE, done.stderr)
                self.assertIn(said, done.stderr)
        named = sphere(1, 100, outputs=[{**SPECTRUM, "name": "emergent"}])
        done = thor("run", self.write({**named, "until": {"output": "emergnt", "error": "2%"}}))
        self.assertIn('did you mean "emergent"?', done.stderr)
        done = thor("run", self.write(until(sphere(1, 100, outputs=[SPECTRUM, {"type": "photons"}]), error="2%")))
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("raw photons", done.stderr)

    def test_a_signal_leaves_whole_batches(self):
        config = self.write(until(sphere(3e3, 200, outputs=[SPECTRUM]), error="0.01%"))
        out = self.folder / "out.h5"
        job = subprocess.Popen(command_line("run", config, "-o", out, "--drain", 0, "--device", "cpu"),
                               stderr=subprocess.PIPE, text=True, **held("after:500"))  # some batches
        self.assertTrue(wait_for((self.folder / "out.h5.partial").exists))
        job.send_signal(signal.SIGTERM)
        said = job.communicate(timeout=60)[1]
        self.assertEqual(job.returncode, STOPPED, said)
        s = self.assert_closed(out)
        self.assertEqual((s["in_flight"], text(s["until_ended"])), (0, "signal"))
        self.assertAlmostEqual(s["luminosity_emitted"] / 1e42, 1, delta=1e-12)
        photons = int(s["photons"])
        self.assertGreaterEqual(photons, 200)
        keys = [k for k in s if k.startswith("until")] + ["caveats"]
        self.assert_equal_results(out, self.run_thor(sphere(3e3, photons, outputs=[SPECTRUM])), keys)


class Continue(UntilCase):
    def test_twice_is_once(self):
        config = {**sphere(100, 3000, outputs=[SPECTRUM, IMAGE], dust={"tau": 0.3}), **OBSERVER}
        once = self.run_thor(config)
        config["generators"][0]["photons"] = 700
        for threads in (1, 3):
            out = self.run_thor(config, "--threads", threads)
            other = self.folder / f"other{threads}.h5"
            self.grow(out, "--photons", 1300, "--threads", threads)
            self.grow(out, "--photons", "1e3", "-o", other)
            self.assertEqual(self.summary(out)["photons"], 2000)
            self.assert_equal_results(once, other)
        self.assert_closed(other)
        with h5py.File(other) as file:
            self.assertEqual((file["tally"].attrs["continued"], file["tally"].attrs["next_id"]), (2, 3000))

    def test_on_a_grid_with_several_generators(self):
        grid = self.folder / "grid.h5"
        write_grid(grid, n=8, cell=0.25 * KPC, density=1e-6)
        with h5py.File(grid, "a") as file:
            light = np.arange(512).reshape(8, 8, 8) % 7 * 1e-24
            file["light"] = light.astype("f4")
            file["light"].attrs["units"] = "erg s-1 cm-3"
            group = file.create_group("sources")
            group["position"] = np.array([[0.7, 0.9, 1.1], [1.5, 1.2, 0.3]]) * KPC
            group["position"].attrs["units"] = "cm"
            group["luminosity"] = np.array([1e41, 3e41])
            group["luminosity"].attrs["units"] = "erg s-1"

        def config(times):
            return {"line": "Lya", "dataset": {"type": "uniform_grid", "path": "grid.h5"},
                    "generators": [{"type": "gas", "emission": "field", "field": "light", "photons": 100 * times},
                                   {"type": "sources", "photons": 60 * times},
                                   {"type": "point", "position": ["1 kpc"] * 3, "photons": 40 * times,
                                    "luminosity": "1e42 erg/s"}],
                    "outputs": [SPECTRUM, {**IMAGE, "centre": ["1 kpc"] * 3}], **OBSERVER, "output": {"path": "out.h5"}}
        once = self.run_thor(config(10))
        out = self.run_thor(config(2), "--threads", 3)
        self.grow(out, "--photons", 600)
        self.grow(out, "--photons", 1000, "--threads", 1)
        self.assert_equal_results(once, out)
        self.assertGreater(self.summary(out)["luminosity_escaped"], 0)

        with h5py.File(grid, "a") as file:
            file["temperature"][0, 0, 0] += 1
        before = out.read_bytes()
        said = self.grow(out, "--photons", 1000, expect=INPUT)
        self.assertRegex(said, "grid.h5 has changed")
        grid.unlink()
        self.grow(out, "--photons", 1000, expect=INPUT)
        self.assertEqual(out.read_bytes(), before)

    def test_every_generator_keeps_its_share(self):
        config = sphere(1, 1000, outputs=[SPECTRUM])
        config["generators"] = [{"type": "point", "photons": n, "luminosity": "1e42 erg/s"} for n in (1000, 10)]
        out = self.run_thor(config)
        self.assertIn("adding 101 photons", self.grow(out, "--photons", 60))
        with h5py.File(out) as file:
            for name in ("0", "1"):
                self.assertAlmostEqual(file[f"generators/{name}"].attrs["luminosity_emitted"] / 1e42, 1, 9)

    def test_a_result_that_changes_meanwhile_is_kept(self):
        out = self.run_thor(sphere(100, 1000, outputs=[SPECTRUM]))
        before = out.read_bytes()
        with subprocess.Popen(command_line("continue", out, "--photons", "1e4", "--threads", 1, "--device", "cpu"),
                              stderr=subprocess.PIPE, text=True, **held("at:2000")) as process:
            wait_for(lambda: (self.folder / f"{out.name}.partial").exists())
            os.utime(out, (1, 1))
            process.terminate()
            said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, OUTPUT, said)
        self.assertIn("has changed since photons were added", said)
        self.assertEqual(out.read_bytes(), before)

    def test_zarr(self):
        config = sphere(10, 500, outputs=[SPECTRUM])
        out = self.folder / "out.zarr"
        self.assertEqual(thor("run", self.write(config), "-o", out).returncode, DONE)
        self.grow(f"{out}/", "--photons", 500)
        other = self.folder / "other.h5"
        self.grow(out, "--photons", 1000, "-o", other)
        config["generators"][0]["photons"] = 2000
        self.assert_equal_results(self.run_thor(config), other)

    def test_to_an_error(self):
        config = sphere(100, 500, outputs=[SPECTRUM])
        out = self.run_thor(config)
        self.assertRegex(self.grow(out), "the run is complete.*--photons.*--until-error")
        said = self.grow(out, "--until-error", "4%")
        self.assertIn("requested 4 %", said)
        s = self.summary(out)
        self.assertTrue(s["until_met"])
        self.assertLessEqual(s["until_reached"], 0.04)
        one = self.run_thor(until(config, error="3%"))
        self.grow(out, "--until-error", "3%")
        config["generators"][0]["photons"] = int(self.summary(out)["photons"])
        keys = [k for k in self.summary(out) if k.startswith("until")]
        self.assert_equal_results(out, self.run_thor(config), keys)
        self.assertAlmostEqual(self.summary(out)["photons"] / self.summary(one)["photons"], 1, delta=0.1)
        self.grow(one)  # it is met already
        self.assertIn("error: --until-error 5: must be > 0 % and <= 100 %", self.grow(one, "--until-error", "5", expect=USAGE))
        self.assertRegex(self.grow(one, "--until-error", "2%", "--until-output", "t", expect=USAGE), "error: --until-output t: .*no binned output")
        self.assertIn("error: --of all: expected one of total", self.grow(one, "--until-error", "2%", "--of", "all", expect=USAGE))

    def test_a_cut_run_is_completed(self):
        config = sphere(200, 6000, outputs=[SPECTRUM])
        cut = ("--max-walltime", 0.04, "--threads", 3, "--device", "cpu")
        out = self.run_thor(config, *cut, expect=STOPPED, **held("at:2000"))
        s = self.summary(out)
        self.assertEqual((s["in_flight"], s["photons"]), (0, 2000))
        self.grow(out, *cut, expect=STOPPED, **held("at:1500"))
        self.assertEqual(self.summary(out)["photons"], 3500)
        self.assertAlmostEqual(self.summary(out)["luminosity_emitted"] / 1e42, 1, delta=1e-12)
        cut = self.summary(out)
        self.assertEqual((cut["complete"], cut["photons_requested"]), (False, 6000))
        self.assertRegex(text(cut["caveats"]), "of 6000 photons were started.*not biased.*all sources")
        self.assertIn("NO: it was cut", thor("info", out).stdout)
        self.grow(out)
        self.assert_equal_results(out, self.run_thor(config))
        # Photons that were to be added are remembered, too.
        self.grow(out, "--photons", 10**6, "--max-walltime", 0.2, "--device", "cpu", expect=STOPPED, **held("at:500"))
        self.assertEqual((self.summary(out)["complete"], self.summary(out)["photons_requested"]), (False, 1006000))

    def test_a_run_that_restarts(self):
        """`thor run CONFIG --restart FILE` is `thor continue FILE`, if FILE is of CONFIG."""
        config = sphere(200, 3000, outputs=[SPECTRUM])
        whole, half = self.run_thor(config, "--device", "cpu"), self.folder / "half.h5"
        how = ("--device", "cpu", "--quiet", "--threads", 1)
        stopped = thor("run", self.write(config), "-o", half, "--max-walltime", 0.02, *how, **held("at:1000"))
        self.assertEqual(stopped.returncode, STOPPED, stopped.stderr)
        cut = half.read_bytes()

        def restart(*arguments, expect=DONE):
            done = thor("run", self.folder / "config.yaml", *how, *arguments)
            self.assertEqual(done.returncode, expect, done.stderr)
            return done.stderr

        other = self.folder / "other.h5"
        restart("--restart", half, "-o", other)
        self.assert_equal_results(whole, other)
        self.assertEqual(half.read_bytes(), cut)
        restart("--restart", half, "-o", half, "--set", "output.path=elsewhere.h5")
        self.assert_equal_results(whole, half)
        half.write_bytes(cut)
        for change, keys in ((("--seed", 2), "differs in seed\n"),
                             (("--set", "generators.0.photons=10", "--set", "limits.max_scatterings=5"),
                              "differs in generators.0.photons, limits.max_scatterings\n"),
                             (("--set", "until={output: s, error: 1%}"), "differs in until\n")):
            self.assertIn(keys, restart("--restart", half, *change, expect=USAGE))
        self.assertEqual(half.read_bytes(), cut)
        self.assertIn("no such file", restart("--restart", self.folder / "none.h5", expect=INPUT))
        complete = whole.read_bytes()
        restart("--restart", whole)  # nothing is left to do
        self.assertEqual(whole.read_bytes(), complete)
        restart("--restart", half)  # replaced
        self.assert_equal_results(whole, half)

    def test_photons_in_flight_are_refused(self):
        endless = {**ENDLESS, "outputs": [SPECTRUM]}
        out = self.run_thor(endless, "--max-walltime", 0.3, "--drain", 0, expect=STOPPED)
        self.assertGreater(self.summary(out)["in_flight"], 0)
        self.assertRegex(self.grow(out, "--photons", 10, expect=INPUT), "photons or rays in flight.*--drain")

    def test_a_signal_does_not_touch_the_result(self):
        out = self.run_thor(sphere(1e4, 20, outputs=[SPECTRUM]))
        before = out.read_bytes()
        job = subprocess.Popen(command_line("continue", out, "--photons", 10**7, "--drain", 0, "--threads", 1),
                               stderr=subprocess.PIPE, text=True)
        wait_for(lambda: (self.folder / f"{out.name}.partial").exists())
        job.send_signal(signal.SIGTERM)
        said = job.communicate(timeout=60)[1]
        self.assertEqual(job.returncode, STOPPED, said)
        self.assertEqual(out.read_bytes(), before)
        self.assertFalse((self.folder / f"{out.name}.partial").exists())
        # Killed at any time, also while it writes: the old one stays, or the new one is whole.
        for wait in (0.05, 0.2, 0.4):
            job = subprocess.Popen(command_line("continue", out, "--photons", 50, "--threads", 1), stderr=subprocess.DEVNULL)
            time.sleep(wait)
            job.kill()
            job.wait()
            self.assertEqual(thor("info", out).returncode, DONE)
            self.assertEqual((int(self.summary(out)["photons"]) - 20) % 50, 0)
        self.grow(out, "--photons", 1)  # what was left of the killed ones is no obstacle

    def test_a_full_disk_keeps_the_result(self):
        config = sphere(1, 500, outputs=[{**SPECTRUM, "bins": 20000}])
        out = self.run_thor(config)
        before = out.read_bytes()
        said = self.grow(out, "--photons", 500, expect=OUTPUT, **limited(resource.RLIMIT_FSIZE, 100_000))
        self.assertIn("cannot write", said)
        self.assertEqual(out.read_bytes(), before)
        with mounted(self, self.folder / "small", "size=1m") as small:
            shutil.copy(out, small / "out.h5")
            (small / "filler").write_bytes(b"x" * (2**20 - out.stat().st_size - 100_000))
            self.grow(small / "out.h5", "--photons", 500, expect=OUTPUT)
            self.assertEqual((small / "out.h5").read_bytes(), before)

    def test_what_cannot_be_continued(self):
        out = self.run_thor(sphere(1, 500, outputs=[SPECTRUM]))
        whole = out.read_bytes()
        with self.subTest("truncated"):
            out.write_bytes(whole[:len(whole) // 2])
            self.assertRegex(self.grow(out, "--photons", 10, expect=INPUT), "truncated|HDF5")
        changes = {
            "thor 9.9": lambda file: file.attrs.__setitem__("thor_version", "9.9"),
            "it is of format 1": lambda file: file.attrs.__setitem__("format_version", 1),
            "configuration was changed after the run": lambda file: file.attrs.__setitem__("config", text(file.attrs["config"]) + "# more\n"),
            "was changed after the run": lambda file: file.attrs.__setitem__(
                "config", text(file.attrs["config"]).replace("seed: 1\n", "seed: 2\n")),
            "quanta": lambda file: file["tally"].attrs.__setitem__("quantum", 1.0),
            "damaged (cells)": lambda file: file["tally/cells"].__setitem__(0, 7),
            "the number of photons": lambda file: file["tally"].attrs.__setitem__("next_id", 501),
            "it has no tally": lambda file: file.__delitem__("tally"),
        }
        for said, change in changes.items():
            with self.subTest(said):
                out.write_bytes(whole)
                with h5py.File(out, "a") as file:
                    change(file)
                self.assertIn(said, self.grow(out, "--photons", 10, expect=INPUT))
        with self.subTest("raw photons"):
            raw = self.run_thor(sphere(1, 10, outputs=[SPECTRUM, {"type": "photons"}]))
            self.assertIn("raw photons", self.grow(raw, "--photons", 10, expect=INPUT))
        with self.subTest("not kept"):
            config = sphere(1, 10, outputs=[SPECTRUM])
            config["output"]["tally"] = "never"
            self.assertIn("output.tally: always", self.grow(self.run_thor(config), "--photons", 10, expect=INPUT))
        with self.subTest("no result"):
            self.assertIn("no such file", self.grow(self.folder / "none.h5", "--photons", 10, expect=INPUT))
            self.assertIn("whole number", self.grow(out, "--photons", 1.5, expect=USAGE))
        with self.subTest("another result is not replaced"):
            out.write_bytes(whole)
            other = self.folder / "other.h5"
            other.write_text("mine")
            self.assertIn("exists", self.grow(out, "--photons", 10, "-o", other, expect=OUTPUT))
            self.assertEqual(other.read_text(), "mine")


if __name__ == "__main__":
    main()
