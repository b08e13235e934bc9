"""Radial profiles of surface brightness, as observers see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .drawing import COLORS, in_print, is_logarithmic, middles, panel, show_caveats, ticks_inside, titled
from .errors import ArgumentError
from .line import Floats
from .spectrum import are_known, of_generator

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
    caveats: tuple[str, ...] = ()
    generator: str | None = None

    @property
    def centers(self) -> Floats:
        """Radii in the middle of the rings."""
        return (self.edges[1:] + self.edges[:-1]) / 2

    def luminosity(self) -> float:
        """Luminosity of all rings [erg/s]."""
        return float(np.sum(self.brightness * np.pi * np.diff(self.edges**2)) * self.light)

    def plot(self, ax: Axes | None = None, *, color: str = COLORS[0], label: str | None = None, caveats: bool = True) -> Axes:
        """Draws the profile with its error bars, if it has errors; both axes are logarithmic, the radius where its rings are. Several may share
        the axes. Caveats are in a line below it unless ``caveats`` is false."""
        if not np.any(self.brightness > 0):
            raise ArgumentError(f"profile '{self.name}' is dark: no light reached it")
        with panel(ax) as ax:
            if is_logarithmic(self.edges):
                ax.set_xscale("log")
            shown = np.where(self.brightness > 0, self.brightness, np.nan)
            ax.stairs(shown, self.edges, baseline=None, color=color, lw=1.1, label=label)
            if are_known(self.error):
                # An error bar down to zero ends at a tenth of the value.
                below = np.minimum(self.error, 0.9 * self.brightness)
                ax.errorbar(middles(self.edges), shown, (below, self.error), fmt="none", lw=0.8, color=color)
            ax.set_yscale("log")
            ax.set_xlim(self.edges[0], self.edges[-1])
            ax.set_xlabel(f"radius [{self.length}]")
            ax.set_ylabel(f"surface brightness [{in_print(self.unit)}]")
            ax.set_title(titled(self.name, self.observer))
            ticks_inside(ax)
            if caveats:
                show_caveats(ax, self.caveats)
        return ax

    def __repr__(self) -> str:
        return (
            f"<Profile '{self.name}' for observer '{self.observer}'{of_generator(self.generator)}: {len(self.brightness)} rings, "
            f"L = {self.luminosity():.4g} erg/s>"
        )
