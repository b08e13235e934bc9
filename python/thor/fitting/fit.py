"""The fit of models to an observed spectrum."""

from __future__ import annotations

import functools
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from ..binary import find_binary
from ..errors import ArgumentError, Error, FitWarning, optional
from ..line import Floats
from ..replacing import replacing
from .emulator import Emulator
from .likelihood import REDSHIFT, Likelihood
from .observation import Observation, read
from .rerun import Check, best_model, run_again
from .sampling import Chains, Mode, chains, cool_twice, modes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_POPULATION = 2000
_SHARE, _FAR, _WRONG = 0.1, 2.5, 0.2  # of a mode, uncertain; standard deviations of a prior; of the peak, in a run of thor
_LEAST_ACCEPTED, _LEAST_STEPS = 0.02, 8
_CONVERGED = 1.05
_INDEPENDENT = 50  # times the autocorrelation
_EDGE = 0.02  # part of a range
_MISFIT = 1e-3


@dataclass
class Fit:
    """What the spectrum says of each parameter.

        fit = thor.fit("spectrum.txt", "shells.emulator", lsf=6000, redshift=(3.1, 0.002))
        print(fit)                       # median and 68 % interval of each parameter, modes, warnings
        fit.samples["equivalent_width"]  # one number for each sample of the posterior
        fit.plot("report.pdf")
        fit.save("fit.h5")

    ``modes`` are the separate regions of the posterior, the most probable first; ``checks`` compare the best parameters of each
    with a new run of thor. ``evidence`` is the logarithm of the integral of likelihood times prior.
    """

    likelihood: Likelihood
    parts: Floats  # of the emulator's parameters
    logs: Floats
    chains: Chains | None
    modes: list[Mode]
    evidence: float
    checks: list[Check]
    best_configuration: str
    seconds: float
    warnings: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return self.likelihood.names

    @functools.cached_property
    def drawn(self) -> Floats:
        """Samples as parts of the ranges, with the bias of the emulator."""
        return self.likelihood.blur(self.parts, 1)

    @property
    def samples(self) -> dict[str, Floats]:
        """Of the posterior, by the parameter, in its unit, with the bias of the emulator."""
        values = self.likelihood.values(self.drawn)
        return {name: values[:, i] for i, name in enumerate(self.names)}

    def interval(self, name: str, share: float = 0.68) -> tuple[float, float, float]:
        """Median, and the ends of the interval with equal shares of the samples beyond each."""
        found = np.quantile(self.samples[name], [0.5, 0.5 - share / 2, 0.5 + share / 2])
        return float(found[0]), float(found[1]), float(found[2])

    @property
    def best(self) -> dict[str, float]:
        """The most probable parameters."""
        best = max(self.modes, key=lambda mode: mode.log).best
        return dict(zip(self.names, self.likelihood.values(best[None, :])[0]))

    @property
    def chi2(self) -> float:
        """Of the best model, with the errors of the observation alone."""
        best = max(self.modes, key=lambda mode: mode.log).best
        return self.likelihood.chi2(self.likelihood.spectra(best)[0][0])

    def __str__(self) -> str:
        seen = self.likelihood.observation
        lines = [f"fit of {seen.name}: {len(seen.flux)} pixels, {len(self.names)} parameters, chi2 {self.chi2:.1f}, ln evidence {self.evidence:.1f}"]
        width = max(len(name) for name in self.names)
        for i, name in enumerate(self.names):
            middle, low, high = self.interval(name)
            unit = self.likelihood.priors[i].parameter.unit
            lines.append(f"  {name:{width}}  {_short(middle, high - low)}  +{_short(high - middle, high - low)} -{_short(middle - low, high - low)}  {unit}")
        for number, mode in enumerate(self.modes, 1):
            values = self.likelihood.values(mode.best[None, :])[0]
            lines.append(f"  mode {number}: {100 * mode.share:.0f} +- {100 * mode.share_error:.0f} %, ln posterior {mode.log:.1f}: " + ", ".join(f"{n.split('.')[-1]} {v:.4g}" for n, v in zip(self.names, values)))
        for number, check in enumerate(self.checks, 1):
            lines.append(f"  run of mode {number}: chi2 {check.chi2:.1f} (emulator {check.emulated_chi2:.1f}, to grow by {check.expected[0]:.1f} +- {check.expected[1]:.1f}); they differ by at most {100 * check.largest:.1f} % of the peak")
        lines += [f"  warning: {text}" for text in self.warnings]
        return "\n".join(lines)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """A page: spectrum and residuals, parameters, and each pair of them; written to ``path`` (.png, .pdf) if there is one."""
        from .report import draw

        return draw(self, path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Samples, chains, modes and what they were found with."""
        with replacing(path) as partial, h5py.File(partial, "w") as file:
            seen = self.likelihood.observation
            file.attrs.update({"kind": "fit", "evidence": self.evidence, "chi2": self.chi2, "seconds": self.seconds,
                               "warnings": "\n".join(self.warnings), "emulator": self.likelihood.emulator.source, "best_model": self.best_configuration})  # fmt: skip
            for i, (name, values) in enumerate(self.samples.items()):
                data = file.create_dataset(f"samples/{name}", data=values, compression="gzip")
                p = self.likelihood.priors[i].parameter
                data.attrs.update({"units": p.unit, "low": p.low, "high": p.high, "log": p.log})
                if self.chains is not None:
                    data.attrs.update({"r_hat": self.chains.r_hat[i], "autocorrelation": self.chains.autocorrelation[i]})
            file.create_dataset("samples_log_posterior", data=self.logs, compression="gzip")
            if self.chains is not None:
                shape = self.chains.parts.shape
                values = self.likelihood.values(self.chains.parts.reshape(-1, shape[2])).reshape(shape)
                file.create_dataset("chains", data=values.astype(np.float32), compression="gzip").attrs["parameters"] = "\n".join(self.names)
            for number, mode in enumerate(self.modes, 1):
                group = file.create_group(f"modes/{number}")
                group["best"] = self.likelihood.values(mode.best[None, :])[0]
                group.attrs.update({"share": mode.share, "share_error": mode.share_error, "log_posterior": mode.log})
            for key, data in (("low", seen.low), ("high", seen.high), ("flux", seen.flux), ("error", seen.error), ("model", self.checks[0].emulated if self.checks else self.likelihood.spectra(self.modes[0].best)[0][0])):
                file[f"spectrum/{key}"] = data


def fit(
    spectrum: Observation | str | os.PathLike[str],
    model: Emulator | str | os.PathLike[str],
    *,
    redshift: float | tuple[float, float] | str = 0.0,
    redshift_range: tuple[float, float] | None = None,
    lsf: float | str | os.PathLike[str] = 0.0,
    unit: str | None = None,
    air: bool = False,
    mask: Sequence[tuple[float, float]] = (),
    covariance: str | os.PathLike[str] | None = None,
    igm: str | os.PathLike[str] | None = None,
    continuum: bool = True,
    equivalent_width: tuple[float, float] = (1.0, 1000.0),
    priors: Sequence[tuple[str, float, float]] = (),
    walkers: int = 300,
    steps: int = 3000,
    burn: int = 300,
    seed: int = 1,
    rerun: int = 3,
    binary: str | os.PathLike[str] | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Fit:
    """Fits the models of an emulator (``python3 -m thor emulate``) to a spectrum, and runs the best ones again with thor.

    ``spectrum`` is a file (text, .ecsv, .fits) or a :class:`Observation`; ``redshift`` a number, a number and its error, or "free"
    with ``redshift_range``. ``lsf`` is the resolving power, or a file with columns of wavelength and full width at half maximum
    [Angstrom]; ``mask`` has ranges of wavelength that are left out, ``igm`` is a file of velocity [km/s] and transmission. Where
    the continuum was subtracted, ``continuum`` is false. ``priors`` narrow ranges: ``("dataset.dust.tau", 0, 1)``.

    ``walkers`` of emcee make ``steps`` after ``burn``; without steps the samples are those of the population that
    they start from. ``rerun`` is the number of modes that are run again, none without the thor command.
    """
    start = time.monotonic()
    for value, least, name in ((walkers, 0, "walkers"), (steps, 0, "steps"), (burn, 0, "burn"), (seed, 0, "seed"), (rerun, 0, "rerun")):
        if value < least:
            raise ArgumentError(f"{name}: {value} cannot be")
    if 0 < steps < _LEAST_STEPS:
        raise ArgumentError(f"steps: {steps} are too few; give at least {_LEAST_STEPS}, or 0 for the population alone")
    if rerun:
        find_binary(binary)  # before the search
    if steps:
        optional("emcee")  # before the search
    emulator = model if isinstance(model, Emulator) else Emulator.load(model)
    seen = spectrum if isinstance(spectrum, Observation) else read(spectrum, unit=unit, air=air, mask=mask, covariance=covariance)
    z, around = _redshift(redshift, redshift_range, seen, emulator)
    likelihood = Likelihood(emulator, seen, lsf=_lsf(lsf), redshift=z, redshift_range=around, equivalent_width=equivalent_width,
                            priors=priors, igm=None if igm is None else _table(igm, "velocity [km/s] and transmission"), continuum=continuum)  # fmt: skip
    if steps and walkers < 2 * likelihood.dimensions + 2:
        raise ArgumentError(f"{walkers} walkers are too few for {likelihood.dimensions} parameters: give at least {2 * likelihood.dimensions + 2}")

    def posterior(parts: Floats) -> Floats:
        return likelihood(parts) + likelihood.prior(parts)

    population = cool_twice(likelihood, likelihood.prior, likelihood.dimensions, count=max(_POPULATION, walkers), seed=seed, tell=lambda t: tell(f"searching: {100 * t:.0f} %"))
    if not np.isfinite(population.evidence):
        raise ArgumentError(f"{seen.name}: no model is possible: all have a negative level (is it an absorption line, or subtracted?), or no light in these pixels")
    found, parts = None, population.parts
    logs = population.logs + likelihood.prior(parts)
    half = np.arange(len(parts)) % 2.0
    if steps:
        pairs = np.random.default_rng(seed).permutation(len(parts) // 2)[: (walkers + 1) // 2]
        rows = np.stack([2 * pairs, 2 * pairs + 1], axis=1).ravel()[:walkers]  # of both populations in turns
        begun = time.monotonic()

        def progress(step: int) -> None:
            if step % 20 == 0 or step == burn + steps:
                tell(f"sampling: {100 * step / (burn + steps):.0f} %  {(time.monotonic() - begun) * ((burn + steps) / step - 1):.0f} s left")

        found = chains(posterior, parts[rows], steps=steps, burn=burn, seed=seed, tell=progress)
        parts, logs = found.parts.reshape(-1, likelihood.dimensions), found.logs.ravel()
        half = np.arange(len(parts)) % len(rows) % 2.0
    every = modes(posterior, parts, logs, half)
    new = Fit(likelihood, parts, logs, found, every, population.evidence, [], best_model(likelihood, max(every, key=lambda mode: mode.log).best), 0.0)
    if rerun:
        tell("running the best models")
        try:
            new.checks = run_again(likelihood, [mode.best for mode in every[:rerun]], seed=seed, binary=binary)
        except (Error, OSError, ValueError) as error:  # the samples are worth minutes
            new.warnings.append(f"the best models could not be run again: {error}")
    new.warnings += [*likelihood.observation.notes, *_warnings(new)]
    new.seconds = time.monotonic() - start
    for text in new.warnings:
        warnings.warn(f"{seen.name}: {text}", FitWarning, stacklevel=2)
    return new


def _warnings(fit: Fit) -> list[str]:
    found = []
    likelihood = fit.likelihood
    emulator = likelihood.emulator
    if emulator.is_coarse:
        found.append(f"the emulator is coarse ({emulator.describe()}): learn from more models")
    for i, prior in enumerate(likelihood.priors):
        name, p = fit.names[i], prior.parameter
        low, high = np.mean(fit.parts[:, i] < _EDGE), np.mean(fit.parts[:, i] > 1 - _EDGE)
        if max(low, high) > 5 * _EDGE:
            whole = next((q for q in emulator.parameters if q.key == name), None)
            end = (p.low, p.high)[int(low <= high)]
            of = "the models" if whole is not None and end in (whole.low, whole.high) else "its prior"
            found.append(f"{name} is at the edge of {of}, {end:.5g} {p.unit}: its true value may lie beyond".replace(" :", ":"))
        if prior.sigma > 0.0 and abs(float(np.median(fit.samples[name])) - prior.mean) > _FAR * prior.sigma:
            found.append(f"{name} is {abs(float(np.median(fit.samples[name])) - prior.mean) / prior.sigma:.1f} standard deviations from what was given for it")
    freedom = max(len(likelihood.observation.flux) - len(fit.names) - 1, 1)
    if fit.chi2 > freedom + 4 * np.sqrt(2 * freedom):
        found.append(f"the best model does not describe the spectrum: chi2 {fit.chi2:.0f} with {freedom} degrees of freedom")
    elif freedom >= _LEAST_STEPS and fit.chi2 < max(freedom - 4 * np.sqrt(2 * freedom), 0.1 * freedom):
        found.append(f"the spectrum is described too well: chi2 {fit.chi2:.2g} with {freedom} degrees of freedom; are its errors too large, or another column?")
    if any(mode.share_error > _SHARE for mode in fit.modes):
        found.append("the shares of the modes are uncertain: two independent searches differ; trust each mode by itself, or use other seeds")
    return found + _of_chains(fit) + _of_checks(fit)


def _of_chains(fit: Fit) -> list[str]:
    if fit.chains is None:
        return []
    found = []
    worst = int(np.argmax(fit.chains.r_hat))
    if not fit.chains.r_hat[worst] <= _CONVERGED:
        found.append(f"the chains have not converged: R-hat of {fit.names[worst]} is {fit.chains.r_hat[worst]:.2f}; use more steps")
    longest = float(np.max(fit.chains.autocorrelation))
    if not len(fit.chains.parts) >= _INDEPENDENT * longest:
        said = f"only {len(fit.chains.parts) / longest:.0f} autocorrelation times long ({longest:.0f} steps)" if np.isfinite(longest) else "too short to know their autocorrelation"
        found.append(f"the chains are {said}; use more steps")
    if fit.chains.acceptance < _LEAST_ACCEPTED:
        found.append(f"the chains hardly move: {100 * fit.chains.acceptance:.1f} % of their steps were accepted")
    return found


def _of_checks(fit: Fit) -> list[str]:
    found = []
    for number, check in enumerate(fit.checks, 1):
        if check.is_worse:
            found.append(f"mode {number}: a run of thor has chi2 {check.chi2:.0f}, the emulator {check.emulated_chi2:.0f}: the emulator is wrong there; learn from more models")
        elif check.largest > _WRONG:
            found.append(f"mode {number}: a run of thor and the emulator differ by {100 * check.largest:.0f} % of the peak: learn from more models")
    return found


def _redshift(given: Any, around: tuple[float, float] | None, seen: Observation, emulator: Emulator) -> tuple[Any, tuple[float, float] | None]:
    if given == "free":
        if around is None:  # anywhere the line is well inside of the spectrum
            margin = 0.15 * (seen.high[-1] - seen.low[0])
            low, high = ((end / emulator.wavelength0 - 1) for end in (seen.low[0] + margin, seen.high[-1] - margin))
            around = (float(low), float(high))
        return 0.5 * (around[0] + around[1]), around
    numbers = given if isinstance(given, (tuple, list)) else (given, 0.0)
    try:
        z, sigma = (float(n) for n in numbers)
    except (TypeError, ValueError):
        raise ArgumentError(f"redshift: a number, a number and its error, or 'free', not {given!r}") from None
    if not (z > -1 and np.isfinite(z) and sigma >= 0 and np.isfinite(sigma)):
        raise ArgumentError(f"redshift: {z:g} with an error of {sigma:g} cannot be")
    return (z, sigma), around


def _lsf(given: Any) -> float | Floats:
    try:
        number = float(given)
    except (TypeError, ValueError):
        table = _table(given, "wavelength and full width at half maximum [Angstrom]")
        if np.any(table[:, 1] <= 0):
            raise ArgumentError(f"{given}: widths must be above 0") from None
        return table
    if not (number >= 0 and np.isfinite(number)):
        raise ArgumentError(f"lsf: a resolving power above 0, or a file, not {given!r}")
    return number


def _table(given: Any, what: str) -> Floats:
    """Of a file, or as an array."""
    name = "the table" if isinstance(given, np.ndarray) else given
    if not isinstance(given, np.ndarray) and not Path(given).is_file():
        raise ArgumentError(f"{given}: there is no such file; it should have columns of {what}")
    try:
        table = np.asarray(given, float) if isinstance(given, np.ndarray) else np.loadtxt(given, ndmin=2)
    except ValueError as error:
        raise ArgumentError(f"{name}: not columns of {what}: {error}") from error
    if table.ndim != 2 or table.shape[1] < 2 or len(table) < 1 or not np.all(np.isfinite(table)) or np.any(np.diff(table[:, 0]) <= 0):
        raise ArgumentError(f"{name}: columns of {what} are expected, with numbers that increase in the first")
    return table[:, :2]


def _short(value: float, scale: float) -> str:
    digits = int(np.clip(1 - np.floor(np.log10(scale)), 0, 8)) if scale > 0 else 3
    return f"{value:.{digits}f}" if abs(value) < 1e6 else f"{value:.3g}"
