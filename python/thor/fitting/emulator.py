"""Spectra between the models of a sweep, and how wrong they are."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from .. import reading, resolved
from ..errors import ArgumentError, ResultError
from ..line import C_KMS, Floats
from ..postprocess import OF_LIGHT, left_out
from ..quantity import in_unit, read
from ..replacing import replacing
from .models import Models, Parameter, Photons
from .network import Network, Single, train

#: The resolution, as lambda over its full width at half maximum, at which errors are stated, and the pixels [Angstrom at rest].
RESOLUTION, PIXEL = 6000.0, 0.2

_FORMAT = 2
_HIDDEN = (384, 384, 384, 384)
_WAVES = 3  # sines and cosines of each parameter, beside itself
_STEPS = 12000
_LEAST_LIGHT = 0.003  # a model of which less escapes has too few photons to learn from
_LEAST_MODELS, _LEAST_TESTS = 50, 20
_COARSE = 0.05, 0.15  # largest error over the peak, in the median and of 95 in 100, above which a warning is due
_MODES, _MODES_BEHIND, _MOST_SPREAD = 12, 4, 1.5  # shapes of errors, of the line and of the continuum
_PEAK_WEIGHT = 3.0
_WIDTH, _BRIGHT = 60.0, 50.0  # equivalent width [Angstrom] and S/N of spectra whose bias is measured
_FOLDS, _LEAST_REST = 5, 0.1
_NOW_AND_THEN = 30.0  # seconds
_STIFFNESS = (0.01, 0.1, 1.0, 10.0)  # of the trend of errors
_ALBEDO = 0.32  # of dust, unless the configuration says it
_LEFT_OUT, _WINDOW = 0.01, 50.0  # of the line's light; km/s of a continuum that have a photon at least
_SPECTRA, _DRAWS = 2**17, (4, 32)  # that are made of photons, and of each model


@dataclass
class Part:
    """The light of one source: a network for its spectrum (that of the line in units of its peak, whose logarithm is the last
    number); and its errors in the same units: shapes (rows; the sum of their squares is a variance), the variance
    of what is left of each bin, the coefficients of the logarithm by which both are multiplied, quadratic in the parameters, and
    the standard deviation of this logarithm."""

    network: Network
    shapes: Floats
    rest: Floats
    trend: Floats
    spread: float

    def scale(self, parts: Floats) -> Floats:
        """By which the shapes are multiplied, and by whose square the variance of the rest is."""
        found: Floats = np.exp(0.5 * np.clip(_quadratic(parts) @ self.trend, -6.0, 6.0))
        return found


@dataclass
class Emulator:
    """Spectra of any parameters within a sweep's ranges.

    ``line`` gives the light of the line over what was emitted, ``continuum`` that of a continuum over its level.
    """

    parameters: list[Parameter]
    edges: Floats
    wavelength0: float
    line: Part
    continuum: Part | None
    configuration: str
    source: str = ""
    error: Floats | None = None  # of each held-out model: the largest, over its peak; of its continuum, over its level
    continuum_error: Floats | None = None
    bias: Floats | None = None  # covariance of what fits are wrong by: parts of the parameters, ln of the equivalent width, km/s

    def spectra(self, parts: Floats) -> tuple[Floats, Floats | None]:
        """Line [per km/s] and continuum, a row for each row of ``parts`` (parameters as parts of their ranges)."""
        x = inputs(parts)
        found = self.line.network(x).astype(np.float64)
        line = found[:, :-1] * np.exp(found[:, -1:])
        flat: Floats | None = None if self.continuum is None else self.continuum.network(x).astype(np.float64)
        return line, flat

    @classmethod
    def of(cls, models: Models | Photons, tests: Models, *, steps: int = _STEPS, hidden: tuple[int, ...] = _HIDDEN, seed: int = 1, tell: Callable[[str], None] = lambda text: None) -> Emulator:
        """Learns the spectra of a sweep; its errors are those of other models, with more photons, that it never saw. Of raw photons
        it makes spectra with all widths of the source and all dust within the ranges that the tests have."""
        if steps < 1:
            raise ArgumentError(f"{steps} steps of learning are too few")
        _require_alike(models, tests)
        bright = int(np.sum(np.sum(tests.line * np.diff(tests.edges), axis=1) > _LEAST_LIGHT))
        if bright < _LEAST_TESTS:
            raise ArgumentError(f"{tests.path}: {bright} tests have light to measure errors with; at least {_LEAST_TESTS} are needed")
        parts, line, flat = _of_photons(models, tests, seed) if isinstance(models, Photons) else _of_models(models, tests)
        dv = np.diff(tests.edges)
        smooth = smoothing(tests.edges, C_KMS / RESOLUTION)
        enough = np.sum(line * dv, axis=1) > _LEAST_LIGHT
        distinct = int(np.sum(np.any(enough.reshape(len(models), -1), axis=1)))
        if distinct < _LEAST_MODELS:
            raise ArgumentError(f"{models.path}: {distinct} models have light to learn from; at least {_LEAST_MODELS} are needed")
        peak = np.maximum(_peaks(line, smooth), 1e-30)
        weight = _PEAK_WEIGHT / np.sqrt(len(dv))
        wanted = np.column_stack([line / peak[:, None], np.log(peak) / weight]).astype(np.float32)[enough]
        clock = _Clock(tell, steps * (1 if flat is None else 2))
        x = inputs(parts)
        network = train(x[enough], wanted, hidden=hidden, steps=steps, seed=seed, tell=clock)
        network.weights[-1][:, -1] *= np.float32(weight)
        network.offsets[-1][-1] *= np.float32(weight)
        behind = None if flat is None else train(x, flat, hidden=hidden, steps=steps, seed=seed + 1, tell=clock)
        none = np.zeros((0, len(dv))), np.zeros(len(dv)), np.zeros(1), 0.0
        new = cls(tests.parameters, tests.edges, tests.wavelength0, Part(network, *none),
                  None if behind is None else Part(behind, *none), tests.configuration, models.path)  # fmt: skip
        new._measure(tests, smooth)
        return new

    def _measure(self, tests: Models, smooth: Floats) -> None:
        """Errors against models that were not learnt from, without the Monte Carlo noise of these."""
        dv = np.diff(self.edges)
        good = np.sum(tests.line * dv, axis=1) > _LEAST_LIGHT
        line, flat = self.spectra(tests.parts)
        peak = _peaks(tests.line, smooth)
        self.line = Part(self.line.network, *_errors(
            (line - tests.line)[good] / peak[good, None], tests.line_error[good] / peak[good, None], tests.parts[good], smooth, _MODES))  # fmt: skip
        if self.continuum is not None and flat is not None and tests.continuum is not None and tests.continuum_error is not None:
            self.continuum = Part(self.continuum.network, *_errors(flat - tests.continuum, tests.continuum_error, tests.parts, smooth, _MODES_BEHIND))
        self.error = largest_errors(self.edges, self.wavelength0, line[good], tests.line[good])
        if flat is not None and tests.continuum is not None:
            self.continuum_error = largest_errors(self.edges, self.wavelength0, flat, tests.continuum)
        self._measure_bias(tests, smooth, good)

    def _measure_bias(self, tests: Models, smooth: Floats, good: npt.NDArray[np.bool_]) -> None:
        """An error along the change of a spectrum with a parameter is a wrong parameter. Shapes that all models share do not say how
        large it is: it is measured, as the step of Gauss and Newton from the true parameters of each test to those that its
        spectrum would be given, and what the shapes expect of it is subtracted."""
        step = max(round(C_KMS / RESOLUTION / float(np.diff(self.edges)[0])), 1)
        width = _WIDTH / self.wavelength0 * C_KMS
        dims = len(self.parameters)

        def seen(parts: Floats) -> tuple[Floats, Floats]:
            line, flat = self.spectra(parts)
            return (line @ smooth.T)[:, ::step] * width, (np.zeros_like(line) if flat is None else flat @ smooth.T)[:, ::step]

        parts = np.clip(tests.parts[good], 0.02, 0.98)
        line, flat = seen(tests.parts[good])
        true = (tests.line[good] @ smooth.T)[:, ::step] * width
        noise = width**2 * tests.line_error[good] ** 2
        if tests.continuum is not None and tests.continuum_error is not None:
            true = true + (tests.continuum[good] @ smooth.T)[:, ::step]
            noise = noise + tests.continuum_error[good] ** 2
        slopes = []
        for i in range(dims):
            moved = np.zeros(dims)
            moved[i] = 0.01
            (a, b), (c, d) = seen(parts + moved), seen(parts - moved)
            slopes.append((a + b - c - d) / 0.02)
        slopes += [line, np.gradient(line + flat, step * float(np.diff(self.edges)[0]), axis=1)]
        jacobian = np.stack(slopes, axis=1)
        peak = np.max(true, axis=1)
        prior = np.diag([12.0] * dims + [1.0 / 3.0**2, 1.0 / 200.0**2])
        line_scale = self.line.scale(tests.parts[good]) * np.exp(self.line.network(inputs(tests.parts[good]))[:, -1].astype(float)) * width
        excess = np.zeros((dims + 2, dims + 2))
        for i in range(len(true)):
            part = self.line
            own = line_scale[i] ** 2 * (part.shapes[:, ::step].T @ part.shapes[:, ::step] + np.diag(part.rest[::step]))
            if self.continuum is not None:
                behind, scale = self.continuum, float(self.continuum.scale(tests.parts[good][i : i + 1])[0])
                own = own + scale**2 * (behind.shapes[:, ::step].T @ behind.shapes[:, ::step] + np.diag(behind.rest[::step]))
            chance = ((smooth * noise[i]) @ smooth.T)[::step, ::step]
            j = jacobian[i]
            whole = np.linalg.solve(own + np.eye(len(own)) * (peak[i] / _BRIGHT) ** 2, j.T)
            gain = np.linalg.solve(j @ whole + prior, whole.T)
            wrong = gain @ (true[i] - (line + flat)[i])
            excess += (np.outer(wrong, wrong) - gain @ (own + chance) @ gain.T) / len(true)
        values, vectors = np.linalg.eigh(excess)
        self.bias = (vectors * np.maximum(values, 0.0)) @ vectors.T

    def describe(self) -> str:
        """What it can, in a line."""
        if self.error is None:
            return "emulator without tests"
        said = "largest error, over the peak, of {} models that it never saw, at R = {:.0f} in pixels of {} Angstrom: {}".format(len(self.error), RESOLUTION, PIXEL, _quantiles(self.error))
        return said if self.continuum_error is None else f"{said}; of the continuum {_quantiles(self.continuum_error)}"

    @property
    def is_coarse(self) -> bool:
        """Whether intervals of fits will be those of the emulator more than those of a good spectrum."""
        return self.error is not None and bool(np.any(np.quantile(self.error, [0.5, 0.95]) > _COARSE))

    def save(self, path: str | os.PathLike[str]) -> None:
        with replacing(path) as partial, h5py.File(partial, "w") as file:
            file.attrs.update({"kind": "emulator", "emulator_version": _FORMAT, "wavelength0": self.wavelength0, "sweep": self.configuration, "source": self.source,
                               "parts": "line" if self.continuum is None else "line continuum"})  # fmt: skip
            file["edges"] = self.edges
            for key, values in (("error", self.error), ("continuum_error", self.continuum_error), ("bias", self.bias)):
                if values is not None:
                    file[key] = values
            for number, p in enumerate(self.parameters):
                group = file.create_group(f"parameters/{number:02d}")
                group.attrs.update({"key": p.key, "units": p.unit, "low": p.low, "high": p.high, "log": p.log})
            for name, part in (("line", self.line), ("continuum", self.continuum)):
                if part is None:
                    continue
                group = file.create_group(name)
                group["shapes"], group["rest"], group["trend"], group["spread"] = part.shapes, part.rest, part.trend, part.spread
                for layer, (w, b) in enumerate(zip(part.network.weights, part.network.offsets)):
                    group[f"weights{layer}"], group[f"offsets{layer}"] = w, b

    def _require_whole(self, has_continuum: bool) -> None:
        """That its parts fit each other: raises a ValueError."""
        bins, dims = len(self.edges) - 1, len(self.parameters)
        if bins < 1 or dims < 1 or not np.all(np.diff(self.edges) > 0) or has_continuum != (self.continuum is not None):
            raise ValueError("parts of it are missing")
        for part, last in ((self.line, bins + 1), (self.continuum, bins)):
            if part is None:
                continue
            sizes = [w.shape for w in part.network.weights]
            chained = all(a[1] == b[0] for a, b in zip(sizes, sizes[1:])) and all(o.shape == w[1:] for o, w in zip(part.network.offsets, sizes))
            if not sizes or sizes[0][0] != inputs(np.zeros((1, dims))).shape[1] or sizes[-1][1] != last or not chained or part.shapes.shape[1:] != (bins,) or part.rest.shape != (bins,) or part.trend.shape != _quadratic(np.zeros((1, dims))).shape[1:]:
                raise ValueError("its parts do not fit each other")
            arrays: list[Any] = [*part.network.weights, *part.network.offsets, part.shapes, part.rest, part.trend, part.spread]
            if not all(np.all(np.isfinite(values)) for values in arrays):
                raise ValueError("it has values that are not numbers")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Emulator:
        name = str(path)
        if not os.path.exists(path):
            raise ResultError(f"{name}: there is no such file")
        try:
            with h5py.File(path) as file:
                if reading.attribute(file, "kind") == "sweep":
                    raise ResultError(f"{name}: it is a sweep: make an emulator of it: python3 -m thor emulate {name} --test TESTS.h5 -o shells.emulator")
                if file.attrs.get("kind") != "emulator" or file.attrs.get("emulator_version") != _FORMAT:
                    raise ResultError(f"{name}: not an emulator of this version of thor: make it again with python3 -m thor emulate")
                about = str(file.attrs["parts"]).split()
                parts = {key: _part(file[key]) for key in ("line", "continuum") if key in file}
                keys = [Parameter(str(g.attrs["key"]), str(g.attrs["units"]), float(g.attrs["low"]), float(g.attrs["high"]), bool(g.attrs["log"])) for g in file["parameters"].values()]
                errors = [file[key][()] if key in file else None for key in ("error", "continuum_error", "bias")]
                found = cls(keys, file["edges"][()], float(file.attrs["wavelength0"]), parts["line"], parts.get("continuum"), str(file.attrs["sweep"]), str(file.attrs["source"]), *errors)
            found._require_whole("continuum" in about)
            return found
        except (OSError, KeyError, ValueError, TypeError, RuntimeError, IndexError) as error:
            if isinstance(error, ResultError):
                raise
            raise ResultError(f"{name}: not an emulator, or damaged: {error}") from error


def _quantiles(errors: Floats) -> str:
    middle, most = np.quantile(errors, [0.5, 0.95])
    return f"{100 * middle:.1f} % in the median, {100 * most:.1f} % of 95 in 100"


def smoothing(edges: Floats, width: Floats | float) -> Floats:
    """The matrix that convolves a spectrum with a Gaussian of a full width at half maximum, in the units of the edges."""
    centres = 0.5 * (edges[1:] + edges[:-1])
    sigma = np.broadcast_to(np.asarray(width, float) / np.sqrt(8 * np.log(2)), centres.shape)
    kernel = np.exp(-0.5 * ((centres[:, None] - centres[None, :]) / np.maximum(sigma[:, None], 1e-9)) ** 2) + np.eye(len(centres)) * 1e-300
    found: Floats = kernel / kernel.sum(axis=1, keepdims=True)
    return found


def largest_errors(edges: Floats, wavelength0: float, one: Floats, other: Floats) -> Floats:
    """The largest difference over the peak of the other spectrum, both as seen at the stated resolution and in its pixels."""
    smooth = smoothing(edges, C_KMS / RESOLUTION)
    width = PIXEL / wavelength0 * C_KMS
    ends = np.arange(edges[0], edges[-1], width)

    def seen(spectra: Floats) -> Floats:
        total = np.concatenate([np.zeros((len(spectra), 1)), np.cumsum(spectra @ smooth.T * np.diff(edges), axis=1)], axis=1)
        found: Floats = np.diff(np.stack([np.interp(ends, edges, row) for row in total]), axis=1) / width
        return found

    a, b = seen(one), seen(other)
    found: Floats = np.max(np.abs(a - b), axis=1) / np.max(b, axis=1)
    return found


def inputs(parts: Floats) -> Single:
    """Of the networks: waves let them follow a peak that moves by many times its width."""
    waves = [np.pi * m * parts for m in range(1, _WAVES + 1)]
    found: Single = np.concatenate([2.0 * parts - 1.0, *map(np.sin, waves), *map(np.cos, waves)], axis=1).astype(np.float32)
    return found


def _quadratic(parts: Floats) -> Floats:
    x = 2.0 * parts - 1.0
    first, second = np.triu_indices(x.shape[1])
    return np.column_stack([np.ones(len(x)), x, x[:, first] * x[:, second]])


def _peaks(spectra: Floats, smooth: Floats) -> Floats:
    found: Floats = np.max(spectra @ smooth.T, axis=1)
    return found


def _errors(difference: Floats, noise: Floats, parts: Floats, smooth: Floats, count: int) -> tuple[Floats, Floats, Floats, float]:
    """Shapes of the errors, the variance of the rest, the trend of its logarithm and the spread around that (docs/fits.md)."""
    seen = difference @ smooth.T
    variance, expected = np.mean(seen**2, axis=1), np.mean(noise**2 @ (smooth**2).T, axis=1)
    measured = np.maximum(variance - expected, 0.1 * variance)
    trend, unseen_trend = _trend(_quadratic(parts), np.log(measured))
    left = np.log(measured) - float(np.mean(np.log(measured))) - unseen_trend
    scale = np.exp(0.5 * np.clip(unseen_trend, -6.0, 6.0))
    scaled, own = seen / scale[:, None], noise**2 / scale[:, None] ** 2
    covariance = _covariance(scaled, own, smooth)
    values, vectors = _largest(covariance, count)
    # Along each shape the variance of models that it was not made of: of those that it was made of it is less by chance elsewhere.
    folds = np.arange(len(scaled)) % _FOLDS
    unseen = np.zeros(count)
    for fold in range(_FOLDS):
        there = folds == fold
        _, others = _largest(_covariance(scaled[~there], own[~there], smooth), count)
        unseen += np.einsum("ik,ij,jk->k", others, _covariance(scaled[there], own[there], smooth), others) * np.mean(there)
    values = np.minimum(values, np.maximum(unseen, 0.0))
    # Of a model the variance is known from as many independent numbers as there are shapes of equal size.
    numbers = max(float(np.sum(values) ** 2 / max(np.sum(values**2), 1e-300)), 1.0)
    spread = float(np.sqrt(np.clip(np.var(left) - 2.0 / numbers, 0.0, _MOST_SPREAD**2)))
    factors, weights = mixture(spread)
    whole = float(weights @ factors)
    shapes = (np.sqrt(values / whole) * vectors).T
    diagonal = np.maximum(np.diag(covariance), 0.0) / whole
    return shapes, np.maximum(diagonal - np.sum(shapes**2, axis=0), _LEAST_REST * diagonal), trend, spread


def _trend(design: Floats, logs: Floats) -> tuple[Floats, Floats]:
    """Coefficients of logarithms, without their mean, as stiff as models ask for that they were not fitted to; and for each model
    what the others say of it."""
    folds = np.arange(len(design)) % _FOLDS

    def solve(rows: npt.NDArray[np.bool_], stiffness: float) -> Floats:
        ridge = stiffness * np.sum(rows) * np.eye(design.shape[1])
        ridge[0, 0] = 0.0
        return np.asarray(np.linalg.solve(design[rows].T @ design[rows] + ridge, design[rows].T @ logs[rows]))

    best: tuple[float, float, Floats] | None = None
    for stiffness in _STIFFNESS:
        found = np.empty(len(logs))
        for fold in range(_FOLDS):
            found[folds == fold] = design[folds == fold] @ solve(folds != fold, stiffness)
        wrong = float(np.mean((logs - found) ** 2))
        if best is None or wrong < best[0]:
            best = wrong, stiffness, found
    assert best is not None
    trend = solve(np.ones(len(logs), bool), best[1])
    mean = float(np.mean(best[2]))
    trend[0] -= mean
    return trend, best[2] - mean


def _covariance(scaled: Floats, own: Floats, smooth: Floats) -> Floats:
    """Of errors, without the noise of the models that they were measured with."""
    found: Floats = scaled.T @ scaled / len(scaled) - (smooth * np.mean(own, axis=0)) @ smooth.T
    return found


def _largest(covariance: Floats, count: int) -> tuple[Floats, Floats]:
    values, vectors = np.linalg.eigh(covariance)
    return np.maximum(values[::-1][:count], 0.0), vectors[:, ::-1][:, :count]


def mixture(spread: float) -> tuple[Floats, Floats]:
    """Factors of the variance and their weights: a Gaussian of its logarithm, by three nodes of Gauss and Hermite."""
    nodes = np.sqrt(3.0) * np.array([-1.0, 0.0, 1.0])
    return np.exp(spread * nodes), np.array([1.0, 4.0, 1.0]) / 6.0


def _require_alike(models: Models | Photons, tests: Models) -> None:
    given, wanted = {p.key: p for p in models.parameters}, {p.key: p for p in tests.parameters}
    afterwards = set(_afterwards(tests)) if isinstance(models, Photons) else set()
    if set(given) != set(wanted) - afterwards:
        raise ArgumentError(f"{tests.path} varies other keys than {models.path}: {', '.join(sorted(set(given) ^ (set(wanted) - afterwards)))}")
    if any(not np.allclose((p.low, p.high, p.log), (wanted[k].low, wanted[k].high, wanted[k].log), rtol=1e-9) for k, p in given.items()):
        raise ArgumentError(f"{tests.path} has other ranges than {models.path}")
    if isinstance(models, Models) and (not np.array_equal(models.edges, tests.edges) or (models.continuum is None) != (tests.continuum is None)):
        raise ArgumentError(f"{tests.path} has other spectra than {models.path}")
    mine, theirs = (_gas(m.configuration, wanted) for m in (models, tests))
    if mine != theirs:
        differ = sorted(key for key in {*mine, *theirs} if mine.get(key) != theirs.get(key))
        raise ArgumentError(f"{tests.path} has another gas than {models.path}: {', '.join(differ)}")
    both = [key for key in wanted if key in given]
    mine_, theirs_ = (m.parts[:, [[p.key for p in m.parameters].index(key) for key in both]] for m in (models, tests))
    known = {row.tobytes() for row in mine_}
    if any(row.tobytes() in known for row in theirs_):
        raise ArgumentError(f"{tests.path} has models of {models.path}: errors are measured with others; give it another seed")


def _gas(configuration: str, varied: Iterable[str]) -> dict[str, str]:
    """What light depends on in a sweep's model, without what is varied, dust, and the spectra of the sources."""
    found: dict[str, str] = {}

    def walk(node: Any, path: str) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                walk(value, f"{path}.{key}" if path else key)
        elif path not in varied and not path.startswith("dataset.dust"):
            found[path] = str(node)

    text = resolved.read(configuration)
    walk({key: text.get(key) for key in ("line", "line_list", "dataset", "physics", "numerics", "limits")}, "")
    places = {str(sorted((k, str(v)) for k, v in source.items() if k not in OF_LIGHT)) for source in resolved.generators_of(configuration)}
    return {**found, "generators (place, direction or velocity)": str(sorted(places))}


