"""Runs that stop early: signals, limits on the time and caps on histories. The memory and the start-up time of a run, too.

    /usr/bin/python3 tests/e2e/test_stopping.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import json
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import ENDLESS, sphere  # noqa: E402
from support import (  # noqa: E402
    Case, DONE, ESCAPED, LOST, OUTPUT, STOPPED, UNRELIABLE, best_of, command_line, held, main, read_package, thor, wait_for)


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
        cls.code = {}
        jobs = {
            "int": cls.start("int", "--drain", "0.2"),
            "term": cls.start("term", "--drain", "0.2"),
            "twice": cls.start("twice", "--drain", "1000"),
            "walltime": cls.start("walltime", "--max-walltime", "0.5", "--drain", "0.2"),
            "thin": cls.start("thin", "--drain", "1000", config="thin.yaml", **held("after:1001")),
        }
        # A second run must neither write to nor remove the file of the first.
        cls.rival = thor("run", cls.folder / "long.yaml", "-o", cls.folder / "int.h5")
        cls.rival_left_it = (cls.folder / "int.h5.partial").exists()
        jobs["int"].send_signal(signal.SIGINT)
        jobs["term"].send_signal(signal.SIGTERM)
        jobs["thin"].send_signal(signal.SIGINT)
        jobs["twice"].send_signal(signal.SIGINT)
        wait_for(lambda: "stopping" in cls.log("twice"))
        time.sleep(0.2)  # within 0.1 s of the first it would be the same wish
        jobs["twice"].send_signal(signal.SIGINT)
        for name in ("twice", "thin", "walltime", "int", "term"):
            cls.code[name] = jobs[name].wait(60)

    @classmethod
    def start(cls, name, *arguments, config="long.yaml", **options):
        with open(cls.folder / f"{name}.log", "w") as log:
            job = subprocess.Popen(
                command_line("run", cls.folder / config, "-o", cls.folder / f"{name}.h5", "--threads", "1", "--device", "cpu", *arguments),
                stderr=log, **options)
        cls.addClassCleanup(lambda: job.poll() is None and job.kill())
        wait_for(lambda: (cls.folder / f"{name}.h5.partial").exists() or job.poll() is not None)
        return job

    @classmethod
    def log(cls, name):
        return (cls.folder / f"{name}.log").read_text()

    def check(self, name, in_flight=True):
        self.assertEqual(self.code[name], STOPPED, self.log(name))
        path = self.folder / f"{name}.h5"
        self.assertFalse(path.with_suffix(".h5.partial").exists())
        s = self.assert_closed(path)
        self.assertFalse(s["complete"])
        if in_flight:
            self.assertGreater(s["in_flight"], 0)
        self.assertRegex(self.log(name), "warning: the run was cut")
        package = read_package()
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
        self.assertGreater(s["transport_seconds"], 0.5)

    def test_interrupt_of_short_histories_drains_at_once(self):
        s = self.check("thin", in_flight=False)
        self.assertEqual(s["in_flight"], 0)
        self.assertGreater(s["photons"], 1000)

    def test_second_interrupt_ends_at_once(self):
        self.assertEqual(self.code["twice"], -signal.SIGINT)
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
            job = command_line("run", config, "-o", out, "--quiet")
            done = subprocess.run([sys.executable, "-I", "-S", "-c", script, *job],
                                  capture_output=True, text=True, check=True, timeout=60)
            peak.append(int(done.stdout) / 1024)
            self.assertEqual(self.summary(out)["photons"], photons)
        print(f"\n  peak memory: {peak[0]:.1f} MB with 2e4 photons, {peak[1]:.1f} MB with 2e6", file=sys.stderr)
        self.assertLess(abs(peak[1] - peak[0]), 20)

    def test_starts_quickly(self):
        config = self.write(sphere(1, 1))
        for arguments in (("--version",), ("run", config, "-o", self.folder / "one.h5", "--device", "cpu")):
            seconds = best_of(1, lambda: self.assertEqual(thor(*arguments).returncode, DONE))
            print(f"\n  thor {arguments[0]}: {1000 * seconds:.0f} ms", file=sys.stderr)
            self.assertLess(seconds, 2)


if __name__ == "__main__":
    main()
