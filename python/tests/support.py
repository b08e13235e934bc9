"""Common code of the tests: synthetic result files, and the thor command."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import signal
import struct
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from unittest import mock

import h5py
import numpy as np

import thor

# A run looks at signals and limits once photons are in flight, however soon that is (Hold in src/thor/drivers/options.hpp).
os.environ.setdefault("THOR_TEST_HOLD", "after:0")
# In the background of a script SIGINT is ignored, and thor would keep it so.
signal.signal(signal.SIGINT, signal.default_int_handler)

A, TAU0 = 4.7e-4, 1e7  # T = 1e4 K
WAVELENGTH0, THERMAL = 1215.67, 12.85
LUMINOSITY = 1e42
CONFIG = "driver: mcrt\nline: Lya  # Lyα\ngenerators:\n  - type: point\n    photons: 20000\n"


def held(where):
    """While it lasts, runs look at signals and limits only there; at:N is where N photons have ended."""
    return mock.patch.dict(os.environ, THOR_TEST_HOLD=where)


def put(target, **attributes):
    """Text as thor writes it: fixed-length UTF-8."""
    for name, value in attributes.items():
        target.attrs[name] = np.bytes_(value.encode()) if isinstance(value, str) else value


def write_result(path, complete=True, photons=20000, absorbed=0, seed=1, unequal=False, **changes):
    """A result as thor would write it, of photons drawn from the static-sphere solution; ``unequal``: of a list of
    sources, the second half of the photons with three times the weight of the first, in a file without weights."""
    rng = np.random.default_rng(seed)
    fine = np.linspace(0, 60, 20001)
    x = np.interp(rng.random(photons), thor.analytic.sphere_cdf(fine, A, TAU0), fine)
    x *= rng.choice([-1.0, 1.0], photons)
    weight = np.where(unequal & (np.arange(photons) >= photons // 2), 3.0, 1.0)
    weight *= LUMINOSITY / np.sum(weight)
    fate = np.where(np.arange(photons) < absorbed, 3, 2)
    with h5py.File(path, "w") as file:
        root = {
            "thor_version": "0.1.0",
            "git_commit": "abc1234",
            "config": CONFIG,
            "seed": seed,
            "device": "cpu",
            "precision": "single",
            "line": "Lya",
            "format_version": 1,
            "wavelength0": WAVELENGTH0,
            "thermal_velocity": THERMAL,
        }
        put(file, **{**root, **changes})
        in_flight = 0 if complete else 100
        put(
            file.create_group("summary"),
            photons=photons + in_flight,
            escaped=photons - absorbed,
            absorbed=absorbed,
            stopped=0,
            lost=0,
            in_flight=in_flight,
            complete=np.bool_(complete),
            scatterings=2.1e7,
            steps=2.2e7,
            luminosity_emitted=LUMINOSITY,
            luminosity_escaped=LUMINOSITY * (np.sum(weight[absorbed:]) / np.sum(weight)),
            luminosity_absorbed=LUMINOSITY * (np.sum(weight[:absorbed]) / np.sum(weight)),
            transport_seconds=1.25,
            threads=2,
        )
        edges = np.linspace(-50, 50, 101)
        light = np.histogram(x[absorbed:], edges, weights=weight[absorbed:])[0]
        square = np.histogram(x[absorbed:], edges, weights=weight[absorbed:] ** 2)[0]
        for name, of, share in (("emergent", "escaped", 1.0), ("source", "emitted", 0.0)):
            group = file.create_group(f"spectra/{name}")
            put(group, axis="x", of=of, luminosity_beyond=0.0)
            group["edges"] = edges
            group["flux"] = share * light / np.diff(edges)
            group["error"] = share * np.sqrt(square) / np.diff(edges)
            put(group["edges"], units="", description="bin edges")
        direction = rng.normal(size=(photons, 3))
        group = file.create_group("photons/original")
        group["id"] = np.arange(photons, dtype=np.uint64)
        group["velocity_final"] = 299792.458 * np.expm1(-x * THERMAL / 299792.458)
        group["velocity_initial"] = np.zeros(photons)
        group["position"] = np.zeros((photons, 3), dtype=np.float32)
        group["direction"] = direction / np.linalg.norm(direction, axis=1)[:, None]
        group["fate"] = fate
        put(group["position"], units="cm")
        put(group["velocity_final"], units="km s-1")
    return x


def png_pixels(path):
    """Bytes of a PNG's scanlines, including filters: enough to distinguish it from a blank page."""
    data = Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    packed, at = b"", 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += size + 12
    return zlib.decompress(packed)


class WithFiles(unittest.TestCase):
    """A separate folder for each test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "out.h5")

    def open(self):
        result = thor.open(self.path)
        self.addCleanup(result.close)
        return result


needs_astropy = unittest.skipUnless(
    importlib.util.find_spec("astropy"), "*** SKIPPED: damaged files: astropy is not installed (python3-astropy) ***"
)


needs_emcee = unittest.skipUnless(importlib.util.find_spec("emcee"), "*** SKIPPED: chains of fits: emcee is not installed (python3-emcee) ***")


def skip_loudly(why):
    """Skips the tests of a module or class, and says so even without -v."""
    print(f"\nSKIPPED: {why}", file=sys.stderr, flush=True)
    raise unittest.SkipTest(why)


def need_thor():
    """The thor command named in the environment; skips tests that need it if there is none."""
    binary = os.environ.get("THOR_BINARY")
    if not binary:
        skip_loudly("tests that run thor: set THOR_BINARY to the thor command")
    return binary


#: A run of a few milliseconds.
SMALL = {
    "line": "Lya",
    "dataset": {
        "type": "shell",
        "outer_radius": "1 kpc",
        "temperature": "1e4 K",
        "tau0": 100,
        "dust": {"tau": 0.5},
    },
    "generators": [{"type": "point", "photons": 400, "luminosity": "1e42 erg/s"}],
    "outputs": [
        {"type": "spectrum", "name": "emergent", "axis": "velocity", "bins": 60,
         "range": ["-300 km/s", "300 km/s"]},
        {"type": "photons", "fields": ["id", "velocity_final", "direction"]},
    ],
}  # fmt: skip

#: A run of hours.
ENDLESS = {
    **SMALL,
    "dataset": {"type": "shell", "outer_radius": "1 kpc", "temperature": "10 K", "tau0": 1e9},
    "acceleration": {"core_skip": "none"},
}

#: Four of them, and their files.
GRID = {"dataset.tau0": [10, 100.0], "dataset.dust.tau": [0, 0.5]}
FILES = [
    "tau0=10_dust.tau=0.h5",
    "tau0=10_dust.tau=0.5.h5",
    "tau0=100_dust.tau=0.h5",
    "tau0=100_dust.tau=0.5.h5",
]


class WithSweep(WithFiles):
    def setUp(self):
        super().setUp()
        self.at = Path(self.folder, "sweep")

    def sweep(self, config=SMALL, parameters=GRID, **options):
        """The sweep, and its messages."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            done = thor.sweep(config, parameters, self.at, **options)
        return done, said.getvalue()

    def changes(self):
        """When each result was written."""
        return {path.name: path.stat().st_mtime_ns for path in self.at.glob("*.h5")}

    def refused(self, pattern, *arguments, **options):
        """Checks that nothing is run or changed."""
        before, index = self.changes(), Path(self.at, "index.json").read_text()
        with self.assertRaisesRegex(thor.SweepError, pattern):
            self.sweep(*arguments, **options)
        self.assertEqual(self.changes(), before)
        self.assertEqual(Path(self.at, "index.json").read_text(), index)
