"""Histograms of several axes with their Monte Carlo errors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .errors import ArgumentError
from .line import Floats, Line


@dataclass(frozen=True, repr=False)
class Histogram:
    """Luminosity [erg/s] in bins of one to three properties of photons, with its Monte Carlo error.

    ``axes`` names them in the order of the dimensions of ``luminosity`` and ``error``; ``edges`` and ``units`` have
    the edges of the bins of each, and their units. ``of`` says which photons were counted, ``beyond`` is the
    luminosity outside all bins, and ``error_method`` how the error was found (docs/formats.md). x and velocities are
    relative to ``line.wavelength0``, which may differ between the outputs of a run.
    """

    name: str
    axes: tuple[str, ...]
    edges: dict[str, Floats]
    units: dict[str, str]
    luminosity: Floats
    error: Floats
    of: str
    beyond: float
    error_method: str
    line: Line

    def along(self, *axes: str) -> Histogram:
        """Summed over all axes but these.

        Errors add in quadrature where a photon is in one bin only (``error_method`` is histories). Otherwise bins are
        correlated, and the error is the sum of theirs, an upper bound.
        """
        unknown = [axis for axis in axes if axis not in self.axes]
        if unknown or not axes:
            wanted = ", ".join(map(str, unknown)) or "none at all"
            raise ArgumentError(f"histogram '{self.name}' has the axes {', '.join(self.axes)}, not {wanted}")
        kept = tuple(axis for axis in self.axes if axis in axes)
        over = tuple(i for i, axis in enumerate(self.axes) if axis not in axes)
        independent = self.error_method == "histories"
        return replace(
            self,
            axes=kept,
            edges={axis: self.edges[axis] for axis in kept},
            units={axis: self.units[axis] for axis in kept},
            luminosity=np.sum(self.luminosity, axis=over),
            error=np.sqrt(np.sum(self.error**2, axis=over)) if independent else np.sum(self.error, axis=over),
        )

    def __repr__(self) -> str:
        shape = " x ".join(f"{len(self.edges[axis]) - 1} {axis}" for axis in self.axes)
        return f"<Histogram '{self.name}' of {self.of} photons: {shape}, L = {np.sum(self.luminosity):.4g} erg/s>"
