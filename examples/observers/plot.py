#!/usr/bin/env python3
"""plot.py DUSTY DUST_FREE -o PICTURE: what observers see of a galaxy, from the results of observed.yaml with and without
dust: face-on and edge-on without transfer, without dust and with it; the other views; and spectra."""

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


def draw(ax, image, title, top, decades=5):
    colours = matplotlib.colormaps["inferno"].copy()
    colours.set_bad(colours(0.0))
    shown = ax.imshow(np.ma.masked_less_equal(image.brightness, 0), origin="lower", cmap=colours,
                      norm=LogNorm(top / 10**decades, top),
                      extent=(image.right[0], image.right[-1], image.up[0], image.up[-1]))
    ax.set_title(title, fontsize=9)
    ax.tick_params(labelsize=7)
    return shown


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dusty"), parser.add_argument("dust_free")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    dusty, free = thor.open(arguments.dusty), thor.open(arguments.dust_free)
    emitted = dusty.summary["luminosity_emitted"]
    figure, axes = plt.subplots(3, 4, figsize=(13, 9), layout="constrained")
    top = max(np.max(free.images[name].brightness) for name in ("face", "edge"))
    for row, name in zip(axes, ("face", "edge")):
        draw(row[0], dusty.images[f"{name}_intrinsic"], f"{name}: intrinsic", top)
        draw(row[1], free.images[name], f"{name}: no dust, {free.images[name].luminosity() / emitted:.2f} of the light", top)
        shown = draw(row[2], dusty.images[name], f"{name}: dust, {dusty.images[name].luminosity() / emitted:.3f}", top)
        figure.colorbar(shown, ax=row[2], label=dusty.images[name].unit.replace("-1", "$^{-1}$").replace("-2", "$^{-2}$"))
    for ax, name in zip(axes[2], ("below", "tilted_30", "tilted_60", "side")):
        draw(ax, dusty.images[name], f"{name}: dust, {dusty.images[name].luminosity() / emitted:.3f}", top)
        ax.set_xlabel("kpc", fontsize=8)
    for ax, result, title in ((axes[0, 3], free, "no dust"), (axes[1, 3], dusty, "dust")):
        for name, label in (("emergent", "all directions"), ("face_on", "face"), ("edge_on", "edge")):
            spectrum = result.spectra[name]
            ax.stairs(spectrum.flux / 1e39, spectrum.edges, label=label)
            ax.errorbar(spectrum.centers, spectrum.flux / 1e39, spectrum.error / 1e39, fmt="none", lw=0.7, color="0.5")
        fraction, error = result.escape_fraction()
        ax.set_title(f"{title}: {fraction:.3f} ± {error:.3f} escapes", fontsize=9)
        ax.set_xlabel("velocity [km/s]", fontsize=8)
        ax.set_ylabel("10$^{39}$ erg/s per km/s", fontsize=8)
        ax.set_ylim(0, 1.3 * ax.get_ylim()[1])
        ax.tick_params(labelsize=7)
        ax.legend(fontsize=7, loc="upper right")
    figure.savefig(arguments.output, dpi=110)


if __name__ == "__main__":
    main()
