"""What thor does when something is wrong, and what it says: broken configurations, faults of a run, the terminal, and
everything it prints about itself.

    /usr/bin/python3 tests/e2e/test_faults.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py; what needs more (PyYAML, jsonschema,
astropy, zsh, groff, a mount) is skipped loudly where it is not there. Seeds are fixed. What test_command.py holds already
is not repeated: exit codes of bad usage, an output without a place, a limit on the size of files, the first SIGINT and
SIGTERM, the wall-clock limit, caps counted as lost, a stderr that cannot be written.
"""

import concurrent.futures
import contextlib
import datetime
import functools
import json
import math
import os
import pty
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import test_command  # noqa: E402
from test_command import C, DEVICE, DONE, ENDLESS, OUTPUT, ROOT, STOPPED, USAGE, Case, slab, sphere, text, thor  # noqa: E402

INTERNAL, INPUT = 1, 3
NOBODY = 65534
TEMPLATES = ("sphere", "outflow", "shell", "slab", "dusty_slab")

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
    spectrum: {type: gaussian, sigma: 150 km/s, offset: -30 km/s}
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
physics: {phase_function: dipole, recoil: true}
limits: {max_scatterings: 1e6, max_steps: 2e9}
outputs:
  - {type: spectrum, name: emergent, of: escaped, axis: x, range: [-30, 30], bins: 240}
  - {type: spectrum, name: v-2, of: emitted, range: [-1000 km/s, 1000 km/s], bins: 10}
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
  dust: {tau: 1e-3}
generators:
  - {type: extended, shape: beam, radius: 1 au, photons: 3, spectrum: {type: delta, offset: 10 km/s}}
  - {type: extended, shape: medium, photons: 3}
acceleration: {core_skip: smith15}
physics: {phase_function: isotropic}
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
    """The shortest time of some runs: others use the machine too."""
    def seconds():
        begin = time.perf_counter()
        job()
        return time.perf_counter() - begin
    return min(seconds() for _ in range(count))


# ---- Broken configurations -------------------------------------------------------------------------------------------


@dataclass
class Entry:
    """A key of a configuration in block style."""
    line: int  # from 0
    end: int  # the first line after what is below the key
    indent: int
    dash: bool  # the first key of an element of a list
    key: str
    value: str
    path: str

    @property
    def plain_path(self):
        """Without the indices of lists."""
        return re.sub(r"\.\d+(?=\.)", "", self.path)


class Document:
    """A configuration as thor resolves it: block style, one key a line, so that each edit has a known line and path."""

    LINE = re.compile(r"( *)(- )?([a-z_0-9]+):(?: (.*))?$")

    def __init__(self, name, yaml):
        self.name = name
        self.lines = yaml.splitlines()
        self.entries = self._entries()

    def _entries(self):
        entries, above, elements = [], [(-1, "")], {}
        for number, line in enumerate(self.lines):
            space, dash, key, value = self.LINE.match(line).groups()
            column = len(space)
            while above[-1][0] >= column:
                above.pop()
            if dash:
                parent = above[-1][1]
                elements[parent] = elements.get(parent, -1) + 1
                above.append((column, f"{parent}.{elements[parent]}"))
                column += 2
            path = f"{above[-1][1]}.{key}".lstrip(".")
            entries.append(Entry(number, self._end(number, column), column, bool(dash), key, value or "", path))
            above.append((column, path))
        return entries

    def _end(self, number, indent):
        for after in range(number + 1, len(self.lines)):
            if len(self.lines[after]) - len(self.lines[after].lstrip(" ")) <= indent:
                return after
        return len(self.lines)

    def parent(self, entry):
        return entry.path.rpartition(".")[0]

    def lead(self, entry, dash=None):
        dash = entry.dash if dash is None else dash
        return " " * (entry.indent - 2) + "- " if dash else " " * entry.indent

    def joined(self, before, middle, after):
        return "\n".join([*self.lines[:before], *middle, *self.lines[after:]]) + "\n"

    def replace(self, entry, value):
        return self.joined(entry.line, [f"{self.lead(entry)}{entry.key}: {value}"], entry.end)

    def rename(self, entry, key):
        value = f" {entry.value}" if entry.value else ""
        return self.joined(entry.line, [f"{self.lead(entry)}{key}:{value}"], entry.line + 1)

    def repeat(self, entry):
        again = [f"{self.lead(entry, dash=False)}{self.lines[entry.line][entry.indent:]}"]
        return self.joined(entry.end, again + self.lines[entry.line + 1:entry.end], entry.end)

    def add(self, entry, line):
        return self.joined(entry.end, [self.lead(entry, dash=False) + line], entry.end)

    def delete(self, entry):
        rest = self.lines[entry.end:]
        if entry.dash:  # the next key becomes the first of the element
            rest[0] = self.lead(entry) + rest[0][entry.indent:]
        return "\n".join(self.lines[:entry.line] + rest) + "\n"


@dataclass
class Mutant:
    """A configuration with one mistake, and what must be said of it: a pattern each."""
    kind: str
    document: str
    what: str
    yaml: str
    says: list = field(default_factory=list)
    overrides: tuple = ()


# By path: unit, a unit of another kind, values out of range.
QUANTITIES = {
    "dataset.inner_radius": ("kpc", "K", ["-1 kpc", "1e9 kpc"]),
    "dataset.outer_radius": ("kpc", "km/s", ["0 kpc", "-1 kpc"]),
    "dataset.half_thickness": ("pc", "Hz", ["0 pc", "-1 pc"]),
    "dataset.temperature": ("K", "kpc", ["0 K", "-1 K", "1e-9 K"]),
    "dataset.b_turb": ("km/s", "K", ["-1 km/s", "3e5 km/s"]),
    "dataset.tau0": ("", "cm^-2", ["0", "-1", "1e16"]),
    "dataset.column_density": ("cm^-2", "cm^-3", ["0 cm^-2", "-1 cm^-2", "1e40 cm^-2"]),
    "dataset.number_density": ("cm^-3", "cm^-2", ["0 cm^-3", "-1 cm^-3", "1e40 cm^-3"]),
    "dataset.density.exponent": ("", "kpc", ["300", "-300"]),
    "dataset.velocity.exponent": ("", "km/s", ["300", "-300"]),
    "dataset.velocity.max": ("km/s", "kpc", ["3e5 km/s", "-3e5 km/s"]),
    "dataset.velocity.average": ("km/s", "kpc", ["3e5 km/s", "-3e5 km/s"]),
    "dataset.dust.tau": ("", "cm", ["-0.1"]),
    "dataset.dust.albedo": ("", "K", ["-0.1", "1.1"]),
    "dataset.dust.g": ("", "K", ["-1", "1"]),
    "dataset.step_limiter": ("", "kpc", ["0", "-1", "1.1"]),
    "generators.radius": ("kpc", "K", ["0 kpc", "-1 kpc"]),
    "generators.luminosity": ("erg/s", "Hz", ["0 erg/s", "-1 erg/s"]),
    "generators.spectrum.sigma": ("km/s", "kpc", ["0 km/s", "-1 km/s", "3e5 km/s"]),
    "generators.spectrum.temperature": ("K", "km/s", ["0 K", "-1 K"]),
    "generators.spectrum.equivalent_width": ("Angstrom", "km/s", ["0 Angstrom", "-1 nm"]),
    "generators.spectrum.offset": ("km/s", "Angstrom", ["-3e5 km/s"]),
    "acceleration.core_skip.fixed": ("", "km/s", ["-1"]),
}
WHOLE_NUMBERS = {
    "seed": ["18446744073709551616"],
    "generators.photons": ["0", "4611686018427387905", "1e19"],
    "limits.max_scatterings": ["0", "2000000001"],
    "limits.max_steps": ["0", "2000000001"],
    "outputs.bins": ["0", "10000001"],
}
WORDS = ("driver", "line", "precision", "dataset.type", "dataset.density.profile", "dataset.velocity.profile",
         "generators.type", "generators.shape", "generators.spectrum.type", "acceleration.core_skip",
         "physics.phase_function", "physics.recoil", "outputs.type", "outputs.of", "outputs.axis")
VECTORS = {"generators.position": "K", "generators.velocity": "K", "generators.direction": "K"}
RANGES = {"generators.spectrum.range": "K", "outputs.range": "K"}
TEXTS = {"outputs.name": ["a b", "a/b", "\u00e4", '""'], "output.path": ["out.txt", "out", '""', '"a\\x00.h5"']}
MAPS = ("dataset", "dataset.density", "dataset.velocity", "dataset.dust", "generators.spectrum", "acceleration", "physics",
        "limits", "output")
LISTS = {"generators": ["[]", "point", "{type: point}", "[point]", "~"],
         "outputs": ["spectrum", "{type: photons}", "[photons]", "~"]}
REQUIRED = {
    "line", "dataset", "dataset.type", "dataset.outer_radius", "dataset.half_thickness", "dataset.temperature",
    "dataset.density.exponent", "dataset.velocity.exponent", "dataset.dust.tau", "generators", "generators.type",
    "generators.shape", "generators.radius", "generators.photons", "generators.spectrum.sigma",
    "generators.spectrum.temperature", "generators.spectrum.equivalent_width", "generators.spectrum.range", "outputs.type",
    "outputs.name", "outputs.range", "outputs.bins", "output", "output.path", "acceleration.core_skip.fixed",
}
ALTERNATIVES = {"dataset.tau0": "column_density: 1e18 cm^-2", "dataset.column_density": "number_density: 1 cm^-3",
                "dataset.number_density": "tau0: 1e5", "dataset.velocity.max": "average: 1 km/s",
                "dataset.velocity.average": "max: 1 km/s"}
# Where a key has this value, these keys belong to another one.
ELSEWHERE = {
    ("dataset.type", "shell"): ["half_thickness: 1 kpc"],
    ("dataset.type", "slab"): ["outer_radius: 1 kpc", "inner_radius: 0 kpc", "density: {profile: homogeneous}"],
    ("dataset.density.profile", "homogeneous"): ["exponent: -2"],
    ("dataset.velocity.profile", "static"): ["max: 1 km/s", "average: 1 km/s", "exponent: 1"],
    ("dataset.velocity.profile", "linear"): ["exponent: 1"],
    ("generators.type", "point"): ["shape: medium", "radius: 1 kpc", "direction: [0, 0, 1]"],
    ("generators.shape", "medium"): ["radius: 1 kpc", "direction: [0, 0, 1]", "position: [0 pc, 0 pc, 0 pc]"],
    ("generators.shape", "surface"): ["direction: [0, 0, 1]"],
    ("generators.spectrum.type", "delta"): ["sigma: 1 km/s", "temperature: 1 K", "range: [0 km/s, 1 km/s]"],
    ("generators.spectrum.type", "thermal"): ["sigma: 1 km/s", "offset: 1 km/s"],
    ("generators.spectrum.type", "continuum"): ["equivalent_width: 1 nm", "offset: 1 km/s"],
    ("outputs.type", "photons"): ["bins: 3", "name: a", "range: [0, 1]"],
    ("outputs.type", "spectrum"): ["fields: [id]"],
}
BY_SCHEMA = {"typo", "missing", "unit", "choice", "conflict", "elsewhere"}  # what a JSON schema can express


