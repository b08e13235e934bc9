#!/usr/bin/python3
"""Cost of observers: transport time of runs with none, one, six and ten of them, and what roulette buys.

    benchmarks/observers.py --thor build/release/thor [--grid galaxy_grid.h5] [--threads 2] [--repeats 3] [--photons 40000]
    benchmarks/observers.py --thor build/release/thor --device cuda --grid galaxy_grid.h5 --photons 1000000 --sphere-photons 20000

The sphere follows every scattering at tau0 = 1e6. The galaxy jumps through the grid that examples/galaxy/grid.sh makes,
with dust; each observer has an image of 96^2, and once an image of 256^2 and a cube of 64^2 x 200. Times are the
smallest of the repeats. A sphere of 256^3 cells, thin (every ray crosses 128 of them or more) and thick (every scattering, rays end
early), gives the rates of rays and of the cells that they cross, beside those of photons. The error of an image is sqrt(sum error^2)/sum; the product of squared error and time says what is worth while.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile

import h5py
import numpy as np

DIRECTIONS = [[0, 0, 1], [1, 0, 0], [0, 0, -1], [0.5, 0, 0.866], [0.866, 0, 0.5], [0, 1, 0],
              [0, -1, 0], [-1, 0, 0], [1, 1, 1], [-1, 1, 0.5]]


def observed(model, count, width, full=False, **peel):
    """The model with `count` observers and an image for each; `full`: a larger one, and a cube."""
    observers = [{"name": f"o{i}", "direction": d, "up": [0, 1, 0.01] if abs(d[1]) < 0.9 else [1, 0, 0.01]}
                 for i, d in enumerate(DIRECTIONS[:count])]
    images = [{"type": "image", "name": o["name"], "observer": o["name"], "width": width, "pixels": 256 if full else 96}
              for o in observers]
    if full:
        images += [{"type": "cube", "name": f"{o['name']}_cube", "observer": o["name"], "width": width, "pixels": 64, "axis": "velocity",
                    "range": ["-1000 km/s", "1000 km/s"], "bins": 200} for o in observers]
    return {**model, "observers": observers, "outputs": model["outputs"] + images, **({"peel": peel} if peel else {})}


class Runner:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def __call__(self, model):
        """Seconds of transport, the smallest of several; rays; error of the first image."""
        path, result = os.path.join(self.folder, "c.json"), os.path.join(self.folder, "out.h5")
        with open(path, "w") as file:
            json.dump(model, file)
        seconds = math.inf
        for _ in range(self.options.repeats):
            subprocess.run([self.options.thor, "run", path, "-o", result, "--overwrite", "--quiet", "--device", self.options.device,
                            "--threads", str(self.options.threads)], check=True, stderr=subprocess.DEVNULL)
            with h5py.File(result) as file:
                summary = dict(file["summary"].attrs)
                seconds = min(seconds, float(summary["transport_seconds"]))
                error = math.nan
                if "images" in file:
                    image = file["images/o0"]
                    error = np.sqrt(np.sum(image["error"][:] ** 2)) / np.sum(image["surface_brightness"][:])
        rays, cut = (int(summary.get(key, 0)) for key in ("rays", "rays_cut"))
        return seconds, rays, rays - cut, error


def cells_to_the_face(direction, cells):
    """Cells that a straight ray crosses from the middle of a cube to its face: one for each plane between two of them."""
    d = np.abs(np.asarray(direction, dtype=float))
    return cells / 2 * d.sum() / d.max()


def show_rates(run, sphere, options, cells=256):
    """Rays and cells per second of straight rays, and of photons that fly through the same gas."""
    d = np.random.default_rng(1).normal(size=(3, 100000))
    of_photon = float(np.mean([cells_to_the_face(v, cells) for v in d.T]))
    of_ray = float(np.mean([cells_to_the_face(v, cells) for v in DIRECTIONS]))
    thin = {**sphere, "dataset": {**sphere["dataset"], "tau0": 1e-3, "cells": cells}}
    thin["generators"] = [{"type": "point", "photons": options.photons}]
    alone = run(thin)[0]
    seconds, rays, _, _ = run(observed(thin, len(DIRECTIONS), "2 kpc"))
    print(f"{cells}^3, thin: photons {options.photons / alone:.3g}/s, {options.photons * of_photon / alone:.3g} cells/s; "
          f"rays {rays / (seconds - alone):.3g}/s, {rays * of_ray / (seconds - alone):.3g} cells/s", flush=True)
    thick = {**thin, "dataset": {**thin["dataset"], "tau0": 1e4}, "generators": [{"type": "point", "photons": options.photons // 100}]}
    alone = run(thick)[0]
    seconds, rays, seen, _ = run(observed(thick, len(DIRECTIONS), "2 kpc"))
    print(f"{cells}^3, tau0 = 1e4: {alone:.3f} s alone, {seconds:.3f} s with {len(DIRECTIONS)} observers; "
          f"rays {rays / (seconds - alone):.3g}/s, {seen / rays:.2g} of them seen", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thor", required=True)
    parser.add_argument("--grid", help="galaxy_grid.h5 of examples/galaxy/grid.sh")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--photons", type=int, default=40000, help="of the galaxy")
    parser.add_argument("--sphere-photons", type=int, default=40)
    options = parser.parse_args()
    spectrum = {"type": "spectrum", "name": "all", "axis": "velocity", "range": ["-1500 km/s", "1500 km/s"], "bins": 60}
    sphere = {"line": "Lya", "dataset": {"type": "shell", "outer_radius": "1 kpc", "temperature": "1e4 K", "tau0": 1e6},
              "generators": [{"type": "point", "photons": options.sphere_photons}], "acceleration": {"core_skip": "none"},
              "outputs": [spectrum], "output": {"path": "out.h5"}}
    with tempfile.TemporaryDirectory() as folder:
        run = Runner(options, folder)
        alone = run(sphere)[0]
        seconds, rays, seen, _ = run(observed(sphere, 1, "2 kpc"))
        print(f"sphere, every scattering: {alone:.3f} s alone, {seconds:.3f} s with 1 observer: {seconds / alone:.2f} times; "
              f"{rays:.3g} rays, {seen:.3g} seen", flush=True)
        show_rates(run, sphere, options)
        if not options.grid:
            return
        galaxy = {"line": "Lya", "dataset": {"type": "uniform_grid", "path": os.path.abspath(options.grid), "dust": {"law": "SMC"}},
                  "generators": [{"type": "sources", "brightness": "ionizing_rate", "photons": options.photons * 3 // 4,
                                  "spectrum": {"type": "gaussian", "sigma": "30 km/s"}},
                                 {"type": "gas", "emission": "collisional", "photons": options.photons // 4,
                                  "spectrum": {"type": "thermal"}}],
                  "outputs": [spectrum], "output": {"path": "out.h5"}}
        alone = run(galaxy)[0]
        print(f"galaxy: {alone:.3f} s alone", flush=True)
        for count in (1, 6, 10):
            seconds, rays, seen, _ = run(observed(galaxy, count, "40 kpc"))
            print(f"galaxy, {count} observers: {seconds:.3f} s, {seconds / alone:.2f} times; {rays:.3g} rays, {seen:.3g} seen, "
                  f"{rays / (seconds - alone):.3g} rays/s", flush=True)
        seconds, rays, seen, _ = run(observed(galaxy, 6, "40 kpc", full=True))
        print(f"galaxy, {options.photons} photons, 6 observers with images of 256^2 and cubes of 64^2 x 200: {seconds:.3f} s; "
              f"{rays:.3g} rays, {seen:.3g} seen", flush=True)
        for roulette in (80, 8, 5, 3, 2, 1):
            seconds, rays, seen, error = run(observed(galaxy, 6, "40 kpc", roulette=roulette))
            print(f"galaxy, 6 observers, roulette {roulette}: {seconds:.3f} s, {seen:.3g} rays seen, error {100 * error:.2f} %, "
                  f"error^2 x time {1e4 * error**2 * seconds:.3g}", flush=True)


if __name__ == "__main__":
    main()
