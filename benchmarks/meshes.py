#!/usr/bin/python3
"""Crossings per second of photons and rays through the same gas on a uniform grid, an octree and a Voronoi mesh,
and that in its compact form.

    benchmarks/meshes.py --thor build/release/thor [--cells 1e6] [--threads 2] [--repeats 3] [--device cpu] [--photons 100000] [--lattice]

The gas is clumped: 1/5 of the sites uniform, the others in six halos with a cusp. The octree has leaves of at most eight of these sites,
the grid as many cells as there are sites. All gas is so thin that nothing scatters: a step is a crossing of a face. Photons begin in
the middle of the box; rays are a projection with a perspective camera, whose crossings are those of a tracer along some of them. Times are the
smallest of the repeats. It fails if a photon is lost.
"""
import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path

import h5py
import numpy as np

KPC = 3.0856775814913673e21
UNITS = {"HI_density": "cm-3", "temperature": "K", "velocity_x": "km s-1", "velocity_y": "km s-1", "velocity_z": "km s-1"}


def clumps(count):
    """From 0 to 1."""
    random = np.random.default_rng(1)
    sites = random.random((count, 3))
    halo = np.arange(count // 5, count)
    centres, scales = random.uniform(0.15, 0.85, (6, 3)), 0.012 * 0.55 ** np.arange(6)
    r = np.geomspace(1e-4, 20, 4000)
    inside = np.log(1 + r) - r / (1 + r)  # mass of a halo with rho ~ 1/(r (1 + r)^2)
    radius = np.interp(random.random(len(halo)) * inside[-1], inside, r)
    way = random.normal(size=(len(halo), 3))
    k = halo % 6
    sites[halo] = np.mod(centres[k] + scales[k, None] * radius[:, None] * way / np.linalg.norm(way, axis=1)[:, None], 1)
    return sites


def leaves_of(sites, most=8, deepest=16):
    """Leaves with at most so many sites: rows of level, x, y, z."""
    key = np.floor(sites * 2**deepest).astype(np.int64)
    done, level = [], 0
    cells, cell = np.zeros((1, 3), np.int64), np.zeros(len(sites), np.int64)
    while len(cells):
        number = np.bincount(cell[cell >= 0], minlength=len(cells))
        split = (number > most) & (level < deepest)
        done.append(np.column_stack([np.full(np.count_nonzero(~split), level), cells[~split]]))
        place = np.cumsum(split) - 1
        children = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), axis=-1).reshape(8, 3)
        inside = np.flatnonzero((cell >= 0) & split[np.maximum(cell, 0)])
        half = key[inside] >> (deepest - level - 1) & 1
        new = np.full(len(sites), -1, np.int64)
        new[inside] = 8 * place[cell[inside]] + half @ [4, 2, 1]
        cells, cell, level = (2 * cells[split][:, None] + children).reshape(-1, 3), new, level + 1
    return np.concatenate(done)


def write(path, count, places, **attributes):
    with h5py.File(path, "w") as file:
        file.attrs.update({**attributes, **{f"origin_{k}": -0.5 * KPC for k in "xyz"}})
        for name, values in places.items():
            file[name] = values
        shape = count if isinstance(count, tuple) else (count,)
        for name, units in UNITS.items():
            value = {"HI_density": 1e-25, "temperature": 1e4}.get(name, 0.0)
            file.create_dataset(name, data=np.full(shape, value, "f4"), chunks=True).attrs["units"] = units


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--thor", required=True)
    parser.add_argument("--cells", type=float, default=1e6)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--photons", type=int, default=100000)
    parser.add_argument("--pixels", type=int, default=400)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="single")
    parser.add_argument("--lattice", action="store_true", help="sites in a cubic lattice, not clumped")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        n = round(options.cells ** (1 / 3))
        sites = (np.indices((n, n, n)).reshape(3, -1).T + 0.5) / n if options.lattice else clumps(int(options.cells))
        write(folder / "uniform_grid.h5", (n, n, n), {}, cell_size=KPC / n)
        leaves = leaves_of(sites)
        write(folder / "octree.h5", len(leaves), dict(zip(("level", "x", "y", "z"), leaves.T)), box_size=KPC)
        write(folder / "voronoi.h5", len(sites), {k: (sites[:, i] - 0.5) * KPC for i, k in enumerate("xyz")}, box_size=KPC)

        def run(config, out):
            (folder / "c.json").write_text(json.dumps({**config, "output": {"path": "out.h5"}}))
            seconds = math.inf
            for _ in range(options.repeats):
                subprocess.run([Path(options.thor).resolve(), "run", "c.json", "-o", out, "--overwrite", "--quiet", "--device", options.device,
                                "--threads", options.threads, "--precision", options.precision], check=True, cwd=folder)
                with h5py.File(folder / out) as file:
                    seconds = min(seconds, float(file["summary"].attrs["transport_seconds"]))
                    steps = int(file["summary"].attrs.get("steps", 0))
                    if (lost := int(file["summary"].attrs.get("lost", 0))) > 0:
                        raise SystemExit(f"{lost} photons were lost in the {config['dataset']['type']}")
            return seconds, steps

        rates = {}
        for kind in ("uniform_grid", "octree", "voronoi", "compact"):
            dataset = {"type": kind, "path": f"{kind}.h5"}
            if kind == "compact":
                dataset = {"type": "voronoi", "path": "voronoi.h5", "compact": True}
            photons = {"line": "Lya", "dataset": dataset, "generators": [{"type": "point", "photons": options.photons}],
                       "outputs": [{"type": "spectrum", "name": "s", "range": ["-100 km/s", "100 km/s"], "bins": 10}]}
            seconds, steps = run(photons, "photons.h5")
            camera = {"name": "c", "type": "perspective", "position": ["2 kpc", "0.6 kpc", "0.9 kpc"], "field_of_view": "24 deg", "pixels": options.pixels}
            rays = {"driver": "raytrace", "line": "Lya", "dataset": dataset, "cameras": [camera],
                    "operators": [{"type": "projection", "name": "p", "camera": "c", "field": "HI_density"}]}
            time, _ = run(rays, "rays.h5")
            random = np.random.default_rng(3)
            pixel = random.integers(0, options.pixels, (400, 2))
            with h5py.File(folder / "rays.h5") as file:
                image = file["images/p"].attrs
                way, right, up, at = (np.asarray(image[k]) for k in ("direction", "right", "up", "position"))
            offset = np.tan(np.radians(12)) * (2 * (pixel + 0.5) / options.pixels - 1)
            directions = -way + offset[:, :1] * right + offset[:, 1:] * up
            lines = [{"position": [f"{x!r} cm" for x in at.tolist()], "direction": d.tolist()} for d in directions]
            tracer = {"type": "tracer", "name": "t", "fields": "HI_density", "sightlines": {"list": lines}}
            run({**rays, "cameras": [], "operators": [tracer]}, "trace.h5")
            with h5py.File(folder / "trace.h5") as file:
                pieces = (len(file["traces/t/begin"]) / len(lines)) * options.pixels**2
            rates[kind] = steps / seconds, pieces / time
            print(f"{kind:13} {steps / options.photons:8.1f} crossings a photon, {steps / seconds:9.3g} a second; "
                  f"{pieces / options.pixels**2:8.1f} a ray, {pieces / time:9.3g} a second", flush=True)
        for kind in ("octree", "voronoi", "compact"):
            print(f"{kind}/uniform_grid: photons {rates[kind][0] / rates['uniform_grid'][0]:.2f}, rays {rates[kind][1] / rates['uniform_grid'][1]:.2f}")


main()
