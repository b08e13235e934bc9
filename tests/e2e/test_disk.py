"""Disks that fill up, names that are links, and leftovers of killed runs.

    /usr/bin/python3 tests/e2e/test_disk.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py, and root for separate file systems:
tests that need one are skipped loudly if that is impossible.
"""

import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import ENDLESS, sphere, wide_spectra  # noqa: E402
from support import Case, DONE, OUTPUT, STOPPED, command_line, held, is_locked, limited, main, mounted, text, thor, wait_for  # noqa: E402


def run(*arguments, **options):
    return subprocess.run(command_line(*arguments), capture_output=True, text=True, timeout=60, **options)


class FullDisks(Case):
    def config(self, photons):
        return sphere(1e-3, photons, outputs=[{"type": "photons"}, *wide_spectra(1, bins=50)])

    def assert_spectra_only(self, out, done, whole):
        """Everything requested except raw photons is written, and this is reported everywhere."""
        self.assertEqual(done.returncode, OUTPUT, done.stderr)
        self.assertRegex(done.stderr, "raw photons are not in the file.*(No space left|File too large)")
        self.assertFalse(out.with_name(out.name + ".partial").exists())
        with h5py.File(out) as file, h5py.File(whole) as wanted:
            self.assertNotIn("photons", file)
            np.testing.assert_array_equal(file["spectra/s0/flux"][()], wanted["spectra/s0/flux"][()])
            self.assertIn("raw photons are not in the file", text(file["summary"].attrs["caveats"]))
            self.assertTrue(file["summary"].attrs["complete"])
        self.assertIn("raw photons are not in the file", thor("info", out).stdout)

    def test_a_limit_keeps_the_spectra(self):
        """Detected at the end (few photons are written only then), and in mid-run."""
        for photons in (5000, 200_000):
            with self.subTest(photons=photons):
                config = self.config(photons)
                whole = self.run_thor(config)
                out = self.folder / f"limited{photons}.h5"
                done = run("run", self.write(config), "-o", out, **limited(resource.RLIMIT_FSIZE, 300_000))
                self.assert_spectra_only(out, done, whole)

    def test_a_disk_that_is_full_keeps_the_spectra(self):
        """With --max-walltime a run is not refused because of the space that all of its photons would take."""
        for photons in (20_000, 200_000):
            with self.subTest(photons=photons), mounted(self, self.folder / f"disk{photons}", "size=1M") as disk:
                config = self.config(photons)
                whole = self.run_thor(config)
                done = run("run", self.write(config), "-o", disk / "out.h5", "--max-walltime", 100)
                self.assertRegex(done.stderr, r"warning: the result needs \d.* MB, .* are free")
                self.assert_spectra_only(disk / "out.h5", done, whole)

    def test_too_little_room_is_found_before_a_run(self):
        with mounted(self, self.folder / "disk", "size=1M") as disk:
            path = self.write(sphere(1e7, 10**8))  # which would take days
            done = run("run", path, "-o", disk / "out.h5")
            self.assertEqual(done.returncode, OUTPUT, done.stderr)
            self.assertRegex(done.stderr, r"needs \d\S* GB, but only \d\S* [kM]B are free")
            self.assertEqual(list(disk.iterdir()), [])

    def test_too_little_room_for_spectra_is_found_before_a_run(self):
        with mounted(self, self.folder / "disk", "size=40k") as disk:
            done = run("run", self.write(ENDLESS | {"outputs": wide_spectra(1, 50)}), "-o", disk / "out.h5")
            self.assertEqual(done.returncode, OUTPUT, done.stderr)
            self.assertRegex(done.stderr, r"it needs \d.* kB, but \d.* kB are free: No space left.*free some space")
            self.assertEqual(list(disk.iterdir()), [])

    def test_a_disk_that_fills_up_later_keeps_the_spectra(self):
        """Their space is reserved from the start."""
        config = self.write(ENDLESS | {"outputs": wide_spectra(4, 1000)})
        with mounted(self, self.folder / "small", "size=40k") as disk:
            done = run("run", config, "-o", disk / "out.h5")
            needed = float(re.search(r"it needs (\S+) kB", done.stderr)[1]) * 1000
        with mounted(self, self.folder / "disk", "size=1M") as disk:
            out, partial = disk / "out.h5", disk / "out.h5.partial"
            job = subprocess.Popen(command_line("run", config, "-o", out,
                                                "--drain", 0, "--threads", 1), stderr=subprocess.PIPE, text=True)
            self.addCleanup(lambda: job.poll() is None and job.kill())
            self.assertTrue(wait_for(lambda: partial.exists() and partial.stat().st_blocks * 512 >= needed))
            with open(disk / "other", "wb", buffering=0) as other:
                try:
                    while True:
                        other.write(bytes(4096))
                except OSError:
                    pass
            job.send_signal(signal.SIGTERM)
            _, told = job.communicate(timeout=30)
            self.assertEqual(job.returncode, STOPPED, told)
            self.assert_closed(out)
            (disk / "other").unlink()

    def test_room_that_was_kept_is_given_back(self):
        with mounted(self, self.folder / "disk", "size=2M") as disk:
            out = disk / "out.h5"
            done = run("run", self.write(sphere(1, 100, outputs=wide_spectra(1, 10))), "-o", out)
            self.assertEqual(done.returncode, DONE, done.stderr)
            status = out.stat()
            self.assertLess(status.st_blocks * 512, status.st_size + 8192)


