"""Another source spectrum, and dust, for the photons of a run: no new run is needed (paper, section 4.1)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import reading
from .errors import ArgumentError, MissingError, ReweightingWarning
from .line import C_KMS, Floats
from .photons import Photons
from .protocols import RunData
from .quantity import in_unit, read
from .resolved import generators_of

#: Keys of a source that may differ where photons of one stand for those of another.
OF_LIGHT = ("name", "photons", "luminosity", "spectrum")

_FEW, _SMALL_SHARE, _LEFT_OUT = 100, 0.02, 0.01


class Reweighted(Photons):
    """Photons with other weights: ``spectrum``, ``towards``, ``select`` and ``weights`` are those of :class:`Photons`.

    ``effective`` is the number of photons of equal weight whose sum would be as noisy: (sum w)^2 / sum w^2, with what dust leaves.
    """

    def __init__(
        self,
        result: RunData,
        group: reading.Group | None,
        whole: Photons | None = None,
        chosen: npt.NDArray[np.bool_] | None = None,
    ):
        super().__init__(result, group, whole, chosen)
        if isinstance(whole, Reweighted):
            self._emitted: Floats = whole._emitted[chosen]
            self._left: Floats = whole._left[chosen]

    def weights(self) -> Floats:
        """The luminosity that each photon represents [erg/s], with what the dust leaves of it."""
        weights: Floats = self._emitted * self._left
        return weights

    def initial_weights(self) -> Floats:
        """The luminosity that each photon was emitted with [erg/s]."""
        return self._emitted

    @property
    def effective(self) -> float:
        return _effective(self.weights())

    def escape_fraction(self) -> tuple[float, float]:
        """Escaped over emitted luminosity, and its Monte Carlo error."""
        escaped = np.where(np.isin(self["fate"], self._fates["escaped"]), self.weights(), 0.0)
        emitted = float(np.sum(self._emitted))
        fraction = float(np.sum(escaped)) / emitted
        return fraction, float(np.sqrt(np.sum((escaped - fraction * self._emitted) ** 2))) / emitted


def reweight(
    photons: Photons,
    *,
    sigma: float | str | None = None,
    equivalent_width: float | str | None = None,
    dust: float | None = None,
    albedo: float = 0.0,
) -> Reweighted:
    """The photons of a run, as if their source had another spectrum and the gas had dust.

        shells = thor.reweight(result.photons, sigma="300 km/s", equivalent_width="20 Angstrom", dust=0.2)
        thor.plot_spectrum(shells.spectrum("velocity", bins=100, range=(-2500, 2500)))

    ``sigma`` is the width of a Gaussian line at the source [km/s], and ``equivalent_width`` [Angstrom, at rest] that over a
    continuum as wide as that of the run; without it there is no continuum. The run has point sources in one place, with
    Gaussian or continuum spectra: photons of all are used for both, by the density of their initial velocities.

    ``dust`` is the absorption optical depth along the column of the gas, with an albedo: a photon that met the column N keeps
    exp(-(1 - albedo) dust N / N_HI). The run has no dust and recorded ``column``; what dust scatters keeps its direction.

    A :class:`ReweightingWarning` says where too few photons carry the light, or where no photon was emitted.
    """
    if isinstance(photons, Reweighted):
        raise ArgumentError("these photons were reweighted already: give all that is asked for at once, to the photons of the run")
    result = photons._result
    new = Reweighted(result, photons._group, photons, np.ones(photons.count, dtype=bool))
    new._emitted = np.array(photons.initial_weights(), dtype=np.float64)
    new._left = np.ones(photons.count)
    if equivalent_width is not None and sigma is None:
        raise ArgumentError("equivalent_width is that of a line: give its width, sigma, too")
    if sigma is not None:
        width = in_unit(sigma, "km/s", "sigma")
        if not (width > 0.0 and np.isfinite(width)):
            raise ArgumentError(f"sigma must be above 0, not {sigma!r}")
        ew = None if equivalent_width is None else in_unit(equivalent_width, "Angstrom", "equivalent_width")
        if ew is not None and not (ew >= 0.0 and np.isfinite(ew)):
            raise ArgumentError(f"equivalent_width must not be negative, not {equivalent_width!r}")
        new._emitted *= _ratio(result, photons, width, ew)
    if dust is not None:
        new._left = _left_by_dust(result, photons, in_unit(dust, "", "dust"), in_unit(albedo, "", "albedo"))
    emitted = _effective(new._emitted)
    if emitted < max(_FEW, _SMALL_SHARE * photons.count):
        text = f"{result.path}: the weights of {photons.count} photons are as good as {emitted:.0f} equal ones: run a source like the one that is asked for"
        warnings.warn(text, ReweightingWarning, stacklevel=2)
    elif new.effective < _FEW:
        text = f"{result.path}: what dust leaves of {photons.count} photons is as good as {new.effective:.0f} of equal weight: run more photons, or dust itself"
        warnings.warn(text, ReweightingWarning, stacklevel=2)
    return new


def _effective(weights: Floats) -> float:
    squares = float(np.sum(weights**2))
    return float(np.sum(weights)) ** 2 / squares if squares > 0.0 else 0.0


def require_one_place(sources: list[dict[str, Any]]) -> None:
    """Photons of one source may stand for those of another only if nothing but their frequencies differs."""
    places = [{k: v for k, v in source.items() if k not in OF_LIGHT} for source in sources]
    if any(p != places[0] or p["type"] != "point" for p in places):
        raise ArgumentError("reweighting needs point sources in one place, with one direction and velocity")
    for end in places[0].get("velocity", []):
        found = read(str(end))
        if found is None or found[0] != 0.0:
            raise ArgumentError("reweighting needs sources at rest: their photons have other velocities than their spectrum (velocity: [0, 0, 0])")


def left_out(number: Callable[[Floats], Floats], sigma: float) -> float:
    """Share of a Gaussian's light at velocities with fewer than a photon in its width; ``number``: of photons per km/s."""
    v, step = np.linspace(-6.0, 6.0, 1201, retstep=True)
    weight = np.exp(-0.5 * v**2) / np.sqrt(2.0 * np.pi) * step
    return float(np.sum(weight[number(sigma * v) * sigma < 1.0]))


