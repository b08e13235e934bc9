"""The photons of a run as a spectrograph sees them: redshift, line-spread function, pixels and aperture (paper, section 4.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .errors import ArgumentError
from .line import C_KMS, Floats, floats
from .photons import Photons
from .quantity import in_unit

_REACH, _FINE = 6.0, 0.005  # standard deviations that a line-spread function has, and the steps of its table
_AT_ONCE = 4_000_000  # photons times pixels


@dataclass(frozen=True)
class Observed:
    """Luminosity per wavelength as observed [erg/s/Angstrom] in pixels, with the Monte Carlo error of each. Neighbours that a
    line-spread function joins have photons in common, so that their errors are alike."""

    edges: Floats
    flux: Floats
    error: Floats

    @property
    def wavelength(self) -> Floats:
        found: Floats = 0.5 * (self.edges[1:] + self.edges[:-1])
        return found


def observe(
    photons: Photons,
    edges: npt.ArrayLike,
    *,
    redshift: float = 0.0,
    lsf: float | None = None,
    aperture: float | str | None = None,
) -> Observed:
    """The spectrum of the photons that escaped, between ``edges`` of pixels in vacuum [Angstrom], seen from all sides at once.

        shells = thor.reweight(result.photons, sigma="300 km/s", dust=0.2)
        seen = thor.observe(shells, np.arange(4960, 5010, 0.8), redshift=3.1, lsf=4000, aperture="3 kpc")

    ``lsf`` is the resolving power, wavelength over full width at half maximum. ``aperture`` is a radius [kpc] around the
    origin: photons whose last flight passes it at a greater distance are left out (record ``position`` and ``direction``).
    """
    ends = floats(edges, "edges of pixels")
    if ends.ndim != 1 or len(ends) < 2 or not np.all(np.isfinite(ends)) or not np.all(np.diff(ends) > 0) or ends[0] <= 0:
        raise ArgumentError("edges of pixels must be wavelengths above 0 that increase [Angstrom]")
    if not (np.isfinite(redshift) and redshift > -1):
        raise ArgumentError(f"redshift must be above -1, not {redshift!r}")
    if lsf is not None and not (np.isfinite(lsf) and lsf > 0):
        raise ArgumentError(f"lsf: a resolving power above 0, not {lsf!r}")
    seen = photons.of("escaped")
    if aperture is not None:
        radius = in_unit(aperture, "kpc", "aperture")
        if not radius > 0:
            raise ArgumentError(f"aperture must be above 0, not {aperture!r}")
        radius /= in_unit(f"1 {photons.units('position') or 'cm'}", "kpc", "position")
        along = np.sum(seen["position"] * seen["direction"], axis=1, keepdims=True)
        seen = seen.select(np.linalg.norm(seen["position"] - along * seen["direction"], axis=1) < radius)
    wavelength = photons._result.line.wavelength0 * (1.0 + np.asarray(seen["velocity_final"], float) / C_KMS) * (1.0 + redshift)
    weights = seen.weights()
    if lsf is None:
        light, squares = (np.histogram(wavelength, ends, weights=w)[0] for w in (weights, weights**2))
    else:
        light, squares = _spread(wavelength, weights, ends, lsf)
    return Observed(ends, light / np.diff(ends), np.sqrt(squares) / np.diff(ends))


def _spread(wavelength: Floats, weights: Floats, ends: Floats, lsf: float) -> tuple[Floats, Floats]:
    """Light in each pixel and the sum of its squares; each photon is spread over a Gaussian."""
    table = np.arange(-_REACH, _REACH + _FINE, _FINE)
    normal = np.array([0.5 * math.erfc(-t / math.sqrt(2.0)) for t in table])
    light, squares = np.zeros(len(ends) - 1), np.zeros(len(ends) - 1)
    step = max(_AT_ONCE // len(ends), 1)
    for i in range(0, len(wavelength), step):
        centre = wavelength[i : i + step, None]
        sigma = centre / (lsf * math.sqrt(8.0 * math.log(2.0)))
        share = np.diff(np.interp((ends - centre) / sigma, table, normal), axis=1) * weights[i : i + step, None]
        light += share.sum(axis=0)
        squares += (share**2).sum(axis=0)
    return light, squares
