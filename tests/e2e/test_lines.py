"""Lines and line lists: what thor prints about them, what it refuses, and that a run uses the values of the list.

    /usr/bin/python3 tests/e2e/test_lines.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import json
import math
import re
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import sphere  # noqa: E402
from support import C, Case, DONE, INPUT, ROOT, THOROUGH, USAGE, main, text, thor  # noqa: E402

# Zn II, which thor does not provide.
ZINC = """ions:
  - {name: Zn II, mass: 65.38 u}
lines:
  - name: ZnII
    description: Zn II doublet
    ion: Zn II
    levels:
      - {name: 4s 2S1/2, J: 0.5, energy: 0 cm^-1}
      - {name: 4p 2P3/2, J: 1.5, energy: 49355.00 cm^-1}
      - {name: 4p 2P1/2, J: 0.5, energy: 48481.08 cm^-1}
    transitions:
      - {name: ZnII_2026, lower: 4s 2S1/2, upper: 4p 2P3/2, wavelength: 2026.1370 Angstrom, A: 4.07e8 s^-1, f: 0.501, branching: 1}
      - {name: ZnII_2062, lower: 4s 2S1/2, upper: 4p 2P1/2, wavelength: 2062.6603 Angstrom, A: 3.86e8 s^-1, f: 0.246, branching: 1}
    source: Morton 2003, ApJS 149, 205
