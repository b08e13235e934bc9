"""The case of a test of the thor command, how the command is run, and other things that such tests share."""

import contextlib
import fcntl
import functools
import json
import math
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import FULL_SHELL, FULL_SLAB, TEMPLATES  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
THOR = os.environ.get("THOR_BINARY", str(ROOT / "build/release/thor"))

KPC = 3.0856775814913673e21  # cm
C = 299792.458  # km/s
NOBODY = 65534
ESCAPED, ABSORBED, LOST = 2, 3, 4
DONE, INTERNAL, USAGE, INPUT, DEVICE, STOPPED, OUTPUT, UNRELIABLE = range(8)
# A run looks at signals and limits once photons are in flight, however soon that is (Hold in src/thor/drivers/options.hpp).
os.environ.setdefault("THOR_TEST_HOLD", "after:0")
# In the background of a script SIGINT is ignored, and thor would keep it so.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Tests at random draw so many times as often: THOR_THOROUGH=8 ctest -R e2e.domains.
THOROUGH = int(os.environ.get("THOR_THOROUGH", "1"))


def command_line(*arguments):
    return [THOR, *map(str, arguments)]


def thor(*arguments, **options):
    """Runs the command; tries again while the binary is being replaced by a build."""
    for _ in range(20):
        try:
            return subprocess.run(command_line(*arguments), capture_output=True, text=True, timeout=120, **options)
        except OSError:  # missing, or text file busy
            time.sleep(1)
    raise RuntimeError(f"{THOR} cannot be run")


def without(backend):
    """Whether a backend for GPUs is not in this build."""
    return re.search(rf"^{backend} +not in this build", thor("devices").stdout, re.MULTILINE) is not None


def text(value):
    return value.decode() if isinstance(value, bytes) else value


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="thor-e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.runs = 0

    def write(self, config, name="config.yaml"):
        path = self.folder / name
        path.write_text(config if isinstance(config, str) else json.dumps(config))
        return path

    def run_thor(self, config, *arguments, expect=DONE, **options):
        """Runs a configuration and returns the result file's path."""
        self.runs += 1
        output = self.folder / f"run{self.runs}.h5"
        self.done = thor("run", self.write(config), "-o", output, *arguments, **options)
        self.assertEqual(self.done.returncode, expect, self.done.stderr)
        return output

    def photons(self, path):
        """Every field of the recorded photons, in the order of their ids."""
        with h5py.File(path) as file:
            fields = {name: data[()] for name, data in file["photons/original"].items()}
        order = np.argsort(fields["id"], kind="stable")
        return {name: data[order] for name, data in fields.items()}

    def run_photons(self, config, *arguments):
        return self.photons(self.run_thor(config, *arguments))

    def summary(self, path):
        with h5py.File(path) as file:
            return dict(file["summary"].attrs)

    def assert_closed(self, path):
        """Every photon has one fate, and the luminosities add up."""
        s = self.summary(path)
        self.assertEqual(s["photons"], sum(int(s[k]) for k in ("escaped", "absorbed", "stopped", "lost", "in_flight")))
        parts = sum(s["luminosity_" + k] for k in ("unresolved", "escaped", "absorbed", "stopped", "lost", "in_flight"))
        self.assertAlmostEqual(parts / s["luminosity_emitted"], 1, delta=1e-12)
        with h5py.File(path) as file:
            if "photons" in file:
                fate = file["photons/original/fate"][()]
                self.assertEqual(len(fate), s["photons"])
                for name, code in (("escaped", ESCAPED), ("absorbed", ABSORBED), ("lost", LOST)):
                    self.assertEqual(np.count_nonzero(fate == code), s[name], name)
                self.assertEqual(np.count_nonzero(fate < ESCAPED), s["in_flight"])
        return s

    def assert_identical(self, a, b, message=""):
        self.assertEqual(a.keys(), b.keys())
        for name in a:
            same = a[name].shape == b[name].shape and a[name].tobytes() == b[name].tobytes()
            if not same and a[name].shape == b[name].shape:
                rows = np.nonzero((a[name] != b[name]).reshape(len(a[name]), -1).any(axis=1))[0]
                first = rows[0] if len(rows) else 0
                message += f": {len(rows)} photons differ, the first has id {a['id'][first]}: " \
                           f"{a[name][first]} and {b[name][first]}"
            self.assertTrue(same, f"{name} differs {message}")

    def assert_share(self, hits, count, expected, sigmas=4.0, message=""):
        error = math.sqrt(expected * (1 - expected) / count)
        self.assertLess(abs(hits / count - expected), sigmas * error,
                        f"{message} share {hits / count:.5f}, expected {expected:.5f} +- {error:.5f}")

    def assert_mean(self, values, expected, error, sigmas=4.0, message=""):
        mean = float(np.mean(values))
        self.assertLess(abs(mean - expected), sigmas * error,
                        f"{message} {mean:.6g}, expected {expected:.6g} +- {error:.2g}")


def skip_loudly(case, what):
    case.skipTest(f"*** SKIPPED: {what}: THIS IS NOT TESTED ***")


def read_package():
    """The Python package of this source tree."""
    sys.path.insert(0, str(ROOT / "python"))
    try:
        import thor as package
    finally:
        sys.path.pop(0)
    return package


