#!/usr/bin/python3
"""How runs scale with threads, ranks and domains.

    benchmarks/scaling.py --thor build/release/thor [--cores 16] [--grid box_grid.h5] [--photons 20000]

Threads and ranks share a sphere (tau0 = 1e5, every scattering). One thread beside others that are busy shows what the clock of the
processor takes. The grid, a periodic box with a list of sources (examples/box/run.sh makes one), is followed whole, in domains, and
as a box of 8 copies with 8 times the photons on 8 ranks: weak scaling. Seconds are those of transport; CPU seconds are of all
processes, start and end included.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile
from pathlib import Path

import h5py

SPECTRUM = {"type": "spectrum", "name": "s", "axis": "velocity", "range": ["-1000 km/s", "1500 km/s"], "bins": 100}


def sphere(photons):
    return {"line": "Lya", "dataset": {"type": "shell", "outer_radius": "1 kpc", "temperature": "1e4 K", "tau0": 1e5},
            "generators": [{"type": "point", "photons": photons, "luminosity": "1e42 erg/s"}],
            "acceleration": {"core_skip": "none"}, "outputs": [SPECTRUM], "output": {"path": "out.h5"}}


def box(path, photons, tiles=1):
    return {"line": "Lya", "dataset": {"type": "uniform_grid", "path": str(path), "stop_shift": "5 Angstrom", "tiles": tiles},
            "generators": [{"type": "sources", "photons": photons, "spectrum": {"type": "gaussian", "sigma": "100 km/s"}}],
            "outputs": [SPECTRUM], "output": {"path": "out.h5"}}


class Runner:
    def __init__(self, thor, folder):
        self.thor, self.folder, self.runs = os.path.abspath(thor), Path(folder), 0

    def command(self, config, ranks, *arguments):
        self.runs += 1
        path, out = self.folder / f"c{self.runs}.json", self.folder / f"o{self.runs}.h5"
        path.write_text(json.dumps(config))
        launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
        words = [*launcher, self.thor, "run", path, "-o", out, "--device", "cpu", "--progress", "never", *arguments]
        return [str(word) for word in words], out

    def __call__(self, config, ranks, *arguments):
        words, out = self.command(config, ranks, *arguments)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with h5py.File(out) as file:
            seconds = float(file["summary"].attrs["transport_seconds"])
            domains = dict(file["domains"].attrs) if "domains" in file else {}
        return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, domains


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thor", required=True)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--grid", type=Path)
    parser.add_argument("--photons", type=int, default=20000)
    parser.add_argument("--sphere-photons", type=int, default=1000, help="for one thread")
    options = parser.parse_args()
    n = options.cores
    with tempfile.TemporaryDirectory() as folder:
        run = Runner(options.thor, folder)
        few, many = sphere(options.sphere_photons), sphere(options.sphere_photons * n)
        one = run(few, 1, "--threads", 1)[0]
        busy = [subprocess.Popen(run.command(many, 1, "--threads", 1)[0], stderr=subprocess.DEVNULL) for _ in range(n - 1)]
        beside = run(few, 1, "--threads", 1)[0]
        for job in busy:
            job.kill()
            job.wait()
        threads = run(many, 1, "--threads", n)[0]
        ranks = run(many, n, "--threads", 1)[0]
        print(f"sphere, one thread: {one:.3f} s; beside {n - 1} busy ones {beside:.3f} s (clock: {one / beside:.3f})")
        print(f"{n} threads, {n} times the photons: {threads:.3f} s, {n * one / threads:.2f} times one, "
              f"{n * beside / threads:.2f} times one beside busy ones")
        print(f"{n} ranks: {ranks:.3f} s, {threads / ranks:.3f} of {n} threads")
        if not options.grid:
            return
        grid = options.grid.resolve()

        def show(name, result, workers, reference=None):
            seconds, cpu, domains = result
            text = f"{name}: {seconds:.3f} s, {cpu:.2f} CPU s"
            if domains:
                photons = options.photons
                text += (f"; {domains['travellers'] / photons:.2f} travellers a photon, {domains['message_bytes'] / max(domains['messages'], 1):.0f} "
                         f"bytes a message, threads waited {100 * domains['waiting_seconds'] / (seconds * workers):.1f} %, "
                         f"borders took {100 * domains['managing_seconds'] / (seconds * workers):.1f} %, {domains['copies']} copies")
            if reference:
                text += f"; {cpu / reference[1]:.3f} of the CPU time, {seconds / reference[0]:.3f} of the time of the first"
            print(text)

        model = box(grid, options.photons)
        whole = run(model, 2, "--threads", 1)
        show("box, 2 ranks that hold all of it", whole, 2)
        for margin in (0, 4, 16):
            show(f"box, 2 domains on 2 ranks, margin {margin}",
                 run(model, 2, "--threads", 1, "--domains", 2, "--margin", margin), 2, whole)
        single = run(model, 1, "--threads", 1)
        show("box, one thread", single, 1)
        if n >= 8:
            tiled = box(grid, 8 * options.photons, 2)
            parts = run(tiled, 8, "--threads", 1, "--domains", 8)
            show("8 copies, 8 domains on 8 ranks", parts, 8)
            jobs = [subprocess.Popen(run.command(model, 1, "--threads", 1)[0], stderr=subprocess.DEVNULL) for _ in range(7)]
            beside = run(model, 1, "--threads", 1)
            for job in jobs:
                job.wait()
            print(f"weak scaling: {single[0] / parts[0]:.3f} of one thread alone, {beside[0] / parts[0]:.3f} of one beside 7 busy ones")


if __name__ == "__main__":
    main()
