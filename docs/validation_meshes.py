#!/usr/bin/env python3
"""Remakes the table and the figure of docs/voronoi.md, "What a grid changes": a mock galaxy as a Voronoi mesh, as an octree and on grids.

    PYTHONPATH=python python3 docs/validation_meshes.py --thor build/release/thor --folder meshes [--gas 100000] [--photons 40000]

It prints, for each: clumping, share of the light that escapes, steps and microseconds a photon, seconds of `thor grid` and of the run.
"""
from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import thor

CONFIG = """line: Lya
dataset: {type: TYPE, path: FILE, dust: {law: SMC}}
generators:
  - {type: sources, brightness: ionizing_rate, photons: PHOTONS, spectrum: {type: gaussian, sigma: 30 km/s}}
outputs:
  - {type: spectrum, name: emergent, axis: velocity, range: [-1200 km/s, 1200 km/s], bins: 60}
output: {path: out.h5}
"""
COLORS = ("#000000", "#009E73", "#CC79A7", "#0072B2", "#56B4E9", "#E69F00", "#D55E00")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--thor", required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--gas", default="100000")
    parser.add_argument("--photons", default="40000")
    parser.add_argument("--cells", type=int, nargs="*", default=[64, 128, 256, 512])
    parser.add_argument("--figure", type=pathlib.Path, default=pathlib.Path(__file__).parent / "figures" / "meshes.png")
    options = parser.parse_args()
    binary = str(pathlib.Path(options.thor).resolve())
    options.folder.mkdir(exist_ok=True, parents=True)

    def run(*words: object) -> str:
        return subprocess.run([binary, *map(str, words)], cwd=options.folder, check=True, capture_output=True, text=True).stdout

    snapshot = options.folder / "snapshot.hdf5"
    if not snapshot.exists():
        run("mock", "galaxy", "-o", snapshot.name, "--gas-particles", options.gas, "--stars", 3000)
    figure, axes = plt.subplots(figsize=(6, 4), constrained_layout=True)
    meshes = [("voronoi", "Voronoi mesh", ["--mesh", "voronoi", "--density", "mass"]), ("octree", "octree", ["--mesh", "octree"])]
    cases = [*meshes, *(("uniform_grid", f"{n}³ cells", ["--cells", n]) for n in options.cells)]
    for (kind, label, more), color in zip(cases, COLORS):
        name = label.replace(" ", "_").replace("³", "") + ".h5"
        started = time.monotonic()
        said = run("grid", snapshot.name, "--size", "60 kpc", "-o", name, "--overwrite", "--on-bad-cells", "drop", *more)
        gridded = time.monotonic()
        clumping = re.search(r"clumping +(\S+),", said)
        (options.folder / "run.yaml").write_text(CONFIG.replace("TYPE", kind).replace("FILE", name).replace("PHOTONS", options.photons))
        run("run", "run.yaml", "-o", "out_" + name, "--overwrite", "--quiet", "--device", "cpu")
        times = f"{gridded - started:7.1f} {time.monotonic() - gridded:7.1f}"
        with thor.open(options.folder / ("out_" + name)) as result:
            spectrum, s = result.spectra["emergent"], result.summary
            share = s["luminosity_escaped"] / s["luminosity_emitted"]
            print(f"{label:14} {clumping[1] if clumping else '':>8} {share:7.4f} {s['steps'] / s['photons']:9.0f} {1e6 * s['transport_seconds'] / s['photons']:9.1f} {times}", flush=True)
            axes.stairs(1e4 * spectrum.flux / s["luminosity_emitted"], spectrum.edges, color=color, label=f"{label}: {100 * share:.1f} % escape")
    axes.set_xlabel("velocity [km s⁻¹]")
    axes.set_ylabel("light per 100 km s⁻¹ [%]")
    axes.legend(frameon=False, fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    axes.set_xlim(-700, 700)
    figure.savefig(options.figure, dpi=130)


main()
