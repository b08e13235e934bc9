"""Outputs of RAMSES: real ones against the sums of an independent reader, on octrees and on grids, and damaged ones.

    /usr/bin/python3 tests/e2e/test_ramses.py --thor build/release/thor [unittest arguments]

The outputs are in ../shared/data/ramses, whose README says how they were made; without them the tests are skipped.
"""

import json
import re
import shutil
import struct
import sys
import unittest
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import Case, DONE, INPUT, ROOT, USAGE, main, thor  # noqa: E402

DATA = ROOT.parent / "shared/data/ramses"
RUNS = ("blast_4cpu_bound", "stars_2cpu", "rt_1cpu")
COLUMNS = [f"{what}_{axis}" for what in ("position", "velocity") for axis in "xyz"] + ["mass", "identity", "levelp", "family", "tag", "birth_time", "metallicity"]
KINDS = ["f8"] * 7 + ["i4", "i4", "i1", "i1", "f8", "f8"]
YEAR = 3.15576e7
HYDROGEN, BOLTZMANN = 1.00782503 * 1.66053906660e-24, 1.380649e-16


def records_of(data):
    """The records that Fortran wrote."""
    records = []
    while data:
        (length,) = struct.unpack_from("i", data)
        records.append(data[4 : 4 + length])
        data = data[8 + length :]
    return records


