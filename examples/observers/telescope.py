#!/usr/bin/env python3
"""telescope.py RESULT -o PICTURE: a galaxy at redshift 2 with and without seeing, from the result of telescope.yaml: images,
profiles, the mean velocity of its light, and spectra in an aperture from twelve sides."""

import argparse
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import thor  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    result = thor.open(arguments.result)
    figure, axes = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")
    for ax, name in zip(axes[0], ("sharp", "seeing")):
        result.images[name].plot(ax, decades=3)
    profiles = axes[0, 2]
    labels = {"stars_profile": "without transfer", "sharp_profile": "sharp", "seeing_profile": "seeing 0.7 arcsec"}
    for (name, label), color in zip(labels.items(), thor.plot.COLORS):
        result.profiles[name].plot(profiles, color=color, label=label)
    profiles.set_title("profiles")
    profiles.legend(fontsize=8)
    cube = result.cubes["ifu"]
    moments, image = cube.moments(), cube.image()
    faint = image.brightness < 3 * image.error
    for ax, values, label, colours, limits in (
        (axes[1, 0], moments.mean, "mean velocity [km/s]", "RdBu_r", (-250, 250)),
        (axes[1, 1], moments.blue_fraction, "share of the light to the blue", "RdBu", (0, 1)),
    ):
        shown = ax.imshow(np.where(faint, np.nan, values), origin="lower", cmap=colours, vmin=limits[0], vmax=limits[1],
                          extent=(cube.right[0], cube.right[-1], cube.up[0], cube.up[-1]))
        figure.colorbar(shown, ax=ax, label=label)
        ax.set(xlabel="right [arcsec]", ylabel="up [arcsec]", facecolor="0.85")
    sides = [spectrum for name, spectrum in result.spectra.items() if name.startswith("side.")]
    for spectrum in sides:
        axes[1, 2].stairs(spectrum.flux, spectrum.edges, baseline=None, color="0.6", lw=0.8)
    axes[1, 2].stairs(np.mean([s.flux for s in sides], axis=0), sides[0].edges, baseline=None, color="#D55E00", lw=1.8,
                      label="mean of 12 sides")
    axes[1, 2].set(xlabel="velocity [km/s]", ylabel="erg/s/cm² per km/s, within 1 arcsec")
    axes[1, 2].legend(fontsize=8)
    figure.savefig(arguments.output, dpi=90, bbox_inches="tight")


if __name__ == "__main__":
    main()