def values_of(entry):
    """Bad values for a key, each with the kind of mistake."""
    path, wrong_types = entry.plain_path, [("type", v) for v in ("[1, 2, 3, 4, 5]", "{a: 1}", "~")]
    if path in QUANTITIES:
        unit, other, outside = QUANTITIES[path]
        with_unit = [f"{number} {unit}".strip() for number in
                     ("nan", ".nan", "inf", "-inf", "1e999", "-1e999", "1e-999", "0x10", "1,5", "--1", "1 2", "much")]
        units = [f"1 {other}", f"1 {unit}x"] + (["1"] if unit else ["1 K"])
        return [*wrong_types, *[("number", v) for v in [*with_unit, *outside, '""']], *[("unit", v) for v in units]]
    if path in WHOLE_NUMBERS:
        bad = ["-1", "1.5", "1e99", "nan", "inf", "0x10", "ten", "1_000", "1 000", '""', *WHOLE_NUMBERS[path]]
        return [*wrong_types, *[("number", v) for v in bad], ("unit", "1 K")]
    if path in WORDS and entry.value:
        return [*wrong_types, ("type", f"[{entry.value}]"), ("choice", "nonsense"), ("choice", '""'),
                ("choice", entry.value + "x"), ("choice", entry.value.swapcase())]
    if path in VECTORS or path in RANGES:
        return [("type", "1"), ("type", "{a: 1}"), ("type", "~"), *list_values(entry)]
    if path in TEXTS:
        return [*wrong_types, *[("number", v) for v in TEXTS[path]]]
    if path in MAPS:
        return [("type", v) for v in ("thing", "[1]", "~", "1 kpc")]
    if path in LISTS:
        return [("type", v) for v in LISTS[path]]
    if path == "outputs.fields":
        return [("type", "id"), ("type", "[[id]]"), ("type", "{id: 1}"), ("number", "[]"), ("number", "[id, id]"),
                ("choice", "[idd]"), ("choice", "[id, colour]")]
    return []


def list_values(entry):
    items = entry.value.strip("[]").split(", ")
    other = {**VECTORS, **RANGES}[entry.plain_path]
    bad = [("type", items[1:]), ("type", [*items, items[-1]]), ("type", [f"[{items[0]}]", *items[1:]]), ("type", []),
           ("unit", [*items[:-1], f"1 {other}"]), ("number", ["nan", *items[1:]]), ("number", [*items[:-1], "1e999"])]
    if " " in items[0]:
        bad.append(("unit", [items[0].split()[0], *items[1:]]))
    if entry.plain_path in RANGES:
        bad += [("number", items[::-1]), ("number", [items[0], items[0]])]
    return [(kind, f"[{', '.join(words)}]") for kind, words in bad]


def typos(word, rng):
    """One letter lost, doubled, swapped with its neighbour, or another one."""
    i = rng.randrange(1, len(word) - 1)
    made = [word[:i] + word[i + 1:], word[:i] + word[i] + word[i:], word[:i] + word[i + 1] + word[i] + word[i + 2:],
            word[:i] + "q" + word[i + 1:]]
    return [w for w in dict.fromkeys(made) if w not in (word, "output", "outputs")]


def value_mutants(document, entry):
    name = re.escape(entry.path)
    for kind, value in values_of(entry):
        # An impossible profile is reported where it is seen, which may be another key of the section.
        where = rf"{{file}}:{entry.line + 1}:\d+: {name}(\.\d+)*: "
        if kind == "number" and value in ("300", "-300", "1e9 kpc"):
            where = rf"{{file}}:\d+:\d+: {re.escape(document.parent(entry))}"
        says = [where]
        if value == "[idd]" or (kind == "choice" and value == entry.value + "x" and len(entry.value) > 2):
            says.append("did you mean")
        yield Mutant(kind, document.name, f"{entry.path}: {value}", document.replace(entry, value), says)


def key_mutants(document, entry, rng):
    name = re.escape(entry.path)
    line = entry.line + 1
    if len(entry.key) > 2:
        typo = rng.choice(typos(entry.key, rng))
        place = re.escape(".".join(filter(None, [document.parent(entry), typo])))
        yield Mutant("typo", document.name, f"{entry.path} as {typo}", document.rename(entry, typo),
                     [rf'{{file}}:{line}:\d+: {place}: unknown key; did you mean "{entry.key}"\?'])
    yield Mutant("repeated", document.name, f"{entry.path} twice", document.repeat(entry),
                 [rf"{{file}}:{entry.end + 1}:\d+: {name}: repeated key \(first at \S+:{line}:\d+\)"])
    parent = re.escape(document.parent(entry))
    alone = sum(e.path.rpartition(".")[0] == document.parent(entry) for e in document.entries) == 1
    if entry.plain_path in REQUIRED:
        says = rf"{parent}: expected" if alone else rf"{name}: missing; expected"
        yield Mutant("missing", document.name, f"without {entry.path}", document.delete(entry),
                     [rf"{{file}}:\d+:\d+: {says}"])
    if entry.plain_path in ALTERNATIVES:
        yield Mutant("missing", document.name, f"without {entry.path}", document.delete(entry),
                     [rf"{{file}}:\d+:\d+: {parent}: expected exactly one of .*; got none"])
        added = ALTERNATIVES[entry.plain_path]
        yield Mutant("conflict", document.name, f"{entry.path} and {added}", document.add(entry, added),
                     [rf"{{file}}:\d+:\d+: {parent}(\.\w+)?: expected exactly one of .*; got \w+, \w+"])
    for added in ELSEWHERE.get((entry.plain_path, entry.value), []):
        key = re.escape(".".join(filter(None, [document.parent(entry), added.split(":")[0]])))
        yield Mutant("elsewhere", document.name, f"{entry.path}: {entry.value} with {added}", document.add(entry, added),
                     [rf"{{file}}:{entry.end + 1}:\d+: {key}: unknown key here; it belongs to \w+: \w+"])


# Mistakes that need more than one key, or that are only seen when the gas and the sources are built.
CONFLICTS = [
    ("sphere", "outputs=[{type: photons}, {type: photons}]", "outputs.1.type: only one"),
    ("shell", "outputs.1.name=emergent", 'outputs.1.name: two outputs are called "emergent"'),
    ("sphere", "dataset.inner_radius=1 kpc", "dataset.inner_radius: must be less than outer_radius"),
    ("sphere", "dataset.density={profile: power_law, exponent: -1}", "dataset.density.exponent: .*diverges.*inner_radius"),
    ("sphere", "dataset.density={profile: power_law, exponent: -0.9}", "dataset.density.exponent: .*inner_radius"),
    ("sphere", "dataset.velocity={profile: power_law, exponent: -1, max: 1 km/s}", "dataset.velocity.max: .*inner_radius"),
    ("sphere", "dataset.velocity={profile: power_law, exponent: -1, average: 1 km/s}", "dataset.velocity.exponent: .*inner_r"),
    ("sphere", "generators.0.position=[0 kpc, 1.1 kpc, 0 kpc]", "generators.0.position: .*outside the gas; move it inside"),
    ("slab", "generators.0.position=[0 kpc, 0 kpc, 1.1 kpc]", "generators.0.position: .*outside the gas; move it inside"),
    ("slab", "generators.0={type: extended, shape: beam, radius: 1 pc, photons: 1, direction: [1, 0, 0]}",
     "generators.0.direction: .*z component"),
    ("sphere", "generators.0={type: extended, shape: beam, radius: 1 pc, photons: 1, direction: [0, 0, 0]}",
     "generators.0.direction: must not be"),
    ("sphere", "generators.0.luminosity=1e200 erg/s", "generators: all luminosities together"),
    ("sphere", "dataset.temperature=1e-3 K", "dataset.temperature: .*raise the temperature"),
    ("sphere", r'output.path="a\x00.h5"', "output.path: expected a file name"),
    ("sphere", "line.name=Lya", 'line is a single value and has no key "name"'),
    ("sphere", "generators.7.photons=1", 'generators is a list of 1 and has no element "7"'),
    ("sphere", "dataset.tau0", "expected a.b=value"),
    ("sphere", "dataset..tau0=1", "expected a.b=value"),
    ("sphere", "seed=[1", "seed=.1: "),
    ("sphere", "seed=&a [*a]", "alias"),
]


@functools.cache
def good_texts():
    """Configurations that thor accepts, by name."""
    texts = {name: thor("init", name, "-o", "-").stdout for name in TEMPLATES}
    texts["example"] = (ROOT / "examples/neufeld/sphere.yaml").read_text()
    return {**texts, "full shell": FULL_SHELL, "full slab": FULL_SLAB}


@functools.cache
def documents():
    """The same with every default written out."""
    made = {}
    with tempfile.TemporaryDirectory(prefix="thor-e2e-") as folder:
        for name, yaml in good_texts().items():
            path = Path(folder) / "good.yaml"
            path.write_text(yaml)
            done = thor("check", path, "--no-trial", "--json")
            assert done.returncode == DONE, f"{name}: {done.stderr}"
            made[name] = Document(name, json.loads(done.stdout)["configuration"])
    return made


def override_mutants(documents_, mutants, rng):
    """Some of the bad values again, by --set."""
    values = [m for m in mutants if m.kind in ("type", "number", "unit", "choice") and not m.what.endswith(": ~")]
    for m in rng.sample(values, 60):
        path, value = m.what.split(": ", 1)
        override = f"{path}={value}"
        says = rf"--set {re.escape(override)}: {re.escape(path)}" if r"\d+:\d+: " not in m.says[0][:20] else "--set"
        yield Mutant("set", m.document, f"--set {override}", "\n".join(documents_[m.document].lines), [says], (override,))
    for name, override, says in CONFLICTS:
        # What concerns all sources together is said of the list.
        where = "" if says.startswith("generators: all") else "--set " + re.escape(override)
        yield Mutant("set", name, f"--set {override}", "\n".join(documents_[name].lines), [where, says], (override,))


