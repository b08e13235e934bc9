"""Spectra with their Monte Carlo errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .errors import ArgumentError, optional
from .line import AXIS_UNITS, Floats, Line

#: Units of a spectrum over each axis, and of one with unit integral, as astropy reads them.
FLUX_UNITS = {
    "x": "erg s-1",
    "velocity": "erg s-1 / (km s-1)",
    "wavelength": "erg s-1 Angstrom-1",
    "frequency": "erg s-1 Hz-1",
}
NORMALISED_UNITS = {
    "x": "",
    "velocity": "1 / (km s-1)",
    "wavelength": "Angstrom-1",
    "frequency": "Hz-1",
}


class Quantities(NamedTuple):
    """A spectrum as astropy quantities."""

    edges: Any
    flux: Any
    error: Any


def of_generator(name: str | None) -> str:
    """Says whose photons were counted, if not those of all generators."""
    return "" if name is None else f" of generator '{name}'"


def are_known(error: Floats) -> bool:
    """Whether Monte Carlo errors are known; all are NaN where an output has none (``errors: none``)."""
    return not bool(np.all(np.isnan(error)))


def _is_finite(value: Any) -> bool:
    try:
        return bool(np.ndim(value) == 0 and np.isfinite(value))
    except (TypeError, ValueError):
        return False


@dataclass(frozen=True, repr=False)
class Spectrum:
    """A binned spectrum: luminosity per unit of its axis, with its Monte Carlo error; with ``sky`` the flux at the observer.

    ``edges`` has one entry more than ``flux`` and ``error`` and increases. ``of`` says which
    photons were counted: escaped, emitted or absorbed. x and velocities are relative to
    ``line.wavelength0``, which may differ between the spectra of a run. ``caveats`` lists in short form what to know
    before relying on it, such as light beyond its range; figures show them. ``observer`` is who sees this light, or None
    for light of all directions; an observer sees a photon in several bins, whose errors are correlated. ``vov`` and ``trusted``
    tell whether the errors can be trusted, as those of an image; what is rebinned or normalised has neither. Without errors
    (``errors: none``) ``error`` is NaN. ``light`` is the
    luminosity [erg/s] that a flux of 1 is: 4 pi d_L^2 of fluxes, whose wavelengths and frequencies are observed ones.
    ``generator`` is the name of the generators whose photons were counted, or None for all of them.
    """

    name: str
    edges: Floats
    flux: Floats
    error: Floats
    axis: str
    of: str
    line: Line
    is_normalised: bool = False
    caveats: tuple[str, ...] = ()
    observer: str | None = None
    generator: str | None = None
    vov: Floats | None = None
    trusted: float = np.nan
    total_error: float = np.nan
    light: float = 1.0

    @property
    def is_flux(self) -> bool:
        """Whether ``flux`` is that at an observer; else it is a luminosity."""
        return self.light != 1.0

    @property
    def units(self) -> str:
        """Units of ``flux`` and ``error``."""
        if self.is_normalised:
            return NORMALISED_UNITS[self.axis]
        return FLUX_UNITS[self.axis].replace("erg s-1", "erg s-1 cm-2") if self.is_flux else FLUX_UNITS[self.axis]

    @property
    def axis_units(self) -> str:
        """Units of ``edges`` and ``centers``; empty for the dimensionless x."""
        return AXIS_UNITS[self.axis]

    @property
    def widths(self) -> Floats:
        widths: Floats = np.diff(self.edges)
        return widths

    @property
    def centers(self) -> Floats:
        centers: Floats = 0.5 * (self.edges[1:] + self.edges[:-1])
        return centers

    def luminosity(self) -> tuple[float, float]:
        """The luminosity within the spectrum's range and its Monte Carlo error [erg/s].

        The error is that of the sum itself (``total_error``), which the file has: 0 where the number of photons in the range is
        fixed. Files without it give the errors of bins added in quadrature.
        """
        total, error = self.integral()
        return total * self.light, error * self.light

    def integral(self) -> tuple[float, float]:
        """The integral of ``flux`` over the axis and its Monte Carlo error: the luminosity [erg/s], or that over 4 pi d_L^2
        [erg/s/cm^2] of a flux."""
        total = float(np.sum(self.flux * self.widths))
        if np.isfinite(self.total_error):
            return total, self.total_error / self.light
        return total, float(np.sqrt(np.sum((self.error * self.widths) ** 2)))

    def mean(self) -> tuple[float, float]:
        """The mean of the axis, weighted by luminosity, and its Monte Carlo error.

        m = sum(L_i c_i) / L, with the error sqrt(sum((c_i - m)^2 dL_i^2)) / L, which takes bins as independent: of what an
        observer sees it is an estimate, since a photon is seen in several.
        """
        total = self.integral()[0]
        if total == 0.0:
            return float("nan"), float("nan")
        mean = float(np.sum(self.flux * self.widths * self.centers)) / total
        spread = (self.centers - mean) * self.error * self.widths
        return mean, float(np.sqrt(np.sum(spread**2))) / total

    def peak(self) -> float:
        """Position on the axis of the centre of the highest bin; nan for an empty spectrum."""
        return float(self.centers[np.argmax(self.flux)]) if np.any(self.flux) else float("nan")

    def to(self, axis: str) -> Spectrum:
        """The same spectrum over another axis: x, velocity, wavelength or frequency.

        The edges are mapped and each bin keeps its luminosity, so the density changes by the mean
        of |d(old)/d(new)| over the bin, and the total is conserved to rounding.
        """
        edges = self.line.from_velocity(self.line.to_velocity(self.edges, self.axis), axis)
        order = slice(None, None, 1 if edges[-1] > edges[0] else -1)
        jacobian = self.widths / np.abs(np.diff(edges))
        return replace(
            self,
            edges=edges[order],
            flux=(self.flux * jacobian)[order],
            error=(self.error * jacobian)[order],
            axis=axis,
            vov=None if self.vov is None else self.vov[order],
        )

    def about(self, wavelength0: float) -> Spectrum:
        """The same light, with x and velocities relative to another wavelength [Angstrom]: that
        of another transition of the line, or that of another spectrum."""
        wavelengths = self.to("wavelength")
        return replace(wavelengths, line=self.line.about(wavelength0)).to(self.axis)

    def rebin(self, factor: int) -> Spectrum:
        """Bins merged by ``factor``; the remainder makes a narrower last bin.

        Luminosities add up, and their errors in quadrature, since no photon is in two bins; of what an observer sees this
        is a lower bound, since a photon is seen in several.
        """
        if isinstance(factor, (str, bytes)) or not (_is_finite(factor) and factor == int(factor) and factor >= 1):
            raise ArgumentError(f"bins must be merged by a whole number, not by {factor!r}")
        first = np.arange(0, len(self.flux), int(factor))
        edges = np.append(self.edges[first], self.edges[-1])
        luminosity = np.add.reduceat(self.flux * self.widths, first)
        variance = np.add.reduceat((self.error * self.widths) ** 2, first)
        widths = np.diff(edges)
        return replace(
            self, edges=edges, flux=luminosity / widths, error=np.sqrt(variance) / widths, vov=None, trusted=np.nan
        )

    def normalised(self) -> Spectrum:
        """The shape alone, with unit integral.

        The total is as uncertain as the photons that it counts: with f_i = L_i / L,
        d(f_i)^2 = ((1 - 2 f_i) dL_i^2 + f_i^2 dL^2) / L^2. The fractions then add up to 1 and are
        no longer independent: rebin before, not after. Of what an observer sees, whose bins share photons, dL is at least the
        sum of dL_i in quadrature, and the error is an estimate.
        """
        total, total_error = self.integral()
        if self.is_normalised or total == 0.0:
            return replace(self, is_normalised=True)
        share = self.flux * self.widths / total
        own = self.error * self.widths
        total_error = np.maximum(total_error, np.sqrt(np.sum(own**2)))
        variance = (1.0 - 2.0 * share) * own**2 + share**2 * total_error**2
        error = np.sqrt(np.maximum(variance, 0.0)) / total / self.widths
        return replace(
            self, flux=self.flux / total, error=error, is_normalised=True, vov=None, trusted=np.nan, total_error=np.nan
        )

    def scaled(self, factor: float) -> Spectrum:
        """Flux and error times a number, such as 1 / (4 pi d^2)."""
        if isinstance(factor, (str, bytes)) or not _is_finite(factor):
            raise ArgumentError(f"a spectrum must be scaled by a number, not by {factor!r}")
        return replace(self, flux=self.flux * factor, error=self.error * factor, total_error=self.total_error * abs(factor))

    def quantity(self) -> Quantities:
        """Edges, flux and error as astropy quantities. Needs astropy."""
        units = optional("astropy.units")
        along, height = units.Unit(self.axis_units), units.Unit(self.units)
        return Quantities(self.edges * along, self.flux * height, self.error * height)

    def __repr__(self) -> str:
        luminosity, error = self.luminosity()
        units = f" {self.axis_units}" if self.axis_units else ""
        total = f"L = ({luminosity:.4g} +- {error:.1g}) erg/s" if np.isfinite(error) else f"L = {luminosity:.4g} erg/s"
        if self.is_normalised:
            total = "normalised"
        held = "".join(f"; {caveat}" for caveat in self.caveats)
        return (
            f"<Spectrum '{self.name}' of {self.of} {self.line.name} photons{of_generator(self.generator)}: "
            f"{len(self.flux)} bins, "
            f"{self.axis} = {self.edges[0]:.6g} to {self.edges[-1]:.6g}{units}, {total}{held}>"
        )
