#!/usr/bin/env python3
"""Remakes the table of docs/notes/validation-jumps.md.

    PYTHONPATH=python python3 docs/validation_jumps.py --thor build/release/thor --device cuda [--scale 1] [--only spheres,flow]

Each row is a configuration that follows every scattering (or skips the core locally, where that is all one can wait for)
against the same with jumps.
"""
from __future__ import annotations

import argparse
import pathlib
import subprocess
import tempfile
import time
from dataclasses import dataclass

import h5py
import numpy as np

import thor
from thor import analytic

NONE, LOCAL, JUMPS = "{core_skip: none}", "{core_skip: local}", "{jumps: true}"
POINT = "type: point"
KPC = 3.0856775814913673e21


@dataclass
class Run:
    """The photons of a run; those of arrays named out_ are the ones that escaped."""
    out_x: np.ndarray
    out_weight: np.ndarray
    out_radius: np.ndarray
    out_impact: np.ndarray  #: distance of the last flight from the origin [kpc]
    path: np.ndarray
    scatterings: np.ndarray
    absorbed_scatterings: np.ndarray
    absorbed_radius: np.ndarray
    escaped: float
    escaped_error: float
    steps: float
    jumps: float
    seconds: float
    a: float
    tau0: float


def mean(values, weight=None) -> tuple[float, float]:
    if len(values) == 0:
        return np.nan, np.nan
    weight = np.ones(len(values)) if weight is None else weight
    average = np.average(values, weights=weight)
    return average, np.sqrt(np.sum((weight * (values - average))**2)) / np.sum(weight)