@functools.cache
def structural_mutants():
    """One known mistake each: many in the two full configurations, which have all keys, some in the others."""
    rng, mutants = random.Random(5), []
    for name, document in documents().items():
        for entry in document.entries:
            keyed = list(key_mutants(document, entry, rng))
            valued = list(value_mutants(document, entry))
            if name.startswith("full"):
                mutants += [m for m in keyed if m.kind not in ("typo", "repeated")]
                mutants += rng.sample(keyed[:2], 1) + rng.sample(valued, min(len(valued), 2))
            else:
                mutants += rng.sample(keyed + valued, rng.randrange(2))
    return mutants + list(override_mutants(documents(), mutants, rng))


def flipped(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def damaged_texts():
    """What happens to files: cut, damaged, wrongly edited or encoded. Some of it may stay valid."""
    rng = random.Random(7)
    texts = {name: yaml.encode() for name, yaml in good_texts().items()}
    for name, data in texts.items():
        for i in range(6):
            yield f"{name} cut {i}", data[:rng.randrange(len(data))]
            yield f"{name} flipped {i}", flipped(rng, data)
        for mark in (b"{", b"}", b"[", b"]", b":", b",", b'"', b"- "):
            places = [m.start() for m in re.finditer(re.escape(mark), data)]
            if places:
                at = rng.choice(places)
                yield f"{name} without a {mark.decode()}", data[:at] + data[at + len(mark):]
        yield f"{name} with tabs", data.replace(b"  ", b"\t")
        yield f"{name} with CRLF", data.replace(b"\n", b"\r\n")
        yield f"{name} with CR", data.replace(b"\n", b"\r")
        yield f"{name} with a BOM", b"\xef\xbb\xbf" + data
        yield f"{name} in UTF-16", data.decode().encode("utf-16")
    text_ = texts["full shell"]
    yield "UTF-32", text_.decode().encode("utf-32")
    yield "latin-1", text_.replace(b"emergent", b"\xe9mergent")
    yield "NUL", text_.replace(b"emergent", b"emer\0gent")
    yield "a zero byte at the end", text_ + b"\0"
    yield "tags", text_.replace(b"line: Lya", b"line: !!binary Lya\nprecision: !!map single")
    yield "a quote that ends with the file", text_.replace(b"{path: results/out.h5}", b'\n  path: "out.h5')
    for i in range(4):
        yield f"garbage {i}", rng.randbytes(3000)
    yield "HDF5", b"\x89HDF\r\n\x1a\n" + rng.randbytes(500)
    yield "gzip", b"\x1f\x8b\x08" + rng.randbytes(500)


def hostile_texts():
    """What must be refused, and quickly."""
    good = FULL_SLAB
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 60))
    keys = [f"k{i}: 1\n" for i in range(33000)]
    return {
        "nothing": "", "a comment": "# nothing\n", "a word": "word", "a list": "- a\n- b\n", "null": "~\n",
        "open brackets": "[" * 50000, "open braces": "{" * 50000, "brackets": "[" * 3000 + "]" * 3000,
        "nested maps": "{a: " * 3000 + "1" + "}" * 3000,
        "nested blocks": "".join(" " * i + "a:\n" for i in range(2000)),
        "dashes": "- " * 5000 + "a", "a bomb": bomb, "a bomb in the gas": good + "x:\n" + re.sub("^", "  ", bomb, flags=re.M),
        "an alias of itself": "a: &a [*a]\n", "an unknown alias": good + "x: *nobody\n", "two documents": good + "---\n" + good,
        "many keys": good + "".join(keys), "many keys twice": good + "".join(keys + keys[17000:]),
        "many sources": "generators:\n" + "  - {type: point, photons: 0}\n" * 15000,
        "a long key": good + "x" * 1_000_000 + ": 1\n", "a long value": good + "seed: " + "9" * 1_000_000 + "\n",
        "a long word": good + "precision: " + "ab" * 500_000 + "\n", "a complex key": "? [a, b]\n: c\n",
        "only a comma": ",", "only a colon": ":", "only a star": "*", "only a brace": "{:", "a directive": "%YAML 9.9\n---\n",
        "a merge key": good + "<<: {seed: 3}\n", "an escape": good + 'seed: "\\q"\n', "tabs": good.replace("  ", "\t"),
        "an unclosed quote": good.replace("line: Lya", 'line: "Lya'),
    }


@dataclass
class Answer:
    returncode: int
    stdout: str
    stderr: str
    seconds: float


class BrokenConfigurations(unittest.TestCase):
    """Hundreds of broken files through `thor check --no-trial`, run once, two at a time."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="thor-e2e-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.mutants = structural_mutants()
        cls.damaged = dict(damaged_texts())
        cls.hostile = hostile_texts()
        begin = time.monotonic()
        jobs = [(f"m{i}.yaml", m.yaml.encode(), m.overrides) for i, m in enumerate(cls.mutants)]
        jobs += [(f"d{i}.yaml", data, ()) for i, data in enumerate(cls.damaged.values())]
        jobs += [(f"h{i}.yaml", data.encode(), ()) for i, data in enumerate(cls.hostile.values())]
        for name, data, _ in jobs:
            (cls.folder / name).write_bytes(data)
        with concurrent.futures.ThreadPoolExecutor(2) as workers:
            cls.results = dict(workers.map(cls.check, jobs))
        cls.seconds = time.monotonic() - begin

    @classmethod
    def check(cls, job):
        name, _, overrides = job
        arguments = ["check", name, "--no-trial", *(word for o in overrides for word in ("--set", o))]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            job = subprocess.Popen(command_line(*arguments), stdout=out, stderr=err, cwd=cls.folder)
            watch = threading.Timer(60, job.kill)
            watch.start()
            _, status, usage = os.wait4(job.pid, 0)
            watch.cancel()
            job.returncode = os.waitstatus_to_exitcode(status)
            for file in (out, err):
                file.seek(0)
            told = [file.read().decode(errors="replace") for file in (out, err)]
        # Of the processor: others may use the machine.
        return name, Answer(job.returncode, *told, usage.ru_utime + usage.ru_stime)

    def report(self, problems):
        self.assertFalse(problems, f"{len(problems)} problems:\n" + "\n".join(map(str, problems[:15])))

    def test_all_good_ones_are_accepted(self):
        self.assertEqual(len(documents()), 8)
        for name, document in documents().items():
            path = self.folder.with_suffix(".good.yaml")
            path.write_text("\n".join(document.lines))
            self.addCleanup(path.unlink, missing_ok=True)
            done = thor("check", path, "--no-trial")
            self.assertEqual(done.returncode, DONE, f"{name}: {done.stderr}")

    def test_there_are_enough(self):
        refused = sum(done.returncode == USAGE for done in self.results.values())
        print(f"\n  {len(self.results)} broken configurations, {len(self.mutants)} of them with one known mistake: "
              f"{refused} refused, in {self.seconds:.1f} s", file=sys.stderr)
        self.assertGreaterEqual(len(self.results), 300)
        self.assertGreaterEqual(refused, 200)
        kinds = {m.kind for m in self.mutants}
        self.assertEqual(kinds, BY_SCHEMA | {"type", "number", "repeated", "set"})

    def test_nothing_crashes(self):
        self.report([(name, self.what(name), done.returncode, done.stderr[-300:]) for name, done in self.results.items()
                     if done.returncode not in (DONE, USAGE)])

    def what(self, name):
        number = int(re.search(r"\d+", name).group())
        if name[0] == "m":
            return f"{self.mutants[number].document}: {self.mutants[number].what}"
        return list(self.damaged if name[0] == "d" else self.hostile)[number]

    def test_every_known_mistake_is_refused(self):
        self.report([(self.what(name), done.stdout[:200]) for name, done in self.results.items()
                     if name[0] in "mh" and done.returncode != USAGE])

    def test_messages_name_file_line_key_and_nearest(self):
        problems = []
        for i, m in enumerate(self.mutants):
            told = self.results[f"m{i}.yaml"].stderr
            for pattern in m.says:
                if not re.search(pattern.replace("{file}", rf"m{i}\.yaml"), told):
                    problems.append((f"{m.document}: {m.what}", "expected: " + pattern, "got: " + told[:400]))
        self.report(problems)

    def test_messages_name_the_file_or_the_override(self):
        self.report([(self.what(name), done.stderr[:200]) for name, done in self.results.items()
                     if done.returncode == USAGE and name not in done.stderr and "--set" not in done.stderr])

    def test_one_mistake_is_one_message(self):
        """A value that cannot be read is not followed by complaints about what depends on it."""
        problems = []
        for i, m in enumerate(self.mutants):
            told = self.results[f"m{i}.yaml"].stderr
            keys = set(re.findall(r"(?m)^(?:thor: error: )?(?:m\d+\.yaml:\d+:\d+|--set .*?): ([a-z_]\S*?)(?:\.\d+)?: ", told))
            if m.kind in ("number", "unit", "choice", "set") and len(keys) > 1:
                problems.append((m.what, told[:400]))
        self.report(problems)

    def test_refused_is_said_on_stderr_only(self):
        self.report([(self.what(name), done.stdout[:100]) for name, done in self.results.items()
                     if done.returncode == USAGE and (done.stdout or "error:" not in done.stderr)])

    def test_accepted_says_nothing_on_stderr(self):
        self.report([(self.what(name), done.stderr[:200]) for name, done in self.results.items()
                     if done.returncode == DONE and "error:" in done.stderr])

    def test_nothing_is_written(self):
        self.assertEqual(set(os.listdir(self.folder)), set(self.results))

    def test_each_takes_less_than_two_seconds(self):
        self.report([(self.what(name), f"{done.seconds:.1f} s") for name, done in self.results.items() if done.seconds > 2])
        self.assertLess(sum(done.seconds for done in self.results.values()), 40, "of the processor, for all")


class UnreadableFiles(Case):
    def refuse(self, path, says, **options):
        done = subprocess.run(command_line("check", path, "--no-trial"), capture_output=True, text=True, timeout=20, **options)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertRegex(done.stderr, says)
        self.assertIn(str(path), done.stderr)
        self.assertEqual(done.stdout, "")

    def test_missing(self):
        self.refuse(self.folder / "none.yaml", "missing or not readable.*thor init")
        self.refuse(self.write(sphere(1, 1)) / "below.yaml", "missing or not readable")

    def test_directory(self):
        self.refuse(self.folder, "is a directory")

    def test_dangling_link(self):
        (self.folder / "link.yaml").symlink_to("nowhere")
        self.refuse(self.folder / "link.yaml", "missing or not readable")

    def test_standard_input(self):
        done = thor("check", "-", "--no-trial", input="line: Lyb\n")
        self.assertEqual(done.returncode, USAGE)
        self.assertRegex(done.stderr, r"<stdin>:1:7: line: expected Lya")
        self.assertEqual(thor("check", "-", "--no-trial", input="").returncode, USAGE)
        self.assertEqual(thor("check", "-", "--no-trial", input=FULL_SLAB).returncode, DONE)

    def test_no_permission(self):
        path = self.write(sphere(1, 1))
        path.chmod(0)
        with as_nobody(self, self.folder) as options:
            self.refuse(path, "not readable", **options)


@contextlib.contextmanager
def as_nobody(case, folder):
    """Options of subprocess by which permissions count, for root too."""
    folder.chmod(0o755)
    if os.geteuid() != 0:
        yield {}
        return
    options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        subprocess.run(command_line("--version"), capture_output=True, timeout=20, **options)
    except OSError:
        skip_loudly(case, "permissions: root is not bound by them, and others cannot run this binary")
    yield options


class AllMistakesAtOnce(Case):
    MISTAKES = [
        ("line: Lya\n", "line: Lya\nseed: -1\n", r":2:\d+: seed: "),
        ("photons: 20", "photons: 2.5", "generators.0.photons: "),
        ("core_skip: global", "core_skip: globl", 'acceleration.core_skip: .*did you mean "global"'),
        ("range: [-40, 40]", "range: [40, -40]", "outputs.0.range: must increase"),
        ("path: a.h5", "path: a.hdf", "output.path: expected a file name that ends in .h5"),
        ("recoil: true", "recol: true", 'physics.recol: unknown key; did you mean "recoil"'),
    ]
    GOOD = """line: Lya
dataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e3}
generators:
  - {type: point, photons: 20}
acceleration: {core_skip: global}
physics: {recoil: true}
outputs:
  - {type: spectrum, name: emergent, axis: x, range: [-40, 40], bins: 100}
output: {path: a.h5}
"""

    def told(self, yaml):
        done = thor("check", self.write(yaml), "--no-trial")
        self.assertEqual(done.returncode, USAGE, done.stdout)
        return done.stderr

    def test_of_six_sections(self):
        yaml = self.GOOD
        for good, bad, _ in self.MISTAKES:
            self.assertIn(good, yaml)
            yaml = yaml.replace(good, bad)
        told = self.told(yaml)
        for _, _, says in self.MISTAKES:
            self.assertRegex(told, says)
        self.assertEqual(len(told.splitlines()), 1 + len(self.MISTAKES), told)

    def test_what_is_seen_by_building_is_told_with_the_rest(self):
        """The gas is built where its section is clean, the sources where both are."""
        broken = self.GOOD.replace("core_skip: global", "core_skip: globl").replace("a.h5", "a.hdf")
        gas = broken.replace("tau0: 1e3", "tau0: 1e3, density: {profile: power_law, exponent: -2}, "
                                          "velocity: {profile: power_law, exponent: -2, average: 1 km/s}")
        told = self.told(gas)
        for key in ("dataset.density.exponent: .*diverges", "dataset.velocity.exponent: .*diverges",
                    "acceleration.core_skip", "output.path"):
            self.assertRegex(told, key)
        source = broken.replace("photons: 20", "photons: 20, position: [2 kpc, 0 kpc, 0 kpc]")
        told = self.told(source)
        for key in ("generators.0.position: .*outside", "acceleration.core_skip", "output.path"):
            self.assertRegex(told, key)

    def test_every_source_outside_is_named(self):
        where = "{type: point, photons: 20, position: [2 kpc, 0 kpc, 0 kpc]}"
        told = self.told(self.GOOD.replace("{type: point, photons: 20}", f"{where}\n  - {where}"))
        self.assertRegex(told, r":4:\d+: generators.0.position(.|\n)*:5:\d+: generators.1.position")

    def test_a_bad_override_is_not_joined_by_false_alarms(self):
        path = self.write(self.GOOD)
        done = thor("check", path, "--no-trial", "--set", "dataset.tau0.x=1", "--set", "oops")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--set dataset.tau0.x=1: dataset.tau0 is a single value", done.stderr)
        self.assertIn("--set oops: expected a.b=value", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 3, done.stderr)


# ---- Faults of a run -------------------------------------------------------------------------------------------------


def limited(what, amount):
    """For preexec_fn: a limit on the process; a file that is too long then fails as on a full disk."""
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
    """A small file system of its own; needs root."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True)
    if done.returncode != 0:
        skip_loudly(case, f"a file system of its own cannot be mounted ({done.stderr.strip()})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def wide_spectra(count, bins=10_000_000):
    return [{"type": "spectrum", "name": f"s{i}", "axis": "x", "range": [-10, 10], "bins": bins} for i in range(count)]


class RunFaults(Case):
    def refuse(self, code, config, *arguments, says=(), **options):
        """A run that fails as it should, and leaves nothing."""
        path = self.write(config)
        before = sorted(p for p in self.folder.rglob("*"))
        done = subprocess.run(command_line("run", path, *arguments), capture_output=True, text=True, timeout=60,
                              cwd=self.folder, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        for pattern in [says] if isinstance(says, str) else says:
            self.assertRegex(done.stderr, pattern)
        self.assertEqual(sorted(p for p in self.folder.rglob("*")), before)
        return done

    def test_gas_that_cannot_be(self):
        amounts = {"tau0": "{}", "column_density": "{} cm^-2", "number_density": "{} cm^-3", "temperature": "{} K"}
        for key, value in amounts.items():
            config = sphere(1, 10)
            if key != "temperature":
                del config["dataset"]["tau0"]
            for number in ("0", "-1", "nan", "inf", "1e999"):
                with self.subTest(key=key, number=number):
                    config["dataset"][key] = value.format(number)
                    self.refuse(USAGE, config, says=rf"config\.yaml:\d+:\d+: dataset.{key}: (must be > 0|expected a )")

    def test_messages_say_what_to_do(self):
        for name, override, says in CONFLICTS[2:13]:
            with self.subTest(override):
                self.refuse(USAGE, "\n".join(documents()[name].lines), "--set", override, says=says)

    def test_an_existing_result_is_kept_to_the_byte(self):
        """Refused without --overwrite; with it the old one stays until the new one is whole."""
        config = sphere(1, 2000)
        out = self.run_thor(config)
        old = out.read_bytes()
        self.refuse(OUTPUT, config, "-o", out, says="exists.*--overwrite")
        self.assertEqual(out.read_bytes(), old)
        self.refuse(OUTPUT, config, "-o", out, "--overwrite", says="[Ff]ile too large.*free some space",
                    **limited(resource.RLIMIT_FSIZE, 20_000))
        self.assertEqual(out.read_bytes(), old)

    def test_a_second_interrupt_leaves_the_old_result(self):
        out = self.run_thor(sphere(1, 100))
        old = out.read_bytes()
        job = subprocess.Popen(command_line("run", self.write(ENDLESS), "-o", out, "--overwrite", "--threads", 1),
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        partial = out.with_name(out.name + ".partial")
        self.assertTrue(wait_for(partial.exists))
        time.sleep(0.2)
        job.send_signal(signal.SIGINT)
        line = job.stderr.readline()
        self.assertIn("stopping", line)
        self.assertIn("once more ends at once", line)
        begin = time.monotonic()
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=20)
        self.assertEqual(job.returncode, -signal.SIGINT)
        self.assertLess(time.monotonic() - begin, 2)
        self.assertEqual(out.read_bytes(), old)
        # What is left of it is no result.
        if partial.exists():
            done = thor("info", partial)
            self.assertEqual(done.returncode, INPUT, done.stdout)
            self.assertIn(str(partial), done.stderr)

    def test_a_signal_in_mid_run_is_seen_afterwards(self):
        """thor info and the Python package both say that the run was cut."""
        jobs = {}
        for number in (signal.SIGINT, signal.SIGTERM):
            out = self.folder / f"{number}.h5"
            jobs[number] = out, subprocess.Popen(
                command_line("run", self.write(ENDLESS), "-o", out, "--drain", 0, "--threads", 1), stderr=subprocess.PIPE,
                text=True)
            self.addCleanup(lambda job=jobs[number][1]: job.poll() is None and job.kill())
        for number, (out, job) in jobs.items():
            self.assertTrue(wait_for(out.with_name(out.name + ".partial").exists))
        time.sleep(0.3)
        for number, (out, job) in jobs.items():
            job.send_signal(number)
            _, told = job.communicate(timeout=20)
            self.assertEqual(job.returncode, STOPPED, told)
            self.assert_closed(out)
            self.assertRegex(thor("info", out).stdout, "complete +NO: it was cut")
            self.assertFalse(json.loads(thor("info", out, "--json").stdout)["complete"])

    def test_no_permission_in_the_folder(self):
        locked = self.folder / "locked"
        locked.mkdir(mode=0o555)
        with as_nobody(self, self.folder) as options:
            self.refuse(OUTPUT, sphere(1, 10), "-o", "locked/out.h5",
                        says="no file can be created in 'locked': Permission denied; change its permissions", **options)

    def test_read_only_file_system(self):
        with mounted(self, self.folder / "disk", "ro,size=100k"):
            self.refuse(OUTPUT, sphere(1, 10), "-o", "disk/out.h5", says="Read-only file system.*write elsewhere")

    def test_full_disk(self):
        """Found in mid-run, and at the end: no file is left, and its space is free again."""
        for photons in (200_000, 2000):
            with self.subTest(photons=photons):
                shutil.rmtree(self.folder / "disk", ignore_errors=True)
                with mounted(self, self.folder / "disk", "size=100k") as disk:
                    self.refuse(OUTPUT, sphere(1e-3, photons), "-o", "disk/out.h5",
                                says="No space left on device; free some space, or write elsewhere")
                    left = os.statvfs(disk)
                    self.assertEqual(left.f_bfree, left.f_blocks)
                (self.folder / "disk").rmdir()

    def test_full_stdout(self):
        config, out = self.write(sphere(1, 10)), self.run_thor(sphere(1, 10))
        for arguments in (("check", config, "--no-trial"), ("check", config, "--no-trial", "--json"), ("schema",),
                          ("schema", "--format", "keys"), ("manual",), ("lines",), ("devices", "--json"), ("init",),
                          ("init", "slab", "-o", "-"), ("info", out), ("info", out, "--config"), ("completion", "zsh"),
                          ("run", config, "--replay", 3)):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                done = subprocess.run(command_line(*arguments), stdout=full, stderr=subprocess.PIPE, text=True, timeout=20)
                self.assertEqual(done.returncode, OUTPUT, done.stderr)
                self.assertIn("cannot write to the standard output", done.stderr)

    def test_out_of_memory(self):
        """Many bins, each thread's own: wherever it is that memory ends."""
        for megabytes in (120, 400, 900):
            with self.subTest(megabytes=megabytes):
                self.refuse(DEVICE, sphere(1, 100, outputs=wide_spectra(3)), "--threads", 2,
                            says="out of memory; ask for fewer bins, fewer threads",
                            **limited(resource.RLIMIT_AS, megabytes << 20))

    def test_out_of_memory_in_a_check(self):
        path = self.write(sphere(1, 100, outputs=wide_spectra(3)))
        done = subprocess.run(command_line("check", path, "--threads", 2), capture_output=True, text=True, timeout=30,
                              **limited(resource.RLIMIT_AS, 200 << 20))
        self.assertEqual(done.returncode, DEVICE, done.stderr)
        self.assertIn("out of memory", done.stderr)

    def test_little_memory_is_enough_for_a_small_run(self):
        path = self.write(sphere(1, 100))
        done = subprocess.run(command_line("run", path, "--threads", 2), capture_output=True, text=True, timeout=30,
                              **limited(resource.RLIMIT_AS, 400 << 20))
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_threads_that_cannot_be_started(self):
        """The stacks of 4096 threads need more than there is. Those that did start must not go through the whole run."""
        begin = time.monotonic()
        self.refuse(DEVICE, ENDLESS, "--threads", 4096, "--max-walltime", 6, "--drain", 0, says="--threads",
                    **limited(resource.RLIMIT_AS, 500 << 20))
        self.assertLess(time.monotonic() - begin, 4)

    def test_threads_that_cannot_be_started_for_a_trial(self):
        done = subprocess.run(command_line("check", self.write(ENDLESS), "--threads", 4096), capture_output=True, text=True,
                              timeout=30, **limited(resource.RLIMIT_AS, 500 << 20))
        self.assertEqual(done.returncode, DEVICE, done.stderr)
        self.assertIn("--threads", done.stderr)

    def test_wherever_memory_ends_there_is_a_message(self):
        """From what the libraries need to be loaded to enough: no crash and no internal error in between."""
        def run(megabytes, *arguments):
            done = subprocess.run(command_line(*arguments), capture_output=True, text=True, timeout=30, cwd=self.folder,
                                  **limited(resource.RLIMIT_AS, megabytes << 20))
            (self.folder / "out.h5").unlink(missing_ok=True)
            return done

        path, codes = self.write(sphere(1, 100)), set()
        least = next(megabytes for megabytes in range(16, 1000, 2) if run(megabytes, "--version").returncode == DONE)
        for megabytes in range(least + 2, least + 100, 2):
            for command in ("run", "check"):
                done = run(megabytes, command, path, "--threads", 2)
                codes.add(done.returncode)
                self.assertIn(done.returncode, (DONE, DEVICE), f"{command}, {megabytes} MB: {done.stderr}")
        self.assertEqual(codes, {DONE, DEVICE})

    def test_limit_on_the_size_of_files(self):
        """As `ulimit -f` sets it: the signal that comes with it does not end the process."""
        self.refuse(OUTPUT, sphere(1e-3, 5000), says="out.h5.*free some space",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)))

    def test_more_bins_than_can_be_counted(self):
        """Cells are numbered by 32-bit integers: 107 spectra of 1e7 bins are too many. 216 wrap around to few."""
        for count in (120, 216):
            with self.subTest(spectra=count):
                path = self.write(sphere(1, 10, outputs=wide_spectra(count)))
                for arguments in (("check", path), ("run", path, "--max-walltime", 5)):
                    done = subprocess.run(command_line(*arguments), capture_output=True, text=True, timeout=30,
                                          **limited(resource.RLIMIT_AS, 1500 << 20))
                    self.assertIn(done.returncode, (USAGE, DEVICE), f"{arguments[0]}: {done.stderr}")
                    self.assertRegex(done.stderr, "bins")

    def test_more_photons_than_can_be_counted(self):
        """Ids are 64-bit integers: four sources of 2^62 photons have none left."""
        config = sphere(1, 2**62)
        config["generators"] *= 4
        self.refuse(USAGE, config, says="generators.*photons")

    def test_caps_name_the_keys_to_raise(self):
        for key in ("max_scatterings", "max_steps"):
            config = {**sphere(1e4, 200, outputs=[]), "limits": {key: 20}}
            self.run_thor(config)
            told = self.done.stderr.splitlines()[-1]
            self.assertRegex(told, r"warning: \d+ photons hit the cap")
            self.assertIn("limits.max_scatterings", told)
            self.assertIn("limits.max_steps", told)
            self.assertIn("core skipping", told)


