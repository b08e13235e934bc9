"""An asymmetric octree beside two other codes: spectra, directions and scatterings of the photons of one source.

    /usr/bin/python3 tests/e2e/test_octree_peers.py --thor build/release/thor [unittest arguments]

octree_peers.json has what RASCAS (github.com/tgarel/RASCAS-idealised_models at 6af2f803) and LaRT (github.com/seoncafe/LaRT at 9b8dae7)
made of this gas, without recoil, deuterium and core skipping: numbers of photons in 60 bins of velocity from -240 to 240 km/s and in
six directions, by their largest component (-x, +x, -y, ...), and scatterings with their error. RASCAS, which needs neighbours that differ
by one level, had coarse leaves split, in a box twice as large. With THOR_PEERS_PHOTONS=600000 the comparison is that of docs/validation.md.
"""

import json
import os
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import Case, main  # noqa: E402
from test_octree import write_octree  # noqa: E402

KPC = 3.0857e21
SOURCE = np.array([0.0137, -0.0211, 0.0173])  # kpc
PEERS = json.loads((Path(__file__).resolve().parent / "octree_peers.json").read_text())
PHOTONS = int(os.environ.get("THOR_PEERS_PHOTONS", 20000))


def clumpy_octree():
    """21,372 leaves of levels 3 to 7: an outflow that rotates, of gas with a gradient, with 24 clumps, noise and empty leaves."""
    random = np.random.default_rng(20240611)
    count = 24
    centre, radius = random.uniform(-0.85, 0.85, (count, 3)), random.uniform(0.06, 0.2, count)
    contrast, motion = 10 ** random.uniform(1.3, 2.7, count), random.uniform(-30, 30, (count, 3))
    centre[0], radius[0], contrast[0], motion[0] = [0.05, -0.03, 0.02], 0.17, 30, [10, -5, 8]

    def splits(level, at):
        half = 1 / 2**level
        if level < 3 or level >= 7:
            return level < 3
        away = np.abs(np.linalg.norm(centre - at, axis=1) - radius)
        return (away < (0.9 if level < 6 else 0.35) * half).any() or random.random() < 0.04

    leaves, todo = [], [(0, 0, 0, 0)]
    while todo:
        level, *at = todo.pop()
        if splits(level, (np.array(at) + 0.5) / 2**level * 2 - 1):
            todo += [(level + 1, *(2 * c + i for c, i in zip(at, child))) for child in np.ndindex(2, 2, 2)]
        else:
            leaves.append((level, *at))
    leaves = np.array(leaves)
    leaves = leaves[random.permutation(len(leaves))]
    level, count = leaves[:, 0], len(leaves)
    half = 1 / 2.0**level
    at = (leaves[:, 1:] + 0.5) * 2 * half[:, None] - 1
    density = 1.5e-5 * np.exp(0.9 * at[:, 0] - 1.3 * at[:, 1] + 0.5 * at[:, 2])
    velocity = 28 * at * (1 + 0.6 * at[:, :1]) + 15 * np.stack([-at[:, 1], at[:, 0], 0 * at[:, 0]], 1)
    factor = np.ones(count)
    for c, r, f, v in zip(centre, radius, contrast, motion):
        inside = np.linalg.norm(at - c, axis=1) < r
        factor[inside] = np.maximum(factor[inside], f)
        velocity[inside] = v + 0.3 * velocity[inside]
    density *= factor * np.exp(random.normal(0, 1, count))
    velocity = np.clip(velocity + random.normal(0, 6, (count, 3)), -50, 50)
    temperature = random.uniform(1e4, 3e4, count)
    empty = random.random(count) < 0.03
    empty[np.all(np.abs(at - SOURCE) < 1.01 * half[:, None], axis=1)] = False
    density[empty] = 0
    depth = density * 5.9e-14 * (temperature / 1e4) ** -0.5 * 2 * KPC * half
    density *= np.minimum(1, 1e5 / np.maximum(depth, 1))
    dust = 500 * density * 10 ** random.uniform(-1, 0.5, count)
    return leaves, {"HI_density": density, "temperature": temperature, "dust": dust, **{f"velocity_{k}": velocity[:, i] for i, k in enumerate("xyz")}}