def run(dataset: str, photons: float, acceleration: str, seed: int = 1, generators: str = "", line: str = "Lya",
        more: str = "") -> Run:
    count = max(500, int(photons * ARGS.scale))
    generators = generators.replace("PHOTONS", str(count)) or f"[{{{POINT}, photons: {count}}}]"
    with tempfile.TemporaryDirectory(dir=ARGS.folder) as folder:
        config = pathlib.Path(folder) / "c.yaml"
        config.write_text(f"line: {line}\nseed: {seed}\ndataset: {{{dataset}}}\ngenerators: {generators}\n"
                          f"acceleration: {acceleration}\noutputs: [{{type: photons}}]\noutput: {{path: r.h5}}\n"
                          f"limits: {{max_scatterings: 2000000000}}\n{more}")
        done = subprocess.run([ARGS.thor, "run", config, "--quiet", "--device", ARGS.device], stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(f"thor run: exit code {done.returncode}\n{done.stderr}\n{config.read_text()}")
        with thor.open(pathlib.Path(folder) / "r.h5") as result:
            p, s = result.photons, result.summary
            fate, weight = np.asarray(p["fate"]), np.asarray(p["weight"])
            x, position = np.asarray(result.x(p["velocity_final"])), np.asarray(p["position"])
            scatterings, path = np.asarray(p["scatterings"], float), np.asarray(p["column"], float)
            centre = np.asarray(p["position_initial"]).mean(axis=0)
            radius = np.sqrt(((position - centre)**2).sum(axis=1))
            along = (position * np.asarray(p["direction"])).sum(axis=1)
            impact = np.sqrt(np.maximum((position**2).sum(axis=1) - along**2, 0.)) / KPC
            out, absorbed = fate == 2, fate == 3
            escaped = weight[out].sum() / weight.sum()
            return Run(x[out], weight[out], radius[out], impact[out], path, scatterings, scatterings[absorbed], radius[absorbed], escaped,
                       np.sqrt(np.sum(weight**2 * (out - escaped)**2)) / weight.sum(), float(s["steps"]) / len(fate),
                       float(s["jumps"]) / len(fate), float(s["transport_seconds"]),
                       float(result.attributes["voigt_parameter"]), float(result.attributes.get("tau0", 0)))


def distance(a, a_weight, b, b_weight) -> tuple[float, float]:
    """Kolmogorov-Smirnov distance of two weighted samples, and its 1 % point for their effective sizes."""
    places = np.sort(np.concatenate([a, b]))

    def below(values, weight):
        order = np.argsort(values)
        sums = np.concatenate([[0.], np.cumsum(weight[order])])
        return sums[np.searchsorted(values[order], places, "right")] / sums[-1]

    size = [w.sum()**2 / (w**2).sum() for w in (a_weight, b_weight)]
    return np.abs(below(a, a_weight) - below(b, b_weight)).max(), 1.628 * np.sqrt(1 / size[0] + 1 / size[1])


def number(value, error) -> str:
    """1.0007(4)."""
    if not np.isfinite(value):
        return "-"
    digits = max(0, int(np.ceil(-np.log10(max(error, 1e-12)))) + (error * 10**np.ceil(-np.log10(max(error, 1e-12))) < 3))
    return f"{value:.{digits}f}({error * 10**digits:.0f})"


def ratio(b, a) -> str:
    if not (np.isfinite(b[0]) and a[0]):
        return "-"
    return number(b[0] / a[0], abs(b[0] / a[0]) * np.hypot(a[1] / a[0], b[1] / b[0]))


def compare(label: str, every: Run, jumps: Run) -> None:
    ks, limit = distance(every.out_x, every.out_weight, jumps.out_x, jumps.out_weight)
    ks_abs, _ = distance(np.abs(every.out_x), every.out_weight, np.abs(jumps.out_x), jumps.out_weight)
    pairs = [ratio(mean(np.abs(jumps.out_x), jumps.out_weight), mean(np.abs(every.out_x), every.out_weight)),
             ratio(mean(jumps.path), mean(every.path)), ratio(mean(jumps.scatterings), mean(every.scatterings)),
             ratio(mean(jumps.out_radius, jumps.out_weight), mean(every.out_radius, every.out_weight))]
    signed = [number(*mean(r.out_x, r.out_weight)) for r in (jumps, every)]
    text = (f"| {label} | {ks:.4f}, {ks_abs:.4f} ({limit:.4f}) | {' | '.join(pairs)} | {signed[0]}, {signed[1]} | "
            f"{every.steps:.3g}, {jumps.steps:.3g} |")
    if every.escaped < 1:
        text += (f" f_esc {number(jumps.escaped, jumps.escaped_error)}, {number(every.escaped, every.escaped_error)}; absorbed: "
                 f"scatterings {ratio(mean(jumps.absorbed_scatterings), mean(every.absorbed_scatterings))}, radius "
                 f"{ratio(mean(jumps.absorbed_radius), mean(every.absorbed_radius))}")
    print(f"{text}   [{every.seconds:.2f} s, {jumps.seconds:.3f} s, {jumps.jumps:.3g} jumps, {time.time() - START:.0f} s]", flush=True)


def sphere(tau0: float, temperature: float = 1.7e4) -> str:
    return f"type: shell, outer_radius: 1 kpc, temperature: {temperature:g} K, tau0: {tau0:g}"


def spheres() -> None:
    off = f"[{{{POINT}, position: [0.3 kpc, 0.4 kpc, -0.5 kpc], photons: PHOTONS}}]"
    for tau0, count in ((2e4, 1e5), (2e5, 1e5), (2e6, 1e5), (2e7, 2e4)):
        every = run(sphere(tau0), count, NONE)
        jumps = run(sphere(tau0), 1e5, JUMPS, 2)
        compare(f"sphere, τ₀ = {tau0:.0e}", every, jumps)
        compare(f"τ₀ = {tau0:.0e}, tables up to τ₀/30", every, run(sphere(tau0), count, f"{{jumps: true, jump_depth: {tau0 / 30:g}}}", 3))
        compare(f"τ₀ = {tau0:.0e}, tables of 1.2 T (twin)", every, run(sphere(tau0, 1.2 * 1.7e4), 1e5, JUMPS, 2))
        if tau0 < 3e6:
            compare(f"τ₀ = {tau0:.0e}, source at r = 0.7", run(sphere(tau0), count, NONE, 1, off), run(sphere(tau0), 1e5, JUMPS, 2, off))


def thick() -> None:
    for tau0 in (2e7, 2e8, 2e9):
        jumps = run(sphere(tau0), 5e4, JUMPS)
        average, error = mean(np.abs(jumps.out_x))
        truth = analytic.sphere_mean_abs_x(jumps.a, tau0)
        print(f"| sphere, τ₀ = {tau0:.0e}: mean abs(x) {number(average, error)}, analytic {truth:.3f}, "
              f"steps {jumps.steps:.4g}, jumps {jumps.jumps:.3g}, scatterings/τ₀ {mean(jumps.scatterings)[0] / tau0:.4f}, {jumps.seconds:.2f} s",
              flush=True)


def deep() -> None:
    """Deep spheres against jumps of the exact tables alone, and against the analytic spectrum."""
    sources = {"centre": POINT, "r = 0.5": f"{POINT}, position: [0.3 kpc, 0 kpc, 0.4 kpc]", "everywhere": "type: extended, shape: medium"}
    for tau0, count in ((1e7, 1e6), (1e8, 1e5), (1e9, 1e4), (1e10, 0)):
        for name, source in sources.items():
            generators = f"[{{{source}, photons: PHOTONS}}]"
            jumps = run(sphere(tau0, 2e4), max(count, 1e5), JUMPS, 2, generators)
            if count:
                exact = run(sphere(tau0, 2e4), count, "{jumps: true, jump_depth: 3e6}", 1, generators)
                compare(f"τ₀ = {tau0:.0e}, source {name}, against tables up to 3e6", exact, jumps)
            if name == "centre":
                x = np.linspace(-5, 5, 20001)
                curve = np.cumsum(analytic.sphere(x, 1., 1.))
                places = np.sort(jumps.out_x) / (jumps.a * tau0)**(1 / 3)
                apart = np.abs(np.interp(places, x, curve / curve[-1]) - (np.arange(len(places)) + 0.5) / len(places)).max()
                print(f"| τ₀ = {tau0:.0e}: KS {apart:.4f} against the analytic spectrum", flush=True)
            print(f"| τ₀ = {tau0:.0e}, source {name}: steps {jumps.steps:.4g}, jumps {jumps.jumps:.3g}", flush=True)


def disc() -> None:
    """The disc that is seen, of photons that leave by one jump or a few, against every scattering: distances of last flights
    from the centre, in tenths of the radius, and the light in the trough at line centre."""
    sources = {"centre": POINT, "r = 0.5": f"{POINT}, position: [0.5 kpc, 0 kpc, 0 kpc]", "everywhere": "type: extended, shape: medium"}
    for temperature, tau0, count, name in ((1e4, 1e4, 2e5, "centre"), (1e4, 1.05e5, 2e5, "centre"), (1e4, 1.05e6, 1e5, "centre"),
                                           (1e4, 3.1e6, 6e4, "centre"), (100, 1.05e6, 6e4, "centre"), (100, 3.5e6, 4e4, "centre"),
                                           *((100, 6e6, 2e4, source) for source in sources)):
        generators = f"[{{{sources[name]}, photons: PHOTONS}}]"
        every, jumps = (run(sphere(tau0, temperature), n, kind, seed, generators) for n, kind, seed in ((count, NONE, 5), (4 * count, JUMPS, 6)))
        label = f"{temperature:g} K, τ₀ = {tau0:.3g}, source {name}"
        compare(label, every, jumps)
        ks, limit = distance(every.out_impact, every.out_weight, jumps.out_impact, jumps.out_weight)
        rings, trough = ([np.histogram(value(r), edges)[0] / len(r.out_x) for r in (jumps, every)] for value, edges in (
            (lambda r: r.out_impact, np.linspace(0, 1, 11)), (lambda r: np.abs(r.out_x) / (r.a * tau0)**(1 / 3), np.linspace(0, 0.4, 9))))
        print(f"| {label}: KS of the impact parameter {ks:.4f} ({limit:.4f}), rings {np.round(rings[0] / np.maximum(rings[1], 1e-9), 3)}, "
              f"light at |x| < 0.05, 0.1, ... 0.4 (aτ₀)^1/3 [1e-4] {np.round(1e4 * trough[0], 1)}, {np.round(1e4 * trough[1], 1)}", flush=True)


def recoil() -> None:
    """Red light of cold gas (a = 0.032), from the core and from the wing, and deuterium."""
    more, gas = "physics: {recoil: true}\n", sphere(31623, 2.2246)
    for velocity in (0, 1.36824, -1.36824, 2.17309, -2.17309):
        generators = f"[{{{POINT}, photons: PHOTONS, spectrum: {{type: delta, offset: {velocity} km/s}}}}]"
        every, jumps = (run(gas, n, kind, seed, generators, more=more) for n, kind, seed in ((2e4, NONE, 5), (2e5, JUMPS, 6)))
        compare(f"recoil, aτ₀ = 1000, from {velocity} km/s", every, jumps)
    for tau0, count in ((1e5, 6e3), (1e6, 400)):
        more = "physics: {deuterium: 2.5e-5}\n"
        every = run(sphere(tau0, 1e4), count, NONE, more=more)
        compare(f"deuterium, τ₀ = {tau0:.0e}", every, run(sphere(tau0, 1e4), 2e4, JUMPS, 2, more=more))
        compare(f"τ₀ = {tau0:.0e}, without deuterium (twin)", every, run(sphere(tau0, 1e4), 4e4, JUMPS, 3))


def flow() -> None:
    for speed, count in ((20, 4e3), (200, 4e4), (2000, 4e4)):
        dataset = (f"type: shell, outer_radius: 1 kpc, temperature: 2e4 K, column_density: 2e20 cm^-2, step_limiter: 0.01, "
                   f"velocity: {{profile: linear, max: {speed} km/s}}")
        every = run(dataset, count, NONE)
        for shear in (0.02, 0.01, 0.005):
            compare(f"outflow of {speed} km/s, jump_shear {shear}", every, run(dataset, 1e5, f"{{jumps: true, jump_shear: {shear}}}", 2))


def graded() -> None:
    dataset = ("type: shell, inner_radius: 0.1 kpc, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e5, "
               "density: {profile: power_law, exponent: -2}")
    every = run(dataset, 4e4, NONE)
    for gradient in (0.1, 0.05):
        compare(f"shell of density r⁻², jump_gradient {gradient}", every, run(dataset, 4e4, f"{{jumps: true, jump_gradient: {gradient}}}", 2))


def shell() -> None:
    dataset = ("type: shell, inner_radius: 0.9 kpc, outer_radius: 1 kpc, temperature: 1e4 K, b_turb: 37.9 km/s, "
               "column_density: 1e20 cm^-2, velocity: {profile: constant, max: 150 km/s}")
    compare("thin shell, N = 1e20, b = 40 km/s, 150 km/s", run(dataset, 2e4, NONE), run(dataset, 1e5, JUMPS, 2))


def mgii() -> None:
    for speed, column in ((100, "1e15"), (500, "1e15"), (100, "1e18")):
        dataset = (f"type: shell, inner_radius: 0.1 kpc, outer_radius: 1 kpc, temperature: 1e4 K, b_turb: 15 km/s, "
                   f"column_density: {column} cm^-2, velocity: {{profile: linear, max: {speed} km/s}}")
        generators = "[{type: point, photons: PHOTONS, spectrum: {type: gaussian, sigma: 100 km/s}}]"
        compare(f"Mg II, N = {column}, outflow of {speed} km/s", run(dataset, 2e5, NONE, 1, generators, "MgII"),
                run(dataset, 2e5, JUMPS, 2, generators, "MgII"))


def slab() -> None:
    for albedo in (0, 0.9):
        dataset = f"type: slab, half_thickness: 1 kpc, temperature: 1e4 K, tau0: 1e5, dust: {{tau: 0.3, albedo: {albedo}, g: 0.3}}"
        compare(f"dusty slab, τ₀ = 1e5, dust 0.3, albedo {albedo}", run(dataset, 1e5, NONE), run(dataset, 1e5, JUMPS, 2))


def write_clumps(path: pathlib.Path, seed: int, low: float, high: float, speed: float, hubble: float = 0.) -> None:
    """16³ cells of 1e20 cm with line-centre optical depths between `low` and `high` at 1e4 K and speeds of some thermal speeds."""
    random, n, cell = np.random.default_rng(seed), 16, 1e20
    depth = 10**random.uniform(np.log10(low), np.log10(high), (n, n, n))
    with h5py.File(path, "w") as file:
        file.attrs.update({"cell_size": cell, "origin_x": 0., "origin_y": 0., "origin_z": 0.})
        if hubble:
            file.attrs.update({"hubble": hubble, "redshift": 3., "periodic": False})
        file["HI_density"] = (depth / 5.898e-14 / cell).astype("f4")
        file["temperature"] = np.full((n, n, n), 1e4, "f4")
        file["dust"] = file["HI_density"][:]
        for axis in "xyz":
            file[f"velocity_{axis}"] = random.normal(0, speed * 12.85 / np.sqrt(3), (n, n, n)).astype("f4")
            file[f"velocity_{axis}"].attrs["units"] = "km s-1"


def clumps() -> None:
    centre = f"{8e20 / KPC!r} kpc"
    generators = f"[{{{POINT}, position: [{centre}, {centre}, {centre}], photons: PHOTONS}}]"
    for name, low, high, speed, dust, count, hubble in (("1e4 to 1e6 a cell, 1 v_th, SMC dust", 1e4, 1e6, 1, True, 3e4, 0),
                                                ("1e2 to 1e5 a cell, 3 v_th", 1e2, 1e5, 3, False, 4e4, 0),
                                                ("1e4 a cell at rest in a Hubble flow of 200 km/s", 1e4, 1e4, 0, False, 4e4, 1.25e-14)):
        grid = pathlib.Path(ARGS.folder) / "clumps.h5"
        write_clumps(grid, 5, low, high, speed, hubble)
        dataset = f"type: uniform_grid, path: {grid}" + (", dust: {law: SMC}" if dust else "")
        every = run(dataset, count, NONE, 1, generators)
        compare(f"16³ cells, {name}", every, run(dataset, 1e5, JUMPS, 2, generators))
        if hubble:
            compare(f"16³ cells, {name}, jump_shear 0.01", every, run(dataset, 1e5, "{jumps: true, jump_shear: 0.01}", 2, generators))


def galaxy() -> None:
    snapshot, grid = pathlib.Path(ARGS.folder) / "galaxy.hdf5", pathlib.Path(ARGS.folder) / "galaxy_grid.h5"
    subprocess.run([ARGS.thor, "mock", "galaxy", "-o", snapshot, "--overwrite", "--quiet"], check=True)
    subprocess.run([ARGS.thor, "grid", snapshot, "-o", grid, "--overwrite", "--quiet", *ARGS.grid_options.split()], check=True)
    for dust, count in ((", dust: {law: SMC}", 4e4), ("", 3e4)):
        for name, generators in (("stars", "[{type: sources, brightness: ionizing_rate, photons: PHOTONS, "
                                  "spectrum: {type: gaussian, sigma: 30 km/s}}]"),
                                 ("gas", "[{type: gas, emission: collisional, photons: PHOTONS, spectrum: {type: thermal}}]")):
            dataset = f"type: uniform_grid, path: {grid}{dust}"
            compare(f"synthetic galaxy, 128³, {'SMC dust' if dust else 'no dust'}, {name}, against `local`",
                    run(dataset, count, LOCAL, 1, generators), run(dataset, 1e5, JUMPS, 2, generators))


def figure() -> None:
    """docs/figures/jumps.png: spectra with jumps over those of every scattering and the analytic ones, and steps."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    depths, sizes = [2e4, 2e5, 2e6, 2e7, 2e8, 2e9], {2e4: 20000, 2e5: 5000, 2e6: 1000}
    fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
    bins = np.linspace(-2.2, 2.2, 89)
    middle, steps, every_steps = (bins[1:] + bins[:-1]) / 2, [], []
    for i, tau0 in enumerate(depths):
        jumped, colour = run(sphere(tau0), 40000, JUMPS, 2), f"C{i}"
        unit = (jumped.a * tau0)**(1 / 3)
        steps.append(jumped.steps)
        left.plot(middle, np.histogram(jumped.out_x / unit, bins, density=True)[0], colour, lw=1.3, drawstyle="steps-mid",
                  label=f"$\\tau_0 = 2 \\times 10^{{{np.log10(tau0 / 2):.0f}}}$")
        if tau0 in sizes:
            every = run(sphere(tau0), sizes[tau0], NONE)
            every_steps.append((tau0, every.steps))
            wide = bins[::2]
            counts = np.histogram(every.out_x / unit, wide)[0]
            scale = 1 / (len(every.out_x) * np.diff(wide))
            left.errorbar((wide[1:] + wide[:-1]) / 2, counts * scale, np.sqrt(counts) * scale, fmt=".", ms=3, lw=0.6, color=colour)
    x = np.linspace(-2.2, 2.2, 400)
    left.plot(x, analytic.sphere(x, 1., 1.), "k--", lw=1, label="Dijkstra et al. (2006)")
    left.set(xlabel="$x / (a\\tau_0)^{1/3}$", ylabel="light", title="Lines: jumps; points: every scattering")
    left.legend(fontsize=7)
    right.loglog(depths, steps, "o-", label="jumps")
    right.loglog(*zip(*every_steps), "s-", label="every scattering")
    right.axvline(3e6, color="0.6", lw=0.8, ls=":")
    right.text(3.3e6, 20, "largest table", fontsize=8, color="0.4")
    right.set(xlabel="$\\tau_0$", ylabel="steps a photon", title="Static spheres, $T = 1.7 \\times 10^4$ K")
    right.legend(fontsize=8)
    fig.tight_layout()
    fig.savefig(pathlib.Path(__file__).parent / "figures/jumps.png", dpi=110)


def main() -> None:
    global ARGS, START
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thor", default="build/release/thor")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--scale", type=float, default=1., help="multiplies the photon counts")
    parser.add_argument("--only", default="", help="parts: " + ", ".join(p.__name__ for p in PARTS))
    parser.add_argument("--grid-options", default="--size 60kpc --cells 128 --sources stars", help="of `thor grid` for the galaxy")
    ARGS, START = parser.parse_args(), time.time()
    with tempfile.TemporaryDirectory() as folder:
        ARGS.folder = folder
        print("| what | KS, that of abs(x) (1 % point) | mean abs(x) | path | scatterings | last radius | mean x, with and without "
              "jumps | steps a photon, without and with | dust |\n|---|---|---|---|---|---|---|---|---|")
        for part in PARTS:
            if not ARGS.only or part.__name__ in ARGS.only.split(","):
                part()


PARTS = (spheres, thick, deep, disc, recoil, flow, graded, shell, mgii, slab, clumps, galaxy, figure)
if __name__ == "__main__":
    main()
