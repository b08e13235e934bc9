"""What observers see: images and cubes with their Monte Carlo errors."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .errors import ArgumentError
from .line import C_ANGSTROM, Floats, Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class OnSky:
    """What images and cubes have in common: who sees them, and their pixels.

    ``right`` and ``up`` are the edges of the pixels in ``length`` (kpc, or arcsec where the run knew its place on the sky)
    from the ``centre`` [cm]; ``unit`` is that of the light and its ``error``; ``light`` is the luminosity [erg/s] that a
    brightness of 1 is, summed over an area of 1: 4 pi d_L^2 for fluxes. ``direction`` points from the object to the
    observer, ``of`` says whether the light escaped, or was emitted and had no transfer. ``beyond`` is the luminosity
    outside the image.
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
    length: str
    light: float


@dataclass(frozen=True, repr=False)
class Image(OnSky):
    """Surface brightness as an observer sees it, with its Monte Carlo error.

    ``brightness`` and ``error`` have rows upward and columns to the right, in ``unit``. Light is what a source would have if
    it shone the same in all directions: the mean of all observers is the light that escaped. All else is in OnSky.
    """

    brightness: Floats

    def luminosity(self) -> float:
        """Luminosity of all pixels [erg/s]."""
        area = (self.right[1] - self.right[0]) * (self.up[1] - self.up[0])
        return float(np.sum(self.brightness) * area * self.light)

    def profile(self, edges: Floats) -> tuple[Floats, Floats]:
        """Mean surface brightness in rings around the centre of the image, with these edges (in ``length``), and its error.

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
        ax.set_xlabel(f"right [{self.length}]")
        ax.set_ylabel(f"up [{self.length}]")
        ax.set_title(f"{self.name} ({self.observer})")
        ax.figure.colorbar(picture, ax=ax, label=f"surface brightness [{self.unit}]")
        return ax

    def __repr__(self) -> str:
        rows, columns = self.brightness.shape
        return f"<Image '{self.name}' for observer '{self.observer}': {columns} x {rows}, L = {self.luminosity():.4g} erg/s>"


class Moments(NamedTuple):
    """Of the spectrum in every pixel: mean and dispersion in units of the axis, and the share of the light to the blue."""

    mean: Floats
    dispersion: Floats
    blue_fraction: Floats


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
        unit = "erg s-1 kpc-2" if self.length == "kpc" else "erg s-1 cm-2 arcsec-2"
        return Image(**{**common, "error": error, "unit": unit, "brightness": brightness})

    def moments(self, low: float = -np.inf, high: float = np.inf) -> Moments:
        """Mean, dispersion and blue fraction of every pixel, from the channels whose middle lies between ``low`` and ``high``.

        Pixels without light have nan. Errors are not given: channels of a pixel are correlated, since a photon is seen in
        several of them; runs with other seeds have independent ones.
        """
        middle, width = (self.edges[1:] + self.edges[:-1]) / 2, np.diff(self.edges)
        inside = (middle >= low) & (middle < high)
        if not np.any(inside):
            raise ArgumentError(f"cube '{self.name}' has no channel between {low:g} and {high:g}")
        zero = {"wavelength": self.line.wavelength0, "frequency": C_ANGSTROM / self.line.wavelength0}.get(self.axis, 0.0)
        # Of the channel that line centre is in, the part on either side of it counts.
        below = np.clip((zero - self.edges[:-1]) / width, 0.0, 1.0)
        blue = below if self.axis in ("velocity", "wavelength") else 1.0 - below
        middle, blue = middle[inside][:, None, None], blue[inside][:, None, None]
        light = self.intensity[inside] * width[inside][:, None, None]
        total = np.sum(light, axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.sum(light * middle, axis=0) / total
            variance = np.sum(light * (middle - mean) ** 2, axis=0) / total
            return Moments(mean, np.sqrt(variance), np.sum(light * blue, axis=0) / total)

    def __repr__(self) -> str:
        channels, rows, columns = self.intensity.shape
        return f"<Cube '{self.name}' for observer '{self.observer}': {columns} x {rows} x {channels} {self.axis}>"
