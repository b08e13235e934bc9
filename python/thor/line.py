"""A line, and the four axes of a spectrum around it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import ArgumentError

#: Arrays of numbers, and arrays of anything (a photon's id is an integer, its position a triple).
Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]

C_KMS = 299792.458  # speed of light [km/s]
C_ANGSTROM = 2.99792458e18  # speed of light [Angstrom/s]

#: Units of each axis, as astropy reads them.
AXIS_UNITS = {"x": "", "velocity": "km s-1", "wavelength": "Angstrom", "frequency": "Hz"}


def is_axis(name: Any) -> bool:
    return isinstance(name, str) and name in AXIS_UNITS


def positive(value: Any, what: str) -> float:
    """A finite number above 0; otherwise an error that describes it as ``what``."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if isinstance(value, (str, bytes)) or not 0.0 < number < float("inf"):
        raise ArgumentError(f"{what} must be a number above 0, not {value!r}")
    return number


def floats(values: npt.ArrayLike, what: str) -> Floats:
    """Converts to an array of numbers."""
    try:
        array: Floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{what}: expected numbers: {error}") from error
    return array


@dataclass(frozen=True)
class Line:
    """The relation between the axes: the transition that x and velocities are relative to, and the
    gas's thermal speed.

    ``wavelength0`` is that of the line's first transition, or of an output's ``reference``.
    ``thermal_velocity`` [km/s] is the Doppler parameter b = sqrt(2 k T / m), the unit of x; None if no
    single temperature describes the gas. With a ``redshift`` wavelengths and frequencies are observed ones, and
    ``wavelength0`` is still that at rest.
    """

    name: str
    wavelength0: float  # in vacuum [Angstrom]
    thermal_velocity: float | None = None
    redshift: float = 0.0

    def __post_init__(self) -> None:
        positive(self.wavelength0, "a wavelength [Angstrom]")
        if self.thermal_velocity is not None:
            positive(self.thermal_velocity, "a thermal velocity [km/s]")

    @property
    def label(self) -> str:
        """The name of the line in print, with its reference wavelength: Lyα 1215.67 Å."""
        ion = re.fullmatch(r"([A-Z][a-z]?)([IVX]+)(?:_(\w+))?", self.name)
        name = " ".join(part for part in ion.groups() if part) if ion else self.name
        return f"{'Lyα' if name == 'Lya' else name} {self.wavelength0:.2f} Å"

    def about(self, wavelength0: float) -> Line:
        """The same line, with x and velocities relative to another wavelength [Angstrom]."""
        return replace(self, wavelength0=positive(wavelength0, "a wavelength [Angstrom]"))

    @property
    def observed0(self) -> float:
        """Wavelength of the zero point [Angstrom] in the frame of wavelengths: (1 + z) times ``wavelength0``."""
        return self.wavelength0 * (1.0 + self.redshift)

    def _thermal_velocity(self) -> float:
        if not self.thermal_velocity:
            raise ArgumentError("x needs a thermal velocity, which this result does not have")
        return self.thermal_velocity

    def to_velocity(self, values: npt.ArrayLike, axis: str) -> Floats:
        """Doppler velocity c (lambda / lambda0 - 1) [km/s], positive to the red, from any axis."""
        v = floats(values, axis if is_axis(axis) else "values")
        if axis == "x":
            v = C_KMS * np.expm1(-v * self._thermal_velocity() / C_KMS)
        elif axis == "wavelength":
            v = C_KMS * (v - self.observed0) / self.observed0
        elif axis == "frequency":
            v = C_KMS * (C_ANGSTROM / self.observed0 - v) / v
        elif axis != "velocity":
            raise ArgumentError(f"unknown axis {axis!r}: choose from {', '.join(AXIS_UNITS)}")
        return v

    def from_velocity(self, velocity: npt.ArrayLike, axis: str) -> Floats:
        """The inverse of :meth:`to_velocity`; x = (c / v_th) ln(nu / nu0), positive to the blue."""
        v = floats(velocity, "velocity")
        if axis == "x":
            v = -C_KMS / self._thermal_velocity() * np.log1p(v / C_KMS)
        elif axis == "wavelength":
            v = self.observed0 * (1.0 + v / C_KMS)
        elif axis == "frequency":
            v = C_ANGSTROM / self.observed0 / (1.0 + v / C_KMS)
        elif axis != "velocity":
            raise ArgumentError(f"unknown axis {axis!r}: choose from {', '.join(AXIS_UNITS)}")
        return v
