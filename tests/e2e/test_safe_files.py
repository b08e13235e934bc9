"""Results that others could mistake, read, replace or abuse: of which model they are, their permissions, their names.

    /usr/bin/python3 tests/e2e/test_safe_files.py --thor build/release/thor [unittest arguments]
"""

import json
import re
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import sphere  # noqa: E402
from support import Case, DONE, INPUT, OUTPUT, USAGE, command_line, main, on_grid, text, thor, wait_for, write_grid  # noqa: E402

SPECTRUM = {"type": "spectrum", "name": "s", "axis": "velocity", "range": ["-300 km/s", "300 km/s"], "bins": 40}
IMAGE = {"type": "image", "name": "sb", "observer": "face", "width": "2 kpc", "pixels": 4}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
HOSTILE = "\x1b]0;gone\x07\x1b[2Jname\x9b31m"


def model(seed=1, photons=2000):
    return {**sphere(10, photons, outputs=[SPECTRUM]), "seed": seed}


class FileCase(Case):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out.h5"
        self.previous, self.partial = (self.out.with_name("out.h5" + end) for end in (".previous", ".partial"))

    def run_to(self, out, config, *arguments, expect=DONE, command="run"):
        words = (out,) if command == "continue" else (self.write(config), "-o", out)
        self.done = thor(command, *words, "--device", "cpu", "--threads", 1, *arguments)
        self.assertEqual(self.done.returncode, expect, self.done.stderr)
        return self.done.stderr

    def seed(self, path):
        with h5py.File(path) as file:
            return int(file.attrs["seed"])

    def killed(self, until, *words):
        """Starts a run that would not end, and kills it when something has happened."""
        job = subprocess.Popen(command_line(*words, "--device", "cpu", "--threads", 1, "--quiet", "--max-walltime", 60), stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        self.assertTrue(wait_for(lambda: until() or job.poll() is not None, 60))
        self.assertIsNone(job.poll(), job.stderr.read() if job.poll() is not None else "")
        job.send_signal(signal.SIGKILL)
        job.communicate(timeout=30)

    def endless(self, seed=1):
        return self.write(model(seed, 10**9), f"endless{seed}.yaml")


class Models(FileCase):
    """Nothing is continued under the name of another model."""

    def test_a_checkpoint_of_another_model_is_not_taken_for_that_of_a_new_run(self):
        self.killed(self.previous.exists, "run", self.endless(1), "-o", self.out, "--checkpoint", 0.05)
        self.out.unlink()
        kept = self.previous.read_bytes()
        done = thor("run", self.endless(2), "-o", self.out, "--max-walltime", 1)
        self.assertEqual(done.returncode, OUTPUT, done.stderr)
        self.assertRegex(done.stderr, r"out\.h5\.previous' is a checkpoint of another run: .*--overwrite")
        self.assertEqual((self.previous.read_bytes(), self.out.exists(), self.partial.exists()), (kept, False, False))
        self.killed(lambda: self.partial.exists() and not self.previous.exists(), "run", self.endless(2), "-o", self.out,
                    "--overwrite", "--checkpoint", 1e8)
        done = thor("continue", self.out, "--max-walltime", 1)
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertFalse(self.out.exists())

    def test_a_killed_run_that_was_to_replace_another_model(self):
        self.run_to(self.out, model(1))
        before = self.out.read_bytes()
        self.killed(lambda: self.partial.exists() and self.partial.stat().st_size > 2000, "run", self.endless(2), "-o", self.out,
                    "--overwrite")
        said = self.run_to(self.out, None, "--photons", 10, command="continue", expect=INPUT)
        self.assertRegex(said, r"another configuration.*remove .*out\.h5\.partial")
        self.assertEqual(self.out.read_bytes(), before)
        # The twin: one of the same model, which may end elsewhere.
        self.partial.unlink()
        self.killed(lambda: self.partial.exists() and self.partial.stat().st_size > 2000, "continue", self.out, "--until-error", "1e-9%")
        self.run_to(self.out, None, "--photons", 10, command="continue")

    def test_a_lost_result_is_continued_from_its_own_checkpoint(self):
        """The twin of the one above: no other run has been there."""
        self.killed(self.previous.exists, "run", self.endless(1), "-o", self.out, "--checkpoint", 0.05)
        self.out.unlink()
        self.killed(self.out.exists, "continue", self.out, "--checkpoint", 0.05)
        self.assertEqual(self.seed(self.out), 1)

    def test_a_damaged_result_beside_a_result_of_another_model(self):
        other, same = self.folder / "other.h5", self.folder / "same.h5"
        self.run_to(other, model(2))
        self.run_to(same, model(1, 1000))
        self.run_to(self.out, model(1, 1000))
        good = self.out.read_bytes()

        def halve():
            self.out.write_bytes(good[: 2 * len(good) // 3])

        def empty():
            self.out.write_bytes(b"")

        def change():
            self.out.write_bytes(good)
            with h5py.File(self.out, "r+") as file:
                file["tally/cells"][-1] += np.uint64(1)

        for spoil in (halve, empty, change):
            with self.subTest(spoil.__name__):
                shutil.copy(other, self.previous)
                spoil()
                damaged = self.out.read_bytes()
                said = self.run_to(self.out, None, "--photons", 10, command="continue", expect=INPUT)
                self.assertRegex(said, r"out\.h5\.previous may be of another model: `thor run CONFIG --restart .*out\.h5`")
                self.assertEqual(self.out.read_bytes(), damaged)
                said = self.run_to(self.folder / "new.h5", model(1, 1000), "--restart", self.out, expect=USAGE)
                self.assertIn("differs in seed, generators.0.photons", said)
                # The twin: one of the same model.
                shutil.copy(same, self.previous)
                if spoil != empty:
                    said = self.run_to(self.out, None, "--photons", 10, command="continue")
                    self.assertIn(".previous", said)
                    self.assertFalse(self.previous.exists())
                    self.assertEqual(self.summary(self.out)["photons"], 1010)

    def test_another_grid_is_another_model(self):
        """Configurations that differ in nothing but the file that they read."""
        for name, density in (("one", 1e-7), ("two", 1e-5)):
            write_grid(self.folder / f"{name}.h5", n=4, density=density)
        thin, thick = (on_grid(self.folder / f"{name}.h5", 500, 4e20, outputs=[SPECTRUM]) for name in ("one", "two"))
        self.run_to(self.out, thin)
        with h5py.File(self.out, "r+") as file:
            file["tally/cells"][-1] += np.uint64(1)
        damaged = self.out.read_bytes()
        self.run_to(self.folder / "other.h5", thick)
        shutil.copy(self.folder / "other.h5", self.previous)
        self.assertIn("may be of another model", self.run_to(self.out, None, "--photons", 10, command="continue", expect=INPUT))
        self.assertEqual(self.out.read_bytes(), damaged)
        # A result of another grid stays where a whole one is added to; one of the same does not.
        self.run_to(self.out, thin, "--overwrite", expect=OUTPUT)
        self.previous.unlink()
        self.run_to(self.out, thin, "--overwrite")
        shutil.copy(self.folder / "other.h5", self.previous)
        self.run_to(self.out, None, "--photons", 10, command="continue")
        self.assertTrue(self.previous.exists())
        shutil.copy(self.out, self.previous)
        self.assertIn("an earlier state of this result", self.run_to(self.out, None, "--photons", 10, command="continue"))
        self.assertFalse(self.previous.exists())
        # A killed run of another grid was to replace it.
        endless = on_grid(self.folder / "two.h5", 10**9, 4e20, outputs=[SPECTRUM])
        self.killed(lambda: self.partial.exists() and self.partial.stat().st_size > 2000, "run", self.write(endless, "endless.yaml"), "-o", self.out, "--overwrite")
        said = self.run_to(self.out, None, "--photons", 10, command="continue", expect=INPUT)
        self.assertIn("another configuration", said)

    def test_a_result_called_previous_is_not_lost(self):
        self.run_to(self.previous.with_name("a.h5"), model(1)), self.previous.with_name("a.h5").rename(self.previous)
        kept = self.previous.read_bytes()
        for words in ((), ("--overwrite",)):
            self.assertIn("is a result and has the name of a checkpoint", self.run_to(self.out, model(2), *words, expect=OUTPUT))
            self.assertEqual((self.previous.read_bytes(), self.out.exists()), (kept, False))
        self.previous.write_text("a backup")  # which nothing can go on from
        self.run_to(self.out, model(2))
        self.assertEqual(self.previous.read_text(), "a backup")

    def test_a_complete_run_leaves_none(self):
        """Also where a finished result was added to, and that was killed."""
        self.run_to(self.out, model(1))
        before = self.out.stat().st_ino
        self.killed(lambda: self.previous.exists() and self.out.stat().st_ino != before, "continue", self.out, "--photons", 10**9,
                    "--checkpoint", 0.05)
        self.assertTrue(self.previous.exists())
        shutil.copy(self.previous, self.folder / "kept.h5")
        self.run_to(self.folder / "kept.h5", None, "--photons", 1000, command="continue")
        shutil.copy(self.folder / "kept.h5", self.out)
        self.run_to(self.out, None, "--photons", 1000, command="continue")
        self.assertEqual(self.summary(self.out)["photons"], 4000)
        self.assertFalse(self.previous.exists())


class Permissions(FileCase):
    def mode(self, path):
        return stat.S_IMODE(path.stat().st_mode)

    def test_the_mode_of_a_result_is_kept(self):
        self.run_to(self.out, model())
        for mode in (0o600, 0o640, 0o664):
            self.out.chmod(mode)
            self.run_to(self.out, None, "--photons", 10, command="continue")
            self.assertEqual(self.mode(self.out), mode)
            self.run_to(self.out, model(), "--overwrite")
            self.assertEqual(self.mode(self.out), mode)

    def test_so_is_that_of_checkpoints(self):
        """Of the file that is being written, and of the checkpoint before the last one, too."""
        self.run_to(self.out, model())
        self.out.chmod(0o600)
        seen, before = [], self.out.stat().st_ino

        def done():
            for path in (self.partial, self.previous):
                try:
                    seen.append(self.mode(path))
                except FileNotFoundError:
                    pass
            return self.previous.exists() and self.out.stat().st_ino != before and len(seen) > 10

        self.killed(done, "continue", self.out, "--photons", 10**9, "--checkpoint", 0.05)
        self.assertEqual((set(seen), self.mode(self.out)), ({0o600}, 0o600))

    def test_a_mode_that_changes_during_the_run(self):
        self.killed(lambda: self.out.exists() and (self.out.chmod(0o600) or self.previous.exists() and self.mode(self.previous) == 0o600),
                    "run", self.endless(), "-o", self.out, "--checkpoint", 0.05)
        self.assertEqual(self.mode(self.out), 0o600)

    def test_what_is_read_only_is_not_replaced(self):
        self.run_to(self.out, model())
        before = self.out.read_bytes()
        self.out.chmod(0o400)
        for words in ((None, "--photons", 10), (model(), "--overwrite")):
            said = self.run_to(self.out, *words, command="continue" if words[0] is None else "run", expect=OUTPUT)
            self.assertRegex(said, r"out\.h5': it is read-only: make it writable \(chmod u\+w\).*another name")
        self.assertEqual((self.mode(self.out), self.out.read_bytes(), self.partial.exists()), (0o400, before, False))
        done = thor("continue", self.out, "--photons", 10, "-o", self.folder / "new.h5")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_a_checkpoint_does_not_replace_what_became_read_only(self):
        job = subprocess.Popen(command_line("run", self.endless(), "-o", self.out, "--checkpoint", 0.05, "--device", "cpu", "--threads", 1, "--max-walltime", 20),
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        self.assertTrue(wait_for(self.out.exists))
        self.out.chmod(0o400)
        for line in job.stderr:
            if "checkpoint not written" in line:
                break
        before = self.out.read_bytes()
        self.assertIn("read-only", line)
        job.kill()
        job.communicate(timeout=30)
        self.assertEqual((self.mode(self.out), self.out.read_bytes()), (0o400, before))

    def test_directories(self):
        out = self.folder / "out.zarr"
        self.run_to(out, model())
        for path in (out, *out.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)
        self.run_to(out, None, "--photons", 10, command="continue")
        self.run_to(out, model(), "--overwrite")
        self.assertEqual({self.mode(path) for path in (out, *out.rglob("*")) if path.is_dir()}, {0o700})
        self.assertEqual({self.mode(path) for path in out.rglob("*") if path.is_file()}, {0o600})
        out.chmod(0o500)
        self.addCleanup(lambda: out.chmod(0o700))
        self.assertIn("it is read-only", self.run_to(out, model(), "--overwrite", expect=OUTPUT))

    def test_exports(self):
        self.run_to(self.out, model())
        self.assertEqual(thor("export", self.out, "--txt", "-o", self.folder).returncode, DONE)
        (self.folder / "s.txt").chmod(0o600)
        self.assertEqual(thor("export", self.out, "--txt", "--overwrite", "-o", self.folder).returncode, DONE)
        self.assertEqual(self.mode(self.folder / "s.txt"), 0o600)
        (self.folder / "s.txt").chmod(0o444)
        self.assertEqual(thor("export", self.out, "--txt", "--overwrite", "-o", self.folder).returncode, OUTPUT)


class Escapes(FileCase):
    """What a file holds does not command the terminal, nor name files."""

    def assert_tame(self, *words, expect=DONE):
        done = thor(*words, cwd=self.folder)
        self.assertEqual(done.returncode, expect, done.stderr)
        self.assertEqual(CONTROL.findall(done.stdout + done.stderr), [])
        return done.stdout + done.stderr

    def hostile_result(self):
        config = {**sphere(10, 100, outputs=[SPECTRUM, IMAGE]), "observers": [{"name": "face", "direction": [0, 0, 1]}]}
        self.run_to(self.out, config)
        with h5py.File(self.out, "r+") as file:
            for name in ("line", "device", "git_commit", "date"):
                file.attrs[name] = HOSTILE
            file["summary"].attrs["caveats"] = f"a caveat {HOSTILE}"
            file["summary"].attrs["warnings"] = f"a warning {HOSTILE}"
            file["spectra/s/flux"].attrs["description"] = HOSTILE + "\n  complete    yes\u202e"
            file["images/sb"].attrs["observer"] = HOSTILE
            file.create_group("/odd").create_dataset(HOSTILE, data=[1.0])
        return self.out

    def test_results(self):
        out = self.hostile_result()
        said = self.assert_tame("info", out)
        self.assertIn("\\x1b]0;gone\\x07", said)
        self.assertEqual(said.count("\n  complete"), 1, "a line that only looks like one of thor's")
        self.assertEqual(json.loads(self.assert_tame("info", out, "--json"))["attributes"]["line"], HOSTILE)
        self.assert_tame("export", out, "--txt", "--fits", "--png")
        self.assertNotRegex((self.folder / "s.txt").read_text(), CONTROL)

    def test_names_of_files(self):
        out = self.hostile_result()
        with h5py.File(out, "r+") as file:
            file.move("spectra/s", f"spectra/{HOSTILE}")
        before = sorted(self.folder.iterdir())
        said = self.assert_tame("export", out, "--txt", expect=INPUT)
        self.assertIn("control characters", said)
        self.assertEqual(sorted(self.folder.iterdir()), before)
        self.assert_tame("export", out, "--txt", "--name", HOSTILE, expect=INPUT)
        self.assert_tame("export", out, "--png", "--name", "sb")

    def test_versions(self):
        self.run_to(self.out, model())
        with h5py.File(self.out, "r+") as file:
            file.attrs["thor_version"] = HOSTILE
        self.assertIn("it was made by thor \\x1b]0;gone", self.assert_tame("continue", self.out, "--photons", 1, expect=INPUT))

    def test_grids_and_snapshots(self):
        grid = self.folder / "grid.h5"
        write_grid(grid, 4, thor_version=HOSTILE)
        with h5py.File(grid, "r+") as file:
            file["temperature"].attrs["description"] = HOSTILE
            file[HOSTILE] = np.zeros((4, 4, 4))
        self.assert_tame("info", grid)
        json.loads(self.assert_tame("info", grid, "--json"))
        with h5py.File(self.folder / "snap.hdf5", "w") as file:
            file.create_group("Header").attrs["NumPart_Total"] = np.zeros(6, int)
            file.create_group(HOSTILE)["a"] = [1.0]
        thor_info = thor("info", self.folder / "snap.hdf5")
        self.assertEqual(CONTROL.findall(thor_info.stdout + thor_info.stderr), [])

    def test_what_a_configuration_quotes(self):
        self.assert_tame("check", self.write(f'line: "{HOSTILE.encode("unicode_escape").decode()}"\n'), expect=USAGE)
        self.assert_tame("run", f"{HOSTILE}.yaml", expect=USAGE)


class Moved(FileCase):
    """A folder that was moved can be continued, with the files that are in it."""

    def setUp(self):
        super().setUp()
        self.here = self.folder / "here"
        self.here.mkdir()
        write_grid(self.here / "grid.h5", 4, density=1e-8)
        self.config = on_grid("grid.h5", 200, 4e20, outputs=[SPECTRUM])

    def start(self, out="out.h5", config=None):
        path = self.write(config or self.config, "here/model.yaml")
        (self.here / out).parent.mkdir(exist_ok=True)
        done = thor("run", path.name, "-o", out, cwd=self.here)
        self.assertEqual(done.returncode, DONE, done.stderr)

    def grow(self, out, expect=DONE):
        done = thor("continue", out, "--photons", 100)
        self.assertEqual(done.returncode, expect, done.stderr)
        if expect == DONE:
            self.assertEqual(self.summary(out)["photons"], 300)
        return done.stderr

    def inputs(self, out):
        with h5py.File(out) as file:
            return text(file["inputs/0"].attrs["path"])

    def test_beside_the_result(self):
        for out in ("out.h5", "results/out.h5"):
            with self.subTest(out):
                self.start(out)
                there = self.folder / "there"
                self.here.rename(there)
                self.grow(there / out)
                self.assertEqual(Path(self.inputs(there / out)), there / "grid.h5")
                there.rename(self.here)

    def test_a_copy_has_its_own_files(self):
        self.start()
        there = self.folder / "there"
        shutil.copytree(self.here, there)
        self.grow(there / "out.h5")
        self.assertEqual(Path(self.inputs(there / "out.h5")), there / "grid.h5")

    def test_a_result_that_was_moved_alone(self):
        """It finds its files where they were, also beside another of that name."""
        self.start()
        there = self.folder / "there"
        there.mkdir()
        write_grid(there / "grid.h5", 8, density=1e-8)
        (self.here / "out.h5").rename(there / "out.h5")
        self.grow(there / "out.h5")
        self.assertEqual(Path(self.inputs(there / "out.h5")), self.here / "grid.h5")

    def test_files_that_are_gone(self):
        self.start()
        (self.here / "grid.h5").rename(self.folder / "elsewhere.h5")
        said = self.grow(self.here / "out.h5", expect=INPUT)
        self.assertRegex(said, "neither beside it nor where it was.*--restart")

    def test_a_configuration_that_knows_where_its_files_are(self):
        """Absolute paths: those of the result are not needed, but the files must be the same."""
        self.start(config=on_grid(self.here / "grid.h5", 200, 4e20, outputs=[SPECTRUM]))
        there = self.folder / "there"
        self.here.rename(there)
        restart = lambda config: thor("run", self.write(config, "there/new.yaml"), "--restart", there / "out.h5", "-o", there / "more.h5",  # noqa: E731
                                      "--overwrite")
        self.grow(there / "out.h5", expect=INPUT)
        done = restart(on_grid("grid.h5", 200, 4e20, outputs=[SPECTRUM]))
        self.assertEqual(done.returncode, USAGE, done.stderr)  # all its photons are there
        self.assertIn("the run is complete", done.stderr)
        write_grid(there / "other.h5", 4, density=2e-8)
        done = restart(on_grid("other.h5", 200, 4e20, outputs=[SPECTRUM]))
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertIn("other.h5 has changed since it was made", done.stderr)
        done = restart({**on_grid("grid.h5", 200, 4e20, outputs=[SPECTRUM]), "seed": 3})
        self.assertIn("differs in seed", done.stderr)


if __name__ == "__main__":
    main()
