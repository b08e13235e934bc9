"""What observers see: images and cubes with their Monte Carlo errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .drawing import colour_scale, draw_pixels, field_scale, in_print, panel, show_caveats, titled
from .errors import ArgumentError
from .line import AXIS_UNITS, C_KMS, Floats, Line, floats, is_axis, positive
from .quantity import all_in_unit, in_unit
from .spectrum import of_generator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Units of a window on each axis, as a configuration has them.
_UNITS = {"x": "", "velocity": "km/s", "wavelength": "Angstrom", "frequency": "Hz"}


@dataclass(frozen=True, repr=False)
class OnSky:
    """What images and cubes have in common: who sees them, and their pixels.

    ``right`` and ``up`` are the edges of the pixels in ``length`` (kpc, or arcsec where the run knew its place on the sky)
    from the ``centre`` [cm]; ``unit`` is that of the light and its ``error``; ``light`` is the luminosity [erg/s] that a
    brightness of 1 is, summed over an area of 1: 4 pi d_L^2 for fluxes. ``direction`` points from the object to the
    observer, ``of`` says whether the light escaped, or was emitted and had no transfer. ``beyond`` is the luminosity
    outside the image, ``luminosity_error`` the Monte Carlo error [erg/s] of all light in it. ``vov`` is the variance of the variance of every bin, by which the error itself is good to sqrt(vov)/2, and
    ``trusted`` the share of the light in bins whose error can be trusted (docs/formats.md); None and nan where they are not known.
    Without errors (``errors: none``) ``error`` and ``luminosity_error`` are NaN, and so is the error of all that is measured.
    ``caveats`` lists in short form what to know about it, and is shown in figures.
    ``generator`` is the name of the generators whose photons were counted, or None for all of them.
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
    luminosity_error: float
    vov: Floats | None
    trusted: float
    generator: str | None


class BrightnessPdf(NamedTuple):
    """Area of the sky per decade of surface brightness, and its error, between ``edges`` of the brightness."""

    edges: Floats
    area: Floats
    error: Floats


