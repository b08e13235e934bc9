#!/usr/bin/env python3
"""Fusing, thinning and roulette of peel-off rays: makes the tables of docs/notes/observers.md.

    python3 docs/fusing.py [--tau0 1e3,1e4] [--photons 2000,400] [--seed 1]
    python3 docs/fusing.py --thor build/release/thor [--tau0 1e4,1e6] [--photons 6000,100]    thor itself; needs h5py
    python3 docs/fusing.py --thor build/release/thor --fuse 64 --tau0 1e3,1e4 --photons 4000,1000 [--device cuda]    its peel.fuse

Two minutes on one core; needs numpy and scipy. Photons of line centre leave the middle of a static, homogeneous sphere of
radius 1 (Lya at 1e4 K, isotropic phase function, no recoil); every scattering is followed. Each makes a seed: a ray towards
one observer at +z with the light e^-tau, from its place and with the frequency that the atom met gives it there. Frequencies x
are in Doppler widths, lengths in radii, tau = tau0 H(a, x) length. The estimators of the observer's spectrum are

  none      every seed sends a ray
  fusing    seeds of one photon, among RUN successive ones, whose velocity (bins of DV km/s) and place (cubes of DR radii) are
            alike send one ray with the light of all: from their mean place and frequency, from the first, or from one drawn at random
  thinning  of scatterings of photons in the core (|x| < 3), as in thor, or of those that are in the core for the observer (|x| < 2),
            one in N, counted off from a random one, sends a ray with the light of N
  roulette  by the first cell (a 32nd of the radius): where its depth t is above T the ray starts with a probability of e^-(t - T) and
            the light of 1/that many; or along the whole ray, as thor does: from T on it ends at random, and keeps the light it has

A ray ends at tau = 30 at the latest. If that is in its first cell, it ends at birth and costs little. Columns, all relative to `none`:

  made      rays that are left by fusing and thinning
  traced    rays that leave their first cell
  path      length of all rays, a measure of the work in a grid
  flux      its error in percent; of unbiased methods it is noise. +- : standard error of the difference, from the same photons
  mean |x|  likewise
  KS        largest difference of the cumulative spectra, in percent
  error     Monte Carlo error of the spectrum, sqrt(sum over bins of the variance between photons)/flux
  merit     1/(error^2 made), 1/(error^2 path): larger than 1 is better
  photons   number of photons for which the bias of the spectrum is as large as its Monte Carlo error; -: none is seen in its bins

With --thor: processor time of one thread (a busy machine disturbs it less than that of the clock) relative to every scattering
without an observer, the median of three seeds; rays made and seen, and the error as above, for one photon (root mean square of the seeds);
merit is 1/(error^2 time), relative to every ray (thin: 1). Runs with jumps have a million photons, so that it is not the start that is timed.
With --fuse: rays that leave their first cell and that are seen, relative to those without peel.fuse, time relative to no observer (on a
GPU that of the clock), and the error and merit relative to no fusing.
"""
from __future__ import annotations

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import wofz

A = 4.7e-4  # Voigt parameter of Lya at 1e4 K
THERMAL = 12.85  # km/s in a Doppler width
CUT = 30.0  # optical depth at which every ray ends
CELL = 1 / 32
BLOCK = 512  # scatterings of a photon that are worked on at once; the longest run that fuses
EDGES = np.arange(-10, 10.01, 0.25)  # of the spectrum's bins, in x: 3.2 km/s each


def voigt(x):
    """H(a, x), which is 1 at line centre up to 2a/sqrt(pi)."""
    return wofz(x + 1j * A).real


def draw_parallel(x, random):
    """Velocities, along the photon, of atoms that scatter frequency x: e^-u^2/((x - u)^2 + a^2).
    Rejection below two Lorentzians that meet at u0 (Zheng & Miralda-Escude 2002), four trials at a time."""
    u, left, side = np.empty_like(x), np.arange(len(x)), np.abs(x)
    while len(left):
        y = side[left]
        u0 = np.maximum(0, np.where(y < 3.2, y - 1 / (y + np.exp(1 - y * y) / A), y - 1 / np.maximum(y, 1)))  # any u0 >= 0 is right
        angle, fall = np.arctan((u0 - y) / A), np.exp(-u0 * u0)
        share = (angle + np.pi / 2) / ((1 - fall) * angle + (1 + fall) * np.pi / 2)
        r = random.random((3, 4, len(left)))
        below = r[0] < share
        theta = np.where(below, -np.pi / 2 + r[1] * (angle + np.pi / 2), angle + r[1] * (np.pi / 2 - angle))
        trial = A * np.tan(theta) + y
        accepted = r[2] * np.where(below, 1, fall) < np.exp(-trial * trial)
        done, first = accepted.any(axis=0), accepted.argmax(axis=0)
        u[left[done]] = trial[first, np.arange(len(left))][done]
        left = left[~done]
    return np.copysign(1.0, x) * u