def _afterwards(tests: Models) -> list[str]:
    """Keys of the tests that reweighting stands for: width of the line and dust."""
    return [p.key for p in tests.parameters if p.key == "dataset.dust.tau" or p.key.endswith("spectrum.sigma")]


def _of_models(models: Models, tests: Models) -> tuple[Floats, Floats, Floats | None]:
    keys = [p.key for p in models.parameters]
    return models.parts[:, [keys.index(p.key) for p in tests.parameters]], models.line, models.continuum


def _of_photons(photons: Photons, tests: Models, seed: int) -> tuple[Floats, Floats, Floats | None]:
    """Spectra of the photons with random widths and dust, several of each model."""
    rng = np.random.default_rng(seed)
    draws = int(np.clip(_SPECTRA // len(photons), *_DRAWS))
    dust, width, between = _dust(tests), _width(tests), _continuum(tests)
    _require_light(photons, tests, width)
    column = [next((j for j, q in enumerate(photons.parameters) if q.key == p.key), -1) for p in tests.parameters]
    parts = rng.random((len(photons) * draws, len(tests.parameters)))
    line, flat = (np.empty((len(parts), len(tests.edges) - 1), np.float32) for _ in range(2))  # half the memory
    for row in range(len(parts)):
        model = row // draws
        for i, j in enumerate(column):
            if j >= 0:
                parts[row, i] = photons.parts[model, j]
        line[row], flat[row] = photons.spectra(model, tests.edges, width(parts[row]), dust(parts[row]), between)
    return parts, np.asarray(line), np.asarray(flat)


@dataclass
class _Reading:
    """A number that follows from a row of parameters: one of them, in another unit, or the same for all."""

    row: int
    parameter: Parameter | None
    factor: float

    def __call__(self, parts: Floats) -> float:
        return self.factor if self.parameter is None else self.factor * float(self.parameter.value_of(parts[self.row]))


def _width(tests: Models) -> _Reading:
    """The standard deviation of the line of the tests [km/s]."""
    for i, p in enumerate(tests.parameters):
        if p.key.endswith("spectrum.sigma"):
            source = resolved.generators_of(tests.configuration)[int(p.key.split(".")[1])]
            offset = read(str(source["spectrum"].get("offset", "0 km/s")))
            if source["spectrum"].get("type") != "gaussian" or offset is None or offset[0] != 0.0:
                raise ArgumentError(f"{tests.path}: with raw photons its line is a Gaussian without an offset")
            return _Reading(i, p, in_unit(f"1 {p.unit}", "km/s", p.key))
    raise ArgumentError(f"{tests.path}: with raw photons the tests must vary the width of the line, generators.0.spectrum.sigma")


def _dust(tests: Models) -> _Reading:
    """The optical depth of absorption by the dust of the tests."""
    dust = resolved.read(tests.configuration).get("dataset", {}).get("dust")
    given: dict[str, Any] = dust if isinstance(dust, dict) else {}
    varied = {p.key: (i, p) for i, p in enumerate(tests.parameters) if p.key.startswith("dataset.dust.")}
    if (others := sorted(({f"dataset.dust.{key}" for key in given} | set(varied)) - {"dataset.dust.tau", "dataset.dust.albedo", "dataset.dust.asymmetry"})) or "dataset.dust.albedo" in varied:
        raise ArgumentError(f"{tests.path}: with raw photons the dust has an optical depth and a fixed albedo (dataset.dust.tau, .albedo), not {', '.join(others or ['a varied albedo'])}")
    absorbing = 1.0 - float(given.get("albedo", _ALBEDO))
    if "dataset.dust.tau" in varied:
        return _Reading(*varied["dataset.dust.tau"], absorbing)
    return _Reading(0, None, absorbing * float(given.get("tau", 0.0)))


def _continuum(tests: Models) -> tuple[float, float]:
    """The velocities between which it is emitted [km/s]."""
    ranges = [source["spectrum"]["range"] for source in resolved.generators_of(tests.configuration) if "range" in source["spectrum"]]
    low, high = (in_unit(end, "km/s", "range") for end in ranges[0]) if ranges else (-np.inf, np.inf)
    return float(low), float(high)


def _require_light(photons: Photons, tests: Models, width: _Reading) -> None:
    """Where the sources of the tests have light there must be photons to stand for it."""
    p = width.parameter
    assert p is not None
    for sigma in (width.factor * p.low, width.factor * p.high):
        missing = left_out(photons.number, sigma)
        if missing > _LEFT_OUT:
            raise ArgumentError(f"{photons.path}: for sources of {sigma:.4g} km/s, as {tests.path} has, {100 * missing:.0f} % of the light is at velocities that next to no photon was emitted with: add a generator as wide as that")
    if tests.continuum is not None:
        v = 0.5 * (tests.edges[1:] + tests.edges[:-1])
        empty = v[photons.number(v) * _WINDOW < 1.0]
        if len(empty):
            raise ArgumentError(f"{photons.path}: next to no photon was emitted at {empty[np.argmax(np.abs(empty))]:.0f} km/s, where the continuum of {tests.path} has light: add a generator of a continuum over that range")


def _part(group: Any) -> Part:
    layers = sum(key.startswith("weights") for key in group)
    network = Network([group[f"weights{i}"][()] for i in range(layers)], [group[f"offsets{i}"][()] for i in range(layers)])
    return Part(network, group["shapes"][()], group["rest"][()], group["trend"][()], float(group["spread"][()]))


class _Clock:
    """Steps of all networks, told about once in a second."""

    def __init__(self, tell: Callable[[str], None], total: int):
        self._tell, self._total, self._done, self._start, self._last = tell, total, 0, time.monotonic(), 0.0

    def __call__(self, step: int) -> None:
        self._done += 1
        now = time.monotonic() - self._start
        if now - self._last > 1.0 or self._done == self._total:
            self._last = now
            self._tell(f"learning: {100 * self._done / self._total:.0f} %  {now * (self._total / self._done - 1):.0f} s left")


_said = [0.0]


def progress(text: str) -> None:
    """On a terminal a line that is rewritten, otherwise one now and then."""
    if sys.stderr is None:
        return
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
    elif text and time.monotonic() - _said[0] > _NOW_AND_THEN:
        _said[0] = time.monotonic()
        print(f"thor: {text}", file=sys.stderr, flush=True)
