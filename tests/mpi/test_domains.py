"""Grids that ranks hold together, each some parts of it.

    /usr/bin/python3 tests/mpi/test_domains.py --thor build/dev/thor [unittest arguments]
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from test_ranks import RankCase  # noqa: E402
import support  # noqa: E402
from support import DONE, INPUT, STOPPED, held, main, wait_for  # noqa: E402
from test_domains_in_one import DomainCase, on_random_grid, write_random_mesh  # noqa: E402

MANY = 8 if support.THOROUGH > 1 else 5  # ranks, all on this machine


class Same(RankCase, DomainCase):
    def test_ranks_and_domains(self):
        """Also more ranks than domains, which hold copies, and fewer, which hold several."""
        self.random_grid((8, 7, 9), periodic=True, hubble=3e-14)
        config = on_random_grid(60, dataset={"stop_shift": "1 Angstrom", "packed": True})
        whole = self.run_thor(config, "--device", "cpu")
        for ranks, domains in ((2, 2), (2, 5), (3, 3), (4, 2), (MANY, MANY), (MANY, 3)):
            with self.subTest(ranks=ranks, domains=domains):
                out = self.on_ranks(ranks, config, "--domains", domains, "--margin", 1, "--threads", 1)
                self.assert_same(whole, out)
                with h5py.File(out) as file:
                    self.assertEqual(file["domains"].attrs["count"], domains)
                    self.assertGreater(file["domains"].attrs["travellers"], 40)

    def test_meshes(self):
        for kind, seed in (("octree", 3), ("voronoi", 1)):
            write_random_mesh(self.folder / "mesh.h5", kind, np.random.default_rng(seed), True, 3e-14)
            with h5py.File(self.folder / "mesh.h5", "r+") as file:
                file["temperature"][[3, 5]] = np.nan
            dataset = {"type": kind, "path": "mesh.h5", "stop_shift": "1 Angstrom", "packed": True, "bad_cells": "drop"}
            config = on_random_grid(60, dataset=dataset)
            whole = self.run_thor(config, "--device", "cpu")
            for ranks, domains in ((2, 2), (3, 5), (4, 2)):
                with self.subTest(kind=kind, ranks=ranks, domains=domains):
                    out = self.on_ranks(ranks, config, "--domains", domains, "--threads", 1, *(("--by-light",) if ranks == 3 else ()))
                    self.assert_same(whole, out)
                    self.assertIn("2 bad cells", self.done.stderr)

    def test_ranks_with_other_files(self):
        """Of another size, and of other gas, which would have others of them wait for what never comes."""
        here, there = self.folder, self.folder / "there"
        there.mkdir()
        for kind in ("octree", "voronoi"):
            config = on_random_grid(40, dataset={"type": kind, "path": "mesh.h5"})
            config["output"]["path"] = str(here / "out.h5")
            for what in ("size", "gas"):
                for folder, seed in ((here, 3), (there, 3 if what == "gas" else 8)):
                    write_random_mesh(folder / "mesh.h5", kind, np.random.default_rng(seed))
                with h5py.File(there / "mesh.h5", "r+") as file:
                    file["temperature"][:] *= 2
                (there / self.write(config).name).write_bytes(self.write(config).read_bytes())
                for how in ((), ("--domains", "5", "--by-light"), ("--domains", "2")):
                    with self.subTest(kind=kind, what=what, how=how):
                        command = self.command(1, "run", self.write(config).name, "--overwrite", "--threads", "1", *how)
                        program = command[command.index(support.THOR):]
                        job = [*command[:command.index("-n")], "-n", "1", "-wdir", str(here), *program, ":", "-n", "1", "-wdir", str(there), *program]
                        done = subprocess.run(job, capture_output=True, text=True, timeout=60)
                        self.assertEqual(done.returncode, INPUT, done.stderr)
                        self.assertIn("copy the same files to all machines", done.stderr)

    def test_light_of_cells(self):
        """Each rank has that of its own cells."""
        self.random_grid((8, 7, 9))
        for shares in ({"photons_per_1e42": 2e-13, "max_photons": 5}, {"photons": 300, "minimum_luminosity": "3e54 erg/s"}):
            config = on_random_grid(20)
            config["generators"][0] = {"type": "gas", "emission": "field", "field": "light", **shares}
            whole = self.run_thor(config, "--device", "cpu")
            for ranks, domains in ((2, 2), (3, 5), (4, 2)):
                with self.subTest(shares=shares, ranks=ranks, domains=domains):
                    out = self.on_ranks(ranks, config, "--domains", domains, "--margin", 1, "--threads", 1)
                    self.assert_same(whole, out)

    def test_lengths_of_core_skipping(self):
        """Those of the whole grid, whoever holds its parts."""
        self.random_grid((8, 9, 10), smooth=True)
        config = on_random_grid(25, acceleration={"jumps": False, "core_skip": "local"})
        whole = self.run_thor(config, "--device", "cpu")
        for ranks, domains in ((2, 2), (3, 8), (4, 2), (4, 4)):
            with self.subTest(ranks=ranks, domains=domains):
                self.assert_same(whole, self.on_ranks(ranks, config, "--domains", domains, "--margin", domains % 3, "--threads", 1))

    def test_bad_cells_that_are_dropped(self):
        self.random_grid((5, 7, 6))
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            file["HI_temperature"][1:3, 2, 2] = np.nan
            file["light"][1, 2, 2] = np.nan
            file["HI_density"][4] = -1
        config = on_random_grid(80, dataset={"bad_cells": "drop", "packed": True})
        whole = self.run_thor(config, "--device", "cpu")
        for ranks, domains in ((2, 2), (3, 4), (MANY, 2)):
            out = self.on_ranks(ranks, config, "--domains", domains, "--margin", 1, "--threads", 1, "--by-light")
            self.assert_same(whole, out)
            self.assertIn("44 bad cells", self.done.stderr)

    def test_cut_by_light(self):
        """Most light is in a corner, which gets more domains than its size would."""
        self.random_grid((8, 8, 8))
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            file["light"][3:, :, :] = 0
        config = on_random_grid(200)
        whole = self.run_thor(config, "--device", "cpu")
        waiting = []
        for how in ((), ("--by-light",)):
            out = self.on_ranks(2, config, "--domains", 2, "--margin", 0, "--threads", 1, *how)
            self.assert_same(whole, out)
            with h5py.File(out) as file:
                waiting.append(file["domains"].attrs["travellers"])
        self.assertNotEqual(waiting[0], waiting[1], "the twin: another cut")

    def test_tiny_buffers(self):
        self.random_grid((6, 6, 6))
        config = on_random_grid(20)
        whole = self.run_thor(config, "--device", "cpu")
        for in_flight, message in ((1, 1), (3, 1), (1000, 1), (2, 100)):
            out = self.on_ranks(3, config, "--domains", 3, "--margin", 0, "--in-flight", in_flight, "--message", message, "--threads", 2)
            self.assert_same(whole, out)

    def test_an_idle_rank_takes_over_from_a_busy_one(self):
        """All light is in one of two domains."""
        self.random_grid((6, 6, 12))
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            file["light"][:, :, 6:] = 0
            file["HI_density"][:, :, :6] *= 1e3
            file["dust"][...] = 0
        self.expect_relief("none", (1200, 4800, 19200, 76800))

    def test_with_the_lengths_of_core_skipping(self):
        """One that takes over gets the lengths in the cells of the other, which it cannot know of itself."""
        self.random_grid((6, 6, 12), smooth=True)
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            file["light"][:, :, 3:] = 0
            file["HI_density"][:, :, :6] *= 3
            file["HI_density"][:, :, 6:] *= 1e-3
            file["dust"][...] = 0
        self.expect_relief("local", (1200, 4800, 19200, 76800))

    def expect_relief(self, core_skip, numbers_of_photons):
        def run(photons, name, *relief):
            """Copies of domains that were taken."""
            config = on_random_grid(photons, acceleration={"jumps": False, "core_skip": core_skip})
            config["generators"] = config["generators"][:1]
            del config["observers"], config["outputs"][1]
            out = self.on_ranks(2, config, "--domains", 2, "--margin", 0, "--threads", 1, *relief).rename(self.folder / name)
            with h5py.File(out) as file:
                return file["domains"].attrs["copies"]
        # A rank is idle for a while before it takes over: a fast processor needs more photons for that.
        photons = next((n for n in numbers_of_photons if run(n, "relief.h5") > 0), None)
        self.assertIsNotNone(photons, "no rank took over")
        self.assertEqual(run(photons, "none.h5", "--no-relief"), 0)
        self.assert_same(self.folder / "relief.h5", self.folder / "none.h5")


class Ends(RankCase, DomainCase):
    def endless(self):
        """Photons that never leave."""
        self.random_grid((6, 6, 6))
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            file["HI_density"][...] *= 1e8
            file["dust"][...] = 0
        config = on_random_grid(10000, acceleration={"jumps": False, "core_skip": "none"})
        config["generators"] = config["generators"][:1]
        del config["observers"], config["outputs"][1]
        return config

    def test_a_limit_of_time(self):
        out = self.on_ranks(3, self.endless(), "--domains", 3, "--max-walltime", 0.1, "--drain", 0, "--in-flight", 300, expect=STOPPED)
        summary = self.summary(out)
        self.assertFalse(summary["complete"])
        self.assertGreater(summary["in_flight"], 0)
        self.assertLessEqual(summary["in_flight"], 300)

    def test_a_signal_then_more(self):
        self.random_grid((6, 6, 6))
        config = on_random_grid(2000)
        whole = self.run_thor(config, "--device", "cpu")
        out = self.folder / "stopped.h5"
        how = ("--domains", 2, "--threads", 1, "--in-flight", 500)
        job = subprocess.Popen(self.command(2, "run", self.write(config), "-o", out, *how, at_once=True), stderr=subprocess.PIPE,
                               text=True, **held("at:3000"))
        self.addCleanup(job.kill)
        ranks = self.ranks_of(job.pid)
        self.assertTrue(wait_for(Path(f"{out}.partial").exists))  # all of them listen
        os.kill(ranks[1], signal.SIGUSR1)
        _, said = job.communicate(timeout=60)
        self.assertEqual(job.returncode, STOPPED, said)
        self.assertEqual((self.summary(out)["in_flight"], self.summary(out)["photons"]), (0, 3000))
        self.launch(3, "continue", out, "--domains", 3, "--threads", 1)
        self.assert_same(whole, out)

    def test_a_rank_that_is_killed_ends_the_job(self):
        out = self.folder / "killed.h5"
        job = subprocess.Popen(self.command(3, "run", self.write(self.endless()), "-o", out, "--domains", 3, "--threads", 1, at_once=True),
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        ranks = self.ranks_of(job.pid, 3)
        self.assertTrue(wait_for(Path(f"{out}.partial").exists))  # the run has begun
        os.kill(ranks[2], signal.SIGKILL)
        _, said = job.communicate(timeout=60)
        self.assertNotEqual(job.returncode, DONE)
        self.assertIn("signal 9", said)
        self.assertFalse(out.exists())

    def test_after_a_kill_it_goes_on_from_the_last_checkpoint(self):
        self.random_grid((6, 6, 6))
        config = on_random_grid(3000)
        whole = self.run_thor(config, "--device", "cpu")
        out = self.folder / "kept.h5"
        how = ("--domains", 2, "--threads", 1, "--checkpoint", 0.001)
        job = subprocess.Popen(self.command(2, "run", self.write(config), "-o", out, *how, at_once=True), stderr=subprocess.PIPE,
                               text=True, **held("at:500"))
        self.addCleanup(job.kill)
        ranks = self.ranks_of(job.pid)
        self.assertTrue(wait_for(out.exists), "the first checkpoint")
        os.kill(ranks[0], signal.SIGKILL)
        job.communicate(timeout=30)
        self.assertFalse(self.summary(out)["complete"])
        self.launch(3, "continue", out, "--domains", 3, "--threads", 1)
        self.assert_same(whole, out)

    def test_a_bad_cell_in_one_part_ends_all(self):
        self.random_grid((6, 6, 6))
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            file["HI_temperature"][5, 5, 5] = np.nan
        done = self.launch(2, "run", self.write(on_random_grid(5)), "-o", self.folder / "out.h5", "--domains", 2, "--margin", 0, expect=INPUT)
        self.assertIn("[5, 5, 5]", done.stderr)


if __name__ == "__main__":
    main()