class ExtremeValues(Case):
    """What a number may be must also work: the result is right, or the configuration refused."""

    def run_or_refuse(self, config, *arguments):
        out = self.folder / "out.h5"
        out.unlink(missing_ok=True)
        done = thor("run", self.write(config), "-o", out, "--max-walltime", 20, *arguments)
        self.assertIn(done.returncode, (DONE, USAGE), done.stderr)
        return out if done.returncode == DONE else None

    def assert_finite(self, out):
        def check(name, item):
            if isinstance(item, h5py.Dataset) and item.dtype.kind == "f":
                self.assertTrue(np.all(np.isfinite(item[()])), name)
        with h5py.File(out) as file:
            file.visititems(check)

    def test_a_thin_shell_holds_its_gas(self):
        """Thinner than single precision resolves it must not let the light through."""
        scatterings = {}
        for gap in (1e-2, 1e-4, 1e-6, 1e-7, 1e-8, 1e-10):
            out = self.run_or_refuse(sphere(300, 300, inner_radius=f"{1 - gap!r} kpc"))
            if out:
                scatterings[gap] = self.summary(out)["scatterings"] / 300
        self.assertIn(1e-2, scatterings)
        for gap, mean in scatterings.items():
            self.assertAlmostEqual(mean / scatterings[1e-2], 1, delta=0.3, msg=f"gap {gap}: {scatterings}")

    def test_dust_without_gas(self):
        for tau0 in (1e-20, 1e-35, 1e-45, 1e-300):
            with self.subTest(tau0=tau0):
                out = self.run_or_refuse(sphere(tau0, 2000, dust={"tau": 1, "albedo": 0}))
                if out:
                    self.assert_share(self.summary(out)["escaped"], 2000, math.exp(-1))

    def test_wide_sources(self):
        for spectrum in ({"type": "thermal", "temperature": "1e30 K"}, {"type": "thermal", "temperature": "1e300 K"},
                         {"type": "gaussian", "sigma": "299000 km/s"}, {"type": "delta", "offset": "1e300 km/s"},
                         {"type": "delta", "offset": "-299792 km/s"},
                         {"type": "continuum", "range": ["-299792 km/s", "1e300 km/s"]}):
            with self.subTest(**spectrum):
                out = self.run_or_refuse(sphere(1, 300, spectrum=spectrum))
                if out:
                    self.assert_finite(out)

    def test_wide_and_narrow_axes(self):
        for axis, low, high in (("x", -1e308, 1e308), ("x", 1, 1 + 2**-52), ("velocity", "-1e300 km/s", "1e300 km/s"),
                                ("wavelength", "1e-300 Angstrom", "1e300 Angstrom"), ("frequency", "1e-300 Hz", "1e308 Hz")):
            with self.subTest(axis=axis, low=low):
                outputs = [{"type": "spectrum", "name": "s", "axis": axis, "range": [low, high], "bins": 30}]
                out = self.run_or_refuse(sphere(1, 300, outputs=outputs))
                if out:
                    self.assert_finite(out)
                    with h5py.File(out) as file:
                        self.assertTrue(np.all(np.diff(file["spectra/s/edges"][()]) > 0), "edges that do not increase")

    def test_hot_gas_stays_slower_than_light(self):
        for kelvin in (1e12, 1e20, 1e300):
            with self.subTest(kelvin=kelvin):
                out = self.run_or_refuse(sphere(1, 100, temperature=f"{kelvin} K"))
                if out:
                    with h5py.File(out) as file:
                        self.assertLess(file.attrs["thermal_velocity"], C)

    def test_large_and_small(self):
        for radius in ("1e-300 cm", "1e300 cm"):
            with self.subTest(radius=radius):
                out = self.run_or_refuse(sphere(10, 100, outer_radius=radius))
                if out:
                    self.assert_finite(out)


# ---- Result files that are none --------------------------------------------------------------------------------------


