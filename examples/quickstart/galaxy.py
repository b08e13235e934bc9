#!/usr/bin/env python3
"""galaxy.py RESULT -o PICTURE [--spectra]: a galaxy in Lyα face-on and edge-on, from the result of galaxy.yaml; with
--spectra, also the spectra of both. The circle in the corner is the resolution."""

import argparse
import sys
from pathlib import Path

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import LogNorm  # noqa: E402
from matplotlib.gridspec import GridSpec  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import thor  # noqa: E402

VIEWS = {"face": ("face-on", "#D55E00"), "edge": ("edge-on", "#0072B2")}


def smoothed(image, fwhm):
    """Brightness at the resolution of a telescope: convolved with a Gaussian of a full width at half maximum [arcsec]."""
    values = image.brightness
    rows, columns = (2 * n for n in values.shape)  # no light comes in from the other side
    sigma = fwhm / np.sqrt(8 * np.log(2)) / (image.right[1] - image.right[0])  # in pixels
    u, v = np.fft.fftfreq(rows)[:, None], np.fft.rfftfreq(columns)
    blurred = np.fft.irfft2(np.fft.rfft2(values, (rows, columns)) * np.exp(-2 * (np.pi * sigma) ** 2 * (u**2 + v**2)))
    return blurred[: values.shape[0], : values.shape[1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--spectra", action="store_true")
    parser.add_argument("--fwhm", type=float, default=0.2, help="resolution [arcsec]")
    parser.add_argument("--dpi", type=float, default=thor.PAPER["savefig.dpi"])
    parser.add_argument("--decades", type=float, default=3.0, help="of the colours")
    arguments = parser.parse_args()
    plt.style.use(thor.PAPER)
    with h5py.File(arguments.result) as file:
        kpc = float(file["sky"].attrs["kpc_per_arcsec"])
    with thor.open(arguments.result) as result:
        images = {view: result.images[view] for view in VIEWS}
        light = {view: smoothed(image, arguments.fwhm) for view, image in images.items()}
        spectra = {view: result.spectra[f"{view}_spectrum"] for view in VIEWS}

    figure = plt.figure(figsize=(7, 2.15 if arguments.spectra else 3.3))
    grid = GridSpec(1, 3 if arguments.spectra else 2, figure)
    panels = [figure.add_subplot(grid[i]) for i in range(2)]
    top = 10 ** (np.ceil(4 * np.log10(max(np.max(values) for values in light.values()))) / 4)
    norm = LogNorm(top / 10**arguments.decades, top)
    for ax, (view, (label, _)) in zip(panels, VIEWS.items()):
        image = images[view]
        side = (-image.right[0], -image.right[-1], image.up[0], image.up[-1])  # right ascension grows to the left
        shown = ax.imshow(np.maximum(light[view], norm.vmin), origin="lower", extent=side, norm=norm, cmap="magma", interpolation="bilinear")
        ax.text(0.05, 0.95, label, color="white", ha="left", va="top", transform=ax.transAxes)
        ax.set_xlabel(r"$\Delta$RA [arcsec]")
        ax.tick_params(color="white", which="both", direction="in", top=True, right=True)
        ax.set(xticks=(-2, -1, 0, 1, 2), yticks=(-2, -1, 0, 1, 2))
    panels[0].set_ylabel(r"$\Delta$Dec [arcsec]")
    panels[1].set_yticklabels([])
    ax, end = panels[0], 0.92 * images["face"].right[0]
    low = 0.86 * images["face"].up[0]
    ax.plot([-end, -end - 10 / kpc], [low, low], color="white", lw=1.2, solid_capstyle="butt")
    ax.text(-end - 5 / kpc, low + 0.08, "10 kpc", color="white", ha="center", va="bottom", fontsize=8)
    panels[1].text(0.95, 0.95, r"Ly$\alpha$, $z = 2$", color="white", ha="right", va="top", transform=panels[1].transAxes)
    beam = plt.Circle((0.92 * end, low + 0.1), arguments.fwhm / 2, fill=False, color="white", lw=0.8)
    panels[1].add_patch(beam)
    bar = panels[1].inset_axes((1.03, 0, 0.045, 1))
    label = "Lyα surface brightness\n" if arguments.spectra else "Lyα surface brightness "
    figure.colorbar(shown, cax=bar, label=label + "[erg s$^{-1}$ cm$^{-2}$ arcsec$^{-2}$]")

    if arguments.spectra:
        ax = figure.add_subplot(grid[2])
        for view, (label, color) in VIEWS.items():
            spectrum = spectra[view].to("wavelength")
            ax.stairs(spectrum.flux * 1e18, spectrum.edges, color=color, label=label, lw=1.0)
        ax.set(xlabel=r"observed wavelength [Å]", ylabel=r"flux [$10^{-18}$ erg s$^{-1}$ cm$^{-2}$ Å$^{-1}$]")
        ax.set_xlim(3647.01 - 10, 3647.01 + 10)
        ax.set_ylim(0, 1.3 * ax.get_ylim()[1])
        ax.set_box_aspect(1)
        ax.axvline(1215.67 * 3, color="0.6", lw=0.7, ls=":")
        ax.tick_params(which="both", direction="in", top=True, right=True)
        ax.minorticks_on()
        ax.legend(frameon=False, handlelength=1.0, loc="upper center", ncol=2, columnspacing=1.0, borderaxespad=0.2)
    figure.savefig(arguments.output, dpi=arguments.dpi)


if __name__ == "__main__":
    main()
