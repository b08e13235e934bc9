#!/usr/bin/env python3
"""views.py DUSTY DUST_FREE -o PICTURE: a galaxy as six observers see it, from the results of views.yaml with and without
dust: images without transfer, without dust and with it, the mean velocity of the light, and spectra."""

import argparse
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import LogNorm  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import thor  # noqa: E402

VIEWS = {"face": "face-on", "tilted_30": "30°", "tilted_60": "60°", "edge": "edge-on, from $x$", "side": "edge-on, from $y$",
         "below": "from below"}
GREY, BLUE, ORANGE = "0.45", "#0072B2", "#D55E00"


def show(ax, values, on_sky, **options):
    extent = (on_sky.right[0], on_sky.right[-1], on_sky.up[0], on_sky.up[-1])
    ax.set(xticks=[], yticks=[])
    return ax.imshow(values, origin="lower", extent=extent, interpolation="nearest", **options)


def scale_bar(ax, length, colour):
    left, low = ax.get_xlim()[0] + 2, ax.get_ylim()[0] + 2.5
    ax.plot([left, left + length], [low, low], color=colour, lw=1.5, solid_capstyle="butt")
    ax.text(left + length / 2, low + 0.7, f"{length:g} kpc", color=colour, fontsize=7, ha="center", va="bottom")


def mean_velocity(cube, most_error=0.3):
    """Mean velocity of each pixel; nan where the Monte Carlo error of the light is above its share `most_error`."""
    image = cube.image()
    return np.where(image.brightness * most_error > image.error, cube.moments().mean, np.nan)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dusty"), parser.add_argument("dust_free")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    dusty, free = thor.open(arguments.dusty), thor.open(arguments.dust_free)
    emitted = dusty.summary["luminosity_emitted"]
    figure, axes = plt.subplots(5, 6, figsize=(13, 10.6), layout="constrained", height_ratios=(1, 1, 1, 1, 1.1))
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0, hspace=0)

    rows = (("intrinsic", dusty, "_intrinsic"), ("no dust", free, ""), ("dust", dusty, ""))
    colours = matplotlib.colormaps["inferno"]
    colours = colours.with_extremes(bad=colours(0.0))
    top = 10 ** np.ceil(np.log10(np.percentile(np.concatenate([free.images[v].brightness.ravel() for v in VIEWS]), 99.9)))
    for row, (label, result, ending) in zip(axes, rows):
        for ax, view in zip(row, VIEWS):
            image = result.images[view + ending]
            shown = show(ax, np.ma.masked_less_equal(image.brightness, 0), image, cmap=colours, norm=LogNorm(top / 1e5, top))
        row[0].set_ylabel(label, fontsize=10)
        scale_bar(row[0], 10, "white")
    figure.colorbar(shown, ax=axes[:3], label="surface brightness [erg s$^{-1}$ kpc$^{-2}$]", pad=0.01, aspect=45, extend="both")

    for ax, view in zip(axes[3], VIEWS):
        cube = dusty.cubes[view + "_cube"]
        shown = show(ax, mean_velocity(cube), cube, cmap="RdBu_r", vmin=-300, vmax=300)
        ax.set_facecolor("0.85")
    axes[3, 0].set_ylabel("dust", fontsize=10)
    scale_bar(axes[3, 0], 10, "black")
    figure.colorbar(shown, ax=axes[3], label="mean velocity [km s$^{-1}$]", pad=0.01, aspect=15, extend="both")

    intrinsic = dusty.spectra["intrinsic"]
    for ax, (view, title) in zip(axes[4], VIEWS.items()):
        ax.stairs(intrinsic.flux / emitted, intrinsic.edges, color=GREY, lw=0.9, label="intrinsic")
        for label, result, colour, digits in (("no dust", free, BLUE, 3), ("dust", dusty, ORANGE, 4)):
            spectrum = result.spectra[view + "_spectrum"]
            light, error = result.spectra[view + "_all"].luminosity()
            ax.stairs(spectrum.flux / emitted, spectrum.edges, color=colour, lw=1.2,
                      label=f"{label}: $f_\\mathrm{{esc}}$ = {light / emitted:.{digits}f} ± {error / emitted:.{digits}f}")
            ax.errorbar(spectrum.centers, spectrum.flux / emitted, spectrum.error / emitted, fmt="none", lw=0.6, color=colour)
        ax.set(yscale="log", xlim=(-1200, 1200), ylim=(1e-6, 0.3), xlabel="velocity [km s$^{-1}$]")
        ax.tick_params(labelsize=7)
        ax.legend(fontsize=6, loc="upper left", frameon=False, borderaxespad=0.1, handlelength=1.2)
        if ax is not axes[4, 0]:
            ax.set_yticklabels([])
        axes[0, list(VIEWS).index(view)].set_title(title, fontsize=10)
    axes[4, 0].set_ylabel("light [share of the emitted per km s$^{-1}$]", fontsize=8)
    figure.savefig(arguments.output, dpi=110)


if __name__ == "__main__":
    main()
