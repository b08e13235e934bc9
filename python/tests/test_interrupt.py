"""Ctrl-C, and other ends of a Python that runs thor: no process is left over, the file is complete."""

import os
import signal
import subprocess
import sys
import time
import unittest
import warnings
from pathlib import Path

from support import ENDLESS, WithFiles, need_thor

import thor

SCRIPT = """
import sys
import thor
try:
    thor.run({config!r}, {path!r}, drain={drain}, device="cpu")
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""


def setUpModule():
    need_thor()


def wait_until(what, seconds=60.0):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            raise AssertionError("it did not happen in time")
        time.sleep(0.01)


def thors(path):
    """Processes that write this result."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if b"run" in words[1:2] and os.fsencode(path) in words:
            found.append(int(entry.name))
    return found


class InterruptTest(WithFiles):
    def start(self, drain=0):
        """A Python in its own process group, as started by a shell, with thor running."""
        script = SCRIPT.format(config=ENDLESS, path=self.path, drain=drain)
        job = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.addCleanup(job.communicate)
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in thors(self.path)])
        self.addCleanup(job.kill)
        wait_until(lambda: os.path.exists(self.path + ".partial"))
        self.assertEqual(len(thors(self.path)), 1)
        return job

    def left_a_valid_file(self):
        self.assertEqual(thors(self.path), [])
        self.assertFalse(os.path.exists(self.path + ".partial"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", thor.IncompleteRunWarning)
            with thor.open(self.path) as result:
                self.assertFalse(result.complete)
                self.assertGreater(result.summary["photons"], 0)

    def test_to_python_alone(self):
        """Interrupt as sent by a notebook or a debugger."""
        job = self.start()
        job.send_signal(signal.SIGINT)
        out, err = job.communicate(timeout=60)
        self.assertEqual((job.returncode, out), (7, "interrupted\n"), err)
        self.assertIn("thor: stop", err)
        self.left_a_valid_file()

    def test_to_all(self):
        """Ctrl-C as sent by the terminal, to the whole group: thor must not count it twice."""
        job = self.start(drain=0.5)
        (child,) = thors(self.path)
        self.assertNotEqual(os.getpgid(child), job.pid)  # two signals may merge into one, or not
        os.killpg(job.pid, signal.SIGINT)
        out, err = job.communicate(timeout=60)
        self.assertEqual((job.returncode, out), (7, "interrupted\n"), err)
        self.left_a_valid_file()

    def test_twice_ends_at_once(self):
        job = self.start(drain=1000)
        job.send_signal(signal.SIGINT)
        self.assertTrue(any("once more ends at once" in line for line in job.stderr))
        time.sleep(0.2)  # within 0.1 s of the first it would be the same wish
        self.assertIsNone(job.poll())  # it waits for thor
        job.send_signal(signal.SIGINT)
        out, err = job.communicate(timeout=60)
        self.assertEqual((job.returncode, out), (7, "interrupted\n"), err)
        self.assertEqual(thors(self.path), [])
        self.assertFalse(os.path.exists(self.path))

    @unittest.skipUnless(sys.platform == "linux", "only Linux notifies a child of its parent's end")
    def test_python_is_killed(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            job = self.start()
            job.send_signal(number)
            job.wait(timeout=60)
            wait_until(lambda: not thors(self.path))
            self.left_a_valid_file()
            os.remove(self.path)


if __name__ == "__main__":
    unittest.main()
