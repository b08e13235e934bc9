"""The package itself: its version, its types, and pip."""

import importlib.util
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from support import WithFiles, skip_loudly

import thor

PROJECT = Path(__file__).resolve().parent.parent


check = None


def setUpModule():
    """mypy takes some seconds: it is started first and checked last."""
    global check
    mypy = shutil.which("mypy")
    if mypy is not None:
        command = [mypy, "--strict", "--cache-dir", "/dev/null", "thor"]
        check = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
        unittest.addModuleCleanup(check.wait)
        unittest.addModuleCleanup(check.kill)
        unittest.addModuleCleanup(check.stdout.close)


def tried(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


class VersionTest(unittest.TestCase):
    def test_is_that_of_the_code(self):
        cmake = (PROJECT.parent / "CMakeLists.txt").read_text()
        (version,) = re.findall(r"^project\(thor VERSION ([\d.]+)", cmake, re.MULTILINE)
        self.assertEqual(thor.__version__, version)


class TypesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if check is None:
            skip_loudly("types: there is no mypy")

    def test_strictly_typed(self):
        said = check.communicate()[0]
        self.assertEqual(check.returncode, 0, said)


class PipTest(WithFiles):
    def test_install_from_the_checkout(self):
        """Without a network, in a separate environment."""
        source, venv = Path(self.folder, "python"), Path(self.folder, "venv")
        shutil.copytree(PROJECT, source, ignore=shutil.ignore_patterns("build", "*.egg-info"))
        needed = ("venv", "pip", "setuptools", "wheel")
        lacking = [f"python3-{name}" for name in needed if importlib.util.find_spec(name) is None]
        if lacking:
            skip_loudly(f"pip: there is no {', '.join(lacking)}")
        made = tried(
            sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", venv
        )
        self.assertEqual(made.returncode, 0, made.stderr)
        python = venv / "bin" / "python"
        if tried(python, "-I", "-c", "import numpy, h5py").returncode != 0:
            skip_loudly("pip: a fresh environment sees no numpy and h5py")
        options = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet")
        done = tried(python, "-m", "pip", "install", *options, source)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        installed = next(venv.glob("lib/*/site-packages/thor"))
        self.assertEqual(
            {path.name for path in installed.iterdir() if path.is_file()},
            {path.name for path in (PROJECT / "thor").iterdir() if path.is_file()},
        )
        self.assertTrue((installed / "py.typed").exists())
        asked = tried(
            python, "-I", "-c",
            "import thor, importlib.metadata as m; print(thor.__file__, m.version('thor'))",
        )  # fmt: skip
        self.assertEqual(
            asked.stdout.split(), [str(installed / "__init__.py"), thor.__version__], asked.stderr
        )
        self.assertEqual(tried(python, "-I", "-m", "thor", "--help").returncode, 0)


if __name__ == "__main__":
    unittest.main()
