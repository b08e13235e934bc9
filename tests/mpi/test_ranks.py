"""Runs on several ranks, which share the photons: the same answer as one process, stops, errors and ranks that die.

    /usr/bin/python3 tests/mpi/test_ranks.py --thor build/dev/thor [unittest arguments]

All ranks are on this machine, more of them than it has cores.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import support  # noqa: E402
from configurations import ENDLESS, sphere  # noqa: E402
from support import Case, DEVICE, DONE, INPUT, OUTPUT, STOPPED, USAGE, KPC, held, main, wait_for, write_grid  # noqa: E402
from test_until import numbers  # noqa: E402

SPECTRUM = {"type": "spectrum", "name": "s", "axis": "velocity", "range": ["-300 km/s", "300 km/s"], "bins": 40}
IMAGE = {"type": "image", "name": "sb", "observer": "face", "width": "2 kpc", "pixels": 12}
FACE = {"observers": [{"name": "face", "direction": [0, 0, 1]}]}


class RankCase(Case):
    def command(self, ranks, *arguments, at_once=False):
        """With at_once, what is left of a job that fails is killed without the second that mpirun else gives it to end."""
        launcher = [shutil.which("mpirun"), "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]
        launcher += ["--mca", "odls_base_sigkill_timeout", "0"] if at_once else []
        return [*launcher, support.THOR, *(str(argument) for argument in arguments), "--device", "cpu"]

    def launch(self, ranks, *arguments, expect=DONE, at_once=None):
        # Where an error ends a run, other ranks may have files to remove.
        command = self.command(ranks, *arguments, at_once=expect in (USAGE, STOPPED) if at_once is None else at_once)
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def on_ranks(self, ranks, config, *arguments, expect=DONE):
        out = self.folder / f"ranks{ranks}.h5"
        self.done = self.launch(ranks, "run", self.write(config), "-o", out, "--overwrite", *arguments, expect=expect)
        return out

    def ranks_of(self, launcher, count=2):
        """The processes that a launcher has started, in the order of their ranks, once they have begun."""
        for _ in range(200):
            found = []
            for path in Path("/proc").glob("[0-9]*"):
                try:
                    status, environment = (path / "stat").read_text(), (path / "environ").read_bytes()
                except OSError:
                    continue
                rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", environment)
                if rank and status.rsplit(")", 1)[1].split()[1] == str(launcher):
                    found.append((int(rank[1]), int(path.name)))
            if len(found) == count:
                return [process for _, process in sorted(found)]
            time.sleep(0.05)
        self.fail("the ranks did not start")

    def assert_equal(self, one, other):
        a, b = numbers(one, ("ranks",)), numbers(other, ("ranks",))
        self.assertEqual(a.keys(), b.keys())
        self.assertEqual([key for key in a if a[key] != b[key]], [])
        self.assertGreater(len(a), 20)

    def is_running(self, process):
        try:
            return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False


class Same(RankCase):
    """A photon has the same history on any rank, and light is counted in integers: results are the same to the last bit."""

    def test_a_dusty_sphere_with_an_observer(self):
        config = {**sphere(300, 2000, outputs=[SPECTRUM, IMAGE], dust={"tau": 0.3}), **FACE}
        alone = self.run_thor(config, "--device", "cpu")
        for ranks in (2, 3, 8):
            out = self.on_ranks(ranks, config)
            self.assert_equal(alone, out)
            self.assertEqual(self.summary(out)["ranks"], ranks)
        self.assertNotEqual(numbers(alone), numbers(self.on_ranks(2, config, "--seed", 2)), "the twin: another seed")

    def test_a_grid_that_shines(self):
        grid = self.folder / "grid.h5"
        write_grid(grid, n=8, cell=0.25 * KPC, density=1e-6)
        with h5py.File(grid, "a") as file:
            file["light"] = (np.arange(512).reshape(8, 8, 8) % 7 * 1e-24).astype("f4")
            file["light"].attrs["units"] = "erg s-1 cm-3"
        config = {"line": "Lya", "dataset": {"type": "uniform_grid", "path": "grid.h5"},
                  "generators": [{"type": "gas", "emission": "field", "field": "light", "photons": 2000},
                                 {"type": "point", "photons": 500, "luminosity": "1e41 erg/s", "position": ["1 kpc", "1 kpc", "1 kpc"]}],
                  "outputs": [SPECTRUM], "output": {"path": "out.h5"}}
        self.assert_equal(self.run_thor(config, "--device", "cpu"), self.on_ranks(3, config))

    def test_fewer_photons_than_ranks(self):
        config = sphere(10, 3, outputs=[SPECTRUM])
        self.assert_equal(self.run_thor(config, "--device", "cpu"), self.on_ranks(8, config))

    def test_until_an_error_is_reached(self):
        config = {**sphere(100, 500, outputs=[SPECTRUM]), "until": {"output": "s", "error": "3%", "of": "total"}}
        config["dataset"]["dust"] = {"tau": 0.5}
        alone, out = self.run_thor(config, "--device", "cpu"), self.on_ranks(3, config)
        self.assertEqual(self.summary(alone)["photons"], self.summary(out)["photons"])
        with h5py.File(alone) as a, h5py.File(out) as b:
            np.testing.assert_array_equal(a["spectra/s/flux"], b["spectra/s/flux"])

    def test_photons_are_added(self):
        config = sphere(100, 3000, outputs=[SPECTRUM])
        alone = self.run_thor(config, "--device", "cpu")
        config["generators"][0]["photons"] = 1000
        out = self.on_ranks(3, config)
        self.launch(2, "continue", out, "--photons", 2000)
        self.assert_equal(alone, out)


class Ends(RankCase):
    def test_a_signal_to_one_rank_stops_all(self):
        """What was counted is whole, and goes on from there to the result of a run that was not stopped."""
        config = sphere(1e3, 3000, outputs=[SPECTRUM])
        whole = self.run_thor(config, "--device", "cpu")
        for which in (0, 1):
            out = self.folder / "stopped.h5"
            job = subprocess.Popen(self.command(2, "run", self.write(config), "-o", out, "--overwrite", "--threads", 1, at_once=True),
                                   stderr=subprocess.PIPE, text=True, **held("at:1000"))
            self.addCleanup(job.kill)
            ranks = self.ranks_of(job.pid)
            self.assertTrue(wait_for(Path(f"{out}.partial").exists))  # all of them listen
            os.kill(ranks[which], signal.SIGUSR1)
            _, said = job.communicate(timeout=60)
            self.assertEqual(job.returncode, STOPPED, said)
            self.assertEqual(said.count("stopping; giving photons in flight"), 1, said)
            summary = self.summary(out)
            self.assertEqual((summary["complete"], summary["in_flight"], summary["photons"]), (False, 0, 1000))
            self.launch(3, "continue", out)
            self.assert_equal(whole, out)

    def test_a_rank_that_is_killed_ends_the_job(self):
        config = {**ENDLESS, "outputs": ENDLESS["outputs"][1:]}
        for which in (0, 1):
            out = self.folder / "killed.h5"
            job = subprocess.Popen(self.command(2, "run", self.write(config), "-o", out, at_once=True), stderr=subprocess.PIPE, text=True)
            self.addCleanup(job.kill)
            ranks = self.ranks_of(job.pid)
            self.assertTrue(wait_for(Path(f"{out}.partial").exists))  # the run has begun
            os.kill(ranks[which], signal.SIGKILL)
            _, said = job.communicate(timeout=60)
            self.assertNotEqual(job.returncode, DONE)
            self.assertIn("signal 9", said)
            self.assertFalse(out.exists())
            self.assertTrue(wait_for(lambda: not any(self.is_running(rank) for rank in ranks)), "no rank outlives the job")
            Path(f"{out}.partial").unlink(missing_ok=True)

    def test_after_a_kill_it_goes_on_from_the_last_checkpoint(self):
        config, out = sphere(1e3, 3000, outputs=[SPECTRUM]), self.folder / "kept.h5"
        often = ("--checkpoint", 0.001, "--threads", 1)
        job = subprocess.Popen(self.command(3, "run", self.write(config), "-o", out, *often, at_once=True), stderr=subprocess.PIPE,
                               text=True, **held("at:500"))
        self.addCleanup(job.kill)
        ranks = self.ranks_of(job.pid, 3)
        self.assertTrue(wait_for(out.exists), "the first checkpoint")
        os.kill(ranks[1], signal.SIGKILL)
        job.communicate(timeout=30)
        self.assertNotEqual(job.returncode, DONE)
        summary = self.summary(out)
        self.assertEqual((summary["complete"], summary["in_flight"]), (False, 0))
        self.launch(2, "continue", out, "--threads", 1)
        self.assert_equal(self.run_thor(config, "--device", "cpu"), out)

    def test_until_goes_on_after_a_kill(self):
        """On another number of ranks, to the photons of one process that was not killed."""
        config = {**sphere(1e3, 500, outputs=[SPECTRUM]), "until": {"output": "s", "error": "4%", "of": "peak"}}
        whole, out = self.run_thor(config, "--device", "cpu"), self.folder / "kept.h5"
        job = subprocess.Popen(self.command(2, "run", self.write(config), "-o", out, "--checkpoint", 0.001, "--threads", 1, at_once=True),
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        ranks = self.ranks_of(job.pid)
        self.assertTrue(wait_for(out.exists), "the first checkpoint")
        os.kill(ranks[1], signal.SIGKILL)
        job.communicate(timeout=30)
        if not self.summary(out)["complete"]:
            self.launch(3, "run", self.folder / "config.yaml", "-o", out, "--restart", out, "--threads", 1)
        self.assert_equal(whole, out)

    def test_an_error_is_said_once(self):
        config = sphere(1, 10, outputs=[SPECTRUM])
        for path, arguments, code, says in (
            (self.folder / "none.yaml", (), USAGE, "configuration file missing"),
            ("-", (), USAGE, "stdin is that of one rank only"),
            (self.write(config), ("-o", self.folder / "no/out.h5"), OUTPUT, "there is no directory"),
        ):
            done = self.launch(3, "run", path, *arguments, expect=code)
            self.assertEqual(done.stderr.count("thor: error:"), 1, done.stderr)
            self.assertIn(says, done.stderr)

    def test_a_library_that_serves_one_thread_only(self):
        """Several threads of a rank call MPI, one at a time: without MPI_THREAD_SERIALIZED a run is refused."""
        (self.folder / "funneled.c").write_text("int PMPI_Init_thread(int*, char***, int, int*);\n"
                                                "int MPI_Init_thread(int* n, char*** words, int wanted, int* given) {\n"
                                                "  const int code = PMPI_Init_thread(n, words, wanted, given);\n"
                                                "  *given = 1;\n"
                                                "  return code;\n"
                                                "}\n")
        library = self.folder / "funneled.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, self.folder / "funneled.c"], check=True)
        command = self.command(2, "run", self.write(sphere(1, 10, outputs=[SPECTRUM])), "-o", self.folder / "out.h5")
        command[1:1] = ["-x", f"LD_PRELOAD={library}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, DEVICE, done.stderr)
        self.assertIn("MPI_THREAD_SERIALIZED is missing", done.stderr)

    def test_what_one_process_does(self):
        command = self.command(2, "mock", "galaxy", "--gas-particles", 100, "-o", self.folder / "mock.hdf5")[:-2]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertEqual(done.stderr.count("thor mock is done by one process: start it without mpirun"), 1, done.stderr)

    def test_ranks_that_have_read_different_files(self):
        """As of disks of several machines, on which a name is not the same file."""
        for name, density in (("0", 1e-5), ("1", 1e-4)):
            (self.folder / name).mkdir()
            write_grid(self.folder / name / "grid.h5", n=4, density=density)
        config = self.write({**sphere(1, 10, outputs=[SPECTRUM]), "dataset": {"type": "uniform_grid", "path": "grid.h5"}})
        for name in "01":
            shutil.copy(config, self.folder / name / "config.yaml")
        command = self.command(2, "run", "config.yaml", "-o", self.folder / "out.h5")
        at = command.index(support.THOR)
        command[at:] = ["sh", "-c", 'cd $OMPI_COMM_WORLD_RANK && exec "$@"', "sh", *command[at:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=self.folder)
        self.assertEqual(done.returncode, INPUT, done.stderr)
        self.assertIn("different configurations or input files", done.stderr)
        self.assertFalse((self.folder / "out.h5").exists())

    def test_memory_is_that_of_all_ranks_of_a_machine(self):
        """A grid that one process has room for, but not two. Its cells are not in the file, nor are they read."""
        free = next(int(line.split()[1]) * 1024 for line in Path("/proc/meminfo").read_text().splitlines() if "MemAvailable" in line)
        n = int((0.7 * free / 20) ** (1 / 3))
        with h5py.File(self.folder / "grid.h5", "w") as file:
            file.attrs.update({"cell_size": KPC, "origin_x": 0., "origin_y": 0., "origin_z": 0.})
            for name in ("HI_density", "HI_temperature", "HI_velocity_x", "HI_velocity_y", "HI_velocity_z"):
                # Room in the file, but nothing in it: unwritten chunks would be refused first.
                plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
                plan.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
                made = h5py.h5d.create(file.id, name.encode(), h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((n, n, n)), plan)
                h5py.Dataset(made).attrs["units"] = "km s-1" if "velocity" in name else ""
        config = {"line": "Lya", "dataset": {"type": "uniform_grid", "path": "grid.h5"}, "outputs": [SPECTRUM], "output": {"path": "o.h5"},
                  "generators": [{"type": "point", "photons": 10, "luminosity": "1e40 erg/s"}]}
        done = self.launch(2, "run", self.write(config), "-o", self.folder / "out.h5", expect=INPUT)
        self.assertRegex(done.stderr, rf"a grid of {n} x {n} x {n} cells takes .* on each of 2 ranks of this machine, .* are free for each")
        self.assertIn("--domains", done.stderr)

    def test_a_limit_of_time(self):
        config = {**ENDLESS, "outputs": ENDLESS["outputs"][1:]}
        out = self.on_ranks(3, config, "--max-walltime", 0.1, "--drain", 0, expect=STOPPED)
        self.assertEqual(self.done.stderr.count("the wall-clock limit is reached"), 1, self.done.stderr)
        summary = self.summary(out)
        self.assertFalse(summary["complete"])
        self.assertGreater(summary["in_flight"], 3)


if __name__ == "__main__":
    main()
