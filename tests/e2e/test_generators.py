"""Generators, as a user meets them: outputs of one generator, and light into cones.

    /usr/bin/python3 tests/e2e/test_generators.py --thor build/dev/thor [unittest arguments]
"""

import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from configurations import slab, sphere  # noqa: E402
from support import Case, DONE, KPC, THOROUGH, USAGE, main, thor  # noqa: E402
from test_domains_in_one import on_random_grid, write_random_grid  # noqa: E402
from test_until import numbers  # noqa: E402

import thor as package  # noqa: E402

OBSERVERS = [{"name": "o", "direction": [0.3, -0.2, 1]}, {"name": "p", "direction": [1, 0, 0], "up": [0, 0, 1]}]
RANGE = {"range": ["-300 km/s", "300 km/s"]}
KINDS = {
    "line": {"type": "spectrum", "bins": 31, **RANGE},
    "dust": {"type": "spectrum", "bins": 29, "of": "absorbed", **RANGE},
    "born": {"type": "spectrum", "bins": 27, "of": "emitted", **RANGE},
    "seen": {"type": "spectrum", "bins": 20, "observer": "p", "lsf": {"fwhm": "9 km/s"}, **RANGE},
    "plane": {"type": "histogram", "axes": [{"quantity": "impact", "range": ["0 kpc", "1 kpc"], "bins": 7},
                                            {"quantity": "velocity", "bins": 6, **RANGE}]},
    "sb": {"type": "image", "observer": "o", "width": "2 kpc", "pixels": 9, "psf": {"fwhm": "0.2 kpc"}},
    "cone": {"type": "image", "observer": "o", "width": "2 kpc", "pixels": 8, "estimator": "escaped", "within": "60 deg"},
    "early": {"type": "image", "observer": "p", "width": "2 kpc", "pixels": 7, "of": "emitted"},
    "ifu": {"type": "cube", "observer": "p", "width": "2 kpc", "pixels": 3, "bins": 8, **RANGE},
    "rings": {"type": "profile", "observer": "o", "radius": "1 kpc", "bins": 12},
}
NAMES = ("", "gas", "2", "stars")  # all, and each of them
GROUPS = {"spectrum": "spectra", "histogram": "histograms", "image": "images", "cube": "cubes", "profile": "profiles"}


def apart():
    """Every kind of output, of all generators and of each."""
    return [{**kind, "name": f"{name}_{of}" if of else name, **({"generator": of} if of else {})} for name, kind in KINDS.items() for of in NAMES]


def bins_of(output):
    bins = np.prod([axis["bins"] for axis in output.get("axes", [])]) if "axes" in output else output.get("bins", 1)
    return int(bins) * output.get("pixels", 1) ** 2


def tally_of(path, outputs):
    """Sums of s, s^2 and s^4 of each bin, by the names of outputs: the smallest are first. A bin has four words, as has the sum
    of all bins; the light beyond them has one, and three that are not used (docs/notes/errors.md)."""
    with h5py.File(path) as file:
        words = file["tally/bins"][()]
    place, found = 0, {}
    for i in np.argsort([bins_of(output) for output in outputs], kind="stable"):
        size = 4 * (bins_of(outputs[i]) + 2)
        light, square, fourth, high = words[place : place + size].astype(object).reshape(-1, 4).T
        upper = ((high >> 54) << 64, (high >> 32 & 0x3FFFFF) << 64, (high & 0xFFFFFFFF) << 64)
        found[outputs[i]["name"]] = np.array([light + upper[0], square + upper[1], fourth + upper[2]])
        place += size
    assert place == len(words)
    return found


GENERATORS = [
    {"type": "extended", "shape": "medium", "name": "gas", "photons": 700, "luminosity": "3e41 erg/s"},
    {"type": "point", "name": "gas", "position": ["0.2 kpc", "0 kpc", "0.1 kpc"], "photons": 300, "luminosity": "1e41 erg/s"},
    {"type": "extended", "shape": "beam", "radius": "1 kpc", "photons": 200, "opening_angle": "20 deg", "luminosity": "2e41 erg/s"},
    {"type": "point", "name": "stars", "photons": 900, "luminosity": "1e42 erg/s", "escape_fraction": 0.5,
     "spectrum": {"type": "gaussian", "sigma": "60 km/s"}},
]


def of_three(**more):
    config = sphere(300, 1, outputs=apart(), dust={"tau": 0.5})
    return {**config, "generators": GENERATORS, "observers": OBSERVERS, **more}


