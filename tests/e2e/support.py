"""What the tests of the command share, beside the cases of test_command.py."""

import contextlib
import fcntl
import functools
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import test_command  # noqa: E402
from test_command import KPC, ROOT, thor  # noqa: E402


INTERNAL, INPUT = 1, 3


NOBODY = 65534


TEMPLATES = ("sphere", "outflow", "shell", "slab", "dusty_slab", "doublet")
TEMPLATES_OF_GRIDS = ("galaxy",)  # which need a file beside them


FULL_SHELL = """
driver: mcrt
line: Lya
seed: 18446744073709551615
precision: double
dataset:
  type: shell
  inner_radius: 0.1 kpc
  outer_radius: 1 kpc
  temperature: 2e4 K
  b_turb: 20 km/s
  column_density: 2e20 cm^-2
  density: {profile: power_law, exponent: -2}
  velocity: {profile: power_law, exponent: 0.5, average: -200 km/s}
  dust: {tau: 0.1, albedo: 0.4, g: 0.5}
  step_limiter: 0.05
generators:
  - type: point
    position: [0.5 kpc, 0 kpc, -2 pc]
    velocity: [0 km/s, 100 km/s, 0 km/s]
    photons: 2e5
    luminosity: 2 erg/s
    spectrum: {type: gaussian, sigma: 150 km/s, offset: -30 km/s, reference: Lya_D}
  - type: extended
    shape: surface
    radius: 0.5 kpc
    photons: 100
    spectrum: {type: continuum, range: [-2000 km/s, 3000 km/s]}
  - type: extended
    shape: beam
    direction: [3, 0, -4]
    radius: 2 kpc
    photons: 10
    spectrum:
      type: line_and_continuum
      sigma: 100 km/s
      equivalent_width: 2 Angstrom
      range: [1210 Angstrom, 1220 Angstrom]
  - {type: extended, shape: medium, photons: 5, spectrum: {type: thermal, temperature: 1e4 K}}
acceleration: {core_skip: {fixed: 3}}
physics: {phase_function: dipole, recoil: true, deuterium: 2.5e-5}
numerics: {voigt: H82, u_parallel: S15, core_wing: B25fast, generator: philox4x32, uniform: unbiased}
limits: {max_scatterings: 1e6, max_steps: 2e9}
outputs:
  - {type: spectrum, name: emergent, of: escaped, axis: x, range: [-30, 30], bins: 240}
  - {type: spectrum, name: v-2, of: emitted, range: [-1000 km/s, 1000 km/s], bins: 10, reference: Lya_D}
  - {type: spectrum, name: l_3, of: absorbed, axis: wavelength, range: [121 nm, 122 nm], bins: 1}
  - {type: spectrum, name: "4", axis: frequency, range: [2.4e15 Hz, 2.5e15 Hz], bins: 2}
  - {type: photons, fields: [scatterings, id]}
output: {path: results/out.h5}
"""


FULL_SLAB = """
line: Lya
dataset:
  type: slab
  half_thickness: 30 au
  temperature: 300 K
  number_density: 1e3 cm^-3
  velocity: {profile: linear, max: 20 km/s}
  dust: {law: LMC, metallicity: 0.5, hydrogen_column: 2e17 cm^-2, ionized_column: 1e20 cm^-2, f_ion: 0.1}
generators:
  - {type: extended, shape: beam, radius: 1 au, photons: 3, spectrum: {type: delta, offset: 10 km/s}}
  - {type: extended, shape: medium, photons: 3}
acceleration: {core_skip: smith15}
physics: {phase_function: isotropic}
numerics: {rejection: squeezed}
outputs:
  - {type: spectrum, name: all, axis: frequency, range: [2.4e15 Hz, 2.5e15 Hz], bins: 1e3}
  - {type: photons}
output: {path: slab.h5}
"""


def skip_loudly(case, what):
    case.skipTest(f"*** SKIPPED: {what}: THIS IS NOT TESTED ***")


def command_line(*arguments):
    return [test_command.THOR, *map(str, arguments)]


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


def wait_for(what, seconds=20):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


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


def wide_spectra(count, bins=10_000_000):
    return [{"type": "spectrum", "name": f"s{i}", "axis": "x", "range": [-10, 10], "bins": bins} for i in range(count)]


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
            "outputs": keys.pop("outputs", []), "output": {"path": "out.h5"}, **keys}


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
