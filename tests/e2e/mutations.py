"""Broken configurations, most of them made from valid ones by one error."""

import functools
import itertools
import json
import random
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import FULL_SLAB  # noqa: E402
from support import DONE, THOROUGH, good_texts, thor  # noqa: E402


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
        """Path without the indices of lists."""
        return re.sub(r"\.\d+(?=\.)", "", self.path)


class Document:
    """A configuration as thor resolves it: block style, one key per line, so that each edit has a known line and
    path."""

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
    """A configuration with one error, and patterns for its messages."""
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
    "dataset.temperature": ("K", "kpc", ["0 K", "-1 K"]),
    "dataset.b_turb": ("km/s", "K", ["-1 km/s", "4e4 km/s"]),
    "dataset.tau0": ("", "cm^-2", ["0", "-1", "1e16"]),
    "dataset.column_density": ("cm^-2", "cm^-3", ["0 cm^-2", "-1 cm^-2", "1e40 cm^-2"]),
    "dataset.number_density": ("cm^-3", "cm^-2", ["0 cm^-3", "-1 cm^-3", "1e40 cm^-3"]),
    "dataset.density.exponent": ("", "kpc", ["300", "-300"]),
    "dataset.velocity.exponent": ("", "km/s", ["300", "-300"]),
    "dataset.velocity.max": ("km/s", "kpc", ["4e4 km/s", "-4e4 km/s"]),
    "dataset.velocity.average": ("km/s", "kpc", ["4e4 km/s", "-4e4 km/s"]),
    "dataset.dust.tau": ("", "cm", ["-0.1"]),
    "dataset.dust.metallicity": ("", "K", ["-0.1", "1001"]),
    "dataset.dust.hydrogen_column": ("cm^-2", "cm^-3", ["-1 cm^-2"]),
    "dataset.dust.ionized_column": ("cm^-2", "cm^-3", ["-1 cm^-2"]),
    "dataset.dust.f_ion": ("", "K", ["-0.1", "1.1"]),
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
    "physics.deuterium": ("", "cm^-3", ["-1e-5", "1.1"]),
}


WHOLE_NUMBERS = {
    "seed": ["18446744073709551616"],
    "generators.photons": ["0", "4611686018427387905", "1e19"],
    "limits.max_scatterings": ["0", "2000000001"],
    "limits.max_steps": ["0", "2000000001"],
    "outputs.bins": ["0", "10000001"],
}


WORDS = ("driver", "precision", "dataset.type", "dataset.density.profile", "dataset.velocity.profile", "dataset.dust.law",
         "generators.type", "generators.shape", "generators.spectrum.type", "acceleration.core_skip",
         "physics.phase_function", "physics.recoil", "numerics.voigt", "numerics.u_parallel", "numerics.core_wing",
         "numerics.generator", "numerics.uniform", "numerics.rejection", "outputs.type", "outputs.of", "outputs.axis")


VECTORS = {"generators.position": "K", "generators.velocity": "K", "generators.direction": "K"}


RANGES = {"generators.spectrum.range": "K", "outputs.range": "K"}


TEXTS = {"line": ["nonsense", "Lyb", "lya", '""'], "generators.spectrum.reference": ["Lyb", "XyII_2796"],
         "outputs.reference": ["Lyb", "XyII_2796"], "outputs.name": ["a b", "a/b", "\u00e4", '""'], "output.path": ["out.txt", "out", '""', '"a\\x00.h5"']}


MAPS = ("dataset", "dataset.density", "dataset.velocity", "dataset.dust", "generators.spectrum", "acceleration", "physics",
        "numerics", "limits", "output")


LISTS = {"generators": ["[]", "point", "{type: point}", "[point]", "~"],
         "outputs": ["spectrum", "{type: photons}", "[photons]", "~"]}


REQUIRED = {
    "line", "dataset", "dataset.type", "dataset.outer_radius", "dataset.half_thickness", "dataset.temperature",
    "dataset.density.exponent", "dataset.velocity.exponent", "generators", "generators.type",
    "generators.shape", "generators.radius", "generators.photons", "generators.spectrum.sigma",
    "generators.spectrum.equivalent_width", "generators.spectrum.range", "outputs.type",
    "outputs.name", "outputs.range", "outputs.bins", "output", "output.path", "acceleration.core_skip.fixed",
}


ALTERNATIVES = {"dataset.tau0": "column_density: 1e18 cm^-2", "dataset.column_density": "number_density: 1 cm^-3",
                "dataset.number_density": "tau0: 1e5", "dataset.velocity.max": "average: 1 km/s",
                "dataset.velocity.average": "max: 1 km/s", "dataset.dust.tau": "law: SMC", "dataset.dust.law": "tau: 0.1"}


