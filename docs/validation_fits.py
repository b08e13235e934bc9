#!/usr/bin/env python3
"""Remakes the table and the figure of docs/fits.md, "How good it is": fits of spectra that thor has made.

    PYTHONPATH=python python3 docs/validation_fits.py --thor build/release/thor --folder fits [--device cpu] [--scale 1]

What is there in the folder is not made again: sweeps go on where they were, the emulator and each case of fits are kept.
With --scale below 1 there are fewer models of each kind.
"""
from __future__ import annotations

import argparse
import multiprocessing
import os
import pathlib
import subprocess

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one for each process

import numpy as np

from thor.fitting import calibration, models
from thor.fitting.emulator import Emulator

LEAST_LIGHT = 0.05  #: share of the line that escapes
#: Signal over noise, the share of the emulator's error that the likelihood knows of, and how many mocks there are for a fit.
CASES = {"S/N 10": (10.0, 1.0, 1), "S/N 50": (50.0, 1.0, 1), "S/N 50, emulator taken for exact": (50.0, 0.0, 3)}
COLORS = ("#0072B2", "#D55E00", "#999999")
POPULATION = 300

SHELL = """line: Lya
dataset: {type: shell, inner_radius: 0.9 kpc, outer_radius: 1 kpc, temperature: 1e4 K, column_density: 1e19 cm^-2,
          velocity: {profile: constant, average: 100 km/s}DUST}
generators:
GENERATORS
outputs: [OUTPUTS]
output: {path: model.h5}
"""
FLAT = "spectrum: {type: continuum, range: [-3000 km/s, 3000 km/s]}}"
RAW = SHELL.replace("DUST", "").replace("OUTPUTS", "{type: photons, fields: [velocity_initial, velocity_final, column]}").replace("GENERATORS", f"""
  - {{type: point, name: narrow, photons: 6000, spectrum: {{type: gaussian, sigma: 150 km/s}}}}
  - {{type: point, name: wide, photons: 8000, spectrum: {{type: gaussian, sigma: 800 km/s}}}}
  - {{type: point, name: continuum, photons: 6000, {FLAT}""")
SPECTRUM = "{type: spectrum, name: NAME, generator: NAME, axis: velocity, range: [-2500 km/s, 2500 km/s], bins: 500}"
SPECTRA = SHELL.replace("DUST", ", dust: {tau: 0.1, albedo: 0}").replace(
    "OUTPUTS", ", ".join(SPECTRUM.replace("NAME", name) for name in ("line", "continuum"))).replace("GENERATORS", f"""
  - {{type: point, name: line, photons: 10000, spectrum: {{type: gaussian, sigma: 200 km/s}}}}
  - {{type: point, name: continuum, photons: 5000, {FLAT}""")
GAS = """keys:
  dataset.velocity.average: {range: [-300 km/s, 500 km/s]}
  dataset.column_density: {range: [1e17 cm^-2, 3e21 cm^-2], spacing: log}
  dataset.temperature: {range: [1e3 K, 1e5 K], spacing: log}
"""
SOURCE = """  dataset.dust.tau: {range: [0, 5]}
  generators.0.spectrum.sigma: {range: [50 km/s, 800 km/s], spacing: log}
"""
#: Of each sweep: its model, the number of models, the seed, photons of line and continuum.
SWEEPS = {"models": (RAW, 8192, 1, None), "tests": (SPECTRA, 300, 2, (1_000_000, 300_000)), "mocks": (SPECTRA, 600, 3, (400_000, 150_000))}


def make_sweeps(folder: pathlib.Path, thor: str, device: str, scale: float, only: list[str]) -> None:
    for name, (model, count, seed, photons) in SWEEPS.items():
        (folder / f"{name}_model.yaml").write_text(model)
        more = f"set: {{generators.0.photons: {photons[0]}, generators.1.photons: {photons[1]}}}\n" if photons else ""
        (folder / f"{name}.yaml").write_text(
            f"model: {name}_model.yaml\ndesign: sobol\nmodels: {max(int(count * scale), 60)}\nseed: {seed}\n{more}{GAS}{SOURCE if photons else ''}output: {{path: {name}.h5}}\n")
        if name in only and not (folder / f"{name}.h5").exists():
            subprocess.run([thor, "sweep", str(folder / f"{name}.yaml"), "--device", device], check=True)


def of_part(arguments: tuple[pathlib.Path, float, float, int, int, int]) -> tuple[list[str], np.ndarray]:
    folder, snr, error, mocks_of_fit, part, parts = arguments
    emulator, mocks = Emulator.load(folder / "shells.emulator"), models.load(folder / "mocks.h5")
    return calibration.ranks(emulator, mocks, snr=snr, population=POPULATION, least_light=LEAST_LIGHT,
                             part=(part, parts * mocks_of_fit), emulator_error=error)


