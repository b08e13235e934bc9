#!/usr/bin/env python3
"""galaxy.py RESULT -o PREFIX: PREFIX_render.png, a volume rendering of temperature with its transfer function, and
PREFIX_maps.png, HI columns, temperatures and velocities, from the result of galaxy.yaml."""

import argparse
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import thor  # noqa: E402

# The peaks of galaxy.yaml: temperature [K], width [dex], colour, opacity.
PEAKS = ((2e4, 0.12, (0.15, 0.35, 1.0), 4.0), (1e5, 0.12, (1.0, 0.55, 0.1), 8.0), (3e5, 0.12, (1.0, 0.1, 0.1), 5.0))


def transfer_function(ax):
    """Opacity over temperature, in the colours of the picture."""
    logs = np.linspace(np.log10(5e3), np.log10(2e6), 600)
    heights = np.array([opacity * np.exp(-0.5 * ((logs - np.log10(at)) / width) ** 2) for at, width, _, opacity in PEAKS])
    opacity = heights.sum(axis=0)
    colours = np.clip(heights.T @ [peak[2] for peak in PEAKS] / np.maximum(opacity, 1e-30)[:, None], 0, 1)
    for i in range(len(logs) - 1):
        ax.fill_between(10 ** logs[i : i + 2], opacity[i : i + 2], color=colours[i], lw=0)
    ax.plot(10**logs, opacity, color="white", lw=0.8)
    ax.set(xscale="log", xlim=(5e3, 2e6), ylim=(0, 9), xlabel="temperature [K]", ylabel="opacity")
    ax.set_facecolor("black")
    ax.tick_params(colors="white", which="both", labelsize=7)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set(color="white", fontsize=8)
    for spine in ax.spines.values():
        spine.set_color("white")


def render(result, path):
    figure, ax = plt.subplots(figsize=(4.5, 4.35))
    result.images["temperature"].plot(ax, stretch=15)
    ax.set_title("gas of a synthetic galaxy, coloured by temperature, bright where it is dense")
    transfer_function(ax.inset_axes((0.11, 0.11, 0.36, 0.2)))
    figure.savefig(path, dpi=150)


def maps(result, path):
    figure, axes = plt.subplots(2, 3, figsize=(7, 3.9))
    for ax, name, options in (
        (axes[0, 0], "column_face", {"vmin": 1e14, "label": r"$N_\mathrm{HI}$ [cm$^{-2}$]"}),
        (axes[1, 0], "column_edge", {"vmin": 1e14, "label": r"$N_\mathrm{HI}$ [cm$^{-2}$]"}),
        (axes[0, 1], "warmth_face", {"cmap": "magma", "vmin": 1e4, "vmax": 2e6, "label": "temperature [K]"}),
        (axes[1, 1], "warmth_edge", {"cmap": "magma", "vmin": 1e4, "vmax": 2e6, "label": "temperature [K]"}),
        (axes[1, 2], "speed_edge", {"vmin": -160, "vmax": 160, "label": r"velocity away [km s$^{-1}$]"}),
    ):
        image = result.images[name]
        image.plot(ax, **options)
        ax.set_title(f"{image.camera}-on")
        ax.set(xticks=(-20, 0, 20), yticks=(-20, 0, 20))
    columns = axes[0, 2]
    for name, color in (("column_face", thor.plot.COLORS[0]), ("column_edge", thor.plot.COLORS[1])):
        image = result.images[name]
        values = image.values[image.values > 0]
        edges = np.linspace(13, 23, 41)
        area = np.histogram(np.log10(values), edges)[0] * image.pixel_area / np.diff(edges)
        columns.stairs(area, edges, color=color, lw=1.1, label=f"{image.camera}-on")
    columns.axvline(20.3, color="0.5", ls=":", lw=1)
    columns.text(20.4, 5e3, "damped", color="0.4", fontsize=8, rotation=90, va="top")
    columns.set_box_aspect(1)
    columns.set(xlabel=r"$\log_{10} N_\mathrm{HI}$ [cm$^{-2}$]", ylabel=r"area per decade [kpc$^2$]", yscale="log", ylim=(0.3, 6e3))
    columns.legend(frameon=False, loc="lower left")
    for ax in axes[:, 1]:
        ax.set_ylabel("")
    axes[1, 2].set_ylabel("")
    figure.set_constrained_layout_pads(w_pad=0.08)
    figure.savefig(path, dpi=200)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    plt.style.use(thor.PAPER)
    result = thor.open(arguments.result)
    render(result, f"{arguments.output}_render.png")
    maps(result, f"{arguments.output}_maps.png")
    masses = [result.images[f"column_{side}"].total() for side in ("face", "edge")]
    print(f"HI atoms in the image: {masses[0]:.5g} face-on, {masses[1]:.5g} edge-on")


if __name__ == "__main__":
    main()
