"""Figures of spectra."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from .drawing import COLORS as COLORS
from .drawing import PAPER as PAPER
from .drawing import panel, show_caveats, ticks_inside
from .errors import ArgumentError, MissingError
from .line import AXIS_UNITS, Floats, is_axis
from .result import Result
from .spectrum import Spectrum, are_known

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_X_LABEL = {
    "x": r"Dimensionless frequency $x$ from LINE",
    "velocity": r"Velocity $\Delta v$ from LINE $[\mathrm{km\,s^{-1}}]$",
    "wavelength": r"Vacuum wavelength $\lambda\ [\mathrm{\AA}]$, LINE",
    "frequency": r"Frequency $\nu\ [\mathrm{THz}]$, LINE",
}
_SYMBOL = {"x": "x", "velocity": "v", "wavelength": r"\lambda", "frequency": r"\nu"}
_Y_UNITS = {
    "x": r"\mathrm{erg\,s^{-1}}",
    "velocity": r"\mathrm{erg\,s^{-1}\,(km\,s^{-1})^{-1}}",
    "wavelength": r"\mathrm{erg\,s^{-1}\,\AA^{-1}}",
    "frequency": r"\mathrm{erg\,s^{-1}\,Hz^{-1}}",
}
_PER_AREA = (r"\mathrm{erg\,s^{-1}", r"\mathrm{erg\,s^{-1}\,cm^{-2}")
_NORMALISED_UNITS = {
    "x": "",
    "velocity": r"\ [\mathrm{(km\,s^{-1})^{-1}}]",
    "wavelength": r"\ [\mathrm{\AA^{-1}}]",
    "frequency": r"\ [\mathrm{Hz^{-1}}]",
}
# Hz are too many to label ticks with.
_TICK_UNIT = {"x": 1.0, "velocity": 1.0, "wavelength": 1.0, "frequency": 1e12}

#: Mark that distinguishes our curves from others in the same axes.
_GID = "thor: "

Source = Union[Result, Spectrum, Sequence[Spectrum], Mapping[str, Spectrum]]


def _choose(source: Source, name: str | None) -> dict[str, Spectrum]:
    """The spectra to draw, by label."""
    if isinstance(source, Spectrum):
        return {source.name: source}
    if isinstance(source, Result):
        if not source.spectra:
            others = [*source.histograms, *source.images, *source.cubes, *source.profiles]
            raise MissingError(f"{source.path}: the run kept no spectra" + (f"; --name draws {', '.join(others)}" if others else ""))
        if name is None:
            escaped = {k: s for k, s in source.spectra.items() if s.of == "escaped"}
            of_all_directions = {k: s for k, s in escaped.items() if s.observer is None}
            return of_all_directions or escaped or source.spectra
        source = source.spectra
    elif not isinstance(source, Mapping):
        source = {spectrum.name: spectrum for spectrum in _checked(source)}
    _checked(source.values())
    if name is None:
        return dict(source)
    if name not in source:
        raise MissingError(f"no spectrum '{name}': available are {', '.join(source)}")
    return {name: source[name]}


def _checked(spectra: Iterable[Spectrum]) -> Iterable[Spectrum]:
    if not isinstance(spectra, Iterable):
        raise ArgumentError(f"expected a result or spectra to draw, not {spectra!r}")
    wrong = [spectrum for spectrum in spectra if not isinstance(spectrum, Spectrum)]
    if wrong:
        raise ArgumentError(f"expected a result or spectra to draw, not {wrong[0]!r}")
    return spectra


def plot_spectrum(
    source: Source,
    ax: Axes | None = None,
    *,
    axis: str | None = None,
    name: str | None = None,
    label: str | None = None,
    normalize: bool = False,
    analytic: Callable[[Floats], Floats] | None = None,
    analytic_label: str = "analytic",
    color: str | None = None,
    colors: Sequence[str] = COLORS,
    legend_title: str | None = None,
    caveats: bool = True,
) -> Axes:
    """Draws spectra as step histograms in a band of one Monte Carlo standard deviation, or without a band if they have no errors.

    ``source`` is a result (its spectra of escaped photons are drawn, those of observers only if there are no others; or
    the one called ``name``), a spectrum, or several: a list, or a mapping from labels. ``axis`` redraws them over x,
    velocity, wavelength or frequency; ``normalize`` divides each by its luminosity. ``analytic``
    is a function of the axis with unit integral, scaled to the luminosity of the first spectrum:

        plot_spectrum(result, axis="x", analytic=lambda x: thor.analytic.sphere(x, a, tau0))

    The axis names the line and the wavelength of its zero point. Caveats of a spectrum
    (:attr:`Spectrum.caveats`: an interrupted run, lost photons, light beyond the range) are printed in one line below
    the axes, unless ``caveats`` is false. ``ax`` is drawn into if given; ``color`` applies to all
    spectra, ``colors`` has one for each. Returns the axes. Fonts are matplotlib's, or those of a paper
    after ``plt.style.use(thor.PAPER)``.
    """
    chosen = _choose(source, name)
    if not chosen:
        raise ArgumentError("no spectrum to draw")
    axis = next(iter(chosen.values())).axis if axis is None else axis
    if not is_axis(axis):
        raise ArgumentError(f"unknown axis {axis!r}: choose from {', '.join(AXIS_UNITS)}")
    spectra = {key: spectrum.to(axis) for key, spectrum in chosen.items()}
    first_total = next(iter(spectra.values())).integral()[0]
    is_flux = {spectrum.is_flux for spectrum in spectra.values()}
    if len(is_flux) > 1 and not normalize:
        raise ArgumentError("spectra are fluxes and luminosities, which do not share an axis: draw them with normalize=True")
    if len({spectrum.line.redshift for spectrum in spectra.values()}) > 1 and axis in ("wavelength", "frequency"):
        raise ArgumentError(f"spectra are of different redshifts, and do not share a {axis} axis: draw them with axis='velocity'")
    if normalize:
        spectra = {key: spectrum.normalised() for key, spectrum in spectra.items()}
    with panel(ax) as ax:
        unit = _TICK_UNIT[axis]
        used = len(ax.patches)
        drawn = sum(str(patch.get_gid() or "").startswith(_GID) for patch in ax.patches)

        for i, (key, spectrum) in enumerate(spectra.items()):
            flux, error, edges = spectrum.flux, spectrum.error, spectrum.edges / unit
            hue = color or colors[(drawn + i) % len(colors)]
            if are_known(error):
                band = {"fill": True, "color": hue, "alpha": 0.25, "lw": 0}
                ax.stairs(flux + error, edges, baseline=flux - error, **band)
            text = label if label is not None and len(spectra) == 1 else key
            ax.stairs(flux, edges, baseline=None, color=hue, lw=1.1, label=text, gid=_GID + spectrum.line.label)

        first = next(iter(spectra.values()))
        if analytic is not None:
            fine = np.linspace(first.edges[0], first.edges[-1], 2001)
            curve = (1.0 if normalize else first_total) * analytic(fine)
            ax.plot(fine / unit, curve, "--", color="black", lw=1.0, label=analytic_label)

        low = min(s.edges[0] for s in spectra.values()) / unit
        high = max(s.edges[-1] for s in spectra.values()) / unit
        if used:
            low, high = min(low, ax.get_xlim()[0]), max(high, ax.get_xlim()[1])
        _dress(ax, axis, (low, high), normalize, first)
        if caveats:
            _tell(ax, {label: first} if label is not None and len(spectra) == 1 else spectra, label is not None)
        if len(spectra) > 1 or label or analytic is not None or used:
            # Room for the legend above the line.
            rows = sum(1 + text.count("\n") for text in ax.get_legend_handles_labels()[1]) + (legend_title is not None)
            ax.set_ylim(top=ax.get_ylim()[1] * (1.05 + 0.08 * rows), auto=None)
            ax.legend(frameon=False, handlelength=1.6, loc="upper right", title=legend_title)
    return ax


def _dress(ax: Axes, axis: str, limits: tuple[float, float], normalize: bool, spectrum: Spectrum) -> None:
    """Labels with units, ticks inside, nothing else."""
    symbol, light = _SYMBOL[axis], "F" if spectrum.is_flux else "L"
    if normalize:
        ax.set_ylabel(rf"${light}^{{-1}}\,\mathrm{{d}}{light}/\mathrm{{d}}{symbol}{_NORMALISED_UNITS[axis]}$")
    else:
        units = _Y_UNITS[axis].replace(*_PER_AREA) if spectrum.is_flux else _Y_UNITS[axis]
        ax.set_ylabel(rf"$\mathrm{{d}}{light}/\mathrm{{d}}{symbol}\ [{units}]$")
    gids = [str(patch.get_gid() or "") for patch in ax.patches]
    lines = dict.fromkeys(gid[len(_GID) :] for gid in gids if gid.startswith(_GID))
    label = _X_LABEL[axis].replace("LINE", " and ".join(lines))
    if spectrum.is_flux and axis in ("wavelength", "frequency"):
        label = f"Observed {label[0].lower()}{label[1:]}, $z = {spectrum.line.redshift:g}$"
    ax.set_xlabel(label)
    ax.set_xlim(*limits)
    ax.set_ylim(bottom=0.0, auto=None)
    ticks_inside(ax)
    ax.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4), useMathText=True)
    ax.ticklabel_format(axis="x", style="plain", useOffset=False)


def _tell(ax: Axes, spectra: Mapping[str, Spectrum], labelled: bool) -> None:
    """Prints the caveats of the spectra below the axes."""
    said: list[str] = []
    everywhere = set.intersection(*(set(spectrum.caveats) for spectrum in spectra.values()))
    named = labelled and len(spectra) == 1
    for key, spectrum in spectra.items():
        for caveat in spectrum.caveats:
            line = caveat if caveat in everywhere and not named else f"{key}: {caveat}"
            said.append(line)
    show_caveats(ax, said)