def best_of(count, job):
    """The shortest processor time of the commands that a job runs: the clock would count others who use the machine."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def seconds():
        begin = used()
        job()
        return used() - begin
    return min(seconds() for _ in range(count))


@functools.cache
def good_texts():
    """Configurations that thor accepts, by name."""
    texts = {name: thor("init", name, "-o", "-").stdout for name in TEMPLATES}
    for path in ("neufeld/sphere", "mgii_outflow", "siii_fluorescence"):
        texts[f"example {path}"] = (ROOT / f"examples/{path}.yaml").read_text()
    return {**texts, "full shell": FULL_SHELL, "full slab": FULL_SLAB}


@contextlib.contextmanager
def as_nobody(case, folder):
    """Options of subprocess that make permissions apply, even for root."""
    folder.chmod(0o755)
    if os.geteuid() != 0:
        yield {}
        return
    options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        subprocess.run(command_line("--version"), capture_output=True, timeout=20, **options)
    except OSError:
        skip_loudly(case, "permissions: root ignores them, and others cannot run this binary")
    yield options


def limited(what, amount):
    """For preexec_fn: a limit on the process; too long a file then fails as on a full disk."""
    def apply():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(what, (amount, amount))
    return {"preexec_fn": apply, "restore_signals": False}


def held(where):
    """For subprocess: a command that looks at signals and limits only there, so that a test does not depend on its speed.
    at:N: N photons have ended, and no other is started; after:N: N have ended; writing: a grid, a mock or a merged file is
    being written."""
    return {"env": {**os.environ, "THOR_TEST_HOLD": where}}


def wait_for(what, seconds=60):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


def is_locked(path):
    """Whether a run has locked what it writes: a moment later than it is there."""
    return path.exists() and re.search(rf":{path.stat().st_ino} ", Path("/proc/locks").read_text()) is not None


@contextlib.contextmanager
def mounted(case, folder, options):
    """A small separate file system; needs root."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True)
    if done.returncode != 0:
        skip_loudly(case, f"a separate file system cannot be mounted ({done.stderr.strip()})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def write_grid(path, n=16, cell=1e20, density=1e-2, **attributes):
    """A homogeneous grid at rest, or one of the given densities."""
    with h5py.File(path, "w") as file:
        file.attrs.update({"cell_size": cell, "origin_x": 0., "origin_y": 0., "origin_z": 0., **attributes})
        file["HI_density"] = np.broadcast_to(density, (n, n, n)).astype("f4")
        file["temperature"] = np.full((n, n, n), 1e4, "f4")
        for axis in "xyz":
            file[f"velocity_{axis}"] = np.zeros((n, n, n), "f4")
            file[f"velocity_{axis}"].attrs["units"] = "km s-1"


def on_grid(path, photons, size, **keys):
    centre = f"{0.5 * size / KPC!r} kpc"
    return {"line": "Lya", "dataset": {"type": "uniform_grid", "path": str(path), **keys.pop("dataset", {})},
            "generators": [{"type": "point", "position": [centre] * 3, "photons": photons, "luminosity": "1e42 erg/s"}],
            "acceleration": {"core_skip": "none", "jumps": False}, "outputs": keys.pop("outputs", []), "output": {"path": "out.h5"}, **keys}


class Terminal:
    """A command on a pseudo-terminal; wait() returns its output."""

    def __init__(self, *arguments, columns=None, **environment):
        ours, theirs = pty.openpty()
        if columns:
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "COLUMNS")}
        self.job = subprocess.Popen(command_line(*arguments), stdin=theirs, stdout=theirs, stderr=theirs,
                                    env={**kept, "TERM": "xterm", **environment}, preexec_fn=lambda: os.nice(5))
        os.close(theirs)
        self.bytes = b""
        self.thread = threading.Thread(target=self._read, args=(ours,), daemon=True)
        self.thread.start()

    def _read(self, descriptor):
        with contextlib.suppress(OSError):  # EIO at the end
            while chunk := os.read(descriptor, 4096):
                self.bytes += chunk
        os.close(descriptor)

    def stop_after(self, lines, last):
        """Ends a run that has rewritten its line so often, and then as the regular expression says; its output."""
        def has_shown():
            shown = [line for line in self.bytes.decode(errors="replace").split("\r") if line.endswith("\x1b[K") and line != "\x1b[K"]
            return len(shown) >= lines and re.search(last, shown[-1].removesuffix("\x1b[K"))
        wait_for(lambda: has_shown() or self.job.poll() is not None)
        self.job.terminate()
        return self.wait()

    def wait(self, seconds=60):
        try:
            self.code = self.job.wait(seconds)
        finally:
            if self.job.poll() is None:
                self.job.kill()
                self.job.wait()
        self.thread.join(5)
        return self.bytes.decode()


def commands():
    """The commands in `thor --help`."""
    told = thor("--help").stdout
    return re.findall(r"^  (\w+) +\S", told.partition("Subcommands:")[2], re.M)


def main():
    global THOR
    arguments = sys.argv[:1]
    rest = iter(sys.argv[1:])
    for word in rest:
        if word == "--thor":
            THOR = next(rest)
        elif word.startswith("--thor="):
            THOR = word.split("=", 1)[1]
        else:
            arguments.append(word)
    THOR = os.path.abspath(THOR)
    if not os.access(THOR, os.X_OK):
        sys.exit(f"{sys.argv[0]}: {THOR} cannot be run; give --thor PATH or THOR_BINARY")
    unittest.main(argv=arguments)