class Names(Case):
    """NAME.partial is a new file of the run, and a link stays a link."""

    def setUp(self):
        super().setUp()
        self.snapshot = self.folder / "snapshot.hdf5"
        thor("mock", "galaxy", "--gas-particles", 1000, "--stars", 10, "-o", self.snapshot, "--quiet")
        config = self.write(sphere(1, 100))
        self.commands = {"out.h5": ("run", config), "grid.h5": ("grid", self.snapshot, "--cells", 8),
                         "grid.zarr": ("grid", self.snapshot, "--cells", 8),
                         "mock.hdf5": ("mock", "galaxy", "--gas-particles", 1000, "--stars", 10)}

    def each(self):
        for name, command in self.commands.items():
            with self.subTest(name):
                yield self.folder / name, command

    def test_a_link_in_place_of_the_partial_file_is_not_followed(self):
        victim, folder = self.folder / "victim", self.folder / "victims"
        for out, command in self.each():
            victim.write_text("precious")
            folder.mkdir(exist_ok=True)
            (folder / ".zgroup").write_text('{"zarr_format": 2}')
            partial = out.with_name(out.name + ".partial")
            partial.symlink_to(folder if out.suffix == ".zarr" else victim)
            done = run(*command, "-o", out)
            self.assertEqual(done.returncode, OUTPUT, done.stderr)
            self.assertRegex(done.stderr, r"\.partial' is in the way.*remove it")
            self.assertEqual(victim.read_text(), "precious")
            self.assertEqual(sorted(p.name for p in folder.iterdir()), [".zgroup"])
            self.assertTrue(partial.is_symlink())
            self.assertFalse(out.exists())

    def test_a_pipe_is_not_replaced(self):
        """A device is not replaced either: --overwrite is for files, also through a link."""
        for name in ("out.h5", "grid.h5", "mock.hdf5"):
            with self.subTest(name):
                pipe, link = self.folder / f"pipe-{name}", self.folder / f"link-{name}"
                os.mkfifo(pipe)
                link.symlink_to(pipe)
                for out in (pipe, link):
                    done = run(*self.commands[name], "-o", out, "--overwrite")
                    self.assertEqual(done.returncode, OUTPUT, done.stderr)
                    self.assertIn("it is not a file", done.stderr)
                    self.assertTrue(pipe.is_fifo())

    def test_a_partial_file_that_was_replaced_is_not_given_the_name(self):
        out = self.folder / "swapped.h5"
        partial = out.with_name("swapped.h5.partial")
        job = subprocess.Popen(command_line("run", self.write(ENDLESS, "endless.yaml"), "-o", out, "--threads", 1, "--drain", 0),
                               stderr=subprocess.PIPE, text=True)
        self.assertTrue(wait_for(lambda: partial.exists() and partial.stat().st_blocks * 512 > 8192))  # after its lock: reserved
        partial.unlink()
        partial.write_text("another")
        job.terminate()
        said = job.communicate(timeout=60)[1]
        self.assertEqual(job.returncode, OUTPUT, said)
        self.assertIn("was removed or replaced", said)
        # The raw photons are gone with it; the spectra are written anew.
        self.assertIn("raw photons are not in the file", run("info", out).stdout)

    def test_a_hard_link_in_its_place_is_not_written_to(self):
        victim = self.folder / "victim"
        victim.write_text("precious")
        os.link(victim, self.folder / "out.h5.partial")
        self.assertEqual(run(*self.commands["out.h5"], "-o", self.folder / "out.h5").returncode, DONE)
        self.assertEqual(victim.read_text(), "precious")

    def test_what_a_killed_run_left_is_removed(self):
        out = self.folder / "killed.h5"
        partial = out.with_name("killed.h5.partial")
        job = subprocess.Popen(command_line("run", self.write(ENDLESS, "endless.yaml"), "-o", out, "--threads", 1),
                               stderr=subprocess.DEVNULL)
        self.assertTrue(wait_for(lambda: is_locked(partial)))
        done = run(*self.commands["out.h5"], "-o", out)  # which is still running
        self.assertEqual(done.returncode, OUTPUT, done.stderr)
        self.assertRegex(done.stderr, "another run is writing '.*killed.h5.partial'")
        job.kill()
        job.wait()
        self.assertTrue(partial.exists())
        done = run(*self.commands["out.h5"], "-o", out)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stderr, "removed '.*killed.h5.partial', left behind by a killed run")
        self.assertFalse(partial.exists())
        self.assert_closed(out)

    def test_a_whole_result_that_could_not_get_its_name_is_not_removed(self):
        out = self.folder / "late.h5"
        partial = out.with_name("late.h5.partial")
        job = subprocess.Popen(command_line("run", self.write(sphere(10, 3000)), "-o", out, "--threads", 1, "--device", "cpu"),
                               stderr=subprocess.PIPE, text=True, **held("at:2000"))
        self.addCleanup(lambda: job.poll() is None and job.kill())
        self.assertTrue(wait_for(partial.exists))
        out.write_text("somebody else's")
        job.terminate()
        said = job.communicate(timeout=60)[1]
        self.assertEqual(job.returncode, OUTPUT, said)
        self.assertIn("the result is complete and kept as", said)
        done = run(*self.commands["out.h5"], "-o", out, "--overwrite")
        self.assertEqual(done.returncode, OUTPUT, done.stderr)
        self.assertIn("is a whole result that could not get its name", done.stderr)
        self.assert_closed(partial.rename(self.folder / "mine.h5"))

    def test_without_locks_of_hdf5_another_run_is_seen_too(self):
        """HDF5_USE_FILE_LOCKING=FALSE is often set where file systems are large."""
        for setting in ("FALSE", "TRUE"):
            out = self.folder / f"{setting}.h5"
            environment = {**os.environ, "HDF5_USE_FILE_LOCKING": setting}
            job = subprocess.Popen(command_line("run", self.write(ENDLESS, "endless.yaml"), "-o", out, "--threads", 1),
                                   stderr=subprocess.DEVNULL, env=environment)
            self.addCleanup(lambda job=job: job.poll() is None and job.kill())
            partial = out.with_name(out.name + ".partial")
            self.assertTrue(wait_for(lambda: is_locked(partial)))
            done = run(*self.commands["out.h5"], "-o", out, env=environment)
            self.assertEqual(done.returncode, OUTPUT, done.stderr)
            self.assertIn("another run is writing", done.stderr)
            job.kill()
            job.wait()

    def test_overwrite_writes_through_a_link(self):
        real = self.folder / "real"
        real.mkdir()
        for out, command in self.each():
            out.symlink_to(Path("real") / out.name)
            for overwrite in ((), ("--overwrite",)):  # first with a dangling link
                done = run(*command, "-o", out, *overwrite)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertTrue(out.is_symlink())
                self.assertFalse((real / out.name).is_symlink())
                self.assertEqual([p.name for p in real.glob("*.partial")], [])
            before = (real / out.name).stat().st_mtime_ns
            self.assertEqual(run(*command, "-o", out).returncode, OUTPUT)
            self.assertEqual((real / out.name).stat().st_mtime_ns, before)


if __name__ == "__main__":
    main()