@dataclass(frozen=True, repr=False)
class Image(OnSky):
    """Surface brightness as an observer sees it, with its Monte Carlo error.

    ``brightness`` and ``error`` have rows upward and columns to the right, in ``unit``. Light is what a source would have if
    it shone the same in all directions: the mean of all observers is the light that escaped. All else is in OnSky.
    """

    brightness: Floats
    caveats: tuple[str, ...] = ()

    def luminosity(self) -> float:
        """Luminosity of all pixels [erg/s]."""
        return float(np.sum(self.brightness) * self.pixel_area * self.light)

    @property
    def pixel_area(self) -> float:
        """Area of a pixel, in squares of ``length``."""
        return float((self.right[1] - self.right[0]) * (self.up[1] - self.up[0]))

    def aperture(self, radius: float | str, inner: float | str = 0.0) -> tuple[float, float]:
        """Luminosity [erg/s] of a circle, or of a ring from ``inner`` to ``radius``, around the centre (in ``length``, or as text
        such as "5 kpc"), and its error, added in quadrature: a lower bound as in :meth:`profile`. Of pixels at its
        edges the part inside counts. An aperture that leaves the image is refused."""
        low, high = (
            in_unit(value, self.length, f"{what} of an aperture on image '{self.name}'")
            for value, what in ((inner, "inner"), (radius, "radius"))
        )
        if not 0.0 <= low < high:
            raise ArgumentError(f"an aperture has 0 <= inner < radius, not {inner!r} and {radius!r}")
        reach = float(min(-self.right[0], self.right[-1], -self.up[0], self.up[-1]))
        if high > reach * (1.0 + 1e-9):
            raise ArgumentError(f"an aperture of {high:g} {self.length} leaves image '{self.name}', which reaches to {reach:g} {self.length}")
        inside = self._inside(high) - self._inside(low)
        scale = self.pixel_area * self.light
        return float(np.sum(inside * self.brightness)) * scale, float(np.sqrt(np.sum((inside * self.error) ** 2))) * scale

    def _inside(self, radius: float) -> Floats:
        """The part of every pixel that is less than so far from the centre: exact along lines, 32 of them in each row."""
        inside: Floats = np.zeros_like(self.brightness)
        left, right = self.right[:-1], self.right[1:]
        for row, (low, high) in enumerate(zip(self.up[:-1], self.up[1:])):
            bottom, top = np.clip((low, high), -radius, radius)
            y = bottom + (top - bottom) * (np.arange(32) + 0.5) / 32
            half = np.sqrt(radius**2 - y**2)[:, None]
            lines = np.mean(np.clip(half, left, right) - np.clip(-half, left, right), axis=0)
            inside[row] = lines * (top - bottom) / ((right - left) * (high - low))
        return inside

    def area(self, limit: float) -> tuple[float, float]:
        """Area of the sky that is at least as bright as a limit, in squares of ``length``, and its error.

        The error is that of pixels whose own errors may take them across the limit: the number of those above it has the
        variance sum p (1 - p), where p is the probability of each to be above.
        """
        least = positive(limit, "a limit of surface brightness")
        above = self._above(least)
        error = np.sqrt(np.sum(above * (1.0 - above)))
        return float(np.sum(self.brightness >= least)) * self.pixel_area, float(error) * self.pixel_area

    def depth(self, area: float) -> tuple[float, float]:
        """Limit of surface brightness that just reaches an area (in squares of ``length``): as much is at least as bright. Its
        error is half of the step between the limits of areas that differ by the error of the area."""
        ranked = np.sort(self.brightness[self.brightness > 0.0])[::-1]
        pixels = positive(area, "an area") / self.pixel_area - 1e-9
        if pixels > len(ranked):
            raise ArgumentError(
                f"image '{self.name}' has light on {len(ranked) * self.pixel_area:g} {self.length}^2 only, not on {area:g}"
            )
        count = max(math.ceil(pixels), 1)
        limit = float(ranked[count - 1])
        error = self.area(limit)[1] / self.pixel_area
        if np.isnan(error):
            return limit, float("nan")
        shift = int(np.ceil(error))
        brighter, fainter = ranked[max(count - 1 - shift, 0)], ranked[min(count - 1 + shift, len(ranked) - 1)]
        return limit, float(brighter - fainter) / 2

    def brightness_pdf(self, edges: npt.ArrayLike) -> BrightnessPdf:
        """Distribution of surface brightness: area (in squares of ``length``) per decade, between ``edges`` of the brightness.

        The error is that of pixels whose own errors may take them into another bin, as in :meth:`area`; it does not know of
        the smearing of a steep distribution by these errors (Eddington's bias): bins should be wider than errors.
        """
        edges = floats(edges, "edges of a distribution of brightness")
        rise = edges.ndim == 1 and len(edges) > 1 and np.all(np.diff(edges) > 0)
        if not rise or not (edges[0] > 0.0 and np.isfinite(edges[-1])):
            raise ArgumentError("the edges of a distribution of brightness must be two or more numbers above 0 that increase")
        scale = self.pixel_area / np.diff(np.log10(edges))
        count = np.histogram(self.brightness, edges)[0]
        above = [self._above(edge) for edge in edges]
        within = [low - high for low, high in zip(above[:-1], above[1:])]
        variance = np.array([np.sum(p * (1.0 - p)) for p in within])
        return BrightnessPdf(edges, count * scale, np.sqrt(variance) * scale)

    def _above(self, limit: float) -> Floats:
        """Probability of every pixel to be at least as bright as a limit, for Gaussian errors; NaN without errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            sigmas = (self.brightness - limit) / self.error
        known = self.error > 0.0
        chance = 0.5 * (1.0 + np.vectorize(math.erf, otypes=[float])(np.where(known, sigmas, 0.0) / np.sqrt(2.0)))
        return np.where(known, chance, np.where(np.isnan(self.error), np.nan, self.brightness >= limit))

    def _distance(self) -> Floats:
        """Distance of the middle of every pixel from the centre."""
        right, up = ((e[1:] + e[:-1]) / 2 for e in (self.right, self.up))
        distance: Floats = np.hypot(right[None, :], up[:, None])
        return distance

    def profile(self, edges: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Mean surface brightness in rings around the centre of the image, with these edges (in ``length``, or as text such as
        "5 kpc"), and its error. Rings without a pixel have nan.

        Pixels belong to the ring of their middle. Their errors are added in quadrature; a photon that is seen in several
        pixels makes them correlated, so it is a lower bound.
        """
        edges = all_in_unit(edges, self.length, f"the edges of rings on image '{self.name}'")
        if len(edges) < 2 or not np.all(np.diff(edges) > 0):
            raise ArgumentError("the edges of rings must be two or more, and increase")
        ring = np.digitize(self._distance(), edges) - 1
        mean, error = np.full((2, len(edges) - 1), np.nan)
        for i in range(len(edges) - 1):
            inside = ring == i
            if np.any(inside):
                mean[i] = np.mean(self.brightness[inside])
                error[i] = np.sqrt(np.sum(self.error[inside] ** 2)) / np.sum(inside)
        return mean, error

    def plot(self, ax: Axes | None = None, *, decades: float = 4.0, cmap: str = "inferno", caveats: bool = True) -> Axes:
        """Draws the image on a logarithmic scale of so many ``decades`` below its brightest pixel, with a colour bar, and its
        caveats in a line below it unless ``caveats`` is false."""
        if not np.max(self.brightness) > 0:
            raise ArgumentError(f"image '{self.name}' is dark: no light reached it")
        colours, norm = colour_scale(self.brightness, decades, cmap)
        with panel(ax) as ax:
            shown = np.where(self.brightness > 0, self.brightness, np.nan)
            label = f"surface brightness [{in_print(self.unit)}]"
            draw_pixels(ax, shown, self.right, self.up, self.length, label, norm=norm, cmap=colours)
            ax.set_title(titled(self.name, self.observer))
            if caveats:
                show_caveats(ax, self.caveats)
        return ax

    def __repr__(self) -> str:
        rows, columns = self.brightness.shape
        return f"<Image '{self.name}' for observer '{self.observer}'{of_generator(self.generator)}: {columns} x {rows}, L = {self.luminosity():.4g} erg/s>"


