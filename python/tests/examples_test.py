"""The examples run: ten seconds, so they are not among the tests that discovery finds.

PYTHONPATH=python THOR_BINARY=build/release/thor python3 python/tests/examples_test.py
"""

import subprocess
import sys
import unittest
from pathlib import Path

from support import WithFiles, need_thor

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples" / "python"


def setUpModule():
    need_thor()


class Example(WithFiles):
    def example(self, name, figures, photons, fewer):
        """Runs a copy of an example with fewer photons."""
        text = (EXAMPLES / f"{name}.py").read_text()
        self.assertEqual(text.count(photons), 1)
        script = Path(self.folder, f"{name}.py")
        script.write_text(text.replace(photons, fewer))
        command = [sys.executable, script, self.folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("Warning", done.stderr)
        self.assertEqual(len(list(Path(self.folder).glob("*.png"))), figures)
        return done.stdout


class SpectraExample(Example):
    def test_spectra(self):
        said = self.example("spectra", 4, '"photons": 60000', '"photons": 20000')
        self.assertRegex(said, r"escape fraction: 0\.7\d+ \+- 0\.00\d+")


class SweepExample(Example):
    def test_sweep(self):
        said = self.example("sweep", 2, "photons: 6000", "photons: 1000")
        self.assertIn("24 models, 0 failures", said)


if __name__ == "__main__":
    unittest.main()
