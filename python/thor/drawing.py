"""What figures of all products have in common. matplotlib is imported only when one is drawn."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ArgumentError, optional
from .line import Floats, positive

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe & Ito's colours, which colour-blind readers can distinguish.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

#: matplotlib settings for figures in a paper, one column wide: plt.style.use(thor.PAPER).
PAPER: dict[str, Any] = {
    "font.family": ["STIXGeneral", "DejaVu Serif"],
    "font.size": 10,
    "mathtext.fontset": "stix",
    "figure.figsize": (4.2, 3.1),
    "figure.constrained_layout.use": True,
    "savefig.dpi": 300,
}


def new_axes() -> Axes:
    """Axes of a new pyplot figure, one column wide."""
    plt = optional("matplotlib.pyplot")
    axes: Axes = plt.subplots(figsize=PAPER["figure.figsize"], constrained_layout=True)[1]
    return axes


def in_print(unit: str) -> str:
    """A unit with raised powers: "erg s-1 kpc-2"."""
    return re.sub(r"(?<=[A-Za-z])(-?\d+)\b", r"$^{\1}$", unit)


def is_logarithmic(edges: Floats) -> bool:
    """Whether bins, which are of equal width or of equal ratio, are of equal ratio."""
    widths = np.diff(edges)
    return bool(edges[0] > 0.0 and not np.allclose(widths, widths[0], rtol=1e-3))


def middles(edges: Floats) -> Floats:
    """Where the middles of bins are in a figure."""
    middle: Floats = np.sqrt(edges[1:] * edges[:-1]) if is_logarithmic(edges) else (edges[1:] + edges[:-1]) / 2
    return middle


def colour_scale(light: Floats, decades: float, cmap: str) -> tuple[Any, Any]:
    """Colours, and a logarithmic norm of so many decades below the brightest; what has no light has the lowest colour."""
    positive(decades, "decades")
    matplotlib, colors = optional("matplotlib"), optional("matplotlib.colors")
    if not isinstance(cmap, str) or cmap not in matplotlib.colormaps:
        raise ArgumentError(f"matplotlib has no colour map {cmap!r}: choose from list(matplotlib.colormaps)")
    colours = matplotlib.colormaps[cmap]
    colours = colours.with_extremes(bad=colours(0.0))
    brightest = float(np.max(light))
    return colours, colors.LogNorm(brightest / 10**decades, brightest)


#: Of caveats above a figure.
WARNING: dict[str, Any] = {"fontsize": "x-small", "color": "#B00020"}


def show_caveats(figure: Figure, caveats: Iterable[str]) -> None:
    """Prints caveats above all of a figure, in lines as wide as it."""
    letters = int(figure.get_figwidth() * 20.0)  # of this size to an inch
    lines = [line for caveat in caveats for line in textwrap.wrap(caveat, letters)]
    if lines:
        figure.suptitle("\n".join(lines), **WARNING)


def ticks_inside(ax: Axes) -> None:
    ax.minorticks_on()
    ax.tick_params(which="both", direction="in", top=True, right=True)
