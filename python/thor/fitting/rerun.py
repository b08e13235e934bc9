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
from ..errors import ArgumentError, RunError
from ..line import Floats
from ..quantity import in_unit
from .likelihood import EQUIVALENT_WIDTH, Likelihood
from .models import Models, equivalent_width, levels_of, load

_MORE = 20  # times the photons of a model


@dataclass
class Check:
    """A run of thor with the parameters of a mode, seen as the spectrum is: against the data, and against the emulator."""

    chi2: float
    emulated_chi2: float
    expected: tuple[float, float]  # of their difference, and its standard deviation, with the errors of emulator and run
    largest: float  # difference over the peak
    spectrum: Floats
    emulated: Floats

    @property
    def is_worse(self) -> bool:
        """Than the errors of the emulator let expect."""
        return self.chi2 - self.emulated_chi2 > self.expected[0] + 3.0 * self.expected[1] + 1.0


def settings(likelihood: Likelihood, parts: Floats) -> dict[str, str]:
    """The keys of the model."""
    values = likelihood.values(parts[None, :])[0]
    return {p.key: f"{values[i]:.10g} {p.unit}".strip() for i, p in enumerate(likelihood.emulator.parameters)}


def best_model(likelihood: Likelihood, parts: Floats) -> str:
    """The configuration of a model, for ``thor run``, with as many photons as its check."""
    configuration = model_of(likelihood.emulator.configuration)
    lines = configuration.split("\n")
    values = dict(zip(likelihood.names, likelihood.values(parts[None, :])[0]))
    put = {**settings(likelihood, parts), "output.path": "best.h5"}
    levels = list(levels_of(configuration, likelihood.emulator.source).values())
    for i, number in enumerate(_photons(configuration)):
        put[f"generators.{i}.photons"] = str(number * _MORE)
        if EQUIVALENT_WIDTH in values and np.isinf(levels[i][0]):  # of the line, by whose luminosity the continuum's follows
            line = next(level for width, level in levels if not np.isinf(width))
            low, high = (in_unit(end, "km/s", "range") for end in resolved.generators_of(configuration)[i]["spectrum"]["range"])
            width = equivalent_width(float(values[EQUIVALENT_WIDTH]), likelihood.emulator.wavelength0)
            put[f"generators.{i}.luminosity"] = f"{line * (high - low) / width:.10g} erg/s"
    for key, value in put.items():
        lines = _put(lines, key.split("."), value)
    return "\n".join(lines) + "\n"


def _photons(configuration: str) -> list[int]:
    return [int(float(source["photons"])) for source in resolved.generators_of(configuration)]


def model_of(configuration: str) -> str:
    """That of a sweep's text which describes the model."""
    return configuration.split("\n\n")[0]


def run_again(likelihood: Likelihood, modes: Sequence[Floats], *, seed: int, binary: str | os.PathLike[str] | None = None) -> list[Check]:
    program = find_binary(binary)
    model = model_of(likelihood.emulator.configuration)
    photons = _photons(model)
    with tempfile.TemporaryDirectory(prefix="thor-fit-") as folder:
        (Path(folder) / "model.yaml").write_text(model + "\n")
        rows = "".join("  - {" + ", ".join(f"{k}: {v}" for k, v in settings(likelihood, parts).items()) + "}\n" for parts in modes)
        more = ", ".join(f"generators.{i}.photons: {n * _MORE}" for i, n in enumerate(photons))
        (Path(folder) / "best.yaml").write_text(f"model: model.yaml\ndesign: list\nseed: {1_000_003 + seed}\nset: {{{more}}}\nlist:\n{rows}output: {{path: best.h5}}\n")
        command = [str(program), "sweep", str(Path(folder) / "best.yaml"), "--quiet"]
        code, said = call(command, sys.stderr)
        if code not in (0, 7):  # 7: some photons were lost
            raise RunError.of(code, command, said)
        new = load(Path(folder) / "best.h5", varied=False)
    if len(new) != len(modes):
        raise ArgumentError("a model of the best parameters could not be run")
    parts = np.array(modes)
    seen = likelihood.light(new.line, new.continuum, parts)
    levels, emulated = likelihood.level(seen), likelihood.spectra(parts)[0]
    return [_check(likelihood, parts[i], levels[i] * seen[i], emulated[i], levels[i] ** 2 * _noise(likelihood, parts[i], new, i)) for i in range(len(modes))]


def _noise(likelihood: Likelihood, parts: Floats, new: Models, row: int) -> Floats:
    """The covariance of a run's Monte Carlo noise in the pixels."""
    values = dict(zip(likelihood.names, likelihood.values(parts[None, :])[0]))
    width = equivalent_width(float(values[EQUIVALENT_WIDTH]), likelihood.emulator.wavelength0) if EQUIVALENT_WIDTH in values else 1.0
    variance = (new.line_error[row] * width) ** 2
    if new.continuum_error is not None:
        variance = variance + new.continuum_error[row] ** 2
    of_bins = likelihood.of_bins(parts)
    found: Floats = (of_bins.T * variance) @ of_bins
    return found


def _check(likelihood: Likelihood, parts: Floats, direct: Floats, emulated: Floats, noise: Floats) -> Check:
    """With V the covariance of emulator and run, C that of the data and r the residual, chi2 grows by tr(C^-1 V) on average, with
    a variance of 2 tr((C^-1 V)^2) + 4 r C^-1 V C^-1 r."""
    seen = likelihood.observation
    inverse = np.linalg.inv(seen.matrix)
    ratio, residual = inverse @ (likelihood.errors(parts) + noise), emulated - seen.flux
    spread = np.sqrt(2.0 * np.trace(ratio @ ratio) + 4.0 * residual @ ratio @ inverse @ residual)
    largest = np.max(np.abs(direct - emulated)) / np.max(np.abs(direct))
    return Check(likelihood.chi2(direct), likelihood.chi2(emulated), (float(np.trace(ratio)), float(spread)), float(largest), direct, emulated)


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
