"""The best models of a fit, run again by thor itself."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import resolved
from ..binary import find_binary
from ..child import call
from ..errors import RunError
from ..line import Floats
from .likelihood import Likelihood
from .models import load

_MORE = 20  # times the photons of a model


@dataclass
class Check:
    """A run of thor with the parameters of a mode, seen as the spectrum is: against the data, and against the emulator."""

    chi2: float
    emulated_chi2: float
    largest: float  # difference over the peak
    spectrum: Floats
    emulated: Floats


def settings(likelihood: Likelihood, parts: Floats) -> dict[str, str]:
    """The keys of the model."""
    values = likelihood.values(parts[None, :])[0]
    return {p.key: f"{values[i]:.10g} {p.unit}".strip() for i, p in enumerate(likelihood.emulator.parameters)}


def best_model(likelihood: Likelihood, parts: Floats) -> str:
    """The configuration of a model, for ``thor run``."""
    lines = model_of(likelihood.emulator.configuration).split("\n")
    for key, value in settings(likelihood, parts).items():
        lines = _put(lines, key.split("."), value)
    return "\n".join(lines) + "\n"


def model_of(configuration: str) -> str:
    """That of a sweep's text which describes the model."""
    return configuration.split("\n\n")[0]


def run_again(likelihood: Likelihood, modes: Sequence[Floats], *, seed: int, binary: str | os.PathLike[str] | None = None) -> list[Check]:
    program = find_binary(binary)
    model = model_of(likelihood.emulator.configuration)
    photons = [int(source["photons"]) for source in resolved.generators_of(model)]
    with tempfile.TemporaryDirectory(prefix="thor-fit-") as folder:
        (Path(folder) / "model.yaml").write_text(model + "\n")
        rows = "".join("  - {" + ", ".join(f"{k}: {v}" for k, v in settings(likelihood, parts).items()) + "}\n" for parts in modes)
        more = ", ".join(f"generators.{i}.photons: {n * _MORE}" for i, n in enumerate(photons))
        (Path(folder) / "best.yaml").write_text(f"model: model.yaml\ndesign: list\nseed: {1_000_003 + seed}\nset: {{{more}}}\nlist:\n{rows}output: {{path: best.h5}}\n")
        command = [str(program), "sweep", str(Path(folder) / "best.yaml"), "--quiet"]
        code, said = call(command, sys.stderr)
        if code != 0:
            raise RunError.of(code, command, said)
        new = load(Path(folder) / "best.h5", varied=False)
    parts = np.array(modes)
    line, flat = new.line, new.continuum
    direct, emulated = likelihood.project(line, flat, parts), likelihood.spectra(parts)[0]
    return [Check(likelihood.chi2(d), likelihood.chi2(e), float(np.max(np.abs(d - e)) / np.max(np.abs(d))), d, e) for d, e in zip(direct, emulated)]


def _put(lines: list[str], path: Sequence[str], value: str) -> list[str]:
    """A configuration in block style with another value of a key, which is added if it is not there."""
    begin, end, depth = 0, len(lines), 0
    for number, word in enumerate(path):
        last = number == len(path) - 1
        at = _find(lines, begin, end, depth, word)
        if at is None:
            if word.isdigit():
                return lines
            new = [" " * (depth + 2 * i) + f"{w}:" for i, w in enumerate(path[number:])]
            new[-1] += f" {value}"
            return lines[:end] + new + lines[end:]
        if last:
            head = re.match(r"( *(?:- )?[^:]*:)", lines[at])
            assert head is not None
            below = _end(lines, at, end, depth)
            return [*lines[:at], f"{head[1]} {value}", *lines[below:]]
        begin, end = at + (0 if word.isdigit() else 1), _end(lines, at, end, depth)
        depth = _depth(lines[begin]) + (2 if word.isdigit() else 0) if begin < end else depth + 2
    return lines


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _find(lines: list[str], begin: int, end: int, depth: int, word: str) -> int | None:
    if word.isdigit():
        items = [i for i in range(begin, end) if _depth(lines[i]) == depth and lines[i].lstrip().startswith("- ")]
        return items[int(word)] if int(word) < len(items) else None
    for i in range(begin, end):
        text = lines[i]
        inner = _depth(text) + 2 if text.lstrip().startswith("- ") else _depth(text)
        if inner == depth and re.match(rf"(?:- )?{re.escape(word)}:", text.lstrip()):
            return i
    return None


def _end(lines: list[str], at: int, end: int, depth: int) -> int:
    """The line after those that belong to one."""
    return next((i for i in range(at + 1, end) if _depth(lines[i]) <= depth), end)
