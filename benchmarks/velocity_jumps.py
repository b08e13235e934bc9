#!/usr/bin/env python3
"""velocity_jumps.py [--thor PATH] [--photons N] [--depth TAU] [--speeds V...] [--cells N...] [--outflow] [--work DIR]

Effect of velocity jumps between cells on a result: one turbulent field, sampled at the centres of ever finer cells,
against the finest. The field is a sum of Fourier modes of 4 to 8 waves in the box with random phases and directions, of
a given rms speed along an axis; the gas is homogeneous, 1e4 K, of a given line-centre depth from the centre to a face,
with dust of a depth of 0.3; a point source in the centre, every scattering followed. Prints a table as in
docs/notes/velocity-jumps.md; 256^3 cells take 2 GB of memory.

--outflow: a sphere whose speed grows linearly to V at its surface, in cells, against the sphere without cells; every face has the
jump 2 V/cells.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

KPC = 3.0856775814913673e21
THERMAL = 12.845  # thermal speed of hydrogen at 1e4 K [km/s]
SIGMA_LYA = 5.898e-14  # at 1e4 K [cm^2]
DUST = 0.3  # depth from the centre to a face
MODES = 24


def field(n, speed):
    """Three components at the centres of n^3 cells [km/s]."""
    random = np.random.default_rng(5)
    x = (np.arange(n) + 0.5) / n
    v = np.zeros((3, n, n, n), np.float32)
    for _ in range(MODES):
        while True:
            k = random.integers(-8, 9, 3)
            if 4 <= np.linalg.norm(k) <= 8:
                break
        phase, direction = random.uniform(0, 2 * np.pi), random.normal(size=3)
        ex, ey, ez = (np.exp(2j * np.pi * k[i] * x).astype(np.complex64) for i in range(3))
        wave = (np.exp(1j * phase) * ex[:, None, None] * (ey[:, None] * ez[None, :])[None]).real.astype(np.float32)
        for i in range(3):
            v[i] += np.float32(direction[i]) * wave
    return v * np.float32(speed / np.sqrt(MODES / 2))


def write(path, n, speed, depth, sigma_dust):
    cell = KPC / n
    with h5py.File(path, "w") as f:
        f.attrs["format"] = "thor grid"
        f.attrs["cell_size"] = cell
        for k in "xyz":
            f.attrs[f"origin_{k}"] = -KPC / 2
        f.attrs["periodic"], f.attrs["hubble"], f.attrs["redshift"] = False, 0., 0.

        def put(name, data, units):
            f[name] = data
            f[name].attrs["units"] = units
        one = np.ones((n, n, n), np.float32)
        put("HI_density", one * np.float32(depth / (SIGMA_LYA * KPC / 2)), "cm-3")
        put("temperature", one * np.float32(1e4), "K")
        put("dust", one * np.float32(DUST / (sigma_dust * KPC / 2)), "cm-3")
        v = field(n, speed)
        for i, k in enumerate("xyz"):
            put(f"velocity_{k}", v[i], "km s-1")
    faces = jumps = 0
    for axis in range(3):
        d = np.sqrt((np.diff(v, axis=axis + 1)**2).sum(0))
        faces, jumps = faces + d.size, jumps + (d > THERMAL).sum()
    return jumps / faces


def run(options, dataset, out, photons, seed):
    config = out.with_suffix(".yaml")
    config.write_text(f"line: Lya\nseed: {seed}\n"
                      f"dataset: {dataset}\n"
                      f"generators: [{{type: point, photons: {photons}}}]\n"
                      "acceleration: {core_skip: none}\n"
                      f"outputs: [{{type: photons}}]\noutput: {{path: {out}}}\n")
    subprocess.run([options.thor, "run", config, "--overwrite", "--quiet"], check=True)
    with h5py.File(out) as f:
        photons = f["photons/original"]
        fate = photons["fate"][()]
        scatterings = photons["scatterings"][()].astype(float)
        names = [k for k in photons if "velocity" in k or "frequency" in k or "wavelength" in k]
        x = photons[[n for n in names if "final" in n][0]][()]
    escaped = fate == 2
    return escaped, scatterings, x[escaped]


def ks(a, b):
    both = np.sort(np.concatenate([a, b]))
    return np.abs(np.searchsorted(np.sort(a), both, "right") / a.size - np.searchsorted(np.sort(b), both, "right") / b.size).max()


def row(first, escaped, scatterings, x, finest):
    f, s = escaped.mean(), scatterings[escaped]
    noise = 0.83 * np.sqrt(1 / x.size + 1 / finest.size)  # median KS distance of two samples of the same kind
    print(f"| {first} | {s.mean():.4g} ± {s.std() / np.sqrt(s.size):.2g} | {f:.3f} ± {np.sqrt(f * (1 - f) / escaped.size):.3f} | "
          f"{ks(x, finest):.3f} (noise {noise:.3f}) |", flush=True)


def outflows(options):
    print("| speed [km/s] | cells | jump / v_th | scatterings | f_esc | KS of the spectrum against the sphere |")
    print("|---|---|---|---|---|---|", flush=True)
    for speed in options.speeds:
        whole = None
        for cells in [0, *sorted(options.cells, reverse=True)]:
            dataset = (f"{{type: shell, outer_radius: 0.5 kpc, temperature: 1e4 K, tau0: {options.depth:g}, velocity: {{profile: linear, "
                       f"max: {speed:g} km/s}}, dust: {{tau: {DUST}}}" + (f", cells: {cells}" if cells else "") + "}")
            result = run(options, dataset, options.work / "run.h5", options.photons, cells + 1)
            whole = result[2] if whole is None else whole
            row(f"{speed:g} | {f'{cells}^3' if cells else 'none'} | {2 * speed / cells / THERMAL if cells else 0:.2g}", *result, whole)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[0])
    parser.add_argument("--thor", default=str(Path(__file__).resolve().parent.parent / "build/release/thor"))
    parser.add_argument("--photons", type=int, default=20000)
    parser.add_argument("--depth", type=float, default=3e3)
    parser.add_argument("--speeds", type=float, nargs="+", default=[5, 10, 20, 40])
    parser.add_argument("--cells", type=int, nargs="+", default=[64, 128, 256])
    parser.add_argument("--outflow", action="store_true")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "thor_velocity_jumps")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.outflow:
        outflows(options)
        return 0
    sigma_dust = 1.59e-21 / 10**-0.6  # SMC at Lya, per hydrogen atom of solar metallicity [cm^2]
    print("| rms speed [km/s] | cells | faces with jumps > v_th | scatterings | f_esc | KS of the spectrum against the finest |")
    print("|---|---|---|---|---|---|", flush=True)
    for speed in options.speeds:
        finest = None
        for cells in sorted(options.cells, reverse=True):
            grid = options.work / f"grid_{cells}.h5"
            share = write(grid, cells, speed, options.depth, sigma_dust)
            dataset = f"{{type: uniform_grid, path: {grid}, dust: {{law: SMC}}}}"
            escaped, scatterings, x = run(options, dataset, options.work / f"run_{cells}.h5", options.photons, cells)
            grid.unlink()
            finest = x if finest is None else finest
            row(f"{speed:g} | {cells}^3 | {100 * share:.2g} %", escaped, scatterings, x, finest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
