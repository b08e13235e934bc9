#!/usr/bin/env python3
"""growth.py -o PICTURE: the curve of growth of Lyα, from slabs of homogeneous gas, against the Voigt profile, integrated
numerically, and its three asymptotes."""

import argparse
import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import thor  # noqa: E402

try:
    from scipy.special import wofz

    NAME = "scipy's wofz"

    def voigt(a, x):
        return wofz(x + 1j * a).real
except ImportError:
    NAME, voigt = "thor.analytic.voigt", thor.analytic.voigt

C = 299792.458  # km/s
WAVELENGTH, F, GAMMA, MASS = 1215.6701, 0.4164, 6.265e8, 1.00784 * 1.66053907e-24  # Angstrom, f, 1/s, g
E2_OVER_MC = 4.80320471e-10**2 / (9.1093837e-28 * 2.99792458e10)  # cm^2/s
RANGE = 12000.0  # km/s


def thermal_speed(temperature):
    return np.sqrt(2 * 1.380649e-16 * temperature / MASS) * 1e-5


def width_of(column, b):
    """Equivalent width [Angstrom] within the range."""
    sigma = np.sqrt(np.pi) * E2_OVER_MC * F * WAVELENGTH * 1e-8 / (b * 1e5)
    a = GAMMA * WAVELENGTH * 1e-8 / (4 * np.pi * b * 1e5)
    v = np.linspace(-RANGE, RANGE, 480001)
    lost = -np.expm1(-column * sigma * voigt(a, v / b)) * WAVELENGTH / C * np.exp(v / C)
    return float(np.sum(0.5 * (lost[1:] + lost[:-1])) * (v[1] - v[0]))


def asymptotes(column, b):
    """Thin, flat and damped."""
    strength = np.pi * E2_OVER_MC * F * WAVELENGTH * 1e-8  # cm^3/s
    tau0 = strength * column / (np.sqrt(np.pi) * b * 1e5)
    thin = strength * column * 1e-5 * WAVELENGTH / C
    flat = 2 * b * np.sqrt(np.log(np.maximum(tau0, 1.0000001))) * WAVELENGTH / C
    # tau = N strength Gamma lambda/(4 pi^2 v^2) in the wings: W = 2 sqrt(pi) v_1, where tau(v_1) = 1.
    damped = 2 * np.sqrt(np.pi) * np.sqrt(column * strength * GAMMA * WAVELENGTH * 1e-8 / (4 * np.pi**2)) * 1e-5 * WAVELENGTH / C
    return thin, flat, damped


def measured(column, temperature, folder):
    """By a run of thor: the slab has half of the column on either side of its middle."""
    config = {
        "driver": "raytrace",
        "dataset": {"type": "slab", "half_thickness": "1 kpc", "temperature": f"{temperature} K", "column_density": f"{float(0.5 * column)!r} cm^-2"},
        "operators": [{"type": "absorption", "name": "slab", "line": "Lya", "sightlines": {"random": 1},
                       "range": [f"{-RANGE} km/s", f"{RANGE} km/s"], "bins": 12000}],
    }
    with thor.run(config, Path(folder) / "slab.h5", overwrite=True, quiet=True) as result:
        return float(result.absorption["slab"].equivalent_width[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    columns = np.logspace(12, 21, 19)
    fine = np.logspace(11.8, 21.2, 80)
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.2, 5.6), layout="constrained", sharex=True, height_ratios=(3, 1))
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for temperature, color in ((1e4, thor.plot.COLORS[0]), (1e5, thor.plot.COLORS[1])):
            b = thermal_speed(temperature)
            found = np.array([measured(column, temperature, folder) for column in columns])
            truth = np.array([width_of(column, b) for column in columns])
            worst = max(worst, float(np.max(np.abs(found / truth - 1))))
            top.plot(fine, [width_of(column, b) for column in fine], color=color, lw=1, label=f"Voigt profile, b = {b:.2f} km/s")
            top.plot(columns, found, "o", color=color, ms=4, label=f"thor, T = {temperature:.0e} K".replace("e+0", "e"))
            bottom.plot(columns, found / truth - 1, "o-", color=color, ms=3, lw=0.8)
            if temperature == 1e4:
                for values, label, keep in zip(asymptotes(fine, b), ("thin, $W \\propto N$", "flat, $2b\\sqrt{\\ln\\tau_0}$", "damped, $W \\propto \\sqrt{N}$"),
                                               (fine < 1e15, (fine > 3e13) & (fine < 1e19), fine > 3e17)):
                    top.plot(fine[keep], values[keep], ":", color="0.3", lw=1)
                    at = np.flatnonzero(keep)[{"t": -1, "f": len(np.flatnonzero(keep)) * 2 // 3, "d": -15}[label[0]]]
                    where = {"t": (6, -4), "f": (-30, -14), "d": (10, -6)}[label[0]]
                    top.annotate(label, (fine[at], values[at]), where, textcoords="offset points", fontsize=8, color="0.3")
    top.set(xscale="log", yscale="log", ylabel=r"equivalent width of Ly$\alpha$ [Å]", ylim=(3e-3, 60))
    top.legend(frameon=False, fontsize=8)
    bottom.set(xlabel=r"column density $N_\mathrm{HI}$ [cm$^{-2}$]", ylabel="thor / Voigt - 1")
    bottom.axhline(0, color="0.6", lw=0.6)
    bottom.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
    figure.savefig(arguments.output, dpi=100)
    print(f"curve of growth: within {worst:.1e} of the Voigt profile ({NAME}) from N = 1e12 to 1e21 cm^-2")


if __name__ == "__main__":
    main()
