"""Inputs given by mistake: devices, pipes, empty names, other kinds of files, misspelt commands, narrow terminals.

    /usr/bin/python3 tests/e2e/test_strange_inputs.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import sphere, wide_spectra  # noqa: E402
from support import Case, DONE, INPUT, STOPPED, Terminal, USAGE, command_line, main  # noqa: E402


def run(*arguments, **options):
    return subprocess.run(command_line(*arguments), capture_output=True, text=True, timeout=20, **options)


class Configurations(Case):
    def refuse(self, says, *arguments, **options):
        for command in ("run", "check"):
            done = run(command, *arguments, **options)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertRegex(done.stderr, says)

    def test_what_is_no_configuration_ends(self):
        self.refuse("/dev/zero: larger than 16 MB", "/dev/zero")
        self.refuse("is a directory", self.folder)
        huge = self.folder / "huge.yaml"
        with open(huge, "wb") as file:
            file.truncate(1 << 34)
        self.refuse("huge.yaml: larger than 16 MB", huge)
        with open("/dev/zero") as zero:
            self.refuse("<stdin>: larger than 16 MB", "-", stdin=zero)

    def test_a_pipe_that_nobody_writes_to(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.refuse("the pipe has no writer", pipe)

    def test_a_pipe_may_hold_a_configuration(self):
        """Also a pipe whose writer is slow: <(sleep 3; cat config.yaml)."""
        config = self.write(sphere(1, 10, outputs=[]))
        for before in ("", "sleep 3; "):
            done = subprocess.run(["bash", "-c", f'"$0" check --no-trial <({before}cat "$1")', command_line()[0], config],
                                  capture_output=True, text=True, timeout=20)
            self.assertEqual(done.returncode, DONE, done.stderr)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: pipe.write_text(config.read_text()))
        writer.start()
        self.assertEqual(run("check", "--no-trial", pipe).returncode, DONE)
        writer.join()


class Usage(Case):
    def test_commands_that_there_are_not(self):
        for word, says in (("rnu", 'unknown command "rnu"; did you mean "run"?'),
                           ("infos", 'unknown command "infos"; did you mean "info"?'),
                           ("simulate", 'unknown command "simulate" (known: run, sweep, fit, continue, merge, check, ')):
            done = run(word, "config.yaml")
            self.assertEqual(done.returncode, USAGE)
            self.assertIn(says, done.stderr)
        done = run("--sed", 1)
        self.assertEqual(done.returncode, USAGE)
        self.assertNotIn("unknown command", done.stderr)

    def test_a_file_needs_a_name(self):
        config = self.write(sphere(1, 10, outputs=[]))
        for command in (("run", config), ("mock", "galaxy"), ("init", "sphere"), ("grid", config)):
            done = run(*command, "-o", "", cwd=self.folder)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn("give a file name", done.stderr)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["config.yaml"])

    def test_what_is_not_a_number(self):
        config = self.write(sphere(1, 10, outputs=[]))
        for option in ("--max-walltime", "--drain"):
            for value in ("nan", "-nan", "inf", "-1", "1e10", "1 s", ""):
                with self.subTest(option=option, value=value):
                    done = run("run", config, f"{option}={value}")
                    self.assertEqual(done.returncode, USAGE, done.stderr)
                    self.assertIn(option, done.stderr)
        self.assertFalse((self.folder / "out.h5").exists())


class OtherFiles(Case):
    """thor info for files that are not results."""

    def setUp(self):
        super().setUp()
        self.snapshot = self.folder / "snapshot.hdf5"
        self.assertEqual(run("mock", "galaxy", "--gas-particles", 1000, "--stars", 20, "-o", self.snapshot).returncode, DONE)

    def test_grids(self):
        for name in ("grid.h5", "grid.zarr"):
            path = self.folder / name
            self.assertEqual(run("grid", self.snapshot, "--cells", "8", "--size", "60 kpc", "-o", path).returncode, DONE)
            done = run("info", path)
            self.assertEqual(done.returncode, DONE, done.stderr)
            for says in (rf"{name}: a grid of 8 x 8 x 8 cells", r"box +60 x 60 x 60 kpc, 7\.5 kpc a cell",
                         r"redshift 2, H = \d", r"made +by thor ", r"snapshot +.*snapshot\.hdf5", r"gas_elements +1000",
                         r"/HI_density +float32 \[8, 8, 8\] +cm-3; neutral hydrogen", r"/sources/luminosity .*erg s-1"):
                self.assertRegex(done.stdout, says)
            told = json.loads(run("info", path, "--json").stdout)
            self.assertEqual((told["kind"], told["grid"]["cells"]), ("grid", [8, 8, 8]))
            self.assertIn("/HI_temperature", [d["path"] for d in told["datasets"]])
            done = run("info", path, "--config")
            self.assertEqual(done.returncode, INPUT)
            self.assertIn("no configuration in the file", done.stderr)

    def test_snapshots(self):
        done = run("info", self.snapshot)
        self.assertEqual(done.returncode, DONE, done.stderr)
        for says in (r"snapshot\.hdf5: a snapshot \(Gadget/AREPO\)", r"gas +1000 elements", r"stars +20",
                     r"particles +1000, 0, 0, 0, 20, 0 by type", r"redshift 2, h = 0\.6774, Omega_m = 0\.3089",
                     r"/PartType0/Density +float\d+ \[1000\] +.*ckpc"):
            self.assertRegex(done.stdout, says)
        told = json.loads(run("info", self.snapshot, "--json").stdout)
        self.assertEqual((told["kind"], told["snapshot"]["gas"], told["snapshot"]["stars"]), ("snapshot", 1000, 20))

    def test_a_snapshot_without_units(self):
        with h5py.File(self.snapshot, "a") as file:
            for name in ("UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s"):
                del file["Header"].attrs[name]
            for group in ("PartType0", "PartType4"):
                for data in file[group].values():
                    del data.attrs["to_cgs"]
        done = run("info", self.snapshot)
        self.assertEqual(done.returncode, DONE, done.stderr)
        for says in ("a snapshot, which `thor grid` cannot read as it is", "note .*--unit-length", "particles +1000, 0, 0, 0, 20, 0"):
            self.assertRegex(done.stdout, says)

    def test_named_types_and_links(self):
        """Other programs put them into valid files: groups in each other, types with a name, links that lead nowhere."""
        with h5py.File(self.snapshot, "a") as file:
            file["type"] = np.dtype("f8")
            file["PartType0/parent"] = file["/"]
            file["again"] = h5py.SoftLink("/PartType0")
            file["PartType0/nowhere"], file["no_file"] = h5py.SoftLink("/none"), h5py.ExternalLink("none.h5", "/")
            groups = [file.create_group(f"group{i}") for i in range(8)]
            for one in groups:
                for other in groups:
                    one[other.name[1:]] = other
        done = run("info", self.snapshot)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stdout, r"/PartType0/Density +float\d+ \[1000\]")
        self.assertRegex(done.stdout, r"/again/Density +float\d+ \[1000\]")
        self.assertNotIn("parent", done.stdout)
        done = run("grid", self.snapshot, "--cells", "8", "--size", "60 kpc", "-o", self.folder / "grid.h5")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_neither(self):
        pipe, other, circle = self.folder / "pipe", self.folder / "other.h5", self.folder / "circle"
        os.mkfifo(pipe)
        circle.symlink_to("circle")
        with h5py.File(other, "w") as file:
            file["x"] = 1
        for path, says in ((pipe, "expected a file or a directory"), ("/dev/zero", "expected a file or a directory"),
                           (other, "not a result of thor, a grid or a snapshot"),
                           (self.folder / "missing.h5", "there is no such file"), (circle, "symbolic links"),
                           (self.folder, "2 HDF5 files or sets of numbered ones (other.h5, snapshot.hdf5)")):
            done = run("info", path)
            self.assertEqual(done.returncode, INPUT, done.stderr)
            self.assertIn(says, done.stderr)
        self.assertEqual(run("info", self.folder / "..").returncode, INPUT)


class Terminals(Case):
    def progress(self, says, columns=None, **environment):
        path = self.write(sphere(1e3, 10**9, outputs=wide_spectra(1, bins=50)))
        limit = () if says else ("--max-walltime", 0.5)
        terminal = Terminal("run", path, "--overwrite", "--drain", 0, *limit, "--threads", 1, "--device", "cpu", columns=columns,
                            **environment)
        told = terminal.stop_after(3, says) if says else terminal.wait()
        self.assertEqual(terminal.code, STOPPED, told)
        return told, [re.sub(r"\x1b\[K$", "", line) for line in told.split("\r") if re.search(r"\d\S*.*\x1b\[K$", line)]

    def test_progress_is_no_wider_than_the_terminal(self):
        for columns, says in ((200, "scatterings each.* left$"), (60, "photons.* left$"), (30, " left$"), (10, r"^ *[\d.]+ %$"),
                              (4, "^.{3}$")):
            with self.subTest(columns=columns):
                _, lines = self.progress(says, columns)
                self.assertGreater(len(lines), 2)
                self.assertLess(max(map(len, lines)), columns)
                self.assertRegex(lines[-1], says)

    def test_the_environment_may_tell_the_width(self):
        _, lines = self.progress(" left$", COLUMNS="40")
        self.assertLess(max(map(len, lines)), 40)

    def test_a_dumb_terminal_gets_plain_lines(self):
        told, lines = self.progress(None, TERM="dumb")
        self.assertEqual(lines, [])
        self.assertNotIn("\x1b", told)
        self.assertNotIn("\r", told.replace("\r\n", ""))


if __name__ == "__main__":
    main()
