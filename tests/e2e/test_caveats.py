"""Caveats of a result are reported in the summary, by the exit code, in the file, and by thor info, in the same words.

    /usr/bin/python3 tests/e2e/test_caveats.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import json
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import ENDLESS, slab, sphere, wide_spectra  # noqa: E402
from support import Case, DONE, INPUT, STOPPED, UNRELIABLE, main, on_grid, text, thor, write_grid  # noqa: E402


class Caveats(Case):
    def said(self, out, which="caveats"):
        """Caveats of a result, which must be those shown by thor info and by the run itself, once and in two lines."""
        stored = text(self.summary(out)[which]).rstrip("\0").splitlines()
        shown = thor("info", out).stdout
        self.assertEqual(json.loads(thor("info", out, "--json").stdout)[which], stored)
        for line in stored:
            self.assertIn(line, shown)
            self.assertEqual(self.done.stderr.count(f"warning: {line}"), 1, self.done.stderr)
            self.assertLessEqual(len(f"thor: warning: {line}"), 240)
        return stored

    def test_a_good_run_has_none(self):
        out = self.run_thor(sphere(1, 1000, outputs=wide_spectra(1, 50)))
        self.assertEqual((self.said(out), self.said(out, "warnings")), ([], []))
        self.assertTrue(self.summary(out)["reliable"])
        self.assertNotIn("warning", self.done.stderr)

    def test_photons_that_are_lost(self):
        """All of them, a few per cent, and less than one per cent: only the last is reliable."""
        for cap, code in ((2, UNRELIABLE), (20, UNRELIABLE), (80, DONE)):
            with self.subTest(cap=cap):
                config = {**sphere(10, 2000, outputs=[]), "limits": {"max_scatterings": cap}}
                out = self.run_thor(config, expect=code)
                lost = int(self.summary(out)["lost"])
                self.assertGreater(lost, 0 if code == DONE else 20)
                self.assertEqual(lost > 20, code == UNRELIABLE)
                said, = self.said(out)
                self.assertRegex(said, rf"^{lost} photons .*limits\.max_scatterings")
                self.assertEqual("unreliable" in said, code == UNRELIABLE)
                self.assertEqual(self.summary(out)["reliable"], code == DONE)
                self.assertTrue(self.summary(out)["complete"])
                self.assertRegex(self.done.stderr, rf"lost {lost}[,;].*wrote")

    def test_light_that_is_lost_counts_as_photons_do(self):
        """A tenth of a per cent of the photons, with nearly all of the light."""
        config = sphere(1e-3, 20_000, outputs=[])
        config["generators"].append({"type": "point", "photons": 10, "luminosity": "1e45 erg/s",
                                     "position": ["0 kpc", "0 kpc", "0.9999999 kpc"]})
        config["generators"][0]["spectrum"] = {"type": "delta", "offset": "1000 km/s"}
        config["dataset"]["tau0"] = 1e5
        config["limits"] = {"max_scatterings": 5}
        out = self.run_thor(config, expect=UNRELIABLE)
        self.assertLess(self.summary(out)["lost"], 0.01 * self.summary(out)["photons"])

    def test_light_beyond_a_range(self):
        outputs = [{"type": "spectrum", "name": "narrow", "axis": "x", "range": [-1, 1], "bins": 1},
                   {"type": "spectrum", "name": "wide", "axis": "x", "range": [-50, 50], "bins": 10}]
        out = self.run_thor(sphere(1e3, 1000, outputs=outputs))
        with h5py.File(out) as file:
            share = file["spectra/narrow"].attrs["luminosity_beyond"] / file["summary"].attrs["luminosity_escaped"]
        said, = self.said(out)
        self.assertTrue(said.startswith(f"spectrum narrow: {100 * share:.3g} %"), said)
        self.assertEqual(self.done.stderr.count("narrow"), 1, "told once")
        told = thor("info", out).stdout
        self.assertRegex(told, r"beyond +[\d.e+]+ erg/s .*narrow")
        self.assertNotIn("range of wide", told)

    def test_few_photons_are_noisy(self):
        """In all directions too, where errors are those of histories; the share is that of thor info."""
        for photons, bins, noisy in ((1, 10, True), (500, 1000, True), (1000, 10, False)):
            with self.subTest(photons=photons, bins=bins):
                out = self.run_thor(sphere(1, photons, outputs=wide_spectra(1, bins)))
                said = self.said(out)
                self.assertEqual(len(said), int(noisy))
                for line in said:
                    self.assertRegex(line, r"^spectrum s0: noisy \((100|[5-9]\d[.\d]*) % of its light is in bins with errors above 20 % or VOV above 0.1")
                shown = thor("info", out).stdout
                self.assertRegex(shown, r"trusted +[\d.]+ % of the light of s0 is in bins with errors of at most 20 % and a VOV of at most 0\.1\n")

    def test_photons_that_are_stopped(self):
        """They are in no spectrum, unless one counts them."""
        grid, size = self.folder / "grid.h5", 16 * 1e22
        write_grid(grid, cell=1e22, density=1e-12, periodic=True, hubble=1e-16, redshift=2.)
        stopped = {"type": "spectrum", "name": "s", "of": "stopped", "axis": "velocity",
                   "range": ["-3000 km/s", "3000 km/s"], "bins": 10}
        for of, count in (("escaped", 1), ("stopped", 0)):
            config = on_grid(grid, 500, size, dataset={"stop_shift": "5 Angstrom"}, outputs=[{**stopped, "of": of}])
            out = self.run_thor(config)
            self.assertEqual(self.summary(out)["stopped"], 500)
            self.assertEqual(len(self.said(out)), count)
            self.assertRegex(self.done.stderr, "stopped 500; wrote")
        config["outputs"] = []
        self.assertRegex(self.said(self.run_thor(config))[0], "500 photons .*100 % .*dataset.stop_shift")

    def test_wings_that_reach_beyond_stop_shift(self):
        """Those of one cell, or of the equal cells that a jump may cross."""
        grid, size = self.folder / "grid.h5", 16 * 1e22
        for density, jumps, said in ((0.1, False, "the thickest cell has"), (1e-2, False, ""),
                                     (1e-2, True, "15 of the thickest cells have"), (1e-3, True, "")):
            with self.subTest(density=density, jumps=jumps):
                write_grid(grid, cell=1e22, density=density, hubble=1e-16, redshift=2.)
                config = on_grid(grid, 1, size, dataset={"stop_shift": "5 Angstrom"}, acceleration={"jumps": jumps})
                config["generators"][0]["spectrum"] = {"type": "delta", "offset": "9000 km/s"}
                self.run_thor(config)
                self.assertEqual("for stopped light" in self.done.stderr, said != "")
                self.assertIn(said, self.done.stderr)

    def test_runs_that_were_cut(self):
        """Biased only if photons were still in flight, and nothing says otherwise."""
        out = self.run_thor(ENDLESS, "--max-walltime", 0.1, "--drain", 0, "--device", "cpu", expect=STOPPED)
        self.assertGreater(self.summary(out)["in_flight"], 0)
        said = self.said(out)[0]
        self.assertRegex(said, "the run was cut.* still in flight .*biased")
        self.assertRegex(self.done.stderr, r"in_flight \d+.*wrote")
        out = self.run_thor(sphere(100, 10**9, outputs=[]), "--max-walltime", 0.1, "--drain", 1000, "--device", "cpu", expect=STOPPED)
        self.assertEqual(self.summary(out)["in_flight"], 0)
        said, = self.said(out)
        self.assertRegex(said, "the run was cut.*not biased")
        self.assertEqual(thor("info", out).stdout.count("biased"), 1)
        self.assertRegex(thor("info", out).stdout, r"complete +NO: it was cut\n")

    def test_light_too_faint_to_be_counted_is_told(self):
        config = sphere(1, 100, outputs=[])
        config["generators"].append({"type": "point", "photons": 100, "luminosity": "1e20 erg/s"})
        said, = self.said(self.run_thor(config), "warnings")
        self.assertIn("too little to be counted", said)

    def test_warnings_are_stored(self):
        config = sphere(1, 100, outputs=[])
        config["generators"].append({"type": "point", "photons": 100, "luminosity": "1e32 erg/s"})
        said, = self.said(self.run_thor(config), "warnings")
        self.assertIn("faintest source", said)

    def test_a_newer_format_is_refused(self):
        out = self.run_thor(sphere(1, 10, outputs=[]))
        with h5py.File(out, "a") as file:
            known = int(file.attrs["format_version"])
            file.attrs["format_version"] = known + 1
        done = thor("info", out)
        self.assertEqual(done.returncode, INPUT)
        self.assertRegex(done.stderr, rf"in format {known + 1}; this thor reads up to {known}")


class CoreSkipping(Case):
    """An x_crit that is too large for the gas gives a warning with numbers, from run and check, and in the file."""

    def warned(self, config):
        out = self.run_thor(config)
        stored = [line for line in text(self.summary(out)["warnings"]).splitlines() if "core_skip" in line]
        told = thor("check", self.write(config), "--no-trial").stderr
        for line in stored:
            self.assertIn(f"warning: {line}", told)
        warnings = [line for line in told.splitlines() if "warning: " in line]
        self.assertEqual("\n".join(warnings).count("core_skip"), sum(line.count("core_skip") for line in stored))
        return stored

    def with_skip(self, config, skip):
        config["generators"][0]["photons"] = 20
        return {**config, "acceleration": {"core_skip": skip}}

    def test_fixed_in_a_sphere_and_a_slab(self):
        for medium in (sphere, slab):
            # a = 4.72e-4: 0.2 (a tau0)^(1/3) is 1.56 for tau0 = 1e6, and the result is fair up to there.
            said, = self.warned(self.with_skip(medium(1e6, 20), {"fixed": 3}))
            self.assertRegex(said, r"x_crit = 3 .* 1\.56 .*local")
            self.assertEqual(self.warned(self.with_skip(medium(1e6, 20), {"fixed": 1.5})), [])
            for skip in ("local", "global", "none"):
                self.assertEqual(self.warned(self.with_skip(medium(1e5 if skip != "none" else 100, 20), skip)), [])

    def test_thin_gas_supports_none(self):
        said, = self.warned(self.with_skip(sphere(100, 20), {"fixed": 1}))
        self.assertRegex(said, r"biased.* 0 here\. .*core_skip: local\.$")

    def test_global_in_gas_that_moves(self):
        config = sphere(1e6, 20, velocity={"profile": "linear", "max": "200 km/s"})
        said, = self.warned(self.with_skip(config, "global"))
        self.assertRegex(said, r"^core_skip global: .*x_crit = 1\.56 .* 0\.62\d? ")

    def test_dust_allows_two(self):
        config = sphere(1e8, 20, dust={"tau": 0.1})
        said, = self.warned(self.with_skip(config, {"fixed": 2.5}))
        self.assertRegex(said, "^core_skip fixed: 2.5: .*dust.* 2 ")
        self.assertEqual(self.warned(self.with_skip(config, {"fixed": 2})), [])

    def test_fixed_on_a_grid(self):
        """Half of the box is thick enough except at its six sides, the other half thin: fractions of cells and of
        absorbers."""
        n, size = 16, 16 * 1e20
        density = np.full((n, n, n), 1e-6)
        density[:, :, n // 2:] = 1  # a tau = 2.8e3 in a cell: x = 2.2 half a cell from the edge, 3.2 one further in
        write_grid(self.folder / "grid.h5", n, density=density)
        config = on_grid(self.folder / "grid.h5", 10, size, limits={"max_scatterings": 1000})
        config["generators"][0]["spectrum"] = {"type": "delta", "offset": "5000 km/s"}
        self.assertEqual(self.warned(self.with_skip(config, "local")), [])
        self.assertEqual(self.warned(self.with_skip(config, {"fixed": 2})), [])
        said, = self.warned(self.with_skip(config, {"fixed": 2.5}))
        sides = n * n * n // 2 - 14 * 14 * 6
        self.assertIn(f"{100 * (n**3 / 2 + sides) / n**3:.3g} % of the cells with "
                      f"{100 * sides / (n**3 / 2):.3g} % of the absorbers", said)
        self.assertIn("median 3.2", said)


if __name__ == "__main__":
    main()
