#!/usr/bin/env python3
"""grid_picture.py GRID RESULT -o PICTURE [--axis z]: the projected gas of a grid, the light escaping towards
that side at its last scattering, and its spectrum before and after. The grid is a file made by `thor grid`, the result one
of `thor run` with an output of type photons and spectra called intrinsic and emergent."""

import argparse
import sys
from pathlib import Path

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
import thor  # noqa: E402

KPC = 3.0856775814913673e21


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("grid"), parser.add_argument("result")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--axis", choices="xyz", default="z", help="the line of sight")
    parser.add_argument("--field", default="HI_density", help="what is projected")
    arguments = parser.parse_args()
    axis = "xyz".index(arguments.axis)
    across = [k for k in range(3) if k != axis]

    with h5py.File(arguments.grid) as file:
        cell = file.attrs["cell_size"]
        column = file[arguments.field][...].sum(axis=axis, dtype=float) * cell
        origin = np.array([file.attrs[f"origin_{a}"] for a in "xyz"])
        shape = np.array(file[arguments.field].shape)
    edges = [(origin[k] + cell * np.arange(shape[k] + 1)) / KPC for k in across]
    unit, name = (1, "kpc") if edges[0][-1] - edges[0][0] < 3000 else (1000, "Mpc")
    edges = [e / unit for e in edges]
    extent = [edges[0][0], edges[0][-1], edges[1][0], edges[1][-1]]

    result = thor.open(arguments.result)
    photons = result.photons
    gone = np.isin(photons["fate"], (2, 5)) & (photons["direction"][:, axis] > 0.5)  # a cone of 60 degrees
    place = photons["position"][gone][:, across] / KPC / unit
    pixels = np.clip(3 * np.sqrt(len(place)), 32, 64)  # coarser with fewer photons
    bins = [e[:: max(1, int(len(e) / pixels))] for e in edges]
    light, *_ = np.histogram2d(place[:, 0], place[:, 1], bins=bins, weights=photons["weight"][gone] * 4)
    area = (bins[0][1] - bins[0][0]) * (bins[1][1] - bins[1][0])

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13.5, 4.0), layout="constrained")
    top = np.log10(column.max())
    shown = left.imshow(np.log10(np.maximum(column, 1e-9)).T, origin="lower", extent=extent, cmap="magma",
                        vmin=max(np.log10(np.percentile(column, 1) + 1e-9), top - 9), vmax=top)
    figure.colorbar(shown, ax=left, label="log column density [cm$^{-2}$]", shrink=0.85)
    left.set_title("gas" if arguments.field == "HI_density" else arguments.field, fontsize=10)
    bright = np.log10(light.max() / area)
    shown = middle.imshow(np.log10(np.maximum(light / area, 1e-9)).T, origin="lower", extent=extent, cmap="viridis",
                          vmin=bright - 3, vmax=bright)
    figure.colorbar(shown, ax=middle, label=f"log luminosity [erg s$^{{-1}}$ {name}$^{{-2}}$], times 4π/Ω", shrink=0.85)
    middle.set_title("light, by its last scattering", fontsize=10)
    for panel in (left, middle):
        panel.set_xlabel(f"{'xyz'[across[0]]} [{name}]"), panel.set_ylabel(f"{'xyz'[across[1]]} [{name}]")
    for spectrum, style in (("intrinsic", {"color": "0.6", "label": "emitted"}), ("emergent", {"color": "C3", "label": "leaving"})):
        s = result.spectra[spectrum]
        right.stairs(s.flux, s.edges, **style)
    right.set_yscale("log")
    peak = result.spectra["intrinsic"].flux.max()
    right.set_ylim(peak * 1e-4, peak * 3)
    right.set_xlabel("velocity [km/s], positive to the red"), right.set_ylabel("luminosity [erg s$^{-1}$ / (km s$^{-1}$)]")
    right.legend(frameon=False)
    figure.savefig(arguments.output, dpi=130)


if __name__ == "__main__":
    main()
