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

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import sphere, wide_spectra  # noqa: E402
from support import Case, STOPPED, Terminal, main, thor  # noqa: E402


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

    def test_warnings_come_again_after_the_summary(self):
        self.run_thor(self.unequal())
        lines = self.done.stderr.splitlines()
        warned = [i for i, line in enumerate(lines) if "faintest source" in line]
        summary = [i for i, line in enumerate(lines) if "scatterings/s in" in line]
        self.assertEqual((len(warned), len(summary)), (2, 1), self.done.stderr)
        self.assertLess(warned[0], summary[0])
        self.assertGreater(warned[1], summary[0])
        self.assertEqual(lines[warned[0]], lines[warned[1]])
        self.run_thor(sphere(1, 100, outputs=[]))
        self.assertNotIn("warning", self.done.stderr)

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
