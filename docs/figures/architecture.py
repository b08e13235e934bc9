#!/usr/bin/env python3
"""Draws the data flow of a run, architecture.svg and architecture.png, in the folder of this file."""
from __future__ import annotations

import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

HERE = pathlib.Path(__file__).parent
INK, SOFT = "#22272e", "#5f6873"
FILE, HOST, PLAIN, KERNEL, STEP = "#eceef0", "#dcebf7", "#e6f2e1", "#fdeedd", "#f9d9b4"
EDGE = {FILE: "#9aa3ad", HOST: "#5b8db8", PLAIN: "#6c9f5c", KERNEL: "#d0894a", STEP: "#c26f25"}

plt.rcParams.update({"font.family": "DejaVu Sans", "svg.fonttype": "path", "svg.hashsalt": "thor"})
fig = plt.figure(figsize=(8, 7.35))
ax = fig.add_axes((0, 0, 1, 1))
ax.set(xlim=(0, 80), ylim=(1.5, 75))
ax.axis("off")


def box(x, y, width, height, colour, title, text="", size=9.6, mono=False):
    """A box with its lower left corner at x, y."""
    ax.add_patch(FancyBboxPatch((x + 0.6, y + 0.6), width - 1.2, height - 1.2, boxstyle="round,pad=0.6,rounding_size=1.0",
                                facecolor=colour, edgecolor=EDGE[colour], linewidth=1.2, zorder=2))
    middle = x + width / 2
    family = "DejaVu Sans Mono" if mono else "DejaVu Sans"
    lift = 1.25 + 0.6 * text.count("\n") if text else 0
    ax.text(middle, y + height / 2 + lift, title, ha="center", va="center", fontsize=size, color=INK, weight="bold", family=family,
            zorder=3)
    if text:
        ax.text(middle, y + height / 2 + lift - 1.6, text, ha="center", va="top", fontsize=8.2, color=SOFT, zorder=3,
                linespacing=1.25)


def arrow(start, end, curve=0.0, style="-|>", width=1.4):
    ax.add_patch(FancyArrowPatch(start, end, arrowstyle=style, mutation_scale=11, linewidth=width, color=INK, shrinkA=0, shrinkB=0,
                                 connectionstyle=f"arc3,rad={curve}", zorder=4))


def line(*points, width=1.4):
    ax.plot(*zip(*points), color=INK, linewidth=width, solid_capstyle="round", solid_joinstyle="round", zorder=4)


def note(x, y, text, **style):
    ax.text(x, y, text, **{"fontsize": 8.2, "color": SOFT, "zorder": 5, "ha": "left", "va": "center", **style})


# The configuration.
box(2, 66.5, 17, 6.5, FILE, "run.yaml", "and --set a.b=c", mono=True)
box(27, 66.5, 21, 6.5, HOST, "config", "read, check, resolve")
box(56, 66.5, 22, 6.5, HOST, "parameters", "frozen structs, in cgs")
arrow((19, 69.75), (27, 69.75))
arrow((48, 69.75), (56, 69.75))

# Objects built from it, once.
note(2, 63.1, "built once, on the host")
for i, (title, text) in enumerate((("line", "atomic data"), ("datasets", "where the gas is"), ("generators", "where photons start"),
                                   ("outputs", "what is kept"))):
    box(2 + 19.67 * i, 53.5, 17, 6.8, HOST, title, text)
    arrow((10.5 + 19.67 * i, 61.6), (10.5 + 19.67 * i, 60.3))
    line((10.5 + 19.67 * i, 53.5), (10.5 + 19.67 * i, 52))
line((67, 66.5), (67, 61.6))
line((10.5, 61.6), (69.5, 61.6))
line((10.5, 52), (69.5, 52))

# Plain data.
arrow((40, 52), (40, 50))
box(2, 43.5, 76, 6.5, PLAIN, "plain views:  Problem · EmitterView · TallyPlan", "used in place by the processor, mirrored to a device")
arrow((40, 43.5), (40, 40.5))

# The loop.
ax.add_patch(FancyBboxPatch((3, 16.7), 74, 22.8, boxstyle="round,pad=1,rounding_size=1.4", facecolor=KERNEL, edgecolor=EDGE[KERNEL],
                            linewidth=1.2, zorder=1))
note(3.6, 38.6, "drivers + parallel", weight="bold", color=INK)
note(76.4, 38.6, "a pack of lanes for each CPU thread, or one lane for each GPU thread", ha="right")
box(4, 25, 13.5, 7.5, KERNEL, "generate", "photon = f(seed, id)")
ax.add_patch(FancyBboxPatch((24, 22.8), 31, 12.4, boxstyle="round,pad=0.8,rounding_size=1.2", facecolor=STEP, edgecolor=EDGE[STEP],
                            linewidth=1.2, zorder=2))
note(39.5, 34.1, "step", ha="center", weight="bold", color=INK, fontsize=9.6)
box(24.6, 24.6, 13, 7.5, KERNEL, "fly", "spend optical depth")
box(41.4, 24.6, 13, 7.5, KERNEL, "collide", "one proposal")
box(62.5, 25, 13.5, 7.5, KERNEL, "record", "counts, spectra")
arrow((17.5, 28.7), (23.2, 28.7))
arrow((37.6, 28.7), (41.4, 28.7))
arrow((55.8, 28.7), (62.5, 28.7))
arrow((47.5, 24.6), (31.5, 24.6), curve=-0.28)
note(39.5, 21.0, "again and again", ha="center", va="top")
line((69.2, 25), (69.2, 18), (10.7, 18))
arrow((10.7, 18), (10.7, 25))
note(60, 18, "  refill  ", ha="center", color=INK, weight="bold", backgroundcolor=KERNEL)
note(59, 30.2, "ended", ha="center", va="bottom")

# The result.
arrow((12.5, 15.7), (12.5, 11))
note(13.8, 13.4, "tallies are added, finished photons are streamed")
box(2, 3.5, 21, 7.5, HOST, "io", "writes, then renames")
box(30.5, 3.5, 19, 7.5, FILE, "run.h5", "spectra, photons,\nconfiguration", mono=True)
box(57, 3.5, 21, 7.5, HOST, "python", "reads, plots, compares")
arrow((23, 7.25), (30.5, 7.25))
arrow((49.5, 7.25), (57, 7.25))

fig.savefig(HERE / "architecture.png", dpi=200)
fig.savefig(HERE / "architecture.svg", metadata={"Date": None})
