#!/usr/bin/env python3
"""mean_flux.py COLD WARM GRID -o PICTURE: the Lyα forest of a simulation with warm gas, and its effective optical depth, also as it is, beside
what is observed, from the results of snapshot.yaml and the grid of the second."""

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


def becker(z):
    """Becker et al. 2013 (MNRAS 430, 2067), eq. 5, for 2.2 < z < 4.9."""
    return 0.751 * ((1 + z) / 4.5) ** 2.90 - 0.132


def faucher_giguere(z):
    """Faucher-Giguère et al. 2008 (ApJ 681, 831): the power law of 2 < z < 4.2."""
    return 0.0018 * (1 + z) ** 3.92


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("cold", "warm", "grid"):
        parser.add_argument(name)
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    cold, warm = (thor.open(path).absorption["forest"] for path in (arguments.cold, arguments.warm))
    with h5py.File(arguments.grid) as file:
        redshift = float(file.attrs["redshift"])
    figure, (spectra, depths) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained", width_ratios=(2.2, 1))
    warm.plot([3, 8], spectra)
    spectra.set_title(f"two of {len(warm)} sightlines", fontsize=10)
    z = np.linspace(2.2, 4.2, 100)
    depths.plot(z, becker(z), color="0.2", lw=1.2, label="Becker et al. 2013")
    depths.plot(z, faucher_giguere(z), color="0.2", lw=1.2, ls="--", label="Faucher-Giguère et al. 2008")
    for forest, label, color in zip((cold, warm), ("as simulated", "warm"), ("0.6", thor.plot.COLORS[0])):
        depth, error = forest.effective_depth()
        depths.errorbar(redshift, depth, error, fmt="o", color=color, label=f"{label}: {depth:.2f}")
        print(f"{label}: mean flux {forest.mean_flux()[0]:.4f} +- {forest.mean_flux()[1]:.4f}, effective optical depth {depth:.3f} +- {error:.3f}")
    print(f"observed at z = {redshift:.3f}: {becker(redshift):.3f} (Becker et al. 2013), {faucher_giguere(redshift):.3f} (Faucher-Giguère et al. 2008)")
    depths.set(xlabel="redshift", ylabel="effective optical depth", yscale="log", ylim=(0.1, 8))
    depths.legend(frameon=False, fontsize=8, loc="upper left")
    figure.savefig(arguments.output, dpi=85)


if __name__ == "__main__":
    main()
