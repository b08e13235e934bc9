"""Figures of sweeps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from .errors import ArgumentError, optional
from .plot import plot_spectrum
from .spectrum import Spectrum
from .sweep_index import as_text, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SweepData(Protocol):
    """What a figure reads of a sweep; :class:`thor.Sweep` and :class:`thor.SweepFile` have it."""

    @property
    def parameters(self) -> list[dict[str, Any]]: ...

    @property
    def varied(self) -> list[str]: ...

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Any]]: ...


# Keys as written in papers.
_SYMBOL = {
    "dataset.tau0": r"$\tau_0$",
    "dataset.column_density": r"$N_\mathrm{HI}$",
    "dataset.number_density": r"$n_\mathrm{HI}$",
    "dataset.temperature": r"$T$",
    "dataset.b_turb": r"$b_\mathrm{turb}$",
    "dataset.dust.tau": r"$\tau_\mathrm{d}$",
    "dataset.velocity.max": r"$v_\mathrm{max}$",
    "dataset.velocity.average": r"$\langle v\rangle$",
}
_UNIT = {
    "km/s": r"\,\mathrm{km\,s^{-1}}",
    "cm^-2": r"\,\mathrm{cm^{-2}}",
    "cm^-3": r"\,\mathrm{cm^{-3}}",
    "K": r"\,\mathrm{K}",
}


def symbol(key: str) -> str:
    """Key as written in a paper: tau_0 for dataset.tau0."""
    return _SYMBOL.get(key, short(key).replace("_", " "))


def value_label(value: Any) -> str:
    """Value as written in a paper: 2 x 10^20 cm^-2 for "2e20 cm^-2"."""
    match = re.fullmatch(r"([-+]?[\d.]+)(?:e([-+]?\d+))?\s*(\S*)", as_text(value))
    if match is None or (match[3] and match[3] not in _UNIT):
        return as_text(value)
    text = match[1].lstrip("+").replace("-", "{-}")
    if match[2]:
        power = f"10^{{{int(match[2])}}}"
        text = power if float(match[1]) == 1.0 else rf"{text}\times{power}"
    return f"${text}{_UNIT.get(match[3], '')}$"


def plot_sweep(
    sweep: SweepData,
    over: str,
    ax: Axes | None = None,
    *,
    axis: str | None = None,
    name: str | None = None,
    normalize: bool = False,
    rebin: int = 1,
    caveats: bool = True,
) -> Axes:
    """Draws the spectra of a sweep for each value of the key ``over``, from dark to light.

    The other parameters must be the same in all: choose with ``sweep.where``. ``name`` is the
    spectrum to draw (default: the first of escaped photons), ``rebin`` merges that many bins;
    ``axis``, ``normalize`` and ``caveats`` are as for :func:`thor.plot_spectrum`. Returns the axes.
    """
    matplotlib = optional("matplotlib")
    optional("matplotlib.colors")
    if over not in sweep.varied:
        raise ArgumentError(f"'{over}' was not varied: available are {', '.join(sweep.varied)}")
    for key in sweep.varied:
        values = {as_text(parameters.get(key)) for parameters in sweep.parameters}
        if key != over and len(values) > 1:
            raise ArgumentError(f"'{key}' differs too: choose with sweep.where({{'{key}': ...}})")
    spectra: dict[str, Spectrum] = {}
    for parameters, result in sweep:
        with result:
            spectrum = result.spectrum(name).rebin(rebin)
            spectra[value_label(parameters.get(over))] = spectrum
    shades = matplotlib.colormaps["viridis"]
    steps = max(len(spectra) - 1, 1)
    colors = [matplotlib.colors.to_hex(shades(0.8 * i / steps)) for i in range(len(spectra))]
    return plot_spectrum(
        spectra, ax, axis=axis, normalize=normalize, colors=colors, legend_title=symbol(over), caveats=caveats
    )
