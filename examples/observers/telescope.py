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


BRIGHTNESS = "surface brightness\n[erg s$^{-1}$ cm$^{-2}$ arcsec$^{-2}$]"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    plt.style.use(thor.PAPER)
    result = thor.open(arguments.result)
    figure, axes = plt.subplots(2, 3, figsize=(7, 3.9))
    for ax, name in zip(axes[0], ("sharp", "seeing")):
        result.images[name].plot(ax, decades=3, caveats=False)
        ax.child_axes[0].set_ylabel(BRIGHTNESS)
        ax.set_title({"sharp": "sharp", "seeing": "seeing of 0.7 arcsec"}[name])
    profiles = axes[0, 2]
    labels = {"stars_profile": "without transfer", "sharp_profile": "sharp", "seeing_profile": "seeing 0.7 arcsec"}
    for (name, label), color in zip(labels.items(), thor.plot.COLORS):
        result.profiles[name].plot(profiles, color=color, label=label, caveats=False)
    profiles.set_title("profiles")
    profiles.set_ylabel(BRIGHTNESS)
    profiles.legend(frameon=False, loc="lower left", borderaxespad=0.2, handlelength=1.0)
    cube = result.cubes["ifu"]
    for ax, moment in zip(axes[1], ("mean", "blue_fraction")):
        cube.plot(ax, moment=moment, caveats=False)
        ax.set_title("seeing of 0.7 arcsec")
    for ax in axes[:, 2]:
        ax.set_box_aspect(1)
    axes[0, 1].set_ylabel("")
    axes[1, 1].set_ylabel("")
    sides = [spectrum for name, spectrum in result.spectra.items() if name.startswith("side.")]
    for spectrum in sides:
        axes[1, 2].stairs(1e20 * spectrum.flux, spectrum.edges, baseline=None, color="0.6", lw=0.8)
    axes[1, 2].stairs(1e20 * np.mean([s.flux for s in sides], axis=0), sides[0].edges, baseline=None, color="#D55E00", lw=1.4,
                      label="mean of 12 sides")
    axes[1, 2].set(xlabel="velocity [km s$^{-1}$]", ylabel="flux [$10^{-20}$ erg s$^{-1}$ cm$^{-2}$\n/ (km s$^{-1}$)]", xlim=(-1000, 1000))
    axes[1, 2].set_ylim(0, 1.2 * axes[1, 2].get_ylim()[1])
    axes[1, 2].set_title("within 1 arcsec")
    axes[1, 2].legend(frameon=False)
    figure.savefig(arguments.output, dpi=200)


if __name__ == "__main__":
    main()