class DamagedResults(Case):
    """thor info and the Python reader answer with a message: exit code 3, ResultError."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="thor-e2e-")
        cls.addClassCleanup(folder.cleanup)
        cls.good = Path(folder.name) / "good.h5"
        config = Path(folder.name) / "good.yaml"
        config.write_text(json.dumps(sphere(10, 300, outputs=[{"type": "photons"}, *wide_spectra(1, bins=40)])))
        assert thor("run", config, "-o", cls.good).returncode == DONE
        cls.package = read_package()

    def read(self, path):
        """All that the Python package makes of a file."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self.package.IncompleteRunWarning)
            with self.package.open(path) as result:
                return [str(result), repr(result.photons), result.spectra, result.config, result.escape_fraction(),
                        result.mean_scatterings()]

    def refuse(self, path, says):
        done = thor("info", path)
        self.assertEqual(done.returncode, INPUT, done.stdout + done.stderr)
        self.assertIn(str(path), done.stderr)
        self.assertRegex(done.stderr, says)
        self.assertEqual(done.stdout, "")
        with self.assertRaises(self.package.ResultError) as caught:
            self.read(path)
        self.assertIn(str(path), str(caught.exception))

    def edited(self, edit):
        path = self.folder / "edited.h5"
        shutil.copyfile(self.good, path)
        with h5py.File(path, "r+") as file:
            edit(file)
        return path

    def test_the_good_one_is_read(self):
        self.assertEqual(len(self.read(self.good)), 6)
        done = thor("info", self.good)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stdout, r"complete +yes")

    def test_missing(self):
        self.refuse(self.folder / "none.h5", "there is no such file")

    def test_directory(self):
        self.refuse(self.folder, "directory|no such file")

    def test_empty(self):
        path = self.folder / "empty.h5"
        path.touch()
        self.refuse(path, "not an HDF5 file")

    def test_text(self):
        self.refuse(self.write(sphere(1, 1)), "not an HDF5 file")

    def test_truncated(self):
        data = self.good.read_bytes()
        for length in (1, 8, 47, 96, 800, len(data) // 2, len(data) - 512, len(data) - 1):
            with self.subTest(length=length):
                path = self.folder / f"{length}.h5"
                path.write_bytes(data[:length])
                self.refuse(path, "truncated or damaged" if length > 96 else "not an HDF5 file|truncated or damaged")

    def test_foreign(self):
        path = self.folder / "foreign.h5"
        with h5py.File(path, "w") as file:
            file["data"] = np.arange(10)
        self.refuse(path, "not a result of thor")

    def test_without_a_summary(self):
        self.refuse(self.edited(lambda file: file.pop("summary")), "not a result of thor")

    def test_newer_format(self):
        self.refuse(self.edited(lambda file: file.attrs.modify("format_version", 99)), "format 99.*up to 1")

    def test_damaged_format_version(self):
        for value in ("one", 1.5, 0, -1, np.arange(3)):
            with self.subTest(value=value):
                self.refuse(self.edited(lambda file, v=value: file.attrs.create("format_version", v)), "damaged|not a result")

    def test_partial_of_a_run_that_goes_on(self):
        out = self.folder / "long.h5"
        job = subprocess.Popen(command_line("run", self.write(ENDLESS), "-o", out, "--drain", 0, "--threads", 1),
                               stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        partial = out.with_name(out.name + ".partial")
        self.assertTrue(wait_for(lambda: partial.exists() and partial.stat().st_size > 0))
        time.sleep(0.1)
        self.refuse(partial, "truncated or damaged|run that still goes on|not a result")

    def damages(self):
        values = {"text": "abc", "number": 1.5, "list": np.arange(3), "bytes": np.bytes_(b"\xff\xfe"), "empty": h5py.Empty("f")}
        with h5py.File(self.good) as file:
            names = [(place, name) for place in ("/", "summary", "spectra/s0", "spectra/s0/edges")
                     for name in file[place].attrs]
        rng = random.Random(3)
        for place, name in names:
            yield f"{place} without {name}", lambda file, p=place, n=name: file[p].attrs.pop(n)
            for how in rng.sample(sorted(values), 2):
                yield f"{place} {name} as {how}", lambda f, p=place, n=name, v=values[how]: f[p].attrs.create(n, v)
        for place in ("spectra", "spectra/s0", "spectra/s0/flux", "photons", "photons/original", "photons/original/fate"):
            yield f"without {place}", lambda file, p=place: file.pop(p)
            yield f"numbers at {place}", lambda file, p=place: (file.pop(p), file.create_dataset(p, data=np.arange(3.0)))
            yield f"an empty group at {place}", lambda file, p=place: (file.pop(p), file.create_group(p))
            yield f"nothing at {place}", lambda file, p=place: (file.pop(p), file.__setitem__(p, h5py.SoftLink("/no")))

    def test_python_reader_on_damaged_parts(self):
        """Whatever is missing or of another type: it is read all the same, or a ResultError."""
        problems = []
        for name, edit in self.damages():
            try:
                self.read(self.edited(edit))
            except self.package.ResultError as error:
                if "edited.h5" not in str(error):
                    problems.append(f"{name}: the message does not name the file: {error}")
            except Exception as error:  # noqa: BLE001: that is the question
                problems.append(f"{name}: {type(error).__name__}: {error}")
        self.assertFalse(problems, f"{len(problems)} of {len(list(self.damages()))}:\n" + "\n".join(problems[:12]))

    def test_info_on_damaged_parts(self):
        for name, edit in list(self.damages())[::3]:
            path = self.edited(edit)
            for how in ((), ("--json",)):
                done = subprocess.run(command_line("info", path, *how), capture_output=True, timeout=20)
                self.assertIn(done.returncode, (DONE, INPUT), f"{name}: {done.stderr}")
                if done.returncode == DONE and how:
                    json.loads(done.stdout)

    def test_a_configuration_that_is_not_there_is_not_printed(self):
        for edit in (lambda file: file.attrs.pop("config"), lambda file: file.attrs.create("config", 1.5)):
            done = thor("info", self.edited(edit), "--config")
            self.assertEqual(done.returncode, INPUT, done.stdout)
            self.assertRegex(done.stderr, "config")

    def test_flipped_bytes(self):
        data, rng = self.good.read_bytes(), random.Random(11)
        for i in range(40):
            path = self.folder / "flipped.h5"
            path.write_bytes(flipped(rng, data[:800]) + data[800:] if i % 2 else flipped(rng, data))
            done = subprocess.run(command_line("info", path), capture_output=True, timeout=20)
            self.assertIn(done.returncode, (DONE, INPUT), done.stderr)

    def test_python_command(self):
        for path in (self.folder / "none.h5", self.write(sphere(1, 1))):
            done = subprocess.run([sys.executable, "-m", "thor", "info", path], capture_output=True, text=True, timeout=30,
                                  env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"})
            self.assertEqual(done.returncode, INPUT, done.stderr)
            self.assertIn(str(path), done.stderr)
            self.assertNotIn("Traceback", done.stderr)


# ---- Messages and the terminal ---------------------------------------------------------------------------------------


class Terminal:
    """A command on a pseudo-terminal; what it wrote comes with wait()."""

    def __init__(self, *arguments, **environment):
        ours, theirs = pty.openpty()
        kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
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


def setUpModule():
    """A plain progress line comes every ten seconds: the run that shows one goes on beside the other tests."""
    global plain_folder, plain_run
    plain_folder = tempfile.TemporaryDirectory(prefix="thor-e2e-")
    config = Path(plain_folder.name) / "config.yaml"
    config.write_text(json.dumps(sphere(1e3, 10**9, outputs=[])))
    plain_run = Terminal("run", config, "--progress", "plain", "--max-walltime", 11, "--drain", 0, "--threads", 1)


def tearDownModule():
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
        config["generators"].append({"type": "point", "photons": 100, "luminosity": "1e20 erg/s"})
        return config

    def test_warnings_come_again_after_the_summary(self):
        self.run_thor(self.unequal())
        lines = self.done.stderr.splitlines()
        warned = [i for i, line in enumerate(lines) if "faintest generator" in line]
        summary = [i for i, line in enumerate(lines) if "scatterings/s in" in line]
        self.assertEqual((len(warned), len(summary)), (2, 1), self.done.stderr)
        self.assertLess(warned[0], summary[0])
        self.assertGreater(warned[1], summary[0])
        self.assertEqual(lines[warned[0]], lines[warned[1]])
        self.run_thor(sphere(1, 100, outputs=[]))
        self.assertNotIn("warning", self.done.stderr)

    def test_a_check_warns_once(self):
        done = thor("check", self.write(self.unequal()), "--no-trial")
        self.assertEqual(done.stderr.count("faintest generator"), 1)
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
        """Rewritten in place, with all that one wants to know; without colours where they are not wanted."""
        outputs = wide_spectra(1, bins=50)
        path = self.write(sphere(1e3, 10**9, outputs=outputs))
        options = ("--max-walltime", 2.5, "--drain", 0, "--threads", 1)
        plain = Terminal("run", path, "-o", self.folder / "b.h5", *options, NO_COLOR="1")
        full = Terminal("run", path, "-o", self.folder / "a.h5", *options)
        for terminal in (full, plain):
            told = terminal.wait()
            self.assertEqual(terminal.code, STOPPED, told)
            shown = [line for line in told.split("\r") if "photons  " in line]
            self.assertGreater(len(shown), 3, told)
            self.assertRegex(shown[-1], self.LINE)
            done = [int(re.search(r"(\d+) of 1000000000 photons", line).group(1)) for line in shown]
            self.assertEqual(done, sorted(done))
            self.assertGreater(done[-1], 0)
            self.assertTrue(all(line.endswith("\x1b[K") and "\n" not in line for line in shown))
            self.assertRegex(told, r"\r\x1b\[Kthor: the wall-clock limit is reached")  # and wiped away
        self.assertRegex(full.bytes.decode(), self.COLOUR)
        self.assertNotRegex(plain.bytes.decode(), self.COLOUR)

    def test_no_progress_where_it_is_not_wanted(self):
        path = self.write(sphere(1e3, 10**9, outputs=[]))
        options = ("--max-walltime", 0.8, "--drain", 0, "--threads", 1)
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


# ---- What thor says of a configuration and of itself -----------------------------------------------------------------


class Check(Case):
    # CODATA 2018, cgs; the line as `thor lines` gives it.
    K_B, M_U, M_E, E = 1.380649e-16, 1.66053906660e-24, 9.1093837015e-28, 4.80320471257e-10
    LIGHT = 2.99792458e10
    PARSEC = 3.0856775814913673e18

    def check(self, config, *arguments):
        done = thor("check", self.write(config), "--json", *(arguments or ("--no-trial",)))
        self.assertEqual(done.returncode, DONE, done.stderr)
        return json.loads(done.stdout)

    def derived(self, config):
        return {name: entry["value"] for name, entry in self.check(config)["derived"].items()}

    def line(self):
        return json.loads(thor("lines", "--json").stdout)[0]

    def thermal_speed(self, kelvin, b_turb=0.0):
        return math.sqrt(2 * self.K_B * kelvin / (self.line()["mass_u"] * self.M_U) + b_turb**2)

    def assert_close(self, value, expected, what=""):
        self.assertAlmostEqual(value / expected, 1, delta=1e-6, msg=f"{what}: {value}, expected {expected}")

    def test_what_is_printed_is_the_same_configuration(self):
        for name, yaml in good_texts().items():
            with self.subTest(name):
                first = thor("check", self.write(yaml), "--no-trial")
                again = thor("check", self.write(first.stdout), "--no-trial")
                self.assertEqual(again.returncode, DONE, again.stderr)
                self.assertEqual(again.stdout, first.stdout)
                self.assertNotEqual(first.stdout, yaml)

    def test_json_has_the_same(self):
        for name, yaml in good_texts().items():
            with self.subTest(name):
                printed = thor("check", self.write(yaml), "--no-trial").stdout
                told = self.check(yaml)
                self.assertTrue(printed.startswith(told["configuration"]))
                rows = re.findall(r"^#   (\w+) +(\S+)", printed, re.M)
                self.assertEqual([row[0] for row in rows], list(told["derived"]))
                for key, value in rows:
                    self.assertEqual(value, f"{told['derived'][key]['value']:.6g}", key)

    def test_bytes_that_are_no_text_are_kept_or_refused(self):
        """What the result file keeps as its configuration must name the same file."""
        path = self.folder / "bytes.yaml"
        path.write_bytes(FULL_SLAB.encode().replace(b"slab.h5", b'"a\xff #.h5"'))
        done = subprocess.run(command_line("check", path, "--no-trial"), capture_output=True, timeout=20)
        self.assertIn(done.returncode, (DONE, USAGE))
        if done.returncode == DONE:
            self.assertIn(b"a\xff #.h5", done.stdout)

    def test_thermal_speed_voigt_parameter_and_cross_section(self):
        line = self.line()
        frequency = self.LIGHT / (line["wavelength_angstrom"] * 1e-8)
        for kelvin, b_turb in ((1e4, 0), (100, 0), (2e4, 20)):
            d = self.derived(sphere(1, 1, temperature=f"{kelvin} K", b_turb=f"{b_turb} km/s"))
            speed = self.thermal_speed(kelvin, b_turb * 1e5)
            doppler = frequency * speed / self.LIGHT
            self.assert_close(d["wavelength0"], 1215.6701)
            self.assert_close(d["thermal_speed"], speed / 1e5, "v_th")
            self.assert_close(d["voigt_parameter"], line["einstein_A_per_second"] / (4 * math.pi * doppler), "a")
            sigma = math.sqrt(math.pi) * self.E**2 * line["oscillator_strength"] / (self.M_E * self.LIGHT * doppler)
            self.assert_close(d["cross_section"], sigma, "sigma_0")

    def test_optical_depth_and_columns(self):
        """tau0 = N sigma_0, and N = n R int_r^1 s^p ds with n at the outer edge."""
        radius = 1e3 * self.PARSEC
        for inner, power in ((0, 0), (0.5, 0), (0.1, -2), (0.2, -1), (0, 1.5)):
            integral = -math.log(inner) if power == -1 else (1 - inner ** (power + 1)) / (power + 1)
            for given, value in (("tau0", 1e5), ("column_density", "3e18 cm^-2"), ("number_density", "2e-3 cm^-3")):
                with self.subTest(inner=inner, power=power, given=given):
                    config = sphere(1, 1, inner_radius=f"{inner} kpc", density={"profile": "power_law", "exponent": power})
                    del config["dataset"]["tau0"]
                    config["dataset"][given] = value
                    d = self.derived(config)
                    self.assert_close(d[given], float(str(value).split()[0]), given)
                    self.assert_close(d["tau0"], d["column_density"] * d["cross_section"], "tau0")
                    self.assert_close(d["column_density"], d["number_density"] * radius * integral, "N")
                    self.assert_close(d["a_tau0"], d["voigt_parameter"] * d["tau0"], "a tau0")
        config = slab(1, 1)
        del config["dataset"]["tau0"]
        config["dataset"]["number_density"] = "1 cm^-3"
        self.assert_close(self.derived(config)["column_density"], radius, "slab")

    def test_critical_frequency_photons_and_luminosity(self):
        config = sphere(1e8, 70)
        config["generators"].append({"type": "point", "photons": 30, "luminosity": "3e42 erg/s"})
        d = self.derived(config)
        self.assertEqual((d["x_crit"], d["photons"]), (0, 100))
        self.assert_close(d["luminosity"], 4e42)
        for mode in ("global", "local", "smith15"):
            d = self.derived({**config, "acceleration": {"core_skip": mode}})
            self.assert_close(d["x_crit"], 0.2 * (d["voigt_parameter"] * 1e8) ** (1 / 3), mode)
        self.assertEqual(self.derived({**config, "acceleration": {"core_skip": {"fixed": 2.5}}})["x_crit"], 2.5)
        thin = {**sphere(100, 1), "acceleration": {"core_skip": "global"}}
        self.assertEqual(self.derived(thin)["x_crit"], 0)

    def test_the_time_it_takes(self):
        """Of a run of some seconds on one thread, while others use the machine: within a factor of five."""
        config = sphere(1e4, 3000, outputs=wide_spectra(1, bins=100))
        told = self.check(config, "--threads", "1")["estimate"]
        summary = self.summary(self.run_thor(config, "--threads", 1))
        ratio = told["seconds"] / summary["transport_seconds"]
        print(f"\n  estimate {told['seconds']:.2f} s, run {summary['transport_seconds']:.2f} s", file=sys.stderr)
        self.assertGreater(summary["transport_seconds"], 0.5, "too short to say anything")
        self.assertLess(abs(math.log(ratio)), math.log(5), f"{told['seconds']} s foreseen")
        mean = summary["scatterings"] / summary["photons"]
        self.assertLess(abs(math.log(told["scatterings_per_photon"] / mean)), math.log(1.5))

    def test_a_trial_is_not_endless(self):
        begin = time.monotonic()
        told = self.check(ENDLESS, "--threads", "1")["estimate"]
        self.assertLess(time.monotonic() - begin, 8)
        self.assertGreater(told["seconds"], 1000)


class Info(Case):
    def test_the_configuration_makes_the_same_result(self):
        first = self.run_thor(sphere(50, 300, dust={"tau": 0.3}, outputs=[{"type": "photons"}, *wide_spectra(1, bins=60)]),
                              "--seed", 5, "--set", "dataset.b_turb=7 km/s")
        done = thor("info", first, "--config")
        self.assertEqual(done.returncode, DONE, done.stderr)
        again = self.run_thor(done.stdout)
        self.assert_identical(self.photons(first), self.photons(again))
        with h5py.File(first) as a, h5py.File(again) as b:
            np.testing.assert_array_equal(a["spectra/s0/flux"], b["spectra/s0/flux"])
            self.assertEqual(a.attrs["config"], b.attrs["config"])

    def test_json_and_text_tell_what_the_file_holds(self):
        path = self.run_thor(sphere(1, 123, outputs=[{"type": "photons", "fields": ["id", "column"]}]))
        told = json.loads(thor("info", path, "--json").stdout)
        self.assertTrue(told["complete"])
        self.assertEqual(told["summary"]["photons"], 123)
        self.assertEqual({d["path"]: d["shape"] for d in told["datasets"]},
                         {f"/photons/original/{name}": [123] for name in ("column", "fate", "id")})
        self.assertEqual(told["attributes"]["tau0"], 1)
        printed = thor("info", path).stdout
        for words in ("123 of 123", "Lya by thor", "/photons/original/column", "cm-2; column density"):
            self.assertIn(words, printed)


class Init(Case):
    def test_lists_the_templates(self):
        done = thor("init")
        self.assertEqual(done.returncode, DONE)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], list(TEMPLATES))

    def test_every_template_checks_and_runs(self):
        for name in TEMPLATES:
            with self.subTest(name):
                done = thor("init", name, cwd=self.folder)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertEqual(thor("check", self.folder / f"{name}.yaml", "--no-trial").returncode, DONE)
                done = thor("run", f"{name}.yaml", "--set", "generators.0.photons=50", cwd=self.folder)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assert_closed(self.folder / f"{name}.h5")
                self.assertEqual(self.summary(self.folder / f"{name}.h5")["photons"], 50)

    def test_does_not_replace_a_file(self):
        path = self.folder / "slab.yaml"
        path.write_text("precious")
        for arguments in ((), ("-o", path)):
            done = thor("init", "slab", *arguments, cwd=self.folder)
            self.assertEqual(done.returncode, OUTPUT)
            self.assertIn("--overwrite", done.stderr)
            self.assertEqual(path.read_text(), "precious")
        self.assertEqual(thor("init", "slab", "--overwrite", cwd=self.folder).returncode, DONE)
        self.assertIn("half_thickness", path.read_text())

    def test_unknown_template(self):
        done = thor("init", "spher", cwd=self.folder)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn('did you mean "sphere"', done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_no_place(self):
        for path in (self.folder / "none/a.yaml", self.folder):
            self.assertEqual(thor("init", "slab", "-o", path).returncode, OUTPUT)

    def test_full_disk_leaves_nothing(self):
        with mounted(self, self.folder / "disk", "size=8k") as disk:
            (disk / "ballast").write_bytes(bytes(8192))
            done = thor("init", "slab", "-o", disk / "a.yaml")
            self.assertEqual(done.returncode, OUTPUT, done.stderr)
            self.assertEqual(os.listdir(disk), ["ballast"])
        (self.folder / "disk").rmdir()

    def test_a_device_is_not_removed(self):
        """--overwrite onto what is no plain file: when writing fails, it must still be there."""
        link = self.folder / "link"
        link.symlink_to("/dev/full")
        self.assertEqual(thor("init", "slab", "-o", link, "--overwrite").returncode, OUTPUT)
        self.assertTrue(link.is_symlink(), "what was there before is gone")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))


