"""Raw photons of runs on several ranks: a file for each, which thor merge joins to what one process writes.

    /usr/bin/python3 tests/mpi/test_merge.py --thor build/dev/thor [unittest arguments]

All ranks are on this machine, more of them than it has cores.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import support  # noqa: E402
from configurations import ENDLESS, sphere  # noqa: E402
from support import (  # noqa: E402
    Case, DONE, INPUT, KPC, OUTPUT, STOPPED, USAGE, as_nobody, command_line, held, limited, main, mounted, on_grid, read_package, text, thor,
    wait_for, write_grid)
from test_ranks import FACE, IMAGE, SPECTRUM, RankCase  # noqa: E402

RANKS = (2, 3, 4) if support.THOROUGH > 1 else (3,)
PHOTONS, PEEL = {"type": "photons"}, {"type": "photons", "of": "peel", "observer": "face"}
#: What says how a run was done, and when.
PASSING = {"transport_seconds", "threads", "ranks", "date", "device"}


def sorted_rows(group):
    """The columns of a group of photons, in an order that depends on the rows alone."""
    columns = {name: data[()] for name, data in group.items()}
    keys = [column for name in sorted(columns, reverse=True) if name != "id" for column in np.atleast_2d(columns[name].T)]
    order = np.lexsort([*keys, columns["id"]])
    return {name: data[order] for name, data in columns.items()}


def everything(path, but=PASSING):
    """All that a file holds: arrays with their types and chunks, attributes, and photons in the order of their ids."""
    found = {}
    with h5py.File(path) as file:
        def visit(name, item):
            for key, value in item.attrs.items():
                if key not in but:
                    found[f"{name} {key}"] = repr(np.asarray(value).tolist())
            if isinstance(item, h5py.Dataset):
                found[f"{name} layout"] = (item.shape, item.dtype.str, item.chunks, item.maxshape, item.compression)
                if not name.startswith("photons/"):
                    found[name] = item[()].tobytes()
        visit("", file)
        file.visititems(visit)
        for group in file.get("photons", ()):
            for name, rows in sorted_rows(file["photons"][group]).items():
                found[f"rows of {group} {name}"] = rows.tobytes()
    return found


class MergeCase(RankCase):
    def setUp(self):
        super().setUp()
        self.config = {**sphere(100, 300, outputs=[PHOTONS, PEEL, SPECTRUM, IMAGE], dust={"tau": 0.3}), **FACE}
        self.out = self.folder / "out.h5"

    def on_ranks(self, ranks, config=None, *arguments, out=None, **how):
        self.done = self.launch(ranks, "run", self.write(config or self.config), "-o", out or self.out, *arguments, **how)
        return self.done.stderr

    def merge(self, *arguments, expect=DONE, path=None, **options):
        done = thor("merge", path or self.out, *arguments, **options)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stderr

    def part(self, rank, out=None):
        out = out or self.out
        return out.with_name(f"{out.stem}.{rank}{out.suffix}")

    def names(self, folder=None):
        return sorted(path.name for path in (folder or self.folder).iterdir() if path.suffix != ".yaml")

    def state(self):
        """Every file of the folder, byte for byte."""
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def assert_same(self, one, other):
        a, b = everything(one), everything(other)
        self.assertEqual(a.keys(), b.keys())
        self.assertEqual([key for key in a if a[key] != b[key]], [])
        self.assertGreater(len(a), 60)

    def assert_as_alone(self, ranks, config=None, *arguments):
        """A run on ranks, joined, is that of one process, which has no limits or domains."""
        config = config or self.config
        alone = self.run_thor(config, "--device", "cpu")
        self.on_ranks(ranks, config, "--overwrite", *arguments)
        self.merge("--remove")
        self.assert_same(alone, self.out)


class Same(MergeCase):
    """A joined result is what one process writes, to the last bit."""

    def rows(self, rank):
        with h5py.File(self.part(rank)) as file:
            return len(file["photons/original/id"])

    def test_a_dusty_sphere_with_an_observer(self):
        config = {**self.config, "generators": [{**self.config["generators"][0], "photons": 3000}]}
        alone = self.run_thor(config, "--device", "cpu")
        for ranks in RANKS:
            for _ in range(5):  # on a busy machine one rank may have done all before the next begins
                said = self.on_ranks(ranks, config, "--overwrite")
                if sorted(self.rows(rank) for rank in range(ranks))[-2] > 0:
                    break
            self.assertIn(f"`thor merge {self.out}` joins them", said)
            rows = []
            for rank in range(ranks):
                with h5py.File(self.part(rank)) as file:
                    rows.append(len(file["photons/original/id"]))
                    self.assertEqual((file["part"].attrs["rank"], file["part"].attrs["ranks"]), (rank, ranks))
            self.assertEqual(sum(rows), 3000)
            self.assertGreater(sorted(rows)[-2], 0, "more than one rank had photons")
            self.merge("--remove")
            self.assertEqual(self.names(), ["out.h5", "run1.h5"])
            self.assert_same(alone, self.out)
        other = self.run_thor(config, "--device", "cpu", "--seed", 2)
        self.assertNotEqual(everything(alone), everything(other), "the twin: another seed")

    def test_rows_of_many_chunks(self):
        """More rows than a block has, of one output of photons only, some of whose fields are kept."""
        config = sphere(1e-3, 150_000, outputs=[{"type": "photons", "fields": ["id", "position"]}, SPECTRUM])
        self.assert_as_alone(3, config)
        with h5py.File(self.out) as file:
            self.assertEqual(file["photons/original/position"].chunks, (65536, 3))
            self.assertEqual(len(np.unique(file["photons/original/id"])), 150_000)

    def test_light_of_an_observer_alone(self):
        self.assert_as_alone(2, {**self.config, "outputs": [PEEL, SPECTRUM, IMAGE]})

    def test_fewer_photons_than_ranks(self):
        self.config["generators"][0]["photons"] = 2
        self.assert_as_alone(4)

    def test_domains(self):
        """Photons and rays travel between the parts of a grid, and end on some rank."""
        grid = self.folder / "grid.h5"
        write_grid(grid, n=12, cell=0.1 * KPC, density=1e-6)
        config = {**on_grid("grid.h5", 2000, 1.2 * KPC, outputs=[PHOTONS, PEEL, SPECTRUM]), **FACE}
        alone = self.run_thor(config, "--device", "cpu")
        for ranks in RANKS:
            self.on_ranks(ranks, config, "--domains", ranks, "--margin", 1, "--overwrite")
            ends = [self.summary_of_part(rank) for rank in range(ranks)]
            self.assertGreater(min(ends), 0, "photons end on every rank")
            self.merge()
            with h5py.File(self.out, "a") as file:
                self.assertEqual(file["domains"].attrs["count"], ranks)
                del file["domains"]
            self.assert_same(alone, self.out)

    def summary_of_part(self, rank):
        with h5py.File(self.part(rank)) as file:
            return len(file["photons/original/id"])

    def test_zarr(self):
        alone, out = self.folder / "alone.zarr", self.folder / "out.zarr"
        done = thor("run", self.write(self.config), "-o", alone, "--device", "cpu")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.on_ranks(3, out=out)
        self.assertEqual([self.part(rank, out).is_dir() for rank in range(4)], [True, True, True, False])
        self.merge("-o", self.folder / "all.h5", path=out)
        self.merge("--remove", path=f"{out}/")
        self.assertEqual(self.names(), ["all.h5", "alone.zarr", "out.zarr"])
        package = read_package()
        with package.open(str(alone)) as one, package.open(str(out)) as other:
            for a, b in ((one.photons, other.photons), (one.peel, other.peel)):
                self.assertEqual(sorted(a), sorted(b))
                for name, rows in sorted_rows({name: a[name] for name in a}).items():
                    np.testing.assert_array_equal(rows, sorted_rows({name: b[name] for name in b})[name])
            np.testing.assert_array_equal(one.spectra["s"].flux, other.spectra["s"].flux)
        self.assert_same(self.run_thor(self.config, "--device", "cpu"), self.folder / "all.h5")

    def test_a_run_that_is_cut(self):
        """Photons in flight are in the file of the rank that had them."""
        said = self.on_ranks(3, ENDLESS, "--max-walltime", 0.1, "--drain", 0, expect=STOPPED)
        self.assertIn("thor merge", said)
        self.merge("--remove")
        summary = self.assert_closed(self.out)
        self.assertGreater(summary["in_flight"], 3)


class Written(MergeCase):
    """The files of ranks, before they are joined."""

    def test_parts_of_an_earlier_run_go_with_its_result(self):
        """On more ranks, or with raw photons; files of others stay."""
        self.on_ranks(3)
        other = self.part(7)
        shutil.copy(self.part(2), other)
        self.on_ranks(2, None, "--overwrite")
        self.assertEqual(self.names(), ["out.0.h5", "out.1.h5", "out.7.h5", "out.h5"])
        self.merge()
        self.on_ranks(3, None, "--overwrite")
        shutil.copy(other, self.part(1))  # of another run
        self.on_ranks(2, {**self.config, "outputs": [SPECTRUM, IMAGE]}, "--overwrite")
        self.assertEqual(self.names(), ["out.1.h5", "out.7.h5", "out.h5"])

    def test_names_that_are_taken(self):
        """All are looked at before any work is done, and all are replaced with --overwrite."""
        for name in ("out.h5", "out.0.h5", "out.2.h5"):
            with self.subTest(name=name):
                (self.folder / name).write_text("mine")
                said = self.on_ranks(3, ENDLESS, expect=OUTPUT)
                self.assertEqual(said.count("thor: error: cannot write"), 1, said)
                self.assertRegex(said, rf"cannot write '\S*/{name}': the file exists: use --overwrite")
                self.assertEqual(self.names(), [name])
                self.assertEqual((self.folder / name).read_text(), "mine")
                if name != "out.h5":  # what is no part of a run stays
                    said = self.on_ranks(3, None, "--overwrite", expect=OUTPUT)
                    self.assertRegex(said, rf"{name}': it does not hold the raw photons of rank \d of another run: move or remove it")
                    self.assertEqual((self.folder / name).read_text(), "mine")
                    (self.folder / name).unlink()
                self.on_ranks(3, None, "--overwrite")
                self.assertEqual(self.names(), ["out.0.h5", "out.1.h5", "out.2.h5", "out.h5"])
                self.merge("--remove")
                self.out.unlink()

    def test_a_result_with_the_name_of_a_part_stays(self):
        """As of a run on one rank whose result is called so."""
        other = self.run_thor(sphere(1, 10)).rename(self.part(0))
        before = other.read_bytes()
        self.on_ranks(2, None, "--overwrite", expect=OUTPUT)
        self.assertEqual((self.names(), other.read_bytes()), (["out.0.h5"], before))

    def test_permissions(self):
        """Of the result that is joined, and of the parts that are replaced."""
        self.on_ranks(2)
        for path in (self.out, self.part(0), self.part(1)):
            path.chmod(0o600)
        self.on_ranks(2, None, "--overwrite")
        self.assertEqual({path.stat().st_mode & 0o777 for path in (self.out, self.part(0), self.part(1))}, {0o600})
        self.out.chmod(0o400)
        self.assertIn("it is read-only", self.merge(expect=OUTPUT))
        self.out.chmod(0o600)
        self.merge()
        self.assertEqual(self.out.stat().st_mode & 0o777, 0o600)

    def test_an_input_is_not_replaced(self):
        grid = self.part(1)
        write_grid(grid, n=4)
        said = self.on_ranks(2, on_grid(grid, 10, 4e20, outputs=[PHOTONS]), "--overwrite", expect=OUTPUT)
        self.assertIn("it is also the input", said)
        self.assertEqual(self.names(), ["out.1.h5"])
        self.assertIn("HI_density", h5py.File(grid))

    def test_a_disk_that_is_full_keeps_the_spectra(self):
        """Of one rank, whose file is a link to a small disk; at the end or in mid-run, where the run goes on without photons of any."""
        for number, (photons, rank) in enumerate(((4000, 0), (4000, 1), (400_000, 0), (400_000, 1))):
            with self.subTest(photons=photons, rank=rank), mounted(self, self.folder / f"disk{number}", "size=16k") as disk:
                config = sphere(100 if photons < 10_000 else 1e-3, photons, outputs=[PHOTONS, SPECTRUM])
                self.part(rank).symlink_to(disk / "part.h5")
                for _ in range(5):  # on a busy machine one rank may have done all before the next begins
                    said = self.on_ranks(2, config, "--overwrite", expect=OUTPUT, at_once=True)  # all come to the end
                    goes_on = said.count("the run goes on, and keeps all but raw photons")
                    if goes_on == int(photons > 4000):
                        break
                self.assertRegex(said, r"raw photons are not in the file.*part.h5.*No space left")
                self.assertEqual(goes_on, int(photons > 4000), said)
                self.assertEqual(self.names(disk), [])
                self.part(rank).unlink()
                self.assertEqual([name for name in self.names() if name.startswith("out")], ["out.h5"])
                with h5py.File(self.out) as file, h5py.File(self.run_thor(config, "--device", "cpu")) as wanted:
                    np.testing.assert_array_equal(file["spectra/s/flux"][()], wanted["spectra/s/flux"][()])
                    self.assertNotIn("parts", file)
                    self.assertTrue(file["summary"].attrs["complete"])
                    self.assertIn("raw photons are not in the file", text(file["summary"].attrs["caveats"]))
                self.assertIn("it has no parts to join", self.merge(expect=INPUT))
                self.out.unlink()

    def test_a_small_disk_that_is_large_enough(self):
        """The twin of the disk that is full; a link stays one."""
        with mounted(self, self.folder / "disk", "size=2M") as disk:
            self.part(1).symlink_to(disk / "part.h5")
            self.on_ranks(2)
            self.assertTrue(self.part(1).is_symlink())
            self.assertEqual(self.names(disk), ["part.h5"])
            self.merge()

    def test_too_little_room_is_found_before_a_run(self):
        with mounted(self, self.folder / "disk", "size=1M") as disk:
            said = self.on_ranks(2, sphere(1e7, 10**8), expect=OUTPUT, out=disk / "out.h5")
            self.assertRegex(said, r"needs \d\S* GB, but only \d\S* [kM]B are free")
            self.assertEqual(self.names(disk), [])

    def test_a_signal(self):
        job = subprocess.Popen(self.command(2, "run", self.write(ENDLESS), "-o", self.out, "--drain", 0, at_once=True),
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        self.assertTrue(wait_for(lambda: self.part(1).with_name("out.1.h5.partial").exists()))
        os.kill(self.ranks_of(job.pid)[1], signal.SIGUSR1)
        _, said = job.communicate(timeout=60)
        self.assertEqual(job.returncode, STOPPED, said)
        self.assertEqual(self.names(), ["out.0.h5", "out.1.h5", "out.h5"])
        self.merge("--remove")
        self.assert_closed(self.out)

    def test_a_rank_that_is_killed(self):
        """Nothing has its name yet, and what is left behind is no obstacle for the next run."""
        job = subprocess.Popen(self.command(2, "run", self.write(ENDLESS), "-o", self.out, at_once=True), stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        self.assertTrue(wait_for(lambda: self.part(1).with_name("out.1.h5.partial").exists()))
        ranks = self.ranks_of(job.pid)
        os.kill(ranks[1], signal.SIGKILL)
        job.communicate(timeout=30)
        self.assertEqual([name for name in self.names() if not name.endswith(".partial")], [])
        self.assertTrue(wait_for(lambda: not any(self.is_running(rank) for rank in ranks)))
        self.on_ranks(2)
        self.assertEqual(self.names(), ["out.0.h5", "out.1.h5", "out.h5"])

    def test_a_name_that_is_taken_during_the_run(self):
        """No photon is lost: the file keeps its other name."""
        job = subprocess.Popen(self.command(2, "run", self.write(ENDLESS), "-o", self.out, "--drain", 0),
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        self.assertTrue(wait_for(lambda: self.part(1).with_name("out.1.h5.partial").exists()))
        self.part(1).write_text("mine")
        os.kill(self.ranks_of(job.pid)[1], signal.SIGUSR1)
        _, said = job.communicate(timeout=60)
        self.assertEqual(job.returncode, OUTPUT, said)
        self.assertRegex(said, "out.1.h5': the file appeared during the run.*kept as")
        self.assertEqual(self.part(1).read_text(), "mine")
        self.part(1).with_name("out.1.h5.partial").rename(self.part(1))
        self.merge("--remove")
        self.assert_closed(self.out)

    def test_what_is_said_of_them(self):
        self.on_ranks(2)
        self.assertIn(f"raw photons are in {self.part(0)}, {self.part(1)}: `thor merge {self.out}`", thor("info", self.out).stdout)
        self.assertIn('"parts"', thor("info", self.out, "--json").stdout)
        for done in (thor("info", self.part(1)), thor("export", self.part(1), "--txt")):
            self.assertEqual(done.returncode, INPUT)
            self.assertIn("the raw photons of rank 1 of 2", done.stderr)
        done = thor("continue", self.out, "--photons", 10)
        self.assertEqual(done.returncode, INPUT)
        self.assertIn("raw photons", done.stderr)
        package = read_package()
        with package.open(str(self.out)) as result:
            for rows in (result.photons, result.peel):
                with self.assertRaisesRegex(package.MissingError, "2 files.*thor merge .*out.h5"):
                    rows["id"]
        with self.assertRaisesRegex(package.ResultError, "rank 1 of 2.*thor merge"):
            package.open(str(self.part(1)))
        self.merge("--remove")
        self.assertNotIn("parts ", thor("info", self.out).stdout)
        with package.open(str(self.out)) as result:
            self.assertEqual(len(result.photons), 300)


class Refused(MergeCase):
    """What cannot be joined is refused, and no file is touched."""

    made = {}  # the files of a run on three ranks, by name: run once

    def setUp(self):
        super().setUp()
        if not self.made:
            self.on_ranks(3)
            self.made.update({name: (self.folder / name).read_bytes() for name in self.names()})
        self.write(self.config)
        for name, data in self.made.items():
            (self.folder / name).write_bytes(data)

    def assert_refused(self, says, *arguments, expect=INPUT, path=None, **options):
        before = self.state()
        said = self.merge(*arguments, expect=expect, path=path, **options)
        self.assertRegex(said, says)
        self.assertEqual(self.state(), before)
        self.assertEqual(said.count("thor: error:"), 1, said)

    def test_a_part_that_is_missing(self):
        self.part(2).rename(self.folder / "kept")
        self.assert_refused(r"out.2.h5: .*rank 2 of 3: .*out.h5")
        (self.folder / "kept").rename(self.part(2))
        self.merge()

    def test_a_part_of_another_run(self):
        """Of the same configuration, which may have dealt its photons in another way."""
        other = self.folder / "other.h5"
        self.on_ranks(3, out=other)
        shutil.copy(self.part(1, other), self.part(1))
        self.assert_refused(r"out.1.h5: .*another run than \S*out.h5")

    def test_a_part_twice(self):
        shutil.copy(self.part(0), self.part(1))
        self.assert_refused("out.1.h5: .*rank 0; .*rank 1")

    def test_a_part_that_was_changed(self):
        for name, value in (("config", "line: Lya\n"), ("seed", np.uint64(7)), ("git_commit", "none")):
            with self.subTest(name=name):
                whole = self.part(1).read_bytes()
                with h5py.File(self.part(1), "a") as file:
                    file.attrs[name] = value
                self.assert_refused(f"out.1.h5: its attribute {name} is not that of")
                self.part(1).write_bytes(whole)
        self.merge()

    def test_a_part_that_is_damaged(self):
        whole = self.part(1).read_bytes()
        for share in (0, 0.3, 0.9):
            with self.subTest(share=share):
                self.part(1).write_bytes(whole[:int(share * len(whole))])
                self.assert_refused("out.1.h5.*(truncated|damaged|not an HDF5 file)")
        self.part(1).write_bytes(whole)
        for change, says in ((lambda group: group["id"].resize(5, axis=0), "photons/original/id has 5 rows, and there were"),
                             (lambda group: group.pop("id"), "it has other columns than"),
                             (lambda group: (group.pop("id"), group.create_dataset("id", data=[1.0])), "id is not as in")):
            with self.subTest(says=says):
                with h5py.File(self.part(1), "a") as file:
                    change(file["photons/original"])
                self.assert_refused(f"out.1.h5: the file is damaged: .*{says}")
                self.part(1).write_bytes(whole)
        self.merge()

    def test_any_byte_that_is_damaged(self):
        """It is refused, or only numbers in an array have changed: no crash, and nothing is lost."""
        whole, random = self.part(1).read_bytes(), np.random.default_rng(1)
        refused = 0
        for place in random.integers(0, min(len(whole), 20_000), 25):
            self.part(1).write_bytes(whole[:place] + bytes(64) + whole[place + 64:])
            done = thor("merge", self.out, "-o", self.folder / "all.h5", "--overwrite")
            self.assertIn(done.returncode, (DONE, INPUT), done.stderr)
            refused += done.returncode == INPUT
        self.assertGreater(refused, 0)

    def test_results_without_parts(self):
        alone = self.run_thor(self.config, "--device", "cpu")
        self.assert_refused("run1.h5: it has its photons already", path=alone)
        self.assert_refused("run2.h5: it has no parts to join", path=self.run_thor({**self.config, "outputs": [SPECTRUM]}))
        self.assert_refused("out.1.h5: it has the photons of rank 1 of 3: give the name of the result", path=self.part(1))
        self.assert_refused("none.h5: there is no such file", path=self.folder / "none.h5")
        self.assert_refused("not an HDF5 file", path=self.folder / "config.yaml")
        grid = self.folder / "grid.h5"
        write_grid(grid, n=2)
        self.assert_refused("grid.h5: not a result of thor", path=grid)
        self.merge()
        self.assert_refused("out.h5: it has its photons already")

    def test_a_file_that_cannot_be_read(self):
        with as_nobody(self, self.folder) as nobody:
            self.folder.chmod(0o777)
            self.part(1).chmod(0o600)
            if os.geteuid() != 0:
                self.part(1).chmod(0)
            self.assert_refused("out.1.h5: .*not readable", "-o", self.folder / "all.h5", **nobody)

    def test_other_names(self):
        self.assert_refused("it is also the input", "-o", self.out, "--overwrite", expect=OUTPUT)
        self.assert_refused("it is also the input", "-o", self.part(2), "--overwrite", expect=OUTPUT)
        self.assert_refused("ends in .h5 or .zarr", "-o", self.folder / "all.fits", expect=USAGE)
        self.assert_refused("excludes", "-o", self.folder / "all.h5", "--remove", expect=USAGE)
        self.assert_refused("there is no directory", "-o", self.folder / "no/all.h5", expect=OUTPUT)
        other = self.folder / "all.h5"
        other.write_text("mine")
        self.assert_refused("the file exists: use --overwrite", "-o", other, expect=OUTPUT)
        before = self.state()
        self.merge("-o", other, "--overwrite")
        after = self.state()
        self.assertNotEqual(before.pop("all.h5"), after.pop("all.h5"))
        self.assertEqual(before, after)
        self.merge()
        self.assert_same(self.out, other)

    def test_a_disk_that_is_full(self):
        self.assert_refused("File too large|No space left", expect=OUTPUT, **limited(resource.RLIMIT_FSIZE, 30_000))
        with mounted(self, self.folder / "disk", "size=1M") as disk:
            for path in (self.out, *(self.part(rank) for rank in range(3))):
                shutil.copy(path, disk)
            (disk / "other").write_bytes(bytes(1024 * 1024 - sum(path.stat().st_size for path in disk.iterdir()) - 50_000))
            before = {path.name: path.read_bytes() for path in disk.iterdir()}
            said = self.merge(path=disk / "out.h5", expect=OUTPUT)
            self.assertRegex(said, r"it needs \S* kB, but \S* kB are free: free some space")
            self.assertEqual({path.name: path.read_bytes() for path in disk.iterdir()}, before)


class Stopped(MergeCase):
    def test_a_signal_leaves_all_as_it_was(self):
        config = sphere(1e-3, 1_500_000, outputs=[PHOTONS, SPECTRUM])
        self.on_ranks(2, config)
        before = [(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(self.folder.iterdir())]
        job = subprocess.Popen(command_line("merge", self.out, "--remove"), stderr=subprocess.PIPE, text=True, **held("writing"))
        self.addCleanup(job.kill)
        self.assertTrue(wait_for((self.folder / "out.h5.partial").exists))
        job.send_signal(signal.SIGTERM)
        _, said = job.communicate(timeout=60)
        self.assertEqual(job.returncode, STOPPED, said)
        after = [(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(self.folder.iterdir())]
        self.assertEqual(before, after)
        # Photons are joined in blocks.
        peak = self.peak_memory("merge", self.out)
        self.assertGreater(self.out.stat().st_size, 150e6)
        self.assertLess(peak, 100e6)

    def peak_memory(self, *arguments):
        with subprocess.Popen(command_line(*arguments), stderr=subprocess.PIPE, text=True) as job:
            said = job.stderr.read()
            _, job.returncode, usage = os.wait4(job.pid, 0)
        self.assertEqual(job.returncode, 0, said)
        return usage.ru_maxrss * 1024


if __name__ == "__main__":
    main()
