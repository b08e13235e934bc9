"""Photons of small runs, bit for bit those that are stored in checksums.json.

    /usr/bin/python3 tests/e2e/test_checksums.py --thor build/release/thor [--update] [--device cuda] [unittest arguments]

A run is a function of its configuration and seed alone: lanes, threads, processor and device change nothing, and neither may a
change of the code that is not meant to change physics. Where a change is meant to (a random draw moves, a formula improves), --update
stores the new sums, and the commit says why. The processor needs fused multiply-add.
"""

import hashlib
import json
import re
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import slab, sphere  # noqa: E402
from support import Case, main, skip_loudly, thor  # noqa: E402

STORED = Path(__file__).with_name("checksums.json")
UPDATE = "--update" in sys.argv
DEVICE = sys.argv[sys.argv.index("--device") + 1] if "--device" in sys.argv else "cpu"
MPC = 3.0856775814913673e24

FLOW = {"velocity": {"profile": "linear", "max": "200 km/s"}}
DUST = {"dust": {"tau": 0.3, "albedo": 0.4, "g": 0.5}}


def changed(config, **keys):
    return {**config, **keys}


def accelerated(config, core_skip):
    return changed(config, acceleration={"core_skip": core_skip})


def jumping(config):
    return changed(config, acceleration={"jumps": True})


def grid_file(path, n=12, hubble=0.0, periodic=False):
    """Clumps in motion with their own temperatures, written from integers: the same bits everywhere."""
    x, y, z = np.meshgrid(*(np.arange(n),) * 3, indexing="ij")
    mixed = (x * 7919 + y * 104729 + z * 1299709) % 1024
    empty = mixed % 3 == 0
    with h5py.File(path, "w") as file:
        file.attrs.update({"format_version": 2, "cell_size": 0.1 * MPC / 1000, "periodic": periodic, "hubble": hubble,
                           "redshift": 0.0})
        file.attrs.update({f"origin_{axis}": -0.05 * n * MPC / 1000 for axis in "xyz"})
        fields = {"HI_density": np.where(empty, 0, 2.0 ** (mixed % 8 - 21)), "temperature": 1e4 + 16.0 * mixed,
                  "dust": np.where(empty, 0, 2.0 ** -12)}
        for k, axis in enumerate("xyz"):
            fields[f"velocity_{axis}"] = ((mixed >> (3 * k)) % 8 - 4) * 2e6 / 8
        for name, values in fields.items():
            file[name] = values.astype("f4")
            file[name].attrs["units"] = {"temperature": "K"}.get(name, "cm s-1" if "velocity" in name else "cm-3")


def on_grid(photons=300, **dataset):
    config = sphere(1, photons)
    config["dataset"] = {"type": "uniform_grid", "path": "grid.h5", **dataset}
    return config


def with_line(config, line, **spectrum):
    config = changed(config, line=line)
    if spectrum:
        config["generators"] = [{**config["generators"][0], "spectrum": spectrum}]
    return config


CONTINUUM = {"type": "continuum", "range": ["-400 km/s", "900 km/s"]}

