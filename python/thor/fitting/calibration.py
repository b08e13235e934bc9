"""Whether fits are right: spectra that thor itself has made, of parameters drawn from the prior (Talts et al. 2018, arXiv:1804.06788)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..line import C_KMS, Floats
from .emulator import PIXEL, Emulator, smoothing
from .likelihood import EQUIVALENT_WIDTH, REDSHIFT, Likelihood
from .models import Models, equivalent_width
from .observation import Observation, observation
from .sampling import cool

_WINDOW = 2000.0  # km/s


def mock(models: Models, model: int, *, width: float, redshift: float, resolution: float, snr: float, seed: int) -> Observation:
    """A model as it would be observed, with an equivalent width [Angstrom], in pixels of 0.2 Angstrom at rest, and noise that is the
    same in all of them, by the signal at the peak; the errors have the noise of the model's photons too."""
    rng = np.random.default_rng(seed)
    km_s = equivalent_width(width, models.wavelength0)
    flux, variance = models.line[model] * km_s, (models.line_error[model] * km_s) ** 2
    if models.continuum is not None and models.continuum_error is not None:
        flux, variance = flux + models.continuum[model], variance + models.continuum_error[model] ** 2
    blur = smoothing(models.edges, C_KMS / resolution) * np.diff(models.edges)[:, None]
    window = min(_WINDOW, 0.95 * min(-models.edges[0], models.edges[-1])) / C_KMS * models.wavelength0
    ends = np.arange(models.wavelength0 - window, models.wavelength0 + window, PIXEL)
    v = C_KMS * (ends / models.wavelength0 - 1)
    total = np.concatenate([np.zeros((1, len(flux))), np.cumsum(blur, axis=0)])
    into = np.stack([np.diff(np.interp(v, models.edges, column)) / np.diff(v) for column in total.T], axis=1)
    pixels = into @ flux
    noise = float(np.max(pixels)) / snr
    error = np.sqrt(noise**2 + into**2 @ variance)
    return observation(0.5 * (ends[1:] + ends[:-1]) * (1 + redshift), pixels + noise * rng.standard_normal(len(pixels)), error, name=f"model {model}")


def ranks(
    emulator: Emulator,
    models: Models,
    *,
    snr: float,
    resolution: float = 6000.0,
    redshift: tuple[float, float] = (3.1, 0.0002),
    widths: tuple[float, float] = (10.0, 300.0),
    population: int = 1000,
    seed: int = 1,
    least_light: float = 0.0,
    part: tuple[int, int] = (0, 1),
    tell: Callable[[int], None] = lambda number: None,
    **options: Any,
) -> tuple[list[str], Floats]:
    """Of each model, the share of the posterior's samples that lie below the true value of each parameter: uniform from 0 to 1 if
    fits are right. Models of which less than ``least_light`` escapes are left out, and so are such samples. ``part``: which of how
    many parts of the models."""
    found, names = [], []
    bright = np.flatnonzero(np.sum(models.line * np.diff(models.edges), axis=1) >= least_light)
    for number, model in enumerate(bright[part[0] :: part[1]]):
        rng = np.random.default_rng([seed, int(model)])
        width = float(np.exp(rng.uniform(*np.log(widths))))
        z = float(redshift[0] + redshift[1] * rng.standard_normal())
        seen = mock(models, int(model), width=width, redshift=z, resolution=resolution, snr=snr, seed=seed + 7919 * int(model))
        likelihood = Likelihood(emulator, seen, lsf=resolution, redshift=redshift, equivalent_width=widths, **options)
        samples = cool(likelihood, likelihood.prior, likelihood.dimensions, count=population, seed=seed).parts
        if least_light > 0.0:
            samples = samples[_light(emulator, likelihood.values(samples)) >= least_light]
        truth = {p.key: float(p.value_of(models.parts[model, i])) for i, p in enumerate(models.parameters)}
        truth |= {EQUIVALENT_WIDTH: width, REDSHIFT: z}
        values = likelihood.values(likelihood.blur(samples, seed))
        found.append([float(np.mean(values[:, i] < truth[name])) for i, name in enumerate(likelihood.names)])
        names = likelihood.names
        tell(number + 1)
    return names, np.array(found)


def _light(emulator: Emulator, values: Floats) -> Floats:
    """The share of the line that escapes, of rows of values."""
    parts = np.stack([p.unit_of(values[:, i]) for i, p in enumerate(emulator.parameters)], axis=1)
    found: Floats = emulator.spectra(parts)[0] @ np.diff(emulator.edges)
    return found


def held(ranks: Floats, share: float) -> Floats:
    """The share of true values within central intervals that should hold ``share`` of them, of each parameter."""
    found: Floats = np.mean(np.abs(ranks - 0.5) < share / 2, axis=0)
    return found
