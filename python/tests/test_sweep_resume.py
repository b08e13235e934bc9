"""Sweeps that are resumed or refused, and whose runs fail; with the thor command."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
import warnings
from pathlib import Path

from support import ENDLESS, FILES, SMALL, WithSweep, held, need_thor

import thor


def setUpModule():
    need_thor()


class ResumeTest(WithSweep):
    def test_only_what_is_missing_is_run(self):
        self.sweep()
        before = self.changes()
        Path(self.at, FILES[2]).unlink()
        done, said = self.sweep()
        after = self.changes()
        self.assertEqual(len(done), 4)
        self.assertEqual([name for name in FILES if after[name] != before[name]], [FILES[2]])
        self.assertIn("3 of 4 runs already exist", said)
        self.assertIn("4 of 4: tau0 = 100, dust.tau = 0", said)

    def test_more_values(self):
        self.sweep()
        before = self.changes()
        grid = {"dataset.tau0": [100, 1000], "dataset.dust.tau": [0.5]}
        done, _ = self.sweep(parameters=grid)
        self.assertEqual([p["dataset.tau0"] for p in done.parameters], [100, 1000])
        after = self.changes()
        self.assertEqual({name: after[name] for name in before}, before)
        self.assertEqual(len(thor.Sweep(self.at)), 5)

    def test_another_configuration_is_refused(self):
        config = Path(self.folder, "base.yaml")
        config.write_text(json.dumps(SMALL))
        self.sweep(config)
        self.sweep(config)
        self.refused("another config", {**SMALL, "seed": 2})
        self.refused("another set", config, set={"seed": 2})
        self.refused("another precision and another seed", config, precision="double", seed=4)
        config.write_text(json.dumps(SMALL).replace("0.5", "0.6"))
        self.refused("choose another folder", config)

    def test_another_line_list_is_refused(self):
        lines = Path(self.folder, "lines.yaml")
        listed = subprocess.run([need_thor(), "lines", "--yaml"], capture_output=True, text=True)
        lines.write_text(listed.stdout)
        config = {**SMALL, "line_list": str(lines)}
        self.sweep(config)
        self.sweep(config)
        lines.write_text(listed.stdout.replace("0.41641", "0.41642"))
        self.refused("another line_list", config)

    def test_files_of_others_are_not_touched(self):
        self.at.mkdir()
        Path(self.at, FILES[0]).write_text("mine")
        with self.assertRaisesRegex(thor.SweepError, "already exists"):
            self.sweep()
        self.assertEqual(os.listdir(self.at), [FILES[0]])
        Path(self.at, FILES[0]).unlink()
        self.sweep()
        thor.run(SMALL, self.at / FILES[1], quiet=True, overwrite=True).close()
        self.refused("another run was written over")

    def test_a_damaged_file_is_refused(self):
        self.sweep()
        os.truncate(self.at / FILES[1], 1000)
        self.refused("truncated.*Delete it")

    def test_a_file_that_the_index_missed_counts(self):
        """State after a sweep that was killed between the run and the index."""
        self.sweep()
        before = self.changes()
        index = json.loads(Path(self.at, "index.json").read_text())
        index["runs"][3].update(state="started", config_sha256="")
        Path(self.at, "index.json").write_text(json.dumps(index))
        self.assertEqual(len(self.sweep()[0]), 4)
        self.assertEqual(self.changes(), before)

    def test_runs_that_were_cut_are_run_again(self):
        parameters = {"dataset.tau0": [10.0, 1e9], "dataset.temperature": ["10 K"]}
        limits = {"max_walltime": 0.5, "drain": 0}
        with self.assertWarnsRegex(thor.IncompleteRunWarning, "1 of 2 runs were interrupted.*1e9") as c:
            warnings.filterwarnings("always", category=thor.IncompleteRunWarning)
            done, _ = self.sweep(ENDLESS, parameters, **limits)
        self.assertEqual([entry.state for entry in done.entries], ["complete", "incomplete"])
        before = self.changes()
        with self.assertWarns(thor.IncompleteRunWarning):
            self.sweep(ENDLESS, parameters, **limits)
        after = self.changes()
        self.assertEqual([after[n] > before[n] for n in sorted(after)], [False, True])
        with self.assertWarns(thor.IncompleteRunWarning):
            self.assertEqual(list(done.table()["complete"]), [True, False])
        self.assertEqual(len(c.warnings), 1)

    def test_a_run_that_was_cut_goes_on(self):
        """From what it has, to the result of a run that was not; also from a checkpoint of ranks that were killed."""
        config = {**SMALL, "outputs": SMALL["outputs"][:1], "acceleration": {"core_skip": "none"}}
        config["generators"] = [{**SMALL["generators"][0], "photons": 20_000}]
        values, limits = {"dataset.dust.tau": [0.5]}, {"threads": 1, "device": "cpu"}
        whole = thor.run(config, Path(self.folder, "whole.h5"), quiet=True, **limits)
        with self.assertWarnsRegex(thor.IncompleteRunWarning, "The same call goes on with them"):
            with held("at:5000"):
                cut, _ = self.sweep(config, values, max_walltime=0.05, **limits)
        self.assertEqual([entry.state for entry in cut.entries], ["incomplete"])
        result = next(self.at.glob("*.h5"))  # which the disk spoils, but not the checkpoint before it
        shutil.copy(result, f"{result}.previous")
        result.write_bytes(result.read_bytes()[:1000])
        done, said = self.sweep(config, values, **limits)
        self.assertNotIn("starts again", said)
        self.assert_same(whole, done)

        ranks = shutil.which("mpirun")
        if not ranks or "not in this build" in subprocess.run([thor.find_binary(), "--version"], capture_output=True, text=True).stdout:
            return
        shutil.rmtree(self.at)
        launcher = [ranks, "--allow-run-as-root", "--oversubscribe", "-n", "2"]
        options = {**limits, "launcher": launcher, "checkpoint": 0.01}
        script = f"import thor; thor.sweep({config!r}, {values!r}, {str(self.at)!r}, **{options!r})"
        with held("at:5000"):
            job = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        end = time.monotonic() + 60
        while not list(self.at.glob("*.h5")) and time.monotonic() < end:
            time.sleep(0.01)
        job.kill()  # and its ranks with it
        job.wait()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", thor.IncompleteRunWarning)
            with thor.open(next(self.at.glob("*.h5"))) as kept:
                self.assertFalse(kept.complete)
        end = time.monotonic() + 60
        while time.monotonic() < end:  # until they are gone
            try:
                done, said = self.sweep(config, values, **{**options, "checkpoint": 5})
                break
            except thor.SweepError as error:
                self.assertIn("run failed", str(error))
                time.sleep(0.2)
        if "the run is complete" not in said:  # ranks may have come to the end before they were gone
            self.assertNotIn("starts again", said)
        self.assert_same(whole, done)

    def assert_same(self, whole, done):
        self.assertEqual([entry.state for entry in done.entries], ["complete"])
        (_, result), = list(done)
        one, other = whole.spectra["emergent"], result.spectra["emergent"]
        self.assertEqual((one.flux.tobytes(), one.error.tobytes()), (other.flux.tobytes(), other.error.tobytes()))
        self.assertEqual(whole.summary["scatterings"], result.summary["scatterings"])

    def test_a_launcher_is_a_list(self):
        with self.assertRaisesRegex(thor.ArgumentError, r"launcher: .*\['mpirun', '-n', '2'\]"):
            self.sweep(launcher="mpirun -n 2")

    def test_two_at_once(self):
        self.at.mkdir()
        lock = subprocess.Popen(
            [sys.executable, "-c", "import sys, thor.sweeping as s, pathlib as p\n"
             "with s._alone_in(p.Path(sys.argv[1])): print(1, flush=True); sys.stdin.read()",
             str(self.at)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        self.addCleanup(lock.communicate)
        lock.stdout.readline()
        with self.assertRaisesRegex(thor.SweepError, "another sweep is running"):
            self.sweep()


class FailuresTest(WithSweep):
    def test_one_failure_does_not_lose_the_others(self):
        grid = {"dataset.tau0": [10, -1, 100]}
        with self.assertWarnsRegex(thor.FailedRunWarning, "1 of 3 runs failed.*\ntau0 = -1:") as c:
            done, said = self.sweep(parameters=grid)
        self.assertEqual([p["dataset.tau0"] for p in done.parameters], [10, 100])
        ((parameters, why),) = done.failures
        self.assertEqual(parameters, {"dataset.tau0": -1})
        self.assertIn("--set dataset.tau0=-1", why)
        self.assertIn("failed: exit code 2", said)
        self.assertIn("--set dataset.tau0=-1", str(c.warning))
        self.assertEqual(len(thor.Sweep(self.at).failures), 1)
        self.assertIn("tau0 = -1: failed", repr(done))
        # It is tried again.
        with self.assertWarns(thor.FailedRunWarning):
            self.sweep(parameters=grid)

    def test_all_fail(self):
        with self.assertRaisesRegex(thor.SweepError, "every run failed(?s:.)*unknown key"):
            self.sweep(parameters={"dataset.tau00": [10, 100]})

    def test_no_binary(self):
        with self.assertRaisesRegex(thor.RunError, "no such program"):
            self.sweep(binary="/no/such/thor")
        self.assertFalse(self.at.exists())

    def test_interrupted(self):
        script = (
            f"import thor; thor.sweep({ENDLESS!r}, {{'dataset.tau0': [10.0, 1e9, 20.0], "
            f"'dataset.temperature': ['10 K']}}, {str(self.at)!r}, drain=0)"
        )
        job = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        slow = Path(self.at, "tau0=1e9_temperature=10-K.h5")
        end = time.monotonic() + 60
        while not Path(f"{slow}.partial").exists() and time.monotonic() < end:
            time.sleep(0.01)
        job.send_signal(signal.SIGINT)
        self.assertIn(b"KeyboardInterrupt", job.communicate(timeout=20)[1])
        index = json.loads(Path(self.at, "index.json").read_text())
        states = [run["state"] for run in index["runs"]]
        self.assertEqual(states, ["complete", "incomplete", "planned"])
        with self.assertWarns(thor.IncompleteRunWarning):
            thor.open(slow).close()
        # It resumes from there.
        grid = {"dataset.tau0": [10.0, 20.0], "dataset.temperature": ["10 K"]}
        _, said = self.sweep(ENDLESS, grid, drain=0)
        self.assertIn("1 of 2 runs already exist", said)

    def test_configuration_changed_meanwhile(self):
        config = Path(self.folder, "base.yaml")
        config.write_text(json.dumps(SMALL))
        write = thor.sweeping.Index.save

        def change(index):
            write(index)
            config.write_text(json.dumps(SMALL) + "\n")

        thor.sweeping.Index.save = change
        self.addCleanup(setattr, thor.sweeping.Index, "save", write)
        with self.assertRaisesRegex(thor.SweepError, "changed while"):
            self.sweep(config)


if __name__ == "__main__":
    unittest.main()