RUNS = {
    "sphere": sphere(1e3, 800),
    "sphere_double": changed(sphere(1e3, 300), precision="double"),
    "sphere_off_centre": accelerated(sphere(1e4, 100, source={"type": "point", "position": ["0.5 kpc", "0 kpc", "0.1 kpc"]}),
                                     {"fixed": 2}),
    "sphere_global": accelerated(sphere(1e7, 20), "global"),
    "shell_flow": sphere(1e3, 200, inner_radius="0.2 kpc", **FLOW),
    "shell_flow_double": changed(sphere(1e3, 60, inner_radius="0.2 kpc", **FLOW), precision="double"),
    "shell_graded_dusty": accelerated(
        sphere(3e3, 200, inner_radius="0.1 kpc", density={"profile": "power_law", "exponent": -2}, **DUST), "local"),
    "shell_recoil_turbulent": changed(sphere(1e3, 300, b_turb="30 km/s"), physics={"recoil": True}),
    "slab": slab(1e3, 400),
    "slab_dusty_flow": slab(1e3, 300, velocity={"profile": "constant", "max": "80 km/s"}, **DUST),
    "slab_beam": slab(1e6, 300, source={"type": "extended", "shape": "beam", "radius": "1 kpc", "direction": [0, 0, -1]}),
    "doublet_sphere": with_line(sphere(300, 400), "MgII", **CONTINUUM),
    "doublet_shell": with_line(sphere(300, 400, **FLOW), "MgII", **CONTINUUM),
    "multiplet_shell": with_line(sphere(300, 400, **FLOW), "SiII_1190", **CONTINUUM),
    "multiplet_slab": with_line(slab(300, 400), "SiII_1190", **CONTINUUM),
    "selected_shell": changed(sphere(1e3, 300), numerics={"voigt": "T06"}),
    "cells": sphere(1e3, 300, cells=16, **FLOW),
    "cells_double": changed(sphere(1e3, 100, cells=16), precision="double"),
    "grid": on_grid(),
    "grid_dusty_local": accelerated(on_grid(dust={"law": "SMC"}), "local"),
    "grid_packed": on_grid(packed=True),
    "grid_multiplet": with_line(on_grid(density_field="HI_density"), "MgII", **CONTINUUM),
    "grid_hubble_stop": on_grid(path="box.h5", stop_shift="3 Angstrom"),
    "jumps_sphere": jumping(sphere(1e6, 800)),
    "jumps_sphere_double": jumping(changed(sphere(1e6, 300), precision="double")),
    "jumps_shell_flow": jumping(sphere(1e5, 300, inner_radius="0.2 kpc", **FLOW, **DUST)),
    "jumps_slab_dusty": jumping(slab(1e5, 300, **DUST)),
    "jumps_doublet": jumping(with_line(sphere(3e4, 300, b_turb="15 km/s"), "MgII", **CONTINUUM)),
    "jumps_deep": jumping(slab(1e8, 300, **DUST)),
    "jumps_deep_double": jumping(changed(sphere(1e8, 300, source={"type": "point", "position": ["0.5 kpc", "0 kpc", "0.1 kpc"]}),
                                         precision="double")),
    "jumps_recoil": jumping(changed(sphere(1e8, 300, temperature="100 K"), physics={"recoil": True})),
    "jumps_deuterium": jumping(changed(sphere(1e5, 200), physics={"deuterium": 2.5e-5})),
    "jumps_grid": jumping(on_grid(dust={"law": "SMC"})),
}


class Checksums(Case):
    def setUp(self):
        super().setUp()
        if re.search(r"x86-64-v2.*\(default\)", thor("devices").stdout):
            skip_loudly(self, "this processor has no fused multiply-add: its photons differ in the last bit")
        grid_file(self.folder / "grid.h5")
        grid_file(self.folder / "box.h5", hubble=3e-13, periodic=True)

    def sum_of(self, config):
        path = self.run_thor(changed(config, outputs=[{"type": "photons"}, *SPECTRA]), "--device", DEVICE)
        photons = self.photons(path)
        digest = hashlib.sha256()
        for name in sorted(photons):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(photons[name]).tobytes())
        with h5py.File(path) as file:
            for name in sorted(file["spectra"]):
                digest.update(file[f"spectra/{name}/flux"][()].tobytes())
                digest.update(file[f"spectra/{name}/error"][()].tobytes())
        return digest.hexdigest()[:16]

    def test_photons_are_those_of_before(self):
        stored = json.loads(STORED.read_text()) if STORED.exists() else {}
        found = {name: self.sum_of(config) for name, config in RUNS.items()}
        if UPDATE:
            STORED.write_text(json.dumps(found, indent=1) + "\n")
            stored = found
        self.assertEqual(stored.keys(), found.keys())
        different = [name for name in found if found[name] != stored[name]]
        self.assertEqual(different, [], "these runs have other photons than before; --update stores them, if that is meant")

    def test_another_seed_is_another_sum(self):
        config = RUNS["slab"]
        self.assertNotEqual(self.sum_of(config), self.sum_of(changed(config, seed=2)))


SPECTRA = [{"type": "spectrum", "name": f"s_{of}", "of": of, "axis": "velocity", "range": ["-500 km/s", "500 km/s"], "bins": 50}
           for of in ("emitted", "escaped")]

if __name__ == "__main__":
    for option in ("--update", "--device"):
        if option in sys.argv:
            at = sys.argv.index(option)
            del sys.argv[at : at + (2 if option == "--device" else 1)]
    main()
