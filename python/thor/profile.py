"""Radial profiles of surface brightness, as observers see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .errors import ArgumentError
from .line import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Profile:
    """Surface brightness in rings around a centre, with its Monte Carlo error.

    ``brightness`` and ``error`` are in ``unit``, one for each ring; ``edges`` are the radii between rings in ``length``: kpc, or
    arcsec where the run knew its place on the ``sky``. All else is as in an :class:`Image`.
    """

    name: str
    observer: str
    brightness: Floats
    error: Floats
    unit: str
    edges: Floats
    length: str
    light: float
    direction: Floats
    centre: Floats
    of: str
    beyond: float
    error_method: str
    luminosity_error: float
    vov: Floats | None
    trusted: float

    @property
    def centers(self) -> Floats:
        """Radii in the middle of the rings."""
        return (self.edges[1:] + self.edges[:-1]) / 2

    def luminosity(self) -> float:
        """Luminosity of all rings [erg/s]."""
        return float(np.sum(self.brightness * np.pi * np.diff(self.edges**2)) * self.light)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the profile with its error bars; both axes are logarithmic, the radius where its rings are."""
        if not np.any(self.brightness > 0):
            raise ArgumentError(f"profile '{self.name}' is dark: no light reached it")
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots()[1]
        ratio = self.edges[1:] / np.maximum(self.edges[:-1], 1e-300)
        if self.edges[0] > 0 and np.allclose(ratio, ratio[0], rtol=1e-6):
            ax.set_xscale("log")
        shown = np.where(self.brightness > 0, self.brightness, np.nan)
        ax.stairs(shown, self.edges, baseline=None, color="#0072B2")
        ax.errorbar(self.centers, shown, self.error, fmt="none", lw=0.8, color="0.4")
        ax.set_yscale("log")
        ax.set_xlim(self.edges[0], self.edges[-1])
        ax.set_xlabel(f"radius [{self.length}]")
        ax.set_ylabel(f"surface brightness [{self.unit}]")
        ax.set_title(f"{self.name} ({self.observer})")
        return ax

    def __repr__(self) -> str:
        return (
            f"<Profile '{self.name}' for observer '{self.observer}': {len(self.brightness)} rings, "
            f"L = {self.luminosity():.4g} erg/s>"
        )
