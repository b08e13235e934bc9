"""Checkpoints: runs that are killed at any moment go on from the last one, to the result of a run that was not.

    /usr/bin/python3 tests/e2e/test_checkpoints.py --thor build/release/thor [unittest arguments]
"""

import contextlib
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import ENDLESS, sphere  # noqa: E402
from support import Case, DONE, INPUT, STOPPED, THOROUGH, USAGE, command_line, held, main, mounted, thor, wait_for  # noqa: E402
from test_until import numbers  # noqa: E402

SPECTRUM = {"type": "spectrum", "name": "s", "axis": "velocity", "range": ["-300 km/s", "300 km/s"], "bins": 40}
IMAGE = {"type": "image", "name": "sb", "observer": "face", "width": "2 kpc", "pixels": 12}
CONFIG = {**sphere(500, 3000, outputs=[SPECTRUM, IMAGE], dust={"tau": 0.1}), "observers": [{"name": "face", "direction": [0, 0, 1]}]}
OFTEN = ("--checkpoint", 0.02, "--threads", 1, "--device", "cpu", "--quiet")
#: Of runs that are killed: a checkpoint after every batch, and an end that is never reached.
ALWAYS = ("--checkpoint", 0.001, *OFTEN[2:])
KILLED = held("at:150")
#: Of runs that are to end: a disk takes its time for each checkpoint.
SELDOM = ("--checkpoint", 0.4, "--device", "cpu", "--quiet")


