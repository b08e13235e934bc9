#!/usr/bin/env python3
"""profiles.py FOLDER -o PICTURE: surface-brightness profiles of a galaxy, from the results of profiles.sh: light of stars and of
gas, without transfer, without dust and with it; and how the brightness dims with redshift."""

import argparse
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import thor  # noqa: E402

GREY, BLUE, ORANGE = "0.45", "#0072B2", "#D55E00"
KPC, ARCSEC = 3.0856775814913673e21, np.pi / 648000  # [cm], [rad]


def draw(ax, profile, kpc, **options):
    """A profile over its radius in kpc, where it has light; `kpc` are the edges of its rings."""
    radius = np.sqrt(kpc[1:] * kpc[:-1])
    lit = profile.brightness > 0
    # An error bar down to zero ends at a tenth of the value.
    below = np.minimum(profile.error, 0.9 * profile.brightness)
    ax.errorbar(radius[lit], profile.brightness[lit], (below[lit], profile.error[lit]), fmt="o-", ms=3, lw=1, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    results = {path.stem: thor.open(path) for name in ("stars_*.h5", "gas_*.h5") for path in arguments.folder.glob(name)}
    here = results["gas_here"].profiles["observed"]
    kpc = here.edges
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.8), layout="constrained")
    for ax, light, title in ((axes[0], "stars", "light of stars"), (axes[1], "gas", "light of gas (collisions)")):
        dusty, free = results[f"{light}_dust"], results[f"{light}_free"]
        draw(ax, dusty.profiles["intrinsic"], kpc, color=GREY, label="intrinsic")
        for label, result, colour in (("scattered, no dust", free, BLUE), ("scattered, dust", dusty, ORANGE)):
            draw(ax, result.profiles["observed"], kpc, color=colour, label=label)
        scale = dusty.profiles["observed"].edges[0] / kpc[0]  # arcsec per kpc
        ax.set(xscale="log", yscale="log", xlabel="radius [kpc]", title=f"{title}, $z = 2$, face-on",
               ylabel="surface brightness [erg s$^{-1}$ cm$^{-2}$ arcsec$^{-2}$]")
        above = ax.secondary_xaxis("top", functions=(lambda r, s=scale: r * s, lambda t, s=scale: t / s))
        above.set_xlabel("radius [arcsec]")
        ax.legend(fontsize=8, loc="lower left")
    low, high = min(ax.get_ylim()[0] for ax in axes[:2]), max(ax.get_ylim()[1] for ax in axes[:2])
    for ax in axes[:2]:
        ax.set_ylim(max(low, high / 1e9), high)

    ax = axes[2]
    lit = here.brightness > 0
    if not np.any(lit):
        sys.exit("profiles.py: no light of the gas was seen: take more photons")
    ring = int(np.argmin(np.where(lit, np.abs(np.sqrt(kpc[1:] * kpc[:-1]) - 10), np.inf)))  # of those with light
    dimmed = {2.0: results["gas_dust"], **{float(name[5:]): r for name, r in results.items() if name.startswith("gas_z")}}
    redshifts = np.array(sorted(dimmed))
    seen = np.array([dimmed[z].profiles["observed"].brightness[ring] for z in redshifts])
    error = np.array([dimmed[z].profiles["observed"].error[ring] for z in redshifts])
    # A luminosity per area, without the sky, as a brightness at z = 0 [erg/s/cm^2/arcsec^2].
    local = here.brightness[ring] / KPC**2 / (4 * np.pi) * ARCSEC**2
    z = np.linspace(0, 6.5, 100)
    ax.plot(1 + z, local / (1 + z) ** 4, color=GREY, lw=1,
            label="run without sky, dimmed by $(1+z)^4$")
    ax.errorbar(1 + redshifts, seen, error, fmt="o", ms=4, lw=1, color=ORANGE, label="runs with sky: {redshift: z}")
    ax.set(xscale="log", yscale="log", xlabel="$1 + z$", title=f"light of gas with dust, {kpc[ring]:.1f} to {kpc[ring + 1]:.1f} kpc",
           ylabel="surface brightness [erg s$^{-1}$ cm$^{-2}$ arcsec$^{-2}$]")
    ax.set_xticks([1, 2, 3, 4, 5, 7], ["1", "2", "3", "4", "5", "7"])
    ax.minorticks_off()
    ax.legend(fontsize=8)
    figure.savefig(arguments.output, dpi=100)
    worst = np.max(np.abs(seen / (local / (1 + redshifts) ** 4) - 1))
    print(f"brightness against the dimming of (1+z)^-4: within {worst:.1e} of it")


if __name__ == "__main__":
    main()