def _is_known(light: Floats, error: Floats, least: float) -> npt.NDArray[np.bool_]:
    """Where there is light of at least so many times its error; without errors, where there is light."""
    known: npt.NDArray[np.bool_] = (light > 0.0) & ((light >= least * error) | np.isnan(error))
    return known


class Moments(NamedTuple):
    """Of the spectrum in every pixel: mean and dispersion in units of the axis, and the share of the light to the blue."""

    mean: Floats
    dispersion: Floats
    blue_fraction: Floats


class RatioMap(NamedTuple):
    """A ratio of light in every pixel, its error, and a mask that is true where both lights are well known."""

    ratio: Floats
    error: Floats
    mask: npt.NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class Cube(OnSky):
    """A spectrum in every pixel of an image, with its Monte Carlo error.

    ``intensity`` and ``error`` have the channels first, then rows upward and columns to the right; ``edges`` are those of
    the channels along ``axis``, whose wavelengths and frequencies are observed ones where the run had a ``sky``. All else is in OnSky.
    """

    intensity: Floats
    axis: str
    edges: Floats
    line: Line
    caveats: tuple[str, ...] = ()

    def image(self, low: float | str = -np.inf, high: float | str = np.inf, axis: str | None = None) -> Image:
        """The image of all channels between ``low`` and ``high``, of some a part, as a narrow-band filter gives it.

        The window is along ``axis`` (velocity, wavelength, frequency or x), by default that of the cube, in its units (km/s,
        Angstrom, Hz) or as text such as "150 km/s"; an end that is left out is open. Errors of channels are
        added in quadrature; a photon that is seen in several makes them correlated, so it is a lower bound.
        """
        inside = self._window(low, high, axis)
        brightness, error = self._sum(inside)
        common: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(OnSky)}
        unit = "erg s-1 kpc-2" if self.length == "kpc" else "erg s-1 cm-2 arcsec-2"
        of_all = self.luminosity_error if np.all(inside == 1.0) else np.nan
        common.update(error=error, unit=unit, luminosity_error=of_all, vov=None, trusted=np.nan)
        image = Image(**common, brightness=brightness, caveats=self.caveats)
        return replace(image, beyond=self.beyond + replace(image, brightness=self._sum(1.0 - inside)[0]).luminosity())

    def moments(self, low: float | str = -np.inf, high: float | str = np.inf, axis: str | None = None) -> Moments:
        """Mean, dispersion and blue fraction of every pixel, from the channels of a window as in :meth:`image`.

        The light of a channel counts at the middle of the part that is in the window.
        Pixels without light have nan. Errors are not given: channels of a pixel are correlated, since a photon is seen in
        several of them; runs with other seeds have independent ones.
        """
        inside, (first, last, along) = self._window(low, high, axis), self._ends(low, high, axis)
        within = np.clip(self._edges_along(along), first, last)
        edges = within if along == self.axis else self.line.from_velocity(self.line.to_velocity(within, along), self.axis)
        middle = ((edges[1:] + edges[:-1]) / 2)[:, None, None]
        light = self.intensity * (np.diff(self.edges) * inside)[:, None, None]
        total = np.sum(light, axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.sum(light * middle, axis=0) / total
            variance = np.sum(light * (middle - mean) ** 2, axis=0) / total
        return Moments(mean, np.sqrt(variance), self.blue_fraction(low, high, axis).ratio)

    def plot(
        self, ax: Axes | None = None, *, moment: str | None = None, low: float | str = -np.inf, high: float | str = np.inf,
        axis: str | None = None, least: float = 3.0, decades: float = 4.0, cmap: str | None = None, caveats: bool = True,
    ) -> Axes:  # fmt: skip
        """Draws the image of a window as :meth:`image` and :meth:`Image.plot` do, or a ``moment`` of it: "mean", "dispersion" or
        "blue_fraction". Pixels whose light is less than ``least`` times its error are grey; without errors, those without light."""
        image = self.image(low, high, axis)
        if moment is None:
            return image.plot(ax, decades=decades, cmap=cmap or "inferno", caveats=caveats)
        if moment not in Moments._fields:
            raise ArgumentError(f"unknown moment {moment!r}: choose from {', '.join(Moments._fields)}")
        known = _is_known(image.brightness, image.error, self._least(least))
        if not np.any(known):
            raise ArgumentError(f"cube '{self.name}' has no pixel with light of {least:g} times its error: add photons, or set least=0")
        values = np.where(known, getattr(self.moments(low, high, axis), moment), np.nan)
        unit = f" [{in_print(AXIS_UNITS[self.axis])}]" if AXIS_UNITS[self.axis] else ""
        label = "share of the light to the blue" if moment == "blue_fraction" else f"{moment} {self.axis}{unit}".replace("dispersion velocity", "velocity dispersion")
        about_0 = moment == "mean" and self.axis in ("velocity", "x")
        colours, norm = field_scale(values, 8.0, cmap or ("RdBu" if moment == "blue_fraction" else None), about_0, linear=True)
        if moment == "blue_fraction":
            norm.vmin, norm.vmax = 0.0, 1.0
        with panel(ax) as ax:
            draw_pixels(ax, values, self.right, self.up, self.length, label, norm=norm, cmap=colours)
            ax.set_title(titled(self.name, self.observer))
            if caveats:
                show_caveats(ax, self.caveats)
        return ax

    def blue_fraction(
        self, low: float | str = -np.inf, high: float | str = np.inf, axis: str | None = None, *, least: float = 3.0
    ) -> RatioMap:
        """Share of the light of every pixel to the blue of line centre, in a window as in :meth:`image`.

        Of the channel that line centre is in, the part on either side of it counts. With b that part, the error is
        sqrt(sum (b_i - f)^2 dL_i^2)/L, for channels that are independent. The mask is true where the light L is at least
        ``least`` times its error, or without errors where there is light; pixels without light have nan.
        """
        least = self._least(least)
        inside, (first, last, along) = self._window(low, high, axis), self._ends(low, high, axis)
        zero = float(self.line.from_velocity(0.0, along))
        bluewards = (first, min(last, zero)) if along in ("velocity", "wavelength") else (max(first, zero), last)
        to_blue = self._part(*bluewards, along)
        blue = np.divide(to_blue, inside, out=np.zeros_like(inside), where=inside > 0.0)[:, None, None]
        scale = (np.diff(self.edges) * inside)[:, None, None]
        light, error = self.intensity * scale, self.error * scale
        total, of_total = self._sum(inside)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.sum(light * blue, axis=0) / total
            spread = np.sqrt(np.sum(((blue - ratio) * error) ** 2, axis=0)) / total
        return RatioMap(ratio, spread, _is_known(total, of_total, least))

    def doublet_ratio(self, first: float | str, second: float | str, within: float | str, *, least: float = 3.0) -> RatioMap:
        """Light around the ``first`` over that around the ``second`` of two transitions in every pixel.

        These are wavelengths in vacuum at rest [Angstrom] (``result.transitions`` has them by name), and ``within`` is the velocity [km/s] on
        either side of each that counts, of channels at its ends a part; the cube must have all of it. Text such as "100 km/s" will
        do, too. Errors are those of independent channels. The mask is
        true where both lights are at least ``least`` times their errors, or without errors where there is light around both;
        pixels without light around the second have nan.
        """
        least = self._least(least)
        reach = positive(in_unit(within, "km/s", "within"), "within [km/s]") / C_KMS
        lines = [positive(in_unit(w, "Angstrom", "a wavelength"), "a wavelength [Angstrom]") for w in (first, second)]
        if lines[0] == lines[1]:
            raise ArgumentError(f"a ratio is of two transitions, not of {lines[0]:g} Angstrom twice")
        windows = [(line * (1.0 - reach), line * (1.0 + reach)) for line in lines]
        blue, red = sorted(windows)
        if blue[1] > red[0]:
            raise ArgumentError(
                f"the windows of {lines[0]:g} and {lines[1]:g} Angstrom overlap: take less than {reach * C_KMS:g} km/s"
            )
        stretch = 1.0 + self.line.redshift  # the channels may be observed ones
        wavelengths = np.sort(self._edges_along("wavelength")) / stretch
        little = 1e-3 * np.diff(wavelengths)  # of a channel: the same velocity is not the same for both lines
        for line, (low, high) in zip(lines, windows):
            if low < wavelengths[0] - little[0] or high > wavelengths[-1] + little[-1]:
                raise ArgumentError(
                    f"cube '{self.name}' does not have all of the window around {line:g} Angstrom, {low:g} to {high:g}: "
                    f"its channels are from {wavelengths[0]:g} to {wavelengths[-1]:g}"
                )
        (light, error), (other, of_other) = (self._sum(self._window(low * stretch, high * stretch, "wavelength")) for low, high in windows)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(other > 0.0, light / other, np.nan)
            spread = np.where(other > 0.0, np.hypot(error, ratio * of_other) / other, np.nan)
        return RatioMap(ratio, spread, _is_known(light, error, least) & _is_known(other, of_other, least))

    def _window(self, low: float | str, high: float | str, axis: str | None) -> Floats:
        """The part of every channel that lies between two values of an axis; an error if that is none of any."""
        first, last, along = self._ends(low, high, axis)
        inside = self._part(first, last, along)
        if not np.any(inside > 0.0):
            edges, unit = self._edges_along(along), _UNITS[along]
            raise ArgumentError(
                f"cube '{self.name}' has no channel between {first:g} and {last:g} {unit}".rstrip()
                + f": its channels are from {np.min(edges):g} to {np.max(edges):g}"
            )
        return inside

    def _ends(self, low: float | str, high: float | str, axis: str | None) -> tuple[float, float, str]:
        """The ends of a window, checked, and its axis."""
        along = self.axis if axis is None else axis
        if not is_axis(along):
            raise ArgumentError(f"unknown axis {axis!r}: choose from {', '.join(AXIS_UNITS)}")
        first, last = (in_unit(v, _UNITS[along], f"{end} of a window") for v, end in ((low, "low"), (high, "high")))
        if not first < last:
            raise ArgumentError(f"a window is from a lower to a higher value, not from {low!r} to {high!r}")
        return first, last, along

    def _edges_along(self, axis: str) -> Floats:
        """Edges of the channels on any axis; they may fall."""
        return self.edges if axis == self.axis else self.line.from_velocity(self.line.to_velocity(self.edges, self.axis), axis)

    def _part(self, low: float, high: float, axis: str) -> Floats:
        """The part of every channel that lies between two values of an axis."""
        edges = self._edges_along(axis)
        first, last = np.minimum(edges[1:], edges[:-1]), np.maximum(edges[1:], edges[:-1])
        inside: Floats = np.clip((np.minimum(last, high) - np.maximum(first, low)) / (last - first), 0.0, 1.0)
        return inside

    @staticmethod
    def _least(least: float) -> float:
        number = in_unit(least, "", "least, how many errors the light must be,")
        if number < 0.0:
            raise ArgumentError(f"least, how many errors the light must be, must be 0 or more, not {least!r}")
        return number

    def _sum(self, inside: Floats) -> tuple[Floats, Floats]:
        """Light of parts of channels in every pixel, and its error."""
        width = (np.diff(self.edges) * inside)[:, None, None]
        light = np.sum(self.intensity * width, axis=0)
        if self.error_method == "none":
            return light, np.full_like(light, np.nan)
        return light, np.sqrt(np.sum((self.error * width) ** 2, axis=0))

    def __repr__(self) -> str:
        channels, rows, columns = self.intensity.shape
        return f"<Cube '{self.name}' for observer '{self.observer}'{of_generator(self.generator)}: {columns} x {rows} x {channels} {self.axis}>"
