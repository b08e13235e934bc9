"""The models of a sweep, as a fit reads them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from .. import reading, resolved
from ..errors import ArgumentError, ResultError
from ..line import C_KMS, Floats
from ..postprocess import require_one_place, source_density
from ..quantity import in_unit, read

_DONE, _UNRELIABLE = 1, 2  # status of a model; of the second kind photons were lost


@dataclass
class Parameter:
    """A key that a sweep varied, or another one of a fit, with its range."""

    key: str
    unit: str
    low: float
    high: float
    log: bool = False

    def unit_of(self, values: Floats) -> Floats:
        """Values as parts of the range, from 0 to 1."""
        a, b = self._ends()
        found: Floats = ((np.log(values) if self.log else values) - a) / (b - a)
        return found

    def value_of(self, parts: Floats) -> Floats:
        a, b = self._ends()
        inner = a + (b - a) * parts
        found: Floats = np.exp(inner) if self.log else inner
        return found

    def _ends(self) -> tuple[float, float]:
        return (float(np.log(self.low)), float(np.log(self.high))) if self.log else (self.low, self.high)


@dataclass
class Models:
    """Models of a sweep that ended well: their parameters, and spectra of the light of two sources.

    ``line`` is the luminosity in each bin over that of the line that was emitted, ``continuum`` the luminosity over the
    continuum's, both per km/s; ``line_error`` and ``continuum_error`` their Monte Carlo errors.
    """

    path: str
    parameters: list[Parameter]
    parts: Floats
    edges: Floats
    wavelength0: float
    line: Floats
    line_error: Floats
    continuum: Floats | None
    continuum_error: Floats | None
    configuration: str

    def __len__(self) -> int:
        return len(self.parts)


@dataclass
class Photons:
    """Raw photons of a sweep, whose source spectrum and dust are chosen afterwards (paper, section 4.1): of each model the
    velocities at emission and at the end [km/s], the column that was met over that of the gas, and the inverse density of the
    velocities at emission over their number."""

    path: str
    parameters: list[Parameter]
    parts: Floats
    first: npt.NDArray[np.int64]
    initial: npt.NDArray[np.float32]
    final: npt.NDArray[np.float32]
    column: npt.NDArray[np.float32]
    weight: npt.NDArray[np.float32]
    configuration: str
    number: Callable[[Floats], Floats] = np.ones_like  # of photons of a model, per km/s at emission

    def __len__(self) -> int:
        return len(self.parts)

    def spectra(self, model: int, edges: Floats, sigma: float, dust: float, continuum: tuple[float, float] = (-np.inf, np.inf)) -> tuple[Floats, Floats]:
        """Line and continuum of a model, as in :class:`Models`, with a Gaussian source of a width [km/s], an optical depth of
        absorption by dust, and a continuum between two velocities."""
        rows = slice(self.first[model], self.first[model + 1])
        step = edges[1] - edges[0]
        bins = np.floor((self.final[rows] - edges[0]) / step).astype(np.int64)
        inside = (bins >= 0) & (bins < len(edges) - 1)
        left = (self.weight[rows] * np.exp(-dust * self.column[rows]))[inside].astype(float)
        v = self.initial[rows][inside].astype(float)
        source = np.exp(-0.5 * (v / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
        count = len(edges) - 1
        flat = left * ((v >= continuum[0]) & (v <= continuum[1]))
        return np.bincount(bins[inside], left * source, count) / step, np.bincount(bins[inside], flat, count) / step


def has_photons(path: str | os.PathLike[str]) -> bool:
    try:
        with h5py.File(path) as file:
            return "raw" in file
    except (OSError, RuntimeError):
        return False  # what is wrong, load() says


def _file_of(path: str | os.PathLike[str]) -> str:
    if os.path.isdir(path):
        raise ResultError(f"{os.fspath(path)}: it is a directory: for fits, let the sweep write a file (output.path: NAME.h5)")
    return os.fspath(path)


def load_photons(path: str | os.PathLike[str]) -> Photons:
    """The result of ``thor sweep`` of a model that keeps photons with ``velocity_initial``, ``velocity_final`` and ``column``."""
    name = _file_of(path)
    try:
        with h5py.File(path) as file:
            about = reading.attributes(file)
            if about.get("kind") != "sweep" or "raw" not in file:
                raise ResultError(f"{name}: not a result of thor sweep with raw photons")
            parameters = _parameters(file, str(about["sweep"]), name)
            _refuse(parameters, lambda key: key.startswith("generators."), name, "raw photons need the same sources in all models")
            status = reading.numbers(file, "status", name)
            good = status == _DONE
            if not np.any(good):
                raise ResultError(f"{name}: no model of the sweep succeeded")
            values = np.stack([reading.numbers(file["parameters"], p.key, name) for p in parameters], axis=1)
            missing = [key for key in ("velocity_initial", "velocity_final", "column") if key not in file["raw"]]
            if missing:
                raise ArgumentError(f"{name}: its photons have no {missing[0]}: name it among their fields")
            config = str(about["config"])
            first = reading.numbers(file["raw"], "first", name).astype(np.int64)
            initial, final, column = (reading.numbers(file["raw"], key, name) for key in ("velocity_initial", "velocity_final", "column"))
            total = _columns(parameters, values, config, name)
            emitted = reading.numbers(file, "photons", name)
            density = _density_of(config, name)
            counts = np.diff(first)
            weight = 1.0 / (density(initial.astype(float)) * np.repeat(emitted, counts))
            fewest = float(np.min(emitted[good]))
            column = column / np.repeat(total, counts)
    except OSError as error:
        raise ResultError(f"{name}: {'there is no such file' if not os.path.exists(path) else f'not a result of thor sweep: {error}'}") from error
    parts = np.stack([p.unit_of(values[:, i]) for i, p in enumerate(parameters)], axis=1)
    found = Photons(name, parameters, parts, first, initial.astype(np.float32), final.astype(np.float32), column.astype(np.float32), weight.astype(np.float32), str(about["sweep"]),
                    lambda v: fewest * density(v))  # fmt: skip
    return found if np.all(good) else _some(found, np.flatnonzero(good))


def _some(photons: Photons, rows: npt.NDArray[np.int64]) -> Photons:
    """Some of the models. Those that failed have no photons."""
    ends = np.concatenate([[0], np.cumsum(np.diff(photons.first)[rows])])
    return replace(photons, parts=photons.parts[rows], first=ends)


def _columns(parameters: list[Parameter], values: Floats, config: str, name: str) -> Floats:
    keys = [p.key for p in parameters]
    if "dataset.column_density" in keys:
        return values[:, keys.index("dataset.column_density")]
    given = resolved.read(config).get("dataset", {}).get("column_density")
    found = read(given) if given else None
    if found is None:
        raise ArgumentError(f"{name}: dust needs the column of the gas: give dataset.column_density")
    return np.full(len(values), found[0])


def _density_of(config: str, name: str) -> Callable[[Floats], Floats]:
    """Of velocities at emission, of all generators together."""
    generators = resolved.generators_of(config)
    text = resolved.read(config)
    if text.get("dataset", {}).get("dust"):
        raise ArgumentError(f"{name}: the gas has dust already: run it without")
    if any("Angstrom" in str(source["spectrum"]) or " nm" in str(source["spectrum"]) for source in generators):
        raise ArgumentError(f"{name}: give the ranges and widths of its sources in km/s, not as wavelengths")
    try:
        require_one_place(generators)
    except ArgumentError as error:
        raise ArgumentError(f"{name}: {error}") from None
    photons = [float(source["photons"]) for source in generators]
    parts = [source_density(source["spectrum"], np.nan) for source in generators]
    return lambda v: np.asarray(sum(n / sum(photons) * part(v) for n, part in zip(photons, parts)), dtype=np.float64)


def load(path: str | os.PathLike[str], varied: bool = True) -> Models:
    """The result of ``thor sweep`` whose model has a spectrum of a line, and perhaps one of a continuum, by the generator; without the
    parameters unless the sweep has ``varied`` keys in ranges."""
    name = _file_of(path)
    try:
        with h5py.File(path) as file:
            return _load(file, name, varied)
    except OSError as error:
        raise ResultError(f"{name}: {'there is no such file' if not os.path.exists(path) else f'not a result of thor sweep: {error}'}") from error


def _load(file: h5py.File, name: str, varied: bool) -> Models:
    about = reading.attributes(file)
    if about.get("kind") != "sweep":
        raise ResultError(f"{name}: not a result of thor sweep")
    text = str(about["sweep"])
    parameters = _parameters(file, text, name) if varied else []
    _refuse(parameters, lambda key: key.endswith((".luminosity", ".spectrum.range")), name, "a fit needs the same level of line and continuum in all models")
    status = reading.numbers(file, "status", name)
    values = np.stack([reading.numbers(file["parameters"], p.key, name) for p in parameters], axis=1) if varied else np.zeros((len(status), 0))
    spectra: Any = reading.group(file, "spectra", name) or {}
    sources: dict[str, str] = {}
    for key in spectra:
        about_it = reading.attributes(spectra[key])
        if about_it.get("of", "escaped") != "escaped" or any(word in about_it for word in ("observer", "towards", "aperture")):
            continue
        if (generator := str(about_it.get("generator", ""))) in sources:
            raise ArgumentError(f"{name}: its spectra {sources[generator]} and {key} are of the same light: keep one of them")
        sources[generator] = key
    levels = levels_of(str(about["config"]), name)
    lines = [g for g in sources if g in levels and not np.isinf(levels[g][0])]
    flat = [g for g in sources if g in levels and np.isinf(levels[g][0])]
    if len(lines) != 1 or len(flat) > 1:
        raise ArgumentError(f"{name}: a fit needs one spectrum of the line's generator, and may have one of the continuum's: give the generators a name, and the spectra a generator")
    line = spectra[sources[lines[0]]]
    if str(reading.attribute(line, "axis", "")) != "velocity":
        raise ArgumentError(f"{name}: a fit needs spectra over velocity (axis: velocity)")
    good = np.isin(status, (_DONE,) if varied else (_DONE, _UNRELIABLE)) & np.all(np.isfinite(values), axis=1)
    if not np.any(good):
        raise ResultError(f"{name}: no model of the sweep succeeded")
    parts = np.stack([p.unit_of(values[good, i]) for i, p in enumerate(parameters)], axis=1) if varied else values[good]

    def of(group: h5py.Group, level: float) -> tuple[Floats, Floats]:
        flux, error = (reading.numbers(group, what, name)[good] / level for what in ("flux", "error"))
        return flux, np.nan_to_num(error)

    flux, error = of(line, levels[lines[0]][1])
    behind = of(spectra[sources[flat[0]]], levels[flat[0]][1]) if flat else (None, None)
    edges = reading.numbers(line, "edges", name).astype(float)
    if flat and not np.array_equal(edges, reading.numbers(spectra[sources[flat[0]]], "edges", name)):
        raise ArgumentError(f"{name}: the spectra of line and continuum need the same range and bins")
    wavelength0 = float(reading.numbers(line, "wavelength0", name)[good][0])
    return Models(name, parameters, parts, edges, wavelength0, flux, error, behind[0], behind[1], text)


def _refuse(parameters: list[Parameter], is_wrong: Callable[[str], bool], name: str, why: str) -> None:
    """What is read of one configuration must hold for all models."""
    for p in parameters:
        if is_wrong(p.key):
            raise ArgumentError(f"{name} varies {p.key}: {why}")


def _parameters(file: h5py.File, text: str, name: str) -> list[Parameter]:
    found = []
    keys = resolved.read(text).get("keys", {})
    if not keys:
        raise ArgumentError(f"{name}: a fit needs models in ranges (design: sobol, latin or grid), not a list")
    for key, given in keys.items():
        if "words" in file["parameters"][key].attrs:
            raise ArgumentError(f"{name} varies {key}, whose values are words: a fit needs numbers; make a sweep for each word")
        if not isinstance(given, dict) or "range" not in given:
            values, given = reading.numbers(file["parameters"], key, name), {}
            if len(np.unique(values)) < 2:
                continue
            low, high = float(np.nanmin(values)), float(np.nanmax(values))
        else:
            ends = [read(end) for end in given["range"]]
            if None in ends:
                raise ResultError(f"{name}: the range of {key} cannot be read")
            unit = str(reading.attribute(file["parameters"][key], "units", ""))
            low, high = (in_unit(end, unit, key) if unit else float(end) for end in given["range"])
        found.append(Parameter(key, str(reading.attribute(file["parameters"][key], "units", "")), low, high, given.get("spacing") == "log"))
    if not found:
        raise ArgumentError(f"{name}: the sweep varied nothing")
    return found


def levels_of(config: str, name: str) -> dict[str, tuple[float, float]]:
    """Of each generator by its name: width of its light [km/s], infinite of a continuum, and its luminosity, of a continuum
    per km/s [erg/s]."""
    found = {}
    for number, source in enumerate(resolved.generators_of(config)):
        key = source.get("name") or str(number)
        luminosity = read(source.get("luminosity", "1 erg/s"))
        spectrum = source["spectrum"] if isinstance(source["spectrum"], dict) else {"type": source["spectrum"]}
        if spectrum["type"] == "line_and_continuum" or luminosity is None:
            raise ArgumentError(f"{name}: generator {key}: a fit needs a generator for the line and another one for the continuum")
        if spectrum["type"] == "continuum":
            low, high = (in_unit(end, "km/s", "range") for end in spectrum["range"])
            found[key] = (np.inf, luminosity[0] / (high - low))
        else:
            found[key] = (0.0, luminosity[0])
    return found


def equivalent_width(angstrom: float, wavelength0: float) -> float:
    """In km/s."""
    return angstrom / wavelength0 * C_KMS
