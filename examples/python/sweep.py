# %% [markdown]
# # A grid of shell models
#
# A thin shell expelled by a galaxy is the standard model of Lyα lines. Its column density, its
# speed and its dust shape the line: we run a grid of models and plot them.
#
#     PYTHONPATH=python /usr/bin/python3 examples/python/sweep.py [FOLDER]
#
# writes into FOLDER (default: `out`). Run it twice: the second time everything exists already.

# %%
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # figures go to files; omit this in a notebook
import matplotlib.pyplot as plt
import numpy as np

import thor

folder = Path(sys.argv[1] if len(sys.argv) == 2 else "out")
folder.mkdir(parents=True, exist_ok=True)
plt.style.use(thor.PAPER)

# %% [markdown]
# ## The models
#
# The models share a configuration, given here as text. It is read like a file, so an error in it
# names line and column.

# %%
shell = """\
line: Lya
dataset:
  type: shell
  inner_radius: 9 kpc
  outer_radius: 10 kpc
  temperature: 1e4 K
  column_density: 1e20 cm^-2
  velocity: {profile: constant, max: 200 km/s}   # the same speed everywhere
  dust: {tau: 0}
generators:
  - type: point
    photons: 6000
    luminosity: 1e42 erg/s
    spectrum: {type: gaussian, sigma: 100 km/s}
outputs:
  - {type: spectrum, name: emergent, axis: velocity, range: [-600 km/s, 2400 km/s], bins: 300}
"""
N, V, DUST = "dataset.column_density", "dataset.velocity.max", "dataset.dust.tau"
grid = {
    N: ["1e20 cm^-2", "3e20 cm^-2", "1e21 cm^-2"],
    V: ["50 km/s", "100 km/s", "200 km/s", "300 km/s"],
    DUST: [0, 0.5],
}

# %% [markdown]
# ## The runs
#
# Every combination is one file. An interrupted sweep resumes where it stopped; a run that
# fails does not lose the others; and `thor.Sweep(folder)` opens the results again later.

# %%
sweep = thor.sweep(shell, grid, folder / "shells")
print(f"{len(sweep)} models, {len(sweep.failures)} failures")

# %% [markdown]
# ## Spectra
#
# One parameter at a time: the others are fixed with `where`.

# %%
fig, panels = plt.subplots(1, 2, figsize=(7.4, 3.1))
sweep.where({V: "200 km/s", DUST: 0}).plot(N, panels[0], rebin=4)
sweep.where({N: "1e20 cm^-2", DUST: 0}).plot(V, panels[1], rebin=4)
panels[1].set_xlim(-600, 1400)
fig.savefig(folder / "shells.png")

# %% [markdown]
# ## A table
#
# One row per model, with errors. It is a numpy array with named columns, which pandas and astropy
# accept directly.

# %%
table = sweep.table()
for row in table[:4]:
    print(
        f"N = {row[N]}, v = {row[V]}, dust {row[DUST]:g}: escape fraction "
        f"{row['escape_fraction']:.3f} +- {row['escape_fraction_error']:.3f}, "
        f"mean velocity {row['mean_velocity']:.0f} +- {row['mean_velocity_error']:.0f} km/s"
    )

# %% [markdown]
# Dust absorbs more photons the longer their path is, hence in thicker and slower shells. The
# dotted line is the transmission on a straight path, which is far higher than that of Lyα.

# %%
dusty = table[table[DUST] == 0.5]
fig, ax = plt.subplots()
for column, marker, color in zip(grid[N], "os^", thor.plot.COLORS):
    rows = dusty[dusty[N] == column]
    speed = [float(v.split()[0]) for v in rows[V]]
    ax.errorbar(
        speed,
        rows["escape_fraction"],
        rows["escape_fraction_error"],
        fmt=marker + "-",
        color=color,
        ms=4,
        lw=1,
        capsize=2,
        label=thor.sweep_plot.value_label(column),
    )
absorbed = 0.5 * (1 - 0.32)  # the albedo of the dust is 0.32
ax.axhline(np.exp(-absorbed), color="black", lw=0.8, ls=":", label=r"$\exp(-\tau_\mathrm{abs})$")
ax.set(xlabel=r"Shell velocity $[\mathrm{km\,s^{-1}}]$", ylabel="Escape fraction", ylim=(0, 1))
ax.legend(frameon=False, fontsize=8, ncol=2, loc="upper left")
ax.tick_params(which="both", direction="in", top=True, right=True)
fig.savefig(folder / "escape.png")