class Apart(Case):
    def assert_sums(self, path, outputs):
        """The integers of the outputs of each generator add up to those of all, and none is empty that should not be."""
        found = tally_of(path, outputs)
        for name in KINDS:
            parts = [found[f"{name}_{of}"] for of in NAMES[1:]]
            np.testing.assert_array_equal(found[name], np.sum(parts, axis=0), name)
            for of, part in zip(NAMES[1:], parts):
                outside = (name, of) == ("early", "2")  # the observer is outside the cone
                self.assertEqual(np.sum(part) > 0, not outside, (name, of))
        return found

    def test_outputs_add_up_exactly(self):
        for precision in ("single", "double"):
            config = of_three(precision=precision)
            path = self.run_thor(config, "--device", "cpu", "--threads", 2)
            found = self.assert_sums(path, config["outputs"])
            with h5py.File(path) as file:
                for i, (name, light) in enumerate((("gas", 3e41), ("gas", 1e41), ("2", 2e41), ("stars", 1e42))):
                    attributes = file[f"generators/{i}"].attrs
                    self.assertEqual(attributes["name"].decode(), name)
                    self.assertAlmostEqual(attributes["luminosity_emitted"] / light, 1, delta=1e-9)
                self.assertEqual(file["images/sb_stars"].attrs["generator"], b"stars")
                self.assertNotIn("generator", file["images/sb"].attrs)
                self.assertAlmostEqual(file["spectra/born_gas"].attrs["luminosity"] / 4e41, 1, delta=1e-6)
                self.assertAlmostEqual(file["spectra/born_stars"].attrs["luminosity"] / 1e42, 1, delta=1e-6)
            other = [dict(o) for o in config["outputs"]]
            for o in other:  # the twin: stars counted where gas should be
                o["generator"] = {"gas": "stars"}.get(o.get("generator"), o.get("generator", ""))
            twin = tally_of(self.run_thor({**config, "outputs": other}, "--device", "cpu"), other)
            self.assertFalse(np.array_equal(twin["sb_gas"], found["sb_gas"]))
            np.testing.assert_array_equal(twin["sb_gas"], found["sb_stars"])

    def test_each_is_that_of_its_photons(self):
        """A histogram of a generator has its recorded photons, and rows of light tell their generator."""
        outputs = [*apart()[:4], {"type": "photons"}, {"type": "photons", "of": "peel", "observer": "p"},
                   *({**KINDS["seen"], "name": f"p_{of}", "generator": of, "lsf": None} for of in ("gas", "stars"))]
        for output in outputs:
            if output.get("lsf", 0) is None:
                del output["lsf"]
        path = self.run_thor(of_three(outputs=outputs), "--device", "cpu")
        with package.open(path) as result:
            photons, peel = result.photons, result.peel
            for of, numbers_of in (("gas", (0, 1)), ("2", (2,)), ("stars", (3,))):
                own = (photons["fate"] == 2) & np.isin(photons["generator"], numbers_of)
                spectrum = result.spectra[f"line_{of}"]
                light = np.histogram(photons["velocity_final"][own], spectrum.edges, weights=photons["weight"][own])[0]
                np.testing.assert_allclose(spectrum.flux * spectrum.widths, light, atol=1e-6 * np.max(light))
                if of == "2":
                    continue
                rows = np.isin(peel["generator"], numbers_of)
                seen = result.spectra[f"p_{of}"]
                light = np.histogram(peel["velocity"][rows], seen.edges, weights=peel["light"][rows])[0]
                np.testing.assert_allclose(seen.flux * seen.widths, light, atol=1e-6 * np.max(light))

    def test_a_run_that_is_continued(self):
        config = of_three()
        whole = self.run_thor(config, "--device", "cpu")
        fewer = [{**g, "photons": g["photons"] // 2} for g in GENERATORS]
        part = self.run_thor({**config, "generators": fewer}, "--device", "cpu")
        self.assert_sums(part, config["outputs"])
        done = thor("continue", part, "--photons", 1050, "--quiet", "--device", "cpu")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assert_sums(part, config["outputs"])
        a, b = (tally_of(path, config["outputs"]) for path in (whole, part))
        for name in a:
            np.testing.assert_array_equal(a[name], b[name], name)

    def test_a_grid_that_is_cut(self):
        """Photons and rays of all generators travel; light of a cone enters the grid elsewhere than its photon does."""
        for periodic in (False, True):
            write_random_grid(self.folder / "grid.h5", (7, 9, 6), np.random.default_rng(3), periodic=periodic, hubble=3e-14)
            dataset = {"hubble_flow": True, "stop_shift": "1 Angstrom"} if periodic else {}
            config = on_random_grid(60, 2, dataset)
            config["generators"][0]["name"], config["generators"][2]["opening_angle"] = "gas", "70 deg"
            config["generators"].append({"type": "point", "name": "stars", "photons": 60, "direction": [0, 0, 1], "opening_angle": "40 deg",
                                         "position": ["0 kpc", "0 kpc", "1 kpc"]})
            for generator in config["generators"][1:]:
                generator["luminosity"] = "1e55 erg/s"  # about that of the gas
            kinds = [o for o in config["outputs"] if "observer" in o]
            config["outputs"] += [{**o, "name": f"{o['name']}_{of}", "generator": of} for o in kinds for of in ("gas", "1", "2", "stars")]
            whole = self.run_thor(config, "--device", "cpu")
            found = tally_of(whole, config["outputs"])
            for o in kinds:
                parts = [found[f"{o['name']}_{of}"] for of in ("gas", "1", "2", "stars")]
                np.testing.assert_array_equal(found[o["name"]], np.sum(parts, axis=0))
                self.assertEqual([np.sum(part) > 0 for part in parts], 4 * [True])
            for how in ((2,), (9, "--margin", 0), (6, "--threads", 2)):
                with self.subTest(periodic=periodic, how=how):
                    parts = self.run_thor(config, "--device", "cpu", "--domains", *how)
                    a, b = (numbers(path, ("ranks", "warnings")) for path in (whole, parts))
                    a, b = ({k: v for k, v in f.items() if not k.startswith(("domains", "inputs"))} for f in (a, b))
                    self.assertEqual([key for key in a if a[key] != b[key]], [])
                    self.assertGreater(len(a), 20)

    def test_python_and_the_command_give_the_name(self):
        path = self.run_thor(of_three(), "--device", "cpu")
        with package.open(path) as result:
            for name, kind in KINDS.items():
                products = getattr(result, GROUPS[kind["type"]])
                self.assertEqual([products[f"{name}_{of}" if of else name].generator for of in NAMES], [None, *NAMES[1:]], name)
            self.assertIsNone(result.spectrum().generator)
            self.assertEqual([g["name"] for g in result.generators], ["gas", "gas", "2", "stars"])
            self.assertIn("line_gas (escaped, velocity, generator gas)", str(result))
            self.assertIn("Image 'sb_stars' for observer 'o' of generator 'stars'", str(result))
        self.assertIn("sb_stars, observer o, generator stars", thor("info", path).stdout)
        for name, says in (("line_gas", "generator: gas"), ("line", None)):
            done = thor("export", path, "--txt", "--fits", "--name", name, "-o", self.folder)
            self.assertEqual(done.returncode, DONE, done.stderr)
            header = (self.folder / f"{name}.txt").read_text()
            self.assertEqual("generator" in header, says is not None)
            self.assertIn(says or "observer: none", header)
            self.assertEqual(b"GENERATR= 'gas" in (self.folder / f"{name}.fits").read_bytes(), says is not None)

    def test_mistakes(self):
        line = {**KINDS["line"], "name": "line"}
        first = GENERATORS[3]
        for generators, outputs, says in (
            (GENERATORS, [{**line, "generator": "star"}], 'outputs.0.generator: there is no generator called "star"; did you mean "stars"?'),
            (GENERATORS, [{**line, "generator": "everything"}], 'there is no generator called "everything"; the first is called "gas"'),
            (GENERATORS, [{**line, "generator": "3"}], 'there is no generator called "3"'),
            ([first, GENERATORS[0], {**first, "name": "stars"}], [line],
             "generators.2.name: "),
            ([{**first, "name": "7"}], [line], "generators.0.name: expected a name of at most 100 letters, digits, _ and -, not digits alone"),
            ([{**first, "name": "a b"}], [line], "generators.0.name"),
            (GENERATORS, [{"type": "photons", "generator": "gas"}], "outputs.0.generator"),
        ):
            config = {**of_three(), "generators": generators, "outputs": outputs}
            done = thor("check", self.write(config))
            self.assertEqual(done.returncode, USAGE, (says, done.stderr))
            self.assertIn(says, done.stderr)


def in_cone(angle, *, direction=(0, 0, 1), tau0=1e-9, photons=200, **more):
    source = {"type": "point", "direction": list(direction), "opening_angle": f"{angle} deg", **more}
    return sphere(tau0, photons, source=source, outputs=[])


def brightness(angle):
    """4 pi/Omega of a cone."""
    return 2 / (1 - np.cos(np.radians(angle)))


def tilted(angle, azimuth=30):
    """A direction at an angle from z."""
    theta, phi = np.radians(angle), np.radians(azimuth)
    return [float(np.sin(theta) * np.cos(phi)), float(np.sin(theta) * np.sin(phi)), float(np.cos(theta))]


class Cones(Case):
    def seen(self, config, directions, *arguments, **output):
        """Light that observers in these directions see, over all that is emitted."""
        observers = [{"name": f"o{i}", "direction": list(n), "up": [0.1, 0.2, -0.9]} for i, n in enumerate(directions)]
        outputs = [{"type": "spectrum", "name": f"o{i}", "observer": f"o{i}", "range": ["-2000 km/s", "2000 km/s"], "bins": 1, **output}
                   for i in range(len(directions))]
        path = self.run_thor({**config, "observers": observers, "outputs": outputs}, "--device", "cpu", *arguments)
        with h5py.File(path) as file:
            all_light = file["summary"].attrs["luminosity_emitted"]
            return [file[f"spectra/o{i}"].attrs["luminosity"] / all_light for i in range(len(directions))]

    def test_observers_inside_and_outside(self):
        """Thin gas: 4 pi L/Omega inside the cone and nothing outside, to the edge; a twin of another angle is told apart."""
        for angle in (0.5, 10, 60, 90, 150):
            for precision in ("single", "double"):
                config = {**in_cone(angle), "precision": precision}
                light = self.seen(config, [tilted(0), tilted(0.98 * angle), tilted(1.02 * angle), tilted(min(180, 1.02 * angle), 200), tilted(180)])
                for inside in light[:2]:
                    self.assertAlmostEqual(inside / brightness(angle), 1, delta=1e-6)
                    self.assertGreater(abs(inside / brightness(1.01 * angle) - 1), 1e-3, "the twin")
                self.assertEqual(light[2:], [0, 0, 0], angle)
        light = self.seen(in_cone(25, direction=(1, 2, -2)), [(1, 2, -2), (2, 2, -2), (1, 0, 0), (-1, -2, 2)])
        for inside in light[:2]:
            self.assertAlmostEqual(inside / brightness(25), 1, delta=1e-6)
        self.assertEqual(light[2:], [0, 0])
        self.assertAlmostEqual(self.seen(in_cone(180), [tilted(180)])[0], 1, delta=1e-9, msg="all directions")

    def test_light_as_it_was_emitted(self):
        config = in_cone(30, escape_fraction=0.25)
        light = self.seen(config, [tilted(10), tilted(40)], of="emitted")
        self.assertAlmostEqual(light[0] / brightness(30), 1, delta=1e-6)
        self.assertEqual(light[1], 0)
        self.assertAlmostEqual(self.seen(config, [tilted(10)])[0] / brightness(30), 0.25, delta=1e-6)

    def test_photons_are_uniform_over_the_solid_angle(self):
        """Escape directions: light per bin of the cosine is flat inside the cone, and there is none outside."""
        for angle in (20, 120):
            config = in_cone(angle, photons=40000)
            edge = np.cos(np.radians(angle))
            axis = {"quantity": "cosine", "range": [float(edge), 1.0], "bins": 20}
            config["outputs"] = [{"type": "histogram", "name": "mu", "axes": [axis]}]
            with h5py.File(self.run_thor(config, "--device", "cpu")) as file:
                light, beyond = file["histograms/mu/luminosity"][()], file["histograms/mu"].attrs["luminosity_beyond"]
            counts = light / np.sum(light) * 40000
            self.assertLess(beyond, 1e-9 * np.sum(light))
            self.assertLess(np.sum((counts - 2000) ** 2 / 2000), 45, "chi^2 of 19: 0.1 %")
            isotropic = self.run_photons({**config, "outputs": [{"type": "photons"}], "generators": [{**config["generators"][0], "opening_angle": "180 deg"}]})
            self.assertLess(np.mean(isotropic["direction"][:, 2] > edge), 0.8, "the twin")

    def test_dust_in_between(self):
        """Dust of optical depth tau that absorbs: e^-tau of the light, inside the cone."""
        for tau in (0.5, 2.):
            config = in_cone(40, photons=500)
            config["dataset"]["dust"] = {"tau": tau, "albedo": 0}
            light = self.seen(config, [tilted(0), tilted(35), tilted(45)])
            for inside in light[:2]:
                self.assertAlmostEqual(inside / (brightness(40) * np.exp(-tau)), 1, delta=1e-5)
                self.assertGreater(abs(inside / (brightness(40) * np.exp(-1.02 * tau)) - 1), 5e-3, "the twin")
            self.assertEqual(light[2], 0)

    def test_all_observers_together_see_what_escapes(self):
        """Mean over the pixels of HEALPix, of a cone in gas that scatters: the light that escapes, and more inside the cone."""
        config = {**in_cone(70, tau0=2, photons=10000 * THOROUGH), "observers": [{"name": "all", "healpix": 4}]}
        config["dataset"]["dust"] = {"tau": 1, "albedo": 0.6, "g": 0.5}
        config["outputs"] = [{"type": "spectrum", "name": "s", "observer": "all", "range": ["-2000 km/s", "2000 km/s"], "bins": 1}]
        with h5py.File(self.run_thor(config, "--device", "cpu")) as file:
            escaped = file["summary"].attrs["luminosity_escaped"]
            light = np.array([file[f"spectra/s.{i}"].attrs["luminosity"] for i in range(192)]) / escaped
            towards = np.array([file[f"spectra/s.{i}"].attrs["direction"] for i in range(192)])
        # The edge of the cone cuts pixels: those inside are 62 of 192, and (1 - cos 70 deg)/2 = 0.329 of the sphere.
        inside = towards[:, 2] > np.cos(np.radians(70))
        share = (1 - np.cos(np.radians(70))) / 2
        mean = share * np.mean(light[inside]) + (1 - share) * np.mean(light[~inside])
        self.assertAlmostEqual(mean, 1, delta=0.02)
        self.assertGreater(np.mean(light[inside]), 1.5 * np.mean(light[~inside]))

    def test_a_beam_through_a_disc(self):
        """The image of a wide beam is the disc, as bright as its cone is narrow, whether its light meets the gas or not."""
        for medium, radius in (("sphere", 1.2), ("slab", 1.2), ("grid", 0.8)):
            for direction in ([0, 0, 1], [0.3, -0.2, -0.9]):
                beam = {"type": "extended", "shape": "beam", "radius": f"{radius} kpc", "direction": direction, "opening_angle": "25 deg"}
                config = slab(1e-9, 20000, source=beam, outputs=[]) if medium == "slab" else sphere(1e-9, 20000, source=beam, outputs=[])
                if medium == "grid":
                    with h5py.File(self.folder / "thin.h5", "w") as file:
                        file.attrs.update({"cell_size": 0.25 * KPC, "origin_x": -0.9 * KPC, "origin_y": -KPC, "origin_z": -1.1 * KPC})
                        file["HI_density"], file["temperature"] = np.full((8, 8, 8), 1e-20, "f4"), np.full((8, 8, 8), 1e4, "f4")
                        for axis in "xyz":
                            file[f"velocity_{axis}"] = np.zeros((8, 8, 8), "f4")
                            file[f"velocity_{axis}"].attrs["units"] = "km s-1"
                    config["dataset"] = {"type": "uniform_grid", "path": "thin.h5"}
                aside = np.array(direction) + [0.2, 0.1, 0]
                config["observers"] = [{"name": "along", "direction": direction, "up": [0, 1, 0]}, {"name": "aside", "direction": aside.tolist(), "up": [0, 1, 0]},
                                       {"name": "across", "direction": [1, 0, 0], "up": [0, 1, 0]}]
                config["outputs"] = [{"type": "image", "name": o["name"], "observer": o["name"], "width": "4 kpc", "pixels": 16} for o in config["observers"]]
                with self.subTest(medium=medium, direction=direction):
                    path = self.run_thor(config, "--device", "cpu")
                    with package.open(path) as result:
                        for name, n in (("along", direction), ("aside", aside)):
                            image = result.images[name]
                            self.assertAlmostEqual(image.luminosity() / (1e42 * brightness(25)), 1, delta=1e-6)
                            # Moments of a disc, of which one axis is foreshortened.
                            right, up = np.meshgrid((image.right[1:] + image.right[:-1]) / 2, (image.up[1:] + image.up[:-1]) / 2)
                            weight = image.brightness / np.sum(image.brightness)
                            cosine = np.dot(n, direction) / np.linalg.norm(n) / np.linalg.norm(direction)
                            spread = np.sum(weight * (right**2 + up**2)) - 2 * 0.25**2 / 12
                            self.assertAlmostEqual(spread / (radius**2 / 4 * (1 + cosine**2)), 1, delta=0.03)
                            self.assertLess(np.hypot(np.sum(weight * right), np.sum(weight * up)), 0.03)
                        self.assertEqual(result.images["across"].luminosity(), 0)

    def test_a_beam_is_seen_by_photons_and_rays_alike(self):
        """Light of a beam that dust scatters and absorbs: rays agree with the photons that escape in a direction."""
        beam = {"type": "extended", "shape": "beam", "radius": "0.5 kpc", "direction": [0, 0, 1], "opening_angle": "30 deg"}
        config = slab(1e-9, 300000, source=beam, outputs=[])
        config["dataset"]["dust"] = {"tau": 0.5, "albedo": 0.5, "g": 0}
        rays = self.seen(config, [tilted(15), tilted(60)])
        photons = self.seen(config, [tilted(15), tilted(60)], estimator="escaped", within="5 deg")
        for a, b in zip(rays, photons):
            self.assertAlmostEqual(a / b, 1, delta=0.06)
        twin = self.seen({**config, "generators": [{**config["generators"][0], "opening_angle": "33 deg"}]}, [tilted(15)])
        self.assertGreater(abs(twin[0] / photons[0] - 1), 0.1, "the twin: a wider beam")

    def test_mistakes(self):
        beam = {"type": "extended", "shape": "beam", "radius": "1 pc"}
        for config, says in (
            (in_cone(0), "generators.0.opening_angle: "),
            (in_cone(181), "generators.0.opening_angle: "),
            (in_cone(10, direction=(0, 0, 0)), "generators.0.direction: must not be [0, 0, 0]"),
            (sphere(1, 1, source={**beam, "opening_angle": "0.05 deg"}), "generators.0.opening_angle: must be at least 0.1 deg, or 0 deg for parallel light"),
            (sphere(1, 1, source={**beam, "opening_angle": "91 deg"}), "generators.0.opening_angle: "),
            (slab(1, 1, source={**beam, "direction": [0, 1, 1], "opening_angle": "45 deg"}),
             "generators.0.opening_angle: the light reaches 90 deg from the normal of the slab; expected at most 89.5 deg"),
            (sphere(1, 1, source={"type": "extended", "shape": "medium", "opening_angle": "45 deg"}), "generators.0.opening_angle: unknown key here"),
        ):
            done = thor("check", self.write(config))
            self.assertEqual(done.returncode, USAGE, (says, done.stderr))
            self.assertIn(says, done.stderr)


class Parallel(Case):
    """Parallel beams stay dark to observers, which is said once."""

    def said(self, config, *outputs, **more):
        self.run_thor({**config, "outputs": list(outputs), **more}, "--device", "cpu")
        return self.done.stderr

    def test_it_is_said_once(self):
        beam = {"type": "extended", "shape": "beam", "radius": "0.5 kpc", "direction": [0, 0, 1], "photons": 50}
        config = {**sphere(1, 1), "generators": [beam, {**beam, "name": "lamp"}]}
        config["observers"] = [{"name": "o", "direction": [0, 0, 1]}, {"name": "near", "direction": [0, 0.01, 1]}, {"name": "far", "direction": [1, 0, 0]}]
        outputs = [{"type": "spectrum", "name": n, "observer": n, "range": ["-100 km/s", "100 km/s"], "bins": 5} for n in ("o", "near", "far")]
        said = self.said(config, *outputs)
        self.assertEqual(len({line for line in said.splitlines() if "looks down" in line}), 1, said)
        self.assertRegex(said, r"observer o looks down the parallel beam of generators.0 \(and 3 more\): .*Give the beam an `opening_angle`")
        lamp = self.said(config, {**outputs[0], "generator": "lamp"}, *outputs[2:])
        self.assertRegex(lamp, r"observer o looks down the parallel beam of generators.1: ")
        self.assertNotIn("looks down", self.said(config, *outputs[2:]))
        wide = {**config, "generators": [{**beam, "opening_angle": "5 deg"}]}
        self.assertNotIn("looks down", self.said(wide, *outputs[:2]))


if __name__ == "__main__":
    main()
