"""Without numpy or h5py the package says what to install."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


class NeededTest(unittest.TestCase):
    def run_without(self, *arguments):
        """A Python without packages of its own: -S leaves out the folder of sites."""
        with tempfile.TemporaryDirectory() as folder:
            environment = {"PYTHONPATH": str(PACKAGE), "PATH": os.environ.get("PATH", ""), "HOME": folder}
            return subprocess.run([sys.executable, "-S", *arguments], env=environment, capture_output=True, text=True, cwd=folder)

    def test_the_command_says_what_to_do(self):
        for arguments in (("-m", "thor", "info", "x.h5"), ("-m", "thor", "plot", "x.h5", "-o", "x.png"), ("-m", "thor")):
            done = self.run_without(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"^thor: numpy and h5py are missing in .*apt install python3-numpy python3-h5py.*\n$")

    def test_an_import_says_what_to_do(self):
        done = self.run_without("-c", "import thor")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.splitlines()[-1], r"^ImportError: numpy and h5py are missing in .*/usr/bin/python3")


if __name__ == "__main__":
    unittest.main()
