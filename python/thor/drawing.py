"""What figures of all products have in common. matplotlib is imported only when one is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ArgumentError, optional
from .line import Array, Floats, positive

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe & Ito's colours, which colour-blind readers can distinguish.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

#: matplotlib settings for figures in a paper, one column wide: plt.style.use(thor.PAPER). Figures that plot() makes have them.
PAPER: dict[str, Any] = {
    "font.family": ["STIXGeneral", "DejaVu Serif"],
    "font.size": 9,
    "mathtext.fontset": "stix",
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "axes.linewidth": 0.7,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.fontsize": 8,
    "legend.title_fontsize": 8,
    "figure.figsize": (3.4, 2.6),
    "figure.constrained_layout.use": True,
    "savefig.dpi": 300,
}

#: Width [in] of a figure with several panels, and the height of a row of them.
WIDE, ROW = 7.0, 2.75

#: Group id of figures that are made here, whose size and line of caveats are ours.
_OWN = "thor: figure"


@contextmanager
def paper(make: Callable[..., Figure] | None = None) -> Iterator[Figure]:
    """A new figure in the style of a paper, of pyplot or by a class of figures, to be drawn in the block."""
    matplotlib = optional("matplotlib")
    plt = optional("matplotlib.pyplot") if make is None else None
    if plt is not None:
        matplotlib.get_backend()  # chosen within rc_context, it would be chosen again after it, and figures closed
    with matplotlib.rc_context(PAPER):
        figure: Figure = (make or plt.figure)(dpi=PAPER["savefig.dpi"])
        figure.set_gid(_OWN)
        try:
            yield figure
        except BaseException:
            if plt is not None:
                plt.close(figure)
            raise
        finish(figure)


def finish(figure: Figure) -> None:
    """Breaks labels that are longer than the figure, and fixes the type of ticks that are made when it is drawn."""
    for ax in (each for of_figure in figure.axes for each in (of_figure, *of_figure.child_axes)):
        for axis, side in ((ax.xaxis, figure.bbox.width), (ax.yaxis, figure.bbox.height)):
            axis.set_tick_params(which="both", labelsize=PAPER["xtick.labelsize"])
            axis.get_major_ticks(1)  # later ones have the type of the first
            axis.get_minor_ticks(1)
            box = axis.label.get_window_extent()
            if max(box.width, box.height) > 0.97 * side * (1.0 if len(figure.axes) == 1 else 0.5):
                axis.label.set_text(_in_two_lines(axis.label.get_text()))


def _in_two_lines(text: str) -> str:
    """A label broken at the space that is nearest to its middle, and not in a formula."""
    spaces = [i for i, letter in enumerate(text) if letter == " " and text[:i].count("$") % 2 == 0]
    if not spaces or "\n" in text:
        return text
    shown = [len(re.sub(r"\$[^$]*\$", "mmm", text[:i])) for i in spaces]
    middle = len(re.sub(r"\$[^$]*\$", "mmm", text)) / 2
    at = spaces[int(np.argmin(np.abs(np.array(shown) - middle)))]
    return f"{text[:at]}\n{text[at + 1 :]}"


@contextmanager
def panel(ax: Axes | None) -> Iterator[Axes]:
    """``ax``, or axes of a new pyplot figure in the style of a paper, one column wide."""
    if ax is not None:
        yield ax
        return
    with paper() as figure:
        yield figure.add_subplot()


def is_own(figure: Figure) -> bool:
    """Whether a figure was made by :func:`paper`."""
    return bool(figure.get_gid() == _OWN)


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


def field_scale(values: Floats, decades: float, cmap: str | None, diverging: bool = False, linear: bool = False) -> tuple[Any, Any]:
    """Colours and a norm for the values of a field: diverging about 0 if they have both signs or are ``diverging``, logarithmic
    over at most so many decades if they are positive and differ by more than a factor of 3, else, or if asked for, linear. NaN
    is grey."""
    positive(decades, "decades")
    matplotlib, colors = optional("matplotlib"), optional("matplotlib.colors")
    known = values[np.isfinite(values)]
    low, high = (float(np.min(known)), float(np.max(known))) if known.size else (0.0, 1.0)
    above = float(np.min(known[known > 0.0])) if known.size and high > 0.0 else 1.0
    if low < 0.0 < high or diverging:
        most = max(-low, high) or 1.0
        norm, usual = colors.Normalize(-most, most), "RdBu_r"
    elif low >= 0.0 and high > 3.0 * above and not linear:
        norm, usual = colors.LogNorm(max(above, high / 10**decades), high), "inferno"
    else:
        norm, usual = colors.Normalize(low, high), "inferno"
    name = usual if cmap is None else cmap
    if not isinstance(name, str) or name not in matplotlib.colormaps:
        raise ArgumentError(f"matplotlib has no colour map {cmap!r}: choose from list(matplotlib.colormaps)")
    return matplotlib.colormaps[name].with_extremes(bad="0.6"), norm


#: Labels of the sides of an image by their unit.
_SIDES = {
    "kpc": (r"$\Delta x$ [kpc]", r"$\Delta y$ [kpc]"),
    "arcsec": (r"$\Delta$RA [arcsec]", r"$\Delta$Dec [arcsec]"),
    "deg": ("longitude [deg]", "latitude [deg]"),
    "": (r"$\tan\,\theta_x$", r"$\tan\,\theta_y$"),
}


def draw_pixels(ax: Axes, values: Array, right: Floats, up: Floats, length: str, label: str | None = None, **how: Any) -> None:
    """An image with rows upward, the units of its sides, and a colour bar where there is a ``label`` for it. Right ascension
    grows to the left."""
    sign = -1.0 if length == "arcsec" else 1.0
    extent = (sign * right[0], sign * right[-1], up[0], up[-1])
    picture = ax.imshow(values, origin="lower", extent=extent, interpolation="nearest", interpolation_stage="rgba", **how)
    sides = _SIDES.get(length, (f"right [{length}]", f"up [{length}]"))
    ax.set_xlabel(sides[0])
    ax.set_ylabel(sides[1])
    ax.locator_params(nbins=6)
    if label is not None:
        colour_bar(ax, picture, label)
    figure = ax.figure
    if is_own(figure) and len(figure.axes) == 1:
        # As high as the image needs: 2.15 in are between the labels and the colour bar, 2.75 in without one.
        width = PAPER["figure.figsize"][0]
        high = (width - 1.25 if label is not None else width - 0.65) * float(np.ptp(up) / np.ptp(right)) + 0.65
        figure.set_size_inches(width, min(max(high, 1.5), 5.0))


def colour_bar(ax: Axes, picture: Any, label: str) -> None:
    """A colour bar as high as the axes."""
    bar = ax.figure.colorbar(picture, cax=ax.inset_axes((1.03, 0.0, 0.05, 1.0)), label=label)
    if picture.norm.__class__.__name__ == "Normalize":
        bar.formatter.set_powerlimits((-3, 4))
        bar.formatter.set_useMathText(True)


#: Of the line of caveats below a figure.
_WARNING: dict[str, Any] = {"fontsize": 7, "color": "#B00020"}
_CAVEATS = "_thor caveats: "


def _one_line(caveats: Iterable[str], inches: float) -> str:
    """Caveats in one line as wide as a figure; those that have no room are in thor info."""
    letters, more, parts = int(inches * 20.0), "; see thor info", list(dict.fromkeys(caveats))
    if len(text := "; ".join(parts)) <= letters:
        return text
    while len(parts) > 1 and len("; ".join(parts) + more) > letters:
        parts.pop()
    text = "; ".join(parts)
    return text + more if len(text + more) <= letters else text if len(text) <= letters else text[: letters - 3] + "..."


def show_caveats(ax: Axes, caveats: Iterable[str]) -> None:
    """Prints the caveats of what is drawn in one line below its axes, or below a figure of ours; a second call adds to them."""
    figure = ax.figure
    below = getattr(figure, "_supxlabel", None) if is_own(figure) else None
    earlier = [text for text in (*ax.texts, below) if text is not None and str(text.get_label()).startswith(_CAVEATS)]
    said = [line for text in earlier for line in str(text.get_label())[len(_CAVEATS) :].splitlines()]
    said = list(dict.fromkeys([*said, *caveats]))
    if not said:
        return
    line = _one_line(said, figure.get_figwidth())
    if is_own(figure):
        shown = figure.supxlabel(line, **_WARNING)
    else:
        for text in earlier:
            text.remove()
        place = {"xy": (0.5, 0.0), "xycoords": ax.xaxis.label, "xytext": (0.0, -3.0), "textcoords": "offset points"}
        shown = ax.annotate(line, **place, ha="center", va="top", annotation_clip=False, **_WARNING)
    shown.set_label(_CAVEATS + "\n".join(said))


def titled(name: str, seen_by: str) -> str:
    """The title of an image: its name, and the observer or camera unless that is the same."""
    return name if name == seen_by else f"{name} ({seen_by})"


def ticks_inside(ax: Axes) -> None:
    ax.minorticks_on()
    ax.tick_params(which="both", direction="in", top=True, right=True)
