"""Spectra and the four ways to write their axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

C_KMS = 299792.458  # speed of light [km/s]
C_ANGSTROM = 2.99792458e18  # speed of light [Angstrom/s]

#: Units of each axis, and of a spectrum over it.
AXIS_UNITS = {"x": "", "velocity": "km s-1", "wavelength": "Angstrom", "frequency": "Hz"}
FLUX_UNITS = {
    "x": "erg s-1",
    "velocity": "erg s-1 (km s-1)-1",
    "wavelength": "erg s-1 Angstrom-1",
    "frequency": "erg s-1 Hz-1",
}


@dataclass(frozen=True)
class Line:
    """What ties the axes together: the line's first transition, and the gas's thermal speed.

    ``thermal_velocity`` [km/s] is the Doppler parameter b = sqrt(2 k T / m) that x is counted in;
    None where no single temperature describes the gas.
    """

    name: str
    wavelength0: float  # in vacuum [Angstrom]
    thermal_velocity: float | None = None

    def _thermal_velocity(self) -> float:
        if not self.thermal_velocity:
            raise ValueError("x needs a thermal velocity, and this result has none")
        return self.thermal_velocity

    def to_velocity(self, values, axis: str) -> np.ndarray:
        """Doppler velocity c (lambda / lambda0 - 1) [km/s], positive to the red, from any axis."""
        values = np.asarray(values, dtype=float)
        if axis == "velocity":
            return values
        if axis == "x":
            return C_KMS * np.expm1(-values * self._thermal_velocity() / C_KMS)
        if axis == "wavelength":
            return C_KMS * (values - self.wavelength0) / self.wavelength0
        if axis == "frequency":
            nu0 = C_ANGSTROM / self.wavelength0
            return C_KMS * (nu0 - values) / values
        raise ValueError(f"unknown axis '{axis}': choose from {', '.join(AXIS_UNITS)}")

    def from_velocity(self, velocity, axis: str) -> np.ndarray:
        """The inverse of :meth:`to_velocity`; x = (c / v_th) ln(nu / nu0), positive to the blue."""
        velocity = np.asarray(velocity, dtype=float)
        if axis == "velocity":
            return velocity
        if axis == "x":
            return -C_KMS / self._thermal_velocity() * np.log1p(velocity / C_KMS)
        if axis == "wavelength":
            return self.wavelength0 * (1.0 + velocity / C_KMS)
        if axis == "frequency":
            return C_ANGSTROM / self.wavelength0 / (1.0 + velocity / C_KMS)
        raise ValueError(f"unknown axis '{axis}': choose from {', '.join(AXIS_UNITS)}")


@dataclass(frozen=True, repr=False)
class Spectrum:
    """A binned spectrum: luminosity per unit of its axis, with its Monte Carlo error.

    ``edges`` has one entry more than ``flux`` and ``error`` and increases. ``of`` says which
    photons were counted: escaped, emitted or absorbed.
    """

    name: str
    edges: np.ndarray
    flux: np.ndarray
    error: np.ndarray
    axis: str
    of: str
    line: Line

    @property
    def units(self) -> str:
        """Units of ``flux`` and ``error``."""
        return FLUX_UNITS[self.axis]

    @property
    def axis_units(self) -> str:
        """Units of ``edges`` and ``centers``; empty for the dimensionless x."""
        return AXIS_UNITS[self.axis]

    @property
    def widths(self) -> np.ndarray:
        return np.diff(self.edges)

    @property
    def centers(self) -> np.ndarray:
        return 0.5 * (self.edges[1:] + self.edges[:-1])

    def luminosity(self) -> tuple[float, float]:
        """The luminosity within the spectrum's range and its Monte Carlo error [erg/s]."""
        luminosity = float(np.sum(self.flux * self.widths))
        return luminosity, float(np.sqrt(np.sum((self.error * self.widths) ** 2)))

    def to(self, axis: str) -> Spectrum:
        """The same spectrum over another axis: x, velocity, wavelength or frequency.

        The edges are mapped and each bin keeps its luminosity, so the density changes by the mean
        of |d(old)/d(new)| over the bin, and the total is conserved to rounding.
        """
        edges = self.line.from_velocity(self.line.to_velocity(self.edges, self.axis), axis)
        order = slice(None, None, 1 if edges[-1] > edges[0] else -1)
        jacobian = self.widths / np.abs(np.diff(edges))
        return Spectrum(
            name=self.name,
            edges=edges[order],
            flux=(self.flux * jacobian)[order],
            error=(self.error * jacobian)[order],
            axis=axis,
            of=self.of,
            line=self.line,
        )

    def __repr__(self) -> str:
        luminosity, error = self.luminosity()
        units = f" {self.axis_units}" if self.axis_units else ""
        return (
            f"<Spectrum '{self.name}' of {self.of} {self.line.name} photons: "
            f"{len(self.flux)} bins, "
            f"{self.axis} = {self.edges[0]:.6g} to {self.edges[-1]:.6g}{units}, "
            f"L = ({luminosity:.4g} +- {error:.1g}) erg/s>"
        )