"""

BROKEN = {  # errors: the edit, and a pattern for the message
    "a missing level": (("lower: 4s 2S1/2, upper: 4p 2P1/2", "lower: 4s, upper: 4p 2P1/2"),
                        r":13:\d+: lines\.0\.transitions\.1\.lower: there is no level \"4s\""),
    "a branching": (("0.246, branching: 1", "0.246, branching: 0.5"),
                    r":13:\d+: lines\.0\.transitions\.1\.branching: .*sum to 0\.5, not to 1"),
    "a negative A": (("4.07e8", "-4.07e8"), r":12:\d+: lines\.0\.transitions\.0\.A: must be > 0"),
    "an unknown ion": (("ion: Zn II\n", "ion: Zn I\n"), r':6:\d+: lines\.0\.ion: .*did you mean "Zn II"'),
    "an unknown key": (("J: 1.5,", "j: 1.5,"), r':9:\d+: lines\.0\.levels\.1\.j: unknown key; did you mean "J"'),
    "a wrong wavelength": (("2026.1370", "2062.1370"), r":12:\d+: lines\.0\.transitions\.0\.wavelength: the energies"),
    "not YAML": (("lines:", "lines: ["), r":\d+:\d+: not valid YAML"),
    "nothing": ((ZINC, ""), r"expected a line list"),
}


def of_line(config, line, **more):
    return {**config, "line": line, **more}


class Lists(Case):
    def test_a_file_adds_its_lines(self):
        path = self.write(ZINC, "zinc.yaml")
        told = json.loads(thor("lines", path, "--json").stdout)
        self.assertEqual(told[:-1], json.loads(thor("lines", "--json").stdout))
        self.assertEqual([t["name"] for t in told[-1]["transitions"]], ["ZnII_2026", "ZnII_2062"])
        self.assertAlmostEqual(told[-1]["transitions"][0]["E1"], 0.5)
        self.assertRegex(thor("lines", path).stdout, r"(?m)^ZnII +ZnII_2026 +2026\.1370 .*\n +ZnII_2062 ")

    def test_a_broken_list_is_an_error_of_the_input(self):
        """With every command that reads it: exit code 3, the position, and no file is left."""
        config = self.write(of_line(sphere(1, 10), "Lya", line_list="list.yaml"))
        for what, ((good, bad), says) in BROKEN.items():
            self.assertIn(good, ZINC)
            path = self.write(ZINC.replace(good, bad, 1), "list.yaml")
            for command in (("run", config), ("check", config, "--no-trial"), ("lines", path)):
                with self.subTest(what, command=command[0]):
                    done = thor(*command)
                    self.assertEqual(done.returncode, INPUT, done.stderr)
                    self.assertRegex(done.stderr, rf"error: {path}.*{says}")
                    self.assertEqual(done.stdout, "")
            self.assertEqual({p.name for p in self.folder.iterdir()}, {"config.yaml", "list.yaml"})

    def test_a_list_that_is_not_there(self):
        for name in ("none.yaml", "."):
            done = thor("run", self.write(of_line(sphere(1, 10), "Lya", line_list=name)))
            self.assertEqual(done.returncode, INPUT, done.stderr)
            self.assertRegex(done.stderr, r"error: \S+: line list missing or not readable")
            self.assertEqual([p.name for p in self.folder.iterdir()], ["config.yaml"])

    def test_a_list_lies_beside_its_configuration(self):
        (self.folder / "below").mkdir()
        self.write(ZINC, "below/zinc.yaml")
        outputs = [{"type": "spectrum", "name": "red", "range": ["-300 km/s", "300 km/s"], "bins": 10, "reference": "ZnII_2062"}]
        config = self.write(of_line(sphere(10, 100, outputs=outputs), "ZnII", line_list="zinc.yaml"), "below/c.yaml")
        for place in (self.folder, self.folder / "below"):
            done = thor("run", config, "--overwrite", cwd=place)
            self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "below/out.h5") as file:
            self.assertEqual(text(file.attrs["line"]), "ZnII")
            self.assertAlmostEqual(file.attrs["wavelength0"], 2026.1370, delta=1e-9)
            self.assertAlmostEqual(file["spectra/red"].attrs["wavelength0"], 2062.6603, delta=1e-9)
        self.assertIn("zinc.yaml", thor("info", "--config", self.folder / "below/out.h5").stdout)

    def test_a_copy_of_a_line_is_that_line(self):
        listed = thor("lines", "--yaml").stdout
        self.write(listed.replace("name: MgII\n", "name: Copy\n", 1), "copy.yaml")
        config = sphere(30, 300, velocity={"profile": "linear", "max": "200 km/s"})
        original = self.run_photons(of_line(config, "MgII"))
        self.assert_identical(original, self.run_photons(of_line(config, "Copy", line_list="copy.yaml")))
        self.assertFalse(np.array_equal(original["scatterings"], self.run_photons(of_line(config, "CIV"))["scatterings"]))


class Documented(Case):
    def test_the_list_on_the_page(self):
        """docs/lines.md: the list, and the configuration that uses it."""
        listed, config, *_ = re.findall(r"^```yaml[^\n]*\n(.*?)^```$", (ROOT / "docs/lines.md").read_text(), re.M | re.S)
        self.assertEqual(thor("lines", self.write(listed, "zinc.yaml")).returncode, DONE)
        done = thor("run", self.write(config))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assert_closed(self.folder / "zinc.h5")

    def example(self, name):
        """Spectra of an example with fewer photons, relative to the continuum."""
        config = (ROOT / f"examples/{name}.yaml").read_text()
        path = self.run_thor(config, "--set", "generators.0.photons=40000")
        self.assert_closed(path)
        with h5py.File(path) as file:
            return {key: (group["edges"][()], group["flux"][()] / 1e42, group["error"][()] / 1e42)
                    for key, group in file["spectra"].items()}

    def mean(self, spectrum, low, high):
        edges, flux, error = spectrum
        inside = (edges[:-1] >= low) & (edges[1:] <= high)
        return np.mean(flux[inside]), math.sqrt(np.sum(error[inside] ** 2)) / np.count_nonzero(inside)

    def test_mgii_outflow(self):
        spectra = self.example("mgii_outflow")
        width = 2796.3543 * 5000 / C  # of the continuum [Angstrom]
        value, error = self.mean(spectra["doublet"], 2776, 2818)
        self.assert_mean(value * width, 1, error * width, message="no photon is lost:")
        for name in ("k_2796", "h_2803"):  # absorption to the blue, emission to the red
            self.assertLess(self.mean(spectra[name], -250, -150)[0] * 5000, 0.7, name)
            self.assertGreater(self.mean(spectra[name], 20, 80)[0] * 5000, 1.7, name)

    def test_siii_fluorescence(self):
        spectra = self.example("siii_fluorescence")
        width = {"emergent": 20, "absorbed_1190": 20 * C / 1190.4158, "emitted_1194": 20 * C / 1194.5002}
        mean = {key: lambda low, high, key=key: self.mean(spectra[key], low, high)[0] * width[key] for key in width}
        self.assertLess(mean["absorbed_1190"](-60, -20), 0.3)
        self.assertLess(abs(mean["absorbed_1190"](20, 200) - 1), 0.15, "hardly any emission of 1190")
        self.assertGreater(mean["emitted_1194"](-50, 50), 1.7)
        self.assertGreater(mean["emergent"](1197.2, 1197.6), 1.5)
        self.assertLess(abs(mean["emergent"](1198.5, 1200) - 1), 0.1, "the continuum")


class Refused(Case):
    def refuse(self, config, *says):
        path = self.write(config)
        for command in (("run", path), ("check", path, "--no-trial")):
            done = thor(*command)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            for words in says:
                self.assertRegex(done.stderr, words)
            self.assertEqual([p.name for p in self.folder.iterdir()], ["config.yaml"])

    def test_an_unknown_line(self):
        self.refuse(of_line(sphere(1, 1), "MgI"), r':\d+:\d+: line: .*got "MgI"; did you mean "MgII"\?', r"lines: Lya, MgII, ")
        self.refuse(of_line(sphere(1, 1), "Lyman alpha of hydrogen"), r"lines: Lya, MgII, ")

    def test_an_unknown_reference(self):
        config = of_line(sphere(1, 1, spectrum={"type": "delta", "reference": "MgII_2830"}), "MgII")
        self.refuse(config, r'generators\.0\.spectrum\.reference: line MgII has no transition "MgII_2830"; '
                            r'did you mean "MgII_2803"\?', r"transitions: MgII_2796, MgII_2803")
        outputs = [{"type": "spectrum", "name": "s", "axis": "x", "range": [0, 1], "bins": 1, "reference": "SiII_1195"}]
        self.refuse(of_line(sphere(1, 1, outputs=outputs), "SiII_1190"),
                    r'outputs\.0\.reference: .*"SiII_1195"; did you mean "SiII_119')

    def test_core_skipping_with_fluorescence(self):
        for skip in ("local", "global", {"fixed": 2}):
            self.refuse(of_line(sphere(1, 1), "SiII_1190", acceleration={"core_skip": skip}),
                        r"acceleration\.core_skip: .*fluorescence of SiII_1190: must be none with line SiII_1190")

    def test_deuterium_without_hydrogen(self):
        self.refuse(of_line(sphere(1, 1), "MgII", physics={"deuterium": 2.5e-5}),
                    r"physics\.deuterium: line MgII has no transition of deuterium")

    def test_a_dust_law_without_hydrogen(self):
        self.refuse(of_line(sphere(1, 1, dust={"law": "SMC", "metallicity": 1}), "MgII"),
                    r"dataset\.dust\.hydrogen_column: missing: .*MgII is not hydrogen")

    def test_a_profile_where_it_errs(self):
        cold = sphere(1, 1, temperature="0.03 K")
        self.refuse({**cold, "numerics": {"voigt": "T06"}}, r"numerics\.voigt: .* errs by .*S18 and H82 do not")
        self.assertEqual(thor("check", self.write(cold), "--no-trial").returncode, DONE, "the default is S18 there")


class Transitions(Case):
    """How a run uses the numbers of a list."""
    PHOTONS = 40_000
    FIELDS = [{"type": "photons", "fields": ["id", "velocity_initial", "velocity_final", "scatterings"]}]

    def lines(self, name):
        for line in json.loads(thor("lines", "--json").stdout):
            if line["name"] == name:
                return {t["name"]: t for t in line["transitions"]}
        raise KeyError(name)

    def photons_of(self, line, reference, tau0, *arguments, **more):
        config = sphere(tau0, self.PHOTONS, spectrum={"type": "delta", "reference": reference}, outputs=self.FIELDS)
        return self.run_photons(of_line(config, line, **more), *arguments)

    def test_optical_depths_are_as_f_lambda(self):
        """A fraction exp(-tau) of the light of each line of Mg II passes, where tau0 is that of the first."""
        mg = self.lines("MgII")
        blue, red = mg["MgII_2796"], mg["MgII_2803"]
        ratio = red["oscillator_strength"] * red["wavelength_angstrom"] / \
            (blue["oscillator_strength"] * blue["wavelength_angstrom"])
        for reference, tau in (("MgII_2796", 0.8), ("MgII_2803", 0.8 * ratio)):
            free = np.count_nonzero(self.photons_of("MgII", reference, 0.8)["scatterings"] == 0)
            self.assert_share(free, self.PHOTONS, math.exp(-tau), message=reference)
            with self.assertRaises(AssertionError):
                self.assert_share(free, self.PHOTONS, math.exp(-1.1 * tau))

    def test_fluorescence_is_as_the_branching(self):
        """Each scattering ends in fluorescence with the branching probability, and the photon then escapes from thin
        gas."""
        si = self.lines("SiII_1190")
        zero = si["SiII_1190"]["wavelength_angstrom"]
        for absorbed, emitted in (("SiII_1190", "SiII_1194"), ("SiII_1193", "SiII_1197")):
            p = self.photons_of("SiII_1190", absorbed, 0.5)
            velocity = {name: C * (si[name]["wavelength_angstrom"] / zero - 1) for name in (absorbed, emitted)}
            np.testing.assert_allclose(p["velocity_initial"], velocity[absorbed], atol=0.01)
            # The thermal speed is 2.4 km/s: photons that end near a line belong to it.
            there = {name: np.abs(p["velocity_final"] - v) < 30 for name, v in velocity.items()}
            self.assertGreater(np.mean(there[absorbed] | there[emitted]), 0.9999)
            self.assertTrue(np.all(p["scatterings"][there[emitted]] > 0))
            branching, count = si[emitted]["branching"], int(p["scatterings"].sum())
            self.assertGreater(count, 5000)
            hits = np.count_nonzero(there[emitted])
            self.assert_share(hits, count, branching, message=emitted)
            with self.assertRaises(AssertionError):
                self.assert_share(hits, count, branching + 0.05)

    def test_fluorescent_light_is_not_absorbed_again(self):
        """Thick gas turns all light of 1190 into 1194, after 1/branching scatterings."""
        p = self.photons_of("SiII_1190", "SiII_1190", 1e3)
        si = self.lines("SiII_1190")
        v = C * (si["SiII_1194"]["wavelength_angstrom"] / si["SiII_1190"]["wavelength_angstrom"] - 1)
        self.assertGreater(np.mean(np.abs(p["velocity_final"] - v) < 30), 0.999)  # the wing of 1193 has the rest
        self.assert_mean(p["scatterings"], 1 / si["SiII_1194"]["branching"], 0.5 / math.sqrt(self.PHOTONS))

    def test_deuterium_lies_to_the_blue(self):
        """82 km/s from hydrogen, with a thermal width narrower by sqrt(2); its strength is proportional to its
        abundance."""
        d_to_h, tau = 0.01, 0.5
        h, d = self.lines("Lya").values()
        tau_d = d_to_h * math.sqrt(d["mass_u"] / h["mass_u"]) * 100 * tau
        for physics, expected in (({"deuterium": d_to_h}, math.exp(-tau_d)), ({}, 1)):
            p = self.photons_of("Lya", "Lya_D", 100 * tau, physics=physics)
            hydrogen = 100 * tau * 4.718e-4 / math.sqrt(math.pi) / (81.55 / 12.848) ** 2  # its wing
            np.testing.assert_allclose(p["velocity_initial"], -81.55, atol=0.02)
            free = np.count_nonzero(p["scatterings"] == 0)
            self.assert_share(free, self.PHOTONS, expected * math.exp(-hydrogen * 1.04), sigmas=5)

    def test_references_shift_the_axis_and_nothing_else(self):
        mg = self.lines("MgII")
        outputs = [{"type": "spectrum", "name": name, "range": ["-1000 km/s", "1500 km/s"], "bins": 2500, **more}
                   for name, more in (("blue", {}), ("red", {"reference": "MgII_2803"}))]
        config = of_line(sphere(20, 5000, outputs=outputs, spectrum={"type": "gaussian", "sigma": "60 km/s"},
                                b_turb="30 km/s"), "MgII")
        with h5py.File(self.run_thor(config)) as file:
            wavelength0, centre = {}, {}
            for name, group in file["spectra"].items():
                edges, flux = group["edges"][()], group["flux"][()]
                wavelength0[name] = group.attrs["wavelength0"]
                v = np.sum(0.5 * (edges[1:] + edges[:-1]) * flux) / np.sum(flux)
                centre[name] = wavelength0[name] * (1 + v / C)
                self.assertEqual(group.attrs["luminosity_beyond"], 0)
            self.assertEqual(file.attrs["wavelength0"], wavelength0["blue"])
        self.assertAlmostEqual(wavelength0["red"], mg["MgII_2803"]["wavelength_angstrom"], delta=1e-9)
        self.assertAlmostEqual(centre["red"], centre["blue"], delta=0.01)  # a bin is 0.009 Angstrom


class Numerics(Case):
    CHOICES = {"voigt": ["thor", "H82", "T06", "S15", "S18"], "u_parallel": ["S07", "L09", "S15", "D20", "SK20"],
               "generator": ["philox4x32", "sfc32"], "uniform": ["unbiased"], "rejection": ["squeezed"]}

    def test_every_scheme_gives_the_same_gas(self):
        """Other photons, the same light: the mean |v| and the number of scatterings, within the errors."""
        config = sphere(300, 800 * THOROUGH)
        named = self.run_photons(config, "--set", "numerics.voigt=thor")  # the default, in the kernel with all schemes

        def moments(photons):
            return [(np.mean(v), np.std(v) / math.sqrt(len(v)))
                    for v in (np.abs(photons["velocity_final"]), np.log1p(photons["scatterings"]))]
        expected = moments(self.run_photons(config))
        for key, names in self.CHOICES.items():
            for name in names:
                with self.subTest(key, name=name):
                    photons = self.run_photons(config, "--set", f"numerics.{key}={name}")
                    for (a, da), (b, db) in zip(moments(photons), expected):
                        self.assertLess(abs(a - b), 4.5 * math.hypot(da, db))
                    same = np.array_equal(photons["position"], named["position"])
                    self.assertEqual(same, name in ("thor", "squeezed"), "those two change nothing, the others do")

    def test_core_wing_belongs_to_s15(self):
        config = self.write(sphere(1, 1))
        for name in ("exact", "S15", "B25", "B25fast"):
            done = thor("check", config, "--no-trial", "--set", f"numerics={{u_parallel: S15, core_wing: {name}}}")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn(f"core_wing: {name}\n", done.stdout)
        done = thor("check", config, "--no-trial", "--set", "numerics.core_wing=B25")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("it belongs to u_parallel: S15", done.stderr)


if __name__ == "__main__":
    main()
