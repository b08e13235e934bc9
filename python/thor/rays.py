"""What rays found: images and pictures of cameras, absorption spectra, and fields along sightlines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from .drawing import COLORS, draw_pixels, field_scale, in_print, panel, show_caveats, ticks_inside, titled
from .errors import ArgumentError, MissingError
from .line import AXIS_UNITS, C_KMS, Floats, Line, positive
from .quantity import in_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KPC = 3.0856775814913673e21  # cm

#: Which sightlines: one by its number, or several.
Which = Union[int, Sequence[int]]


def _is_velocity(field: str) -> bool:
    """Whether a field is a velocity along an axis or along the rays."""
    return re.fullmatch(r"(\w+_)?velocity(_[xyz])?", field) is not None


def _in_words(field: str) -> str:
    """A field, or a product of fields, in print."""
    return field.replace("_", " ").replace(" * ", " × ")


@dataclass(frozen=True, repr=False)
class OfCamera:
    """What images and pictures have in common: their camera, and the edges of their pixels.

    ``right`` and ``up`` are edges in ``length``: kpc from the ``centre`` [cm] of an orthographic camera; degrees of longitude
    and latitude of an equirectangular one; tangents of angles, without unit, of one with perspective, whose position [cm]
    ``centre`` is then. ``direction`` points from what is seen to the camera, ``axes`` are the unit vectors to the right
    and up in the image. ``operator`` and ``field`` are those of the configuration.
    """

    name: str
    operator: str
    field: str
    camera: str
    camera_type: str
    right: Floats
    up: Floats
    length: str
    direction: Floats
    centre: Floats
    axes: Floats

    @property
    def pixel_area(self) -> float:
        """Area of a pixel, in squares of ``length``."""
        return float((self.right[1] - self.right[0]) * (self.up[1] - self.up[0]))


@dataclass(frozen=True, repr=False)
class RayImage(OfCamera):
    """A projection or a slice: ``values`` in ``unit``, rows upward and columns to the right; nan where a ray met no gas, or
    none of the ``weight``. All else is in OfCamera."""

    values: Floats
    unit: str
    weight: str = ""
    caveats: tuple[str, ...] = ()

    def total(self) -> float:
        """Sum over all pixels times their area [cm^2]: of a projected density the mass or the number in the image."""
        if self.operator != "projection" or self.weight:
            raise ArgumentError(f"image '{self.name}' is no integral along rays: only projections without a weight have a total")
        if self.length != "kpc":
            raise ArgumentError(f"image '{self.name}' is of camera type {self.camera_type}, whose pixels have no area in cm^2")
        return float(np.nansum(self.values)) * self.pixel_area * KPC**2

    @property
    def label(self) -> str:
        """What the values are, with their unit."""
        what = _in_words(self.field)
        if self.operator == "projection":
            what = f"{what}, mean by {_in_words(self.weight)}" if self.weight else rf"$\int$ {what} d$s$"
        return f"{what} [{in_print(self.unit)}]" if self.unit else what

    def plot(self, ax: Axes | None = None, *, decades: float = 8.0, cmap: str | None = None, label: str | None = None, caveats: bool = True, **limits: float) -> Axes:
        """Draws the image with a colour bar: on a logarithmic scale of at most so many ``decades`` if its values are positive, in
        colours that diverge from 0 if they are velocities or have both signs; nan is grey. ``vmin`` and ``vmax`` set the ends of
        the scale. Caveats are in a line below it unless ``caveats`` is false."""
        unknown = [name for name in limits if name not in ("vmin", "vmax")]
        if unknown:
            raise ArgumentError(f"plot has no argument {unknown[0]!r}: vmin and vmax are the ends of the colours")
        colours, norm = field_scale(self.values, decades, cmap, _is_velocity(self.field))
        norm.vmin, norm.vmax = limits.get("vmin", norm.vmin), limits.get("vmax", norm.vmax)
        with panel(ax) as ax:
            shown = np.where(self.values < norm.vmin, norm.vmin, self.values)  # a logarithm has no colour for 0
            draw_pixels(ax, shown, self.right, self.up, self.length, self.label if label is None else label, norm=norm, cmap=colours)
            ax.set_title(titled(self.name, self.camera))
            if caveats:
                show_caveats(ax, self.caveats)
        return ax

    def __repr__(self) -> str:
        rows, columns = self.values.shape
        by = f" by {self.weight}" if self.weight else ""
        unit = f", {self.unit}" if self.unit else ""
        return f"<RayImage '{self.name}', {self.operator} of {self.field}{by} for camera '{self.camera}': {columns} x {rows}{unit}>"


@dataclass(frozen=True, repr=False)
class Picture(OfCamera):
    """A volume rendering: ``rgba`` has red, green and blue, which may exceed 1 where it is overexposed, and the share of the
    light behind that is held back; rows upward and columns to the right. All else is in OfCamera."""

    rgba: Floats
    caveats: tuple[str, ...] = ()

    def over(self, background: Sequence[float] = (0.0, 0.0, 0.0), stretch: float = 0.0) -> Floats:
        """Red, green and blue from 0 to 1, before a background.

        Where a colour exceeds 1 it is cut. With a ``stretch`` q above 0 none does: the brightest colour m of a pixel becomes
        asinh(q m)/asinh(q M), where M is that of the brightest pixel, and the others keep their ratio to it (Lupton et al. 2004).
        """
        light = self.rgba[..., :3]
        if stretch != 0.0:
            q, brightest = positive(stretch, "stretch"), np.max(light, axis=-1, keepdims=True)
            most = max(float(np.max(brightest)), 1e-300)
            scale = np.divide(np.arcsinh(q * brightest), brightest, out=np.zeros_like(brightest), where=brightest > 0.0)
            light = light * scale / np.arcsinh(q * most)
        behind = (1.0 - self.rgba[..., 3:]) * np.asarray(background, dtype=float)
        shown: Floats = np.clip(light + behind, 0.0, 1.0)
        return shown

    def plot(self, ax: Axes | None = None, *, background: Sequence[float] = (0.0, 0.0, 0.0), stretch: float = 0.0, caveats: bool = True) -> Axes:
        """Draws the picture before a background; ``stretch`` as in :meth:`over`. Caveats are in a line below it unless ``caveats``
        is false."""
        with panel(ax) as ax:
            draw_pixels(ax, self.over(background, stretch), self.right, self.up, self.length)
            ax.set_title(titled(self.name, self.camera))
            if caveats:
                show_caveats(ax, self.caveats)
        return ax

    def __repr__(self) -> str:
        rows, columns, _ = self.rgba.shape
        return f"<Picture '{self.name}', {self.operator} of {self.field} for camera '{self.camera}': {columns} x {rows}>"


def _chosen(which: Which, count: int, what: str) -> list[int]:
    numbers = [which] if isinstance(which, (int, np.integer)) else list(which)
    if not numbers:
        raise ArgumentError(f"{what}: no sightline was chosen: give the number of one, or several")
    for number in numbers:
        if not isinstance(number, (int, np.integer)) or not -count <= number < count:
            raise MissingError(f"{what} has no sightline {number!r}: there are {count}, from 0 on")
    return [int(number) % count for number in numbers]


@dataclass(frozen=True, repr=False)
class Absorption:
    """Absorption spectra of sightlines, a row each.

    ``tau`` and ``flux`` (1 is the continuum) are means of bins between ``edges`` along ``axis``: velocities c ln(lambda/lambda0)
    [km/s], to which gas at a distance s adds v + H s, positive to the red; or wavelengths [Angstrom]. ``observed`` is the flux
    after the line-spread function of ``lsf`` [km/s, full width at half maximum] and with noise of ``signal_to_noise``, or None.
    Of each sightline there are ``column_density`` [cm-2] of the absorber, ``equivalent_width`` [Angstrom], ``begin`` [cm] and
    ``direction``, away from the observer. ``hubble`` [1/s] is 0 where nothing expands. ``beyond`` says what is beyond the ends of
    sightlines: "periodic", the images of the box; "empty", no gas; "unknown": bins outside of the two ends of ``covered`` of a
    sightline are nan, since gas outside of the box would absorb there.
    """

    name: str
    tau: Floats
    flux: Floats
    observed: Floats | None
    edges: Floats
    axis: str
    line: Line
    column_density: Floats
    equivalent_width: Floats
    begin: Floats
    direction: Floats
    hubble: float
    oversampling: int
    lsf: float
    signal_to_noise: float
    beyond: str = "empty"
    covered: Floats | None = None
    caveats: tuple[str, ...] = ()

    @property
    def axis_units(self) -> str:
        """Units of ``edges`` and ``centers``."""
        return AXIS_UNITS[self.axis]

    @property
    def centers(self) -> Floats:
        centers: Floats = 0.5 * (self.edges[1:] + self.edges[:-1])
        return centers

    @property
    def velocity_edges(self) -> Floats:
        """Edges as velocities c ln(lambda/lambda0) [km/s]."""
        if self.axis == "velocity":
            return self.edges
        edges: Floats = C_KMS * np.log(self.edges / self.line.wavelength0)
        return edges

    def __len__(self) -> int:
        return len(self.flux)

    def mean_flux(self, low: float | str = -np.inf, high: float | str = np.inf) -> tuple[float, float]:
        """Mean flux of all sightlines between two values of the axis, and its error: the scatter of the means of sightlines over
        the root of their number. Sightlines of one box share its structure, so the error is a lower bound; of one alone it is nan.
        Bins that are nan are left out; sightlines count by what is left of them."""
        means, widths = self._within(low, high)
        known = widths > 0.0
        count, share = int(np.sum(known)), widths[known] / np.sum(widths)
        if count == 0:
            return float("nan"), float("nan")
        mean = float(np.sum(share * means[known]))
        scatter = np.sqrt(np.sum((share * (means[known] - mean)) ** 2))
        return mean, float(scatter * np.sqrt(count / (count - 1))) if count > 1 else float("nan")

    def effective_depth(self, low: float | str = -np.inf, high: float | str = np.inf) -> tuple[float, float]:
        """Effective optical depth, -ln of the mean flux, and its error."""
        mean, error = self.mean_flux(low, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(-np.log(mean)), float(np.divide(error, mean))

    def _within(self, low: float | str, high: float | str) -> tuple[Floats, Floats]:
        """Mean flux of every sightline in a window, and the width over which it is known; of bins that it cuts, the part inside
        counts."""
        unit = "km/s" if self.axis == "velocity" else "Angstrom"
        first, last = (in_unit(v, unit, f"{end} of a window") for v, end in ((low, "low"), (high, "high")))
        inside = np.clip(np.minimum(self.edges[1:], last) - np.maximum(self.edges[:-1], first), 0.0, None)
        if not np.any(inside > 0.0):
            raise ArgumentError(
                f"absorption '{self.name}' has no bin between {low!r} and {high!r}: its bins are from {self.edges[0]:g} to "
                f"{self.edges[-1]:g} {unit}"
            )
        known = np.isfinite(self.flux)
        widths: Floats = known @ inside
        with np.errstate(invalid="ignore"):
            means: Floats = np.where(known, self.flux, 0.0) @ inside / widths
        return means, widths

    def tomography(self, low: float | str = -np.inf, high: float | str = np.inf) -> RayImage:
        """Mean flux between two values of the axis as an image, of sightlines on a regular grid: as the observer sees them, to whom
        the box is behind the image."""
        n, forward = round(len(self) ** 0.5), self.direction[0]
        hint = np.array([0.0, 1.0, 0.0] if abs(forward[1]) < 0.9 else [0.0, 0.0, 1.0])
        right = np.cross(forward, hint)
        right /= np.linalg.norm(right)
        up = np.cross(right, forward)
        at = [(self.begin @ axis).reshape(n, n) if n * n == len(self) else np.zeros((1, 1)) for axis in (right, up)]
        edges = [_edges(at[0][0]), _edges(at[1][:, 0])]
        side = max(np.ptp(e) for e in edges)
        even = n > 1 and np.allclose(at[0], at[0][0], atol=1e-6 * side) and np.allclose(at[1], at[1][:, :1], atol=1e-6 * side)
        steps = [np.diff(e) for e in edges]
        if not even or not all(np.allclose(s, s[0], rtol=1e-4) and s[0] > 0 for s in steps):
            raise ArgumentError(f"the sightlines of absorption '{self.name}' are no regular grid: set sightlines.grid")
        middles = [float(e[0] + e[-1]) / 2 for e in edges]
        return RayImage(
            name=self.name, operator="absorption", field="flux", camera="sightlines", camera_type="orthographic",
            right=(edges[0] - middles[0]) / KPC, up=(edges[1] - middles[1]) / KPC, length="kpc", direction=-forward,
            centre=middles[0] * right + middles[1] * up, axes=np.array([right, up]),
            values=self._within(low, high)[0].reshape(n, n), unit="",
        )  # fmt: skip

    def plot(self, which: Which = 0, ax: Axes | None = None, *, what: str = "flux", colors: Sequence[str] = COLORS, caveats: bool = True, **style: Any) -> Axes:
        """Draws one or several sightlines as steps: their ``flux``, ``tau`` (on a logarithmic scale) or ``observed``. Caveats are in
        a line below them unless ``caveats`` is false."""
        if what not in ("flux", "tau", "observed"):
            raise ArgumentError(f"what is drawn is flux, tau or observed, not {what!r}")
        values = getattr(self, what)
        if values is None:
            raise MissingError(f"absorption '{self.name}' has neither a line-spread function nor noise: nothing was observed")
        chosen = _chosen(which, len(self), f"absorption '{self.name}'")
        with panel(ax) as ax:
            for order, number in enumerate(chosen):
                text = rf"sightline {number}: $N = {_power(self.column_density[number])}$ cm$^{{-2}}$"
                ax.stairs(values[number], self.edges, baseline=None, **{"color": colors[order % len(colors)], "lw": 0.9, "label": text, **style})
            ax.set_xlim(self.edges[0], self.edges[-1])
            if what == "tau":
                ax.set_yscale("log")
            else:
                seen = values[chosen][np.isfinite(values[chosen])]  # and room for the legend above the continuum
                top, bottom = float(np.max(seen, initial=1.05)), float(np.min(seen, initial=-0.05))
                ax.set_ylim(bottom, top + 0.13 * len(chosen), auto=None)
            ax.set_ylabel({"flux": "flux / continuum", "tau": r"optical depth $\tau$", "observed": "observed flux / continuum"}[what])
            wave = r"vacuum wavelength $\lambda\ [\mathrm{\AA}]$"
            ax.set_xlabel(rf"$c\,\ln(\lambda/\lambda_0)\ [\mathrm{{km\,s^{{-1}}}}]$, {self.line.label}" if self.axis == "velocity" else wave)
            ticks_inside(ax)
            ax.legend(frameon=False, loc="best" if what == "tau" else "upper right")
            if caveats:
                show_caveats(ax, self.caveats)
        return ax

    def __repr__(self) -> str:
        return (
            f"<Absorption '{self.name}' by {self.line.name}: {len(self)} sightlines of {self.flux.shape[1]} bins, "
            f"{self.axis} = {self.edges[0]:.6g} to {self.edges[-1]:.6g} {self.axis_units}, mean flux {self.mean_flux()[0]:.4g}>"
        )


def _edges(middles: Floats) -> Floats:
    """Edges between middles at equal distances."""
    step = (middles[-1] - middles[0]) / max(len(middles) - 1, 1)
    edges: Floats = middles[0] + step * (np.arange(len(middles) + 1) - 0.5)
    return edges


def _power(number: float) -> str:
    """A number as 1.2 x 10^20, in mathematics."""
    if not number > 0.0:
        return "0"
    mantissa, exponent = f"{number:.1e}".split("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}"


@dataclass(frozen=True, repr=False)
class Trace(Mapping[str, Floats]):
    """Fields along one sightline, piece by piece: ``trace["temperature"]``. Pieces ``begin`` at a distance [cm] along it and have a
    ``length`` [cm]; ``units`` has those of the fields."""

    begin: Floats
    length: Floats
    fields: dict[str, Floats]
    units: dict[str, str]

    def __getitem__(self, name: str) -> Floats:
        if name not in self.fields:
            raise MissingError(f"no field '{name}' along this sightline: available are {', '.join(self.fields)}")
        return self.fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def integral(self, name: str) -> float:
        """Of a field along the sightline, in its unit times cm."""
        return float(np.sum(self[name] * self.length))

    def __repr__(self) -> str:
        return f"<Trace of {', '.join(self.fields)}: {len(self.begin)} pieces>"


class Traces(Sequence[Trace]):
    """Fields along sightlines: ``traces[i]`` is the i-th."""

    def __init__(self, name: str, traces: Sequence[Trace], caveats: tuple[str, ...] = ()):
        self.name = name
        self.caveats = caveats
        self._traces = list(traces)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, slice):
            return Traces(self.name, self._traces[which], self.caveats)
        return self._traces[_chosen(which, len(self), f"trace '{self.name}'")[0]]

    def __len__(self) -> int:
        return len(self._traces)

    def plot(self, field: str, which: Which = 0, ax: Axes | None = None, *, colors: Sequence[str] = COLORS, caveats: bool = True) -> Axes:
        """Draws a field along one or several sightlines, over the distance along them; on a logarithmic scale if it is positive and
        differs by more than a factor of 3. Caveats are in a line below it unless ``caveats`` is false."""
        chosen = _chosen(which, len(self), f"trace '{self.name}'")
        runs = [(number, self._traces[number], self._traces[number][field]) for number in chosen]
        with panel(ax) as ax:
            far = max((float(t.begin[-1] + t.length[-1]) for _, t, _ in runs if len(t.begin)), default=0.0)
            unit, size = ("Mpc", 1e3 * KPC) if far > 3e3 * KPC else ("kpc", KPC) if far > 0.3 * KPC else ("pc", 1e-3 * KPC)
            for order, (number, trace, values) in enumerate(runs):
                if not len(values):
                    continue
                edges = np.append(trace.begin, trace.begin[-1] + trace.length[-1]) / size
                ax.stairs(values, edges, baseline=None, color=colors[order % len(colors)], lw=1.0, label=f"sightline {number}")
            every = np.concatenate([values for _, _, values in runs])
            if every.size and np.min(every) > 0.0 and np.max(every) > 3.0 * np.min(every):
                ax.set_yscale("log")
            in_unit = runs[0][1].units.get(field, "")
            ax.set_ylabel(_in_words(field) + (f" [{in_print(in_unit)}]" if in_unit else ""))
            ax.set_xlabel(f"distance along the sightline [{unit}]")
            ticks_inside(ax)
            if len(runs) > 1:
                low, high = ax.get_ylim()  # and room for the legend above the curves
                room = 0.1 * len(runs)
                ax.set_ylim(top=high * (high / low) ** room if ax.get_yscale() == "log" else high + room * (high - low), auto=None)
                ax.legend(frameon=False, loc="upper right")
            if caveats:
                show_caveats(ax, self.caveats)
        return ax

    def __repr__(self) -> str:
        fields = ", ".join(self._traces[0]) if self._traces else "nothing"
        return f"<Traces '{self.name}' of {fields}: {len(self)} sightlines>"