def isotropic(count, random):
    mu, phi = random.uniform(-1, 1, count), random.uniform(0, 2 * np.pi, count)
    sine = np.sqrt(1 - mu * mu)
    return np.stack([sine * np.cos(phi), sine * np.sin(phi), mu])


def to_edge(place, along):
    """Length from a place in the sphere to its surface; `along`: the place's component in that direction."""
    return -along + np.sqrt(np.maximum(0, along * along + 1 - np.sum(place * place, axis=0)))


@dataclass
class Seeds:
    photon: np.ndarray
    step: np.ndarray
    x_in: np.ndarray  # frequency of the photon that was scattered
    x: np.ndarray  # frequency towards the observer
    place: np.ndarray  # (3, count)
    edge: np.ndarray  # length from there to the edge
    kappa: np.ndarray  # optical depth per length

    def __getitem__(self, which):
        return Seeds(*(values[..., which] for values in vars(self).values()))


class Walk:
    """Photons of a sphere, all at once. blocks() gives the seeds of up to BLOCK scatterings of each, in the order of time."""

    def __init__(self, tau0, photons, random):
        self.tau0, self.random = tau0, random
        self.id = np.arange(photons)
        self.place, self.x, self.steps = np.zeros((3, photons)), np.zeros(photons), 0
        self.direction = isotropic(photons, random)
        self.escaped_x = np.full(photons, np.nan)

    def blocks(self):
        while len(self.id):
            parts = [self.step() for _ in range(BLOCK) if len(self.id)]
            photon, step, x_in, x, place = (np.concatenate([p[i] for p in parts], axis=-1) for i in range(5))
            yield Seeds(photon, step, x_in, x, place, to_edge(place, place[2]), self.tau0 * voigt(x))

    def step(self):
        random, count = self.random, len(self.id)
        length = random.exponential(size=count) / (self.tau0 * voigt(self.x))
        out = length >= to_edge(self.place, np.sum(self.place * self.direction, axis=0))
        if out.any():
            self.escaped_x[self.id[out]] = self.x[out]
            kept = ~out
            self.id, self.x, length = self.id[kept], self.x[kept], length[kept]
            self.place, self.direction = self.place[:, kept], self.direction[:, kept]
            count = len(self.id)
        self.place = self.place + length * self.direction
        parallel = draw_parallel(self.x, random)
        atom = random.normal(scale=np.sqrt(0.5), size=(3, count))
        atom += (parallel - np.sum(atom * self.direction, axis=0)) * self.direction
        at_rest, x_in = self.x - parallel, self.x
        self.direction = isotropic(count, random)
        self.x = at_rest + np.sum(atom * self.direction, axis=0)
        self.steps += 1
        return self.id, np.full(count, self.steps, dtype=np.int32), x_in, at_rest + atom[2], self.place


@dataclass
class Estimator:
    """What an observer sees. `choose` makes rays of seeds: the rays, the light of each, the depth where each ends (None: CUT)."""
    name: str
    choose: Callable
    fades_to: float = CUT  # depth from which a ray keeps its light
    sums: dict = field(default_factory=dict)

    def add(self, seeds, tau0, photons, random):
        if not self.sums:
            self.sums = {"spectrum": np.zeros(photons * len(EDGES)), "x": np.zeros(photons), "made": 0, "traced": 0, "path": 0.0}
        rays, light, end = self.choose(seeds, tau0, random)
        end = np.full(len(light), CUT) if end is None else np.minimum(end, CUT)
        tau, first = rays.kappa * rays.edge, rays.kappa * np.minimum(CELL, rays.edge)
        sent = light > 0
        seen = sent & (tau < end)
        light = light[seen] * np.exp(-np.minimum(tau[seen], self.fades_to))
        photon, x = rays.photon[seen], rays.x[seen]
        bins = np.searchsorted(EDGES, x) % len(EDGES)  # all beyond either end is in bin 0
        self.sums["spectrum"] += np.bincount(photon * len(EDGES) + bins, light, len(self.sums["spectrum"]))
        self.sums["x"] += np.bincount(photon, light * np.abs(x), photons)
        traced = sent & (first < end)
        self.sums["made"] += len(rays.x)
        self.sums["traced"] += np.count_nonzero(traced)
        self.sums["path"] += np.sum(np.minimum(rays.edge, end / rays.kappa)[traced])