class Checkpoints(Case):
    @classmethod
    def setUpClass(cls):
        """Tests share the result of a whole run, and that of a run which ends at an error."""
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="thor-e2e-")
        cls.addClassCleanup(folder.cleanup)

        def run(name, config, *arguments):
            path, out = Path(folder.name) / "config.yaml", Path(folder.name) / name
            path.write_text(json.dumps(config))
            done = thor("run", path, "-o", out, "--device", "cpu", *arguments)
            assert done.returncode == DONE, done.stderr
            return out

        cls.all = THOROUGH * 1000
        cls.config = {**CONFIG, "generators": [{**CONFIG["generators"][0], "photons": cls.all}]}
        cls.whole = run("whole.h5", cls.config)
        cls.config_until = {**CONFIG, "generators": [{**CONFIG["generators"][0], "photons": max(cls.all // 10, 100)}],
                            "until": {"output": "s", "error": "6%", "of": "peak"}}
        cls.whole_until = run("until.h5", cls.config_until)

    def photons(self, out):
        return int(self.summary(out)["photons"]) if out.exists() else 0

    def test_killed_at_any_moment(self):
        """Kills a run six times (or more: THOROUGH), at once or some time after a checkpoint; what was kept is whole each
        time, and never less than before."""
        draw, out, done = random.Random(7), self.folder / "out.h5", 0
        config = self.write(self.config)
        written = lambda: out.stat().st_mtime_ns if out.exists() else 0  # noqa: E731
        for kill in range(6 * THOROUGH):
            before = written()
            words = ("continue", out) if out.exists() else ("run", config, "-o", out)
            job = subprocess.Popen(command_line(*words, *ALWAYS), stderr=subprocess.PIPE, text=True, **KILLED)
            if kill % 2:
                self.assertTrue(wait_for(lambda: written() != before))
            time.sleep(draw.uniform(0.0, 0.2))
            job.send_signal(signal.SIGKILL)
            said = job.communicate(timeout=60)[1]
            self.assertEqual(job.returncode, -signal.SIGKILL, said)
            self.assertGreaterEqual(self.photons(out), done)
            done = self.photons(out)
        self.assertGreater(done, 0)
        finish = thor("continue", out, *SELDOM)
        self.assertEqual(finish.returncode, DONE, finish.stderr)
        one, other = numbers(self.whole, ("ranks",)), numbers(out, ("ranks",))
        self.assertEqual([key for key in one if one[key] != other.get(key)], [])
        self.assertEqual(one.keys(), other.keys())

    def test_a_checkpoint_is_a_result(self):
        """It says that it is not complete, and has the light of all sources."""
        out = self.folder / "out.h5"
        self.killed(out)
        summary = self.summary(out)
        self.assertFalse(summary["complete"])
        self.assertIn(b"the run was cut", summary["caveats"])
        self.assertEqual((summary["in_flight"], summary["photons_requested"]), (0, self.all))
        self.assertAlmostEqual(summary["luminosity_emitted"] / 1e42, 1, delta=1e-9)
        with h5py.File(out) as file:
            self.assertGreater(np.sum(file["spectra/s/flux"][:]), 0)
        self.assertEqual(thor("info", out).returncode, DONE)

    def test_half_a_file_is_refused(self):
        """A disk that lost its end: what is left is not taken for a checkpoint."""
        out, whole = self.folder / "out.h5", self.whole.read_bytes()
        out.write_bytes(whole[: len(whole) // 2])
        done = thor("continue", out, "--photons", 10)
        self.assertEqual(done.returncode, INPUT, done.stderr)

    def test_a_spoilt_checkpoint_gives_way_to_the_one_before(self):
        """Half of a file, or a file whose counts have changed on the disk."""
        out, previous = self.folder / "out.h5", self.folder / "out.h5.previous"
        self.killed(out, until=previous.exists)
        good = out.read_bytes()

        def halve():
            out.write_bytes(good[: len(good) // 2])

        def change():
            out.write_bytes(good)
            with h5py.File(out, "r+") as file:
                cells = file["tally/cells"][:]
                cells[-1] += np.uint64(1)
                file["tally/cells"][...] = cells

        for spoil, result in ((halve, self.folder / "other.h5"), (change, out)):
            out.unlink()
            spoil()
            done = thor("continue", out, "-o", result, *SELDOM)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn(".previous", done.stderr)
            one, other = (numbers(path, ("ranks", "warnings")) for path in (self.whole, result))
            self.assertEqual([key for key in one if one[key] != other.get(key)], [])
        self.assertFalse(previous.exists(), "a run that is done leaves nothing behind")

    def killed(self, out, *words, until=None):
        """Kills a run after it has written a checkpoint."""
        before = out.stat().st_mtime_ns if out.exists() else 0
        words = words or ("run", self.write(self.config), "-o", out)
        job = subprocess.Popen(command_line(*words, *ALWAYS), stderr=subprocess.PIPE, text=True, **KILLED)
        self.addCleanup(job.kill)
        self.assertTrue(wait_for(until or (lambda: out.exists() and out.stat().st_mtime_ns != before)), "a checkpoint")
        job.send_signal(signal.SIGKILL)
        job.communicate(timeout=60)

    def test_a_file_called_previous_that_is_something_else(self):
        """It stays as it is, whatever the run does; and nothing goes on from what belongs to another run."""
        out, previous = self.folder / "out.h5", self.folder / "out.h5.previous"
        previous.write_text("a backup")
        done = thor("run", self.write(self.config), "-o", out, *(word for word in ALWAYS if word != "--quiet"))
        self.assertEqual((done.returncode, previous.read_text()), (DONE, "a backup"), done.stderr)
        self.assertIn("is not a checkpoint of this run", done.stderr)
        previous.unlink()
        # The checkpoint of another run goes with the result that is replaced.
        self.killed(out, "run", self.write(self.config), "-o", out, "--overwrite")
        out.rename(previous)
        out.touch()
        self.killed(out, "run", self.write({**self.config, "seed": 77}), "-o", out, "--overwrite")
        if previous.exists():
            with h5py.File(previous) as file:
                self.assertEqual(file.attrs["seed"], 77)
        # It is not what a run is continued from and at the same time replaces.
        out.rename(previous)
        done = thor("continue", previous, "-o", out)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertTrue(previous.exists())

    def test_the_result_that_is_continued_is_kept_beside_the_next(self):
        out, previous = self.folder / "out.h5", self.folder / "out.h5.previous"
        (self.folder / "scratch").mkdir()
        link, real = self.folder / "link.h5", self.folder / "scratch" / "real.h5"
        link.symlink_to(real)  # results are often links to another disk
        self.killed(out)
        shutil.copy(out, real)
        for name, kept in ((out, previous), (link, self.folder / "scratch" / "real.h5.previous")):
            self.killed(name, "continue", name)
            self.assertFalse(kept.is_symlink())
            self.assertTrue(kept.exists())
            name.resolve().unlink()  # the last one is lost
            done = thor("continue", name, *OFTEN)
            self.assertEqual(done.returncode, DONE, done.stderr)
            one, other = (numbers(path, ("ranks", "warnings")) for path in (self.whole, name))
            self.assertEqual([key for key in one if one[key] != other.get(key)], [])
            self.assertFalse(kept.exists())

    def test_killed_before_the_next_one_has_its_name(self):
        """The last one is then also called .previous, and is continued all the same."""
        out, previous = self.folder / "out.h5", self.folder / "out.h5.previous"
        self.killed(out)
        previous.unlink(missing_ok=True)
        previous.hardlink_to(out)
        self.folder.joinpath("out.h5.previous.partial").hardlink_to(out)
        refused = thor("continue", previous, "-o", out)
        self.assertEqual((refused.returncode, previous.exists()), (USAGE, True), refused.stderr)
        done = thor("continue", out, *SELDOM)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual([path.name for path in self.folder.glob("out*")], ["out.h5"])

    def test_stopped_in_the_first_batch(self):
        """There is nothing that could be continued: a job script begins again."""
        out = self.folder / "out.h5"
        thick = {**self.config, "dataset": {**self.config["dataset"], "tau0": 1e7}, "acceleration": {"core_skip": "none", "jumps": False}}
        done = thor("run", self.write(thick), "-o", out, *OFTEN, "--max-walltime", 0.3, "--drain", 0)
        self.assertEqual(done.returncode, STOPPED, done.stderr)
        self.assertIn("nothing was written", done.stderr)
        self.assertEqual(list(self.folder.glob("out*")), [])

    def test_photons_that_are_owed_to_an_error_that_was_met(self):
        config = {**self.config, "until": {"output": "s", "error": "10%", "of": "peak"}}
        config["generators"] = [{**config["generators"][0], "photons": max(self.all // 20, 100)}]
        out = self.run_thor(config, "--device", "cpu")
        met = self.photons(out)
        self.killed(out, "continue", out, "--photons", self.all)
        cut, goal = self.photons(out), int(self.summary(out)["photons_requested"])
        self.assertGreaterEqual(goal, met + self.all)
        self.assertLess(cut, goal)
        self.assertEqual(thor("continue", out, *OFTEN).returncode, DONE)
        self.assertEqual(self.photons(out), goal)

    def test_the_same_result_with_and_without(self):
        one, other = numbers(self.whole), numbers(self.run_thor(self.config, *OFTEN))
        self.assertEqual([key for key in one if one[key] != other.get(key)], [])

    def test_until(self):
        one, other = self.whole_until, self.run_thor(self.config_until, *OFTEN)
        self.assertEqual(self.photons(one), self.photons(other))
        with h5py.File(one) as a, h5py.File(other) as b:
            np.testing.assert_array_equal(a["spectra/s/flux"], b["spectra/s/flux"])

    def test_until_goes_on_after_a_kill(self):
        """It looks at the error after the same photons."""
        whole, out = self.whole_until, self.folder / "out.h5"
        path = self.write(self.config_until)
        for _ in range(3):
            words = ("--restart", out) if out.exists() else ()
            job = subprocess.Popen(command_line("run", path, "-o", out, *words, *OFTEN), stderr=subprocess.PIPE, text=True)
            before = out.stat().st_mtime_ns if out.exists() else 0
            wait_for(lambda: (out.exists() and out.stat().st_mtime_ns != before) or job.poll() is not None)
            job.send_signal(signal.SIGKILL)
            job.communicate(timeout=30)
            if job.returncode == DONE:
                break
        if not self.summary(out)["complete"]:
            done = thor("run", path, "-o", out, "--restart", out, *SELDOM)
            self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(self.photons(whole), self.photons(out))
        one, other = numbers(whole), numbers(out)
        self.assertEqual([key for key in one if one[key] != other.get(key)], [])

    def test_a_disk_that_fills_up_keeps_the_last_one(self):
        with mounted(self, self.folder / "disk", "size=2M") as disk:
            out, ballast = disk / "out.h5", disk / "ballast"
            options = [word for word in OFTEN if word != "--quiet"]
            longer = {**self.config, "generators": [{**self.config["generators"][0], "photons": 10**8}]}
            job = subprocess.Popen(command_line("run", self.write(longer), "-o", out, *options), stderr=subprocess.PIPE, text=True)
            self.addCleanup(job.kill)
            self.assertTrue(wait_for(out.exists), "the first checkpoint")
            said = []
            reader = threading.Thread(target=lambda: said.extend(job.stderr), daemon=True)
            reader.start()

            def noticed():
                """Fills what is free, again and again: the file that a checkpoint replaces leaves room for the next."""
                with contextlib.suppress(OSError), open(ballast, "ab", buffering=0) as file:
                    while file.write(bytes(4096)):
                        pass
                return any("checkpoint not written" in line for line in said)

            self.assertTrue(wait_for(noticed), said)
            self.assertIsNone(job.poll())
            job.send_signal(signal.SIGKILL)
            job.wait(30)
            reader.join(30)
            self.assertGreater(self.photons(out), 0)
            ballast.unlink()
            self.assertEqual(thor("info", out).returncode, DONE)

    def test_mistakes(self):
        done = thor("run", self.write(ENDLESS), "--checkpoint", 10)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("--checkpoint: ", done.stderr)
        never = {**self.config, "output": {"path": "out.h5", "tally": "never"}}
        self.assertEqual(thor("run", self.write(never), "--checkpoint", 10).returncode, USAGE)
        done = thor("run", self.write(self.config), "-o", self.folder / "out.zarr", "--checkpoint", 10)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("--checkpoint: ", done.stderr)
        for wrong in ("0", "-1", "nan", "often"):
            self.assertEqual(thor("run", self.write(self.config), "--checkpoint", wrong).returncode, USAGE)

    def test_a_signal_after_checkpoints(self):
        out = self.folder / "out.h5"
        job = subprocess.Popen(command_line("run", self.write(self.config), "-o", out, *ALWAYS), stderr=subprocess.PIPE, text=True, **KILLED)
        self.addCleanup(job.kill)
        self.assertTrue(wait_for(out.exists), "the first checkpoint")
        job.send_signal(signal.SIGTERM)
        said = job.communicate(timeout=30)[1]
        self.assertEqual(job.returncode, STOPPED, said)
        self.assertEqual(self.summary(out)["in_flight"], 0)
        self.assertEqual(thor("continue", out, *SELDOM).returncode, DONE)
        self.assertEqual(self.photons(out), self.all)


if __name__ == "__main__":
    main()
