# %% [markdown]
# # Spectra, photons and their errors
#
# A cloud of hydrogen expands around a galaxy that emits Lyα. We run it, plot the escaping light in
# velocity and in wavelength, check its errors, and look at individual photons: how often they
# scattered, and where they went.
#
#     PYTHONPATH=python /usr/bin/python3 examples/python/spectra.py [FOLDER]
#
# writes its result and its figures into FOLDER (default: `out`). The cells are also a notebook, for
# editors that understand `# %%`.

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
# ## The run
#
# A configuration is a dict with the keys of docs/configuration.md, or the path of a YAML file. The
# gas expands as v ∝ r, up to 200 km/s, and contains some dust. The galaxy is not in its centre but
# half way up, at z = 5 kpc. A core skip to x = 3 omits scatterings in the core of the line:
# the run takes seconds instead of many minutes, and the escape fraction changes by about 0.01.

# %%
cloud = {
    "line": "Lya",
    "dataset": {
        "type": "shell",
        "outer_radius": "10 kpc",
        "temperature": "1e4 K",
        "column_density": "1e20 cm^-2",
        "velocity": {"profile": "linear", "max": "200 km/s"},
        "dust": {"tau": 0.2},
    },
    "generators": [
        {
            "type": "point",
            "position": ["0 kpc", "0 kpc", "5 kpc"],
            "photons": 60000,
            "luminosity": "1e42 erg/s",
            "spectrum": {"type": "gaussian", "sigma": "80 km/s"},
        }
    ],
    "outputs": [
        {
            "type": "spectrum",
            "name": name,
            "of": of,
            "axis": "velocity",
            "range": ["-500 km/s", "1000 km/s"],
            "bins": 150,
        }
        for name, of in (("emergent", "escaped"), ("intrinsic", "emitted"))
    ]
    + [{"type": "photons", "fields": ["id", "velocity_final", "direction", "scatterings"]}],
}
result = thor.run(cloud, folder / "cloud.h5", overwrite=True)
print(result)

# %% [markdown]
# Every number has its Monte Carlo error.

# %%
fraction, error = result.escape_fraction()
print(f"escape fraction: {fraction:.4f} +- {error:.4f}")
spectrum = result.spectra["emergent"]
mean, error = spectrum.mean()
print(f"mean velocity:   {mean:.1f} +- {error:.1f} km/s, highest at {spectrum.peak():.0f} km/s")

# %% [markdown]
# ## Velocity and wavelength
#
# The line is redshifted: escaping photons have scattered off gas receding from them. The band is
# one standard deviation.

# %%
ax = thor.plot_spectrum(result.spectra)
ax.figure.savefig(folder / "velocity.png")

# %% [markdown]
# The same spectrum over another axis keeps the luminosity of each bin. `rebin` merges bins: errors
# add in quadrature. `normalised` gives the shape alone, with the errors of fractions.

# %%
coarse = spectrum.rebin(4).to("wavelength")
print(coarse)
both = {"4 bins in one": coarse, "as recorded": spectrum}
ax = thor.plot_spectrum(both, axis="wavelength", normalize=True)
ax.figure.savefig(folder / "wavelength.png")

# %% [markdown]
# With astropy, spectra have units: here for a galaxy at a distance of 10 Gpc.

# %%
try:
    from astropy import units as u

    edges, luminosity, error = coarse.quantity()
    flux = luminosity / (4 * np.pi * (10 * u.Gpc) ** 2)
    print(f"brightest: {flux.max().to('erg s-1 cm-2 Angstrom-1'):.3g}")
except ImportError:
    print("astropy is not available: spectrum.quantity() needs it")

# %% [markdown]
# ## Are the errors right?
#
# Another seed gives other photons. The difference of two runs, bin by bin, in units of its error
# must have a standard deviation near 1.

# %%
other = thor.run(cloud, folder / "cloud-2.h5", seed=2, overwrite=True, quiet=True)
first, second = spectrum.rebin(2), other.spectra["emergent"].rebin(2)
filled = (first.flux > 0) & (second.flux > 0)
difference, error = first.flux - second.flux, np.hypot(first.error, second.error)
pull = difference[filled] / error[filled]
print(f"{pull.size} bins: mean {np.mean(pull):+.2f}, standard deviation {np.std(pull):.2f}")

# %% [markdown]
# ## Photons
#
# One array per property, read on demand. Most photons scatter a few hundred times before they
# escape (not counting those omitted by the core skip), and hardly any escape blueward of the line.

# %%
escaped = result.photons.escaped
print(escaped)
fig, ax = plt.subplots()
often = escaped["scatterings"] > 0
counts = ax.hexbin(
    escaped["velocity_final"][often],
    escaped["scatterings"][often],
    yscale="log",
    extent=(-500, 1000, 0, 4),
    gridsize=(50, 22),
    mincnt=1,
    bins="log",
    linewidths=0.1,
)
fig.colorbar(counts, label="Photons")
ax.tick_params(which="both", direction="in", top=True, right=True)
ax.set(xlim=(-500, 1000), ylabel="Scatterings")
ax.set_xlabel(r"Velocity $\Delta v\ [\mathrm{km\,s^{-1}}]$")
fig.savefig(folder / "scatterings.png")
print(f"{np.mean(~often):.1%} of those that escaped never scattered")

# %% [markdown]
# ## Directions
#
# The galaxy is nearer to the top of the cloud: an observer there sees it through less gas, and
# assumes that it emits equally in all directions, so photons within an angle θ represent
# 2 / (1 - cos θ) times their luminosity.

# %%
angle = 40  # degrees
everywhere = 2 / (1 - np.cos(np.radians(angle)))
views = {}
for name, z in (("from the near side", 1), ("from the far side", -1)):
    cone = result.photons.towards([0, 0, z], within=angle)
    views[name] = cone.spectrum("velocity", bins=60, range=(-500, 1000)).scaled(everywhere)
    luminosity, error = views[name].luminosity()
    print(f"{name}: ({luminosity / 1e42:.3f} +- {error / 1e42:.3f}) x 1e42 erg/s")
ax = thor.plot_spectrum(views)
ax.figure.savefig(folder / "directions.png")
