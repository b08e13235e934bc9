"""Progress, warnings and colours, on a terminal and elsewhere.

    /usr/bin/python3 tests/e2e/test_messages.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Tests that need more than numpy and h5py are skipped
loudly if it is missing.
"""

import json
import os
import re
import signal
import sys
import tempfile
import threading
from pathlib import Path

import h5py

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import sphere, wide_spectra  # noqa: E402
from support import Case, STOPPED, Terminal, UNRELIABLE, USAGE, main, on_grid, text, thor, write_grid  # noqa: E402


plain_timers = []


def setUpModule():
    """A plain progress line is printed every ten seconds: the run that shows one continues during the other tests."""
    global plain_folder, plain_run
    plain_folder = tempfile.TemporaryDirectory(prefix="thor-e2e-")
    config = Path(plain_folder.name) / "config.yaml"
    config.write_text(json.dumps(sphere(1e3, 10**9, outputs=[])))
    plain_run = Terminal("run", config, "--progress", "plain", "--max-walltime", 11, "--drain", 0, "--threads", 1,
                         "--device", "cpu")
    # It sleeps most of them, to leave the processor to others.
    plain_timers.extend(threading.Timer(seconds, plain_run.job.send_signal, [number])
                        for seconds, number in ((0.5, signal.SIGSTOP), (8, signal.SIGCONT)))
    for timer in plain_timers:
        timer.start()


def tearDownModule():
    for timer in plain_timers:
        timer.cancel()
    if plain_run.job.poll() is None:
        plain_run.job.kill()
    plain_run.job.wait()
    plain_folder.cleanup()


