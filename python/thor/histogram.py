"""Histograms of several axes with their Monte Carlo errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .drawing import COLORS, colour_bar, colour_scale, is_logarithmic, panel, show_caveats, ticks_inside
from .errors import ArgumentError
from .line import Floats, Line
from .spectrum import are_known, of_generator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Labels of axes and the unit of their ticks; LINE is where x and velocities are relative to.
_LABEL = {
    "x": ("dimensionless frequency $x$ from LINE", 1.0),
    "velocity": ("velocity from LINE [km s$^{-1}$]", 1.0),
    "wavelength": ("vacuum wavelength [Å]", 1.0),
    "frequency": ("frequency [THz]", 1e12),
    "radius": ("radius of the last scattering [kpc]", 3.0856775814913673e21),
    "impact": ("projected radius [kpc]", 3.0856775814913673e21),
    "scatterings": ("scatterings", 1.0),
    "cosine": ("cosine of the direction to the $z$ axis", 1.0),
}


@dataclass(frozen=True, repr=False)
class Histogram:
    """Luminosity [erg/s] in bins of one to three properties of photons, with its Monte Carlo error.

    ``axes`` names them in the order of the dimensions of ``luminosity`` and ``error``; ``edges`` and ``units`` have
    the edges of the bins of each, and their units. ``of`` says which photons were counted, ``beyond`` is the
    luminosity outside all bins, and ``error_method`` how the error was found (docs/formats.md); without errors
    (``errors: none``) ``error`` is NaN. ``vov`` and ``trusted`` are as in an :class:`Image`; what is summed over axes has
    neither. x and velocities are relative to ``line.wavelength0``, which may differ between the outputs of a run. ``generator`` is the name of the
    generators whose photons were counted, or None for all of them.
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
    caveats: tuple[str, ...] = ()
    generator: str | None = None
    vov: Floats | None = None
    trusted: float = np.nan

    def along(self, *axes: str) -> Histogram:
        """Summed over all axes but these.

        Errors add in quadrature, since a photon is in one bin only. Where ``error_method`` is groups, as in some earlier files,
        the error is the sum of theirs, an upper bound.
        """
        unknown = [axis for axis in axes if axis not in self.axes]
        if unknown or not axes:
            wanted = ", ".join(map(str, unknown)) or "none at all"
            raise ArgumentError(f"histogram '{self.name}' has the axes {', '.join(self.axes)}, not {wanted}")
        kept = tuple(axis for axis in self.axes if axis in axes)
        over = tuple(i for i, axis in enumerate(self.axes) if axis not in axes)
        if not over:
            return self
        independent = self.error_method != "groups"
        return replace(
            self,
            axes=kept,
            edges={axis: self.edges[axis] for axis in kept},
            units={axis: self.units[axis] for axis in kept},
            luminosity=np.sum(self.luminosity, axis=over),
            error=np.sqrt(np.sum(self.error**2, axis=over)) if independent else np.sum(self.error, axis=over),
            vov=None,
            trusted=np.nan,
        )

    def plot(self, ax: Axes | None = None, *, decades: float = 4.0, cmap: str = "inferno", caveats: bool = True) -> Axes:
        """Draws the luminosity of the bins: of one axis as steps in a band of one Monte Carlo standard deviation, of two in colours
        of so many ``decades`` below the brightest bin. Of three axes, take two with :meth:`along`. Axes with bins of equal ratio
        are logarithmic. Caveats are in a line below it unless ``caveats`` is false."""
        if len(self.axes) > 2:
            raise ArgumentError(
                f"histogram '{self.name}' has {len(self.axes)} axes, {', '.join(self.axes)}, and a figure has two: sum over the others "
                f"with along('{self.axes[0]}', '{self.axes[1]}') in Python, --along {self.axes[0]},{self.axes[1]} of the plot command"
            )
        if not np.max(self.luminosity) > 0:
            raise ArgumentError(f"histogram '{self.name}' is dark: no light is in its bins")
        colours, norm = colour_scale(self.luminosity, decades, cmap)
        with panel(ax) as ax:
            edges = [self.edges[axis] / _LABEL.get(axis, ("", 1.0))[1] for axis in self.axes]
            labels = [self._label(axis) for axis in self.axes]
            if len(edges) == 1:
                if are_known(self.error):
                    band = {"fill": True, "color": COLORS[0], "alpha": 0.25, "lw": 0}
                    ax.stairs(self.luminosity + self.error, edges[0], baseline=self.luminosity - self.error, **band)
                ax.stairs(self.luminosity, edges[0], baseline=None, color=COLORS[0], lw=1.1)
                ax.set_ylim(bottom=0.0, auto=None)
                ax.set_ylabel("luminosity of a bin [erg s$^{-1}$]")
                ax.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4), useMathText=True)
            else:
                shown = np.where(self.luminosity > 0, self.luminosity, np.nan).T
                picture = ax.pcolormesh(*edges, shown, norm=norm, cmap=colours, rasterized=True)
                ax.set_facecolor(colours(0.0))
                colour_bar(ax, picture, "luminosity of a bin [erg s$^{-1}$]")
                ax.set_ylim(edges[1][0], edges[1][-1])
                ax.set_ylabel(labels[1])
                if is_logarithmic(edges[1]):
                    ax.set_yscale("log")
            if is_logarithmic(edges[0]):
                ax.set_xscale("log")
            else:
                ax.ticklabel_format(axis="x", style="plain", useOffset=False)
                ax.locator_params(axis="x", nbins=6)  # as many as long numbers have room
            ax.set_xlim(edges[0][0], edges[0][-1])
            ax.set_xlabel(labels[0])
            ax.set_title(f"{self.name} ({self.of})")
            if len(edges) == 1:
                ticks_inside(ax)
            if caveats:
                show_caveats(ax, self.caveats)
        return ax

    def _label(self, axis: str) -> str:
        known = _LABEL.get(axis, (f"{axis} [{self.units[axis]}]" if self.units[axis] else axis, 1.0))
        return known[0].replace("LINE", self.line.label)

    def __repr__(self) -> str:
        shape = " x ".join(f"{len(self.edges[axis]) - 1} {axis}" for axis in self.axes)
        return f"<Histogram '{self.name}' of {self.of} photons{of_generator(self.generator)}: {shape}, L = {np.sum(self.luminosity):.4g} erg/s>"
