"""What observers see: images and cubes with their Monte Carlo errors."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from .errors import ArgumentError
from .line import Floats, Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class OnSky:
    """What images and cubes have in common: who sees them, and their pixels.

    ``right`` and ``up`` are the edges of the pixels [kpc] from the ``centre`` [cm]; ``unit`` is that of the light and its
    ``error``. ``direction`` points from the object to the observer, ``of`` says whether the light escaped, or was emitted
    and had no transfer. ``beyond`` is the luminosity outside the image.
    """

    name: str
    observer: str
    error: Floats
    unit: str
    right: Floats
    up: Floats
    direction: Floats
    centre: Floats
    of: str
    beyond: float
    error_method: str


@dataclass(frozen=True, repr=False)
class Image(OnSky):
    """Surface brightness as an observer sees it, with its Monte Carlo error.

    ``brightness`` and ``error`` have rows upward and columns to the right, in ``unit``. Light is what a source would have if
    it shone the same in all directions: the mean of all observers is the light that escaped. All else is in OnSky.
    """

    brightness: Floats

    def luminosity(self) -> float:
        """Luminosity of all pixels [erg/s]."""
        return float(np.sum(self.brightness) * (self.right[1] - self.right[0]) * (self.up[1] - self.up[0]))

    def profile(self, edges: Floats) -> tuple[Floats, Floats]:
        """Mean surface brightness in rings around the centre of the image, with these edges [kpc], and its error.

        Pixels belong to the ring of their middle. Their errors are added in quadrature; a photon that is seen in several
        pixels makes them correlated, so it is a lower bound.
        """
        edges = np.asarray(edges, float)
        if edges.ndim != 1 or len(edges) < 2 or not np.all(np.diff(edges) > 0):
            raise ArgumentError("the edges of rings must increase")
        right, up = ((e[1:] + e[:-1]) / 2 for e in (self.right, self.up))
        ring = np.digitize(np.hypot(right[None, :], up[:, None]), edges) - 1
        mean, error = np.full((2, len(edges) - 1), np.nan)
        for i in range(len(edges) - 1):
            inside = ring == i
            if np.any(inside):
                mean[i] = np.mean(self.brightness[inside])
                error[i] = np.sqrt(np.sum(self.error[inside] ** 2)) / np.sum(inside)
        return mean, error

    def plot(self, ax: Axes | None = None, *, decades: float = 4.0, cmap: str = "inferno") -> Axes:
        """Draws the image on a logarithmic scale of so many ``decades`` below its brightest pixel, with a colour bar."""
        import matplotlib
        from matplotlib.colors import LogNorm

        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots()[1]
        brightest = float(np.max(self.brightness))
        if not brightest > 0:
            raise ArgumentError(f"image '{self.name}' is dark: no light reached it")
        shown = np.where(self.brightness > 0, self.brightness, np.nan)
        colours = matplotlib.colormaps[cmap].copy()
        colours.set_bad(colours(0.0))
        picture = ax.imshow(
            shown,
            origin="lower",
            extent=(self.right[0], self.right[-1], self.up[0], self.up[-1]),
            norm=LogNorm(brightest / 10**decades, brightest),
            cmap=colours,
        )
        ax.set_xlabel("right [kpc]")
        ax.set_ylabel("up [kpc]")
        ax.set_title(f"{self.name} ({self.observer})")
        ax.figure.colorbar(picture, ax=ax, label=f"surface brightness [{self.unit}]")
        return ax

    def __repr__(self) -> str:
        rows, columns = self.brightness.shape
        return f"<Image '{self.name}' for observer '{self.observer}': {columns} x {rows}, L = {self.luminosity():.4g} erg/s>"


@dataclass(frozen=True, repr=False)
class Cube(OnSky):
    """A spectrum in every pixel of an image, with its Monte Carlo error.

    ``intensity`` and ``error`` have the channels first, then rows upward and columns to the right; ``edges`` are those of
    the channels along ``axis``. All else is in OnSky.
    """

    intensity: Floats
    axis: str
    edges: Floats
    line: Line

    def image(self, low: float = -np.inf, high: float = np.inf) -> Image:
        """The image of all channels whose middle lies between ``low`` and ``high``, as a narrow-band filter gives it.

        Errors of channels are added in quadrature; a photon that is seen in several makes them correlated, so it is a
        lower bound.
        """
        middle, width = (self.edges[1:] + self.edges[:-1]) / 2, np.diff(self.edges)
        inside = (middle >= low) & (middle < high)
        if not np.any(inside):
            raise ArgumentError(f"cube '{self.name}' has no channel between {low:g} and {high:g}")
        weight = width[inside][:, None, None]
        brightness = np.sum(self.intensity[inside] * weight, axis=0)
        error = np.sqrt(np.sum((self.error[inside] * weight) ** 2, axis=0))
        common = {field.name: getattr(self, field.name) for field in fields(OnSky)}
        return Image(**{**common, "error": error, "unit": "erg s-1 kpc-2", "brightness": brightness})

    def __repr__(self) -> str:
        channels, rows, columns = self.intensity.shape
        return f"<Cube '{self.name}' for observer '{self.observer}': {columns} x {rows} x {channels} {self.axis}>"