def sextants(direction):
    axis = np.abs(direction).argmax(1)
    return np.bincount(2 * axis + (direction[np.arange(len(axis)), axis] > 0), minlength=6)


def excess(a, b):
    """chi^2 of two histograms that should have the same shape, less its mean and over its standard deviation."""
    a, b = (np.asarray(k, float)[np.asarray(a) + np.asarray(b) >= 20] for k in (a, b))
    ratio = b.sum() / a.sum()
    chi2, freedom = np.sum((np.sqrt(ratio) * a - np.sqrt(1 / ratio) * b) ** 2 / (a + b)), len(a) - 1
    return (chi2 - freedom) / np.sqrt(2 * freedom)


class Peers(Case):
    def seen(self, leaves, gas, dusty=False, **physics):
        write_octree(self.folder / "clumpy.h5", leaves, gas, 2 * KPC)
        dataset = {"type": "octree", "path": "clumpy.h5"}
        if dusty:
            dataset["dust"] = {"cross_section": "3.950827e-22 cm^2", "albedo": 0.32, "g": 0.73}
        config = {"line": "Lya", "dataset": dataset, "outputs": [{"type": "photons"}], "output": {"path": "out.h5"}, "physics": physics,
                  "generators": [{"type": "point", "photons": PHOTONS, "position": [f"{k} kpc" for k in SOURCE * KPC / 3.0856775814913673e21]}]}
        with h5py.File(self.run_thor(config)) as file:
            photons = file["photons/original"]
            self.assertIn(b"escaped=2 ", photons["fate"].attrs["names"])
            escaped = photons["fate"][:] == 2
            rows = {name: photons[name][:][escaped] for name in ("velocity_final", "direction", "scatterings")}
        return {"escaped": np.mean(escaped), "sextants": sextants(rows["direction"]),
                "velocity": np.histogram(rows["velocity_final"], np.linspace(-240, 240, 61))[0], "scatterings": rows["scatterings"]}

    def compare(self, seen, peer, scatterings=True):
        peer = PEERS[peer]
        share = peer["escaped"] / peer["photons"]
        error = np.sqrt(share * (1 - share) * (1 / peer["photons"] + 1 / PHOTONS))
        self.assertLess(abs(seen["escaped"] - share), 4 * error + 1e-12)
        self.assertLess(excess(seen["velocity"], peer["velocity"]), 4)
        self.assertLess(excess(seen["sextants"], peer["sextants"]), 4)
        mean, error = peer["scatterings"]
        error = np.hypot(error, np.std(seen["scatterings"]) / np.sqrt(len(seen["scatterings"])))
        if scatterings:
            self.assertLess(abs(np.mean(seen["scatterings"]) - mean), 4 * error)

    def test_rascas(self):
        leaves, gas = clumpy_octree()
        self.assertEqual(len(leaves), 21372)
        self.compare(self.seen(leaves, gas), "RASCAS")
        denser = self.seen(leaves, {**gas, "HI_density": 1.3 * gas["HI_density"]})
        with self.assertRaises(AssertionError):
            self.compare(denser, "RASCAS", scatterings=False)
        backwards = self.seen(leaves, {**gas, **{f"velocity_{k}": -gas[f"velocity_{k}"] for k in "xyz"}})
        with self.assertRaises(AssertionError):
            self.compare(backwards, "RASCAS", scatterings=False)

    def test_rascas_with_dust(self):
        leaves, gas = clumpy_octree()
        self.compare(self.seen(leaves, gas, dusty=True), "RASCAS, dusty")
        with self.assertRaises(AssertionError):
            self.compare(self.seen(leaves, {**gas, "dust": 1.2 * gas["dust"]}, dusty=True), "RASCAS, dusty")

    def test_lart(self):
        """Its phase function is a dipole, with which jumps count 2.5 % too few scatterings (docs/acceleration.md)."""
        self.compare(self.seen(*clumpy_octree(), phase_function="dipole"), "LaRT", scatterings=False)


if __name__ == "__main__":
    main()
