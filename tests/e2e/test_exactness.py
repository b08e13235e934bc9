"""Photons are the same, bit for bit, for any number of threads and lanes and on the GPU, and alike for every kernel.

    /usr/bin/python3 tests/e2e/test_exactness.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import ENDLESS, MEDIA, sphere  # noqa: E402
from support import ABSORBED, Case, DEVICE, DONE, ESCAPED, STOPPED, THOROUGH, USAGE, command_line, main, text, thor, wait_for  # noqa: E402


class Exactness(Case):
    """A photon is a function of (seed, id), for one instruction set and precision."""

    def check(self, name):
        for precision in ("single", "double"):
            base = ("--precision", precision)
            reference_file = self.run_thor(MEDIA[name], *base, "--threads", 1)
            reference, totals = self.photons(reference_file), self.assert_closed(reference_file)
            self.assertGreater(np.mean(reference["scatterings"]), 10, "too dull a test")
            ways = (("--threads", 7), ("--threads", 2, "--one-lane"), ("--threads", 2), ("--threads", 1, "--one-lane"))
            for how in ways[:2 * THOROUGH]:
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
                # In single precision a few of thousands of velocities are equal by chance.
                self.assertLess(np.mean(other["velocity_final"] == reference["velocity_final"]), 0.01)

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
                for i in {17} | ({0, len(p["id"]) - 1} if not how or THOROUGH > 1 else set()) | set(absorbed[:1].tolist()):
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


class Gpu(Case):
    """thor run --device cuda. Skipped without a GPU."""

    def setUp(self):
        super().setUp()
        if not re.search(r"device cuda:0, sm_\d+, driver", thor("devices").stdout):
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
        job = subprocess.Popen(command_line("run", self.write(ENDLESS), "-o", out, "--device", "cuda", "--drain", "0"),
                               stderr=subprocess.PIPE, text=True)
        self.assertTrue(wait_for(out.with_name("cut.h5.partial").exists))
        job.send_signal(signal.SIGINT)
        _, told = job.communicate(timeout=60)
        self.assertEqual(job.returncode, STOPPED, told)
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


if __name__ == "__main__":
    main()
