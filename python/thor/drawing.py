"""What figures of all products have in common. matplotlib is imported only when one is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ArgumentError, optional
from .line import Array, Floats, positive

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
    """A unit with raised powers, negative ones last: "erg s-1 kpc-2"."""
    unit = " ".join(sorted(unit.split(), key=lambda part: "-" in part))
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


def field_scale(values: Floats, decades: float, cmap: str | None) -> tuple[Any, Any]:
    """Colours and a norm for the values of a field: diverging about 0 if they have both signs, logarithmic over at most so
    many decades if they are positive and differ by more than a factor of 3, else linear. What is nan is grey."""
    positive(decades, "decades")
    matplotlib, colors = optional("matplotlib"), optional("matplotlib.colors")
    known = values[np.isfinite(values)]
    low, high = (float(np.min(known)), float(np.max(known))) if known.size else (0.0, 1.0)
    above = float(np.min(known[known > 0.0])) if known.size and high > 0.0 else 1.0
    if low < 0.0 < high:
        norm, usual = colors.Normalize(-max(-low, high), max(-low, high)), "RdBu_r"
    elif low >= 0.0 and high > 3.0 * above:
        norm, usual = colors.LogNorm(max(above, high / 10**decades), high), "inferno"
    else:
        norm, usual = colors.Normalize(low, high), "inferno"
    name = usual if cmap is None else cmap
    if not isinstance(name, str) or name not in matplotlib.colormaps:
        raise ArgumentError(f"matplotlib has no colour map {cmap!r}: choose from list(matplotlib.colormaps)")
    return matplotlib.colormaps[name].with_extremes(bad="0.6"), norm


def draw_pixels(ax: Axes, values: Array, right: Floats, up: Floats, length: str, label: str | None = None, **how: Any) -> None:
    """An image with rows upward, the units of its sides, and a colour bar where there is a ``label`` for it."""
    picture = ax.imshow(values, origin="lower", extent=(right[0], right[-1], up[0], up[-1]), **how)
    unit = f" [{length}]" if length else ""
    ax.set_xlabel(f"right{unit}")
    ax.set_ylabel(f"up{unit}")
    if label is not None:
        ax.figure.colorbar(picture, ax=ax, label=label)


#: Of the line of caveats below a figure.
_WARNING: dict[str, Any] = {"fontsize": "x-small", "color": "#B00020"}
_CAVEATS = "_thor caveats: "


def _one_line(caveats: Iterable[str], inches: float) -> str:
    """Caveats in one line as wide as a figure; what has no room is in thor info."""
    letters, more, parts = int(inches * 18.0), "; more in thor info", list(dict.fromkeys(caveats))
    if len(text := "; ".join(parts)) <= letters:
        return text
    while len(parts) > 1 and len("; ".join(parts) + more) > letters:
        parts.pop()
    return "; ".join(parts)[: letters - len(more)] + more


def show_caveats(ax: Axes, caveats: Iterable[str]) -> None:
    """Prints the caveats of what is drawn in one line below its axes; a second call adds to them."""
    earlier = [text for text in ax.texts if str(text.get_label()).startswith(_CAVEATS)]
    said = [line for text in earlier for line in str(text.get_label())[len(_CAVEATS) :].splitlines()]
    said = list(dict.fromkeys([*said, *caveats]))
    for text in earlier:
        text.remove()
    if said:
        line = _one_line(said, ax.figure.get_figwidth())
        place = {"xy": (0.5, 0.0), "xycoords": ax.xaxis.label, "xytext": (0.0, -3.0), "textcoords": "offset points"}
        shown = ax.annotate(line, **place, ha="center", va="top", annotation_clip=False, **_WARNING)
        shown.set_label(_CAVEATS + "\n".join(said))


def show_caveats_of_all(figure: Figure, caveats: Iterable[str]) -> None:
    """Prints caveats in one line below all axes of a figure."""
    line = _one_line(caveats, figure.get_figwidth())
    if line:
        figure.supxlabel(line, **_WARNING)


def ticks_inside(ax: Axes) -> None:
    ax.minorticks_on()
    ax.tick_params(which="both", direction="in", top=True, right=True)