def _ratio(result: RunData, photons: Photons, sigma: float, equivalent_width: float | None) -> Floats:
    """Wanted over actual density of initial velocities."""
    sources = generators_of(result.config)
    parts = [(source_density(source["spectrum"], result.line.wavelength0), g["photons"]) for source, g in zip(sources, result.generators)]
    if len(parts) != len(result.generators):
        raise ArgumentError("reweighting needs generators whose photons are all there")
    require_one_place(sources)
    if not np.allclose(photons.initial_weights(), photons.initial_weights()[:1], rtol=1e-6):
        raise ArgumentError("reweighting needs generators with equal luminosities for each of their photons")
    velocity = np.asarray(photons["velocity_initial"], dtype=np.float64)
    total = sum(count for _, count in parts)
    actual = sum(count / total * density(velocity) for density, count in parts)
    wanted = _gaussian(sigma, 0.0)(velocity)
    if equivalent_width is not None:
        ranges = [source["spectrum"]["range"] for source in sources if "range" in source["spectrum"]]
        if not ranges:
            raise ArgumentError("equivalent_width: the run has no generator with a continuum")
        low, high = _range(ranges[0], result.line.wavelength0)
        line = equivalent_width / result.line.wavelength0 * C_KMS
        inside = (velocity >= low) & (velocity <= high)
        wanted = (line * wanted + inside) / (line + high - low)
    ratio: Floats = wanted / actual
    missing = left_out(lambda v: np.asarray(sum(count * density(v) for density, count in parts), dtype=np.float64), sigma)
    if missing > _LEFT_OUT:
        text = f"{result.path}: {100 * missing:.0f} % of the light is to be at velocities that next to no photon was emitted with: run a wider source"
        warnings.warn(text, ReweightingWarning, stacklevel=3)
    return ratio


def _gaussian(sigma: float, offset: float) -> Callable[[Floats], Floats]:
    def density(v: Floats) -> Floats:
        found: Floats = np.exp(-0.5 * ((v - offset) / sigma) ** 2) / (sigma * np.sqrt(2.0 * np.pi))
        return found

    return density


def _range(ends: list[str], wavelength0: float) -> tuple[float, float]:
    """The ends of a continuum [km/s]."""
    found = [read(end) for end in ends]
    low, high = ((end[0] * 1e8 / wavelength0 - 1.0) * C_KMS if end[1] == "length" else end[0] * 1e-5 for end in found if end)
    return low, high


def source_density(spectrum: Any, wavelength0: float) -> Callable[[Floats], Floats]:
    """Density of initial velocities [per km/s] of a generator (docs/gas.md); wavelengths are relative to ``wavelength0`` [Angstrom]."""
    kind = spectrum.get("type") if isinstance(spectrum, dict) else spectrum
    if kind not in ("gaussian", "continuum", "line_and_continuum"):
        raise ArgumentError(f"reweighting needs generators with a gaussian or a continuum spectrum, not {kind}")
    if kind != "continuum":
        peak = _gaussian(in_unit(spectrum["sigma"], "km/s", "sigma"), in_unit(spectrum["offset"], "km/s", "offset"))
        if kind == "gaussian":
            return peak
    low, high = _range(spectrum["range"], wavelength0)
    if kind == "continuum":
        return lambda v: ((v >= low) & (v <= high)) / (high - low)
    width = in_unit(spectrum["equivalent_width"], "Angstrom", "equivalent_width") / wavelength0 * C_KMS
    return lambda v: (width * peak(v) + ((v >= low) & (v <= high))) / (width + high - low)


def _left_by_dust(result: RunData, photons: Photons, dust: float, albedo: float) -> Floats:
    if not (dust >= 0.0 and np.isfinite(dust) and 0.0 <= albedo <= 1.0):
        raise ArgumentError(f"dust must not be negative, and albedo be from 0 to 1, not {dust!r} and {albedo!r}")
    given = re.search(r"^  dust:\n    tau: (\S+)$", result.config, re.MULTILINE)
    if result.summary.get("absorbed", 0) > 0 or (given is not None and float(given[1]) != 0.0):
        raise ArgumentError("the gas of the run has dust already: run it without")
    if "column" not in photons:
        raise MissingError("'column': dust needs the column that each photon met: record it (fields: [column, ...])")
    total = result.attributes.get("column_density")
    if not isinstance(total, float) or not total > 0.0:
        raise MissingError(f"{result.path}: the column density of the gas is not known, as that of a grid")
    left: Floats = np.exp(-(1.0 - albedo) * dust * np.asarray(photons["column"], dtype=np.float64) / total)
    return left
