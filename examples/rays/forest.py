#!/usr/bin/env python3
"""forest.py RESULT -o PREFIX: PREFIX_forest.png, the Lyα forest of two sightlines, one of them damped, and PREFIX_tomography.png,
the flux of a grid of sightlines in slices of velocity, from the result of box.yaml."""

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

DAMPED = 2e20  # cm^-2


def two_sightlines(forest, path):
    order = np.argsort(forest.column_density)
    usual = order[len(order) // 2]
    thick = [i for i in order if forest.column_density[i] > DAMPED]
    damped = thick[0] if thick else order[-1]
    figure, axes = plt.subplots(2, 1, figsize=(7, 3.6), sharex=True)
    for ax, which, color in zip(axes, (usual, damped), thor.plot.COLORS):
        ax.stairs(forest.observed[which], forest.edges, baseline=None, color="0.75", lw=0.7, label="observed: 8 km/s, S/N 30")
        forest.plot(int(which), ax, colors=(color,), lw=1.1)
        for box in np.arange(1, 3) * forest_box(forest):
            ax.axvline(box, color="0.4", ls=":", lw=0.8)
        ax.set_ylim(-0.15, 1.45)
        ax.legend(frameon=False, ncols=2, loc="upper right")
    axes[0].set_xlabel("")
    figure.savefig(path, dpi=200)
    mean, error = forest.mean_flux()
    print(f"{len(forest)} sightlines, {len(thick)} damped; mean flux {mean:.3f} +- {error:.3f}")
    print(f"drawn: N = {forest.column_density[usual]:.2e} and {forest.column_density[damped]:.2e} cm^-2, "
          f"equivalent widths {forest.equivalent_width[usual]:.1f} and {forest.equivalent_width[damped]:.1f} Angstrom")


def forest_box(forest, side=6.25 * 3.0856775814913673e24):
    """Hubble flow across the box [km/s]; the sightlines are oblique, but as long as it."""
    return forest.hubble * side * 1e-5


def draw(ax, image, values, title, **how):
    """An image in Mpc."""
    extent = 1e-3 * np.array([image.right[0], image.right[-1], image.up[0], image.up[-1]])
    ax.set(xlabel=r"$\Delta x$ [Mpc]", ylabel=r"$\Delta y$ [Mpc]")
    ax.set_title(title)
    return ax.imshow(values, origin="lower", interpolation="nearest", extent=extent, **how)


def tomography(result, path):
    spectra = result.absorption["tomography"]
    mean = spectra.mean_flux()[0]
    figure, axes = plt.subplots(2, 3, figsize=(7, 5.1))
    for ax, low in zip(axes.flat, np.linspace(0, 1500, 5)):
        image = spectra.tomography(low, low + 150)
        shown = draw(ax, image, image.values / mean - 1, f"{low:.0f} to {low + 150:.0f} km/s", cmap="RdBu", vmin=-1, vmax=1)
    figure.colorbar(shown, ax=axes[:, :2], label=r"$\delta_F = F/\langle F\rangle - 1$", location="bottom", shrink=0.8)
    column = draw(axes[1, 2], result.images["column"], result.images["column"].values, "column of all of it", cmap="inferno",
                  norm=LogNorm(1e14, 1e21))
    figure.colorbar(column, ax=axes[:, 2], label=r"$N_\mathrm{HI}$ [cm$^{-2}$]", location="bottom", shrink=0.8)
    for ax in axes.flat:
        ax.label_outer()
    figure.savefig(path, dpi=200)
    print(f"tomography: {len(spectra)} sightlines, mean flux {mean:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    plt.style.use(thor.PAPER)
    result = thor.open(arguments.result)
    two_sightlines(result.absorption["forest"], f"{arguments.output}_forest.png")
    tomography(result, f"{arguments.output}_tomography.png")


if __name__ == "__main__":
    main()