def everything(seeds, tau0, random):
    return seeds, np.ones(len(seeds.x)), None


def fusing(dv, dr, run, member="mean"):
    def choose(seeds, tau0, random):
        key = seeds.photon.astype(np.int64) * (BLOCK // run) + (seeds.step - 1) % BLOCK // run
        for value, bins in ((np.floor(seeds.x * THERMAL / dv), 1 << 12), *((np.floor(p / dr), 1 << 8) for p in seeds.place)):
            key = key * bins + (value.astype(np.int64) + bins // 2)
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        count = np.diff(starts, append=len(order))
        if member == "drawn":
            return seeds[order[starts + (random.random(len(starts)) * count).astype(int)]], count.astype(float), None
        rays = seeds[order[starts]]
        if member == "mean":
            rays.x = np.add.reduceat(seeds.x[order], starts) / count
            rays.place = np.add.reduceat(seeds.place[:, order], starts, axis=1) / count
            rays.edge, rays.kappa = to_edge(rays.place, rays.place[2]), tau0 * voigt(rays.x)
        return rays, count.astype(float), None
    place = "any place" if dr > 1 else f"{dr:g} R"
    return Estimator(f"fusing, {dv:g} km/s, {place}, {run} seeds" + ("" if member == "mean" else f", {member}"), choose)


def thinned(seeds, many, seen=False):
    core = np.abs(seeds.x) < 2 if seen else np.abs(seeds.x_in) < 3
    offset = (seeds.photon * np.int64(2654435761) >> 7) % many  # a hash: the same for all scatterings of a photon
    drawn = ~core | ((seeds.step + offset) % many == 0)
    return seeds[drawn], np.where(core[drawn], float(many), 1.0)


def thinning(many, seen=False):
    return Estimator(f"thinning, 1 in {many}" + (", core for the observer" if seen else ""),
                     lambda seeds, tau0, random: (*thinned(seeds, many, seen), None))


def roulette_by_cell(start):
    def choose(seeds, tau0, random):
        depth = seeds.kappa * np.minimum(CELL, seeds.edge)
        chance = np.exp(-np.clip(depth - start, 0, 600))
        return seeds, np.where(random.random(len(chance)) < chance, 1 / chance, 0), None
    return Estimator(f"roulette by the first cell, from {start:g}", choose)


def roulette_along(start, many=1):
    def choose(seeds, tau0, random):
        rays, light = thinned(seeds, many) if many > 1 else (seeds, np.ones(len(seeds.x)))
        return rays, light, start + random.exponential(size=len(light))
    return Estimator(f"roulette along the ray, from {start:g}" + (f"; thinning, 1 in {many}" if many > 1 else ""), choose, start)


ESTIMATORS = [
    lambda: Estimator("none", everything),
    lambda: fusing(0.6, 0.1, 64), lambda: fusing(2.5, 0.1, 64), lambda: fusing(10, 0.1, 64),
    lambda: fusing(2.5, 0.02, 64), lambda: fusing(2.5, 4, 64), lambda: fusing(2.5, 4, 512),
    lambda: fusing(2.5, 4, 64, "first"), lambda: fusing(2.5, 4, 64, "drawn"), lambda: fusing(2.5, 4, 512, "drawn"),
    lambda: thinning(2), lambda: thinning(4), lambda: thinning(8), lambda: thinning(16), lambda: thinning(8, True),
    lambda: roulette_by_cell(3),
    lambda: roulette_along(3), lambda: roulette_along(1), lambda: roulette_along(3, 8),
]


def spread(values):
    """Standard error of a sum of values, one for each photon."""
    return np.sqrt(np.sum(np.square(values), axis=0))


def compare(e, none):
    """The row of the table: a dictionary."""
    spectra = [s.sums["spectrum"].reshape(-1, len(EDGES)) for s in (e, none)]
    (flux, flux0), (x, x0) = [s.sum(axis=1) for s in spectra], (e.sums["x"], none.sums["x"])
    total, total0, count = flux.sum(), flux0.sum(), len(flux)
    ratio = total / total0
    mean_ratio = x.sum() / total / (x0.sum() / total0)
    shares = [s[:, 1:] / s.sum() for s in spectra]  # of each photon, normalized
    gaps = np.cumsum(shares[0].sum(axis=0) - shares[1].sum(axis=0))
    at = int(np.argmax(np.abs(gaps)))
    below = [s[:, :at + 1].sum(axis=1) for s in shares]
    difference = (below[0] - below[0].sum() * flux / total) - (below[1] - below[1].sum() * flux0 / total0)

    def error(s, kept):
        return np.sqrt(np.sum(np.var(s[kept], axis=0))) / np.mean(np.sum(s[kept], axis=1))
    everyone = np.ones(count, bool)
    errors = error(spectra[0], everyone) / error(spectra[1], everyone)
    parts = np.arange(count) % 16
    without = [error(spectra[0], parts != i) / error(spectra[1], parts != i) for i in range(16)]
    change = spectra[0] - spectra[1]
    bias2, noise2 = np.sum(change.mean(axis=0) ** 2), np.sum(np.var(change, axis=0)) / count
    photons = np.sum(np.var(spectra[1], axis=0)) / (bias2 - noise2) if bias2 > 4 * noise2 else np.inf
    row = {key: e.sums[key] / none.sums[key] for key in ("made", "traced", "path")}
    row |= {"flux": 100 * (ratio - 1), "flux_error": 100 * spread(flux - ratio * flux0) / total0,
            "x": 100 * (mean_ratio - 1), "x_error": 100 * spread(x / x.sum() - flux / total - x0 / x0.sum() + flux0 / total0),
            "ks": 100 * abs(gaps[at]), "ks_error": 100 * spread(difference), "error": errors,
            "error_error": np.sqrt(15 / 16 * np.sum((np.array(without) - np.mean(without)) ** 2)),
            "merit_made": 1 / (errors**2 * row["made"]), "merit_path": 1 / (errors**2 * row["path"]), "photons": photons}
    return row


def check(random):
    """The Voigt profile against its integral, and the atoms against their density."""
    y = np.linspace(-12, 12, 4_800_001)
    weight, step = np.exp(-y * y), y[1] - y[0]
    for x in (0.0, 1.0, 2.5, 3.5, 6.0):
        density = weight * A / np.pi / ((x - y) ** 2 + A * A)
        integral = np.sum(density) * step
        assert abs(voigt(x) / integral - 1) < 1e-3, (x, voigt(x), integral)
        drawn = np.sort(draw_parallel(np.full(40_000, x), random))
        cumulative = np.interp(drawn, y, np.cumsum(density) * step / integral)
        distance = np.max(np.abs(cumulative - (np.arange(len(drawn)) + 0.5) / len(drawn)))
        assert distance < 1.95 / np.sqrt(len(drawn)), (x, distance)  # exceeded by chance once in a thousand


def study(tau0, photons, seed):
    random, mine = (np.random.default_rng([seed, int(tau0), i]) for i in range(2))
    walk = Walk(tau0, photons, random)
    estimators = [make() for make in ESTIMATORS]
    began, seeds_of = time.monotonic(), 0
    for seeds in walk.blocks():
        for e in estimators:
            e.add(seeds, tau0, photons, mine)
        seeds_of += len(seeds.x)
        if sys.stderr.isatty():
            print(f"\rtau0 = {tau0:g}: {photons - len(walk.id)} of {photons} photons are out, {seeds_of:.3g} seeds, "
                  f"{time.monotonic() - began:.0f} s ", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    none = estimators[0]
    flux = none.sums["spectrum"].reshape(photons, -1).sum(axis=1)
    x, mean = np.abs(walk.escaped_x), none.sums["x"].sum() / flux.sum()
    print(f"tau0 = {tau0:g}, {photons} photons, {seeds_of / photons:.0f} scatterings each, {time.monotonic() - began:.0f} s; "
          f"{100 * none.sums['traced'] / seeds_of:.1f} % of rays leave their first cell")
    print(f"flux {flux.mean():.3f} +- {flux.std() / np.sqrt(photons):.3f} (expected: 1); "
          f"mean |x| {mean:.3f} +- {spread(none.sums['x'] - mean * flux) / flux.sum():.3f}, "
          f"of photons that escape {x.mean():.3f} +- {x.std() / np.sqrt(photons):.3f}", flush=True)
    return [(e.name, compare(e, none)) for e in estimators]


def table(spheres):
    """One row for each estimator, with the numbers of all spheres."""
    print("\n| rays | made | traced | path | flux [%] | mean abs(x) [%] | KS [%] | error | merit: made | merit: path | photons |")
    print("|---" * 11 + "|")
    for rows in zip(*spheres):
        cells = [[f"{r[key]:.2g}" for _, r in rows] for key in ("made", "traced", "path")]
        cells += [[f"{r[key]:{sign}.1f} ± {r[key + '_error']:.1f}".replace("-", "−") for _, r in rows]
                  for key, sign in (("flux", "+"), ("x", "+"), ("ks", ""))]
        cells += [[f"{r[key]:.3g}" for _, r in rows] for key in ("error", "merit_made", "merit_path")]
        cells += [["-" if np.isinf(r["photons"]) else f"{r['photons']:.0e}" for _, r in rows]]
        print(f"| {rows[0][0]} | " + " | ".join(", ".join(cell) for cell in cells) + " |")


def run_thor(thor, tau0, photons, seed, every, peel, cells=0, device="cpu"):
    """Seconds of processor time, rays, rays seen, and the error of the observer's spectrum, for one photon each."""
    import h5py

    bins = {"type": "spectrum", "axis": "x", "range": [-30, 30], "bins": 120}
    observed = peel is not None
    gas = {"type": "shell", "outer_radius": "1 kpc", "temperature": "1e4 K", "tau0": tau0} | ({"cells": cells} if cells else {})
    model = {"line": "Lya", "dataset": gas, "seed": seed,
             "generators": [{"type": "point", "photons": photons}], "output": {"path": "out.h5"}, "peel": peel or {},
             "acceleration": {"core_skip": "none"} if every else {"jumps": True},
             "observers": [{"name": "o", "direction": [0, 0, 1], "up": [0, 1, 0]}] if observed else [],
             "outputs": [bins | {"name": "all"}] + ([bins | {"name": "seen", "observer": "o"}] if observed else [])}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "c.json").write_text(json.dumps(model), encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        subprocess.run([thor, "run", path / "c.json", "-o", path / "out.h5", "--quiet", "--device", device, "--threads", "1"],
                       check=True, stderr=subprocess.DEVNULL)
        elapsed = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with h5py.File(path / "out.h5") as file:
            rays, cut = (int(file["summary"].attrs.get(key, 0)) for key in ("rays", "rays_cut"))
            spectrum = file["spectra/seen"] if observed else None
            error = np.sqrt(np.sum(spectrum["error"][:] ** 2)) / np.sum(spectrum["flux"][:]) if observed else np.nan
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime if device == "cpu" else elapsed
    return np.array([seconds / photons, rays / photons, (rays - cut) / photons, error * np.sqrt(photons)])


def measure(thor, tau0, photons, seed):
    cases = [("no observer", True, None), ("`thin: 1`", True, {"thin": 1}), ("`thin: 1, roulette: 80`", True, {"thin": 1, "roulette": 80}),
             *((f"`thin: {n}, thin_after: 0`", True, {"thin": n, "thin_after": 0}) for n in (2, 4, 8, 16, 1024)), ("defaults", True, {}),
             ("jumps, no observer", False, None), ("jumps, defaults", False, {})]
    runs = {}
    for i in range(3):
        for name, every, peel in cases:
            if sys.stderr.isatty():
                print(f"\rtau0 = {tau0:g}, seed {seed + i}: {name:40s}", end="", file=sys.stderr, flush=True)
            runs.setdefault(name, []).append(run_thor(thor, tau0, photons if every else 1_000_000, seed + i, every, peel))
    alone = [r[0] for r in runs["no observer"]]
    print(f"tau0 = {tau0:g}, {photons} photons: {1e3 * np.median(alone):.3g} ms each for every scattering without an observer", flush=True)
    rows = []
    for name, _, _ in cases:
        times = [r[0] / first for r, first in zip(runs[name], alone)]
        rays, seen = np.mean([r[1:3] for r in runs[name]], axis=0)
        rows.append((name, times, rays, seen, np.sqrt(np.mean([r[3] ** 2 for r in runs[name]]))))
    return rows


def table_of_thor(spheres):
    """One row for each case, with the numbers of all spheres."""
    print("\n| peel | time | rays | seen | error | merit |")
    print("|---" * 6 + "|")
    every = [(np.median(rows[1][1]), rows[1][4]) for rows in spheres]
    spread = max((max(times) - min(times)) / np.median(times) for rows in spheres for name, times, *_ in rows if "jumps" not in name)
    for rows in zip(*spheres):
        medians = [np.median(times) for _, times, *_ in rows]
        cells = [[f"{m:.3g}" for m in medians]]
        if not np.isnan(rows[0][4]):
            cells += [[f"{r[2]:.2g}" for r in rows], [f"{r[3]:.2f}" for r in rows], [f"{r[4]:.2f}" for r in rows],
                      [f"{(e / r[4])**2 * t / m:.2g}" for r, m, (t, e) in zip(rows, medians, every)]]
        print(f"| {rows[0][0]} | " + " | ".join(", ".join(cell) for cell in cells) + " |" * (6 - len(cells)))
    print(f"\nthe times of three seeds differ by {100 * spread:.1f} % at most, without those of jumps")


def measure_fuse(thor, tau0, photons, seed, cells, device, roulette):
    """Every scattering, with and without peel.fuse; rays that are sent are counted by how many fewer there are if all can be fused."""
    every = {"thin": 1, "roulette": roulette}
    cases = {"no observer": None, "none": every, "all": every | {"fuse": {"velocity": "29979 km/s", "distance": "1000 Mpc"}}}
    for velocity, distance in ((0.6, 0.02), (2.5, 0.02), (2.5, 0.1), (10, 0.1), (10, 2)):
        cases[f"{velocity:g} km/s, {distance:g} R"] = every | {"fuse": {"velocity": f"{velocity} km/s", "distance": f"{distance} kpc"}}
    runs = {name: [] for name in cases}
    for i in range(3):
        for name, peel in cases.items():
            runs[name].append(run_thor(thor, tau0, photons, seed + i, True, peel, cells, device))
    time_of = {name: np.median([r[0] for r in found]) for name, found in runs.items()}
    _, rays, seen, error = (np.array([[r[k] for r in found] for found in runs.values()]).mean(axis=1) for k in range(4))
    rays, seen, error = (dict(zip(cases, values)) for values in (rays, seen, error))
    sent = rays["none"] - rays["all"] + 1
    print(f"\ntau0 = {tau0:g}, {cells} cells, roulette from {roulette:g}, {photons} photons on {device}: "
          f"{1e3 * time_of['no observer']:.3g} ms each without an observer, {rays['none']:.3g} scatterings, of which {sent:.3g} send rays")
    print("| limits | rays | seen | time | error | merit |")
    print("|---" * 6 + "|")
    for name in list(cases)[1:]:
        left, duration, noise = sent - rays["none"] + rays[name], time_of[name], error[name] / error["none"]
        print(f"| {name} | {left / sent:.2g} | {seen[name] / seen['none']:.2g} | {duration / time_of['no observer']:.3g} "
              f"| {noise:.3g} | {time_of['none'] / duration / noise**2:.2g} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tau0", help="optical depths at line centre, from the middle to the edge")
    parser.add_argument("--photons", help="of each sphere; at 1e3 and 1e4 they scatter about 2.8 tau0 times")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--thor", help="the program, to measure it")
    parser.add_argument("--fuse", type=int, metavar="CELLS", help="measure peel.fuse in spheres of so many cells along an axis")
    parser.add_argument("--device", default="cpu", help="of --fuse")
    parser.add_argument("--roulette", type=float, default=3, help="of --fuse: peel.roulette; 80: off")
    options = parser.parse_args()
    depths = options.tau0 or ("1e4,1e5,3e5,1e6" if options.thor else "1e3,1e4")
    counts = options.photons or ("6000,1000,300,100" if options.thor else "2000,400")
    models = [(float(tau0), int(photons)) for tau0, photons in zip(depths.split(","), counts.split(","), strict=True)]
    if options.fuse is not None:
        for model in models:
            measure_fuse(options.thor, *model, options.seed, options.fuse, options.device, options.roulette)
    elif options.thor:
        table_of_thor([measure(options.thor, *model, options.seed) for model in models])
    else:
        check(np.random.default_rng(options.seed))
        table([study(*model, options.seed) for model in models])


if __name__ == "__main__":
    main()
