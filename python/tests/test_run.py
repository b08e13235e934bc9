"""thor.run, with the thor command."""

import contextlib
import io
import os
import unittest
import warnings
from pathlib import Path
from unittest import mock

import h5py
import numpy as np
from support import ENDLESS, SMALL, WithFiles, need_thor, put, write_result

import thor

TEXT = """\
line: Lya
dataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 100}
generators:
  - {type: point, photons: 100}
output: {path: sub.h5}
"""


ZINC = """\
ions: [{name: Zn II, mass: 65.38 u}]
lines:
  - name: ZnII
    description: Zn II doublet
    ion: Zn II
    levels:
      - {name: 4s 2S1/2, J: 0.5, energy: 0 cm^-1}
      - {name: 4p 2P3/2, J: 1.5, energy: 49355.00 cm^-1}
      - {name: 4p 2P1/2, J: 0.5, energy: 48481.08 cm^-1}
    transitions:
      - {name: ZnII_2026, lower: 4s 2S1/2, upper: 4p 2P3/2, wavelength: 2026.1370 Angstrom,
         A: 4.07e8 s^-1, f: 0.501, branching: 1}
      - {name: ZnII_2062, lower: 4s 2S1/2, upper: 4p 2P1/2, wavelength: 2062.6603 Angstrom,
         A: 3.86e8 s^-1, f: 0.246, branching: 1}
    source: Morton 2003, ApJS 149, 205
"""


def setUpModule():
    need_thor()