def ranks_of(folder: pathlib.Path, case: str, processes: int) -> tuple[list[str], np.ndarray]:
    file = folder / f"{case.replace('/', '').replace(' ', '_')}.npz"
    if not file.exists():
        with multiprocessing.Pool(processes) as pool:
            found = pool.map(of_part, [(folder, *CASES[case], part, processes) for part in range(processes)])
        np.savez(file, names=found[0][0], ranks=np.concatenate([ranks for _, ranks in found]))
    kept = np.load(file)
    return [str(name) for name in kept["names"]], kept["ranks"]


def probability(ranks: np.ndarray) -> float:
    """That uniform ranks differ as much from their line (Kolmogorov and Smirnov)."""
    n = len(ranks)
    ordered = np.sort(ranks)
    most = max(np.max(np.arange(1, n + 1) / n - ordered), np.max(ordered - np.arange(n) / n)) * (np.sqrt(n) + 0.12 + 0.11 / np.sqrt(n))
    k = np.arange(1, 101)
    return float(np.clip(2 * np.sum((-1.0) ** (k - 1) * np.exp(-2 * k**2 * most**2)), 0, 1)) if most > 0.2 else 1.0


def draw(found: dict[str, np.ndarray], names: list[str], path: pathlib.Path) -> None:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.size": 8, "axes.linewidth": 0.6})
    figure, axes = pyplot.subplots(2, 4, figsize=(7.1, 3.6), sharex=True, sharey=True, layout="constrained")
    for axis, i in zip(axes.flat, range(len(names))):
        n = max(len(ranks) for ranks in found.values())
        x = np.linspace(0, 1, 101)
        axis.fill_between(x, -1.36 / np.sqrt(n), 1.36 / np.sqrt(n), color="#eeeeee", lw=0)
        for (case, ranks), color in zip(found.items(), COLORS):
            axis.plot(x, [np.mean(ranks[:, i] <= at) - at for at in x], color=color, label=case.replace(", ", ",\n"), lw=1.2)
        axis.set_title(names[i].split(".", 1)[-1].replace("0.spectrum.", "source ").replace("_", " "), fontsize=8)
        axis.axhline(0, color="black", lw=0.5)
    axes.flat[-1].axis("off")
    axes.flat[-1].legend(*axes.flat[0].get_legend_handles_labels(), loc="center", frameon=False, fontsize=7)
    figure.supxlabel("rank of the true value among the samples", fontsize=8)
    figure.supylabel("cumulative share of ranks − uniform", fontsize=8)
    figure.savefig(path, dpi=200)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thor", default="build/release/thor")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("fits"))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", default="models,tests,mocks", help="the sweeps to run; others come from elsewhere")
    parser.add_argument("--sweeps-only", action="store_true")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--figure", type=pathlib.Path, default=pathlib.Path("docs/figures/fits-ranks.png"))
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True, parents=True)
    make_sweeps(given.folder, given.thor, given.device, given.scale, given.only.split(","))
    if given.sweeps_only:
        return
    if not (given.folder / "shells.emulator").exists():
        made = Emulator.of(models.load_photons(given.folder / "models.h5"), models.load(given.folder / "tests.h5"), tell=lambda text: print(text, end="\r"))
        made.save(given.folder / "shells.emulator")
    made = Emulator.load(given.folder / "shells.emulator")
    print(made.describe())
    found, names = {}, []
    for case in CASES:
        names, found[case] = ranks_of(given.folder, case, given.processes)
    print(f"{', '.join(str(len(ranks)) for ranks in found.values())} fits\n")
    print("| parameter | " + " | ".join(f"{share} %, {case} | KS" if share == 95 else f"{share} %, {case}" for case in CASES for share in (68, 95)) + " |")
    for i, name in enumerate(names):
        row = []
        for ranks in found.values():
            row += [f"{100 * calibration.held(ranks, share)[i]:.0f} %" for share in (0.68, 0.95)] + [f"{probability(ranks[:, i]):.2g}"]
        print(f"| {name} | " + " | ".join(row) + " |")
    for case, ranks in found.items():
        print(f"{case}: {100 * np.mean(calibration.held(ranks, 0.68)):.1f} and {100 * np.mean(calibration.held(ranks, 0.95)):.1f} % are held, of all parameters")
    draw(found, names, given.figure)


if __name__ == "__main__":
    main()