# If a key has this value, these keys belong to another one.
ELSEWHERE = {
    ("dataset.type", "shell"): ["half_thickness: 1 kpc"],
    ("dataset.type", "slab"): ["outer_radius: 1 kpc", "inner_radius: 0 kpc", "density: {profile: homogeneous}"],
    ("dataset.density.profile", "homogeneous"): ["exponent: -2"],
    ("dataset.velocity.profile", "static"): ["max: 1 km/s", "average: 1 km/s", "exponent: 1"],
    ("dataset.velocity.profile", "linear"): ["exponent: 1"],
    ("generators.type", "point"): ["shape: medium", "radius: 1 kpc"],
    ("generators.shape", "medium"): ["radius: 1 kpc", "direction: [0, 0, 1]", "opening_angle: 5 deg", "position: [0 pc, 0 pc, 0 pc]"],
    ("generators.shape", "surface"): ["direction: [0, 0, 1]"],
    ("generators.spectrum.type", "delta"): ["sigma: 1 km/s", "temperature: 1 K", "range: [0 km/s, 1 km/s]"],
    ("generators.spectrum.type", "thermal"): ["sigma: 1 km/s", "offset: 1 km/s"],
    ("generators.spectrum.type", "continuum"): ["equivalent_width: 1 nm", "offset: 1 km/s"],
    ("dataset.dust.tau", "0.1"): ["metallicity: 1", "f_ion: 0.1"],
    ("numerics.u_parallel", "thor"): ["core_wing: B25"],
    ("numerics.u_parallel", "S15"): ["rejection: squeezed"],
    ("outputs.axis", "wavelength"): ["reference: Lya"],
    ("outputs.type", "photons"): ["bins: 3", "name: a", "range: [0, 1]"],
    ("outputs.type", "spectrum"): ["fields: [id]"],
}


BY_SCHEMA = {"typo", "missing", "unit", "choice", "conflict", "elsewhere"}  # what a JSON schema can express


def values_of(entry):
    """Bad values for a key, each with the kind of error."""
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
        if path == "acceleration.core_skip":  # a map is read as one, with messages about its keys
            wrong_types.remove(("type", "{a: 1}"))
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
    """One letter missing, doubled, swapped with its neighbour, or replaced."""
    i = rng.randrange(1, len(word) - 1)
    made = [word[:i] + word[i + 1:], word[:i] + word[i] + word[i:], word[:i] + word[i + 1] + word[i] + word[i + 2:],
            word[:i] + "q" + word[i + 1:]]
    return [w for w in dict.fromkeys(made) if w not in (word, "output", "outputs")]


def value_mutants(document, entry):
    name = re.escape(entry.path)
    for kind, value in values_of(entry):
        # An impossible profile is reported where it is detected, which may be another key of the section.
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


# Errors that involve more than one key, or that are only detected when the gas and the sources are built.
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
    ("shell", "generators.0.spectrum.reference=Ly_D", 'reference: line Lya has no transition "Ly_D"; did you mean "Lya_D"'),
    ("shell", "outputs.0.reference=Lyb", 'outputs.0.reference: line Lya has no .*; did you mean "Lya".*: Lya, Lya_D'),
    ("sphere", r'output.path="a\x00.h5"', "output.path: expected a file name"),
    ("sphere", "line.name=Lya", 'line is a single value and has no key "name"'),
    ("sphere", "generators.7.photons=1", 'generators is a list of 1 and has no element "7"'),
    ("sphere", "dataset.tau0", "expected a.b=value"),
    ("sphere", "dataset..tau0=1", "expected a.b=value"),
    ("sphere", "seed=[1", "seed=.1: "),
    ("sphere", "seed=&a [*a]", "alias"),
]


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
    for m in rng.sample(values, min(15 * THOROUGH, 60)):
        path, value = m.what.split(": ", 1)
        override = f"{path}={value}"
        says = rf"--set {re.escape(override)}: {re.escape(path)}" if r"\d+:\d+: " not in m.says[0][:20] else "--set"
        yield Mutant("set", m.document, f"--set {override}", "\n".join(documents_[m.document].lines), [says], (override,))
    for name, override, says in CONFLICTS:
        # Errors that concern all sources together are reported for the list.
        where = "" if says.startswith("generators: all") else "--set " + re.escape(override)
        yield Mutant("set", name, f"--set {override}", "\n".join(documents_[name].lines), [where, says], (override,))


@functools.cache
def structural_mutants():
    """One known error each: many in the two full configurations, which have all keys, some in the others, whose keys are among
    those."""
    rng, mutants = random.Random(5), []
    number = itertools.count()

    def thinned(some):
        """A quarter of them unless THOROUGH: keys are misspelt and repeated everywhere in the same way."""
        return [m for m in some if next(number) % 4 < THOROUGH]

    for name, document in documents().items():
        for entry in document.entries:
            keyed = list(key_mutants(document, entry, rng))
            valued = list(value_mutants(document, entry))
            if name.startswith("full"):
                mutants += [m for m in keyed if m.kind not in ("typo", "repeated")]
                kinds = sorted({m.kind for m in valued})
                kind = rng.choice(kinds) if kinds and rng.randrange(2) else ""
                drawn = rng.sample([m for m in valued if m.kind == kind] or keyed[:2], 1)
                mutants += thinned(drawn) if drawn[0].kind in ("typo", "repeated") else drawn
            else:
                mutants += thinned(rng.sample(keyed + valued, rng.randrange(5) == 0))
    return mutants + list(override_mutants(documents(), mutants, rng))


def flipped(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def damaged_texts():
    """Damage to files: truncated, corrupted, wrongly edited or encoded. Some may stay valid."""
    rng = random.Random(7)
    texts = {name: yaml.encode() for name, yaml in good_texts().items()}
    for name, data in texts.items():
        full = name.startswith("full")
        for i in range(min((3 if full else 1) * THOROUGH, 6 if full else 2)):
            yield f"{name} cut {i}", data[:rng.randrange(len(data))]
            yield f"{name} flipped {i}", flipped(rng, data)
        for mark in (b"{", b"}", b"[", b"]", b":", b",", b'"', b"- ") if full else (b":",):
            places = [m.start() for m in re.finditer(re.escape(mark), data)]
            if places:
                at = rng.choice(places)
                yield f"{name} without a {mark.decode()}", data[:at] + data[at + len(mark):]
        if not full and name != "sphere":
            continue
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
    """Files that must be refused quickly."""
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