class Messages(Case):
    COLOUR = re.compile(r"\x1b\[[\d;]*m")
    LINE = re.compile(r"[\d.]+ %  (\d+) of (\d+) photons  [\d.e+]+/s  [\d.e+]+ scatterings each, at most [\d.e+]+"
                      r"  error [\d.e+-]+ %  [\d:]+ left")

    def unequal(self):
        """Two sources so unequal that the errors of the faint one are lost."""
        config = sphere(1, 100, outputs=[])
        config["generators"].append({"type": "point", "photons": 100, "luminosity": "1e32 erg/s"})
        return config

    def test_warnings_come_once(self):
        """Before the photons are run, so that a run can be stopped; the file and thor info have them, too."""
        for quiet in ((), ("--quiet",)):
            out = self.run_thor(self.unequal(), *quiet)
            lines = self.done.stderr.splitlines()
            self.assertEqual(sum("faintest source" in line for line in lines), 1, self.done.stderr)
            self.assertIn("faintest source", lines[0])
            self.assertIn("faintest source", thor("info", out).stdout)
        self.run_thor(sphere(1, 100, outputs=[]))
        self.assertNotIn("warning", self.done.stderr)

    def test_a_velocity_that_jumps(self):
        """The warning is short, and says what to do."""
        grid = self.folder / "grid.h5"
        write_grid(grid, 4)
        with h5py.File(grid, "r+") as file:
            file["velocity_x"][::2] = 100
        for quiet in ((), ("--quiet",)):
            self.run_thor(on_grid(grid, 10, 4e20), *quiet)
            warned = [line for line in self.done.stderr.splitlines() if "warning: the grid is too coarse" in line]
            self.assertEqual(len(warned), 1, self.done.stderr)
            self.assertLess(len(warned[0]), 240)
            self.assertIn("Use a finer grid", warned[0])

    def test_jumps_that_are_off(self):
        """core_skip: none is about something else, for whoever knows other codes."""
        note = "thor: acceleration.core_skip: none turns sphere jumps off"
        config = sphere(1, 10, outputs=[])
        for keys, said in (({"core_skip": "none"}, 1), ({"core_skip": "none", "jumps": False}, 0), ({"jumps": False}, 0), ({}, 0)):
            self.run_thor({**config, "acceleration": keys})
            self.assertEqual(self.done.stderr.count(note), said, keys)
        self.run_thor({**config, "acceleration": {"core_skip": "none"}}, "--quiet")
        self.assertEqual(self.done.stderr, "")

    def test_a_cap_on_scatterings_counts_them_all(self):
        """Sphere jumps are off with it: nobody would know which of their scatterings is one too many."""
        config = {**sphere(1e5, 20, outputs=[]), "acceleration": {}, "limits": {"max_scatterings": 1000}}
        out = self.run_thor(config, expect=UNRELIABLE)
        self.assertIn("acceleration.jumps is off: limits.max_scatterings", self.done.stderr)
        self.assertEqual((self.summary(out)["jumps"], self.summary(out)["longest"]), (0, 1000))
        out = self.run_thor({**config, "limits": {}})
        self.assertGreater(self.summary(out)["jumps"], 0)

    def test_scatterings_inside_jumps(self):
        """Which share they are; not that of the collisions, which few of are jumps."""
        out = self.run_thor({**sphere(1e5, 100, outputs=[]), "acceleration": {}})
        share, jumps, followed = map(float, re.search(
            r"([\d.]+) % of the scatterings are inside sphere jumps \(([\d.]+) a photon\), and ([\d.]+) a photon are followed",
            self.done.stderr).groups())
        s = self.summary(out)
        self.assertAlmostEqual(share, 100 * (1 - s["scatterings_followed"] / s["scatterings"]), delta=0.01)
        self.assertGreater(share, 99)
        self.assertLess(share, 100)
        self.assertAlmostEqual(jumps / (s["jumps"] / 100), 1, delta=0.01)
        self.assertAlmostEqual(followed / (s["scatterings_followed"] / 100), 1, delta=0.01)

    def test_an_error_of_all_light_that_says_little_of_the_pixels(self):
        image = {"type": "image", "name": "sb", "observer": "face", "width": "2 kpc", "pixels": 200}
        config = {**sphere(1, 1000, outputs=[image]), "observers": [{"name": "face", "direction": [0, 0, 1]}],
                  "until": {"output": "sb", "error": "20%", "of": "total", "max_photons": 100_000}}
        out = self.run_thor(config)
        self.assertEqual(text(self.summary(out)["until_ended"]), "met")
        said = r"image sb: until\.error .* [\d.]+ % .*`of: bin-median`"
        self.assertRegex(self.done.stderr, said)
        self.assertRegex(text(self.summary(out)["caveats"]), said)
        self.assertNotIn("noisy", self.done.stderr)
        config["outputs"] = [{**image, "pixels": 1}]
        self.run_thor(config)
        self.assertNotIn("bin-median", self.done.stderr)

    def test_what_was_meant(self):
        """A result in the place of a configuration, and a key in that of an option."""
        out = self.run_thor(sphere(1, 10, outputs=[]))
        done = thor("run", out)
        self.assertEqual(done.returncode, USAGE)
        self.assertRegex(done.stderr, r"is an HDF5 file, not a configuration: `thor info .*`.*`thor continue`")
        (self.folder / "large.h5").write_bytes(out.read_bytes() + bytes(17 << 20))
        self.assertIn("is an HDF5 file", thor("run", self.folder / "large.h5").stderr)
        done = thor("run", "--photons", 100, self.write(sphere(1, 10)))
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("; the key generators.0.photons is set by --set generators.0.photons=VALUE", done.stderr)
        self.assertIn("--set dataset.tau0=3", thor("check", self.write(sphere(1, 10)), "--tau0=3").stderr)
        self.assertIn('did you mean "--threads"', thor("run", "--thread", 3, "x.yaml").stderr)

    def test_versions_that_are_the_same(self):
        out = self.run_thor(sphere(1, 10, outputs=wide_spectra(1, bins=50)))
        with h5py.File(out, "r+") as file:
            file.attrs.modify("format_version", file.attrs["format_version"] + 1)
        said = thor("continue", out, "--photons", 10).stderr
        self.assertRegex(said, r"it is of format \d+, and this thor writes format \d+")
        self.assertNotIn("made by thor", said)

    def test_a_check_warns_once(self):
        done = thor("check", self.write(self.unequal()), "--no-trial")
        self.assertEqual(done.stderr.count("faintest source"), 1)
        self.assertNotIn("warning", done.stdout)

    def test_quiet_is_silent_but_for_warnings(self):
        self.run_thor(sphere(1, 100, outputs=[]), "--quiet")
        self.assertEqual(self.done.stdout + self.done.stderr, "")
        self.run_thor(self.unequal(), "--quiet")
        self.assertEqual([line for line in self.done.stderr.splitlines() if "warning" not in line], [])

    def test_no_escape_codes_in_a_file(self):
        for environment in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
            env = {**os.environ, "TERM": "xterm", **environment}
            self.run_thor(self.unequal(), env=env)
            done = thor("check", self.write("line: x\n"), "--no-trial", env=env)
            self.assertIn("error", done.stderr)
            for stream in (self.done.stderr, self.done.stdout, done.stderr):
                self.assertNotIn("\x1b", stream)
                self.assertNotIn("\r", stream)

    def test_colours_on_a_terminal(self):
        bad, warns = self.write("line: x\n", "bad.yaml"), self.write(self.unequal(), "warns.yaml")
        for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True),
                                      ({"TERM": "dumb"}, False)):
            with self.subTest(environment):
                error = Terminal("check", bad, **environment).wait()
                warning = Terminal("run", warns, "--overwrite", **environment).wait()
                self.assertIn("error:", error)
                self.assertIn("warning:", warning)
                self.assertEqual(bool(self.COLOUR.search(error)), coloured)
                self.assertEqual(bool(self.COLOUR.search(warning)), coloured)

    def test_progress_line(self):
        """Rewritten in place, with all useful information; without colours where not wanted."""
        outputs = wide_spectra(1, bins=50)
        path = self.write(sphere(1e3, 10**9, outputs=outputs))
        options = ("--drain", 0, "--threads", 1, "--device", "cpu")
        plain = Terminal("run", path, "-o", self.folder / "b.h5", *options, NO_COLOR="1")
        full = Terminal("run", path, "-o", self.folder / "a.h5", *options)
        for terminal in (full, plain):
            told = terminal.stop_after(4, self.LINE)
            self.assertEqual(terminal.code, STOPPED, told)
            shown = [line for line in told.split("\r") if "photons  " in line]
            self.assertGreater(len(shown), 3, told)
            self.assertRegex(shown[-1], self.LINE)
            done = [int(re.search(r"(\d+) of 1000000000 photons", line).group(1)) for line in shown]
            self.assertEqual(done, sorted(done))
            self.assertGreater(done[-1], 0)
            self.assertTrue(all(line.endswith("\x1b[K") and "\n" not in line for line in shown))
            self.assertRegex(told, r"\r\x1b\[Kthor: stopping")  # and erased
        self.assertRegex(full.bytes.decode(), self.COLOUR)
        self.assertNotRegex(plain.bytes.decode(), self.COLOUR)

    def test_no_progress_where_it_is_not_wanted(self):
        path = self.write(sphere(1e3, 10**9, outputs=[]))
        options = ("--max-walltime", 0.5, "--drain", 0, "--threads", 1, "--device", "cpu")
        for i, how in enumerate((("--progress", "never"), ("--quiet",))):
            told = Terminal("run", path, "-o", self.folder / f"{i}.h5", *how, *options).wait()
            self.assertNotIn(" of 1000000000 photons  ", told)
        self.assertIn("the run was cut", told)

    def test_plain_progress_on_a_terminal(self):
        told = plain_run.wait()
        self.assertEqual(plain_run.code, STOPPED, told)
        shown = [line for line in told.split("\r\n") if "photons  " in line]
        self.assertEqual(len(shown), 1, told)
        self.assertNotIn("\r", shown[0])
        self.assertNotIn("\x1b", shown[0])
        self.assertRegex(shown[0], r"^ *[\d.]+ %  \d+ of 1000000000 photons .* left$")


if __name__ == "__main__":
    main()
