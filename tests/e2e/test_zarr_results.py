"""Results that are zarr directories: the same as HDF5 files, by the same rules, and damaged ones.

    /usr/bin/python3 tests/e2e/test_zarr_results.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import ENDLESS, sphere, wide_spectra  # noqa: E402
from support import Case, DONE, INPUT, command_line, is_locked, limited, main, read_package, thor, wait_for  # noqa: E402

USAGE, STOPPED, OUTPUT = 2, 5, 6
MAP = {"type": "histogram", "name": "map", "axes": [
    {"quantity": "impact", "range": ["0 kpc", "1 kpc"], "bins": 7},
    {"quantity": "velocity", "range": ["-60 km/s", "60 km/s"], "bins": 5}]}
CONFIG = sphere(10, 70_000, outputs=[{"type": "photons"}, *wide_spectra(1, bins=40), MAP])


class ZarrResults(Case):
    def setUp(self):
        super().setUp()
        self.package = read_package()
        self.config = self.write(sphere(10, 300, outputs=CONFIG["outputs"]))

    def test_it_holds_what_an_hdf5_file_holds(self):
        config = self.write(CONFIG)  # photons in two chunks
        results = []
        for name, threads in (("a.h5", 2), ("b.zarr", 1), ("c.zarr/", 2)):
            done = thor("run", config, "-o", f"{self.folder}/{name}", "--threads", threads)
            self.assertEqual(done.returncode, DONE, done.stderr)
            results.append(self.package.open(self.folder / name))
        hdf5, *zarrs = results
        for zarr in zarrs:
            for key, value in hdf5.summary.items():
                if key not in ("transport_seconds", "threads"):
                    self.assertEqual(zarr.summary[key], value, key)
            self.assertEqual(zarr.config, hdf5.config)
            for name in ("flux", "error", "edges"):
                np.testing.assert_array_equal(getattr(zarr.spectra["s0"], name), getattr(hdf5.spectra["s0"], name))
            np.testing.assert_array_equal(zarr.histograms["map"].luminosity, hdf5.histograms["map"].luminosity)
            np.testing.assert_array_equal(zarr.histograms["map"].error, hdf5.histograms["map"].error)
            self.assertEqual(len(zarr.photons), 70_000)
            self.assertEqual(list(zarr.photons), list(hdf5.photons))
            order = [np.argsort(result.photons["id"]) for result in (zarr, hdf5)]
            for name in hdf5.photons:
                np.testing.assert_array_equal(zarr.photons[name][order[0]], hdf5.photons[name][order[1]], name)
                self.assertEqual(zarr.photons.units(name), hdf5.photons.units(name))
            self.assertEqual(str(zarr).split("work")[0].replace(zarr.path, ""), str(hdf5).split("work")[0].replace(hdf5.path, ""))

    def test_the_histogram_is_that_of_the_photons(self):
        out = self.folder / "a.zarr"
        self.assertEqual(thor("run", self.config, "-o", out).returncode, DONE)
        result = self.package.open(out)
        photons, found = result.photons.escaped, result.histograms["map"]
        impact = np.linalg.norm(np.cross(photons["position"], photons["direction"]), axis=1)
        values, edges = (impact, photons["velocity_final"]), [found.edges[axis] for axis in found.axes]
        expected = np.histogram2d(*values, bins=edges, weights=photons["weight"])[0]
        np.testing.assert_allclose(found.luminosity, expected, rtol=8e-9, atol=1e20)  # 2^-27 of a photon
        squares = np.histogram2d(*values, bins=edges, weights=photons["weight"] ** 2)[0]
        np.testing.assert_allclose(found.error**2, squares, rtol=1e-6, atol=1e60)
        self.assertEqual(found.error_method, "histories")
        np.testing.assert_allclose(found.along("impact").luminosity, expected.sum(axis=1), rtol=8e-9, atol=1e20)
        # Photons of equal weight: the VOV is 1/n - 1/N.
        count = np.histogram2d(*values, bins=edges)[0]
        some = count > 0
        np.testing.assert_allclose(found.vov[some], 1 / count[some] - 1 / 300, rtol=1e-6, atol=1e-9)
        trusted = some & (found.error <= 0.2 * found.luminosity) & (found.vov <= 0.1)
        self.assertAlmostEqual(found.trusted, np.sum(found.luminosity[trusted]) / np.sum(found.luminosity), delta=1e-7)

    def test_info(self):
        answers = []
        for name in ("a.h5", "b.zarr"):
            self.assertEqual(thor("run", self.config, "-o", self.folder / name).returncode, DONE)
            answers.append(json.loads(thor("info", "--json", self.folder / name).stdout))
            self.assertEqual(thor("info", "--config", self.folder / name).stdout, answers[-1]["attributes"]["config"])
            self.assertIn("/histograms/map/luminosity", thor("info", self.folder / name).stdout)
        hdf5, zarr = answers
        self.assertEqual(zarr["datasets"], hdf5["datasets"])
        self.assertEqual(zarr["summary"].keys(), hdf5["summary"].keys())
        self.assertEqual({k: type(v) for k, v in zarr["attributes"].items()}, {k: type(v) for k, v in hdf5["attributes"].items()})

    def test_the_name_decides(self):
        for name in ("a.hdf5", "a", "a.zarr.zip"):
            done = thor("run", self.config, "-o", self.folder / name)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn("ends in .h5 or .zarr", done.stderr)

    def test_what_is_there_stays(self):
        out = self.folder / "a.zarr"
        self.assertEqual(thor("run", self.config, "-o", out).returncode, DONE)
        before = (out / ".zattrs").read_text()
        done = thor("run", self.config, "-o", out)
        self.assertEqual(done.returncode, OUTPUT)
        self.assertIn("--overwrite", done.stderr)
        self.assertEqual((out / ".zattrs").read_text(), before)
        self.assertEqual(thor("run", self.config, "-o", out, "--overwrite", "--seed", 9).returncode, DONE)
        self.assertEqual(self.package.open(out).attributes["seed"], 9)
        other = self.folder / "mine.zarr"
        other.mkdir()
        (other / "diary").write_text("dear diary")
        done = thor("run", self.config, "-o", other, "--overwrite")
        self.assertEqual(done.returncode, OUTPUT)
        self.assertIn("not a zarr store", done.stderr)
        self.assertEqual((other / "diary").read_text(), "dear diary")

    def test_files_that_the_user_has_added_stay(self):
        """Notes, a configuration, another result: --overwrite does not remove them."""
        out = self.folder / "a.zarr"
        self.assertEqual(thor("run", self.config, "-o", out).returncode, DONE)
        config = shutil.copy(self.config, out / "config.yaml")
        done = thor("run", config, "-o", out, "--overwrite")
        self.assertEqual(done.returncode, OUTPUT)
        self.assertRegex(done.stderr, "thor did not write '.*config.yaml': move or remove it")
        self.assertTrue(config.exists())
        config.unlink()
        self.assertEqual(thor("run", self.config, "-o", out / "b.zarr").returncode, DONE)
        self.assertEqual(thor("run", self.config, "-o", out, "--overwrite").returncode, OUTPUT)
        self.package.open(out / "b.zarr")

    def test_a_foreign_store_stays(self):
        out = self.folder / "simulation.zarr"
        (out / "density").mkdir(parents=True)
        (out / ".zgroup").write_text('{"zarr_format": 2}')
        (out / ".zmetadata").write_text('{"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 2}}}')
        (out / "density/0").write_bytes(bytes(8))
        done = thor("run", self.config, "-o", out, "--overwrite")
        self.assertEqual(done.returncode, OUTPUT)
        self.assertIn("thor did not write this directory", done.stderr)
        self.assertTrue((out / "density/0").exists())

    def test_a_replaced_result_that_cannot_be_removed_is_told(self):
        def run(*arguments):
            """As an ordinary user: root may remove everything."""
            user = {"preexec_fn": lambda: os.setuid(65534)} if os.geteuid() == 0 else {}
            return subprocess.run(command_line("run", self.config, "-o", out, *arguments), capture_output=True, text=True,
                                  timeout=60, **user)
        out = self.folder / "a.zarr"
        self.folder.chmod(0o777)
        self.config.chmod(0o644)
        self.assertEqual(run().returncode, DONE)
        (out / "summary").chmod(0o555)
        done = run("--overwrite")
        left = self.folder / "a.zarr.replaced"
        self.addCleanup(lambda: (left / "summary").chmod(0o755))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stderr, f"warning: cannot remove all of the replaced '{left}' .Permission denied")
        self.assertEqual(run("--overwrite").returncode, DONE)  # what is left does not matter

    def test_names_that_no_directory_can_have(self):
        """They are refused before the run, not when it is to be written."""
        long = {**MAP, "name": "n" * 300}
        for name in ("check", "run"):
            done = thor(name, self.write(sphere(10, 300, outputs=[long]), "long.yaml"))
            self.assertEqual(done.returncode, USAGE)
            self.assertRegex(done.stderr, r"outputs\.0\.name: expected a name of at most 100 letters")
        lines = thor("lines", "--yaml").stdout
        for name in ("..", ".zattrs", "n" * 300):
            (self.folder / "lines.yaml").write_text(lines.replace("{name: Lya,", f'{{name: "{name}",', 1))
            done = thor("run", self.write({**sphere(10, 300), "line_list": "lines.yaml"}), "-o", self.folder / "b.zarr")
            self.assertEqual(done.returncode, INPUT, done.stderr)
            self.assertRegex(done.stderr, r"transitions\.0\.name: expected a name of at most 100")
        for name in (".zarr", ".h5"):
            done = thor("run", self.config, "-o", self.folder / name)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn("ends in .h5 or .zarr", done.stderr)

    def test_a_link_stays_a_link(self):
        target, link = self.folder / "target.zarr", self.folder / "link.zarr"
        self.assertEqual(thor("run", self.config, "-o", target).returncode, DONE)
        link.symlink_to(target)
        self.assertEqual(thor("run", self.config, "-o", link, "--overwrite", "--seed", 9).returncode, DONE)
        self.assertTrue(link.is_symlink())
        self.assertEqual(self.package.open(target).attributes["seed"], 9)

    def test_a_signal(self):
        out = self.folder / "a.zarr"
        partial = out.with_name("a.zarr.partial")
        job = subprocess.Popen(command_line("run", self.write(ENDLESS, "long.yaml"), "-o", out, "--drain", 0, "--threads", 1,
                                            "--progress", "never"), stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        self.assertTrue(wait_for(lambda: is_locked(partial)))
        done = thor("run", self.config, "-o", out)
        self.assertEqual(done.returncode, OUTPUT)
        self.assertIn("another run", done.stderr)
        job.send_signal(signal.SIGTERM)
        _, told = job.communicate(timeout=30)
        self.assertEqual(job.returncode, STOPPED, told)
        self.assertFalse(partial.exists())
        with self.assertWarns(self.package.IncompleteRunWarning):
            self.package.open(out)

    def test_what_a_killed_run_left_is_replaced(self):
        out = self.folder / "a.zarr"
        job = subprocess.Popen(command_line("run", self.write(ENDLESS, "long.yaml"), "-o", out, "--threads", 1), stderr=subprocess.DEVNULL)
        self.assertTrue(wait_for(out.with_name("a.zarr.partial").exists))
        job.kill()
        job.wait()
        self.assertTrue(out.with_name("a.zarr.partial").exists())
        self.assertEqual(thor("run", self.config, "-o", out).returncode, DONE)
        self.assertFalse(out.with_name("a.zarr.partial").exists())

    def test_a_limit_keeps_the_binned_outputs(self):
        out = self.folder / "a.zarr"
        done = subprocess.run(command_line("run", self.write(CONFIG), "-o", out), capture_output=True, text=True, timeout=60,
                              **limited(resource.RLIMIT_FSIZE, 100_000))
        self.assertEqual(done.returncode, OUTPUT, done.stderr)
        self.assertIn("raw photons are not in the file", done.stderr)
        result = self.package.open(out)
        self.assertEqual(len(result.photons), 0)
        self.assertGreater(result.histograms["map"].luminosity.sum(), 0)


class DamagedZarr(Case):
    """thor info and the Python reader answer with a message: exit code 3, ResultError."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="thor-e2e-")
        cls.addClassCleanup(folder.cleanup)
        cls.good = Path(folder.name) / "good.zarr"
        config = Path(folder.name) / "good.yaml"
        config.write_text(json.dumps(sphere(10, 300, outputs=CONFIG["outputs"])))
        assert thor("run", config, "-o", cls.good).returncode == DONE
        cls.package = read_package()

    def use(self, path):
        with self.package.open(path) as result:
            return [str(result), result.photons.array(), result.spectra, result.escape_fraction()]

    def refuse(self, harm, says, python=None):
        bad = self.folder / "bad.zarr"
        shutil.rmtree(bad, ignore_errors=True)
        shutil.copytree(self.good, bad)
        harm(bad)
        done = thor("info", bad)
        self.assertEqual(done.returncode, INPUT, done.stdout + done.stderr)
        self.assertIn(str(bad), done.stderr)
        self.assertRegex(done.stderr, says)
        self.assertEqual(done.stdout, "")
        with self.assertRaises(self.package.ResultError) as caught:
            self.use(bad)
        self.assertIn(str(bad), str(caught.exception))
        self.assertRegex(str(caught.exception), python or says)

    def test_the_good_one_is_read(self):
        self.assertEqual(thor("info", self.good).returncode, DONE)
        self.use(self.good)

    def test_truncated_chunk(self):
        for name in ("spectra/s0/flux/0", "photons/original/position/0.0", "histograms/map/error/0.0"):
            self.refuse(lambda bad: os.truncate(bad / name, 100), "truncated")

    def test_missing_files(self):
        for name in ("spectra/s0/flux/0", "spectra/s0/flux/.zarray", "summary/.zattrs", "photons/.zgroup", ".zmetadata"):
            with self.subTest(name):
                self.refuse(lambda bad: (bad / name).unlink(), "missing|No such file")

    def test_missing_groups(self):
        for name in ("spectra", "photons/original/id", "generators/0"):
            with self.subTest(name):
                self.refuse(lambda bad: shutil.rmtree(bad / name), "missing")

    def test_cut_metadata(self):
        for name in (".zattrs", ".zmetadata", "summary/.zattrs", "spectra/s0/edges/.zarray"):
            with self.subTest(name):
                self.refuse(lambda bad: os.truncate(bad / name, 25), "JSON")

    def change(self, file, **values):
        """A file of metadata and what is kept of it, changed by somebody who knows how."""
        def harm(bad):
            whole = json.loads((bad / ".zmetadata").read_text())
            whole["metadata"][file].update(values)
            (bad / ".zmetadata").write_text(json.dumps(whole))
            (bad / file).write_text(json.dumps(whole["metadata"][file]))
        return harm

    def test_changed_metadata(self):
        def harm(bad):
            text = (bad / "summary/.zattrs").read_text()
            (bad / "summary/.zattrs").write_text(text.replace('"escaped": 300', '"escaped": 200'))
        self.refuse(harm, "summary/.zattrs is not what .zmetadata has of it")

    def test_longer_than_it_is(self):
        self.refuse(self.change("photons/original/id/.zarray", shape=[10**15]), "missing", "missing|differ in length")

    def test_no_result(self):
        def foreign(bad):
            shutil.rmtree(bad)
            bad.mkdir()
            (bad / ".zgroup").write_text('{"zarr_format": 2}')
        self.refuse(foreign, "not|neither")
        self.refuse(lambda bad: (bad / ".zgroup").unlink(), "not? a? ?zarr store")

    def test_zarr_3(self):
        def newer(bad):
            shutil.rmtree(bad)
            bad.mkdir()
            (bad / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
        self.refuse(newer, "zarr version 3")

    def test_a_pipe_in_place_of_metadata(self):
        def harm(bad):
            (bad / "summary/.zattrs").unlink()
            os.mkfifo(bad / "summary/.zattrs")
        self.refuse(harm, "summary/.zattrs'?: Operation not supported|summary/.zattrs is missing")

    def test_newer_format(self):
        self.refuse(self.change(".zattrs", format_version=99), "format 99")


if __name__ == "__main__":
    main()
