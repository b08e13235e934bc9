#!/usr/bin/env python3
"""plot.py RESULT -o PICTURE: the halo of a galaxy in Mg II, from the result of halo.yaml: image, profile, spectra in
apertures, and the ratio of the lines of the doublet over radius."""

import argparse
import sys
from pathlib import Path

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import thor  # noqa: E402

KPC = 3.0856775814913673e21  # [cm]
DOUBLET = 769.7  # from 2796.35 to 2803.53 Å [km/s]
GREY, BLUE, ORANGE, GREEN = "0.5", "#0072B2", "#D55E00", "#009E73"


def sobolev_depth(radius):
    """Optical depth of 2796 Å in the wind of halo.yaml, pi e^2/(m c) f lambda n dr/dv, at radii in kpc; n ~ r^-2, v ~ r."""
    column, inner, outer, speed = 1e15, 1, 20, 350e5
    density = column / (KPC * (1 / inner - 1 / outer)) / radius**2
    return 0.026540 * 0.6155 * 2796.35e-8 * density * outer * KPC / speed


def doublet_ratio(path):
    """Inner and outer radii of the rings [kpc] with light of both lines, and the ratio of 2796 to 2803 Å in them with its error."""
    rows = []
    with h5py.File(path) as file:
        for ring in (group for name, group in file["spectra"].items() if name.startswith("ring_")):
            (k, h), (error_k, error_h) = ring["flux"], ring["error"]
            if not (k > 0 and h > 0):
                continue
            edges = [ring.attrs[key] / KPC for key in ("aperture_inner", "aperture_radius")]
            rows.append((*edges, k / h, k / h * np.hypot(error_k / k, error_h / h)))
    if not rows:
        print("plot.py: no ring has light of both lines: take more photons", file=sys.stderr)
    return np.reshape(rows, (-1, 4)).T


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    result = thor.open(arguments.result)
    figure, axes = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")

    result.images["halo"].plot(axes[0, 0], decades=5)
    axes[0, 0].set_title("both lines and the continuum")

    result.profiles["rings"].plot(axes[0, 1], color=BLUE)
    axes[0, 1].set_title("profile")

    low, high, ratio, error = doublet_ratio(arguments.result)
    middle = np.sqrt(low * high)
    axes[0, 2].errorbar(middle, ratio, error, (middle - low, high - middle), fmt="o", ms=3, lw=1, color=BLUE, label="halo")
    radii = np.geomspace(1, 20, 100)
    depth = sobolev_depth(radii)
    axes[0, 2].plot(radii, -np.expm1(-depth) / -np.expm1(-depth / 2), color=ORANGE, lw=1.2,
                    label="one scattering of continuum\nat that distance (Sobolev)")
    for value, text in ((1, "thick"), (2, "thin")):
        axes[0, 2].axhline(value, color=GREY, lw=0.8, ls=":")
        axes[0, 2].text(19, value + 0.02, text, fontsize=8, color=GREY, ha="right")
    axes[0, 2].set(xscale="log", xlabel="radius [kpc]", ylabel="ratio of 2796 to 2803 Å", ylim=(0.8, 2.4), title="doublet ratio")
    axes[0, 2].set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axes[0, 2].minorticks_off()
    axes[0, 2].legend(fontsize=8, loc="upper left")

    intrinsic = result.spectra["intrinsic"]
    continuum = np.median(intrinsic.flux)
    if not continuum > 0:
        print("plot.py: half of the intrinsic spectrum is dark: its mean stands for the continuum; take more photons", file=sys.stderr)
        continuum = np.mean(intrinsic.flux)
    panels = (("down the barrel: within 1 kpc", (("barrel", "with the wind", BLUE),)), ("all light", (("all", "with the wind", ORANGE),)),
              ("the halo", (("inner", "2 to 6 kpc", BLUE), ("outer", "10 to 20 kpc", GREEN))))
    for ax, (title, apertures) in zip(axes[1], panels):
        if title != "the halo":
            ax.stairs(intrinsic.flux / continuum, intrinsic.edges, color=GREY, lw=0.8, label="without the wind")
            ax.axhline(1, color=GREY, lw=0.6, ls=":")
        for name, label, colour in apertures:
            spectrum = result.spectra[name]
            ax.stairs(spectrum.flux / continuum, spectrum.edges, color=colour, lw=1.2, label=label)
            ax.errorbar(spectrum.centers, spectrum.flux / continuum, spectrum.error / continuum, fmt="none", lw=0.5, color=colour)
        for zero in (0, DOUBLET):
            ax.axvline(zero, color=GREY, lw=0.6, ls="--")
        ax.set(xlim=(-900, 1600), xlabel="velocity from 2796 Å [km s$^{-1}$]", ylabel="light [continuum]", title=title)
        ax.set_ylim(0, 1.25 * ax.get_ylim()[1])
        ax.legend(fontsize=8, loc="upper right")
    figure.savefig(arguments.output, dpi=100)


if __name__ == "__main__":
    main()