class RunTest(WithFiles):
    def setUp(self):
        super().setUp()
        back = os.getcwd()
        self.addCleanup(os.chdir, back)
        os.chdir(self.folder)

    def run_thor(self, *arguments, **options):
        """The result, and the messages on stderr."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            result = thor.run(*arguments, **options)
        self.addCleanup(result.close)
        return result, said.getvalue()

    def fails(self, code, pattern, *arguments, **options):
        """The error contains thor's messages, which the user has also seen."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaisesRegex(thor.RunError, pattern) as c:
            thor.run(*arguments, **options)
        self.assertEqual(c.exception.code, code)
        self.assertEqual(c.exception.command[1], "run")
        self.assertRegex(c.exception.stderr, pattern.rpartition("(?s:.)*")[2])
        self.assertTrue(said.getvalue() or options.get("quiet"))
        return c.exception

    def test_dict(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result, said = self.run_thor(SMALL, self.path, threads=1, device="cpu")
        self.assertEqual(result.path, self.path)
        self.assertEqual(result.summary["photons"], 400)
        self.assertEqual(result.summary["threads"], 1)
        self.assertIn("400 photons", said)
        self.assertEqual(os.listdir(self.folder), ["out.h5"])
        fraction, error = result.escape_fraction()
        self.assertAlmostEqual(fraction, result.summary["escaped"] / 400, places=12)
        self.assertTrue(0 < fraction < 1 and 0 < error < 0.05)
        # The photons make the same spectrum as thor's own.
        spectrum = result.spectrum()
        mine = result.photons.spectrum("velocity", spectrum.edges)
        np.testing.assert_allclose(mine.flux, spectrum.flux, rtol=8e-9)  # 2^-27 of a photon
        np.testing.assert_allclose(mine.error, spectrum.error, rtol=1e-7)  # single precision

    def test_a_line_list(self):
        """Next to the configuration, or in the current folder for a dict and for text."""
        Path("zinc.yaml").write_text(ZINC)
        config = {**SMALL, "line": "ZnII", "line_list": "zinc.yaml"}
        config["outputs"] = [{**SMALL["outputs"][0], "reference": "ZnII_2062"}]
        result, _ = self.run_thor(config, self.path)
        self.assertEqual((result.line.name, result.line.wavelength0), ("ZnII", 2026.137))
        self.assertEqual(result.spectrum().line.wavelength0, 2062.6603)
        text = TEXT.replace("line: Lya\n", "line: ZnII\nline_list: zinc.yaml\n")
        self.run_thor(text)
        os.mkdir("there")
        Path("there/run.yaml").write_text(text)
        self.fails(3, "there/zinc.yaml: line list missing", Path("there/run.yaml"))
        os.rename("zinc.yaml", "there/zinc.yaml")
        self.run_thor(Path("there/run.yaml"))
        self.run_thor(SMALL, self.path, set={"line_list": "there/zinc.yaml"}, overwrite=True)

    def test_text_and_path(self):
        result, _ = self.run_thor(TEXT)
        self.assertEqual(Path(result.path).resolve(), Path(self.folder, "sub.h5").resolve())
        os.mkdir("there")
        config = Path("there", "run.yaml")
        config.write_text(TEXT)
        for given in (config, str(config)):
            result, _ = self.run_thor(given, overwrite=True)
            self.assertTrue(os.path.samefile(result.path, "there/sub.h5"))
        result, _ = self.run_thor(config, "here.h5")
        self.assertTrue(os.path.samefile(result.path, "here.h5"))
        result, _ = self.run_thor(config, set={"output.path": "set.h5"})
        self.assertTrue(os.path.samefile(result.path, "there/set.h5"))

    def test_options_reach_thor(self):
        values = {"dataset.tau0": 1e3, "generators.0.photons": 7, "dataset.temperature": "2e4 K"}
        result, _ = self.run_thor(SMALL, self.path, set=values, precision="double", seed=5)
        self.assertEqual(result.attributes["seed"], 5)
        self.assertEqual(result.attributes["precision"], "double")
        self.assertEqual(result.attributes["tau0"], 1000.0)
        self.assertEqual(result.summary["photons"], 7)
        self.assertIn("temperature: 2e4 K", result.config)

    def test_resolved_configuration_runs_again(self):
        first, _ = self.run_thor(SMALL, self.path)
        second, _ = self.run_thor(first.config, "again.h5")
        np.testing.assert_array_equal(second.spectrum().flux, first.spectrum().flux)

    def test_quiet(self):
        _, said = self.run_thor(SMALL, self.path, quiet=True, set={"outputs.0.bins": 4})
        self.assertEqual(said, "")
        # But warnings are shown.
        caps = {"limits.max_scatterings": 1}
        _, said = self.run_thor(SMALL, "lost.h5", set=caps, quiet=True)
        self.assertIn("thor: warning:", said)

    def test_no_place_for_the_result(self):
        with self.assertRaisesRegex(ValueError, "where should the result go"):
            thor.run(SMALL)

    def test_bad_configuration(self):
        config = Path(self.folder, "bad.yaml")
        config.write_text(TEXT.replace("tau0", "tau00"))
        error = self.fails(2, r"bad\.yaml:2:\d+: .*tau00", config)
        self.assertIn("bad usage or configuration", str(error))
        self.fails(2, r"config:2:\d+: .*tau00", TEXT.replace("tau0", "tau00"))
        self.fails(2, "--set dataset.tau0=-1", SMALL, self.path, set={"dataset.tau0": -1})
        self.fails(2, "not valid YAML", "line: [\n", self.path)
        self.assertFalse(os.path.exists(self.path))

    def test_missing_configuration(self):
        with self.assertRaisesRegex(thor.RunError, "cannot read.*nowhere.yaml"):
            thor.run("nowhere.yaml", self.path)

    def test_wrong_options(self):
        self.fails(2, "abacus", SMALL, self.path, device="abacus")
        self.fails(2, "precision", SMALL, self.path, precision="half")
        self.fails(2, "progress", SMALL, self.path, progress="sometimes")

    def test_result_is_there(self):
        Path(self.path).write_text("mine")
        self.fails(6, "the file exists", SMALL, self.path)
        self.assertEqual(Path(self.path).read_text(), "mine")
        result, _ = self.run_thor(SMALL, self.path, overwrite=True)
        self.assertTrue(result.complete)

    def test_result_has_no_place(self):
        self.fails(6, "cannot write", SMALL, "no/such/folder/out.h5")
        self.fails(2, r"\.h5", SMALL, "out.fits")

    def test_stopped_by_the_clock(self):
        with self.assertWarnsRegex(thor.IncompleteRunWarning, "biased") as caught:
            with contextlib.redirect_stderr(io.StringIO()):
                # A busy GPU may take seconds until photons fly.
                result = thor.run(ENDLESS, self.path, max_walltime=0.5, drain=0, device="cpu")
        self.addCleanup(result.close)
        self.assertEqual(caught.filename, __file__)
        self.assertFalse(result.complete)
        self.assertGreater(result.summary["in_flight"], 0)

    def test_other_exit_codes(self):
        """From a stand-in: thor itself has no reason to end like this."""
        for ending, code, pattern in (
            ("exit 1", 1, "internal error: please report"),
            ("exit 4", 4, r"exit code 4 \(device\)"),
            ("kill -SEGV $$", -11, "ended by signal 11"),
        ):
            fake = Path(self.folder, "fake")
            fake.write_text(f"#!/bin/sh\necho 'thor: so it is' >&2\n{ending}\n")
            fake.chmod(0o755)
            self.fails(code, pattern + r"(?s:.)*so it is", SMALL, self.path, binary=fake)
        # One that claims success, but has written nothing.
        fake.write_text("#!/bin/sh\nexit 0\n")
        with self.assertRaisesRegex(thor.ResultError, "no such file"):
            thor.run(SMALL, self.path, binary=fake)

    def test_finished_but_not_to_be_relied_on(self):
        """Exit code 7 comes with a result."""
        write_result(Path(self.folder, "made.h5"))
        with h5py.File(Path(self.folder, "made.h5"), "a") as file:
            put(file["summary"], lost=400)
        fake = Path(self.folder, "fake")
        fake.write_text(f"#!/bin/sh\ncp {self.folder}/made.h5 {self.path}\nexit 7\n")
        fake.chmod(0o755)
        with self.assertWarnsRegex(thor.UnreliableRunWarning, "not to be relied on"):
            result, _ = self.run_thor(SMALL, self.path, binary=fake)
        self.assertEqual(result.summary["lost"], 400)

    def test_what_thor_loses_is_told(self):
        with self.assertWarnsRegex(thor.UnreliableRunWarning, "lost"):
            result, said = self.run_thor(SMALL, self.path, set={"limits.max_scatterings": 1})
        self.assertGreater(result.summary["lost"], 4)
        self.assertTrue(any("lost" in caveat for caveat in result.caveats), result.caveats)
        self.assertIn("lost", said)

    def test_light_beyond_the_range_is_told(self):
        narrow = {"outputs.0.range": ["0 km/s", "300 km/s"]}
        result, _ = self.run_thor(SMALL, self.path, set=narrow)
        (told,) = [caveat for caveat in result.caveats if "beyond" in caveat]
        self.assertRegex(told, r"emergent.* %")
        self.assertRegex(result.spectrum().caveats[0], r"^\d+ % of the light beyond the range$")

    def test_all_of_the_summary_is_read(self):
        result, _ = self.run_thor(SMALL, self.path)
        with h5py.File(self.path) as file:
            self.assertEqual(set(result.summary), set(file["summary"].attrs))
            self.assertEqual(set(result.attributes), set(file.attrs))

    def test_no_stderr(self):
        with mock.patch("sys.stderr", None):
            thor.run(SMALL, self.path, set={"limits.max_scatterings": 1}).close()


if __name__ == "__main__":
    unittest.main()