@unittest.skipUnless(DATA.is_dir(), "*** SKIPPED: outputs of RAMSES: ../shared/data/ramses is not there ***")
class Ramses(Case):
    def output(self, run):
        return DATA / run / "output_00002"

    def grid(self, path, *arguments, expect=DONE, name="tree.h5"):
        done = thor("grid", path, "-o", self.folder / name, "--overwrite", *arguments, cwd=self.folder)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def octree(self, run, *more):
        ionization = () if run == "rt_1cpu" else ("--ionization", "collisional")
        said = self.grid(self.output(run), "--mesh", "octree", *ionization, *more)
        with h5py.File(self.folder / "tree.h5") as file:
            return {name: file[name][()] for name in file if name != "sources"}, dict(file.attrs), said

    def test_leaves_are_those_of_the_simulation(self):
        for run in RUNS:
            with self.subTest(run):
                reference = json.loads((DATA / "reference.json").read_text())[f"{run}/output_00002"]
                leaves, about, said = self.octree(run)
                unit_l, unit_d, unit_t = (reference[f"unit_{k}"] for k in "ldt")
                size = reference["boxlen"] * unit_l
                self.assertAlmostEqual(about["box_size"] / size, 1, delta=1e-9)
                levels, counts = np.unique(leaves["level"], return_counts=True)
                self.assertEqual({str(a): int(b) for a, b in zip(levels, counts)}, reference["leaves_per_level"])
                volume = (size / 2.0 ** leaves["level"]) ** 3
                self.assertAlmostEqual(volume.sum() / size**3, 1, delta=1e-12)
                mass = np.sum(leaves["density"].astype(float) * volume)
                self.assertAlmostEqual(mass / (reference["mass"] * unit_d * unit_l**3), 1, delta=1e-6)
                self.assertAlmostEqual(leaves["density"].max() / (reference["density_max"] * unit_d), 1, delta=1e-6)
                momentum = [np.sum(leaves["density"] * volume * leaves[f"HI_velocity_{k}"].astype(float) * 1e5) for k in "xyz"]
                expected = np.array(reference["momentum"]) * unit_d * unit_l**4 / unit_t
                scale = np.sum(leaves["density"] * volume * np.abs(leaves["HI_velocity_x"]) * 1e5) + np.max(np.abs(expected))
                np.testing.assert_allclose(momentum, expected, atol=1e-5 * scale)
                # n k T = p, with helium and electrons.
                particles = leaves["HI_density"] + leaves["HII_density"] + leaves["electron_density"] + 0.25 * 0.24 / 0.76 * (leaves["HI_density"] + leaves["HII_density"])
                energy = np.sum(1.5 * particles.astype(float) * BOLTZMANN * leaves["HI_temperature"] * volume)
                wanted = reference["internal_energy"] * (reference["gamma"] - 1) * 1.5 * unit_d * unit_l**3 * (unit_l / unit_t) ** 2
                self.assertAlmostEqual(energy / wanted, 1, delta=2e-3 if run == "stars_2cpu" else 1e-5)
                self.assertIn(f"leaves       {reference['leaves']}", said.stdout)

    def test_sample_cells(self):
        for run in RUNS:
            reference = json.loads((DATA / "reference.json").read_text())[f"{run}/output_00002"]
            leaves, about, _ = self.octree(run)
            at = np.stack([(leaves[k] + 0.5) / 2.0 ** leaves["level"] * reference["boxlen"] for k in "xyz"], axis=1)
            self.assertGreater(len(reference["samples"]), 3)
            for sample in reference["samples"]:
                (row,) = np.flatnonzero(np.max(np.abs(at - np.array(sample["pos"])), axis=1) < 1e-9)
                self.assertEqual(leaves["level"][row], sample["level"])
                values = dict(zip(reference["variables"], sample["values"]))
                self.assertAlmostEqual(leaves["density"][row] / (values["density"] * reference["unit_d"]), 1, delta=1e-6)
                speed = values["velocity_y"] * reference["unit_l"] / reference["unit_t"] / 1e5
                self.assertAlmostEqual(leaves["HI_velocity_y"][row], speed, delta=1e-5 * abs(speed) + 1e-12)
                if run == "rt_1cpu":
                    share = leaves["HII_density"][row] / (leaves["HII_density"][row] + leaves["HI_density"][row])
                    self.assertAlmostEqual(share, values["scalar_00"], delta=1e-5)

    def test_a_grid_conserves_it(self):
        """The same gas on a uniform grid; and photons through the octree and the grid of its finest leaves see as much HI."""
        reference = json.loads((DATA / "reference.json").read_text())["rt_1cpu/output_00002"]
        self.octree("rt_1cpu")
        self.grid(self.output("rt_1cpu"), "--cells", "64", "--method", "nearest", name="grid.h5")
        with h5py.File(self.folder / "grid.h5") as grid, h5py.File(self.folder / "tree.h5") as tree:
            mass = float(np.sum(grid["density"][()].astype(float))) * grid.attrs["cell_size"] ** 3
            self.assertAlmostEqual(mass / (reference["mass"] * reference["unit_d"] * reference["unit_l"] ** 3), 1, delta=1e-3)
            level = tree["level"][()]
            volume = (tree.attrs["box_size"] / 2.0**level) ** 3
            atoms = float(np.sum(grid["HI_density"][()].astype(float))) * grid.attrs["cell_size"] ** 3, float(np.sum(tree["HI_density"][()] * volume))
            self.assertAlmostEqual(atoms[0] / atoms[1], 1, delta=2e-3)
        found = []
        for kind, name in (("uniform_grid", "grid.h5"), ("octree", "tree.h5")):
            config = {"line": "Lya", "dataset": {"type": kind, "path": str(self.folder / name)}, "acceleration": {"jumps": True},
                      "generators": [{"type": "gas", "emission": "recombination", "photons": 400}],
                      "outputs": [{"type": "spectrum", "name": "v", "axis": "velocity", "range": ["-600 km/s", "600 km/s"], "bins": 24}], "output": {"path": "o.h5"}}  # fmt: skip
            with h5py.File(self.run_thor(config)) as file:
                found.append((file["spectra/v/flux"][:], file["spectra/v/error"][:], file["summary"].attrs["luminosity_emitted"]))
        self.assertAlmostEqual(found[0][2] / found[1][2], 1, delta=5e-3)
        known = (found[0][1] > 0) | (found[1][1] > 0)
        self.assertLess(np.sum((found[0][0] - found[1][0])[known] ** 2 / (found[0][1] ** 2 + found[1][1] ** 2)[known]), 60)

    def stars(self, folder):
        """Columns of all star particles, as the files have them."""
        columns = {}
        for path in sorted(folder.glob("part_*.out*")):
            records = records_of(path.read_bytes())[8:]
            for name, kind, record in zip(COLUMNS, KINDS, records):
                columns.setdefault(name, []).append(np.frombuffer(record, kind))
        columns = {name: np.concatenate(parts) for name, parts in columns.items()}
        return {name: values[columns["family"] == 2] for name, values in columns.items()}

    def test_stars_are_sources(self):
        """Their places and velocities; and the same ages give the same light, whether birth times are those of the run, conformal or
        proper ones. Ages that are a tenth off do not."""
        ages = np.geomspace(1e6, 9e7, 51) * YEAR
        folder = self.damaged("stars_2cpu")
        info = (folder / "info_00002.txt").read_text()
        value = {k: float(v) for k, v in re.findall(r"^(\w+) +=(.*)$", info, re.M) if k != "ordering type" and re.fullmatch(r" *[-+.\dE]+", v)}
        stars = self.stars(folder)
        self.assertEqual(len(stars["mass"]), 51)

        def light(births, *meshes):
            left = births
            for path in sorted(folder.glob("part_*.out*")):
                records = records_of(path.read_bytes())
                family = np.frombuffer(records[8 + COLUMNS.index("family")], "i1")
                birth = np.frombuffer(records[8 + COLUMNS.index("birth_time")], "f8").copy()
                count = np.count_nonzero(family == 2)
                birth[family == 2], left = left[:count], left[count:]
                records[8 + COLUMNS.index("birth_time")] = birth.tobytes()
                path.write_bytes(b"".join(struct.pack("i", len(r)) + r + struct.pack("i", len(r)) for r in records))
            said = self.grid(folder, *(meshes or ("--mesh", "octree")), "--ionization", "collisional", name="stars.h5")
            self.assertIn("51 of 51 stars", said.stdout)
            with h5py.File(self.folder / "stars.h5") as file:
                return {name: file["sources"][name][()] for name in file["sources"]}

        found = light(value["time"] - ages / value["unit_t"])
        for k, axis in enumerate("xyz"):
            np.testing.assert_allclose(found["position"][:, k], (stars[f"position_{axis}"] - 0.5 * value["boxlen"]) * value["unit_l"], rtol=1e-9, atol=1e10)
            np.testing.assert_allclose(found["velocity"][:, k], stars[f"velocity_{axis}"] * value["unit_l"] / value["unit_t"] / 1e5, rtol=1e-9)
        self.assertLess(found["ionizing_rate"][-1], 1e-2 * found["ionizing_rate"][0])
        on_grid = light(value["time"] - ages / value["unit_t"], "--cells", "16")
        np.testing.assert_array_equal(on_grid["ionizing_rate"], found["ionizing_rate"])

        # A flat universe at a = 0.5: t = 2/(3 H0 sqrt(1 - m)) asinh(sqrt((1 - m)/m a^3)), d tau = H0 dt/a^2.
        m, hubble, now = 0.3, 70e5 / 3.0856775814913673e24, 0.5
        time = lambda a: 2 / (3 * hubble * np.sqrt(1 - m)) * np.arcsinh(np.sqrt((1 - m) / m * a**3))  # noqa: E731
        a = np.linspace(0.3, 1, 400001)
        middle, step = 0.5 * (a[1:] + a[:-1]), a[1] - a[0]
        tau = np.concatenate([[0], np.cumsum(step / (middle**3 * np.sqrt(m / middle**3 + 1 - m)))])
        tau -= tau[-1]
        for name, new in (("H0", 70), ("aexp", now), ("omega_m", m), ("omega_l", 1 - m)):
            info = re.sub(rf"^({name} +=).*$", rf"\g<1> {new:.15E}", info, flags=re.M)
        (folder / "info_00002.txt").write_text(info)
        conformal = light(np.interp(time(now) - ages, time(a), tau))
        np.testing.assert_allclose(conformal["ionizing_rate"], found["ionizing_rate"], rtol=2e-4)
        wrong = light(np.interp(time(now) - 1.1 * ages, time(a), tau))
        self.assertGreater(np.max(np.abs(wrong["ionizing_rate"] / found["ionizing_rate"] - 1)), 0.1)
        (folder / "namelist.txt").write_text("&RUN_PARAMS\ncosmo=.true., USE_PROPER_TIME = .True. ! a comment\n/\n")
        proper = light((time(now) - ages - time(1)) * hubble)
        np.testing.assert_allclose(proper["ionizing_rate"], found["ionizing_rate"], rtol=2e-3)

    def test_damaged_stars(self):
        folder = self.damaged("stars_2cpu")
        path = folder / "part_00002.out00002"
        whole = path.read_bytes()
        for count in (2, 60, len(whole) // 2):
            path.write_bytes(whole[:count])
            self.refuse(r"part_00002.out00002: cut short, or damaged, in record \d+", folder)
        path.unlink()
        self.refuse("part_00002.out00002: the file of a process is missing", folder)
        path.write_bytes(whole)
        descriptor = folder / "part_file_descriptor.txt"
        text = descriptor.read_text()
        descriptor.write_text(text.replace("mass", "Mass"))
        self.refuse("it names no mass of particles", folder)
        descriptor.write_text(text.replace(" 7, mass, d\n", ""))
        self.refuse("it names no mass of particles", folder)
        for old, new, words in (("velocity_y", "speed_y", "it names no velocity_y"), ("metallicity", "mass", "it names mass twice"),
                                ("mass, d", "mass, i", "mass has the type i")):  # fmt: skip
            descriptor.write_text(text.replace(old, new))
            self.refuse(words, folder)
        descriptor.write_text("")
        self.refuse("it names no position_x", folder)
        descriptor.write_text(text)
        (folder / "part_00002.out00001").rename(folder / "away")
        self.refuse("part_00002.out00001: the file of a process is missing", folder)
        (folder / "away").rename(folder / "part_00002.out00001")
        descriptor.write_text(text.replace(" 8, identity, i\n", ""))
        self.refuse(r"part_00002.out00001: record \d+ has", folder)
        descriptor.unlink()
        said = self.grid(folder, "--mesh", "octree", "--ionization", "collisional")
        self.assertIn("sources      none", said.stdout)
        (self.folder / "tree.h5").unlink()
        self.refuse("there are no stars", folder, "--sources", "stars")

    def damaged(self, run="blast_4cpu_bound"):
        folder = self.folder / "output_00002"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.output(run), folder)
        for file in folder.iterdir():
            file.chmod(0o644)
        return folder

    def refuse(self, words, folder, *arguments, expect=INPUT):
        done = self.grid(folder, "--mesh", "octree", "--ionization", "collisional", *arguments, expect=expect)
        self.assertRegex(done.stderr, words)
        self.assertFalse((self.folder / "tree.h5").exists())

    def test_damaged_outputs(self):
        folder = self.damaged()
        (folder / "amr_00002.out00003").unlink()
        self.refuse(r"amr_00002.out00003: the file of a process is missing", folder)
        folder = self.damaged()
        (folder / "hydro_00002.out00002").unlink()
        self.refuse(r"hydro_00002.out00002: the file of a process is missing", folder)
        for name in ("amr_00002.out00001", "hydro_00002.out00004"):
            folder = self.damaged()
            whole = (folder / name).read_bytes()
            for count in (3, 100, len(whole) // 2, len(whole) - 3):
                (folder / name).write_bytes(whole[:count])
                self.refuse(rf"{name}: cut short, or damaged, in record \d+", folder)
            (folder / name).write_bytes(struct.pack(">i", 4) + whole[4:])
            self.refuse("written on a machine with the other byte order", folder)
        folder = self.damaged()
        text = (folder / "hydro_file_descriptor.txt").read_text()
        (folder / "hydro_file_descriptor.txt").write_text(text + " 7, scalar_01, d\n")
        self.refuse(r"hydro_00002.out00001: it has 6 variables, hydro_file_descriptor.txt names 7", folder)
        (folder / "hydro_file_descriptor.txt").write_text(text.replace("pressure", "preasure"))
        self.refuse("it names no pressure", folder)
        (folder / "hydro_file_descriptor.txt").unlink()
        self.refuse("it is missing, so that the variables of the gas are not known", folder)
        folder = self.damaged()
        info = (folder / "info_00002.txt").read_text()
        for old, new, words in (("ndim        =          3", "ndim        =          2", "2 dimensions"), ("ncpu        =          4", "ncpu        =          3", "files of several outputs"),
                                ("unit_l", "unit_x", 'there is no "unit_l"'), (re.search(r"unit_d +=(.*)", info)[1], " nonsense", 'unit_d is "nonsense"')):  # fmt: skip
            self.assertIn(old, info)
            (folder / "info_00002.txt").write_text(info.replace(old, new))
            self.refuse(words, folder)

    def test_older_descriptors_and_options(self):
        """Descriptors until 2017; and what --mesh octree does not take."""
        folder = self.damaged("rt_1cpu")
        names = ["density", "velocity_x", "velocity_y", "velocity_z", "thermal_pressure", "passive_scalar_1", "passive_scalar_2", "passive_scalar_3"]
        (folder / "hydro_file_descriptor.txt").write_text("nvar        =          8\n" + "".join(f"variable #{k:3}: {name}\n" for k, name in enumerate(names, 1)))
        self.grid(folder, "--mesh", "octree", name="old.h5")
        self.octree("rt_1cpu")
        with h5py.File(self.folder / "old.h5") as one, h5py.File(self.folder / "tree.h5") as two:
            for name in two:
                np.testing.assert_array_equal(one[name][()], two[name][()], err_msg=name)
        (self.folder / "tree.h5").unlink()
        self.refuse("--cells: not an option for --mesh octree", folder, "--cells", "4", expect=USAGE)
        grid = self.folder / "snapshot.hdf5"
        with h5py.File(grid, "w") as file:
            file["x"] = 1
        self.grid(grid, "--mesh", "octree", expect=INPUT)
        done = thor("info", folder, cwd=self.folder)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("RAMSES", done.stdout)


if __name__ == "__main__":
    main()