class Machine(Case):
    def test_lines(self):
        lines = json.loads(thor("lines", "--json").stdout)
        self.assertEqual(lines[0]["name"], "Lya")
        self.assertAlmostEqual(lines[0]["wavelength_angstrom"], 1215.6701, delta=1e-9)
        printed = thor("lines").stdout
        for line in lines:
            self.assertIn(line["name"], printed)
            self.assertIn(f"{line['wavelength_angstrom']:.4f}", printed)

    def test_devices(self):
        told = json.loads(thor("devices", "--json").stdout)
        printed = thor("devices").stdout
        self.assertIn(told["cpu"]["name"], printed)
        self.assertEqual([k["name"] for k in told["cpu"]["kernels"]], re.findall(r"kernel (\S+)", printed))
        self.assertEqual(told["cpu"]["threads"], len(os.sched_getaffinity(0)))
        self.assertEqual([d["device"] for d in told["devices"]], re.findall(r"device (\S+),", printed))

    def test_starts_in_no_time(self):
        seconds = best_of(5, lambda: thor("--help"))
        print(f"\n  thor --help: {1000 * seconds:.0f} ms", file=sys.stderr)
        self.assertLess(seconds, 0.05)

    def test_a_thousand_lines_are_checked_in_no_time(self):
        source = "  - type: point\n    photons: 10\n    luminosity: 1e42 erg/s\n    position: [0 kpc, 0 kpc, 0.1 kpc]\n" \
                 "    spectrum:\n      type: gaussian\n      sigma: 100 km/s\n"
        yaml = AllMistakesAtOnce.GOOD.replace("  - {type: point, photons: 20}\n", source * 150)
        self.assertGreater(len(yaml.splitlines()), 1000)
        path = self.write(yaml)
        self.assertEqual(thor("check", path, "--no-trial").returncode, DONE)
        start = best_of(5, lambda: thor("lines"))
        seconds = best_of(5, lambda: thor("check", path, "--no-trial")) - start
        print(f"\n  thor check of 1000 lines: {1000 * seconds:.0f} ms above the start", file=sys.stderr)
        self.assertLess(seconds, 0.05)


class JsonSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            import jsonschema
            import yaml
        except ImportError as error:
            raise unittest.SkipTest(f"*** SKIPPED: {error} (Debian: python3-jsonschema, python3-yaml): "
                                    "THE JSON SCHEMA IS NOT TESTED ***") from error
        cls.schema = json.loads(thor("schema").stdout)
        cls.load = staticmethod(yaml.safe_load)
        cls.draft = jsonschema.Draft202012Validator
        cls.validator = cls.draft(cls.schema)

    def test_is_a_schema(self):
        self.draft.check_schema(self.schema)
        self.assertEqual(self.schema["$schema"], "https://json-schema.org/draft/2020-12/schema")

    def test_good_configurations_are_valid(self):
        texts = {**good_texts(), **{f"{name}, resolved": "\n".join(d.lines) for name, d in documents().items()}}
        for name, yaml in texts.items():
            with self.subTest(name):
                errors = [f"{'/'.join(map(str, e.path))}: {e.message}" for e in self.validator.iter_errors(self.load(yaml))]
                self.assertEqual(errors, [])
        self.assertIsInstance(self.load("1e6"), str, "this reader does not have the quirk that the schema must allow")

    def test_bad_ones_are_not(self):
        mutants = [m for m in structural_mutants() if m.kind in BY_SCHEMA]
        self.assertGreater(len(mutants), 100)
        accepted = [m for m in mutants if self.validator.is_valid(self.load(m.yaml))]
        print(f"\n  JSON schema: {len(mutants) - len(accepted)} of {len(mutants)} refused", file=sys.stderr)
        for m in accepted:
            print(f"    accepted ({m.kind}): {m.document}: {m.what}", file=sys.stderr)
        self.assertLessEqual(len(accepted), 0.05 * len(mutants))


class GeneratedDocuments(unittest.TestCase):
    def check(self, path, *command):
        made = subprocess.run(command_line(*command), capture_output=True, timeout=20, check=True).stdout
        self.assertEqual((ROOT / path).read_bytes(), made,
                         f"{path} is not what thor says: update it with `thor {' '.join(command)} > {path}`")

    def test_configuration(self):
        self.check("docs/configuration.md", "schema", "--format", "markdown")

    def test_command_line(self):
        self.check("docs/command-line.md", "manual", "--format", "markdown")

    def test_every_key_is_in_the_reference(self):
        reference = (ROOT / "docs/configuration.md").read_text()
        for path in thor("schema", "--format", "keys").stdout.split():
            self.assertIn(f"`{path.rpartition('.')[2]}`", reference.replace("{fixed: 3}", "`fixed`"))


def commands():
    """Those of `thor --help`."""
    told = thor("--help").stdout
    return re.findall(r"^  (\w+) +\S", told.partition("Subcommands:")[2], re.M)


class Completion(Case):
    def ask(self, *words):
        """What bash offers for the last of the words."""
        script = 'source <("$0" completion bash) || exit 9\n' \
                 'function=$(complete -p thor | sed "s/.*-F *//; s/ .*//")\n' \
                 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "$function"\nprintf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, test_command.THOR, *words], capture_output=True, text=True,
                              cwd=self.folder, timeout=20)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.split()

    def test_commands(self):
        self.assertGreaterEqual(len(commands()), 9)
        self.assertEqual(set(self.ask("thor", "")), {*commands(), "--help", "--version"})
        self.assertEqual(self.ask("thor", "che"), ["check"])

    def test_options(self):
        self.assertEqual(self.ask("thor", "run", "a.yaml", "--prec"), ["--precision"])
        self.assertIn("--no-trial", self.ask("thor", "check", "-"))
        for command in commands():
            with self.subTest(command):
                told = thor(command, "--help").stdout
                listed = {"--help", *re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", told, re.M)}
                self.assertEqual({w for w in self.ask("thor", command, "-") if w.startswith("--")}, listed)

    def test_keys(self):
        keys = thor("schema", "--format", "keys").stdout.split()
        self.assertEqual(self.ask("thor", "run", "a.yaml", "--set", "data"), [k + "=" for k in keys if k.startswith("data")])
        self.assertEqual(self.ask("thor", "check", "a.yaml", "--set", "dataset.dust.al"), ["dataset.dust.albedo="])

    def test_words_of_options(self):
        self.write("", "some.yaml")  # a file is none of them
        self.assertEqual(self.ask("thor", "run", "some.yaml", "--precision", ""), ["single", "double"])
        self.assertEqual(self.ask("thor", "run", "some.yaml", "--progress", "p"), ["plain"])
        self.assertEqual(self.ask("thor", "schema", "--format", ""), ["json", "markdown", "keys"])
        self.assertEqual(self.ask("thor", "completion", ""), ["bash", "zsh"])

    def test_templates_and_files(self):
        self.assertEqual(self.ask("thor", "init", ""), list(TEMPLATES))
        self.assertEqual(self.ask("thor", "init", "du"), ["dusty_slab"])
        self.write("", "some.yaml")
        self.assertEqual(self.ask("thor", "run", "so"), ["some.yaml"])
        self.assertEqual(self.ask("thor", "run", "some.yaml", "-o", "so"), ["some.yaml"])

    def zsh(self, script):
        if not shutil.which("zsh"):
            skip_loudly(self, "zsh is not installed")
        done = subprocess.run(["zsh", "-fc", script, test_command.THOR], capture_output=True, text=True, timeout=20,
                              cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def test_zsh_loads_it(self):
        told = self.zsh('autoload -U compinit && compinit -u -D; source <("$0" completion zsh) && print -r -- "$_comps[thor]" '
                        '&& whence -w ${_comps[thor]##* }')
        self.assertRegex(told, r"_thor\w*\n_thor\w*: function\n$")

    def test_zsh_finds_it_where_it_is_installed(self):
        """A file _thor on the fpath: compinit looks for #compdef in its first line."""
        told = self.zsh('mkdir f && "$0" completion zsh > f/_thor && fpath=($PWD/f $fpath) && autoload -U compinit && '
                        'compinit -u -D && print -r -- "[$_comps[thor]]"')
        self.assertNotIn("[]", told)


class Manual(Case):
    def test_renders_without_warnings(self):
        if not shutil.which("groff"):
            skip_loudly(self, "groff is not installed")
        page = self.write(thor("manual").stdout, "thor.1")
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-k", page], capture_output=True, text=True, timeout=20)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shown = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout)
        for command in commands():
            self.assertRegex(shown, rf"(?m)^thor {command}$")
            self.assertRegex(shown, rf"(?m)^ +thor {command}\b.*options")
        status = shown.partition("EXIT STATUS")[2]
        for code, meaning in ((0, "done"), (1, "internal"), (2, "usage"), (3, "input"), (4, "device"), (5, "stopped"),
                              (6, "output")):
            self.assertRegex(status, rf"(?m)^ +{code} +\w*.*{meaning}")
        for word in ("--max-walltime", "NO_COLOR", "--no-trial", ".partial"):
            self.assertIn(word, shown.replace("\u2010", "-").replace("\u2212", "-"))


# ---- The result file, read with nothing but h5py ---------------------------------------------------------------------


class ResultFile(Case):
    def setUp(self):
        super().setUp()
        nu = C * 1e13 / 1215.6701
        axes = {"x": [-50, 50], "velocity": ["-500 km/s", "500 km/s"], "wavelength": ["1210 Angstrom", "1220 Angstrom"],
                "frequency": [f"{0.99 * nu} Hz", f"{1.01 * nu} Hz"]}
        self.outputs = [{"type": "spectrum", "name": axis, "axis": axis, "range": limits, "bins": 20}
                        for axis, limits in axes.items()]
        self.path = self.run_thor(sphere(10, 200, outputs=[*self.outputs, {"type": "photons"}]), "--seed", 77)

    def datasets(self, file):
        found = {}
        file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
        return found

    def label(self, item, name):
        return text(item.attrs[name]).rstrip("\0")

    def test_units_parse_and_fluxes_are_luminosities(self):
        try:
            from astropy import units
        except ImportError:
            skip_loudly(self, "astropy is not installed (Debian: python3-astropy)")
        with h5py.File(self.path) as file:
            found = self.datasets(file)
            self.assertEqual(len(found), 3 * 4 + 9)
            for name, item in found.items():
                units.Unit(self.label(item, "units"))  # raises where it cannot be read
                self.assertGreater(len(self.label(item, "description")), 5, name)
            for name, group in file["spectra"].items():
                edges, flux, error = (group[key][()] * units.Unit(self.label(group[key], "units"))
                                      for key in ("edges", "flux", "error"))
                light = np.sum(flux * np.diff(edges))
                self.assertEqual(error.unit, flux.unit)
                self.assertAlmostEqual(light.to("erg/s").value / 1e42, 1, delta=1e-6, msg=name)
            with self.assertRaises(units.UnitConversionError):
                units.Unit(self.label(found["spectra/velocity/flux"], "units")).to("erg/s")
            self.assertEqual(units.Unit(self.label(found["photons/original/position"], "units")), units.cm)

    def test_says_how_it_was_made(self):
        with h5py.File(self.path) as file:
            told = {name: text(value) for name, value in file.attrs.items()}
        version = thor("--version").stdout
        self.assertIn(f"thor {told['thor_version']} ({told['git_commit']})", version)
        self.assertIn(f"compiler {told['compiler']}\n", version)
        self.assertEqual(told["cpu"], json.loads(thor("devices", "--json").stdout)["cpu"]["name"])
        self.assertRegex(told["device"], r"^(cpu|cuda): .+ \(\w+\)$")
        self.assertEqual((told["seed"], told["precision"], told["line"]), (77, "single", "Lya"))
        self.assertEqual(told["format_version"], 1)
        age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(told["date"].replace("Z", "+00:00"))
        self.assertLess(abs(age.total_seconds()), 86400)
        done = thor("check", self.write(told["config"]), "--no-trial", "--json")
        self.assertEqual(json.loads(done.stdout)["configuration"], told["config"])


def main():
    arguments = sys.argv[:1]
    rest = iter(sys.argv[1:])
    for word in rest:
        if word == "--thor":
            test_command.THOR = next(rest)
        elif word.startswith("--thor="):
            test_command.THOR = word.split("=", 1)[1]
        else:
            arguments.append(word)
    test_command.THOR = os.path.abspath(test_command.THOR)
    if not os.access(test_command.THOR, os.X_OK):
        sys.exit(f"test_faults: {test_command.THOR} cannot be run; give --thor PATH or THOR_BINARY")
    unittest.main(argv=arguments)


if __name__ == "__main__":
    main()
